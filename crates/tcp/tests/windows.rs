//! The window of the peer: closed, small and shrinking (RFC 9293 §3.8.6), by packet scripts.

mod script;

use backlane_tcp::Config;
use backlane_units::Duration;
use script::{client, config, ten_out};

#[test]
fn a_closed_window_is_probed_with_growing_gaps_until_it_opens() {
    client(
        &config(),
        "0     > S 0
         0     write 3000
         40    < S 0 ack 1 win 1000
         40    > ack 1
         40    > 1:1001 ack 1
         80    < ack 1001 win 0
         320   > ack 1
         360   < ack 1001 win 0
         800   > ack 1
         840   < ack 1001 win 5000
         840   > 1001:2001 ack 1
         840   > 2001:3001 ack 1",
    );
}

#[test]
fn the_window_of_the_peer_limits_what_is_out() {
    client(
        &config(),
        "0   > S 0
         0   write 9000
         40  < S 0 ack 1 win 2500
         40  > ack 1
         40  > 1:1001 ack 1
         40  > 1001:2001 ack 1
         80  < ack 1001 win 2500
         80  > 2001:3001 ack 1",
    );
}

/// A window that closes after the first segment.
const CLOSED: &str = "0     > S 0
    0     write 5000
    40    < S 0 ack 1 win 1000
    40    > ack 1
    40    > 1:1001 ack 1
    80    < ack 1001 win 0
    ";

/// RFC 9293 §3.8.6.1 (MUST-37): as long as the peer answers, the connection stays open.
#[test]
fn a_window_may_stay_closed_for_longer_than_the_retries() {
    let config = Config {
        retries: 2,
        ..config()
    };
    let endpoint = client(
        &config,
        &(CLOSED.to_owned()
            + "320   > ack 1
               360   < ack 1001 win 0
               800   > ack 1
               840   < ack 1001 win 0
               1760  > ack 1
               1800  < ack 1001 win 0
               3680  > ack 1
               3720  < ack 1001 win 0
               7520  > ack 1
               7560  < ack 1001 win 5000
               7560  > 1001:2001 ack 1
               7560  > 2001:3001 ack 1
               7560  > 3001:4001 ack 1
               7560  > 4001:5001 ack 1"),
    );
    assert!(!endpoint.is_failed());
}

#[test]
fn a_peer_that_answers_no_probe_is_given_up() {
    let config = Config {
        retries: 2,
        ..config()
    };
    let endpoint = client(
        &config,
        &(CLOSED.to_owned()
            + "320   > ack 1
               800   > ack 1
               9000  close"),
    );
    assert!(endpoint.is_failed());
    assert_eq!(endpoint.next_timeout(), None);
}

/// The gap doubles up to the longest timeout, as a retransmission's does (SHLD-30).
#[test]
fn the_gap_between_probes_ends_at_the_longest_timeout() {
    let config = Config {
        max_rto: Duration::from_secs(1),
        ..config()
    };
    client(
        &config,
        &(CLOSED.to_owned()
            + "320   > ack 1
               360   < ack 1001 win 0
               800   > ack 1
               840   < ack 1001 win 0
               1760  > ack 1
               1800  < ack 1001 win 0
               2760  > ack 1
               2800  < ack 1001 win 0
               3760  > ack 1"),
    );
}

/// RFC 9293 §3.8.6.2.1: a window that opens by less than a segment and less than half of the
/// largest is not filled; the timer overrides that.
#[test]
fn a_window_that_opens_a_little_is_not_filled_by_little() {
    client(
        &config(),
        &(CLOSED.to_owned()
            + "100   < ack 1001 win 300
               150   < ack 1001 win 400
               320   > 1001:1401 ack 1
               360   < ack 1401 win 1000
               360   > 1401:2401 ack 1"),
    );
}

/// RFC 9293 §3.8.6.2.1 rule 3: a peer whose largest window is below a segment is sent what
/// fits at once, not once per timeout.
#[test]
fn half_of_the_largest_window_may_be_filled_at_once() {
    client(
        &config(),
        "0     > S 0
         0     write 3000
         40    < S 0 ack 1 win 500
         40    > ack 1
         40    > 1:501 ack 1
         80    < ack 501 win 500
         80    > 501:1001 ack 1
         120   < ack 1001 win 240
         200   < ack 1001 win 250
         200   > 1001:1251 ack 1",
    );
}

/// RFC 9293 §3.8.6.2.1 rule 2: all that is left may be sent when it fits.
#[test]
fn the_last_bytes_leave_although_the_window_is_small() {
    client(
        &config(),
        "0     > S 0
         0     write 1200
         40    < S 0 ack 1 win 1000
         40    > ack 1
         40    > 1:1001 ack 1
         80    < ack 1001 win 200
         80    > 1001:1201 ack 1",
    );
}

/// RFC 9293 §3.8.6 (MUST-34, SHLD-15, SHLD-16): a window drawn back stops new data; what is
/// out is retransmitted as ever.
#[test]
fn a_window_drawn_back_stops_new_data_and_no_retransmission() {
    let config = Config {
        tail_loss_probe: false,
        ..config()
    };
    client(
        &config,
        "0     > S 0
         0     write 9000
         40    < S 0 ack 1 win 3000
         40    > ack 1
         40    > 1:1001 ack 1
         40    > 1001:2001 ack 1
         40    > 2001:3001 ack 1
         80    < ack 1001 win 1000
         320   > 1001:2001 ack 1
         360   < ack 3001 win 1000
         360   > 3001:4001 ack 1",
    );
}

/// An acknowledgment that was overtaken by a newer one tells an old window.
#[test]
fn a_late_acknowledgment_does_not_move_the_window() {
    client(
        &config(),
        "0     > S 0
         0     write 9000
         40    < S 0 ack 1 win 2000
         40    > ack 1
         40    > 1:1001 ack 1
         40    > 1001:2001 ack 1
         80    < ack 2001 win 2000
         80    > 2001:3001 ack 1
         80    > 3001:4001 ack 1
         81    < ack 1001 win 9000",
    );
}

/// 10 in flight for 40 ms, then 11: slow start answers an acknowledgment of one with two.
#[test]
fn means_are_over_the_time_that_something_was_outstanding() {
    let endpoint = client(
        &config(),
        &ten_out(
            "80  < ack 1001
             80  > 10001:11001 ack 1
             80  > 11001:12001 ack 1
             120 < ack 12001
             120 > 12001:13001 ack 1",
        )
        .replace("write 100000", "write 13000"),
    );
    let statistics = endpoint.statistics();
    assert_eq!(statistics.in_flight_mean_pkts(), Some(10.5));
    assert_eq!(statistics.cwnd_mean_pkts(), Some(10.5));
    assert_eq!(statistics.outstanding, Duration::from_millis(80));
}
