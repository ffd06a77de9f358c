//! TCP-PR by packet scripts: ten segments left at 40 ms, the RTT is 40 ms, so that each of them
//! is lost at 160 ms, three round trips after it left, and not before.

mod script;

use backlane_tcp::{Config, CongestionState, Connection, PrConfig, Reordering};
use script::{client, config, ten_out};

fn pr() -> Config {
    Config {
        reordering: Reordering::Pr,
        ..config()
    }
}

/// The ten segments are all there is.
fn ten_in_all(rest: &str) -> Connection {
    client(&pr(), &ten_out(rest).replace("write 100000", "write 10000"))
}

#[test]
fn nothing_is_retransmitted_before_its_deadline_in_any_order_of_arrivals() {
    let endpoint = ten_in_all(
        "80  < ack 1 sack 9001-10001
         81  < ack 1 sack 5001-10001
         100 < ack 1 sack 1001-10001
         159 < ack 10001",
    );
    assert_eq!(endpoint.statistics().retransmits, 0);
    assert_eq!(endpoint.readings().state, CongestionState::Open);
}

/// cwnd(n) was ten; without a second loss the window is half of it at once.
#[test]
fn a_segment_is_lost_three_round_trips_after_it_left() {
    let endpoint = ten_in_all(
        "80  < ack 1 sack 1001-10001
         160 > 1:1001 ack 1",
    );
    let readings = endpoint.readings();
    assert_eq!((readings.cwnd_pkts, readings.ssthresh_pkts), (5, 5));
    assert_eq!(readings.state, CongestionState::Recovery);
    assert_eq!(endpoint.statistics().rtos, 0);
}

#[test]
fn the_deadline_is_beta_envelopes() {
    let config = Config {
        pr: Some(PrConfig {
            beta: 2.0,
            ..PrConfig::default()
        }),
        ..pr()
    };
    let script = ten_out(
        "80  < ack 1 sack 1001-10001
         120 > 1:1001 ack 1",
    );
    client(&config, &script.replace("write 100000", "write 10000"));
}

/// The late segment took 100 ms: what leaves then has 300.
#[test]
fn a_late_segment_raises_the_deadline_of_those_after_it() {
    client(
        &Config {
            initial_window_pkts: 2,
            ..pr()
        },
        "0   > S 0
         0   write 4000
         40  < S 0 ack 1
         40  > ack 1
         40  > 1:1001 ack 1
         40  > 1001:2001 ack 1
         80  < ack 1 sack 1001-2001
         80  > 2001:3001 ack 1
         80  > 3001:4001 ack 1
         140 < ack 2001
         180 < ack 2001 sack 3001-4001
         380 > 2001:3001 ack 1",
    );
}

/// Memorised: two losses of one window are one congestion. The last sample was 41 ms.
#[test]
fn further_losses_of_the_same_window_reduce_it_no_more() {
    let endpoint = ten_in_all(
        "80  < ack 1 sack 3001-10001
         81  < ack 1001 sack 3001-10001
         163 > 1001:2001 ack 1
         163 > 2001:3001 ack 1
         203 < ack 10001",
    );
    let readings = endpoint.readings();
    assert_eq!(readings.ssthresh_pkts, 5);
    assert_eq!(readings.state, CongestionState::Open);
    assert_eq!(endpoint.statistics().fast_retransmits, 1);
}

/// The retransmission left after the reduction: its loss is another congestion, of a window of
/// five.
#[test]
fn a_lost_retransmission_reduces_the_window_again() {
    let endpoint = ten_in_all(
        "80  < ack 1 sack 1001-10001
         160 > 1:1001 ack 1
         280 > 1:1001 ack 1",
    );
    assert_eq!(endpoint.readings().ssthresh_pkts, 2);
    assert_eq!(endpoint.statistics().fast_retransmits, 2);
}

/// Seven of ten are more than 10/2 + 1. The next deadline is a second, the one after it two.
#[test]
fn a_window_lost_for_the_most_part_begins_again_with_one_segment() {
    let endpoint = ten_in_all(
        "80  < ack 1 sack 7001-10001
         160 > 1:1001 ack 1
         1160 > 1:1001 ack 1
         3160 > 1:1001 ack 1",
    );
    let readings = endpoint.readings();
    assert_eq!((readings.cwnd_pkts, readings.ssthresh_pkts), (1, 5));
    assert_eq!(readings.state, CongestionState::Loss);
    assert_eq!(endpoint.statistics().rtos, 3);
}

/// Six of ten are not.
#[test]
fn a_window_lost_for_a_good_half_goes_on_with_half() {
    let endpoint = ten_in_all(
        "80  < ack 1 sack 6001-10001
         160 > 1:1001 ack 1
         160 > 1001:2001 ack 1
         160 > 2001:3001 ack 1
         160 > 3001:4001 ack 1
         160 > 4001:5001 ack 1",
    );
    assert_eq!(endpoint.readings().cwnd_pkts, 5);
    assert_eq!(endpoint.statistics().rtos, 0);
}
