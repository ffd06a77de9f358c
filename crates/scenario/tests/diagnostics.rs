//! Each code, as it is shown: `tests/diagnostics/<code>.txt` holds the text.
//!
//! `UPDATE_GOLDEN=1 cargo test` rewrites the texts, to be reviewed before they are committed.

mod catalogue;

use catalogue::{check, plan};
use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use backlane_scenario::{Diagnostic, codes, read_file};

const TOP: &str = "duration = \"10 s\"\n";
const CHAIN: &str = "duration = \"10 s\"\n[topology]\nkind = \"chain\"\nnodes = 3\n\
                     link = { rate = \"10 Mbit/s\", delay = \"4 ms\" }\n";
const FLOW: &str =
    "[[flow]]\nkind = \"transfer\"\nfrom = \"enb1\"\nto = \"enb3\"\nsize = \"1 MB\"\n";
const LINK: &str = "link = { rate = \"10 Mbit/s\", delay = \"4 ms\" }\n";

/// A chain with a flow, and `more` below.
fn chain(more: &str) -> String {
    format!("{CHAIN}{FLOW}{more}")
}

/// A graph of nodes a, b with these links.
fn graph(nodes: &str, links: &str) -> String {
    format!("{TOP}[topology]\nkind = \"graph\"\nnode = [{nodes}]\nlink = [{links}]\n")
}

/// Sites from a file.
fn sites(file: &str, links: &str) -> String {
    format!("{TOP}[topology]\nkind = \"sites\"\nfile = \"files/{file}\"\nlinks = {links}\n{LINK}")
}

/// Three routers over radios.
fn mesh(link: &str, wifi: &str) -> String {
    let comma = if link.is_empty() { "" } else { ", " };
    format!(
        "{TOP}[topology]\nkind = \"chain\"\nnodes = 3\nlink = {{ medium = \"wifi\"{comma}{link} }}\n\
         [wifi]\n{wifi}{FLOW}"
    )
}

/// Four routers around a square, over radios, with an assignment.
fn assigned(link: &str, assignment: &str) -> String {
    let comma = if link.is_empty() { "" } else { ", " };
    format!(
        "{TOP}[topology]\nkind = \"diamond\"\nlink = {{ medium = \"wifi\"{comma}{link} }}\n\
         [wifi]\n[assignment]\n{assignment}\n\
         [[flow]]\nkind = \"transfer\"\nfrom = \"source\"\nto = \"sink\"\nsize = \"1 MB\"\n"
    )
}

/// UEs behind traces.
fn traces(downlink: &str, uplink: &str, at_end: &str) -> String {
    chain(&format!(
        "[access]\nkind = \"trace\"\nues = 1\ndownlink = \"files/{downlink}\"\n\
         uplink = \"files/{uplink}\"\nat_end = \"{at_end}\"\n"
    ))
}

/// A slotted model of the links A–B and B–C.
fn slotted(keys: &str, flow: &str) -> String {
    format!(
        "[slotted]\nslots = 10\n{keys}\
         link = [{{ from = \"A\", to = \"B\" }}, {{ from = \"B\", to = \"C\" }}]\n\
         [[slotted.flow]]\n{flow}"
    )
}

