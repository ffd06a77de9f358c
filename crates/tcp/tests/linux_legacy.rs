//! Linux of 2008 to 2011 (`reordering = "linux-legacy"`), rule by rule, by packet scripts.
//!
//! Ten segments are out, numbered 0 to 9, the window is 10 and a halved one 5. In flight are
//! those out, less SACKed and lost, plus retransmitted.

mod dumbbell;
mod script;

use backlane_tcp::{Config, CongestionState, Connection, Reordering};
use backlane_units::{Bytes, Duration, SimTime};
use dumbbell::{Dumbbell, Path};
use script::{client, config, ten_out};

fn legacy() -> Config {
    Config {
        reordering: Reordering::LinuxLegacy,
        tail_loss_probe: false,
        frto: false,
        ..config()
    }
}

fn after(rest: &str) -> Connection {
    client(&legacy(), &ten_out(rest))
}

/// Number 6 makes 7 segments up to the highest SACK, four more than the threshold: four are
/// lost, five in flight, and the window leaves room for one more. With number 7 it is five, and
/// the second acknowledgment takes one off the window.
#[test]
fn with_forward_acknowledgment_one_sack_is_enough() {
    let endpoint = after(
        "80  < ack 1 sack 6001-7001
         80  > 1:1001 ack 1",
    );
    let readings = endpoint.readings();
    assert_eq!(readings.state, CongestionState::Recovery);
    assert_eq!((readings.lost_pkts, readings.sacked_pkts), (4, 1));
    assert_eq!((readings.cwnd_pkts, readings.ssthresh_pkts), (6, 5));
    let endpoint = after(
        "80  < ack 1 sack 6001-7001
         80  > 1:1001 ack 1
         81  < ack 1 sack 6001-8001
         81  > 1001:2001 ack 1
         82  < ack 1 sack 6001-9001
         82  > 2001:3001 ack 1",
    );
    let readings = endpoint.readings();
    assert_eq!((readings.lost_pkts, readings.cwnd_pkts), (6, 4));
}

/// Number 2 alone makes three.
#[test]
fn reordering_within_the_threshold_costs_nothing() {
    let endpoint = after(
        "80  < ack 1 sack 2001-3001
         80  > 10001:11001 ack 1
         81  < ack 1 sack 1001-3001
         81  > 11001:12001 ack 1
         82  < ack 3001
         82  > 12001:13001 ack 1
         82  > 13001:14001 ack 1",
    );
    let readings = endpoint.readings();
    assert_eq!(readings.state, CongestionState::Open);
    // The two SACKed had been replaced already; number 0 makes slow start's two.
    assert_eq!((readings.reordering_pkts, readings.cwnd_pkts), (3, 11));
}

const LEARNS_SIX: &str = "80  < ack 1 sack 6001-7001
     80  > 1:1001 ack 1
     81  < ack 1 sack 6001-7001 1001-2001
     ";

/// Number 1 comes six places behind number 6. The holes count no more: two SACKed are fewer
/// than six, and of those marked three stay lost.
#[test]
fn a_late_segment_sets_the_threshold_to_how_far_it_was_overtaken() {
    let endpoint = after(LEARNS_SIX);
    let readings = endpoint.readings();
    assert_eq!(readings.reordering_pkts, 6);
    assert_eq!((readings.lost_pkts, readings.cwnd_pkts), (3, 5));
    // 10 out, 2 SACKed, 3 lost, 1 retransmitted.
    assert_eq!(readings.in_flight_pkts, 6);
}

/// The retransmission at 80 ms armed the timer for 240 ms more.
#[test]
fn a_timeout_brings_the_threshold_back_to_three() {
    let endpoint = after(&format!("{LEARNS_SIX}320 > 1:1001 ack 1"));
    let readings = endpoint.readings();
    assert_eq!(readings.state, CongestionState::Loss);
    assert_eq!(readings.reordering_pkts, 3);
    assert_eq!(endpoint.statistics().reordering_max_pkts, 6);
    // Nothing that is not SACKed is spared.
    assert_eq!((readings.lost_pkts, readings.cwnd_pkts), (8, 1));
    assert_eq!(endpoint.statistics().rtos, 1);
}

