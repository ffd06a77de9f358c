//! Timers short of the retransmission timeout: the tail loss probe and RACK's reordering timer
//! (RFC 8985), by packet scripts.

mod script;

use backlane_tcp::{Config, CongestionState, Reordering};
use script::{TEN_OUT, client, config, ten_out};

/// Neither probes nor F-RTO: the timeout alone.
#[test]
fn a_probe_leaves_two_round_trips_and_two_ticks_after_the_flight() {
    // SRTT 40 ms: 40 + 80 + 2 ms; the timeout restarts then.
    let endpoint = client(
        &config(),
        &ten_out(
            "122 > 10001:11001 ack 1
             362 > 1:1001 ack 1",
        ),
    );
    assert_eq!(endpoint.statistics().tail_probes, 1);
    assert_eq!(endpoint.statistics().rtos, 1);
}

#[test]
fn the_answer_to_a_probe_repairs_the_tail_without_a_timeout() {
    let script = TEN_OUT.replace("write 100000", "write 10000")
        + "80  < ack 7001
           162 > 9001:10001 ack 1
           202 < ack 7001 sack 9001-10001
           202 > 7001:8001 ack 1
           242 < ack 8001 sack 9001-10001
           242 > 8001:9001 ack 1
           282 < ack 10001";
    let endpoint = client(&config(), &script);
    assert_eq!(endpoint.statistics().rtos, 0);
    assert_eq!(endpoint.statistics().fast_retransmits, 1);
}

/// Two segments out of ten thousand bytes and the last lost.
const TWO_OUT: &str = "0   > S 0
    0   write 2000
    40  < S 0 ack 1
    40  > ack 1
    40  > 1:1001 ack 1
    40  > 1001:2001 ack 1
    80  < ack 1001
    ";

/// RFC 8985 §7.2: with one segment out the delayed acknowledgment is waited for too, here
/// 200 ms, but never longer than to the timeout, which would come at 80 + 240 ms.
#[test]
fn a_lone_segment_waits_for_the_delayed_acknowledgment_but_not_beyond_the_timeout() {
    let endpoint = client(
        &config(),
        &(TWO_OUT.to_owned()
            + "320 > 1001:2001 ack 1
               560 > 1001:2001 ack 1"),
    );
    assert_eq!(endpoint.statistics().tail_probes, 1);
    assert_eq!(endpoint.statistics().rtos, 1);
}

/// RFC 8985 §7.4: what follows the probe is acknowledged and no duplicate was reported, so the
/// probe repaired a loss, which costs the window as any loss does.
#[test]
fn a_probe_that_repaired_the_tail_costs_the_window_once() {
    let endpoint = client(
        &config(),
        &(TWO_OUT.to_owned()
            + "320 > 1001:2001 ack 1
               360 < ack 2001
               370 write 1000
               370 > 2001:3001 ack 1
               410 < ack 3001"),
    );
    let readings = endpoint.readings();
    assert_eq!((readings.cwnd_pkts, readings.ssthresh_pkts), (5, 5));
    assert_eq!(endpoint.statistics().rtos, 0);
}

/// RFC 8985 §7.4: the report of a duplicate tells that original and probe both arrived.
#[test]
fn a_probe_reported_as_a_duplicate_costs_nothing() {
    let endpoint = client(
        &config(),
        &(TWO_OUT.to_owned()
            + "320 > 1001:2001 ack 1
               330 < ack 2001
               360 < ack 2001 sack 1001-2001
               370 write 1000
               370 > 2001:3001 ack 1
               410 < ack 3001"),
    );
    assert_eq!(endpoint.readings().ssthresh_pkts, u32::MAX);
    assert_eq!(endpoint.readings().cwnd_pkts, 10);
}

/// RFC 8985 §7.3: new data is the better probe, the window notwithstanding, but not beyond
/// what the receiver offers.
#[test]
fn a_probe_with_new_data_keeps_to_the_window_of_the_peer() {
    let script = TEN_OUT.replace("< S 0 ack 1", "< S 0 ack 1 win 10500") + "122 > 9001:10001 ack 1";
    let endpoint = client(&config(), &script);
    assert_eq!(endpoint.statistics().tail_probes, 1);
}

#[test]
fn without_sack_there_is_no_probe() {
    let config = Config {
        sack: false,
        ..config()
    };
    let endpoint = client(&config, &ten_out("280 > 1:1001 ack 1"));
    assert_eq!(endpoint.statistics().tail_probes, 0);
}

/// RFC 8985 §6.2: one SACKed segment and no reordering seen yet. The first is lost when it is
/// overdue by a quarter of the smallest RTT, at 80 + 10 ms; Linux's timer adds two ticks.
#[test]
fn what_one_segment_overtook_is_lost_after_a_quarter_of_the_smallest_rtt() {
    let endpoint = client(
        &config(),
        &ten_out(
            "80  < ack 1 sack 1001-2001
             80  > 10001:11001 ack 1
             92  > 1:1001 ack 1",
        ),
    );
    assert_eq!(endpoint.readings().state, CongestionState::Recovery);
    assert_eq!(endpoint.statistics().rtos, 0);
}

#[test]
fn what_arrives_before_it_is_overdue_costs_nothing() {
    let endpoint = client(
        &config(),
        &ten_out(
            "80  < ack 1 sack 1001-2001
             80  > 10001:11001 ack 1
             91  < ack 2001
             91  > 11001:12001 ack 1
             91  > 12001:13001 ack 1",
        ),
    );
    assert_eq!(endpoint.statistics().retransmits, 0);
    assert_eq!(endpoint.readings().ssthresh_pkts, u32::MAX);
}

/// RFC 8985 §6.2 step 4: once reordering was seen, three SACKed segments are no loss yet. The
/// last of them came 43 ms after it left; a quarter of 40 ms and two ticks later it is one.
#[test]
fn after_reordering_was_seen_the_third_segment_waits_too() {
    let endpoint = client(
        &config(),
        &ten_out(
            "80  < ack 1 sack 1001-2001
             80  > 10001:11001 ack 1
             81  < ack 2001
             81  > 11001:12001 ack 1
             81  > 12001:13001 ack 1
             82  < ack 2001 sack 3001-4001
             82  > 13001:14001 ack 1
             83  < ack 2001 sack 3001-6001
             83  > 14001:15001 ack 1
             83  > 15001:16001 ack 1
             95  > 2001:3001 ack 1",
        ),
    );
    assert_eq!(endpoint.readings().state, CongestionState::Recovery);
}

/// A fixed threshold (RFC 6675) knows no timer: two SACKed segments wait for the timeout.
#[test]
fn a_fixed_threshold_knows_no_reordering_timer() {
    let config = Config {
        reordering: Reordering::Fixed,
        tail_loss_probe: false,
        ..config()
    };
    let endpoint = client(
        &config,
        &ten_out(
            "80  < ack 1 sack 1001-2001
             80  > 10001:11001 ack 1
             280 > 1:1001 ack 1",
        ),
    );
    assert_eq!(endpoint.statistics().rtos, 1);
}
