//! TCP-NCR (RFC 4653), rule by rule, by packet scripts.
//!
//! Labels are those of the RFC: I begins extended limited transmit, E sends in it, T ends it.
//! A flight of ten segments is out at 40 ms and the first of it is late or lost.

mod script;

use backlane_tcp::{Config, CongestionState, Connection, Ecn, Reordering, SlowStartEnd};
use script::{client, config, ten_out};

fn ncr(policy: Reordering) -> Config {
    Config {
        reordering: policy,
        tail_loss_probe: false,
        ..config()
    }
}

fn aggressive(rest: &str) -> Connection {
    client(&ncr(Reordering::NcrAggressive), &ten_out(rest))
}

fn careful(rest: &str) -> Connection {
    client(&ncr(Reordering::NcrCareful), &ten_out(rest))
}

/// 2/3 · 10 = 6.7 segments are seven, 1/2 · 10 five.
#[test]
fn i3_the_threshold_is_two_thirds_or_half_of_the_flight() {
    let first = "80  < ack 1 sack 1001-2001
                 80  > 10001:11001 ack 1";
    assert_eq!(careful(first).readings().reordering_pkts, 7);
    assert_eq!(aggressive(first).readings().reordering_pkts, 5);
}

/// Half of a flight of three would be two.
#[test]
fn i3_the_threshold_is_never_below_three() {
    let endpoint = client(
        &Config {
            initial_window_pkts: 3,
            ..ncr(Reordering::NcrAggressive)
        },
        "0   > S 0
         0   write 100000
         40  < S 0 ack 1
         40  > ack 1
         40  > 1:1001 ack 1
         40  > 1001:2001 ack 1
         40  > 2001:3001 ack 1
         80  < ack 1 sack 1001-2001
         80  > 3001:4001 ack 1
         81  < ack 1 sack 1001-3001
         81  > 4001:5001 ack 1",
    );
    assert_eq!(endpoint.readings().reordering_pkts, 3);
    assert_eq!(endpoint.readings().state, CongestionState::Disorder);
}

/// FlightSizePrev is ten and not nine: the segment acknowledged is replaced, and so is the one
/// SACKed.
#[test]
fn i1_what_the_first_duplicate_takes_off_belongs_to_the_flight() {
    aggressive(
        "80  < ack 1001 sack 2001-3001
         80  > 10001:11001 ack 1
         80  > 11001:12001 ack 1",
    );
}

#[test]
fn e2_aggressive_sends_one_segment_for_each_that_arrived() {
    aggressive(
        "80  < ack 1 sack 1001-2001
         80  > 10001:11001 ack 1
         81  < ack 1 sack 1001-3001
         81  > 11001:12001 ack 1
         82  < ack 1 sack 1001-5001
         82  > 12001:13001 ack 1
         82  > 13001:14001 ack 1",
    );
}

#[test]
fn e4_careful_sends_one_segment_for_two_that_arrived() {
    careful(
        "80  < ack 1 sack 1001-2001
         80  > 10001:11001 ack 1
         81  < ack 1 sack 1001-3001
         82  < ack 1 sack 1001-4001
         82  > 11001:12001 ack 1
         83  < ack 1 sack 1001-6001
         83  > 12001:13001 ack 1",
    );
}

#[test]
fn limited_transmit_off_does_not_turn_the_extended_one_off() {
    client(
        &Config {
            limited_transmit: false,
            ..ncr(Reordering::NcrAggressive)
        },
        &ten_out(
            "80  < ack 1 sack 1001-2001
             80  > 10001:11001 ack 1",
        ),
    );
}

/// After d duplicates the flight is 10 + d − 1, half of which is d for the first time at
/// d = 9: as many as the flight has besides the late one.
const AGGRESSIVE_LOSS: &str = "80  < ack 1 sack 1001-2001
     80  > 10001:11001 ack 1
     81  < ack 1 sack 1001-3001
     81  > 11001:12001 ack 1
     82  < ack 1 sack 1001-4001
     82  > 12001:13001 ack 1
     83  < ack 1 sack 1001-5001
     83  > 13001:14001 ack 1
     84  < ack 1 sack 1001-6001
     84  > 14001:15001 ack 1
     85  < ack 1 sack 1001-7001
     85  > 15001:16001 ack 1
     86  < ack 1 sack 1001-8001
     86  > 16001:17001 ack 1
     87  < ack 1 sack 1001-9001
     87  > 17001:18001 ack 1
     88  < ack 1 sack 1001-10001
     88  > 1:1001 ack 1
     ";

