//! Retransmission timeouts, and reductions that prove needless, by packet scripts.

mod script;

use backlane_tcp::{Config, CongestionState, Reordering};
use backlane_units::Duration;
use script::{client, config, ten_out};

/// Neither probes nor F-RTO: the timeout alone.
fn timeout_alone() -> Config {
    Config {
        tail_loss_probe: false,
        frto: false,
        ..config()
    }
}

/// With F-RTO and without probes.
fn with_frto() -> Config {
    Config {
        tail_loss_probe: false,
        ..config()
    }
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
fn what_comes_after_a_failure_starts_no_timer() {
    // The acknowledgment of all that was sent, and data that would be acknowledged later.
    let late = [
        "9000  < ack 10001",
        "9000  < 1:1001 ack 1",
        "9000  < ack 2001",
    ];
    for late in late {
        let endpoint = client(
            &Config {
                retries: 2,
                ..timeout_alone()
            },
            &ten_out(&format!(
                "280   > 1:1001 ack 1
                 760   > 1:1001 ack 1
                 {late}"
            )),
        );
        assert!(endpoint.is_failed());
        assert_eq!(endpoint.next_timeout(), None, "{late}");
        assert_eq!(
            endpoint.acked_bytes() + endpoint.received_bytes(),
            0,
            "{late}"
        );
    }
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
fn a_spurious_timeout_is_detected_by_segments_never_retransmitted() {
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
             122 < ack 4001 sack 1-1001
             122 > 4001:5001 ack 1",
        ),
    );
    assert_eq!(endpoint.statistics().undos, 0);
    assert_eq!(endpoint.readings().reordering_pkts, 3);
}

/// RFC 6298 §5.3: an acknowledgment of new data restarts the timer.
#[test]
fn each_acknowledgment_of_new_data_restarts_the_timer() {
    client(
        &timeout_alone(),
        &ten_out(
            "80   < ack 1001
             80   > 10001:11001 ack 1
             80   > 11001:12001 ack 1
             320  > 1001:2001 ack 1",
        ),
    );
}

/// RFC 6298 §5, last paragraph: a sample of data sent once ends the back-off. The first timeout
/// was 240 ms, the second 480 ms; SRTT is 40 ms, the third 240 ms again.
#[test]
fn a_new_sample_ends_the_back_off() {
    client(
        &timeout_alone(),
        "0   > S 0
          0   write 1000
          40  < S 0 ack 1
          40  > ack 1
          40  > 1:1001 ack 1
          280 > 1:1001 ack 1
          320 < ack 1001
          330 write 1000
          330 > 1001:2001 ack 1
          370 < ack 2001
          380 write 1000
          380 > 2001:3001 ack 1
          620 > 2001:3001 ack 1",
    );
}

/// The echo tells which of the two was acknowledged (RFC 7323): with timestamps the
/// acknowledgment of a retransmission is a sample.
#[test]
fn with_timestamps_the_answer_to_a_retransmission_is_a_sample() {
    let config = Config {
        timestamps: true,
        ..timeout_alone()
    };
    client(
        &config,
        &ten_out(
            "280 > 1:1001 ack 1
             320 < ack 1001 ecr 280
             320 > 1001:2001 ack 1
             320 > 2001:3001 ack 1
             560 > 1001:2001 ack 1",
        ),
    );
}

/// RFC 5682 §3.1: the first acknowledgment lets two new segments out; the second one brings a
/// SACK of these and of nothing older, so the timeout was right and the old segments go again.
#[test]
fn a_right_timeout_is_confirmed_when_only_new_data_arrives() {
    let endpoint = client(
        &with_frto(),
        &ten_out(
            "280 > 1:1001 ack 1
             320 < ack 1001
             320 > 10001:11001 ack 1
             320 > 11001:12001 ack 1
             360 < ack 1001 sack 10001-11001
             360 > 1001:2001 ack 1
             361 < ack 1001 sack 10001-12001
             361 > 2001:3001 ack 1",
        ),
    );
    let readings = endpoint.readings();
    assert_eq!(readings.state, CongestionState::Loss);
    assert_eq!(readings.ssthresh_pkts, 5);
    assert_eq!(endpoint.statistics().spurious_rtos, 0);
}

