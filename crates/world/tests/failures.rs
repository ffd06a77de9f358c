//! Nodes and links that fail, and the time that each routing needs to avoid them.

mod common;

use backlane_world::Outcome;
use common::{floats, integers, run};

const SHORTEST: &str = "protocol = \"shortest-path\"";
const OLSR: &str = "protocol = \"olsr\"";
const BP_FLOW: &str = "protocol = \"bp-mr\"";
const BP_BURST: &str = "protocol = \"bp-mr\"\ngranularity = \"burst\"";

/// A ring of six: enb1 reaches enb3 over enb2, or else over enb6, enb5 and enb4. A packet of
/// 1000 bytes a millisecond, for 60 s.
fn ring(routing: &str, failures: &str) -> String {
    let node = |n: usize| format!("{{ id = \"enb{n}\" }}");
    let link = |n: usize| {
        let next = n % 6 + 1;
        format!("{{ a = \"enb{n}\", b = \"enb{next}\", rate = \"100 Mbit/s\", delay = \"1 ms\" }}")
    };
    let list = |item: &dyn Fn(usize) -> String| (1..=6).map(item).collect::<Vec<_>>().join(", ");
    format!(
        r#"
name = "ring"
duration = "60 s"
[topology]
kind = "graph"
node = [{}]
link = [{}]
[routing]
warm_up = "40 s"
{routing}
[[flow]]
kind = "udp"
from = "enb1"
to = "enb3"
rate = "8 Mbit/s"
packet_size = "1000 B"
{failures}
"#,
        list(&node),
        list(&link)
    )
}

fn silence_s(outcome: &Outcome) -> f64 {
    floats(&outcome.flows, "longest_silence_s")[0].unwrap()
}

fn lost(outcome: &Outcome) -> u64 {
    let column = |name: &str| integers(&outcome.flows, name)[0].unwrap();
    column("segments_sent") - column("packets_received")
}

fn dropped(outcome: &Outcome, cause: &str) -> u64 {
    let mut causes = outcome.summary.dropped_by_cause.iter();
    causes.find(|(name, _)| *name == cause).unwrap().1
}

/// A failure of this length, as long as packets leave every millisecond and are 2.2 ms on their
/// way: the last before it came at most 1 ms earlier, and the first after it left at most 1 ms
/// later.
fn is_silence_of(outcome: &Outcome, span_s: f64) -> bool {
    (0.0..=0.0042).contains(&(silence_s(outcome) - span_s))
}

const NODE: &str = "[[failure]]\nnode = \"enb2\"\nat = \"10 s\"\nuntil = \"40 s\"\n";

/// The protocol's own silence limit, less the age of the last HELLO, and not much more.
#[test]
fn a_dead_node_is_avoided_when_its_hellos_are_missed() {
    for seed in 1..=3 {
        for routing in [BP_FLOW, BP_BURST] {
            let outcome = run(&ring(routing, NODE), seed, None);
            let silence = silence_s(&outcome);
            // A HELLO every 100 to 125 ms, valid for 300 ms. The detour takes 2 ms more, and a
            // packet leaves every millisecond.
            assert!(
                (0.300 - 0.125..=0.300 + 0.004).contains(&silence),
                "{routing}: {silence}"
            );
            assert!(lost(&outcome) <= 310, "{} lost", lost(&outcome));
        }
        let config = backlane_routing::olsr::Config::default();
        let outcome = run(&ring(OLSR, NODE), seed, None);
        let silence = silence_s(&outcome);
        // enb1 considers enb2 a neighbour for 6 s after its last HELLO (which a message may round
        // up by a sixteenth), and enb6 must stop sending the other way: two HELLOs, a TC and its
        // jitter.
        let least = config.neighbour_hold - config.hello_interval;
        let notified =
            config.neighbour_hold + config.neighbour_hold / 16 + config.hello_interval * 2;
        let most = notified + config.tc_interval + config.jitter * 3;
        assert!(
            (least.as_secs_f64()..=most.as_secs_f64()).contains(&silence),
            "OLSR: {silence}"
        );
    }
}

#[test]
fn static_routes_wait_until_the_node_is_back() {
    let outcome = run(&ring(SHORTEST, NODE), 1, None);
    assert!(is_silence_of(&outcome, 30.0), "{}", silence_s(&outcome));
    // What enb1 sent within the 30 s, and the two or three that were on their way.
    let down = dropped(&outcome, "link_down");
    assert!((30_000..=30_004).contains(&down), "{down}");
    assert_eq!(lost(&outcome), down + outcome.summary.packets_in_flight);
}

