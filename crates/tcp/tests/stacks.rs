//! What ns-3 and older versions of Linux do otherwise, key by key, by packet scripts.

mod script;

use backlane_tcp::{
    BurstLimit, Config, CongestionState, Growth, NextRecovery, OldAcks, OrUnlimited, Reordering,
    RttSamples, SackedRetransmissions, ThresholdFrom, TimeoutMarks, WithoutNewData,
};
use backlane_units::{Bytes, Duration, SimTime};
use script::{client, config, server, ten_out};

/// A fixed threshold, neither probes nor F-RTO.
fn fixed() -> Config {
    Config {
        reordering: Reordering::Fixed,
        tail_loss_probe: false,
        frto: false,
        ..config()
    }
}

fn at(ms: u64) -> SimTime {
    SimTime::ZERO + Duration::from_millis(ms)
}

/// ns-3's `ConnectionTimeout` is 3 s and doubles.
#[test]
fn in_ns3_a_syn_is_repeated_after_three_six_and_twelve_seconds() {
    client(
        &Config::ns3(),
        "0      > S 0
         3000   > S 0
         9000   > S 0
         21000  > S 0",
    );
}

/// Ten out, three of them SACKed and the first lost: six are in flight.
#[test]
fn the_threshold_is_half_the_window_or_half_the_flight() {
    let threshold = |threshold_from| {
        let config = Config {
            threshold_from,
            ..fixed()
        };
        let script = "80  < ack 1 sack 1001-4001
                      80  > 1:1001 ack 1";
        let endpoint = match threshold_from {
            ThresholdFrom::Window => client(
                &config,
                &ten_out(&format!("{script}\n80 > 10001:11001 ack 1")),
            ),
            ThresholdFrom::Flight => client(&config, &ten_out(script)),
        };
        endpoint.readings().ssthresh_pkts
    };
    assert_eq!(threshold(ThresholdFrom::Window), 5);
    assert_eq!(threshold(ThresholdFrom::Flight), 3);
}

/// Ten are all that the send buffer holds. Eight are SACKed and the first is lost, so that two may
/// leave and only the tenth is neither.
#[test]
fn without_new_data_what_is_not_sacked_leaves_again_or_nothing_does() {
    let after = |without_new_data, rest: &str| {
        let config = Config {
            without_new_data,
            send_buffer: OrUnlimited::Value(Bytes::new(10_000)),
            ..fixed()
        };
        let script = "80  < ack 1 sack 1001-9001
                      80  > 1:1001 ack 1";
        client(&config, &ten_out(&format!("{script}{rest}")));
    };
    after(WithoutNewData::Nothing, "");
    after(WithoutNewData::Unsacked, "\n80 > 9001:10001 ack 1");
}

/// The first and the third are lost and sent again, and the third is SACKed: of ten, the first is in
/// flight, and the two above the SACKs. ns-3 counts the retransmission of the third, too.
#[test]
fn a_retransmission_that_is_sacked_has_arrived_or_is_in_flight() {
    let in_flight_pkts = |sacked_retransmissions| {
        let config = Config {
            sacked_retransmissions,
            send_buffer: OrUnlimited::Value(Bytes::new(10_000)),
            ..fixed()
        };
        let script = "80  < ack 1 sack 3001-8001 1001-2001
                      80  > 1:1001 ack 1
                      80  > 2001:3001 ack 1
                      120 < ack 1 sack 1001-8001";
        client(&config, &ten_out(script)).readings().in_flight_pkts
    };
    assert_eq!(in_flight_pkts(SackedRetransmissions::Arrived), 3);
    assert_eq!(in_flight_pkts(SackedRetransmissions::InFlight), 4);
}

