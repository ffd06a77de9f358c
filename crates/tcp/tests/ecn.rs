//! Congestion marks, by packet scripts.

mod script;

use backlane_tcp::congestion::{CongestionControlConfig, dctcp};
use backlane_tcp::{Config, CongestionState, Connection, Ecn};
use script::{client, config, server};

fn with(ecn: Ecn) -> Config {
    Config {
        ecn,
        initial_window_pkts: 4,
        tail_loss_probe: false,
        ..config()
    }
}

const FOUR_OUT: &str = "0   > S 0 ece cwr
    0   write 100000
    40  < S 0 ack 1 ece
    40  > ack 1
    40  > 1:1001 ack 1 ect
    40  > 1001:2001 ack 1 ect
    40  > 2001:3001 ack 1 ect
    40  > 3001:4001 ack 1 ect
    ";

#[test]
fn an_echo_halves_the_window_once_per_round_trip_and_is_answered() {
    let script = FOUR_OUT.to_owned()
        + "80  < ack 1001 ece
           80  > 4001:5001 ack 1 cwr ect
           81  < ack 2001 ece
           82  < ack 3001 ece
           83  < ack 4001 ece
           83  > 5001:6001 ack 1 ect
           120 < ack 5001
           120 > 6001:7001 ack 1 ect";
    let endpoint = client(&with(Ecn::Classic), &script);
    let readings = endpoint.readings();
    assert_eq!(readings.ssthresh_pkts, 2);
    assert_eq!(readings.state, CongestionState::Open);
    assert_eq!(endpoint.statistics().retransmits, 0);
}

#[test]
fn a_peer_that_does_not_grant_it_gets_unmarkable_segments() {
    client(
        &with(Ecn::Classic),
        "0  > S 0 ece cwr
         40 < S 0 ack 1
         40 > ack 1
         40 write 1000
         40 > 1:1001 ack 1",
    );
}

#[test]
fn a_receiver_echoes_until_cwr_arrives() {
    server(
        &with(Ecn::Classic),
        "0  < S 0 ece cwr
         0  > S 0 ack 1 ece
         10 < ack 1
         20 < 1:1001 ce
         20 > ack 1001 ece
         21 < 1001:2001
         21 > ack 2001 ece
         22 < 2001:3001 cwr
         22 > ack 3001",
    );
}

#[test]
fn an_exact_receiver_echoes_what_was_marked_and_no_more() {
    server(
        &with(Ecn::Exact),
        "0  < S 0 ece cwr
         0  > S 0 ack 1 ece
         10 < ack 1
         20 < 1:1001 ce
         20 > ack 1001 ece
         21 < 1001:2001
         21 > ack 2001
         22 < 2001:3001 ce
         22 > ack 3001 ece",
    );
}

/// RFC 3168 §6.1.2: once per window of data, so that a mark in the next window counts again.
#[test]
fn a_mark_in_the_next_window_reduces_again() {
    let config = Config {
        initial_window_pkts: 8,
        ..with(Ecn::Classic)
    };
    let mut script = "0   > S 0 ece cwr
        0   write 100000
        40  < S 0 ack 1 ece
        40  > ack 1\n"
        .to_owned();
    for i in 0..8 {
        script += &format!("40 > {}:{} ack 1 ect\n", i * 1000 + 1, i * 1000 + 1001);
    }
    script += "80  < ack 8001 ece
        80  > 8001:9001 ack 1 cwr ect
        80  > 9001:10001 ack 1 ect
        80  > 10001:11001 ack 1 ect
        80  > 11001:12001 ack 1 ect
        120 < ack 12001
        120 > 12001:13001 ack 1 ect
        120 > 13001:14001 ack 1 ect
        120 > 14001:15001 ack 1 ect
        120 > 15001:16001 ack 1 ect
        120 > 16001:17001 ack 1 ect
        160 < ack 17001 ece
        160 > 17001:18001 ack 1 cwr ect
        160 > 18001:19001 ack 1 ect";
    let endpoint = client(&config, &script);
    // 8, halved to 4, one more for the round trip, halved to 2.
    assert_eq!(endpoint.readings().ssthresh_pkts, 2);
}