#[test]
fn a_link_fails_in_both_directions_and_a_node_with_all_its_links() {
    let link = "[[failure]]\nlink = \"enb2-enb1\"\nat = \"10 s\"\nuntil = \"20 s\"\n";
    let outcome = run(&ring(SHORTEST, link), 1, None);
    assert!(is_silence_of(&outcome, 10.0));
    // The destination itself fails: no packet arrives under any routing.
    let far = "[[failure]]\nnode = \"enb3\"\nat = \"10 s\"\nuntil = \"20 s\"\n";
    for routing in [SHORTEST, OLSR, BP_FLOW, BP_BURST] {
        assert!(
            silence_s(&run(&ring(routing, far), 1, None)) > 9.99,
            "{routing}"
        );
    }
}

#[test]
fn overlapping_failures_last_until_the_last_of_them_ends() {
    let both = "[[failure]]\nlink = \"enb1-enb2\"\nat = \"10 s\"\nuntil = \"30 s\"\n\
                [[failure]]\nnode = \"enb2\"\nat = \"20 s\"\nuntil = \"35 s\"\n";
    let outcome = run(&ring(SHORTEST, both), 1, None);
    assert!(is_silence_of(&outcome, 25.0));
}

#[test]
fn a_permanent_failure_lasts_and_a_failure_off_all_paths_changes_no_flow() {
    let forever = "[[failure]]\nnode = \"enb2\"\nat = \"10 s\"\n";
    let outcome = run(&ring(SHORTEST, forever), 1, None);
    assert!((50_000..=50_004).contains(&lost(&outcome)));
    let plain = run(&ring(SHORTEST, ""), 1, None);
    let aside = "[[failure]]\nnode = \"enb5\"\nat = \"10 s\"\n";
    assert_eq!(run(&ring(SHORTEST, aside), 1, None), plain);
}

/// UEs of a dead eNodeB are cut off and come back with it; TCP goes on where it was.
#[test]
fn a_download_outlives_the_failure_of_its_enodeb() {
    for routing in common::ROUTINGS {
        let text = common::grid(routing, 5)
            + "[[failure]]\nnode = \"enb3\"\nat = \"1.5 s\"\nuntil = \"8 s\"\n";
        let outcome = run(&text.replace("\"1 MB\"", "\"100 MB\""), 1, None);
        let finished = floats(&outcome.flows, "finish_s");
        assert!(finished.iter().all(Option::is_some), "{routing}");
        assert!(finished[2] > Some(8.0), "{routing}");
        assert!(dropped(&outcome, "link_down") > 0, "{routing}");
    }
}

/// A wire that is cut under a transfer: each timeout doubles the next (RFC 6298 §5.5), so that
/// the series counts one after another, at twice the distance of the two before.
#[test]
fn the_series_of_the_window_counts_timeouts() {
    let text = r#"
name = "cut"
duration = "30 s"
[topology]
kind = "graph"
node = [{ id = "a" }, { id = "b" }]
link = [{ a = "a", b = "b", rate = "10 Mbit/s", delay = "1 ms" }]
[routing]
protocol = "shortest-path"
[[flow]]
kind = "transfer"
from = "a"
to = "b"
size = "endless"
[[failure]]
link = "a-b"
at = "2 s"
[record]
series = ["cwnd"]
interval = "10 ms"
"#;
    let outcome = run(text, 1, None);
    let (name, series) = &outcome.series[0];
    assert_eq!(*name, "cwnd");
    let times = floats(series, "time_s");
    let counts = integers(series, "rtos");
    let steps: Vec<f64> = (counts.windows(2).zip(&times[1..]))
        .filter(|(pair, _)| pair[1] > pair[0])
        .map(|(_, time)| time.unwrap())
        .collect();
    assert_eq!(
        steps.len() as u64,
        integers(&outcome.flows, "rtos")[0].unwrap()
    );
    assert!(steps.len() > 4, "{steps:?}");
    let waits: Vec<f64> = steps.windows(2).map(|pair| pair[1] - pair[0]).collect();
    for pair in waits.windows(2) {
        // Each time is known to a sample.
        assert!((pair[1] - 2.0 * pair[0]).abs() < 0.031, "{waits:?}");
    }
}

const LINK: &str = "[[failure]]\nlink = \"enb1-enb2\"\nat = \"10 s\"\nuntil = \"40 s\"\n";

