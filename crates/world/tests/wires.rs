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

/// A wire of 10 Mbit/s with a saturating flow, and nothing before it but its queue.
fn saturated(keys: &str, routing: &str) -> String {
    format!(
        r#"
duration = "10 s"
[topology]
kind = "graph"
node = [{{ id = "a", kind = "router" }}, {{ id = "b", kind = "router" }}]
link = [{{ a = "a", b = "b", rate = "10 Mbit/s", delay = "5 ms", queue = "20 packets", {keys} }}]
[routing]
{routing}
[[flow]]
kind = "udp"
from = "a"
to = "b"
rate = "20 Mbit/s"
packet_size = "1250 B"
[[flow]]
kind = "udp"
from = "b"
to = "a"
rate = "20 Mbit/s"
packet_size = "1250 B"
"#
    )
}

/// Bits that arrived of the flow from a to b, and back. A packet has 10 224 or 10 000 bits.
fn arrived_bits(outcome: &Outcome) -> Vec<f64> {
    let bytes = outcome.links.integers("bytes").unwrap();
    bytes
        .iter()
        .map(|bytes| bytes.unwrap() as f64 * 8.0)
        .collect()
}

/// The integral of the rates over 10 s, less what is in transmission at the end. A plain wire counts
/// packets as soon as their departure is known, of which 20 wait.
#[test]
fn a_saturated_wire_carries_the_integral_of_its_rates() {
    const PACKET_BITS: f64 = 12_000.0;
    let near = |keys: &str, there: f64, back: f64| {
        let outcome = common::run(&saturated(keys, "protocol = \"shortest-path\""), 1, None);
        for (bits, offered) in arrived_bits(&outcome).iter().zip([there, back]) {
            let left = offered * 1e6 - bits;
            let ahead = if offered == 100.0 { 21.0 } else { 0.0 };
            let bounds = -ahead * PACKET_BITS..=2.0 * PACKET_BITS;
            assert!(bounds.contains(&left), "{keys}: {left}");
        }
    };
    let steps = "steps = [{ at = \"0 s\", rate = \"8 Mbit/s\" }, { at = \"2 s\", rate = \"none\" }, \
                 { at = \"5 s\", rate = \"2 Mbit/s\" }]";
    // 16 Mbit in 2 s, nothing in 3 s; then 2 Mbit/s for 5 s, for 3 s and 8 Mbit/s for 2 s, or for 3 s.
    near(&format!("capacity = {{ {steps} }}"), 26.0, 26.0);
    near(
        &format!("capacity = {{ {steps}, at_end = \"repeat\" }}, capacity_back = {{}}"),
        38.0,
        100.0,
    );
    near(
        &format!("capacity_back = {{ {steps}, at_end = \"stop\" }}"),
        100.0,
        22.0,
    );
    let one = "capacity = { steps = [{ at = \"0 s\", rate = \"3 Mbit/s\" }] }";
    near(one, 30.0, 30.0);
}

#[test]
fn packets_wait_while_a_wire_has_no_rate() {
    let keys = "queue = \"1000 packets\", capacity = { steps = [{ at = \"0 s\", rate = \"10 Mbit/s\" }, \
                { at = \"5 s\", rate = \"none\" }, { at = \"7 s\", rate = \"10 Mbit/s\" }] }";
    let outcome = run(keys);
    let dropped: u64 = outcome.summary.dropped_by_cause.iter().map(|of| of.1).sum();
    assert_eq!(dropped, 0);
    let silences = outcome.flows.floats("longest_silence_s").unwrap();
    for silence in silences {
        // A packet each 2.2 ms.
        let silence = silence.unwrap();
        assert!((1.99..=2.003).contains(&silence), "{silence}");
    }
}

#[test]
fn a_file_is_read_as_the_steps_that_it_states() {
    let trace = |source: &str| {
        let source = source.replace(' ', "\\n");
        format!("[[trace]]\nfile = \"wire.csv\"\nof = \"capacity\"\nsource = \"{source}\"\n")
    };
    let routing = "protocol = \"shortest-path\"";
    let run = |keys: &str, more: &str| {
        common::run(&format!("{}{more}", saturated(keys, routing)), 1, None)
    };
    let steps = run(
        "capacity = { steps = [{ at = \"0 s\", rate = \"8 Mbit/s\" }, \
         { at = \"3 s\", rate = \"none\" }, { at = \"4 s\", rate = \"1 Mbit/s\" }] }",
        "",
    );
    let table = trace("time_s,rate_bps 0,8000000 3,0 4,1000000 ");
    let file = run("capacity = { file = \"wire.csv\" }", &table);
    assert_eq!(steps.summary.digest, file.summary.digest);
    assert_eq!(steps.flows, file.flows);
    // 1500 bytes each 5 ms.
    let lines = trace("5 10 ");
    let file = run(
        "capacity = { file = \"wire.csv\", at_end = \"repeat\" }",
        &lines,
    );
    for bits in arrived_bits(&file) {
        assert!((23.97e6..=24e6).contains(&bits), "{bits}");
    }
}

