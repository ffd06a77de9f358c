//! Loss and its repair, by packet scripts.

mod script;

use backlane_tcp::{Config, CongestionState, Reordering};
use script::{client, config};

/// A connection of window 10 that has sent ten segments of 1000 bytes at 40 ms.
const TEN_OUT: &str = "0   > S 0
    0   write 100000
    40  < S 0 ack 1
    40  > ack 1
    40  > 1:1001 ack 1
    40  > 1001:2001 ack 1
    40  > 2001:3001 ack 1
    40  > 3001:4001 ack 1
    40  > 4001:5001 ack 1
    40  > 5001:6001 ack 1
    40  > 6001:7001 ack 1
    40  > 7001:8001 ack 1
    40  > 8001:9001 ack 1
    40  > 9001:10001 ack 1
    ";

fn ten_out(rest: &str) -> String {
    format!("{TEN_OUT}{rest}")
}

/// Neither probes nor F-RTO: the timeout alone.
fn timeout_alone() -> Config {
    Config {
        tail_loss_probe: false,
        frto: false,
        ..config()
    }
}

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
fn the_timeout_doubles_and_sends_one_segment() {
    // The handshake took 40 ms: RTO = 40 + 200 ms.
    let endpoint = client(
        &timeout_alone(),
        &ten_out(
            "280   > 1:1001 ack 1
             760   > 1:1001 ack 1
             1720  > 1:1001 ack 1",
        ),
    );
    let readings = endpoint.readings();
    assert_eq!(readings.state, CongestionState::Loss);
    assert_eq!((readings.cwnd_pkts, readings.ssthresh_pkts), (1, 5));
    assert_eq!(readings.lost_pkts, 10);
    assert_eq!(endpoint.statistics().rtos, 3);
}

#[test]
fn after_a_timeout_slow_start_repairs_and_counts_the_loss_once() {
    let endpoint = client(
        &timeout_alone(),
        &ten_out(
            "280  > 1:1001 ack 1
             320  < ack 1001
             320  > 1001:2001 ack 1
             320  > 2001:3001 ack 1
             360  < ack 3001
             360  > 3001:4001 ack 1
             360  > 4001:5001 ack 1
             360  > 5001:6001 ack 1
             360  > 6001:7001 ack 1",
        ),
    );
    assert_eq!(endpoint.readings().ssthresh_pkts, 5);
}

#[test]
fn karn_keeps_the_back_off_until_a_new_segment_is_acknowledged() {
    // Without timestamps the acknowledgment of a retransmission is no sample.
    client(
        &timeout_alone(),
        &ten_out(
            "280  > 1:1001 ack 1
             320  < ack 1001
             320  > 1001:2001 ack 1
             320  > 2001:3001 ack 1
             800  > 1001:2001 ack 1",
        ),
    );
}

#[test]
fn an_open_connection_fails_when_its_retries_are_exhausted() {
    let endpoint = client(
        &Config {
            retries: 2,
            ..timeout_alone()
        },
        &ten_out(
            "280   > 1:1001 ack 1
             760   > 1:1001 ack 1
             9000  close",
        ),
    );
    assert!(endpoint.is_failed());
    assert_eq!(endpoint.next_timeout(), None);
}

