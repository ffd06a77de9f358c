//! Scenes with an LTE radio access network.

/// The published grid on one carrier, as in an example.
const GRID: &str = include_str!("../../../examples/lte_backhaul.toml");

/// One eNodeB 5 ms from a server.
fn one_cell(access: &str, flow: &str) -> String {
    format!(
        r#"
name = "cell"
duration = "30 s"
[topology]
kind = "chain"
nodes = 1
link = {{ rate = "1 Gbit/s", delay = "1 ms" }}
[[gateway]]
attach = "enb1"
link = {{ rate = "1 Gbit/s", delay = "0.5 ms" }}
[[server]]
attach = "epc"
link = {{ rate = "10 Gbit/s", delay = "5 ms" }}
[access]
kind = "lte"
{access}
[tcp]
congestion_control = "cubic"
{flow}
"#
    )
}

/// 25 cells 200 m apart on three carriers, 100 UEs within 50 m of theirs.
const WIDE_GRID: &str = r#"
name = "grid"
duration = "20 s"
[topology]
kind = "grid"
rows = 5
columns = 5
spacing = "200 m"
link = { rate = "500 Mbit/s", delay = "4 ms", queue = "1 bdp" }
[[gateway]]
attach = ["enb5", "enb15", "enb25"]
link = { rate = "1 Gbit/s", delay = "0.5 ms", queue = "1 bdp" }
[[server]]
attach = "epc"
link = { rate = "10 Gbit/s", delay = "5 ms" }
[access]
kind = "lte"
ues = 100
spread = "50 m"
path_loss = { model = "cost231-hata" }
layers = 2
carrier = [
  { bandwidth = "20 MHz", frequency = "2.12 GHz", uplink_frequency = "1.93 GHz" },
  { bandwidth = "20 MHz", frequency = "2.14 GHz", uplink_frequency = "1.95 GHz" },
  { bandwidth = "10 MHz", frequency = "2.155 GHz", uplink_frequency = "1.965 GHz" },
]
[routing]
protocol = "olsr"
warm_up = "0 s"
[tcp]
congestion_control = "cubic"
[[flow]]
kind = "download"
size = "10 MB"
from = "server"
to = "ues"
start = "0 s"
"#;

/// Names and scenario files.
pub fn scenes() -> [(&'static str, String); 6] {
    let near = "[[access.ue]]\nnear = \"enb1\"\ndistance = \"200 m\"";
    let walk = "fading = \"eva\"\n[[access.ue]]\nnear = \"enb1\"\ndistance = \"300 m\"\n\
                speed = \"60 km/h\"\nheading = \"outward\"";
    let download = "[[flow]]\nkind = \"download\"\nsize = \"endless\"\n";
    let fifty: Vec<String> = (0..50).map(|n| format!("\"ue{}\"", 20 * n + 1)).collect();
    let to_fifty = format!("{download}to = [{}]", fifty.join(", "));
    let many = "ues = 1000\nspread = \"200 m\"";
    [
        ("LTE cell, 1 UE", one_cell(near, download)),
        ("LTE cell, 1 UE, EVA at 60 km/h", one_cell(walk, download)),
        ("LTE cell, 50 of 1000 UEs", one_cell(many, &to_fifty)),
        ("LTE cell, 1000 UEs at rest", one_cell(many, "")),
        ("LTE grid, 100 x 10 MB", GRID.to_owned()),
        ("LTE grid, 3 carriers, 2 layers", WIDE_GRID.to_owned()),
    ]
}