/// The first rate holds in the warm-up, so that OLSR has its routes when the flows start.
#[test]
fn routing_protocols_find_their_routes_in_the_warm_up() {
    let run = |keys: &str| {
        let olsr = saturated(keys, "protocol = \"olsr\"\nwarm_up = \"20 s\"");
        received(&common::run(
            &olsr.replace("20 Mbit/s", "2 Mbit/s"),
            1,
            None,
        ))
    };
    let plain = run("");
    assert!(plain.iter().all(|pkts| *pkts > 1990.0), "{plain:?}");
    let second = "{ at = \"2 s\", rate = \"10 Mbit/s\" }";
    let keys =
        format!("capacity = {{ steps = [{{ at = \"0 s\", rate = \"5 Mbit/s\" }}, {second}] }}");
    for (traced, plain) in run(&keys).into_iter().zip(&plain) {
        // More of the last 5 ms is in transmission at the slower rate.
        assert!((traced - plain).abs() <= 3.0, "{traced} of {plain}");
    }
}

/// A trace of one constant rate is a plain wire to routing protocols too.
#[test]
fn a_constant_trace_is_a_plain_wire() {
    for routing in common::ROUTINGS
        .iter()
        .chain(&["protocol = \"tcp-aware-bp\""])
    {
        let plain = "rate = \"500 Mbit/s\"";
        let steps = "steps = [{ at = \"0 s\", rate = \"500 Mbit/s\" }]";
        let run = |link: &str| {
            let text = common::grid(routing, 8).replace(plain, link);
            common::run(&text, 1, None)
        };
        let traced = run(&format!("{plain}, capacity = {{ {steps} }}"));
        assert_eq!(run(plain).flows, traced.flows, "{routing}");
    }
    // Of a traced link the router is called when there is room, of a plain one at the instant that was
    // computed before a HELLO joined the queue; bp-classic and bp do not ask again. The packets are
    // the same, and a few leave at other times.
    for protocol in ["bp-classic", "bp"] {
        let run = |keys: &str| {
            let routing = format!("protocol = \"{protocol}\"\nhello_interval = \"5 s\"");
            let text = saturated(keys, &routing).replace("20 Mbit/s", "19.937 Mbit/s");
            received(&common::run(&text, 1, None))
        };
        let traced = run("capacity = { steps = [{ at = \"0 s\", rate = \"10 Mbit/s\" }] }");
        assert!(traced.iter().all(|pkts| *pkts > 9000.0), "{traced:?}");
        assert_eq!(run(""), traced, "{protocol}");
    }
}

/// OSPF over a wire of 10 Mbit/s that is offered 20, with a queue of 1000 packets: most HELLOs find it
/// full, and the route is lost after the dead interval. The key works with each discipline.
#[test]
fn routing_first_keeps_neighbours_over_an_overloaded_wire() {
    let delivered = |queue: &str| {
        let text = format!(
            r#"
duration = "40 s"
[topology]
kind = "graph"
node = [{{ id = "a", kind = "router" }}, {{ id = "b", kind = "router" }}]
link = [{{ a = "a", b = "b", rate = "10 Mbit/s", delay = "5 ms", queue = {{ {queue} }} }}]
[routing]
protocol = "ospf"
hello_interval = "1 s"
dead_interval = "4 s"
warm_up = "10 s"
[[flow]]
kind = "udp"
from = "a"
to = "b"
rate = "20 Mbit/s"
packet_size = "1000 B"
"#
        );
        let outcome = common::run(&text, 1, None);
        received(&outcome)[0] / (40.0 * 10e6 / 8.0 / 1028.0)
    };
    let shares = [
        "limit = \"1000 packets\"",
        "limit = \"1000 packets\", routing_first = false",
        "limit = \"1000 packets\", routing_first = true",
        "limit = \"1000 packets\", mark_above = \"100 packets\", routing_first = true",
    ]
    .map(delivered);
    println!("{shares:?}");
    assert_eq!(shares[0], shares[1]);
    assert!(shares[0] < 0.8, "{shares:?}");
    assert!(shares[2] > 0.99 && shares[3] > 0.99, "{shares:?}");
}
