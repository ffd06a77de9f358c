//! No text causes a panic, and every resolved scenario is a fixed point of resolving.
//!
//! The texts are mutations of the examples, drawn from a fixed seed; `fuzz/` searches further.

mod catalogue;

use backlane_scenario::check_sites;
use backlane_units::{Bytes, Duration, Length, Rate, Speed};
use catalogue::plan;

/// SplitMix64 (Steele, Lea and Flood 2014).
struct Draws(u64);

impl Draws {
    fn below(&mut self, bound: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((z ^ (z >> 31)) % bound.max(1) as u64) as usize
    }
}

const TOKENS: &[&str] = &[
    "\"",
    "[",
    "]",
    "{",
    "}",
    "=",
    "\n",
    ",",
    "#",
    "'''",
    "-1",
    "0",
    "1e999",
    "nan",
    "inf",
    "-0.0",
    "99999999999999999999",
    "9223372036854775807",
    "\u{0}",
    "é",
    "\t",
    "1 EB",
    "0 s",
    "-4 ms",
    "true",
    "1979-05-27",
    "[[flow]]\n",
    "[sweep]\nseeds = 3\n",
    "\"ues\"",
    "\"server\"",
    "enb1",
    "kind = \"tree\"\n",
    "endless",
    "0x",
    "a.b.c.d = 1\n",
    "\u{feff}",
    "uniform 0 s 5 s",
    "1 bdp",
    "codel",
    "\\u0000",
    ".",
    "queue = { discipline = \"codel\" }",
];