#[test]
fn e6_the_threshold_grows_with_the_flight() {
    let endpoint = aggressive(AGGRESSIVE_LOSS);
    assert_eq!(endpoint.readings().reordering_pkts, 9);
    assert_eq!(endpoint.statistics().fast_retransmits, 1);
}

/// The flight is 10 + ⌈(d − 1)/2⌉ at the d-th duplicate; two thirds of it are d at d = 10.
#[test]
fn e6_careful_waits_for_ten_of_a_flight_of_ten() {
    let endpoint = careful(
        "80  < ack 1 sack 1001-2001
         80  > 10001:11001 ack 1
         81  < ack 1 sack 1001-4001
         81  > 11001:12001 ack 1
         82  < ack 1 sack 1001-6001
         82  > 12001:13001 ack 1
         83  < ack 1 sack 1001-8001
         83  > 13001:14001 ack 1
         84  < ack 1 sack 1001-10001
         84  > 14001:15001 ack 1
         119 < ack 1 sack 1001-11001
         119 > 1:1001 ack 1",
    );
    assert_eq!(endpoint.readings().reordering_pkts, 10);
    assert_eq!(endpoint.readings().ssthresh_pkts, 5);
}

/// Eighteen are out by then, ten were before.
#[test]
fn a_loss_halves_the_flight_from_before_the_phase() {
    let endpoint = aggressive(AGGRESSIVE_LOSS);
    let readings = endpoint.readings();
    assert_eq!(readings.packets_out_pkts, 18);
    assert_eq!(readings.ssthresh_pkts, 5);
    assert_eq!(readings.state, CongestionState::Recovery);
    // The nine newly acknowledged are more than a window: it grows by one, to six.
    let end = format!("{AGGRESSIVE_LOSS}128 < ack 18001\n{}", sent(128, 18, 6));
    let endpoint = aggressive(&end);
    assert_eq!(endpoint.readings().cwnd_pkts, 6);
}

/// The peer's window holds ten of twenty; ten were out, and half of them arrived.
#[test]
fn a_loss_halves_the_flight_and_not_a_window_that_was_not_used() {
    let script = ten_out(
        "80  < ack 1 win 10000 sack 1001-6001
         80  > 1:1001 ack 1",
    )
    .replace("< S 0 ack 1", "< S 0 ack 1 win 10000");
    let config = Config {
        initial_window_pkts: 20,
        ..ncr(Reordering::NcrAggressive)
    };
    assert_eq!(client(&config, &script).readings().ssthresh_pkts, 5);
}

/// `count` segments that leave at `at_ms`, from the one after `first` thousand bytes on.
fn sent(at_ms: u32, first: u32, count: u32) -> String {
    let mut lines = String::new();
    for i in first..first + count {
        lines += &format!("{at_ms} > {i}001:{}001 ack 1\n", i + 1);
    }
    lines
}

/// 10001 may be late as 1 was: five SACKed segments above it are no proof.
#[test]
fn a_partial_acknowledgment_in_recovery_does_not_condemn_the_next_hole() {
    let endpoint = aggressive(&format!(
        "{AGGRESSIVE_LOSS}120 < ack 1 sack 11001-12001 1001-10001
         128 < ack 10001 sack 11001-12001
         128 > 18001:19001 ack 1
         129 < ack 10001 sack 11001-13001",
    ));
    let readings = endpoint.readings();
    assert_eq!(
        (readings.state, readings.lost_pkts),
        (CongestionState::Recovery, 0)
    );
    assert_eq!(endpoint.statistics().retransmits, 1);
}

/// Nothing new can bring more duplicates, so the hole is repaired.
#[test]
fn a_partial_acknowledgment_at_the_end_of_the_data_repairs_the_next_hole() {
    let script = ten_out(
        "80  < ack 1 sack 1001-6001 7001-10001
         80  > 1:1001 ack 1
         120 < ack 6001 sack 7001-10001
         120 > 6001:7001 ack 1",
    )
    .replace("write 100000", "write 10000");
    let endpoint = client(&ncr(Reordering::NcrAggressive), &script);
    assert_eq!(endpoint.statistics().rtos, 0);
}

/// Five arrived: three left for them, thirteen are out. Of these seven remain, so that the
/// window is eight and not ten; slow start adds the late one.
#[test]
fn t1_no_burst_follows_the_late_segment() {
    let endpoint = careful(
        "80  < ack 1 sack 1001-2001
         80  > 10001:11001 ack 1
         81  < ack 1 sack 1001-4001
         81  > 11001:12001 ack 1
         82  < ack 1 sack 1001-6001
         82  > 12001:13001 ack 1
         90  < ack 6001
         90  > 13001:14001 ack 1
         90  > 14001:15001 ack 1",
    );
    let readings = endpoint.readings();
    assert_eq!((readings.cwnd_pkts, readings.ssthresh_pkts), (9, 10));
}