/// Number 1 comes four places behind number 4. Then everything is acknowledged at once: the
/// window is the threshold of five, but no more than four leave in a burst.
const LEARNS_FOUR: &str = "80  < ack 1 sack 4001-5001
     80  > 1:1001 ack 1
     81  < ack 1 sack 4001-5001 1001-2001
     82  < ack 10001
     82  > 10001:11001 ack 1
     82  > 11001:12001 ack 1
     82  > 12001:13001 ack 1
     82  > 13001:14001 ack 1
     ";

#[test]
fn no_burst_is_larger_than_the_threshold() {
    let endpoint = after(LEARNS_FOUR);
    let readings = endpoint.readings();
    assert_eq!((readings.reordering_pkts, readings.cwnd_pkts), (4, 4));
    assert_eq!(readings.ssthresh_pkts, 5);
}

/// From then on a loss takes more than three SACKed segments, each of which lets a new one out.
#[test]
fn once_reordering_was_seen_only_sacked_segments_count() {
    let endpoint = after(&format!(
        "{LEARNS_FOUR}122 < ack 11001
         122 > 14001:15001 ack 1
         122 > 15001:16001 ack 1
         123 < ack 11001 sack 15001-16001
         123 > 16001:17001 ack 1
         124 < ack 11001 sack 14001-16001
         124 > 17001:18001 ack 1
         125 < ack 11001 sack 13001-16001
         125 > 18001:19001 ack 1
         126 < ack 11001 sack 12001-16001
         126 > 11001:12001 ack 1"
    ));
    let readings = endpoint.readings();
    assert_eq!(readings.state, CongestionState::Recovery);
    assert_eq!((readings.lost_pkts, readings.sacked_pkts), (1, 4));
    assert_eq!((readings.cwnd_pkts, readings.ssthresh_pkts), (4, 2));
    assert_eq!(endpoint.statistics().fast_retransmits, 2);
}

/// Four are out, three SACKed and nothing is left to send: more will never come.
#[test]
fn a_flight_no_larger_than_the_threshold_does_with_three() {
    let script = script::TEN_OUT.replace("write 100000", "write 14000")
        + LEARNS_FOUR
        + "122 < ack 10001 sack 11001-12001
           123 < ack 10001 sack 11001-13001
           124 < ack 10001 sack 11001-14001
           124 > 10001:11001 ack 1";
    let endpoint = client(&legacy(), &script);
    assert_eq!(endpoint.readings().state, CongestionState::Recovery);
}

/// Number 0 was lost, and so is its retransmission. Every second acknowledgment lets a segment
/// out. Number 10 was the next to be sent when the retransmission left; that it arrived tells
/// nothing, that number 11 did tells.
#[test]
fn with_forward_acknowledgment_a_lost_retransmission_is_found() {
    let endpoint = after(
        "80  < ack 1 sack 1001-5001
         80  > 1:1001 ack 1
         81  < ack 1 sack 1001-6001
         82  < ack 1 sack 1001-7001
         82  > 10001:11001 ack 1
         83  < ack 1 sack 1001-8001
         84  < ack 1 sack 1001-9001
         84  > 11001:12001 ack 1
         85  < ack 1 sack 1001-10001
         122 < ack 1 sack 1001-11001
         122 > 12001:13001 ack 1
         124 < ack 1 sack 1001-12001
         124 > 1:1001 ack 1",
    );
    assert_eq!(endpoint.statistics().rtos, 0);
    assert_eq!(endpoint.statistics().retransmits, 2);
}

