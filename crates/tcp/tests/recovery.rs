//! Loss and its repair, by packet scripts.

mod script;

use backlane_tcp::{Config, CongestionState, Reordering};
use backlane_units::Duration;
use script::{client, config, ten_out};

fn without_sack() -> Config {
    Config {
        sack: false,
        ..config()
    }
}

#[test]
fn two_sacked_segments_let_two_new_ones_out_and_the_third_repairs() {
    let endpoint = client(
        &config(),
        &ten_out(
            "80  < ack 1 sack 1001-2001
             80  > 10001:11001 ack 1
             81  < ack 1 sack 1001-3001
             81  > 11001:12001 ack 1
             82  < ack 1 sack 1001-4001
             82  > 1:1001 ack 1",
        ),
    );
    let readings = endpoint.readings();
    assert_eq!(readings.state, CongestionState::Recovery);
    assert_eq!(readings.ssthresh_pkts, 5);
    assert_eq!((readings.lost_pkts, readings.sacked_pkts), (1, 3));
}

#[test]
fn without_limited_transmit_nothing_new_leaves_before_the_repair() {
    client(
        &Config {
            limited_transmit: false,
            ..config()
        },
        &ten_out(
            "80  < ack 1 sack 1001-2001
             81  < ack 1 sack 1001-3001
             82  < ack 1 sack 1001-4001
             82  > 1:1001 ack 1",
        ),
    );
}

#[test]
fn every_hole_is_repaired_within_a_round_trip() {
    let endpoint = client(
        &config(),
        &ten_out(
            "80  < ack 1001
             80  > 10001:11001 ack 1
             80  > 11001:12001 ack 1
             81  < ack 1001 sack 2001-3001
             81  > 12001:13001 ack 1
             82  < ack 1001 sack 4001-5001 2001-3001
             82  > 13001:14001 ack 1
             83  < ack 1001 sack 4001-6001 2001-3001
             83  > 1001:2001 ack 1
             90  < ack 1001 sack 4001-7001 2001-3001
             91  < ack 1001 sack 4001-8001 2001-3001
             91  > 3001:4001 ack 1",
        ),
    );
    // Of 13 out, six are SACKed; PRR answers every second delivery (5/11).
    let readings = endpoint.readings();
    assert_eq!(readings.lost_pkts, 2);
    assert_eq!(endpoint.statistics().fast_retransmits, 1);
}

#[test]
fn a_lost_retransmission_is_found_by_what_was_sent_after_it() {
    let endpoint = client(
        &config(),
        &ten_out(
            "80  < ack 1 sack 1001-2001
             80  > 10001:11001 ack 1
             81  < ack 1 sack 1001-3001
             81  > 11001:12001 ack 1
             82  < ack 1 sack 1001-4001
             82  > 1:1001 ack 1
             83  < ack 1 sack 1001-10001
             83  > 12001:13001 ack 1
             83  > 13001:14001 ack 1
             120 < ack 1 sack 1001-11001
             120 > 14001:15001 ack 1
             123 < ack 1 sack 1001-13001
             123 > 1:1001 ack 1
             123 > 15001:16001 ack 1
             123 > 16001:17001 ack 1",
        ),
    );
    assert_eq!(endpoint.statistics().rtos, 0);
    assert_eq!(endpoint.statistics().retransmits, 2);
}

fn fixed() -> Config {
    Config {
        reordering: Reordering::Fixed,
        tail_loss_probe: false,
        frto: false,
        ..config()
    }
}

/// RFC 6675 §4: three segments SACKed above it make a segment lost, however many
/// acknowledgments reveal them; two do not.
#[test]
fn a_fixed_threshold_counts_segments_and_not_acknowledgments() {
    let endpoint = client(
        &fixed(),
        &ten_out(
            "80  < ack 1 sack 2001-3001 5001-7001
             80  > 1:1001 ack 1",
        ),
    );
    assert_eq!(endpoint.readings().lost_pkts, 2);
    assert_eq!(endpoint.readings().state, CongestionState::Recovery);
}

/// RFC 6675 does not look for lost retransmissions: only the timeout does.
#[test]
fn with_a_fixed_threshold_a_lost_retransmission_waits_for_the_timeout() {
    let endpoint = client(
        &fixed(),
        &ten_out(
            "80  < ack 1 sack 1001-4001
             80  > 1:1001 ack 1
             80  > 10001:11001 ack 1
             83  < ack 1 sack 1001-10001
             83  > 11001:12001 ack 1
             83  > 12001:13001 ack 1
             83  > 13001:14001 ack 1
             123 < ack 1 sack 1001-14001
             123 > 14001:15001 ack 1
             123 > 15001:16001 ack 1
             123 > 16001:17001 ack 1
             123 > 17001:18001 ack 1
             324 > 1:1001 ack 1",
        ),
    );
    assert_eq!(endpoint.statistics().rtos, 1);
    assert_eq!(endpoint.statistics().fast_retransmits, 1);
}

#[test]
fn without_sack_each_partial_acknowledgment_repairs_one_hole() {
    let endpoint = client(
        &without_sack(),
        &ten_out(
            "80  < ack 1
             80  > 10001:11001 ack 1
             81  < ack 1
             81  > 11001:12001 ack 1
             82  < ack 1
             82  > 1:1001 ack 1
             122 < ack 5001
             122 > 5001:6001 ack 1",
        ),
    );
    assert_eq!(endpoint.readings().state, CongestionState::Recovery);
}

#[test]
fn the_degree_is_how_far_the_late_segment_was_overtaken() {
    let endpoint = client(
        &config(),
        &ten_out(
            "80  < ack 1 sack 6001-7001
             80  > 10001:11001 ack 1
             81  < ack 1 sack 6001-7001 1001-2001
             81  > 11001:12001 ack 1
             81  > 12001:13001 ack 1",
        ),
    );
    // Once reordering was learned, a SACK moves the window as an acknowledgment does.
    // From 1001 to 7001.
    assert_eq!(endpoint.readings().reordering_pkts, 6);
}

/// 1 and 2 are acknowledged after 40 and 43 ms; 3 is repeated; 4 arrived before it, and 5 with it
/// in one acknowledgment: none of these three is a sample, 6 after 90 ms is one.
#[test]
fn samples_in_order_leave_out_what_was_repeated_or_arrived_out_of_order() {
    let endpoint = client(
        &fixed(),
        &ten_out(
            "80   < ack 1001
             80   > 10001:11001 ack 1
             80   > 11001:12001 ack 1
             83   < ack 2001
             83   > 12001:13001 ack 1
             83   > 13001:14001 ack 1
             84   < ack 2001 sack 3001-6001
             84   > 2001:3001 ack 1
             84   > 14001:15001 ack 1
             130  < ack 6001
             130  < ack 7001
             130  > 7001:8001 ack 1",
        ),
    );
    let statistics = endpoint.statistics();
    assert_eq!(statistics.rtt_in_order_samples, 3);
    let sum = Duration::from_millis(40 + 43 + 90);
    assert_eq!(statistics.rtt_in_order_sum, sum);
    assert_eq!(statistics.rtt_in_order_mean(), Some(sum / 3));
}
