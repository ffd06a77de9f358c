//! RR-TCP by packet scripts: ten segments left at 40 ms.

mod script;

use backlane_tcp::{Config, CongestionState, Connection, Reordering, RrConfig};
use script::{client, config, ten_out};

fn rr_config() -> Config {
    Config {
        reordering: Reordering::Rr,
        tail_loss_probe: false,
        ..config()
    }
}

fn rr(rest: &str) -> Connection {
    client(
        &rr_config(),
        &ten_out(rest).replace("write 100000", "write 10000"),
    )
}

/// Two later ones had arrived: the third duplicate would have been one too many all the same.
#[test]
fn a_late_segment_that_two_overtook_leaves_the_threshold_at_three() {
    let endpoint = rr("80  < ack 1 sack 1001-3001
                       90  < ack 3001");
    assert_eq!(endpoint.readings().reordering_pkts, 3);
}

/// 1 is repeated after three duplicates; its original comes after six, as the D-SACK says, and
/// so seven are borne from then on. The window is what it was.
#[test]
fn a_spurious_retransmission_records_how_late_the_segment_was_and_is_undone() {
    let endpoint = rr("80  < ack 1 sack 1001-4001
                       80  > 1:1001 ack 1
                       81  < ack 1 sack 1001-7001
                       90  < ack 7001
                       121 < ack 7001 sack 1-1001");
    let readings = endpoint.readings();
    assert_eq!(readings.reordering_pkts, 7);
    assert_eq!((readings.cwnd_pkts, endpoint.statistics().undos), (10, 1));
    assert_eq!(readings.state, CongestionState::Open);
}

/// Without a D-SACK it was the repetition that arrived.
#[test]
fn a_repaired_loss_teaches_nothing() {
    let endpoint = rr("80  < ack 1 sack 1001-7001
                       80  > 1:1001 ack 1
                       120 < ack 7001");
    assert_eq!(endpoint.readings().reordering_pkts, 3);
    assert_eq!(endpoint.statistics().undos, 0);
}

/// 1001 comes when four later ones have arrived: five are borne, which 1 has above it now.
#[test]
fn a_hole_that_a_sack_fills_counts_too() {
    let config = Config {
        duplicate_threshold: 100,
        ..rr_config()
    };
    let script = ten_out(
        "80  < ack 1 sack 2001-6001
         81  < ack 1 sack 1001-6001
         81  > 1:1001 ack 1",
    );
    let endpoint = client(&config, &script.replace("write 100000", "write 10000"));
    assert_eq!(endpoint.readings().reordering_pkts, 5);
}

/// A window of ten has twenty out at most: ten and what limited transmit adds.
#[test]
fn limited_transmit_ends_after_a_window() {
    let config = Config {
        duplicate_threshold: 100,
        ..rr_config()
    };
    let mut script = String::new();
    for i in 1..=15 {
        let at_ms = 80 + i;
        script += &format!("{at_ms} < ack 1 sack 1001-{}001\n", i + 1);
        if i <= 10 {
            script += &format!("{at_ms} > {}001:{}001 ack 1\n", 9 + i, 10 + i);
        }
    }
    let endpoint = client(&config, &ten_out(&script));
    assert_eq!(endpoint.readings().packets_out_pkts, 20);
}

/// One segment was late by two, one by six. The share of one half covers the first; what the
/// needless recovery cost raises it until it covers the other.
#[test]
fn a_spurious_recovery_raises_the_share_that_is_avoided() {
    let threshold_pkts = |step| {
        let config = Config {
            rr: Some(RrConfig { avoided: 0.5, step }),
            ..rr_config()
        };
        let script = ten_out(
            "80  < ack 1 sack 1001-3001
             81  < ack 3001
             82  < ack 3001 sack 4001-7001
             82  > 3001:4001 ack 1
             83  < ack 3001 sack 4001-10001
             90  < ack 10001
             123 < ack 10001 sack 3001-4001",
        );
        let endpoint = client(&config, &script.replace("write 100000", "write 10000"));
        assert_eq!(endpoint.statistics().undos, 1);
        endpoint.readings().reordering_pkts
    };
    assert_eq!(threshold_pkts(0.0), 3);
    assert_eq!(threshold_pkts(1.0), 7);
}

/// The threshold after a timeout, with a share of 0.5 before it and so large a step. Four are SACKed
/// when it comes: a threshold of three would have repaired what waits for it.
fn threshold_after_a_timeout_pkts(step: f64) -> u32 {
    let config = Config {
        rr: Some(RrConfig { avoided: 0.5, step }),
        ..rr_config()
    };
    let script = ten_out(
        "80  < ack 1 sack 1001-4001
         80  > 1:1001 ack 1
         81  < ack 1 sack 1001-7001
         90  < ack 7001
         121 < ack 7001 sack 1-1001
         122 < ack 7001 sack 8001-10001
         130 write 2000
         130 > 10001:11001 ack 1
         130 > 11001:12001 ack 1
         170 < ack 7001 sack 8001-12001
         331 > 7001:8001 ack 1",
    );
    let script = script.replace("write 100000", "write 10000");
    let endpoint = client(&config, &script);
    assert_eq!(endpoint.statistics().rtos, 1);
    endpoint.readings().reordering_pkts
}

#[test]
fn a_timeout_that_three_duplicates_would_have_spared_lowers_the_share() {
    assert_eq!(threshold_after_a_timeout_pkts(0.0), 7);
    assert_eq!(threshold_after_a_timeout_pkts(1.0), 3);
}

/// The timeout cost RTO/SRTT, five and more round trips, and the needless recovery before it half
/// a window for one. A step of 0.15 takes 0.15 · 5 from a share of 0.5 and leaves nothing of it;
/// were it one round trip, most would be left. A step of 0.05 leaves some.
#[test]
fn a_timeout_weighs_as_many_round_trips_as_it_lasted() {
    assert_eq!(threshold_after_a_timeout_pkts(0.05), 7);
    assert_eq!(threshold_after_a_timeout_pkts(0.15), 3);
}