/// A duplicate that the network made is reported between the two acknowledgments: it confirms
/// nothing (Linux: `FLAG_DSACKING_ACK` makes no duplicate acknowledgment), and the original that is
/// acknowledged next shows that the timeout was spurious.
#[test]
fn a_duplicate_report_alone_does_not_confirm_a_timeout() {
    let endpoint = client(
        &with_frto(),
        &ten_out(
            "80  < ack 1001
             80  > 10001:11001 ack 1
             80  > 11001:12001 ack 1
             320 > 1001:2001 ack 1
             360 < ack 2001
             360 > 12001:13001 ack 1
             360 > 13001:14001 ack 1
             361 < ack 2001 sack 1-1001
             362 < ack 3001
             362 > 14001:15001 ack 1",
        ),
    );
    assert_eq!(endpoint.statistics().spurious_rtos, 1);
    assert_eq!(endpoint.readings().state, CongestionState::Open);
}

/// RFC 5682 §3.1 step 2b asks for new data; without it, retransmissions go on.
#[test]
fn without_new_data_slow_start_repairs_at_once() {
    let script = script::TEN_OUT.replace("write 100000", "write 10000")
        + "280 > 1:1001 ack 1
           320 < ack 1001
           320 > 1001:2001 ack 1
           320 > 2001:3001 ack 1";
    client(&with_frto(), &script);
}

#[test]
fn a_second_timeout_for_the_same_segment_is_found_spurious_too() {
    let endpoint = client(
        &with_frto(),
        &ten_out(
            "280 > 1:1001 ack 1
             760 > 1:1001 ack 1
             770 < ack 1001
             770 > 10001:11001 ack 1
             770 > 11001:12001 ack 1
             771 < ack 2001
             771 > 12001:13001 ack 1",
        ),
    );
    assert_eq!(endpoint.statistics().rtos, 2);
    assert_eq!(endpoint.statistics().spurious_rtos, 1);
    assert_eq!(endpoint.readings().state, CongestionState::Open);
}

fn with_timestamps() -> Config {
    Config {
        timestamps: true,
        ..timeout_alone()
    }
}

/// Eifel detection (RFC 3522): the echo is older than the retransmission, so the original
/// arrived; the response (RFC 4015) restores the window and continues with new data.
#[test]
fn an_echo_older_than_the_retransmission_takes_the_timeout_back() {
    let endpoint = client(
        &with_timestamps(),
        &ten_out(
            "280 > 1:1001 ack 1
             290 < ack 1001 ecr 40
             290 > 10001:11001 ack 1
             290 > 11001:12001 ack 1",
        ),
    );
    let readings = endpoint.readings();
    assert_eq!(readings.state, CongestionState::Open);
    assert_eq!((readings.cwnd_pkts, readings.ssthresh_pkts), (11, u32::MAX));
    assert_eq!((readings.lost_pkts, readings.retrans_out_pkts), (0, 0));
    assert_eq!(endpoint.statistics().undos, 1);
}

#[test]
fn an_echo_of_the_retransmission_takes_nothing_back() {
    let endpoint = client(
        &with_timestamps(),
        &ten_out(
            "280 > 1:1001 ack 1
             320 < ack 1001 ecr 280
             320 > 1001:2001 ack 1
             320 > 2001:3001 ack 1",
        ),
    );
    assert_eq!(endpoint.statistics().undos, 0);
    assert_eq!(endpoint.readings().ssthresh_pkts, 5);
}

/// The same after a fast retransmission: three segments overtook the first.
#[test]
fn an_echo_older_than_the_retransmission_takes_a_fast_recovery_back() {
    let endpoint = client(
        &with_timestamps(),
        &ten_out(
            "80  < ack 1 sack 1001-2001 ecr 40
             80  > 10001:11001 ack 1
             81  < ack 1 sack 1001-3001 ecr 40
             81  > 11001:12001 ack 1
             82  < ack 1 sack 1001-4001 ecr 40
             82  > 1:1001 ack 1
             85  < ack 4001 ecr 40
             85  > 12001:13001 ack 1
             85  > 13001:14001 ack 1
             85  > 14001:15001 ack 1",
        ),
    );
    // The window of before, and slow start's packet for the one that was late.
    assert_eq!(endpoint.statistics().undos, 1);
    assert_eq!(endpoint.readings().ssthresh_pkts, u32::MAX);
    assert_eq!(endpoint.readings().cwnd_pkts, 11);
}

