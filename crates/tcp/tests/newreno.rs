//! NewReno (RFC 6582) with limited transmit (RFC 3042) and nothing else: no SACK, a threshold of
//! three, no undo, no F-RTO, no probe. By packet scripts.
//!
//! Ten segments are out, the window is 10 and a halved one 5. A duplicate stands for one segment
//! that has left the network.

mod script;

use backlane_tcp::{Config, CongestionState, Connection, Reordering};
use script::{client, config, ten_out};

fn newreno() -> Config {
    Config {
        sack: false,
        reordering: Reordering::Fixed,
        tail_loss_probe: false,
        frto: false,
        ..config()
    }
}

const THREE_DUPLICATES: &str = "80  < ack 1
     80  > 10001:11001 ack 1
     81  < ack 1
     81  > 11001:12001 ack 1
     82  < ack 1
     82  > 1:1001 ack 1
     ";

fn after_three_duplicates(rest: &str) -> Connection {
    client(&newreno(), &ten_out(&(THREE_DUPLICATES.to_owned() + rest)))
}

#[test]
fn two_duplicates_let_new_segments_out_and_the_third_repairs() {
    let endpoint = after_three_duplicates("");
    let readings = endpoint.readings();
    assert_eq!(readings.state, CongestionState::Recovery);
    assert_eq!((readings.ssthresh_pkts, readings.lost_pkts), (5, 1));
    assert_eq!(readings.reordering_pkts, 3);
}

/// Rate reduction: half as many leave as arrive (of 10 to 5).
#[test]
fn in_recovery_every_second_duplicate_lets_a_segment_out() {
    after_three_duplicates(
        "83 < ack 1
         84 < ack 1
         84 > 12001:13001 ack 1
         85 < ack 1
         86 < ack 1
         86 > 13001:14001 ack 1",
    );
}

/// RFC 6582 §3.2 step 3: a partial acknowledgment retransmits the next hole at once, and no
/// other; a full one ends with the window at the threshold.
#[test]
fn each_partial_acknowledgment_repairs_one_hole_and_the_full_one_ends_it() {
    let endpoint = after_three_duplicates(
        "122 < ack 5001
         122 > 5001:6001 ack 1
         162 < ack 9001
         162 > 9001:10001 ack 1
         162 > 12001:13001 ack 1
         162 > 13001:14001 ack 1
         202 < ack 12001
         202 > 14001:15001 ack 1
         202 > 15001:16001 ack 1
         202 > 16001:17001 ack 1
         242 < ack 13001
         242 > 17001:18001 ack 1",
    );
    let readings = endpoint.readings();
    assert_eq!(readings.state, CongestionState::Open);
    assert_eq!((readings.cwnd_pkts, readings.ssthresh_pkts), (5, 5));
    assert_eq!(endpoint.statistics().fast_retransmits, 1);
}

/// Duplicates of what was acknowledged when the recovery ended may stem from needless
/// retransmissions: no other recovery before something newer is acknowledged.
#[test]
fn duplicates_of_the_full_acknowledgment_begin_no_recovery() {
    let endpoint = after_three_duplicates(
        "122 < ack 12001
         122 > 12001:13001 ack 1
         122 > 13001:14001 ack 1
         122 > 14001:15001 ack 1
         122 > 15001:16001 ack 1
         122 > 16001:17001 ack 1
         123 < ack 12001
         124 < ack 12001
         125 < ack 12001
         126 < ack 12001",
    );
    assert_eq!(endpoint.statistics().fast_retransmits, 1);
    assert_eq!(endpoint.statistics().retransmits, 1);
}

/// RFC 6582 §3.2 step 4: what was sent before a timeout brings no fast retransmission after it.
#[test]
fn duplicates_after_a_timeout_begin_no_recovery() {
    let endpoint = client(
        &newreno(),
        &ten_out(
            "280 > 1:1001 ack 1
             320 < ack 1001
             320 > 1001:2001 ack 1
             320 > 2001:3001 ack 1
             321 < ack 1001
             322 < ack 1001
             323 < ack 1001
             324 < ack 1001",
        ),
    );
    assert_eq!(endpoint.readings().state, CongestionState::Loss);
    assert_eq!(endpoint.statistics().fast_retransmits, 0);
}

/// The echo says that originals were only late: the window stays reduced, and the partial
/// acknowledgment retransmits what is on its way.
#[test]
fn nothing_is_undone_and_nothing_learned() {
    let config = Config {
        timestamps: true,
        ..newreno()
    };
    let endpoint = client(
        &config,
        &ten_out(
            "80  < ack 1 ecr 40
             80  > 10001:11001 ack 1
             81  < ack 1 ecr 40
             81  > 11001:12001 ack 1
             82  < ack 1 ecr 40
             82  > 1:1001 ack 1
             85  < ack 4001 ecr 40
             85  > 4001:5001 ack 1",
        ),
    );
    assert_eq!(endpoint.statistics().undos, 0);
    let readings = endpoint.readings();
    assert_eq!((readings.ssthresh_pkts, readings.reordering_pkts), (5, 3));
    assert_eq!(readings.state, CongestionState::Recovery);
}
