//! The files that a scenario names: sites, recorded links, and traces.

use std::fs;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU32, Ordering};

use backlane_scenario::check_sites;

use crate::scenario::{is_a_report, resolves_or_is_refused};

/// The longest file that is tried: rules for links look at all pairs of sites.
const MOST_BYTES: usize = 4 << 10;

/// Sites that recorded links may join.
const SITES: &str = "id,x_m,y_m\na,0,0\nb,900,0\nc,0,1200\nd,700,800\ne,100,300\n";
/// Links between them.
const LINKS: &str = "site_a,site_b\na,b\nb,d\n";
const LINK: &str = "link = { rate = \"1 Gbit/s\", delay = \"per length\" }\n";

/// Reads all but the first byte as sites or as recorded links; the first says which, and the rule
/// for links.
///
/// # Panics
/// If a report is incomplete, or a file does not resolve to a fixed point.
pub fn sites(bytes: &[u8]) {
    let Some((text, first)) = text_and_first(bytes) else {
        return;
    };
    match check_sites(text, "sites.csv") {
        Ok(count) => assert!(count > 0),
        Err(report) => is_a_report(&report),
    }
    let (sites, links, rule) = match first % 6 {
        0 => (text, LINKS, "\"none\""),
        1 => (text, LINKS, "{ rule = \"k-nearest\", k = 2 }"),
        2 => (text, LINKS, "\"gabriel\""),
        3 => (text, LINKS, "{ rule = \"mst\", extra_degree = 2 }"),
        4 => (text, LINKS, "{ rule = \"recorded\", file = \"links.csv\" }"),
        _ => (
            SITES,
            text,
            "{ rule = \"recorded\", file = \"links.csv\", connect = false }",
        ),
    };
    let folder = Folder::with([("sites.csv", sites), ("links.csv", links)]);
    let scenario = format!(
        "duration = \"1 s\"\n[topology]\nkind = \"sites\"\nfile = \"sites.csv\"\nlinks = {rule}\n{LINK}"
    );
    resolves_or_is_refused(&scenario, &folder.path("scenario.toml"));
}

/// Reads all but the first byte as a recorded trace; the first says of what.
///
/// # Panics
/// As [`sites`].
pub fn traces(bytes: &[u8]) {
    let Some((text, first)) = text_and_first(bytes) else {
        return;
    };
    let kind = first % 5;
    let of = match kind {
        0 => {
            "access = { kind = \"trace\", ues = 1, downlink = \"t\", uplink = \"t\", at_end = \"hold\" }\n"
        }
        1 => {
            "access = { kind = \"trace\", ues = 1, downlink = \"t.csv\", uplink = \"t.csv\", at_end = \"repeat\" }\n"
        }
        2 => {
            "[access]\nkind = \"lte\"\nues = 1\nchannel = { sinr = \"t\", at_end = \"hold\", entity = \"ue1\" }\n"
        }
        3 => {
            "[access]\nkind = \"lte\"\nues = 1\nchannel = { cqi = \"t\", at_end = \"stop\", max_gap = \"1 s\" }\n"
        }
        _ => "[access]\nkind = \"lte\"\nue = [{ trace = \"t\" }]\n",
    };
    let name = if kind == 1 { "t.csv" } else { "t" };
    let folder = Folder::with([(name, text), ("", "")]);
    let scenario = format!(
        "duration = \"1 s\"\n{}[topology]\nkind = \"grid\"\nrows = 1\ncolumns = 2\n\
         link = {{ rate = \"1 Gbit/s\", delay = \"4 ms\" }}\n{}",
        if kind < 2 { of } else { "" },
        if kind < 2 { "" } else { of },
    );
    resolves_or_is_refused(&scenario, &folder.path("scenario.toml"));
}

fn text_and_first(bytes: &[u8]) -> Option<(&str, u8)> {
    let (&first, rest) = bytes.split_first()?;
    let text = std::str::from_utf8(rest).ok()?;
    (text.len() <= MOST_BYTES).then_some((text, first))
}

/// A folder with a few files, removed on drop.
struct Folder(PathBuf);

impl Folder {
    fn with(files: [(&str, &str); 2]) -> Self {
        static NUMBER: AtomicU32 = AtomicU32::new(0);
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let name = format!("backlane-fuzzing-{}-{number}", std::process::id());
        let folder = Self(std::env::temp_dir().join(name));
        fs::create_dir_all(&folder.0).expect("a folder for the files of a scenario");
        for (name, text) in files.iter().filter(|(name, _)| !name.is_empty()) {
            fs::write(folder.0.join(name), text).expect("a file that a scenario names");
        }
        folder
    }

    fn path(&self, name: &str) -> String {
        self.0.join(name).to_string_lossy().into_owned()
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}
