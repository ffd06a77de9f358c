//! Small networks as scenario files, over every topology, access, routing and kind of flow.

use std::fmt::Write;

use backlane_tcp::CongestionControlConfig;

use crate::choices::Choices;

/// Files that stand for themselves; what follows `[sweep]` is left out.
const EXAMPLES: [&str; 6] = [
    include_str!("../../../examples/chain.toml"),
    include_str!("../../../examples/graph.toml"),
    include_str!("../../../examples/lte_cell.toml"),
    include_str!("../../../examples/multipath_mesh/scenario.toml"),
    include_str!("../../../examples/tcp_profiles.toml"),
    include_str!("../../../examples/wifi_cells.toml"),
];

const PROTOCOLS: [&str; 10] = [
    "shortest-path",
    "olsr",
    "aodv",
    "bp",
    "bs",
    "bp-classic",
    "bp-mr",
    "tcp-aware-bp",
    "l2.5r",
    "bp-mr\"\ngranularity = \"packet",
];
const POLICIES: [&str; 7] = [
    "rack",
    "fixed",
    "linux-legacy",
    "ncr-careful",
    "ncr-aggressive",
    "rr",
    "pr",
];
const QUEUES: [&str; 7] = [
    "\"50 packets\"",
    "\"3 packets\"",
    "\"100 kB\"",
    "\"9 kB\"",
    "{ discipline = \"codel\", limit = \"30 packets\", ecn = true }",
    "{ discipline = \"fq-codel\", limit = \"40 packets\", flows = 8 }",
    "{ discipline = \"drop-tail\", limit = \"60 packets\", mark_above = \"5 packets\" }",
];
const STANDARDS: [&str; 4] = ["802.11b", "802.11g", "802.11-dsss", "802.11a"];
const STARTS: [&str; 5] = [
    "0 s",
    "3 ms",
    "uniform 0 s 20 ms",
    "every 5 ms from 1 ms",
    "every exponential 5 ms from 0 s",
];
const SIZES: [&str; 5] = ["20 kB", "1 B", "endless", "300 kB", "uniform 1 kB 50 kB"];

/// What a network has that its flows can lead between.
struct Ends {
    /// Routers by name.
    nodes: Vec<String>,
    has_ues: bool,
    is_wireless: bool,
}

/// A scenario without a sweep.
pub(crate) fn network(choices: &mut Choices) -> String {
    if choices.chance(24) {
        let text = choices.of(&EXAMPLES);
        return text.split("\n[sweep]").next().unwrap_or(text).to_owned();
    }
    let mut text = "duration = \"1 s\"\n".to_owned();
    if choices.chance(24) {
        text.push_str("coding = { payload = true, max_generation = 8 }\n");
    }
    let ends = if choices.below(3) == 2 {
        wireless(&mut text, choices)
    } else {
        wired(&mut text, choices)
    };
    let routing = choices.of(&PROTOCOLS);
    let _ = writeln!(text, "[routing]\nprotocol = \"{routing}\"");
    tcp(&mut text, choices);
    for _ in 0..=choices.below(4) {
        flow(&mut text, &ends, choices);
    }
    for _ in 0..choices.below(3) {
        failure(&mut text, &ends, choices);
    }
    record(&mut text, &ends, choices);
    text
}

fn link(choices: &mut Choices) -> String {
    let rate = choices.of(&["10 Mbit/s", "1 Mbit/s", "100 Mbit/s", "1 Gbit/s"]);
    let delay = choices.of(&["1 ms", "0 s", "4 ms", "20 ms"]);
    let queue = choices.of(&QUEUES);
    let loss = choices.of(&["0.0", "0.0", "0.01", "0.3"]);
    format!("rate = \"{rate}\", delay = \"{delay}\", queue = {queue}, loss = {loss}")
}

fn numbered(prefix: &str, count: usize) -> Vec<String> {
    (1..=count)
        .map(|number| format!("{prefix}{number}"))
        .collect()
}

