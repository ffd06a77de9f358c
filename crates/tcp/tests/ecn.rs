//! Congestion marks, by packet scripts.

mod script;

use backlane_tcp::{Config, CongestionState, Ecn};
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
fn a_receiver_echoes_until_it_is_told_of_the_reduction() {
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