/// `text` with other digits in half of the cases, and else with up to six changes.
fn mutated(text: &str, draws: &mut Draws) -> String {
    let mut bytes = text.as_bytes().to_vec();
    if draws.below(2) == 0 {
        for _ in 0..=draws.below(3) {
            let at = draws.below(bytes.len());
            if let Some(digit) = bytes[at..].iter().position(u8::is_ascii_digit) {
                bytes[at + digit] = b'0' + draws.below(10) as u8;
            }
        }
        return String::from_utf8_lossy(&bytes).into_owned();
    }
    for _ in 0..=draws.below(6) {
        let at = draws.below(bytes.len());
        let end = (at + draws.below(24)).min(bytes.len());
        match draws.below(5) {
            0 => drop(bytes.drain(at..end)),
            1 => {
                let copy = bytes[at..end].to_vec();
                let to = draws.below(bytes.len());
                bytes.splice(to..to, copy);
            }
            2 if at < bytes.len() => bytes[at] = draws.below(128) as u8,
            3 => {
                let token = TOKENS[draws.below(TOKENS.len())];
                bytes.splice(at..at, token.bytes());
            }
            _ => {
                let token = TOKENS[draws.below(TOKENS.len())];
                bytes.splice(at..end, token.bytes());
            }
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

const SMALL: &str = r#"
name = "small"
duration = "30 s"
[topology]
kind = "ring_tree"
rows = 2
columns = 3
root = 2
centre = [1, 4]
link = { rate = "100 Mbit/s", delay = "2 ms", queue = { discipline = "codel" } }
[[gateway]]
attach = ["enb1", "enb3"]
link = { rate = "1 Gbit/s", delay = "0.5 ms" }
[[server]]
attach = "epc"
link = { rate = "10 Gbit/s", delay = "5 ms", loss = 0.25 }
[access]
kind = "ideal"
per_enodeb = { enb1 = 1, enb4 = 2 }
[routing]
protocol = "olsr"
hello_interval = "100 ms"
[tcp]
congestion_control = "vegas"
initial_ssthresh_pkts = 20
[[flow]]
kind = "upload"
size = "1 MB"
from = ["ue1", "ue3"]
start = "uniform 0 s 5 s"
[[flow]]
kind = "on-off"
from = "epc"
to = "enb5"
rate = "1 Mbit/s"
on = "1 s"
off = "0.5 s"
[record]
series = ["queue"]
links = ["epc-enb1"]
[sweep]
"routing" = [{ protocol = "bp-mr", granularity = "packet", v = 100 }, { protocol = "shortest-path" }]
"flow.0.size" = ["endless"]
seeds = [3, 5]
"#;

/// Servers whose names are not "server": the ends that are left out are theirs.
const SERVED: &str = r#"
duration = "30 s"
[topology]
kind = "chain"
nodes = 2
link = { rate = "100 Mbit/s", delay = "2 ms" }
[[server]]
node = "S"
attach = "enb1"
link = { rate = "10 Gbit/s", delay = "5 ms" }
[[server]]
node = "T"
attach = "enb2"
link = { rate = "10 Gbit/s", delay = "5 ms" }
[access]
kind = "ideal"
ues = 2
[[flow]]
kind = "download"
size = "1 MB"
[[flow]]
kind = "upload"
size = "1 MB"
to = "S"
[[flow]]
kind = "upload"
size = "1 MB"
to = ["S", "T"]
"#;

const TRACED: &str = r#"
duration = "30 s"
[topology]
kind = "chain"
nodes = 2
link = { rate = "100 Mbit/s", delay = "2 ms" }
[access]
kind = "trace"
downlink = ["a", "b"]
uplink = "b"
at_end = "repeat"
ues = 3
queue = "80 packets"
[[flow]]
kind = "upload"
size = "1 MB"
to = "enb2"
[[trace]]
file = "a"
of = "capacity"
source = "time_s,rate_bps\\n0,1e6\\n0.1,5e5\\n3,2e6\\n"
[[trace]]
file = "b"
of = "capacity"
source = """
0
1
1
7
"""
"#;

const ASSIGNED: &str = r#"
duration = "30 s"
[topology]
kind = "graph"
node = [
  { id = "a", kind = "router", x = "0 m", y = "0 m" },
  { id = "b", kind = "router", x = "50 m", y = "40 m", radios = 2 },
  { id = "c", kind = "router", x = "50 m", y = "0 m", radios = 1 },
  { id = "d", kind = "router", x = "90 m", y = "0 m" },
]
link = [
  { a = "a", b = "b", medium = "wifi" },
  { a = "a", b = "c", medium = "wifi", rate = "36 Mbit/s" },
  { a = "b", b = "d", medium = "wifi" },
  { a = "c", b = "d", medium = "wifi", flow_rate = "20 Mbit/s", flow_rate_back = "none" },
  { a = "b", b = "c", medium = "wifi" },
]
[[gateway]]
attach = "a"
link = { rate = "1 Gbit/s", delay = "0.5 ms", flow_rate = "3 Mbit/s" }
[wifi]
[assignment]
channels = "fcra"
available = [1, 6]
rates = "adjusted"
interference = { model = "sinr", exponent = 3.5 }
extra_hops = 2
ack_share = 0.1
demands = [{ from = "epc", to = "d", rate = "3 Mbit/s" }, { from = "d", to = "b" }]
[routing]
protocol = "l2.5r"
[[flow]]
kind = "transfer"
from = "a"
to = "d"
size = "1 MB"
[sweep]
"assignment.rates" = ["fixed", "adjusted"]
"assignment.radios" = [1, 2]
"#;

#[test]
fn ten_thousand_mutated_scenarios_resolve_to_a_fixed_point_or_are_refused() {
    let bases = [
        SMALL,
        SERVED,
        TRACED,
        ASSIGNED,
        include_str!("../../../examples/chain.toml"),
        include_str!("../../../examples/graph.toml"),
        include_str!("../../../examples/slotted_downlink.toml"),
    ];
    let mut draws = Draws(1);
    let (mut resolved, mut refused) = (0, 0);
    for index in 0..10_000 {
        let text = mutated(bases[index % bases.len()], &mut draws);
        match plan(&text, "mutated.toml", &[], None) {
            Err(report) => {
                refused += 1;
                assert!(report.diagnostics.iter().any(|d| d.code.starts_with('S')));
                let _ = report.to_string();
            }
            Ok(plan) => {
                resolved += 1;
                let cell = &plan.cells[plan.cells.len() - 1];
                let again = super_plan(&cell.resolved, &text);
                assert_eq!(again, cell.resolved, "of\n{text}");
            }
        }
    }
    // Both happen often enough to mean something.
    assert!(resolved > 500 && refused > 2_000, "{resolved} {refused}");
}

#[test]
fn ends_that_are_left_out_resolve_to_a_fixed_point_whatever_the_servers_are_called() {
    let one = SERVED.replace("node = \"T\"", "node = \"S\"");
    let one = one.replacen("[[server]]\nnode = \"S\"\nattach = \"enb2\"\nlink = { rate = \"10 Gbit/s\", delay = \"5 ms\" }\n", "", 1);
    for text in [
        SERVED.to_owned(),
        one.replace("to = [\"S\", \"T\"]", "to = \"server\""),
    ] {
        let plan = plan(&text, "served.toml", &[], None).unwrap_or_else(|e| panic!("{e}"));
        let resolved = &plan.cells[0].resolved;
        assert!(resolved.contains("# default"));
        assert_eq!(&super_plan(resolved, &text), resolved);
    }
}

/// The resolved form of a resolved cell.
fn super_plan(resolved: &str, original: &str) -> String {
    catalogue::described(resolved)
        .unwrap_or_else(|report| panic!("{report}\nof\n{resolved}\nof\n{original}"));
    match plan(resolved, "resolved.toml", &[], None) {
        Ok(plan) => plan.cells[0].resolved.clone(),
        Err(report) => panic!("{report}\nof\n{resolved}\nof\n{original}"),
    }
}

#[test]
fn ten_thousand_mutated_overrides_are_applied_or_refused() {
    let paths = [
        "routing",
        "routing.protocol",
        "access.ues",
        "flow",
        "flow.0",
        "flow.1.size",
        "flow.size",
        "topology.link.queue.limit",
        "topology.link.queue",
        "topology.link",
        "gateway.attach",
        "access.per_enodeb.enb1",
        "sweep.seeds",
        "sweep",
        "compare.keys",
        "compare.equal_within",
        "tcp.mss",
        "",
        "a..b",
        "topology.kind",
        "name",
        "record.series.0",
        "flow.99999999999999999999.size",
        "sweep.routing.protocol",
    ];
    let mut draws = Draws(2);
    for _ in 0..10_000 {
        let path = paths[draws.below(paths.len())];
        let path = if draws.below(3) == 0 {
            mutated(path, &mut draws)
        } else {
            path.to_owned()
        };
        let value = TOKENS[draws.below(TOKENS.len())];
        let value = if draws.below(2) == 0 {
            mutated(value, &mut draws)
        } else {
            value.to_owned()
        };
        if let Ok(plan) = plan(SMALL, "small.toml", &[(path, value)], None) {
            assert!(!plan.cells.is_empty());
        }
    }
}

#[test]
fn ten_thousand_mutated_sites_files_are_read_or_refused() {
    let base = include_str!("../../../examples/real_backhaul/sites.csv");
    let base: String = base
        .lines()
        .take(12)
        .flat_map(|line| [line, "\n"])
        .collect();
    let mut draws = Draws(3);
    let (mut read, mut refused) = (0, 0);
    for _ in 0..10_000 {
        match check_sites(&mutated(&base, &mut draws), "sites.csv") {
            Ok(count) => {
                read += 1;
                assert!((1..40).contains(&count));
            }
            Err(report) => {
                refused += 1;
                assert!(report.to_string().contains("sites.csv:"));
            }
        }
    }
    assert!(read > 500 && refused > 2_000, "{read} {refused}");
}

#[test]
fn ten_thousand_mutated_quantities_are_read_exactly_or_refused() {
    let bases = [
        "500 Mbit/s",
        "4 ms",
        "10 MB",
        "-0.12 km",
        "60 km/h",
        "1.5e3 us",
        "6 MiB",
    ];
    let mut draws = Draws(4);
    let mut read = 0;
    for index in 0..10_000 {
        let text = mutated(bases[index % bases.len()], &mut draws);
        // What can be read prints as a text that reads as the same.
        macro_rules! round_trip {
            ($($quantity:ty),*) => {
                $(if let Ok(value) = text.parse::<$quantity>() {
                    read += 1;
                    assert_eq!(value.to_string().parse(), Ok(value), "{text}");
                })*
            };
        }
        round_trip!(Duration, Rate, Bytes, Length, Speed);
    }
    assert!(read > 500, "{read}");
}

#[test]
fn deep_nesting_is_refused_and_does_not_exhaust_the_stack() {
    let deep = [
        format!("a{} = 1", ".a".repeat(100_000)),
        format!("a = {}", "[".repeat(100_000)),
        format!("a = {}", "{a=".repeat(100_000)),
        format!("[a{}]", ".a".repeat(100_000)),
        format!("{{ a{} = ", ".a".repeat(70)).repeat(70),
        format!(
            "a = {}1{}",
            "{ a.a.a.a.a.a.a.a = ".repeat(60),
            "}".repeat(60)
        ),
    ];
    for text in deep {
        assert!(catalogue::described(&text).is_err());
    }
}