/// A backhaul of wires with a gateway, a server and, mostly, UEs.
fn wired(text: &mut String, choices: &mut Choices) -> Ends {
    let link = link(choices);
    let (shape, count) = match choices.below(5) {
        0 => {
            let nodes = 1 + choices.below(4);
            (format!("kind = \"chain\"\nnodes = {nodes}"), nodes)
        }
        1 => {
            let (rows, columns) = (1 + choices.below(3), 1 + choices.below(3));
            (
                format!("kind = \"grid\"\nrows = {rows}\ncolumns = {columns}"),
                rows * columns,
            )
        }
        2 => ("kind = \"tree\"\nbranching = 2\ndepth = 2".to_owned(), 7),
        3 => (
            "kind = \"ring_tree\"\nrows = 2\ncolumns = 3\nroot = 2\ncentre = [1, 4]".to_owned(),
            6,
        ),
        _ => ("kind = \"diamond\"".to_owned(), 4),
    };
    let _ = writeln!(text, "[topology]\n{shape}\nlink = {{ {link} }}");
    let nodes = if shape.ends_with("\"diamond\"") {
        ["source", "top", "bottom", "sink"]
            .map(str::to_owned)
            .to_vec()
    } else {
        numbered("enb", count)
    };
    let wire = "rate = \"100 Mbit/s\", delay = \"1 ms\", queue = \"60 packets\"";
    let (first, last) = (&nodes[0], &nodes[count - 1]);
    let attach = if count > 1 && choices.chance(96) {
        format!("[\"{first}\", \"{last}\"]")
    } else {
        format!("\"{first}\"")
    };
    let _ = writeln!(text, "[[gateway]]\nattach = {attach}\nlink = {{ {wire} }}");
    let _ = writeln!(text, "[[server]]\nattach = \"epc\"\nlink = {{ {wire} }}");
    let has_ues = first == "enb1" && access(text, count, choices);
    Ends {
        nodes,
        has_ues,
        is_wireless: false,
    }
}

/// The access network; whether there is one.
fn access(text: &mut String, enodebs: usize, choices: &mut Choices) -> bool {
    let ues = 1 + choices.below(5);
    match choices.below(5) {
        0 => {
            let _ = writeln!(
                text,
                "[access]\nkind = \"ideal\"\nrate = \"20 Mbit/s\"\nues = {ues}"
            );
        }
        1 => {
            let fading = choices.of(&["none", "epa", "eva", "etu"]);
            let loss = choices.of(&["kun2600", "cost231-hata", "friis", "urban-macro"]);
            let _ = writeln!(
                text,
                "[access]\nkind = \"lte\"\nues = {ues}\nspread = \"300 m\"\nfading = \"{fading}\"\n\
                 path_loss = \"{loss}\""
            );
        }
        2 => {
            let _ = writeln!(text, "[access]\nkind = \"lte\"");
            for _ in 0..ues.min(3) {
                let near = 1 + choices.below(enodebs);
                let far = choices.of(&["200 m", "1 m", "3 km"]);
                let way = choices.of(&[
                    "",
                    "speed = \"60 km/h\"\nheading = \"outward\"\n",
                    "speed = \"500 km/h\"\nheading = \"inward\"\n",
                ]);
                let _ = write!(
                    text,
                    "[[access.ue]]\nnear = \"enb{near}\"\ndistance = \"{far}\"\n{way}"
                );
            }
        }
        3 => {
            let end = choices.of(&["repeat", "stop"]);
            let per = choices.of(&["ue", "enodeb"]);
            let _ = writeln!(
                text,
                "[access]\nkind = \"trace\"\ndownlink = \"d\"\nuplink = \"u.csv\"\nper = \"{per}\"\n\
                 at_end = \"{end}\"\nues = {ues}"
            );
            text.push_str(
                "[[trace]]\nfile = \"d\"\nof = \"capacity\"\nsource = \"0\\n0\\n1\\n4\\n9\\n\"\n",
            );
            text.push_str("[[trace]]\nfile = \"u.csv\"\nof = \"capacity\"\n");
            text.push_str("source = \"time_s,rate_bps\\n0,1e6\\n0.01,0\\n0.02,5e6\\n\"\n");
        }
        _ => return false,
    }
    true
}

/// A mesh over 802.11.
fn wireless(text: &mut String, choices: &mut Choices) -> Ends {
    let nodes = if choices.chance(128) {
        let rows = 1 + choices.below(2);
        let _ = writeln!(
            text,
            "[topology]\nkind = \"cells\"\nrows = {rows}\ncolumns = 3\nlink = {{ medium = \"wifi\" }}"
        );
        numbered("n", 3 * rows)
    } else {
        text.push_str("[topology]\nkind = \"graph\"\nnode = [\n");
        for (id, x, y) in [
            ("a", 0, 0),
            ("b", 90, 40),
            ("c", 80, -50),
            ("d", 170, 0),
            ("e", 250, 30),
        ] {
            let _ = writeln!(
                text,
                "  {{ id = \"{id}\", kind = \"router\", x = \"{x} m\", y = \"{y} m\" }},"
            );
        }
        text.push_str("]\nlink = [\n");
        let link = link(choices);
        for pair in ["ab", "ac", "bc", "bd", "cd", "de"] {
            let (a, b) = pair.split_at(1);
            let medium = if pair == "de" && choices.chance(128) {
                link.clone()
            } else {
                "medium = \"wifi\"".to_owned()
            };
            let _ = writeln!(text, "  {{ a = \"{a}\", b = \"{b}\", {medium} }},");
        }
        text.push_str("]\n");
        if choices.chance(64) {
            text.push_str(
                "[assignment]\nchannels = \"fcra\"\navailable = [36, 40, 44]\nradios = 2\n",
            );
        }
        ["a", "b", "c", "d", "e"].map(str::to_owned).to_vec()
    };
    // The error rates of 802.11b take longest to compute, so that it comes seldom.
    let standard = STANDARDS[choices.below(16).min(STANDARDS.len() - 1)];
    let profile = choices.of(&["standard", "ns2"]);
    let loss = choices.of(&["0.0", "0.1", "0.6"]);
    if profile == "ns2" {
        let _ = writeln!(text, "[wifi]\nprofile = \"ns2\"\nloss = {loss}");
    } else {
        let _ = writeln!(text, "[wifi]\nstandard = \"{standard}\"\nloss = {loss}");
    }
    Ends {
        nodes,
        has_ues: false,
        is_wireless: true,
    }
}