/// The report may come when nothing is outstanding any more.
#[test]
fn a_duplicate_report_after_the_last_byte_brings_the_window_back() {
    let script = script::TEN_OUT.replace("write 100000", "write 10000")
        + "80  < ack 1 sack 1001-2001
           81  < ack 1 sack 1001-3001
           82  < ack 1 sack 1001-4001
           82  > 1:1001 ack 1
           85  < ack 10001
           122 < ack 10001 sack 1-1001";
    let endpoint = client(&config(), &script);
    assert_eq!(endpoint.statistics().undos, 1);
    assert_eq!(endpoint.readings().ssthresh_pkts, u32::MAX);
    assert_eq!(endpoint.readings().cwnd_pkts, 10);
}

/// A reduction is undone only when every retransmission was needless.
#[test]
fn one_duplicate_report_of_two_retransmissions_undoes_nothing() {
    let endpoint = client(
        &config(),
        &ten_out(
            "80  < ack 1 sack 2001-3001
             80  > 10001:11001 ack 1
             81  < ack 1 sack 2001-4001
             81  > 11001:12001 ack 1
             82  < ack 1 sack 2001-5001
             82  > 1:1001 ack 1
             84  < ack 1 sack 2001-7001
             84  > 1001:2001 ack 1
             86  < ack 7001
             123 < ack 7001 sack 1-1001",
        ),
    );
    assert_eq!(endpoint.statistics().undos, 0);
    assert_eq!(endpoint.readings().ssthresh_pkts, 5);
}

/// Clocks that tick 250 times a second tell 40 from 82 ms, and not 81 from 82 ms.
#[test]
fn an_echo_of_the_same_tick_of_the_timestamp_clock_undoes_nothing() {
    for (tick_ms, echo_ms, undos) in [(1, 81, 1), (4, 81, 0), (4, 40, 1), (4, 79, 1)] {
        let config = Config {
            timestamp_tick: Duration::from_millis(tick_ms),
            ..with_timestamps()
        };
        let endpoint = client(
            &config,
            &ten_out(&format!(
                "80  < ack 1 sack 1001-2001 ecr 40
                 80  > 10001:11001 ack 1
                 81  < ack 1 sack 1001-3001 ecr 40
                 81  > 11001:12001 ack 1
                 82  < ack 1 sack 1001-4001 ecr 40
                 82  > 1:1001 ack 1
                 84  < ack 12001 ecr {echo_ms}"
            ))
            .replace("write 100000", "write 12000"),
        );
        assert_eq!(
            endpoint.statistics().undos,
            undos,
            "{tick_ms} ms, {echo_ms} ms"
        );
    }
}

/// A recovery has retransmitted 1 when the timeout comes: what arrives then may answer that
/// retransmission, and says nothing of the timeout (RFC 5682 §3.1, step 1; Linux:
/// `tcp_enter_loss`). Slow start repairs at once.
#[test]
fn the_first_timeout_within_a_recovery_is_not_put_to_the_test() {
    let endpoint = client(
        &with_frto(),
        &ten_out(
            "80  < ack 1 sack 1001-4001
             80  > 1:1001 ack 1
             80  > 10001:11001 ack 1
             320 > 1:1001 ack 1
             330 < ack 4001
             330 > 4001:5001 ack 1
             330 > 5001:6001 ack 1",
        ),
    );
    assert_eq!(endpoint.statistics().spurious_rtos, 0);
    assert_eq!(endpoint.readings().state, CongestionState::Loss);
}

/// RFC 2861 §3.1: a window of eight of which the application uses one, for longer than a timeout
/// (240 ms), falls half way to what was used, but the initial window counts as used: (8 + 4)/2.
#[test]
fn a_window_that_is_not_used_falls_half_way() {
    let config = Config {
        initial_window_pkts: 4,
        ..timeout_alone()
    };
    let endpoint = client(
        &config,
        "0   > S 0
         0   write 4000
         40  < S 0 ack 1
         40  > ack 1
         40  > 1:1001 ack 1
         40  > 1001:2001 ack 1
         40  > 2001:3001 ack 1
         40  > 3001:4001 ack 1
         80  < ack 4001
         200 write 1000
         200 > 4001:5001 ack 1
         240 < ack 5001
         300 write 1000
         300 > 5001:6001 ack 1
         340 < ack 6001
         400 write 1000
         400 > 6001:7001 ack 1
         440 < ack 7001",
    );
    assert_eq!(endpoint.readings().cwnd_pkts, 6);
}
