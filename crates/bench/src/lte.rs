//! Scenes with an LTE radio access network.

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
[[flow]]
kind = "download"
size = "endless"
{flow}
"#
    )
}

/// 25 cells 200 m apart, 100 UEs within 50 m of theirs.
fn grid(access: &str) -> String {
    format!(
        r#"
name = "grid"
duration = "20 s"
[topology]
kind = "grid"
rows = 5
columns = 5
spacing = "200 m"
link = {{ rate = "500 Mbit/s", delay = "4 ms", queue = "1 bdp" }}
[[gateway]]
attach = ["enb5", "enb15", "enb25"]
link = {{ rate = "1 Gbit/s", delay = "0.5 ms", queue = "1 bdp" }}
[[server]]
attach = "epc"
link = {{ rate = "10 Gbit/s", delay = "5 ms" }}
[access]
kind = "lte"
ues = 100
spread = "50 m"
path_loss = {{ model = "cost231-hata" }}
{access}
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
"#
    )
}

/// Names and scenario files.
pub fn scenes() -> [(&'static str, String); 5] {
    let near = "[[access.ue]]\nnear = \"enb1\"\ndistance = \"200 m\"";
    let walk = "fading = \"eva\"\n[[access.ue]]\nnear = \"enb1\"\ndistance = \"300 m\"\n\
                speed = \"60 km/h\"\nheading = \"outward\"";
    let fifty: Vec<String> = (0..50).map(|n| format!("\"ue{}\"", 20 * n + 1)).collect();
    let many = "ues = 1000\nspread = \"200 m\"";
    let one = "carrier = [{ bandwidth = \"20 MHz\", frequency = \"2.12 GHz\", \
               uplink_frequency = \"1.93 GHz\" }]";
    let three = "layers = 2\ncarrier = [\n\
         { bandwidth = \"20 MHz\", frequency = \"2.12 GHz\", uplink_frequency = \"1.93 GHz\" },\n\
         { bandwidth = \"20 MHz\", frequency = \"2.14 GHz\", uplink_frequency = \"1.95 GHz\" },\n\
         { bandwidth = \"10 MHz\", frequency = \"2.155 GHz\", uplink_frequency = \"1.965 GHz\" }]";
    [
        ("LTE cell, 1 UE", one_cell(near, "")),
        ("LTE cell, 1 UE, EVA at 60 km/h", one_cell(walk, "")),
        (
            "LTE cell, 50 of 1000 UEs",
            one_cell(many, &format!("to = [{}]", fifty.join(", "))),
        ),
        ("LTE grid, 100 x 10 MB", grid(one)),
        ("LTE grid, 3 carriers, 2 layers", grid(three)),
    ]
}
