//! Unacknowledged mode.

use backlane_lte::rlc::{Direction, RlcConfig, UmConfig, UmSequenceNumber};
use backlane_net::PacketId;
use backlane_units::SimTime;
use proptest::prelude::*;

use crate::air::{Air, Weather, at_ms};

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]

    #[test]
    fn whole_packets_are_lost_and_the_others_arrive_once_and_in_order(
        seed in any::<u64>(),
        grant_bytes_max in prop_oneof![Just(10_000u64), 40u64..2000],
        harq_max in 0u64..4,
        short in any::<bool>(),
    ) {
        let sequence_number = if short { UmSequenceNumber::Bits5 } else { UmSequenceNumber::Bits10 };
        let config = UmConfig { sequence_number, ..UmConfig::default() };
        let mut air = Air::new(RlcConfig::from(config), seed);
        let weather = Weather { grant_bytes_max, loss_percent: 10, harq_max };
        let mut pushed = 0;
        while pushed < 400 || !air.bearer.status(Direction::Down, air.now()).is_empty() {
            for _ in 0..air.dice.below(4) {
                if pushed < 400 {
                    let bytes = 1 + air.dice.below(grant_bytes_max) as u32;
                    air.push(Direction::Down, pushed, bytes);
                    pushed += 1;
                }
            }
            air.step(weather);
        }
        for _ in 0..200 {
            air.step(weather);
        }
        let arrived = air.numbers(Direction::Down);
        prop_assert!(arrived.is_sorted_by(|a, b| a < b), "{arrived:?}");
        // A PDU a TTI: two HARQ retransmissions are as long as a window of 16, and what comes
        // later than that is discarded.
        let patient = !short || harq_max < 2;
        prop_assert!(arrived.len() > if patient { 200 } else { 20 }, "{}", arrived.len());
        // What nothing followed may still be held: no receiver knows that it is missing.
        prop_assert_eq!(arrived.len() + air.lost.len() + air.held_pkts(), 400);
        let mut all: Vec<u32> = air.lost.iter().map(|packet| packet.0).chain(arrived).collect();
        all.sort_unstable();
        prop_assert!(all.is_sorted_by(|a, b| a < b));
        prop_assert_eq!(air.bearer.counters(Direction::Down).losses, air.lost.len() as u64);
    }
}

fn loaded(packets: u32) -> Air {
    let mut air = Air::new(RlcConfig::from(UmConfig::default()), 1);
    for number in 0..packets {
        air.push(Direction::Down, number, 998);
    }
    air
}

#[test]
fn a_late_pdu_is_waited_for_until_the_reordering_timer_expires() {
    for late in [34, 36] {
        let mut air = loaded(3);
        let first = air.fill(Direction::Down, 1005);
        let second = air.fill(Direction::Down, 1005);
        air.arrive(Direction::Down, &second);
        assert_eq!(air.bearer.next_deadline(), at_ms(35));
        air.now_ms = late;
        air.run_timers();
        air.arrive(Direction::Down, &first);
        assert_eq!(air.bearer.next_deadline(), SimTime::MAX);
        let third = air.fill(Direction::Down, 1005);
        air.arrive(Direction::Down, &third);
        let arrived = if late < 35 { vec![0, 1, 2] } else { vec![1, 2] };
        assert_eq!(air.numbers(Direction::Down), arrived);
        assert_eq!(air.lost.len(), 3 - arrived.len());
        assert_eq!(air.bearer.next_deadline(), SimTime::MAX);
    }
}

#[test]
fn a_pdu_that_falls_out_of_the_window_is_not_waited_for() {
    for (sequence_number, window) in [
        (UmSequenceNumber::Bits5, 16),
        (UmSequenceNumber::Bits10, 512),
    ] {
        let config = UmConfig {
            sequence_number,
            ..UmConfig::default()
        };
        let mut air = Air::new(RlcConfig::from(config), 1);
        for number in 0..=window {
            air.push(Direction::Down, number, 98);
            let pdus = air.fill(Direction::Down, 9000);
            if number > 0 {
                assert_eq!(air.numbers(Direction::Down).len(), 0);
                air.arrive(Direction::Down, &pdus);
            }
        }
        assert!(air.numbers(Direction::Down).into_iter().eq(1..=window));
        assert_eq!(air.lost, [PacketId(0)]);
    }
}

#[test]
fn all_packets_that_a_lost_pdu_has_bytes_of_are_lost() {
    let mut air = loaded(4);
    // Packet 0 and half of 1; the other half, 2 and a byte of 3; the rest.
    let first = air.fill(Direction::Down, 3 + 4 + 1500);
    air.fill(Direction::Down, 3 + 5 + 1501);
    let third = air.fill(Direction::Down, 9000);
    air.arrive(Direction::Down, &first);
    air.arrive(Direction::Down, &third);
    assert_eq!(air.numbers(Direction::Down), [0]);
    air.now_ms = 35;
    air.run_timers();
    assert_eq!(air.numbers(Direction::Down), [0]);
    assert_eq!(air.lost, [1, 2, 3].map(PacketId));
}

#[test]
fn a_new_start_loses_what_was_begun_and_keeps_what_waits() {
    let mut air = loaded(5);
    let first = air.fill(Direction::Down, 1005);
    air.fill(Direction::Down, 1005);
    let third = air.fill(Direction::Down, 1005);
    air.fill(Direction::Down, 500);
    air.arrive(Direction::Down, &first);
    air.arrive(Direction::Down, &third);
    air.reestablish();
    // What came behind the gap is put together (TS 36.322 §5.4).
    assert_eq!(air.numbers(Direction::Down), [0, 2]);
    assert_eq!(air.lost, [1, 3].map(PacketId));
    let fifth = air.fill(Direction::Down, 9000);
    air.arrive(Direction::Down, &fifth);
    assert_eq!(air.numbers(Direction::Down), [0, 2, 4]);
}

#[test]
fn nothing_is_ever_reported() {
    let mut air = loaded(2);
    air.fill(Direction::Down, 1005);
    let second = air.fill(Direction::Down, 1005);
    air.arrive(Direction::Down, &second);
    air.now_ms = 100;
    air.run_timers();
    assert!(air.bearer.status(Direction::Up, air.now()).is_empty());
    assert!(!air.bearer.has_failed());
}