/// Of what left in the first recovery, one is lost, and three above it are SACKed when the recovery
/// ends.
#[test]
fn the_next_recovery_begins_at_once_or_with_three_duplicates() {
    let state = |next_recovery, rest: &str| {
        let config = Config {
            next_recovery,
            ..fixed()
        };
        let script = "80  < ack 1 sack 1001-9001
                      80  > 1:1001 ack 1
                      80  > 10001:11001 ack 1
                      80  > 11001:12001 ack 1
                      80  > 12001:13001 ack 1
                      120 < ack 1 sack 11001-13001 1001-9001
                      120 > 13001:14001 ack 1
                      120 > 14001:15001 ack 1
                      160 < ack 1 sack 11001-15001 1001-9001
                      160 > 9001:10001 ack 1
                      160 > 10001:11001 ack 1
                      160 > 15001:16001 ack 1
                      160 > 16001:17001 ack 1
                      200 < ack 10001 sack 11001-15001
                      200 > 17001:18001 ack 1";
        client(&config, &ten_out(&format!("{script}{rest}")))
            .readings()
            .state
    };
    assert_eq!(state(NextRecovery::Losses, ""), CongestionState::Recovery);
    // In Open the window grows by a packet.
    let after = |count| {
        let duplicates = "\n210 < ack 10001 sack 11001-15001".repeat(count);
        let rest = format!("\n200 > 18001:19001 ack 1{duplicates}");
        state(NextRecovery::Duplicates, &rest)
    };
    assert_eq!(after(0), CongestionState::Disorder);
    assert_eq!(after(2), CongestionState::Disorder);
    assert_eq!(after(3), CongestionState::Recovery);
}

/// 4 and 5 were SACKed. With their SACKs forgotten they are sent again in their turn.
#[test]
fn after_a_timeout_what_was_sacked_is_sent_again_if_sacks_are_forgotten() {
    let repaired = |timeout_marks, from: u64| {
        let config = Config {
            timeout_marks,
            limited_transmit: false,
            ..fixed()
        };
        let sent: Vec<_> = (0..4)
            .map(|i| format!("360 > {}:{} ack 1", from + i * 1000, from + (i + 1) * 1000))
            .collect();
        client(
            &config,
            &ten_out(&format!(
                "80  < ack 1 sack 3001-5001
                 280 > 1:1001 ack 1
                 320 < ack 1001
                 320 > 1001:2001 ack 1
                 320 > 2001:3001 ack 1
                 360 < ack 3001
                 {}",
                sent.join("\n")
            )),
        );
    };
    repaired(TimeoutMarks::All, 3001);
    repaired(TimeoutMarks::Unsacked, 5001);
    repaired(TimeoutMarks::Overdue, 5001);
}

/// RACK leaves out what was sent less than an RTT before the timeout: here 10 and 11, which
/// limited transmit sent at 270 ms.
#[test]
fn a_timeout_marks_what_is_overdue_or_all_that_is_not_sacked() {
    let lost = |timeout_marks| {
        let config = Config {
            timeout_marks,
            ..fixed()
        };
        let endpoint = client(
            &config,
            &ten_out(
                "270 < ack 1 sack 3001-5001
                 270 > 10001:11001 ack 1
                 270 > 11001:12001 ack 1
                 280 > 1:1001 ack 1",
            ),
        );
        endpoint.readings().lost_pkts
    };
    assert_eq!(lost(TimeoutMarks::Overdue), 8);
    assert_eq!(lost(TimeoutMarks::Unsacked), 10);
    assert_eq!(lost(TimeoutMarks::All), 12);
}

/// The recovery of 1 to 3 has a threshold of 5 and a window below that when the timeout comes.
#[test]
fn a_timeout_within_a_recovery_is_a_loss_of_its_own_in_ns3() {
    let threshold = |timeout_cuts_again| {
        let config = Config {
            timeout_cuts_again,
            ..fixed()
        };
        let endpoint = client(
            &config,
            &ten_out(
                "80  < ack 1 sack 3001-10001
                 80  > 1:1001 ack 1
                 80  > 1001:2001 ack 1
                 80  > 2001:3001 ack 1
                 80  > 10001:11001 ack 1
                 80  > 11001:12001 ack 1
                 320 > 1:1001 ack 1",
            ),
        );
        assert_eq!(endpoint.statistics().rtos, 1);
        endpoint.readings().ssthresh_pkts
    };
    assert_eq!((threshold(false), threshold(true)), (5, 2));
}