/// With a carrier, OSPF of FRR needs the link's delay, 15 ms for the routes of enb1 and enb6, and
/// nothing else; silent, the rest of the dead interval, or three intervals of BFD less the age of
/// the last packet.
#[test]
fn ospf_avoids_a_link_at_once_by_its_carrier_and_later_by_silence() {
    let silent = LINK.to_owned() + "silent = true\n";
    for seed in 1..=3 {
        let silence = |routing: &str, failure: &str| {
            silence_s(&run(
                &ring(&format!("protocol = \"ospf\"\n{routing}"), failure),
                seed,
                None,
            ))
        };
        let by_carrier = silence("", LINK);
        assert!((0.015..0.030).contains(&by_carrier), "{by_carrier}");
        let late = silence("carrier_delay = \"1 s\"", LINK);
        assert!((0.015..1.030).contains(&late), "{late}");
        let dead = silence("hello_interval = \"2 s\"", &silent);
        assert!((6.0..8.030).contains(&dead), "{dead}");
        let bfd = silence("bfd = \"300 ms\"", &silent);
        assert!((0.6..0.930).contains(&bfd), "{bfd}");
        let tick = silence("daemon = \"bird\"", LINK);
        assert!((0.0..2.010).contains(&tick), "{tick}");
    }
}

/// batman-adv ignores the carrier. Version V turns with the fifth OGM by the other way; intervals and
/// four hops add 0.7 s at most. In version IV enb6, at equal distance both ways, may have to turn first.
#[test]
fn batman_avoids_a_link_after_five_ogms_with_and_without_carrier() {
    let silent = LINK.to_owned() + "silent = true\n";
    for seed in 1..=3 {
        for failure in [LINK, &silent] {
            let silence = |version: &str| {
                let routing = format!("protocol = \"batman\"\nversion = \"{version}\"");
                let text = ring(&routing, failure).replace("\"40 s\"\nprot", "\"80 s\"\nprot");
                silence_s(&run(&text, seed, None))
            };
            let by_v = silence("V");
            assert!((3.8..5.7).contains(&by_v), "{by_v}");
            let by_iv = silence("IV");
            assert!((3.8..10.7).contains(&by_iv), "{by_iv}");
        }
    }
}

/// In the ring enb6 leads enb1's packets back, unless the link between them is dear: then the
/// alternate saves the time until the routes of enb1 are in use.
#[test]
fn a_loop_free_alternate_takes_over_before_new_routes_do() {
    let costs = "costs = [{ link = \"enb6-enb1\", cost = 10 }]\n";
    let outcome = |fast: &str| {
        let routing =
            format!("protocol = \"ospf\"\ncost = \"fixed\"\nfixed_cost = 1\n{costs}{fast}");
        run(&ring(&routing, LINK), 1, None)
    };
    let (slow, fast) = (outcome(""), outcome("fast_reroute = \"lfa\""));
    let saved = silence_s(&slow) - silence_s(&fast);
    assert!((saved - 0.015).abs() < 0.001, "{saved}");
    let tables = &fast.more;
    let (_, routing) = tables.iter().find(|(name, _)| *name == "routing").unwrap();
    let sum = |column| integers(routing, column).into_iter().flatten().sum::<u64>();
    assert_eq!(sum("routes"), 30);
    // Shortest paths are those of a line. Its ends reach all five others over the dear link; between
    // them a neighbour's path leads back.
    assert_eq!(sum("protected_routes"), 10);
}

/// A node that fails loses its database, and returns with an exchange of databases.
#[test]
fn ospf_avoids_a_dead_node_and_uses_it_again() {
    let routing = "protocol = \"ospf\"\nhello_interval = \"1 s\"";
    let outcome = run(&ring(routing, NODE), 1, None);
    let silence = silence_s(&outcome);
    assert!((0.015..0.040).contains(&silence), "{silence}");
    let hops = integers(&outcome.flows, "packets_received")[0].unwrap();
    assert!(hops > 59_000, "{hops}");
    assert!(lost(&outcome) < 100, "{}", lost(&outcome));
}

/// Babel needs two lost HELLOs of three, or the carrier, and then a new sequence number, because the
/// way around the ring is longer than what the routers on it have announced before.
#[test]
fn babel_avoids_a_link_by_its_hellos_or_by_its_carrier() {
    for seed in 1..=3 {
        let silence = |routing: &str| {
            let routing = format!("protocol = \"babel\"\n{routing}");
            silence_s(&run(&ring(&routing, LINK), seed, None))
        };
        let hellos = silence("hello_interval = \"1 s\"");
        let carrier = silence("hello_interval = \"1 s\"\nlink_detect = true");
        let bird = silence("daemon = \"bird\"");
        println!("{hellos} {carrier} {bird}");
        assert!((1.7..7.0).contains(&hellos), "{hellos}");
        assert!((0.0..3.0).contains(&carrier), "{carrier}");
        assert!((0.0..6.0).contains(&bird), "{bird}");
    }
}