#[test]
fn t2_slow_start_ends_at_the_first_reordering_with_the_flight_before_it() {
    let endpoint = aggressive(
        "80  < ack 1 sack 1001-2001
         80  > 10001:11001 ack 1
         81  < ack 2001
         81  > 11001:12001 ack 1",
    );
    let readings = endpoint.readings();
    assert_eq!((readings.cwnd_pkts, readings.ssthresh_pkts), (10, 10));
    assert_eq!(readings.state, CongestionState::Open);
    let exit = endpoint.statistics().slow_start_exit.unwrap();
    assert_eq!((exit.cause, exit.cwnd_pkts), (SlowStartEnd::Reordering, 10));
}

/// Thirteen are out; 6001 is late too. Seven remain, one of them SACKed; two may leave before
/// the next is skipped, for Skipped restarts at zero. The window stays at T.1's.
#[test]
fn t4_an_acknowledgment_that_begins_the_next_phase_keeps_the_flight_and_does_not_grow_the_window() {
    let endpoint = careful(
        "80  < ack 1 sack 1001-2001
         80  > 10001:11001 ack 1
         81  < ack 1 sack 1001-4001
         81  > 11001:12001 ack 1
         82  < ack 1 sack 7001-8001 1001-5001
         82  > 12001:13001 ack 1
         83  < ack 1 sack 1001-6001 7001-8001
         90  < ack 6001 sack 7001-8001
         90  > 13001:14001 ack 1
         90  > 14001:15001 ack 1",
    );
    let readings = endpoint.readings();
    assert_eq!((readings.cwnd_pkts, readings.ssthresh_pkts), (8, 10));
    assert_eq!(readings.state, CongestionState::Disorder);
}

/// However many phases follow each other, FlightSizePrev is that of the first.
#[test]
fn t4_a_chain_of_reordering_holds_the_window_where_it_began() {
    let mut script = String::from(
        "80  < ack 1 sack 1001-2001
         80  > 10001:11001 ack 1\n",
    );
    for i in 1..20 {
        let (hole, end) = (2 * i, 2 * i + 1);
        let at_ms = 80 + i;
        script += &format!("{at_ms} < ack {hole}001 sack {end}001-{}001\n", end + 1);
        // What was acknowledged and what was SACKed are replaced.
        script += &sent(at_ms, 2 * i + 9, 2);
    }
    let endpoint = aggressive(&script);
    let readings = endpoint.readings();
    assert_eq!((readings.cwnd_pkts, readings.ssthresh_pkts), (10, 10));
    assert_eq!(endpoint.statistics().retransmits, 0);
}

#[test]
fn a_timeout_ends_the_phase() {
    let endpoint = aggressive(
        "80  < ack 1 sack 1001-2001
         80  > 10001:11001 ack 1
         280 > 1:1001 ack 1",
    );
    let readings = endpoint.readings();
    assert_eq!(readings.state, CongestionState::Loss);
    assert_eq!(endpoint.statistics().rtos, 1);
}

/// A congestion mark says what the disorder does not: one segment leaves for two that arrive
/// (proportional rate reduction to five of ten), and not one for each.
#[test]
fn a_congestion_mark_ends_the_phase_and_its_reduction_stays() {
    let config = Config {
        ecn: Ecn::Classic,
        ..ncr(Reordering::NcrAggressive)
    };
    let script = ten_out(
        "80  < ack 1 sack 1001-2001
         80  > 10001:11001 ack 1 ect
         81  < ack 1 ece sack 1001-3001
         81  > 11001:12001 ack 1 cwr ect
         82  < ack 1 ece sack 1001-4001
         83  < ack 1 ece sack 1001-5001
         83  > 12001:13001 ack 1 ect
         84  < ack 1 ece sack 1001-6001",
    )
    .replace("> S 0", "> S 0 ece cwr")
    .replace("< S 0 ack 1", "< S 0 ece ack 1")
    .replace(":1001 ack 1\n", ":1001 ack 1 ect\n");
    let mut lines: Vec<String> = script.lines().map(str::to_owned).collect();
    for line in &mut lines {
        if line.trim().starts_with("40  >") && line.contains(':') && !line.contains("ect") {
            line.push_str(" ect");
        }
    }
    let endpoint = client(&config, &lines.join("\n"));
    let readings = endpoint.readings();
    assert_eq!(readings.state, CongestionState::Cwr);
    assert_eq!(readings.ssthresh_pkts, 5);
}