/// Partial acknowledgments at 120 and 160 ms; the timeout is 240 ms.
#[test]
fn only_the_first_partial_acknowledgment_restarts_the_timer_of_an_impatient_sender() {
    let timeout = |impatient| {
        let config = Config {
            impatient,
            ..fixed()
        };
        client(
            &config,
            &ten_out(
                "80  < ack 1 sack 4001-10001
                 80  > 1:1001 ack 1
                 80  > 1001:2001 ack 1
                 80  > 2001:3001 ack 1
                 80  > 3001:4001 ack 1
                 80  > 10001:11001 ack 1
                 120 < ack 1001
                 120 > 11001:12001 ack 1
                 160 < ack 2001
                 160 > 12001:13001 ack 1",
            ),
        )
        .next_timeout()
    };
    assert_eq!(timeout(true), Some(at(360)));
    assert_eq!(timeout(false), Some(at(400)));
}

/// An acknowledgment of 1 that left before that of 3 and arrives behind it, with SACKs of 5 to 7
/// that the other did not have.
fn after_an_old_acknowledgment(old_acks: OldAcks, rest: &str) -> backlane_tcp::Connection {
    let config = Config {
        old_acks,
        ..fixed()
    };
    client(
        &config,
        &ten_out(&format!(
            "80  < ack 3001
             80  > 10001:11001 ack 1
             80  > 11001:12001 ack 1
             80  > 12001:13001 ack 1
             80  > 13001:14001 ack 1
             80  > 14001:15001 ack 1
             80  > 15001:16001 ack 1
             81  < ack 1001 sack 5001-8001
             {rest}"
        )),
    )
}

#[test]
fn an_old_acknowledgment_reveals_a_loss_or_marks_the_scoreboard_or_does_nothing() {
    let endpoint = after_an_old_acknowledgment(
        OldAcks::Recovery,
        "81 > 3001:4001 ack 1\n81 > 4001:5001 ack 1",
    );
    assert_eq!(endpoint.readings().state, CongestionState::Recovery);

    let more = "81 > 16001:17001 ack 1
                81 > 17001:18001 ack 1
                81 > 18001:19001 ack 1";
    let endpoint = after_an_old_acknowledgment(OldAcks::Scoreboard, more);
    let readings = endpoint.readings();
    assert_eq!(
        (readings.sacked_pkts, readings.lost_pkts, readings.state),
        (3, 0, CongestionState::Disorder)
    );

    let readings = after_an_old_acknowledgment(OldAcks::Nothing, "").readings();
    assert_eq!(
        (readings.sacked_pkts, readings.state),
        (0, CongestionState::Open)
    );
}

/// The clock reads 80 and 40 ms where 40.7 ms have passed: ns-3 takes 40 ms. The next one covers a
/// segment that was sent twice, which is no sample for it.
#[test]
fn samples_of_ns3_are_whole_ticks_of_segments_sent_once() {
    let srtt = |rtt_samples, rest: &str| {
        let config = Config {
            rtt_samples,
            timestamps: true,
            ..fixed()
        };
        let endpoint = client(
            &config,
            &ten_out(&format!("80.7 < ack 1001 ecr 40\n{rest}")),
        );
        endpoint.readings().srtt
    };
    let new = "80.7 > 10001:11001 ack 1\n80.7 > 11001:12001 ack 1";
    assert_eq!(srtt(RttSamples::Advancing, new), Duration::from_millis(40));
    // 40 + 0.7 / 8.
    assert_eq!(
        srtt(RttSamples::Segments, new),
        Duration::from_micros(40_087)
    );
    let again = format!(
        "{new}
         81  < ack 1001 sack 2001-5001 ecr 40
         81  > 1001:2001 ack 1
         81  > 12001:13001 ack 1
         141 < ack 5001 ecr 81"
    );
    let repaired = |rtt_samples| srtt(rtt_samples, &again);
    assert_eq!(repaired(RttSamples::Advancing), Duration::from_millis(40));
    // (7 · 40 + 60) / 8.
    assert_eq!(
        repaired(RttSamples::Timestamps),
        Duration::from_micros(42_500)
    );
}