/// RFC 3168 §6.1.5: a retransmission is not marked and carries no CWR.
#[test]
fn a_retransmission_cannot_be_marked() {
    let script = FOUR_OUT.to_owned()
        + "80  < ack 1 sack 1001-4001
           80  > 1:1001 ack 1
           80  > 4001:5001 ack 1 cwr ect
           81  < ack 1 sack 1001-4001 ece
           120 < ack 4001
           120 > 5001:6001 ack 1 ect";
    let endpoint = client(&with(Ecn::Classic), &script);
    // The loss and the mark are of one window: one reduction (§6.1.2).
    assert_eq!(endpoint.readings().ssthresh_pkts, 2);
}

#[test]
fn a_reduction_for_a_mark_is_not_undone() {
    let script = FOUR_OUT.to_owned()
        + "80  < ack 1 sack 1001-4001 ece
           80  > 1:1001 ack 1
           80  > 4001:5001 ack 1 cwr ect
           85  < ack 4001
           85  > 5001:6001 ack 1 ect
           120 < ack 4001 sack 1-1001";
    let endpoint = client(&with(Ecn::Classic), &script);
    assert_eq!(endpoint.statistics().undos, 0);
    assert_eq!(endpoint.readings().ssthresh_pkts, 2);
}

#[test]
fn a_listener_grants_nothing_that_was_not_asked_for() {
    server(
        &with(Ecn::Classic),
        "0  < S 0
         0  > S 0 ack 1
         10 < ack 1
         20 < 1:1001 ce
         20 > ack 1001",
    );
}

/// RFC 8257 §3.2: the acknowledgment that was held back leaves before that of the change.
#[test]
fn an_exact_receiver_acknowledges_what_came_before_a_change_of_marks_apart() {
    let config = Config {
        quick_ack: false,
        ..with(Ecn::Exact)
    };
    server(
        &config,
        "0  < S 0 ece cwr
         0  > S 0 ack 1 ece
         10 < ack 1
         20 < 1:1001
         21 < 1001:2001 ce
         21 > ack 1001
         21 > ack 2001 ece
         22 < 2001:3001 ce
         23 < 3001:4001 ce
         23 > ack 4001 ece
         24 < 4001:5001 ce
         25 < 5001:6001
         25 > ack 5001 ece
         25 > ack 6001",
    );
}

fn dctcp(initial_alpha: f64, script: &str) -> Connection {
    let config = Config {
        congestion_control: CongestionControlConfig::Dctcp(dctcp::Config {
            initial_alpha,
            ..dctcp::Config::default()
        }),
        ..with(Ecn::Exact)
    };
    client(&config, &(FOUR_OUT.to_owned() + script))
}

/// α is 1 at first and loses a sixteenth in the first round, without a mark: 960 of 1024.
#[test]
fn dctcp_answers_the_first_mark_with_nearly_half_the_window() {
    let endpoint = dctcp(
        1.0,
        "80 < ack 1001 ece
         80 > 4001:5001 ack 1 cwr ect",
    );
    // 4 · (1 − 960/2048) = 2.1: the cut of 1.9 packets is rounded down to 1.
    assert_eq!(endpoint.readings().ssthresh_pkts, 3);
    assert_eq!(endpoint.readings().state, CongestionState::Cwr);
}

#[test]
fn dctcp_answers_a_loss_with_half_the_window_though_alpha_is_zero() {
    let endpoint = dctcp(
        0.0,
        "80 < ack 1 sack 1001-2001
         80 > 4001:5001 ack 1 ect
         81 < ack 1 sack 1001-3001
         81 > 5001:6001 ack 1 ect
         82 < ack 1 sack 1001-4001
         82 > 1:1001 ack 1",
    );
    assert_eq!(endpoint.readings().state, CongestionState::Recovery);
    assert_eq!(endpoint.readings().ssthresh_pkts, 2);
}
