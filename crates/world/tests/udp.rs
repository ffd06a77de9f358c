//! Loads over UDP send at their configured rate.

mod common;

use common::{floats, integers, run};

fn pair(flow: &str) -> String {
    format!(
        r#"
name = "pair"
duration = "100 s"
[topology]
kind = "chain"
nodes = 2
link = {{ rate = "100 Mbit/s", delay = "1 ms" }}
[[flow]]
from = "enb1"
to = "enb2"
packet_size = "1000 B"
start = "0 s"
{flow}
"#
    )
}

#[test]
fn a_constant_rate_is_constant() {
    let outcome = run(
        &pair("kind = \"udp\"\nrate = \"8 Mbit/s\"\nstop = \"50 s\""),
        1,
        None,
    );
    // One packet of 1000 bytes a millisecond, the first at once, none at the stop.
    assert_eq!(integers(&outcome.flows, "segments_sent"), [Some(50_000)]);
    assert_eq!(
        integers(&outcome.flows, "delivered_bytes"),
        [Some(50_000_000)]
    );
    let goodput = floats(&outcome.flows, "goodput_bps")[0].unwrap();
    assert!((goodput / 8e6 - 1.0).abs() < 1e-9, "{goodput}");
}

#[test]
fn a_finite_load_ends_the_run_when_it_has_arrived() {
    let outcome = run(
        &pair("kind = \"udp\"\nrate = \"8 Mbit/s\"\nsize = \"1500 B\""),
        1,
        None,
    );
    assert_eq!(integers(&outcome.flows, "segments_sent"), [Some(2)]);
    // The second packet leaves 1 ms later, 500 + 28 bytes at 100 Mb/s, and 1 ms on the wire.
    let expected = 0.001 + 528.0 * 8.0 / 100e6 + 0.001;
    let finish_s = floats(&outcome.flows, "finish_s")[0].unwrap();
    assert!((finish_s - expected).abs() < 1e-9);
    // A run ends at the next multiple of 10 ms.
    assert_eq!(outcome.summary.simulated_s, 0.01);
    assert_eq!(outcome.summary.ended.name(), "flows finished");
}

/// On a quarter of the time: 0.1 s on and 0.3 s off, on average. In 100 s there are about 250
/// cycles, whose share has a standard deviation of about 0.25·0.75·√(2/250) = 0.017.
#[test]
fn an_on_off_load_is_on_for_its_share_of_the_time() {
    let flow = "kind = \"on-off\"\nrate = \"8 Mbit/s\"\non = \"100 ms\"\noff = \"300 ms\"";
    let shares: Vec<f64> = (1..=4)
        .map(|seed| floats(&run(&pair(flow), seed, None).flows, "goodput_bps")[0].unwrap() / 8e6)
        .collect();
    let mean = shares.iter().sum::<f64>() / 4.0;
    assert!((mean - 0.25).abs() < 4.0 * 0.017 / 2.0, "{shares:?}");
}

#[test]
fn the_warm_up_does_not_count_in_what_a_link_carried() {
    let text = pair("kind = \"udp\"\nrate = \"20 Mbit/s\"")
        + "[routing]\nprotocol = \"olsr\"\nwarm_up = \"100 s\"\n";
    let outcome = run(&text, 1, None);
    // 20 Mbit/s of payload in packets of 1028 bytes on 100 Mbit/s, and some messages of OLSR.
    // Over warm-up and traffic together it would be half of that.
    let utilisation = floats(&outcome.links, "utilisation")[0].unwrap();
    assert!((0.2056..0.2058).contains(&utilisation), "{utilisation}");
}