fn tcp(text: &mut String, choices: &mut Choices) {
    let control = choices.of(CongestionControlConfig::NAMES);
    let profile = choices.of(&["linux", "linux", "ns3"]);
    let ecn = choices.of(&["off", "classic", "exact"]);
    let policy = choices.of(&POLICIES);
    let mss = choices.of(&["1448 B", "536 B", "100 B"]);
    let _ = writeln!(
        text,
        "[tcp]\nprofile = \"{profile}\"\ncongestion_control = \"{control}\"\necn = \"{ecn}\"\n\
         reordering = \"{policy}\"\nmss = \"{mss}\""
    );
}

fn flow(text: &mut String, ends: &Ends, choices: &mut Choices) {
    let start = choices.of(&STARTS);
    let size = choices.of(&SIZES);
    let count = ends.nodes.len();
    let from = choices.below(count);
    let to = match &ends.nodes[(from + 1 + choices.below(count.max(2) - 1)) % count] {
        same if *same == ends.nodes[from] => "server",
        other => other,
    };
    let from = &ends.nodes[from];
    let plain = if size.contains(' ') && size.starts_with('u') {
        "20 kB"
    } else {
        size
    };
    let body = match choices.below(6) {
        0 if ends.has_ues => {
            format!("kind = \"download\"\nfrom = \"server\"\nto = \"ues\"\nsize = \"{size}\"")
        }
        1 if ends.has_ues => {
            format!("kind = \"upload\"\nfrom = \"ues\"\nto = \"server\"\nsize = \"{size}\"")
        }
        2 => format!(
            "kind = \"udp\"\nfrom = \"{from}\"\nto = \"{to}\"\nsize = \"{plain}\"\nrate = \"3 Mbit/s\"\n\
             control = \"{}\"",
            choices.of(&["none", "utility"])
        ),
        3 => format!(
            "kind = \"on-off\"\nfrom = \"{from}\"\nto = \"{to}\"\nsize = \"{plain}\"\n\
             rate = \"5 Mbit/s\"\non = \"10 ms\"\noff = \"20 ms\""
        ),
        4 => format!(
            "kind = \"transfer\"\nfrom = \"{from}\"\nto = \"{to}\"\nsize = \"20 kB\"\ncount = 3\n\
             gap = \"exponential 10 ms\""
        ),
        _ => format!("kind = \"transfer\"\nfrom = \"{from}\"\nto = \"{to}\"\nsize = \"{size}\""),
    };
    let _ = writeln!(text, "[[flow]]\n{body}\nstart = \"{start}\"");
}

fn failure(text: &mut String, ends: &Ends, choices: &mut Choices) {
    let node = &ends.nodes[choices.below(ends.nodes.len())];
    let (at, until) = choices.of(&[
        ("5 ms", "30 ms"),
        ("0 s", "end"),
        ("40 ms", "50 ms"),
        ("0 s", "2 s"),
        ("30 ms", "900 ms"),
    ]);
    let failed = if choices.chance(128) && ends.nodes.len() > 1 {
        let [a, b] = [&ends.nodes[0], &ends.nodes[1]];
        format!("link = \"{a}-{b}\"")
    } else {
        format!("node = \"{node}\"")
    };
    let _ = writeln!(
        text,
        "[[failure]]\n{failed}\nat = \"{at}\"\nuntil = \"{until}\""
    );
}

fn record(text: &mut String, ends: &Ends, choices: &mut Choices) {
    let series = choices.of(&[
        "",
        "\"cwnd\"",
        "\"goodput\", \"queue\"",
        "\"cwnd\", \"goodput\", \"queue\"",
    ]);
    let radio = if series.len() == 6 && ends.has_ues && choices.chance(128) {
        ", \"radio\""
    } else {
        ""
    };
    let capture = if choices.chance(96) {
        format!("\"{}\"", ends.nodes[choices.below(ends.nodes.len())])
    } else {
        String::new()
    };
    let reordering = choices.chance(64);
    let interval = if ends.is_wireless { "50 ms" } else { "10 ms" };
    let _ = writeln!(
        text,
        "[record]\nseries = [{series}{radio}]\ninterval = \"{interval}\"\ncapture = [{capture}]\n\
         reordering = {reordering}"
    );
}
