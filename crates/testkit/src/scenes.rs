//! Scenario texts that tests and benchmarks share.

/// The published grid: 25 eNodeBs, three gateways, and downloads of `size` to each of `ues` UEs.
/// `routing` is the body of the section, `start` the rule of the starts. More sections may be
/// appended.
pub fn grid(routing: &str, ues: usize, size: &str, start: &str) -> String {
    format!(
        r#"
name = "grid"
duration = "120 s"
[topology]
kind = "grid"
rows = 5
columns = 5
spacing = "200 m"
link = {{ rate = "500 Mbit/s", delay = "4 ms", queue = "1 bdp" }}
[[gateway]]
node = "epc"
attach = ["enb5", "enb15", "enb25"]
link = {{ rate = "1 Gbit/s", delay = "0.5 ms", queue = "1 bdp" }}
[[server]]
node = "server"
attach = "epc"
link = {{ rate = "10 Gbit/s", delay = "5 ms" }}
[access]
kind = "ideal"
rate = "350 Mbit/s"
delay = "10 ms"
ues = {ues}
[[flow]]
kind = "download"
from = "server"
to = "ues"
size = "{size}"
start = "{start}"
[routing]
{routing}
"#
    )
}
