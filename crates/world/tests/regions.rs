//! A run has the same outcome however its network is divided among threads.

mod common;

use backlane_world::{Models, Outcome, Supplied, Threads, World};
use common::{resolve, run};
use proptest::prelude::*;

/// The outcome of a run divided at random by a seed, and in how many regions it was run.
fn divided(text: &str, seed: u64, threads: usize, scatter: Option<u64>) -> (Outcome, usize) {
    let supplied = Supplied {
        threads: Threads::Exactly(threads),
        scatter,
        ..Supplied::default()
    };
    let models = Models::standard();
    let world = World::watched(models, supplied, &resolve(text), seed, None, |_, _| Ok(()));
    let world = world.unwrap().unwrap();
    let used = world.threads();
    let Ok(outcome) = world.run(|_, _| Ok(())) else {
        unreachable!("nothing interrupts")
    };
    (outcome, used)
}

const ROUTINGS: [&str; 17] = [
    "protocol = \"shortest-path\"",
    "protocol = \"shortest-path\"\nspray = [\"n1\"]",
    "spread = \"round-robin\"\nexplicit_paths = [EXPLICIT]",
    "protocol = \"olsr\"",
    "protocol = \"ospf\"\nhello_interval = \"100 ms\"\nbfd = \"30 ms\"",
    "protocol = \"ospf\"\ndaemon = \"bird\"\nstart = \"cold\"\nhello_interval = \"50 ms\"\ntick = \"20 ms\"",
    "protocol = \"babel\"\nhello_interval = \"100 ms\"\nsmoothing_half_life = \"0 s\"",
    "protocol = \"babel\"\ndaemon = \"bird\"\nhello_interval = \"2 s\"",
    "protocol = \"batman\"\nversion = \"V\"\norig_interval = \"100 ms\"\nelp_interval = \"50 ms\"\naggregation = \"10 ms\"",
    "protocol = \"batman\"\nversion = \"IV\"\norig_interval = \"100 ms\"\naggregation = \"10 ms\"",
    "protocol = \"aodv\"",
    "protocol = \"bp\"",
    "protocol = \"bs\"",
    "protocol = \"bp-classic\"\nqueue_info = \"hello\"",
    "protocol = \"bp-mr\"\ngranularity = \"packet\"",
    "protocol = \"tcp-aware-bp\"",
    "protocol = \"l2.5r\"",
];

const QUEUES: [&str; 4] = [
    "\"3 packets\"",
    "{ discipline = \"codel\", limit = \"30 packets\" }",
    "{ discipline = \"fq-codel\", limit = \"30 packets\" }",
    "{ discipline = \"drop-tail\", limit = \"20 packets\", mark_above = \"2 packets\" }",
];

/// A grid of routers with hosts, loads that collide in time, losses, an outage and samples.
fn network(routing: &str, queue: &str, delay: &str, side: usize) -> String {
    let mut nodes = String::new();
    let mut links = String::new();
    for row in 0..side {
        for column in 0..side {
            let n = row * side + column + 1;
            nodes += &format!(
                "{{ id = \"n{n}\", kind = \"router\", x = \"{} m\", y = \"{} m\" }},\n",
                column * 100,
                row * 100
            );
            // One link of each row has no delay.
            let near = if column == 0 { "0 s" } else { delay };
            if column + 1 < side {
                links += &format!(
                    "{{ a = \"n{n}\", b = \"n{}\", rate = \"20 Mbit/s\", delay = \"{near}\", queue = {queue} }},\n",
                    n + 1
                );
            }
            if row + 1 < side {
                let loss = if row == 0 { 0.01 } else { 0.0 };
                links += &format!(
                    "{{ a = \"n{n}\", b = \"n{}\", rate = \"20 Mbit/s\", delay = \"{delay}\", queue = {queue}, loss = {loss} }},\n",
                    n + side
                );
            }
        }
    }
    let last = side * side;
    let middle = last / 2 + 1;
    // Along two sides of the grid, with unequal shares.
    let path = |nodes: Vec<usize>, weight| {
        let nodes: Vec<String> = nodes.iter().map(|n| format!("\"n{n}\"")).collect();
        let nodes = nodes.join(", ");
        format!("{{ from = \"n1\", to = \"n{last}\", nodes = [{nodes}], weight = {weight} }}")
    };
    let below = (1..=side).map(|row| row * side);
    let first = path((1..side).chain(below).collect(), 3);
    let column = (0..side).map(|row| row * side + 1);
    let second = path(column.chain(last - side + 2..=last).collect(), 1);
    let routing = routing.replace("EXPLICIT", &format!("{first}, {second}"));
    format!(
        r#"
duration = "3 s"
[topology]
kind = "graph"
node = [
{nodes}]
link = [
{links}]
[routing]
warm_up = "5 s"
{routing}
[record]
interval = "100 ms"
series = ["cwnd", "goodput", "queue"]
reordering = true
[tcp]
ecn = "classic"
[[flow]]
kind = "transfer"
from = "n1"
to = "n{last}"
size = "300 kB"
[[flow]]
kind = "transfer"
from = "n{last}"
to = "n1"
size = "endless"
stop = "1500 ms"
[[flow]]
kind = "transfer"
from = "n{middle}"
to = "n2"
size = "50 kB"
count = 3
gap = "50 ms"
[[flow]]
kind = "udp"
from = "n{side}"
to = "n{middle}"
rate = "4 Mbit/s"
packet_size = "972 B"
[[flow]]
kind = "udp"
from = "n2"
to = "n{middle}"
rate = "4 Mbit/s"
packet_size = "972 B"
size = "100 kB"
[[failure]]
node = "n{middle}"
at = "1 s"
until = "1200 ms"
"#
    )
}

