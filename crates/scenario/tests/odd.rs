//! Odd inputs: each is refused under its code, in words that a terminal shows as they are.

use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::process::Command;

mod catalogue;

use backlane_scenario::{Report, read_file};
use catalogue::{check, plan};

const TOP: &str = "duration = \"10 s\"\n";
const CHAIN: &str = "[topology]\nkind = \"chain\"\nnodes = 3\n\
    link = { rate = \"10 Mbit/s\", delay = \"4 ms\" }\n";
const FLOW: &str =
    "[[flow]]\nkind = \"transfer\"\nfrom = \"enb1\"\nto = \"enb3\"\nsize = \"1 MB\"\n";
const SLOTTED: &str = "[slotted]\nslots = 10\ninterference = \"none\"\n\
    link = [{ from = \"A\", to = \"B\" }]\n[[slotted.flow]]\nfrom = \"A\"\nto = \"B\"\nrate = 0.5\n";

/// A scenario with `top` at its beginning and `end` at its end.
fn scenario(top: &str, end: &str) -> String {
    format!("{top}{TOP}{CHAIN}{FLOW}{end}")
}

fn sites(file: &str, links: &str) -> String {
    format!(
        "{TOP}[topology]\nkind = \"sites\"\nfile = \"{file}\"\nlinks = {links}\n\
         link = {{ rate = \"10 Mbit/s\", delay = \"4 ms\" }}\n\
         [[flow]]\nkind = \"transfer\"\nfrom = \"a\"\nto = \"b\"\nsize = \"1 MB\"\n"
    )
}

/// A folder with odd files, of each test its own.
fn folder(test: &str) -> PathBuf {
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR"))
        .join("odd")
        .join(test);
    std::fs::create_dir_all(folder.join("folder.csv")).unwrap();
    let write = |name: &str, text: &str| std::fs::write(folder.join(name), text).unwrap();
    write("sites.csv", "id,x_m,y_m\na,0,0\nb,1000,0\n");
    write("negative.csv", "site_a,site_b,length_km\na,b,-1\n");
    write("torn.csv", "id,x_m,y_m\na,zero,0\nb,1000,0\nc,0,1\n");
    write(
        "commas.csv",
        &format!("id,x_m,y_m\n{}\n", ",".repeat(3_000_000)),
    );
    write("header.csv", &format!("id,x_m{}\n", ",".repeat(3_000_000)));
    write("escape.csv", "id,x_m,y_m\n\u{1b}[2J,0,0\nb,1000,0\n");
    let sparse = std::fs::File::create(folder.join("sparse.csv")).unwrap();
    sparse.set_len(1 << 40).unwrap();
    let pipe = folder.join("pipe.csv");
    if !pipe.exists() {
        assert!(
            Command::new("mkfifo")
                .arg(&pipe)
                .status()
                .unwrap()
                .success()
        );
    }
    folder
}

fn refused(text: &str, folder: &Path, overrides: &[(String, String)]) -> Report {
    let path = folder.join("scenario.toml");
    let path = path.to_string_lossy();
    let report = check(text, &path, overrides).expect_err(&text[..text.len().min(500)]);
    assert_eq!(plan(text, &path, overrides, None).unwrap_err(), report);
    report
}

/// Every text of a report can be shown as it is, and its parts are short.
fn is_readable(report: &Report) {
    for diagnostic in &report.diagnostics {
        let texts = [
            Some(&diagnostic.message),
            Some(&diagnostic.file),
            diagnostic.source_line.as_ref(),
            diagnostic.label.as_ref(),
        ];
        for text in texts.into_iter().flatten() {
            assert!(!text.contains(char::is_control), "{text:?}");
            assert!(
                text.chars().count() <= 600,
                "{} characters: {text:.200}",
                text.len()
            );
        }
    }
    let shown = report.to_string();
    assert!(
        !shown.contains(|c: char| c.is_control() && c != '\n'),
        "{shown:?}"
    );
}

