//! Opening and closing, by packet scripts.

mod script;

use backlane_tcp::Config;
use script::{client, config, server};

#[test]
fn three_segments_open_a_connection() {
    let endpoint = client(
        &config(),
        "0   > S 0
         40  < S 0 ack 1
         40  > ack 1",
    );
    assert!(endpoint.is_established());
    assert_eq!(endpoint.readings().srtt.as_micros(), 40_000);
}

#[test]
fn a_listener_answers_and_is_open_with_the_third_segment() {
    let endpoint = server(
        &config(),
        "10  < S 0
         10  > S 0 ack 1
         50  < ack 1",
    );
    assert!(endpoint.is_established());
    assert_eq!(endpoint.readings().srtt.as_micros(), 40_000);
}

#[test]
fn a_lost_syn_is_repeated_after_one_two_and_four_seconds() {
    client(
        &config(),
        "0     > S 0
         1000  > S 0
         3000  > S 0
         7000  > S 0
         7040  < S 0 ack 1
         7040  > ack 1",
    );
}

#[test]
fn the_connection_fails_after_six_repetitions() {
    let endpoint = client(
        &config(),
        "0      > S 0
         1000   > S 0
         3000   > S 0
         7000   > S 0
         15000  > S 0
         31000  > S 0
         63000  > S 0
         130000 close",
    );
    assert!(endpoint.is_failed());
    assert_eq!(endpoint.next_timeout(), None);
}

#[test]
fn a_lost_syn_ack_is_repeated_by_either_side() {
    server(
        &config(),
        "0     < S 0
         0     > S 0 ack 1
         500   < S 0
         500   > S 0 ack 1
         1000  > S 0 ack 1
         1040  < ack 1",
    );
}

#[test]
fn a_syn_ack_backs_off_like_a_syn_and_ends_like_one() {
    let endpoint = server(
        &Config {
            syn_retries: 3,
            ..config()
        },
        "0     < S 0
         0     > S 0 ack 1
         1000  > S 0 ack 1
         3000  > S 0 ack 1
         7000  > S 0 ack 1
         16000 close",
    );
    assert!(endpoint.is_failed());
    assert_eq!(endpoint.next_timeout(), None);
}

#[test]
fn a_syn_ack_that_comes_again_is_acknowledged_again() {
    client(
        &config(),
        "0    > S 0
         40   < S 0 ack 1
         40   > ack 1
         1040 < S 0 ack 1
         1040 > ack 1",
    );
}

#[test]
fn data_stands_for_a_lost_third_segment() {
    let endpoint = server(
        &config(),
        "0   < S 0
         0   > S 0 ack 1
         40  < 1:1001 ack 1
         40  > ack 1001",
    );
    assert_eq!(endpoint.received_bytes(), 1000);
}

fn timeout_alone() -> Config {
    Config {
        tail_loss_probe: false,
        initial_window_pkts: 2,
        ..config()
    }
}

/// RFC 6298 §5.7: a repeated SYN gave no sample, and the first timeout of the data is 3 s. The
/// window is the initial one: Linux makes it one segment from the second repetition on.
#[test]
fn one_lost_syn_leaves_the_initial_window_and_a_timeout_of_three_seconds() {
    client(
        &timeout_alone(),
        "0     > S 0
         0     write 9000
         1000  > S 0
         1040  < S 0 ack 1
         1040  > ack 1
         1040  > 1:1001 ack 1
         1040  > 1001:2001 ack 1
         4040  > 1:1001 ack 1",
    );
}

/// With timestamps the echo tells which SYN was answered, so that the sample counts.
#[test]
fn the_echo_of_a_repeated_syn_is_a_sample() {
    let endpoint = client(
        &Config {
            timestamps: true,
            ..timeout_alone()
        },
        "0     > S 0
         0     write 9000
         1000  > S 0
         1040  < S 0 ack 1 ecr 1000
         1040  > ack 1
         1040  > 1:1001 ack 1
         1040  > 1001:2001 ack 1
         1280  > 1:1001 ack 1",
    );
    assert_eq!(endpoint.readings().srtt.as_micros(), 40_000);
}

#[test]
fn two_lost_syns_start_from_one_segment() {
    client(
        &config(),
        "0     > S 0
         0     write 9000
         1000  > S 0
         3000  > S 0
         3040  < S 0 ack 1
         3040  > ack 1
         3040  > 1:1001 ack 1",
    );
}

#[test]
fn the_fin_goes_with_the_last_data_and_the_peer_closes_later() {
    let endpoint = client(
        &config(),
        "0   > S 0
         0   write 1500
         0   close
         40  < S 0 ack 1
         40  > ack 1
         40  > 1:1001 ack 1
         40  > F 1001:1501 ack 1
         80  < ack 1502
         90  < F 1 ack 1502
         90  > ack 2",
    );
    assert!(endpoint.is_closed());
    assert_eq!(endpoint.acked_bytes(), 1500);
    assert_eq!(endpoint.next_timeout(), None);
}

#[test]
fn a_lost_fin_is_repeated_after_the_timeout() {
    client(
        &config(),
        "0    > S 0
         40   < S 0 ack 1
         40   > ack 1
         50   close
         50   > F 1 ack 1
         290  > F 1 ack 1
         330  < ack 2",
    );
}

#[test]
fn a_repeated_fin_is_acknowledged_after_the_close() {
    let endpoint = server(
        &Config {
            sack: false,
            ..config()
        },
        "0   < S 0
         0   > S 0 ack 1
         40  < F 1 ack 1
         40  > ack 2
         40  close
         40  > F 1 ack 2
         80  < 2 ack 2
         300 < F 1 ack 2
         300 > ack 2",
    );
    assert!(endpoint.is_closed());
    assert_eq!(endpoint.next_timeout(), None);
}