/// The same network: wires that lose in bursts and change their rates, which may lie between regions,
/// and wires with jitter, reordering and duplicates, which may not.
fn impaired(routing: &str, queue: &str, delay: &str, side: usize) -> String {
    let bursts = "bursts = { p = 0.01, r = 0.3 }";
    let steps = "{ at = \"0 s\", rate = \"20 Mbit/s\" }, { at = \"700 ms\", rate = \"none\" }, \
                 { at = \"900 ms\", rate = \"7 Mbit/s\" }";
    network(routing, queue, delay, side)
        .replace(
            ", loss = 0.01 }",
            &format!(
                ", impairments = {{ {bursts}, jitter = \"400 us\", in_order = false, \
                 duplicate = 0.05 }}, impairments_back = {{ reorder = 0.05 }} }}"
            ),
        )
        .replace(
            ", loss = 0 }",
            &format!(", impairments = {{ {bursts} }}, capacity = {{ steps = [{steps}] }} }}"),
        )
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn a_run_does_not_depend_on_its_regions(
        routing in prop::sample::select(&ROUTINGS[..]),
        queue in prop::sample::select(&QUEUES[..]),
        delay in prop::sample::select(&["10 us", "1 ms", "7 ms"][..]),
        side in 2usize..5,
        threads in 2usize..5,
        scatter in prop::option::weighted(0.8, any::<u64>()),
        seed in 0u64..1000,
    ) {
        // Backpressure decides by plain queues of its own.
        let owns = routing.contains("bp") || routing.contains("bs");
        let queue = if owns { QUEUES[0] } else { queue };
        let routing = if routing.contains("spray") && side < 3 { ROUTINGS[0] } else { routing };
        let text = network(routing, queue, delay, side);
        let whole = run(&text, seed, None);
        let (parts, _) = divided(&text, seed, threads, scatter);
        prop_assert_eq!(whole, parts);
    }

}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(10))]

    #[test]
    fn a_run_with_impaired_wires_does_not_depend_on_its_regions(
        routing in prop::sample::select(&ROUTINGS[..]),
        queue in prop::sample::select(&QUEUES[..]),
        delay in prop::sample::select(&["1 ms", "7 ms"][..]),
        side in 3usize..5,
        threads in 2usize..5,
        scatter in prop::option::weighted(0.8, any::<u64>()),
        seed in 0u64..1000,
    ) {
        let owns = routing.contains("bp") || routing.contains("bs");
        let queue = if owns { QUEUES[0] } else { queue };
        let text = impaired(routing, queue, delay, side);
        let whole = run(&text, seed, None);
        let (parts, _) = divided(&text, seed, threads, scatter);
        prop_assert_eq!(whole, parts);
    }
}