#[test]
fn the_first_segment_is_acknowledged_at_once_and_then_every_second() {
    let config = Config {
        quick_ack: false,
        acks_first_at_once: true,
        ..config()
    };
    server(
        &config,
        "0   < S 0
         0   > S 0 ack 1
         40  < ack 1
         40  < 1:1001 ack 1
         40  > ack 1001
         41  < 1001:2001 ack 1
         42  < 2001:3001 ack 1
         42  > ack 3001",
    );
}

/// One packet is out of a window of ten: only ns-3 lets the window grow.
#[test]
fn a_window_that_was_not_used_grows_only_without_validation() {
    let window = |window_validation| {
        let config = Config {
            window_validation,
            growth: Growth::Acknowledgments,
            ..fixed()
        };
        let endpoint = client(
            &config,
            "0   > S 0
             0   write 1000
             40  < S 0 ack 1
             40  > ack 1
             40  > 1:1001 ack 1
             80  < ack 1001",
        );
        endpoint.readings().cwnd_pkts
    };
    assert_eq!((window(true), window(false)), (10, 11));
}

#[test]
fn two_lost_syns_leave_a_window_of_one_packet_but_not_in_ns3() {
    let window = |lost_syns_reduce_window| {
        let config = Config {
            lost_syns_reduce_window,
            ..fixed()
        };
        let endpoint = client(
            &config,
            "0    > S 0
             1000 > S 0
             3000 > S 0
             3040 < S 0 ack 1
             3040 > ack 1",
        );
        endpoint.readings().cwnd_pkts
    };
    assert_eq!((window(true), window(false)), (1, 10));
}

/// Linux 4.4 with the timestamps of the scripts off.
fn linux_4_4() -> Config {
    Config {
        reordering: Reordering::Linux44,
        tail_loss_probe: false,
        ..config()
    }
}

/// Forward acknowledgment: one SACK of 4 makes four segments of which the first is lost (4 > 3),
/// where RACK of today waits for three, or for time to pass.
#[test]
fn in_linux_4_4_a_hole_of_three_is_enough_for_a_first_loss() {
    let endpoint = client(
        &linux_4_4(),
        &ten_out(
            "80  < ack 1 sack 3001-4001
             80  > 1:1001 ack 1",
        ),
    );
    let readings = endpoint.readings();
    assert_eq!(
        (readings.state, readings.lost_pkts, readings.ssthresh_pkts),
        (CongestionState::Recovery, 1, 5)
    );
}

/// The retransmission of 1 is lost; what was sent after it arrives, and RACK finds it without the
/// timeout, as it finds 2, which counting leaves out.
#[test]
fn in_linux_4_4_rack_finds_a_lost_retransmission() {
    let endpoint = client(
        &linux_4_4(),
        &ten_out(
            "80  < ack 1 sack 1001-4001
             80  > 1:1001 ack 1
             80  > 10001:11001 ack 1
             83  < ack 1 sack 1001-10001
             83  > 11001:12001 ack 1
             83  > 12001:13001 ack 1
             83  > 13001:14001 ack 1
             123 < ack 1 sack 1001-14001
             123 > 1:1001 ack 1
             123 > 14001:15001 ack 1
             123 > 15001:16001 ack 1
             123 > 16001:17001 ack 1
             123 > 17001:18001 ack 1",
        ),
    );
    assert_eq!(endpoint.statistics().rtos, 0);
    assert_eq!(endpoint.statistics().retransmits, 2);
}

/// 5 arrives behind 9, and had not been repeated: the threshold is five.
#[test]
fn in_linux_4_4_the_threshold_grows_with_the_reordering_seen() {
    let endpoint = client(
        &linux_4_4(),
        &ten_out(
            "80  < ack 1 sack 8001-9001
             80  > 1:1001 ack 1
             81  < ack 1 sack 4001-5001 8001-9001
             81  > 1001:2001 ack 1",
        ),
    );
    assert_eq!(endpoint.readings().reordering_pkts, 5);
}