#[test]
fn odd_scenarios_are_refused_under_their_codes() {
    let long = "k".repeat(5_000_000);
    let nested = "{ a = ".repeat(40);
    let many: String = (0..5_000).fold(String::new(), |mut text, n| {
        let _ = writeln!(text, "key{n} = 1");
        text
    });
    let line = many.replace('\n', ", ");
    let table: Vec<(&str, String)> = vec![
        // Names are data.
        ("S024", scenario("name = \"a\\u0000b\"\n", "")),
        ("S024", scenario("name = \"a\\u001b[31mb\"\n", "")),
        ("S024", scenario("name = \"a\\nb\"\n", "")),
        ("S024", scenario("name = \"\"\"a\nb\"\"\"\n", "")),
        ("S024", scenario("name = \"a\\u0085b\"\n", "")),
        ("S024", scenario("name = \"a\\u202Eb\"\n", "")),
        ("S024", format!("name = \"a\\rb\"\n{SLOTTED}")),
        ("S024", format!("{SLOTTED}name = \"up\\u0007\"\n")),
        ("S024", sites("sites\\n.csv", "\"gabriel\"")),
        ("S024", sites("escape.csv", "\"gabriel\"")),
        (
            "S080",
            scenario("", "congestion_control = \"python:a\\u001b.py:A\"\n"),
        ),
        (
            "S067",
            scenario(
                "",
                "[sweep]\ntcp = [{ label = \"a\\u001bb\", sack = false }]\n",
            ),
        ),
        (
            "S067",
            scenario("", "[sweep]\n\"flow.congestion_control\" = [\"reno\\n\"]\n"),
        ),
        ("S010", scenario("\"a\\u001b[31mb\" = 1\n", "")),
        ("S060", scenario("", "[sweep]\n\"a\\u001b[31mb\" = [1]\n")),
        // Long ones.
        ("S010", scenario(&format!("{long} = 1\n"), "")),
        ("S060", scenario("", &format!("[sweep]\n{long} = [1]\n"))),
        (
            "S024",
            scenario("", "").replace("\"enb3\"", &format!("\"{long}\"")),
        ),
        (
            "S013",
            scenario("", &format!("[routing]\nprotocol = \"{long}\"\n")),
        ),
        ("S002", sites(&long, "\"gabriel\"")),
        (
            "S031",
            scenario(
                "",
                &format!("[access]\nkind = \"ideal\"\nper_enodeb = {{ {long} = 1 }}\n"),
            ),
        ),
        ("S010", scenario(&many, "")),
        (
            "S010",
            scenario("", &format!("[tcp]\nvegas = {{ {line} }}\n")),
        ),
        ("S001", scenario(&format!("x = {nested}"), "")),
        // Seeds and axes.
        ("S060", scenario("", "[sweep]\nseed = [1, 2, 3]\n")),
        ("S060", scenario("", "[sweep]\nname = [\"a\", \"b\"]\n")),
        (
            "S063",
            scenario("seed = 9223372036854775807\n", "[sweep]\nseeds = 3\n"),
        ),
        ("S017", scenario("seed = 9223372036854775808\n", "")),
        ("S063", scenario("", "[sweep]\nseeds = [1, 1]\n")),
        // Files.
        ("S002", sites("folder.csv", "\"gabriel\"")),
        ("S002", sites("pipe.csv", "\"gabriel\"")),
        ("S002", sites("/dev/zero", "\"gabriel\"")),
        (
            "S002",
            sites("\\u0041\\u0000.csv", "\"gabriel\"").replace("\\u0000", "/none"),
        ),
        ("S004", sites("sparse.csv", "\"gabriel\"")),
        ("S004", sites("commas.csv", "\"gabriel\"")),
        ("S004", sites("header.csv", "\"gabriel\"")),
        (
            "S073",
            sites(
                "sites.csv",
                "{ rule = \"recorded\", file = \"negative.csv\" }",
            ),
        ),
    ];
    let folder = folder("scenarios");
    for (code, text) in table {
        let report = refused(&text, &folder, &[]);
        let codes: Vec<_> = report.diagnostics.iter().map(|d| d.code).collect();
        assert!(
            codes.contains(&code),
            "{code} is not among {codes:?}: {report:.800}"
        );
        is_readable(&report);
    }
}

#[test]
fn odd_overrides_are_refused_under_their_codes() {
    let long = "v".repeat(5_000_000);
    let folder = folder("overrides");
    for (code, key, value) in [
        ("S024", "name", "a\u{1b}b"),
        ("S060", "na\u{1b}me", "1"),
        ("S060", "sweep.seed", "[1, 2]"),
        ("S060", long.as_str(), "1"),
        ("S013", "routing.protocol", long.as_str()),
    ] {
        let report = refused(
            &scenario("", ""),
            &folder,
            &[(key.to_owned(), value.to_owned())],
        );
        assert_eq!(report.diagnostics[0].code, code, "{report:.800}");
        is_readable(&report);
    }
}

#[test]
fn a_scenario_is_read_from_a_regular_file_of_bounded_size() {
    let folder = folder("read");
    let code = |path: &Path| read_file(&path.to_string_lossy()).unwrap_err().diagnostics[0].code;
    assert_eq!(code(&folder), "S002");
    assert_eq!(code(&folder.join("pipe.csv")), "S002");
    assert_eq!(code(Path::new("/dev/zero")), "S002");
    assert_eq!(code(&folder.join("sparse.csv")), "S004");
    let report = read_file("no\u{1b}[31m\n.toml").unwrap_err();
    is_readable(&report);
}

#[test]
fn what_follows_from_a_row_that_is_wrong_is_no_problem_of_its_own() {
    let report = refused(&sites("torn.csv", "\"gabriel\""), &folder("torn"), &[]);
    let codes: Vec<_> = report.diagnostics.iter().map(|d| d.code).collect();
    assert_eq!(codes, ["S072"], "{report}");
}

#[test]
fn warnings_never_crowd_out_the_error() {
    let links: String = (0..300)
        .map(|_| "{ a = \"a\", b = \"b\", rate = \"1 Mbit/s\", delay = \"4 ms\" },\n")
        .collect();
    let text = format!(
        "{TOP}[topology]\nkind = \"graph\"\nnode = [{{ id = \"a\" }}, {{ id = \"b\" }}]\n\
         link = [{links}]\n[[flow]]\nkind = \"transfer\"\nfrom = \"a\"\nto = \"z\"\nsize = \"1 MB\"\n"
    );
    let report = refused(&text, Path::new(""), &[]);
    assert!(
        report.diagnostics.iter().any(|d| d.code == "S050"),
        "{report:.500}"
    );
}
