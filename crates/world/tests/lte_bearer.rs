//! TCP over a radio bearer: what the buffer and the mode of RLC make of it.

mod common;

use backlane_world::Outcome;
use common::{floats, integers, run};

fn download(access: &str) -> Outcome {
    let text = format!(
        "duration = \"20 s\"\n[topology]\nkind = \"chain\"\nnodes = 1\n\
         link = {{ rate = \"1 Gbit/s\", delay = \"1 ms\" }}\n\
         [[gateway]]\nattach = \"enb1\"\nlink = {{ rate = \"1 Gbit/s\", delay = \"1 ms\" }}\n\
         [[server]]\nattach = \"epc\"\nlink = {{ rate = \"1 Gbit/s\", delay = \"40 ms\" }}\n\
         [access]\nkind = \"lte\"\n{access}\n\
         [[access.ue]]\nnear = \"enb1\"\ndistance = \"700 m\"\n\
         [[flow]]\nkind = \"download\"\nsize = \"200 MB\"\n"
    );
    run(&text, 1, None)
}

/// Goodput in Mbit/s, mean and 95th percentile of the delay from PDCP to PDCP in milliseconds.
fn measures(access: &str) -> (f64, f64, f64) {
    let outcome = download(access);
    let bytes = integers(&outcome.flows, "delivered_bytes")[0].unwrap();
    let ms = |name| floats(&outcome.radio, name)[0].unwrap() * 1e3;
    (
        bytes as f64 * 8.0 / 20e6,
        ms("pdcp_delay_mean_s"),
        ms("pdcp_delay_p95_s"),
    )
}

/// 700 m away the air carries 37 Mbit/s of packets, of which 1448 bytes in 1500 are goodput:
/// 750 packets are 243 ms. CUBIC keeps the buffer between 0.7 of its peak and full; where its slow
/// start ends early it takes some of the 20 s to get there.
#[test]
fn cubic_fills_the_buffer_of_750_packets_and_codel_keeps_it_short() {
    let (goodput, mean_ms, p95_ms) = measures("");
    assert!((34.0..36.0).contains(&goodput), "{goodput}");
    assert!((100.0..230.0).contains(&mean_ms), "{mean_ms}");
    assert!((200.0..260.0).contains(&p95_ms), "{p95_ms}");
    let (goodput, mean_ms, p95_ms) = measures("rlc = { aqm = \"codel\" }");
    // A path of 90 ms beside an interval of 100 ms: CoDel costs CUBIC some of the rate.
    assert!((25.0..35.0).contains(&goodput), "{goodput}");
    assert!(mean_ms < 30.0 && p95_ms < 120.0, "{mean_ms} {p95_ms}");
}

#[test]
fn a_buffer_of_time_and_a_discard_timer_bound_what_tcp_meets() {
    let (goodput, _, p95_ms) = measures("rlc = { buffer = \"100 ms\" }");
    assert!(goodput > 34.0 && p95_ms < 110.0, "{goodput} {p95_ms}");
    let (goodput, _, p95_ms) = measures("pdcp = { discard_timer = \"150 ms\" }");
    assert!(goodput > 34.0 && p95_ms < 160.0, "{goodput} {p95_ms}");
}

/// An initial window of 15 kB does not fit into 10 240 bytes, and no later one does.
#[test]
fn lenas_default_buffer_starves_tcp() {
    let (goodput, ..) = measures("profile = \"lena\"");
    assert!(goodput < 2.0, "{goodput}");
    let (goodput, ..) = measures("profile = \"lena\"\nrlc = { buffer = \"750 packets\" }");
    assert!(goodput > 25.0, "{goodput}");
}

/// The scheduler gives UEs that have had nothing yet their first turn, before it lets the reports
/// of the others through.
#[test]
fn a_crowd_in_a_cell_does_not_make_links_fail() {
    let failures = |rlc: &str| {
        let text = format!(
            "duration = \"20 s\"\n[topology]\nkind = \"chain\"\nnodes = 1\n\
             link = {{ rate = \"1 Gbit/s\", delay = \"1 ms\" }}\n\
             [[gateway]]\nattach = \"enb1\"\nlink = {{ rate = \"1 Gbit/s\", delay = \"1 ms\" }}\n\
             [[server]]\nattach = \"epc\"\nlink = {{ rate = \"1 Gbit/s\", delay = \"20 ms\" }}\n\
             [access]\nkind = \"lte\"\nues = 200\nplacement = \"uniform\"\n{rlc}\n\
             [[flow]]\nkind = \"download\"\nsize = \"50 kB\"\nfrom = \"server\"\nto = \"ues\"\n"
        );
        let outcome = run(&text, 1, None);
        assert_eq!(outcome.summary.ended.name(), "flows finished");
        let failures = integers(&outcome.radio, "radio_link_failures");
        failures.into_iter().flatten().sum::<u64>()
    };
    assert_eq!(failures(""), 0);
    assert!(failures("rlc = { max_retransmissions = 8 }") > 0);
}
