//! Scenes with 802.11 radios.

/// Stations around one that they all send to, with more than the air carries.
fn saturated(stations: usize, rate_mbps: f64, seconds: u64) -> String {
    let mut text = format!(
        r#"
name = "cell"
duration = "{seconds} s"
[topology]
kind = "graph"
[wifi]
standard = "802.11a"
neighbours = "in-range"
[routing]
protocol = "shortest-path"
[[topology.node]]
id = "sink"
kind = "router"
x = "0 m"
y = "0 m"
"#
    );
    let mut from = Vec::new();
    for station in 1..=stations {
        // On a circle of 5 m.
        let angle = std::f64::consts::TAU * station as f64 / stations as f64;
        let [x_mm, y_mm] = [angle.cos(), angle.sin()].map(|part| (5000.0 * part).round() as i64);
        text += &format!(
            "[[topology.node]]\nid = \"s{station}\"\nkind = \"router\"\nx = \"{x_mm} mm\"\n\
             y = \"{y_mm} mm\"\n"
        );
        from.push(format!("\"s{station}\""));
    }
    text += &format!(
        r#"
[[flow]]
kind = "udp"
rate = "{} Mbit/s"
packet_size = "1500 B"
from = [{}]
to = ["sink"]
start = "uniform 0 s 2 ms"
"#,
        rate_mbps / stations as f64,
        from.join(", ")
    );
    text
}

/// Ten rows of ten, of whom thirty send to others.
const MESH: &str = r#"
name = "mesh"
duration = "20 s"
[topology]
kind = "grid"
rows = 10
columns = 10
spacing = "20 m"
link = { medium = "wifi" }
[wifi]
standard = "802.11a"
rate = "24 Mbit/s"
[routing]
protocol = "shortest-path"
[[flow]]
kind = "udp"
rate = "100 kbit/s"
packet_size = "1000 B"
from = ["enb1", "enb4", "enb7", "enb10", "enb13", "enb16", "enb19", "enb22", "enb25", "enb28",
  "enb31", "enb34", "enb37", "enb40", "enb43", "enb46", "enb49", "enb52", "enb55", "enb58",
  "enb61", "enb64", "enb67", "enb70", "enb73", "enb76", "enb79", "enb82", "enb85", "enb88"]
to = ["enb45", "enb78", "enb41", "enb94", "enb57", "enb70", "enb83", "enb6", "enb99", "enb12",
  "enb95", "enb8", "enb71", "enb4", "enb87", "enb100", "enb13", "enb26", "enb9", "enb42",
  "enb5", "enb18", "enb31", "enb24", "enb37", "enb30", "enb53", "enb46", "enb29", "enb2"]
start = "uniform 0 s 100 ms"
"#;

/// Names and scenario files.
pub fn scenes() -> [(&'static str, String); 4] {
    [
        ("802.11a, 10 saturated stations", saturated(10, 60.0, 60)),
        ("802.11a, 50 saturated stations", saturated(50, 60.0, 20)),
        ("802.11a, 200 saturated stations", saturated(200, 60.0, 10)),
        ("802.11a, mesh of 100", MESH.to_owned()),
    ]
}
