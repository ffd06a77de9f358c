//! When a receiver acknowledges, and a window that is not used, by packet scripts.

mod script;

use backlane_tcp::Config;
use script::{client, config, server};

const OPEN: &str = "0   < S 0
    0   > S 0 ack 1
    40  < ack 1
    ";

fn open(rest: &str) -> String {
    format!("{OPEN}{rest}")
}

fn without_quick_ack() -> Config {
    Config {
        quick_ack: false,
        ..config()
    }
}

#[test]
fn every_second_segment_is_acknowledged_at_once_and_a_last_one_after_40_ms() {
    server(
        &without_quick_ack(),
        &open(
            "50  < 1:1001
             51  < 1001:2001
             51  > ack 2001
             52  < 2001:3001
             92  > ack 3001",
        ),
    );
}

#[test]
fn the_first_segments_are_acknowledged_at_once() {
    server(
        &config(),
        &open(
            "50  < 1:1001
             50  > ack 1001
             51  < 1001:2001
             51  > ack 2001",
        ),
    );
}

#[test]
fn a_fixed_timeout_waits_as_long_as_it_says() {
    let config = Config {
        delayed_ack_min: backlane_units::Duration::from_millis(200),
        quick_ack: false,
        ..config()
    };
    server(
        &config,
        &open(
            "50   < 1:1001
             250  > ack 1001",
        ),
    );
}

#[test]
fn a_hole_is_reported_at_once_and_so_is_its_end() {
    server(
        &without_quick_ack(),
        &open(
            "50  < 1001:2001
             50  > ack 1 sack 1001-2001
             51  < 3001:4001
             51  > ack 1 sack 3001-4001 1001-2001
             52  < 1:1001
             52  > ack 2001 sack 3001-4001
             53  < 2001:3001
             53  > ack 4001",
        ),
    );
}

#[test]
fn the_fourth_duplicate_of_a_hole_is_merged_with_those_of_the_next_millisecond() {
    server(
        &without_quick_ack(),
        &open(
            "50    < 1001:2001
             50    > ack 1 sack 1001-2001
             50.1  < 2001:3001
             50.1  > ack 1 sack 1001-3001
             50.2  < 3001:4001
             50.2  > ack 1 sack 1001-4001
             50.3  < 4001:5001
             50.4  < 5001:6001
             51.4  > ack 1 sack 1001-6001",
        ),
    );
}

/// Four blocks fit, three with timestamps: if the new one waited too, merged blocks might never be
/// reported. As in Linux (`tcp_sack_compress_send_ack`) the acknowledgment held back leaves before
/// the new block is stored, which is reported with the next one.
#[test]
fn what_was_merged_goes_at_once_when_a_block_is_about_to_push_it_back() {
    server(
        &without_quick_ack(),
        &open(
            "50    < 1001:2001
             50    > ack 1 sack 1001-2001
             50.1  < 3001:4001
             50.1  > ack 1 sack 3001-4001 1001-2001
             50.2  < 5001:6001
             50.2  > ack 1 sack 5001-6001 3001-4001 1001-2001
             50.3  < 6001:7001
             50.4  < 8001:9001
             50.4  > ack 1 sack 5001-7001 3001-4001 1001-2001
             50.5  < 10001:11001
             51.6  > ack 1 sack 10001-11001 8001-9001 5001-7001 3001-4001",
        ),
    );
}

#[test]
fn a_duplicate_is_reported_first() {
    server(
        &without_quick_ack(),
        &open(
            "50  < 1:1001
             51  < 1001:2001
             51  > ack 2001
             52  < 1:1001
             52  > ack 2001 sack 1-1001",
        ),
    );
}

#[test]
fn a_small_segment_waits_for_an_earlier_small_one() {
    client(
        &config(),
        "0   > S 0
         40  < S 0 ack 1
         40  > ack 1
         50  write 100
         50  > 1:101 ack 1
         51  write 100
         90  < ack 101
         90  > 101:201 ack 1",
    );
}

#[test]
fn an_idle_window_is_halved_per_timeout_down_to_the_initial_one() {
    let config = Config {
        initial_window_pkts: 4,
        ..config()
    };
    let endpoint = client(
        &config,
        "0   > S 0
         40  < S 0 ack 1
         40  > ack 1
         50  write 4000
         50  > 1:1001 ack 1
         50  > 1001:2001 ack 1
         50  > 2001:3001 ack 1
         50  > 3001:4001 ack 1
         90  < ack 4001
         100 write 8000
         100 > 4001:5001 ack 1
         100 > 5001:6001 ack 1
         100 > 6001:7001 ack 1
         100 > 7001:8001 ack 1
         100 > 8001:9001 ack 1
         100 > 9001:10001 ack 1
         100 > 10001:11001 ack 1
         100 > 11001:12001 ack 1
         140 < ack 12001
         400 write 1000
         400 > 12001:13001 ack 1",
    );
    // 16 packets, idle for one timeout (242 ms) and a bit: 300 ms.
    assert_eq!(endpoint.readings().cwnd_pkts, 8);
    assert_eq!(endpoint.readings().ssthresh_pkts, u32::MAX);
}

#[test]
fn a_window_the_application_does_not_use_does_not_grow() {
    let endpoint = client(
        &config(),
        "0   > S 0
         40  < S 0 ack 1
         40  > ack 1
         50  write 2000
         50  > 1:1001 ack 1
         50  > 1001:2001 ack 1
         90  < ack 2001
         100 write 2000
         100 > 2001:3001 ack 1
         100 > 3001:4001 ack 1
         140 < ack 4001",
    );
    assert_eq!(endpoint.readings().cwnd_pkts, 10);
}

#[test]
fn a_window_used_to_more_than_half_grows_in_slow_start() {
    let endpoint = client(
        &config(),
        "0   > S 0
         40  < S 0 ack 1
         40  > ack 1
         50  write 6000
         50  > 1:1001 ack 1
         50  > 1001:2001 ack 1
         50  > 2001:3001 ack 1
         50  > 3001:4001 ack 1
         50  > 4001:5001 ack 1
         50  > 5001:6001 ack 1
         90  < ack 6001",
    );
    assert_eq!(endpoint.readings().cwnd_pkts, 16);
}

/// Linux: `tcp_comp_sack_delay_ns` (1 ms), but no more than a twentieth of the RTT, here of 10 ms, and
/// `tcp_comp_sack_slack_ns` (100 µs).
#[test]
fn on_a_short_path_duplicates_are_merged_for_a_twentieth_of_the_rtt() {
    server(
        &without_quick_ack(),
        "0     < S 0
         0     > S 0 ack 1
         10    < ack 1
         50    < 1001:2001
         50    > ack 1 sack 1001-2001
         50.1  < 2001:3001
         50.1  > ack 1 sack 1001-3001
         50.2  < 3001:4001
         50.2  > ack 1 sack 1001-4001
         50.3  < 4001:5001
         50.4  < 5001:6001
         50.9  > ack 1 sack 1001-6001",
    );
}