/// The original of number 0 comes after all. Recovery goes on with what was marked lost, but the
/// window is free to follow what is in flight, and the threshold is 4 up to the highest SACK and
/// the one acknowledged.
#[test]
fn an_echo_older_than_the_retransmission_raises_the_threshold_within_recovery() {
    let config = Config {
        timestamps: true,
        ..legacy()
    };
    let endpoint = client(
        &config,
        &ten_out(
            "80  < ack 1 sack 4001-5001 ecr 40
             80  > 1:1001 ack 1
             81  < ack 1001 sack 4001-5001 ecr 40
             81  > 1001:2001 ack 1",
        ),
    );
    let readings = endpoint.readings();
    assert_eq!(readings.state, CongestionState::Recovery);
    assert_eq!((readings.reordering_pkts, readings.cwnd_pkts), (5, 8));
    assert_eq!(readings.ssthresh_pkts, 5);
    assert_eq!(endpoint.statistics().undos, 0);
}

/// The D-SACK shows that the only retransmission was spurious. Recovery ends with the window of
/// before, but for bursts: two in flight and a threshold of four.
#[test]
fn duplicate_reports_take_the_reduction_back_at_the_end_of_recovery() {
    let endpoint = after(
        "80  < ack 1 sack 4001-5001
         80  > 1:1001 ack 1
         81  < ack 5001
         81  > 10001:11001 ack 1
         120 < ack 5001 sack 1-1001
         121 < ack 6001
         121 > 11001:12001 ack 1
         122 < ack 10001
         122 > 12001:13001 ack 1
         122 > 13001:14001 ack 1
         122 > 14001:15001 ack 1
         122 > 15001:16001 ack 1",
    );
    let readings = endpoint.readings();
    assert_eq!(readings.state, CongestionState::Open);
    assert_eq!((readings.cwnd_pkts, readings.ssthresh_pkts), (6, u32::MAX));
    assert_eq!(endpoint.statistics().undos, 1);
}

/// The report comes a round trip after Recovery: Disorder has waited for it.
#[test]
fn a_duplicate_report_within_a_round_trip_of_recovery_still_counts() {
    let endpoint = after(
        "80  < ack 1 sack 4001-5001
         80  > 1:1001 ack 1
         82  < ack 10001
         82  > 10001:11001 ack 1
         82  > 11001:12001 ack 1
         82  > 12001:13001 ack 1
         82  > 13001:14001 ack 1
         120 < ack 10001 sack 1-1001
         120 > 14001:15001 ack 1
         120 > 15001:16001 ack 1
         120 > 16001:17001 ack 1
         120 > 17001:18001 ack 1",
    );
    assert_eq!(endpoint.statistics().undos, 1);
    assert_eq!(endpoint.readings().ssthresh_pkts, u32::MAX);
    let endpoint = after(
        "80  < ack 1 sack 4001-5001
         80  > 1:1001 ack 1
         82  < ack 10001
         82  > 10001:11001 ack 1
         82  > 11001:12001 ack 1
         82  > 12001:13001 ack 1
         82  > 13001:14001 ack 1
         122 < ack 14001
         122 > 14001:15001 ack 1
         122 > 15001:16001 ack 1
         122 > 16001:17001 ack 1
         122 > 17001:18001 ack 1
         130 < ack 14001 sack 1-1001",
    );
    assert_eq!(endpoint.statistics().undos, 0);
}

/// F-RTO: the segments of before the timeout arrive. Its threshold stays, and rate halving
/// takes the window there: the second and the fourth acknowledgment are not answered.
#[test]
fn a_spurious_timeout_is_answered_with_half_the_rate() {
    let endpoint = client(
        &Config {
            frto: true,
            ..legacy()
        },
        &ten_out(
            "280 > 1:1001 ack 1
             290 < ack 1001
             290 > 10001:11001 ack 1
             290 > 11001:12001 ack 1
             291 < ack 2001
             292 < ack 3001
             293 < ack 4001
             293 > 12001:13001 ack 1
             294 < ack 5001
             295 < ack 6001
             295 > 13001:14001 ack 1",
        ),
    );
    let readings = endpoint.readings();
    assert_eq!(readings.state, CongestionState::Cwr);
    assert_eq!((readings.cwnd_pkts, readings.ssthresh_pkts), (8, 5));
    assert_eq!(
        (endpoint.statistics().spurious_rtos, readings.lost_pkts),
        (1, 0)
    );
    assert_eq!(endpoint.statistics().undos, 0);
}

