//! Unacknowledged mode.

use backlane_lte::rlc::{Direction, RlcConfig, UmConfig, UmSequenceNumber};
use proptest::prelude::*;

use crate::air::{Air, Weather};

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
        let mut air = Air::new(RlcConfig::Um(config), seed);
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