/// A scenario for each code, except those that need no text of their own.
fn cases() -> Vec<(&'static str, String)> {
    let long = "link = { rate = \"10 Mbit/s\", delay = \"4 ms\" }";
    let ab = r#"{ id = "a" }, { id = "b" }"#;
    let link = |a: &str, b: &str| {
        format!(
            "{{ a = \"{a}\", b = \"{b}\", rate = \"1 Mbit/s\", delay = \"4 ms\", queue = \"9 kB\" }}"
        )
    };
    vec![
        ("S001", "duration = \"10 s\nname = \"x\"\n".to_owned()),
        ("S002", sites("missing.csv", "\"gabriel\"")),
        ("S003", sites("latin.csv", "\"gabriel\"")),
        (
            "S010",
            chain("[routing]\nprotcol = \"olsr\"\nhello_interval = \"1 s\"\n[tcp]\nmetric = 1\n"),
        ),
        (
            "S011",
            format!("name = \"x\"\n[topology]\nkind = \"grid\"\nrows = 2\n{long}\n"),
        ),
        ("S012", CHAIN.replace("nodes = 3", "nodes = \"three\"")),
        (
            "S013",
            chain("[routing]\nprotocol = \"bpmr\"\n[tcp]\ncongestion_control = \"vega\"\n"),
        ),
        (
            "S014",
            CHAIN
                .replace("\"10 Mbit/s\"", "500")
                .replace("\"4 ms\"", "4.5"),
        ),
        (
            "S015",
            CHAIN
                .replace("4 ms", "4 msec")
                .replace("10 Mbit/s", "10 mbit"),
        ),
        ("S016", CHAIN.replace("4 ms", "fast")),
        (
            "S017",
            CHAIN
                .replace("4 ms", "2 h")
                .replace("nodes = 3", "nodes = 99999999999"),
        ),
        ("S018", CHAIN.replace("4 ms", "-4 ms")),
        ("S019", CHAIN.replace("4 ms", "0.3 ps")),
        (
            "S020",
            CHAIN
                .replace("10 Mbit/s", "0 bit/s")
                .replace("nodes = 3", "nodes = 0"),
        ),
        ("S021", chain("start = \"soon\"\n")),
        (
            "S022",
            CHAIN.replace("\"4 ms\"", "\"4 ms\", queue = \"large\""),
        ),
        (
            "S023",
            CHAIN.replacen("duration", "name = \"\"\nduration", 1),
        ),
        ("S024", graph(r#"{ id = "a b" }"#, "")),
        (
            "S025",
            chain("gap = \"uniform 2 s 1 s\"\n[[flow]]\nkind = \"transfer\"\nfrom = \"enb2\"\nto = \"enb1\"\nsize = \"endless\"\ngap = \"1 s\"\n")
                .replace("\"1 MB\"", "\"exponential\""),
        ),
        (
            "S030",
            graph(r#"{ id = "a" }, { id = "a" }, { id = "ue3" }"#, ""),
        ),
        ("S031", graph(ab, &link("a", "c"))),
        (
            "S032",
            graph(ab, &format!("{}, {}", link("a", "b"), link("b", "b"))),
        ),
        (
            "S033",
            graph(
                r#"{ id = "a" }, { id = "b" }, { id = "c" }"#,
                &link("a", "c"),
            ),
        ),
        (
            "S034",
            format!("{TOP}[topology]\nkind = \"grid\"\nrows = 5000\ncolumns = 5000\n{LINK}"),
        ),
        ("S035", graph("", "")),
        (
            "S036",
            graph(ab, &format!("{}, {}", link("a", "b"), link("b", "a"))),
        ),
        (
            "S037",
            sites(
                "good.csv",
                "{ rule = \"recorded\", file = \"files/one.csv\" }",
            ),
        ),
        (
            "S038",
            chain("")
                .replace("\"4 ms\"", "\"4 ms\", queue = \"0.001 bdp\"")
                .replace("10 Mbit/s", "1 Gbit/s"),
        ),
        (
            "S040",
            graph(r#"{ id = "a", kind = "router" }"#, "") + "[access]\nkind = \"ideal\"\nues = 3\n",
        ),
        (
            "S041",
            chain(
                "[access]\nkind = \"ideal\"\nper_enodeb = { server = 2 }\n[[server]]\nattach = \"enb1\"\n",
            ) + LINK,
        ),
        (
            "S042",
            chain("[routing]\nspray = [\"server\", \"enb2\"]\n[[server]]\nattach = \"enb1\"\n")
                + LINK,
        ),
        (
            "S130",
            chain(
                "[routing]\nprotocol = \"ospf\"\n\
                 [[routing.costs]]\nlink = \"enb2-enb1\"\ncost = 3\ncost_back = 4\n\
                 [[routing.costs]]\nlink = \"enb1-enb2\"\ncost = 3\n\
                 [[routing.costs]]\nlink = \"enb1-enb7\"\ncost = 5\n",
            ),
        ),
        (
            "S131",
            chain(
                "[routing]\nexplicit_paths = [\n\
                 { from = \"enb1\", to = \"enb3\", nodes = [\"enb1\", \"enb2\", \"enb3\"] },\n\
                 { from = \"enb1\", to = \"enb3\", nodes = [\"enb1\", \"enb3\"] },\n\
                 { from = \"enb1\", to = \"enb3\", nodes = [\"enb1\", \"enb4\", \"enb3\"] },\n\
                 { from = \"enb1\", to = \"enb3\", nodes = [\"enb2\", \"enb3\"] },\n\
                 { from = \"enb1\", to = \"enb3\", nodes = [\"enb1\", \"enb2\"] },\n\
                 { from = \"enb1\", to = \"enb3\", nodes = [] },\n\
                 { from = \"enb1\", to = \"enb1\", nodes = [\"enb1\"] },\n\
                 { from = \"enb1\", to = \"enb3\", nodes = [\"enb1\", \"enb2\", \"enb1\", \"enb2\", \"enb3\"] },\n\
                 { from = \"enb1\", to = \"enb3\", nodes = [\"enb1\", \"enb2\", \"enb3\"], weight = 2 },\n\
                 { from = \"enb1\", to = \"server\", nodes = [\"enb1\", \"server\"] },\n\
                 ]\n[[server]]\nattach = \"enb1\"\n",
            ) + LINK,
        ),
        ("S050", chain("").replace("\"enb3\"", "\"enb9\"")),
        ("S051", chain("").replace("\"enb3\"", "\"ues\"")),
        ("S052", chain("").replace("\"enb3\"", "\"server\"")),
        ("S053", chain("start = \"20 s\"\n")),
        ("S054", chain("start = \"5 s\"\nstop = \"4 s\"\n")),
        ("S055", chain("").replace("\"enb3\"", "\"enb1\"")),
        ("S056", CHAIN.to_owned()),
        (
            "S057",
            chain("")
                .replace("\"enb1\"", "[\"enb1\", \"enb2\"]")
                .replace("\"enb3\"", "[\"enb3\", \"enb2\", \"enb1\"]"),
        ),
        (
            "S058",
            chain("[record]\nseries = [\"cwnd\"]\nflows = [\"enb33\"]\nlinks = [\"enb1-enb3\"]\n"),
        ),
        (
            "S059",
            chain(
                "count = 1000000\n[[flow]]\nkind = \"transfer\"\nfrom = \"enb2\"\nto = \"enb1\"\nsize = \"1 B\"\n",
            ),
        ),
        ("S060", chain("[sweep]\n\"routing.protocl\" = [\"olsr\"]\n")),
        ("S061", chain("[sweep]\n\"routing.protocol\" = []\n")),
        (
            "S062",
            chain("[sweep]\n\"topology.nodes\" = [2, 3]\nseeds = 500001\n"),
        ),
        ("S063", chain("[sweep]\nseeds = 0\n")),
        (
            "S067",
            chain(
                "[sweep]\n\"tcp\" = [{ label = \"a\", sack = true }, { label = \"a\", sack = false }]\n",
            ),
        ),
        ("S068", chain("[sweep]\n\"flow.size\" = [\"1 kB\", \"1000 B\"]\n")),
        ("S065", chain("[sweep]\nseeds = 2\n")),
        ("S066", chain("")),
        ("S070", sites("column.csv", "\"gabriel\"")),
        ("S071", sites("truncated.csv", "\"gabriel\"")),
        ("S072", sites("number.csv", "\"gabriel\"")),
        ("S073", sites("range.csv", "\"gabriel\"")),
        ("S074", sites("duplicate.csv", "\"gabriel\"")),
        ("S075", sites("empty.csv", "\"gabriel\"")),
        (
            "S076",
            sites(
                "good.csv",
                "{ rule = \"recorded\", file = \"files/links.csv\" }",
            ),
        ),
        ("S077", sites("quote.csv", "\"gabriel\"")),
        (
            "S080",
            chain(
                "congestion_control = \"python::Aimd\"\n\
                 [tcp]\ncongestion_control = \"python:aimd.py\"\n",
            ),
        ),
        ("S090", traces("short.csv", "zero.up", "repeat")),
        ("S091", traces("backwards.csv", "backwards.up", "stop")),
        ("S092", traces("gap.csv", "lte.up", "repeat")),
        ("S093", traces("negative.csv", "lte.up", "repeat")),
        ("S094", traces("words.up", "lte.up", "repeat")),
        ("S095", traces("entities.csv", "lte.up", "repeat")),
        ("S096", traces("lte.up", "lte.up", "hold")),
        (
            "S097",
            chain(
                "[access]\nkind = \"lte\"\n\
                 ues = 1\nfading_trace = { file = \"files/two_blocks.fad\" }\n",
            ),
        ),
        (
            "S082",
            graph(ab, &link("a", "b")) + "[routing]\nprotocol = \"bs\"\ndistance = \"euclidean\"\n",
        ),
        (
            "S083",
            chain("[routing]\nprotocol = \"python\"\nrouter = \"hot_potato.py\"\n"),
        ),
        (
            "S100",
            chain(
                "[access]\nkind = \"lte\"\n\
                 [[access.ue]]\ntrace = \"files/good_walk.csv\"\nspeed = \"1 m/s\"\n\
                 [[access.ue]]\nnear = \"enb1\"\n\
                 [[access.ue]]\nx = \"1 m\"\ny = \"2 m\"\ndistance = \"3 m\"\n\
                 [[access.ue]]\nx = \"1 m\"\ny = \"2 m\"\nheading = \"5 deg\"\n\
                 [[access.ue]]\nx = \"1 m\"\ny = \"2 m\"\nspeed = \"5 m/s\"\n\
                 [[access.ue]]\nx = \"1 m\"\ny = \"2 m\"\nspeed = \"5 m/s\"\nheading = \"inward\"\n\
                 [[access.ue]]\nnear = \"enb1\"\ndistance = \"1 km\"\nspeed = \"5 m/s\"\n\
                 heading = \"outward\"\nuntil = \"900 m\"\n\
                 [[access.ue]]\nx = \"1 m\"\ny = \"2 m\"\nspeed = \"5 m/s\"\nheading = \"5 deg\"\n\
                 until = \"900 m\"\n",
            ),
        ),
        (
            "S101",
            chain(
                "[access]\nkind = \"lte\"\nues = 1\nlayers = 4\nantenna_ports = 2\ncarrier = [\n\
                 { frequency = \"2.1 GHz\" }, { frequency = \"2.1 GHz\" }, { frequency = \"2.1 GHz\" },\n\
                 { frequency = \"2.1 GHz\" }, { frequency = \"2.1 GHz\" }, { frequency = \"2.1 GHz\" } ]\n",
            ),
        ),
        (
            "S140",
            slotted(
                "interference = \"conflicts\"\n\
                 conflicts = [[\"A-B\", \"B-D\"], [\"A-B\", \"A-B\"], [\"A-B\"], [\"B-C\", \"mast\"]]\n",
                "from = \"A\"\nto = \"C\"\nrate = 0.5\n",
            ),
        ),
        (
            "S141",
            slotted(
                "interference = \"primary\"\n",
                "from = \"C\"\nto = \"A\"\nrate = 0.5\n",
            ),
        ),
        (
            "S143",
            slotted(
                "interference = \"none\"\nregion = { flows = [\"A-C\"] }\n",
                "from = \"A\"\nto = \"C\"\nrate = 0.5\n",
            ),
        ),
        ("S142", {
            let link = |n: usize| format!("{{ from = \"n{n}\", to = \"n{}\" }}", n + 1);
            let links: Vec<_> = (0..65).map(link).collect();
            format!(
                "[slotted]\nslots = 10\ninterference = \"none\"\nlink = [{}]\n\
                 flow = [{{ from = \"n0\", to = \"n9\", rate = 1 }}]\n",
                links.join(", ")
            )
        }),
        (
            "S081",
            chain(
                "[[failure]]\nnode = \"enb2\"\nat = \"5 s\"\nuntil = \"5 s\"\n\
                 [[failure]]\nlink = \"enb1-enb4\"\nat = \"10 s\"\n\
                 [[failure]]\nat = \"1 s\"\n\
                 [[failure]]\nnode = \"enb2\"\nlink = \"enb1-enb2\"\nat = \"1 s\"\n",
            ),
        ),
        ("S110", mesh("", "").replace("[wifi]\n", "")),
        (
            "S111",
            graph(
                r#"{ id = "a", x = "0 m", y = "0 m", channels = [1, 6] }, { id = "b", x = "9 m", y = "0 m", channels = [11] }, { id = "c", x = "0 m", y = "9 m", channels = [] }"#,
                r#"{ a = "a", b = "b", medium = "wifi" }, { a = "a", b = "b", medium = "wifi", channel = 6 }, { a = "a", b = "c", medium = "wifi" }"#,
            ) + "[wifi]\nneighbours = \"in-range\"\n",
        ),
        (
            "S112",
            mesh("rate = \"3 Mbit/s\"", "standard = \"802.11b\"\nrate = \"54 Mbit/s\"\n"),
        ),
        ("S116", mesh("", "carrier_sense = \"-60 dBm\"\ncw_max = 7\n")),
        ("S113", mesh("", "lossy_links = [\"enb2-enb1\", \"enb1-enb3\"]\n")),
        (
            "S120",
            graph(
                "{ id = \"a\" }, { id = \"b\" }, { id = \"c\" }, { id = \"d\" }",
                "{ a = \"a\", b = \"b\", rate = \"9 Mbit/s\", delay = \"1 ms\", \
                 impairments = { jitter = \"2 ms\" } }, \
                 { a = \"b\", b = \"c\", rate = \"9 Mbit/s\", delay = \"1 ms\", \
                 impairments = {}, impairments_back = { jitter = \"300 us\", jitter_law = \"normal\" } }, \
                 { a = \"c\", b = \"d\", rate = \"9 Mbit/s\", delay = \"0 s\", queue = \"9 packets\", \
                 impairments = { reorder = 0.1 } }",
            ),
        ),
        (
            "S121",
            graph(
                "{ id = \"a\" }, { id = \"b\" }",
                "{ a = \"a\", b = \"b\", rate = \"9 Mbit/s\", delay = \"1 ms\", \
                 capacity = { file = \"wire.txt\", at_end = \"repeat\" } }",
            ) + "[routing]\nprotocol = \"olsr\"\nwarm_up = \"9 s\"\n\
                 [[trace]]\nfile = \"wire.txt\"\nof = \"capacity\"\nsource = \"5\\n\"\n",
        ),
        (
            "S150",
            assigned("", "channels = \"fcra\"\nradios = 4"),
        ),
        (
            "S151",
            format!(
                "{}[wifi]\n[assignment]\nflow_rates = \"equal\"\n",
                graph(
                    "{ id = \"a\", x = \"0 m\", y = \"0 m\" }, { id = \"b\", x = \"9 m\", y = \"0 m\" }, \
                     { id = \"c\", x = \"18 m\", y = \"0 m\" }",
                    "{ a = \"a\", b = \"b\", medium = \"wifi\" }, \
                     { a = \"b\", b = \"c\", medium = \"wifi\", channel = \"none\" }",
                )
            ),
        ),
        (
            "S152",
            assigned(
                "",
                "channels = \"fcra\"\ndemands = [{ from = \"source\", to = \"sink\", rate = \"900 Mbit/s\" }]",
            ),
        ),
        (
            "S153",
            assigned("", "demands = [{ from = \"top\", to = \"top\" }]"),
        ),
        ("S154", assigned("channel = 1", "channels = \"fcra\"")),
        ("S155", assigned("", "flow_rates = \"given\"")),
        (
            "S156",
            chain(
                "[sweep]\n\"tcp.mss\" = [\"1000 B\", \"1448 B\"]\n[compare]\nkeys = [\"tcp.ms\"]\n",
            ),
        ),
        (
            "S157",
            chain("[sweep]\nseeds = 2\n[compare]\nequal_within = \"5\"\n"),
        ),
        (
            "S158",
            chain(
                "[[flow]]\nkind = \"transfer\"\nfrom = \"enb1\"\nto = \"enb2\"\nsize = \"1 MB\"\n\
                 stack = \"external\"\n",
            ),
        ),
        (
            "S159",
            chain(
                "[linux]\nsysctl = [\"net.ipv4.tcp_sack\"]\n[[flow]]\nkind = \"transfer\"\n\
                 from = \"enb1\"\nto = \"enb2\"\nsize = \"1 MB\"\nstack = \"linux\"\n",
            ),
        ),
    ]
}

fn folder() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/diagnostics")
}

/// The problems of a case, rendered, with file names as if the test ran in its folder.
fn rendered(code: &str, text: &str) -> (String, Vec<Diagnostic>) {
    let path = folder()
        .join("scenario.toml")
        .to_string_lossy()
        .into_owned();
    let overrides = match code {
        "S066" => vec![(String::new(), "5".to_owned())],
        _ => Vec::new(),
    };
    let diagnostics = if code == "S065" {
        catalogue::from_resolved(text).unwrap_err().diagnostics
    } else {
        match check(text, &path, &overrides) {
            Ok(warnings) => warnings,
            Err(report) => report.diagnostics,
        }
    };
    let lines: Vec<String> = diagnostics.iter().map(ToString::to_string).collect();
    let prefix = format!("{}/", folder().to_string_lossy());
    (lines.join("\n\n").replace(&prefix, "") + "\n", diagnostics)
}

#[test]
fn each_code_is_shown_with_its_place_and_mend() {
    let mut wrong = Vec::new();
    for (code, text) in cases() {
        let (shown, diagnostics) = rendered(code, &text);
        assert!(
            diagnostics.iter().any(|diagnostic| diagnostic.code == code),
            "no {code} in:\n{shown}"
        );
        let golden = folder().join(format!("{code}.txt"));
        if std::env::var_os("UPDATE_GOLDEN").is_some() {
            std::fs::write(&golden, &shown).unwrap();
        }
        let expected = std::fs::read_to_string(&golden).unwrap_or_default();
        if expected != shown {
            wrong.push(format!(
                "{code} is shown as:\n{shown}\nbut should be:\n{expected}"
            ));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Tests of the schema read the documents.
#[test]
fn the_documents_of_the_codes_are_in_a_file() {
    let documents: BTreeMap<_, _> = cases().into_iter().collect();
    let text = serde_json::to_string_pretty(&documents).unwrap() + "\n";
    let path = folder().join("documents.json");
    if std::env::var_os("UPDATE_GOLDEN").is_some() {
        std::fs::write(&path, &text).unwrap();
    }
    let written = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(
        written == text,
        "UPDATE_GOLDEN=1 cargo test -p backlane-scenario"
    );
}

#[test]
fn every_code_has_a_case() {
    // Texts of 64 MiB and plans of 1 GiB have tests of their own; what only a network can tell is
    // tested in `world`.
    let mut shown: BTreeSet<&str> = cases().iter().map(|(code, _)| *code).collect();
    shown.extend(["S004", "S064", "S102", "S103", "S114", "S115"]);
    let missing: Vec<_> = codes()
        .into_iter()
        .filter(|code| !shown.contains(code))
        .collect();
    assert!(missing.is_empty(), "{missing:?}");
}

#[test]
fn a_file_of_more_than_64_mib_is_refused() {
    let text = "#".repeat((64 << 20) + 1);
    let report = check(&text, "big.toml", &[]).unwrap_err();
    assert!(
        report
            .diagnostics
            .iter()
            .any(|diagnostic| diagnostic.code == "S004")
    );
}

#[test]
fn the_problem_of_the_design_is_shown_in_its_form() {
    let text =
        "[topology]\nkind = \"chain\"\nnodes = 2\n[topology.link]\ndelay = \"1 ms\"\nrate = 500\n";
    let report = check(&format!("duration = \"1 s\"\n{text}"), "scenario.toml", &[]).unwrap_err();
    assert_eq!(
        report
            .diagnostics
            .iter()
            .find(|d| d.code == "S014")
            .unwrap()
            .to_string(),
        "error[S014]: link rate needs a unit\n --> scenario.toml:7:8\n7 | rate = 500\n  |        \
         ^^^ write \"500 Mbit/s\" (or \"500 kbit/s\")"
    );
}

#[test]
fn independent_problems_are_all_told_at_once() {
    let text = "name = \"\"\nduration = 5\nsed = 1\n[topology]\nkind = \"grid\"\nrows = 0\n\
                link = { rate = \"fast\", delay = \"4\" }\n[tcp]\nmss = \"1 bit\"\n";
    let report = check(text, "s.toml", &[]).unwrap_err();
    let codes: Vec<_> = report
        .diagnostics
        .iter()
        .map(|diagnostic| diagnostic.code)
        .collect();
    assert_eq!(
        codes,
        [
            "S023", "S014", "S010", "S011", "S020", "S016", "S014", "S019"
        ]
    );
}

#[test]
fn a_sweep_of_a_trillion_runs_is_refused_with_its_count_and_at_once() {
    let values: Vec<String> = (1..=1000).map(|n| n.to_string()).collect();
    let list = values.join(", ");
    let text = chain(&format!(
        "[sweep]\n\"topology.nodes\" = [{list}]\n\"tcp.retries\" = [{list}]\nseeds = 1000000\n"
    ));
    let report = plan(&text, "s.toml", &[], None).unwrap_err();
    let refused = report
        .diagnostics
        .iter()
        .find(|d| d.code == "S062")
        .unwrap();
    assert_eq!(refused.message, "the sweep has 1000000000000 runs");
}

#[test]
fn unreadable_scenario_files_are_told_apart() {
    let code = |path: &PathBuf| read_file(&path.to_string_lossy()).unwrap_err().diagnostics[0].code;
    assert_eq!(code(&folder().join("none.toml")), "S002");
    assert_eq!(code(&folder().join("files/latin.csv")), "S003");
}
