//! Wires that lose, delay and duplicate packets, from the file to the results.

mod common;

use backlane_world::Outcome;

/// Two routers and a wire between them, with a flow over UDP each way.
fn wire(keys: &str) -> String {
    format!(
        r#"
duration = "20 s"
[topology]
kind = "graph"
node = [{{ id = "a", kind = "router" }}, {{ id = "b", kind = "router" }}]
link = [{{ a = "a", b = "b", rate = "10 Mbit/s", delay = "5 ms", {keys} }}]
[[flow]]
kind = "udp"
from = "a"
to = "b"
rate = "1 Mbit/s"
packet_size = "250 B"
[[flow]]
kind = "udp"
from = "b"
to = "a"
rate = "1 Mbit/s"
packet_size = "250 B"
[record]
reordering = true
"#
    )
}

fn run(keys: &str) -> Outcome {
    common::run(&wire(keys), 1, None)
}

fn received(outcome: &Outcome) -> Vec<f64> {
    let values = outcome.flows.integers("packets_received").unwrap();
    values.iter().map(|value| value.unwrap() as f64).collect()
}

#[test]
fn each_direction_of_a_wire_has_its_own_losses() {
    let plain = received(&run(""));
    let sent = plain[0];
    assert!(sent > 9000.0 && plain[1] == sent, "{plain:?}");
    let near = |keys: &str, there: f64, back: f64| {
        let got = received(&run(keys));
        for (got, loss) in got.iter().zip([there, back]) {
            // The chains below keep a state for 4 packets on average: at most √7 of a binomial.
            let error = (sent * loss * (1.0 - loss)).sqrt() * 7.0f64.sqrt();
            let expected = sent * (1.0 - loss);
            println!("{keys}: {got}, expected {expected:.0} ± {error:.0}");
            assert!((got - expected).abs() <= 5.0 * error, "{keys}: {got}");
        }
    };
    near("loss = 0.1", 0.1, 0.1);
    near("loss = 0.1, loss_back = 0.02", 0.1, 0.02);
    near("loss_back = 0.1", 0.0, 0.1);
    let bursts = "{ bursts = { p = 0.05, r = 0.25 } }";
    let share = 0.05 / 0.3;
    near(&format!("impairments = {bursts}"), share, share);
    near(&format!("impairments_back = {bursts}"), 0.0, share);
    near(
        &format!("impairments = {bursts}, impairments_back = {{}}"),
        share,
        0.0,
    );
    near(
        &format!("loss = 0.5, loss_back = 0.0, impairments = {bursts}"),
        1.0 - 0.5 * (1.0 - share),
        share,
    );
}

#[test]
fn copies_of_packets_are_in_the_balance() {
    let outcome = run("impairments = { duplicate = 0.1 }, impairments_back = {}");
    let summary = &outcome.summary;
    let dropped: u64 = summary.dropped_by_cause.iter().map(|of| of.1).sum();
    assert_eq!(
        summary.packets_injected + summary.packets_duplicated,
        summary.packets_delivered + dropped + summary.packets_in_flight
    );
    let received = received(&outcome);
    let copies = received[0] - received[1];
    assert_eq!(copies, summary.packets_duplicated as f64);
    let error = (received[1] * 0.1 * 0.9).sqrt();
    assert!((copies - 0.1 * received[1]).abs() < 5.0 * error, "{copies}");
    // A copy is no packet out of order.
    let reordered = outcome.flows.floats("reordered_ratio").unwrap();
    assert_eq!(reordered[0], Some(0.0));
}

#[test]
fn packets_overtake_each_other_in_the_direction_that_reorders() {
    let outcome = run("impairments = { reorder = 0.05 }, impairments_back = {}");
    let ratios = outcome.flows.floats("reordered_ratio").unwrap();
    // A packet each 2 ms (of 250 bytes at 1 Mbit/s) and a delay of 5 ms: two may be overtaken.
    let expected = 0.95 * (1.0 - 0.95f64 * 0.95);
    let error = (expected * (1.0 - expected) / 10_000.0 * 5.0).sqrt();
    let ratio = ratios[0].unwrap();
    assert!(
        (ratio - expected).abs() < 5.0 * error,
        "{ratio}, {expected}"
    );
    assert_eq!(ratios[1], Some(0.0));
}
