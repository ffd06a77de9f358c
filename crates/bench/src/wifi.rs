//! Scenes with 802.11 radios.

/// Saturated stations around one receiver.
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

/// Ten rows of ten, of which thirty send to others.
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

/// Three paths of 2, 3 and 4 links, each link on its own channel, filled by `flows` TCP flows
/// whose packets are spread over all of them; reordering is measured.
fn three_paths(flows: usize) -> String {
    let (mut nodes, mut links) = (String::new(), String::new());
    let paths = [
        ["S", "a1", "R", "", ""],
        ["S", "b1", "b2", "R", ""],
        ["S", "c1", "c2", "c3", "R"],
    ];
    let mut channel = 0;
    let mut channels = std::collections::BTreeMap::<&str, Vec<u32>>::new();
    for path in &paths {
        for ends in path.windows(2).filter(|ends| !ends[1].is_empty()) {
            channel += 1;
            links += &format!(
                "{{ a = \"{}\", b = \"{}\", medium = \"wifi\", channel = {channel} }},",
                ends[0], ends[1]
            );
            for end in ends {
                channels.entry(*end).or_default().push(channel);
            }
        }
    }
    for (place, (node, channels)) in channels.iter().enumerate() {
        nodes += &format!(
            "{{ id = \"{node}\", kind = \"router\", x = \"{} m\", y = \"0 m\", channels = {channels:?} }},",
            20 * place
        );
    }
    format!(
        r#"
name = "paths"
duration = "61 s"
[topology]
kind = "graph"
node = [{nodes}]
link = [{links}]
[wifi]
standard = "802.11a"
control_rate = "24 Mbit/s"
queue = "50 packets"
loss = 0.0
[routing]
protocol = "l2.5r"
[tcp]
congestion_control = "reno"
reordering = "ncr-aggressive"
[[flow]]
kind = "transfer"
size = "endless"
from = "S"
to = "R"
count = {flows}
start = "uniform 0 s 1 s"
[record]
reordering = true
"#
    )
}

/// Names and scenario files.
pub fn scenes() -> [(&'static str, String); 6] {
    [
        ("802.11a, 10 saturated stations", saturated(10, 60.0, 60)),
        ("802.11a, 50 saturated stations", saturated(50, 60.0, 20)),
        ("802.11a, 200 saturated stations", saturated(200, 60.0, 10)),
        ("802.11a, mesh of 100", MESH.to_owned()),
        ("802.11a, three paths, 1 TCP flow", three_paths(1)),
        ("802.11a, three paths, 6 TCP flows", three_paths(6)),
    ]
}