#[test]
fn a_probe_leaves_two_round_trips_and_two_ticks_after_the_flight() {
    // SRTT 40 ms: 40 + 80 + 2 ms; the timeout starts anew then.
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

#[test]
fn a_needless_timeout_is_found_by_what_was_never_retransmitted() {
    let config = Config {
        tail_loss_probe: false,
        ..config()
    };
    let endpoint = client(
        &config,
        &ten_out(
            "280 > 1:1001 ack 1
             290 < ack 1001
             290 > 10001:11001 ack 1
             290 > 11001:12001 ack 1
             291 < ack 2001
             291 > 12001:13001 ack 1",
        ),
    );
    assert_eq!(endpoint.statistics().spurious_rtos, 1);
    assert_eq!(endpoint.statistics().retransmits, 1);
    let readings = endpoint.readings();
    assert_eq!(readings.lost_pkts, 0);
    assert!(readings.cwnd_pkts >= 10 && readings.ssthresh_pkts > 1_000_000);
}

#[test]
fn a_duplicate_report_for_every_retransmission_brings_the_window_back() {
    let endpoint = client(
        &config(),
        &ten_out(
            "80  < ack 1 sack 1001-2001
             80  > 10001:11001 ack 1
             81  < ack 1 sack 1001-3001
             81  > 11001:12001 ack 1
             82  < ack 1 sack 1001-4001
             82  > 1:1001 ack 1
             85  < ack 4001
             122 < ack 4001 sack 1-1001
             122 > 12001:13001 ack 1
             122 > 13001:14001 ack 1",
        ),
    );
    assert_eq!(endpoint.statistics().undos, 1);
    let readings = endpoint.readings();
    assert_eq!((readings.cwnd_pkts, readings.ssthresh_pkts), (10, u32::MAX));
    assert_eq!(readings.state, CongestionState::Open);
}

#[test]
fn a_fixed_threshold_undoes_nothing_and_learns_nothing() {
    let endpoint = client(
        &Config {
            reordering: Reordering::Fixed,
            ..config()
        },
        &ten_out(
            "80  < ack 1 sack 1001-2001
             80  > 10001:11001 ack 1
             81  < ack 1 sack 1001-3001
             81  > 11001:12001 ack 1
             82  < ack 1 sack 1001-4001
             82  > 1:1001 ack 1
             85  < ack 4001
             122 < ack 4001 sack 1-1001",
        ),
    );
    assert_eq!(endpoint.statistics().undos, 0);
    assert_eq!(endpoint.readings().reordering_pkts, 3);
}

#[test]
fn the_degree_is_how_far_the_late_segment_was_overtaken() {
    for policy in [Reordering::Rack, Reordering::LinuxLegacy] {
        let endpoint = client(
            &Config {
                reordering: policy,
                ..config()
            },
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
        assert_eq!(endpoint.readings().reordering_pkts, 6, "{policy:?}");
    }
}

fn ncr(policy: Reordering) -> Config {
    Config {
        reordering: policy,
        tail_loss_probe: false,
        ..config()
    }
}

#[test]
fn aggressive_ncr_sends_for_every_duplicate_and_bears_half_a_flight() {
    let endpoint = client(
        &ncr(Reordering::NcrAggressive),
        &ten_out(
            "80  < ack 1 sack 1001-2001
             80  > 10001:11001 ack 1
             81  < ack 1 sack 1001-3001
             81  > 11001:12001 ack 1
             82  < ack 1 sack 1001-4001
             82  > 12001:13001 ack 1
             83  < ack 1 sack 1001-5001
             83  > 13001:14001 ack 1",
        ),
    );
    assert_eq!(endpoint.readings().reordering_pkts, 6);
    assert_eq!(endpoint.readings().state, CongestionState::Disorder);
}

#[test]
fn careful_ncr_sends_for_every_second_duplicate() {
    client(
        &ncr(Reordering::NcrCareful),
        &ten_out(
            "80  < ack 1 sack 1001-2001
             80  > 10001:11001 ack 1
             81  < ack 1 sack 1001-3001
             82  < ack 1 sack 1001-4001
             82  > 11001:12001 ack 1
             83  < ack 1 sack 1001-5001",
        ),
    );
}

#[test]
fn ncr_ends_slow_start_at_the_first_reordering_and_keeps_the_window() {
    let endpoint = client(
        &ncr(Reordering::NcrAggressive),
        &ten_out(
            "80  < ack 1 sack 1001-2001
             80  > 10001:11001 ack 1
             81  < ack 2001
             81  > 11001:12001 ack 1",
        ),
    );
    let readings = endpoint.readings();
    assert_eq!((readings.cwnd_pkts, readings.ssthresh_pkts), (10, 10));
}