/// The stack of 2.6 whose protection against reordering is taken out: 1 was late, not lost, and
/// arrives after the fourth segment was SACKed. Protected, the reduction is undone by the timestamp,
/// and the threshold grows to what the path shows.
#[test]
fn without_protection_the_threshold_stays_and_no_reduction_is_undone() {
    let after = |reordering| {
        let config = Config {
            reordering,
            tail_loss_probe: false,
            timestamps: true,
            timestamp_tick: Duration::from_millis(1),
            ..config()
        };
        let mut endpoint = backlane_tcp::Connection::connect(&config, SimTime::ZERO);
        let mut exchange = |ms: u64, segment: Option<backlane_tcp::Segment>| {
            if let Some(segment) = segment {
                endpoint.on_segment(at(ms), &segment);
            }
            while endpoint.poll_transmit(at(ms)).is_some() {}
        };
        let ack = |ack, sack: Option<(u64, u64)>| {
            let mut segment = backlane_tcp::Segment {
                seq: 1,
                ack,
                window_bytes: 1_000_000,
                ts_val: 1,
                ts_ecr: 40_000,
                flags: backlane_tcp::Flags::ACK,
                ..Default::default()
            };
            if let Some((start, end)) = sack {
                segment
                    .sack
                    .push(ack, backlane_tcp::SackBlock { start, end });
            }
            Some(segment)
        };
        exchange(0, None);
        let syn = backlane_tcp::Segment {
            ack: 1,
            window_bytes: 1_000_000,
            ts_val: 1,
            flags: backlane_tcp::Flags::SYN | backlane_tcp::Flags::ACK,
            ..Default::default()
        };
        exchange(40, Some(syn));
        endpoint.write(100_000);
        let mut exchange = |ms: u64, segment: Option<backlane_tcp::Segment>| {
            if let Some(segment) = segment {
                endpoint.on_segment(at(ms), &segment);
            }
            while endpoint.poll_transmit(at(ms)).is_some() {}
        };
        exchange(40, None);
        exchange(80, ack(1, Some((3001, 4001))));
        exchange(85, ack(1, Some((1001, 4001))));
        exchange(86, ack(4001, None));
        exchange(90, ack(10_001, None));
        exchange(130, ack(14_001, None));
        (endpoint.statistics().undos, endpoint.readings())
    };
    let (undos, protected) = after(Reordering::LinuxLegacy);
    assert!(undos > 0 && protected.ssthresh_pkts > 5, "{protected:?}");
    let (undos, unprotected) = after(Reordering::LinuxUnprotected);
    assert_eq!((undos, unprotected.ssthresh_pkts), (0, 5));
    assert_eq!(unprotected.reordering_pkts, 3);
}

/// 1 arrives behind 10: the threshold is ten. The acknowledgment that shows it releases ten segments,
/// and three where bursts are limited to that; the window falls to what is then in flight.
#[test]
fn an_acknowledgment_in_disorder_releases_the_threshold_or_three_segments() {
    let window = |burst_limit, released: u64| {
        let config = Config {
            reordering: Reordering::LinuxLegacy,
            tail_loss_probe: false,
            duplicate_threshold: 6,
            burst_limit,
            ..config()
        };
        let sent: Vec<_> = (0..released)
            .map(|i| format!("81 > {}:{} ack 1", 11_001 + i * 1000, 12_001 + i * 1000))
            .collect();
        let endpoint = client(
            &config,
            &ten_out(&format!(
                "80  < ack 1 sack 1001-2001
                 80  > 10001:11001 ack 1
                 81  < ack 8001 sack 9001-10001
                 {}",
                sent.join("\n")
            )),
        );
        endpoint.readings().cwnd_pkts
    };
    assert_eq!(window(BurstLimit::Threshold, 10), 12);
    assert_eq!(window(BurstLimit::Three, 3), 5);
}