/// The same over reordering: number 0 is lost, and the SACK of number 9, still on its way at the
/// timeout, is no proof; the retransmission then brings everything up to it. Slow start goes on
/// with two, and the threshold of six is three again, which the timeout itself left as it was.
#[test]
fn what_was_on_its_way_does_not_excuse_a_timeout() {
    let config = Config {
        frto: true,
        ..legacy()
    };
    let waits = format!(
        "{LEARNS_SIX}320 > 1:1001 ack 1
         330 < ack 1 sack 9001-10001 6001-7001 1001-2001"
    );
    let endpoint = client(&config, &ten_out(&waits));
    assert_eq!(endpoint.readings().reordering_pkts, 6);
    let endpoint = client(
        &config,
        &ten_out(&format!(
            "{waits}
             360 < ack 10001
             360 > 10001:11001 ack 1
             360 > 11001:12001 ack 1"
        )),
    );
    let readings = endpoint.readings();
    assert_eq!((readings.reordering_pkts, readings.cwnd_pkts), (3, 2));
    assert_eq!(endpoint.statistics().spurious_rtos, 0);
}

/// A SACK of what left after the timeout: the holes are losses, and go again.
#[test]
fn a_report_of_new_data_confirms_a_timeout() {
    let endpoint = client(
        &Config {
            frto: true,
            ..legacy()
        },
        &ten_out(
            "280 > 1:1001 ack 1
             320 < ack 1001
             320 > 10001:11001 ack 1
             320 > 11001:12001 ack 1
             360 < ack 1001 sack 10001-11001
             360 > 1001:2001 ack 1
             360 > 2001:3001 ack 1
             360 > 3001:4001 ack 1",
        ),
    );
    assert_eq!(endpoint.readings().state, CongestionState::Loss);
    assert_eq!(endpoint.statistics().spurious_rtos, 0);
}

/// Three paths of 20, 22 and 24 ms in turn, and every eleventh segment is lost, now and then one
/// that is retransmitted: reordering raises the threshold, a timeout brings it back to three.
#[test]
fn over_three_paths_the_threshold_grows_until_a_timeout_brings_it_back() {
    let path = Path {
        spread: [0, 2, 4].map(Duration::from_millis),
        lose_every: 11,
        ..Path::clean()
    };
    let config = Config {
        mss: Bytes::new(1448),
        timestamps: true,
        frto: true,
        sack_compression: false,
        ..legacy()
    };
    let mut run = Dumbbell::new(&config, path);
    let mut trace = vec![(3, 0)];
    for sample in 1..=6000 {
        run.run_until(SimTime::ZERO + Duration::from_millis(10 * sample));
        let statistics = run.sender.statistics();
        let rtos = statistics.rtos - statistics.spurious_rtos;
        let now = (run.sender.readings().reordering_pkts, rtos);
        if trace.last() != Some(&now) {
            trace.push(now);
        }
    }
    let timeout = trace.iter().position(|(_, rtos)| *rtos > 0).unwrap();
    assert!(trace[timeout - 1].0 > 3, "{trace:?}");
    // F-RTO needs a round trip for its verdict.
    assert_eq!(trace[timeout].0, trace[timeout - 1].0, "{trace:?}");
    assert_eq!(trace[timeout + 1], (3, 1), "{trace:?}");
    let rises = trace[..timeout]
        .windows(2)
        .all(|pair| pair[0].0 < pair[1].0);
    assert!(rises, "{trace:?}");
}
