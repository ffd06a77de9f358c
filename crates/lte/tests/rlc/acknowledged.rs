//! Acknowledged mode.

use backlane_lte::rlc::{AmConfig, Direction, RlcConfig};
use proptest::prelude::*;

use crate::air::{Air, BOTH, Weather, index};

/// The defaults, and no end to retransmissions.
fn endless() -> AmConfig {
    AmConfig {
        max_retransmissions: None,
        ..AmConfig::default()
    }
}

/// Sends `packets` in both directions, a few each TTI, and runs until all have arrived.
fn deliver_all(config: AmConfig, weather: Weather, packets: u32, seed: u64) -> Air {
    let mut air = Air::new(RlcConfig::Am(config), seed);
    let mut pushed = [0; 2];
    while air
        .delivered
        .iter()
        .any(|done| done.len() < packets as usize)
    {
        for direction in BOTH {
            let count = &mut pushed[index(direction)];
            for _ in 0..air.dice.below(4) {
                if *count < packets {
                    let bytes = 1 + air.dice.below(3000) as u32;
                    air.push(direction, *count, bytes);
                    *count += 1;
                }
            }
        }
        air.step(weather);
        assert!(air.now_ms < 600_000, "no progress");
    }
    for direction in BOTH {
        assert!(air.numbers(direction).into_iter().eq(0..packets));
    }
    assert_eq!(
        (air.held_pkts(), air.dropped.len(), air.lost.len()),
        (0, 0, 0)
    );
    air
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]

    #[test]
    fn every_packet_arrives_once_and_in_order_when_a_third_of_the_blocks_is_lost(
        seed in any::<u64>(),
        grant_bytes_max in prop_oneof![Just(10_000u64), 40u64..2000],
        harq_max in 0u64..4,
        poll_pdus in prop_oneof![Just(None), (1u32..64).prop_map(Some)],
        t_status_prohibit_ms in 0u64..60,
    ) {
        let config = AmConfig {
            poll_pdus,
            t_status_prohibit: backlane_units::Duration::from_millis(t_status_prohibit_ms),
            ..endless()
        };
        let weather = Weather { grant_bytes_max, loss_percent: 33, harq_max };
        deliver_all(config, weather, 150, seed);
    }

    #[test]
    fn grants_of_a_few_bytes_cut_retransmissions_into_segments_that_come_together(
        seed in any::<u64>(),
        small in 12u64..60,
    ) {
        let mut air = Air::new(RlcConfig::Am(endless()), seed);
        for number in 0..12 {
            air.push(Direction::Down, number, 500 + 97 * number);
        }
        // One large block is lost; what repeats it is small.
        let lost = air.fill(Direction::Down, 9000);
        prop_assert_eq!(lost.len(), 1);
        let weather = Weather { grant_bytes_max: small, loss_percent: 20, harq_max: 2 };
        while air.delivered[0].len() < 12 {
            air.step(weather);
            prop_assert!(air.now_ms < 200_000, "no progress");
        }
        prop_assert!(air.numbers(Direction::Down).into_iter().eq(0..12));
        let retransmitted = air.bearer.counters(Direction::Down).retransmitted_pdus;
        prop_assert!(retransmitted > 9000 / small, "{retransmitted}");
    }
}

#[test]
fn a_bearer_at_rest_has_no_timer_and_nothing_to_send() {
    let weather = Weather {
        grant_bytes_max: 5000,
        loss_percent: 30,
        harq_max: 3,
    };
    let mut air = deliver_all(endless(), weather, 100, 7);
    for _ in 0..2000 {
        air.step(weather);
    }
    assert_eq!(air.bearer.next_deadline(), backlane_units::SimTime::MAX);
    for direction in BOTH {
        assert!(air.bearer.status(direction, air.now()).is_empty());
    }
}
