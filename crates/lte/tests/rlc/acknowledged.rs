//! Acknowledged mode.

use backlane_lte::rlc::{AmConfig, Direction, Pdu, PollRetransmission, RlcConfig, RlcMode};
use backlane_param::OrInfinite;
use backlane_units::{Bytes, Duration, SimTime};
use proptest::prelude::*;

use crate::air::{Air, BOTH, Weather, at_ms, index, lena};

/// The defaults, and no end to retransmissions.
fn endless() -> AmConfig {
    AmConfig {
        max_retransmissions: OrInfinite::Infinite,
        ..AmConfig::default()
    }
}

/// Sends `packets` in both directions, a few each TTI, and runs until all have arrived.
fn deliver_all(config: AmConfig, weather: Weather, packets: u32, seed: u64) -> Air {
    let mut air = Air::new(config, seed);
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
        poll_pdus in prop_oneof![Just(OrInfinite::Infinite), (1u32..64).prop_map(OrInfinite::Value)],
        t_status_prohibit_ms in 0u64..60,
    ) {
        let config = AmConfig {
            poll_pdus,
            t_status_prohibit: Duration::from_millis(t_status_prohibit_ms),
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
        let mut air = Air::new(endless(), seed);
        for number in 0..12 {
            air.push(Direction::Down, number, 500 + 97 * number);
        }
        // One large block is lost; what repeats it is small.
        let lost = air.fill(Direction::Down, 9000);
        prop_assert_eq!(lost.len(), 1);
        let weather = Weather { grant_bytes_max: small, loss_percent: 20, harq_max: 2 };
        // With the smallest grants this takes minutes, since each STATUS PDU names few gaps.
        let mut progress = (0, 0);
        while air.delivered[0].len() < 12 {
            air.step(weather);
            let bytes = air.bearer.counters(Direction::Down).retransmitted_bytes;
            if bytes > progress.0 {
                progress = (bytes, air.now_ms);
            }
            prop_assert!(air.now_ms < progress.1 + 5_000, "no progress");
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
    assert_eq!(air.bearer.next_deadline(), SimTime::MAX);
    for direction in BOTH {
        assert!(air.bearer.status(direction, air.now()).is_empty());
    }
}

/// Whether a STATUS PDU about the data sent down waits to be sent up.
fn report_is_due(air: &Air) -> bool {
    air.bearer.status(Direction::Up, air.now()).status_bytes > 0
}

/// A bearer whose first `packets` of 1000 bytes, PDCP included, wait to go down.
fn loaded(config: impl Into<RlcConfig>, packets: u32) -> Air {
    let mut air = Air::new(config, 1);
    for number in 0..packets {
        air.push(Direction::Down, number, 998);
    }
    air
}

/// The grant that takes one packet of 1000 bytes.
const ONE: u32 = 3 + 2 + 1000;

/// A timer that polls and nothing else but the last PDU does.
fn quiet() -> AmConfig {
    AmConfig {
        poll_pdus: OrInfinite::Infinite,
        poll_bytes: OrInfinite::Infinite,
        ..AmConfig::default()
    }
}

#[test]
fn the_pdu_after_which_a_report_is_asked_for_is_counted_in_pdus_or_bytes_or_is_the_last() {
    let polls = |config: RlcConfig| -> Vec<u32> {
        let mut air = loaded(config, 12);
        let mut at = Vec::new();
        for number in 1..=12 {
            let pdus = air.fill(Direction::Down, ONE);
            air.arrive(Direction::Down, &pdus);
            air.now_ms += 40;
            if report_is_due(&air) {
                at.push(number);
                air.fill(Direction::Up, 100);
            }
        }
        at
    };
    assert_eq!(polls(quiet().into()), [12]);
    let pdus = AmConfig {
        poll_pdus: OrInfinite::Value(5),
        ..quiet()
    };
    assert_eq!(polls(pdus.into()), [5, 10, 12]);
    let bytes = AmConfig {
        poll_bytes: OrInfinite::Value(Bytes::new(2001)),
        ..quiet()
    };
    assert_eq!(polls(bytes.into()), [3, 6, 9, 12]);
    assert!(polls(lena()).into_iter().eq(1..=12));
}

#[test]
fn a_poll_is_answered_when_all_before_it_has_arrived_or_was_waited_for() {
    let mut air = loaded(AmConfig::default(), 2);
    let first = air.fill(Direction::Down, ONE);
    let second = air.fill(Direction::Down, ONE);
    air.arrive(Direction::Down, &second);
    assert!(!report_is_due(&air), "the first may still be in HARQ");
    air.now_ms = 34;
    air.arrive(Direction::Down, &first);
    assert!(report_is_due(&air));
    assert_eq!(air.numbers(Direction::Down), [0, 1]);
}

#[test]
fn a_missing_pdu_is_reported_when_the_reordering_timer_expires_and_sent_again_first() {
    let mut air = loaded(AmConfig::default(), 3);
    air.fill(Direction::Down, ONE);
    let second = air.fill(Direction::Down, ONE);
    air.now_ms = 10;
    air.arrive(Direction::Down, &second);
    assert_eq!(air.bearer.next_deadline(), at_ms(45));
    air.now_ms = 44;
    air.run_timers();
    assert!(!report_is_due(&air));
    air.now_ms = 45;
    air.run_timers();
    assert!(report_is_due(&air));
    let status = air.fill(Direction::Up, 100);
    air.arrive(Direction::Up, &status);
    let again = air.fill(Direction::Down, ONE);
    air.arrive(Direction::Down, &again);
    assert_eq!(air.numbers(Direction::Down), [0, 1]);
    let counters = air.bearer.counters(Direction::Down);
    assert_eq!(
        (counters.retransmitted_pdus, counters.retransmitted_bytes),
        (1, 1002)
    );
    assert_eq!(counters.status_pdus, 1);
}

#[test]
fn reports_keep_a_distance_of_the_prohibit_timer() {
    let config = AmConfig {
        poll_pdus: OrInfinite::Value(1),
        ..AmConfig::default()
    };
    let mut air = loaded(config, 3);
    let pdus = air.fill(Direction::Down, ONE);
    air.arrive(Direction::Down, &pdus);
    assert_eq!(air.fill(Direction::Up, 100).len(), 1);
    for at in [3, 9] {
        air.now_ms = at;
        let pdus = air.fill(Direction::Down, ONE);
        air.arrive(Direction::Down, &pdus);
        assert!(!report_is_due(&air));
        assert_eq!(air.bearer.next_deadline(), at_ms(20));
    }
    air.now_ms = 20;
    air.run_timers();
    assert!(report_is_due(&air));
    assert_eq!(air.fill(Direction::Up, 100).len(), 1);
    air.now_ms = 60;
    air.run_timers();
    assert!(!report_is_due(&air), "one report answers two polls");
}

#[test]
fn an_unanswered_poll_is_repeated_with_the_newest_pdu_or_as_lena_does_with_all() {
    for (poll_retransmission, pdus) in [
        (PollRetransmission::Newest, 1),
        (PollRetransmission::All, 3),
    ] {
        let config = AmConfig {
            poll_retransmission,
            ..AmConfig::default()
        };
        let mut air = loaded(config, 3);
        for _ in 0..3 {
            air.fill(Direction::Down, ONE);
        }
        assert_eq!(air.bearer.next_deadline(), at_ms(45));
        air.now_ms = 45;
        air.run_timers();
        let again = air.fill(Direction::Down, 9000);
        assert_eq!(again.len(), pdus);
        // The newest alone shows what is missing.
        air.arrive(Direction::Down, &again[pdus - 1..]);
        assert_eq!(air.delivered[0].len(), 0);
        assert!(!report_is_due(&air));
        air.now_ms = 80;
        air.run_timers();
        assert!(report_is_due(&air));
    }
}

#[test]
fn a_poll_that_was_answered_is_not_repeated() {
    let mut air = loaded(AmConfig::default(), 1);
    let pdus = air.fill(Direction::Down, ONE);
    air.arrive(Direction::Down, &pdus);
    let status = air.fill(Direction::Up, 100);
    assert_eq!(air.bearer.next_deadline(), at_ms(45));
    air.arrive(Direction::Up, &status);
    assert_eq!(air.bearer.next_deadline(), SimTime::MAX);
}

#[test]
fn a_sender_stops_at_512_unacknowledged_pdus_asks_and_goes_on_when_told() {
    let mut air = loaded(quiet(), 600);
    for number in 1..=512 {
        assert_eq!(air.bearer.next_deadline(), SimTime::MAX);
        let pdus = air.fill(Direction::Down, ONE);
        assert_eq!(pdus.len(), 1);
        air.arrive(Direction::Down, &pdus);
        assert_eq!(report_is_due(&air), number == 512);
    }
    let stalled = air.bearer.status(Direction::Down, air.now());
    assert!(stalled.is_empty() && stalled.header_bytes == 0);
    assert!(air.fill(Direction::Down, ONE).is_empty());
    assert_eq!(air.bearer.queue_pkts(Direction::Down), 88);
    let status = air.fill(Direction::Up, 100);
    air.arrive(Direction::Up, &status);
    assert_eq!(air.fill(Direction::Down, ONE).len(), 1);
}

#[test]
fn a_copy_is_not_delivered_again_and_its_poll_is_answered_at_once() {
    let mut air = loaded(AmConfig::default(), 2);
    let first = air.fill(Direction::Down, ONE);
    let second = air.fill(Direction::Down, ONE);
    air.arrive(Direction::Down, &second);
    assert!(!report_is_due(&air));
    // It is in the window and was received; the first is still waited for.
    air.arrive(Direction::Down, &second);
    assert!(report_is_due(&air));
    air.fill(Direction::Up, 100);
    air.now_ms = 30;
    air.arrive(Direction::Down, &first);
    air.fill(Direction::Up, 100);
    air.now_ms = 60;
    // It is behind the window: the report on it was lost.
    air.arrive(Direction::Down, &second);
    assert!(report_is_due(&air));
    assert_eq!(air.numbers(Direction::Down), [0, 1]);
}

#[test]
fn of_two_retransmissions_the_last_polls() {
    let mut air = loaded(quiet(), 3);
    air.fill(Direction::Down, ONE);
    air.fill(Direction::Down, ONE);
    let third = air.fill(Direction::Down, ONE);
    air.arrive(Direction::Down, &third);
    air.now_ms = 35;
    air.run_timers();
    let status = air.fill(Direction::Up, 100);
    air.arrive(Direction::Up, &status);
    air.now_ms = 60;
    for polls in [false, true] {
        let again = air.fill(Direction::Down, ONE);
        air.arrive(Direction::Down, &again);
        assert_eq!(report_is_due(&air), polls);
    }
}

#[test]
fn an_unanswered_poll_is_repeated_with_what_is_next_if_there_is_something() {
    let mut air = loaded(quiet(), 1);
    let first = air.fill(Direction::Down, ONE);
    air.arrive(Direction::Down, &first);
    // The answer is lost.
    air.fill(Direction::Up, 100);
    for number in 1..10 {
        air.push(Direction::Down, number, 998);
    }
    air.now_ms = 45;
    air.run_timers();
    assert!(air.fill(Direction::Down, 5).is_empty(), "no room for it");
    for polls in [true, false] {
        let next = air.fill(Direction::Down, ONE);
        assert_eq!(next.len(), 1);
        air.arrive(Direction::Down, &next);
        assert_eq!(report_is_due(&air), polls);
        air.fill(Direction::Up, 100);
        air.now_ms += 20;
    }
    assert_eq!(air.bearer.counters(Direction::Down).retransmitted_pdus, 0);
}

/// A PDU with four packets of 100 bytes was lost and reported, and is sent again in three
/// segments of 150, 150 and 100 bytes.
fn segmented() -> (Air, [Vec<Pdu>; 3]) {
    let mut air = Air::new(quiet(), 1);
    for number in 0..5 {
        air.push(Direction::Down, number, 98);
    }
    air.fill(Direction::Down, 410);
    let last = air.fill(Direction::Down, 9000);
    air.arrive(Direction::Down, &last);
    air.now_ms = 35;
    air.run_timers();
    let status = air.fill(Direction::Up, 100);
    air.arrive(Direction::Up, &status);
    let segments = [156, 156, 104].map(|bytes| {
        let pdus = air.fill(Direction::Down, 3 + bytes);
        assert_eq!(pdus[0].bytes(), bytes);
        pdus
    });
    (air, segments)
}

#[test]
fn a_packet_is_delivered_as_soon_as_its_bytes_have_arrived_in_sequence_and_not_before() {
    let deliveries = |order: [usize; 3]| {
        let (mut air, segments) = segmented();
        order.map(|segment| {
            air.arrive(Direction::Down, &segments[segment]);
            air.numbers(Direction::Down).len()
        })
    };
    assert_eq!(deliveries([0, 1, 2]), [1, 3, 5]);
    assert_eq!(deliveries([1, 0, 2]), [0, 3, 5]);
    assert_eq!(deliveries([2, 0, 1]), [0, 1, 5]);
    assert_eq!(deliveries([2, 1, 0]), [0, 0, 5]);
    assert_eq!(deliveries([0, 0, 2]), [1, 1, 1]);
}

#[test]
fn bytes_that_wait_to_be_sent_again_are_not_put_in_line_twice() {
    let mut air = Air::new(quiet(), 1);
    for number in 0..5 {
        air.push(Direction::Down, number, 98);
    }
    air.fill(Direction::Down, 410);
    let last = air.fill(Direction::Down, 9000);
    air.arrive(Direction::Down, &last);
    air.now_ms = 35;
    air.run_timers();
    let status = air.fill(Direction::Up, 100);
    air.arrive(Direction::Up, &status);
    air.arrive(Direction::Up, &status);
    // A segment of it is lost; what the report then adds is that segment alone.
    assert_eq!(air.fill(Direction::Down, 3 + 156).len(), 1);
    air.arrive(Direction::Up, &status);
    let sizes: Vec<u32> = air
        .fill(Direction::Down, 9000)
        .iter()
        .map(Pdu::bytes)
        .collect();
    assert_eq!(sizes, [7 + 250, 6 + 150]);
}

#[test]
fn the_link_has_failed_when_a_pdu_was_retransmitted_as_often_as_is_allowed_and_in_vain() {
    for max in [1, 4, 8] {
        let config = AmConfig {
            max_retransmissions: OrInfinite::Value(max),
            ..AmConfig::default()
        };
        let mut air = loaded(config, 1);
        air.fill(Direction::Down, ONE);
        let mut sent = 0;
        while !air.bearer.has_failed() {
            air.now_ms += 1;
            air.run_timers();
            if !air.bearer.has_failed() {
                sent += air.fill(Direction::Down, ONE).len();
            }
        }
        assert_eq!(sent, max as usize);
        assert_eq!(air.now_ms, 45 * (u64::from(max) + 1));
        air.reestablish();
        assert!(!air.bearer.has_failed());
        assert_eq!(air.fill(Direction::Down, ONE).len(), 1);
    }
}

#[test]
fn lena_never_gives_a_link_up() {
    let mut air = loaded(lena(), 1);
    for _ in 0..200 {
        assert_eq!(air.fill(Direction::Down, ONE).len(), 1);
        air.now_ms += 20;
        air.run_timers();
        assert!(!air.bearer.has_failed());
    }
}

#[test]
fn without_segments_a_pdu_that_no_longer_fits_stops_everything_as_in_lena() {
    let delivered = |config: RlcConfig| {
        let mut air = loaded(config, 6);
        // A block of five packets is lost. From now on a block holds less than half of it.
        air.fill(Direction::Down, 5100);
        let weather = Weather {
            grant_bytes_max: 2500,
            loss_percent: 0,
            harq_max: 0,
        };
        for number in 6..20 {
            air.push(Direction::Down, number, 998);
        }
        while air.now_ms < 5000 {
            air.step(weather);
        }
        air.delivered[0].len()
    };
    assert_eq!(delivered(lena()), 0);
    let mut cutting = lena();
    if let RlcMode::Am(config) = &mut cutting.mode {
        config.resegmentation = true;
    }
    assert_eq!(delivered(cutting), 20);
    assert_eq!(delivered(RlcConfig::default()), 20);
}

#[test]
fn a_reordering_timer_shorter_than_harq_repeats_what_is_not_lost() {
    let retransmitted = |config: RlcConfig| {
        let mut air = Air::new(config, 3);
        let weather = Weather {
            grant_bytes_max: 3000,
            loss_percent: 0,
            harq_max: 3,
        };
        for number in 0..300 {
            air.push(Direction::Down, number, 998);
        }
        while air.delivered[0].len() < 300 {
            air.step(weather);
        }
        air.bearer.counters(Direction::Down).retransmitted_pdus
    };
    assert_eq!(retransmitted(RlcConfig::default()), 0);
    assert!(retransmitted(lena()) > 10);
}

#[test]
fn lenas_report_takes_a_whole_block() {
    for (config, pdus) in [(lena(), 1), (RlcConfig::default(), 2)] {
        let mut air = loaded(config, 1);
        air.push(Direction::Up, 7, 50);
        let down = air.fill(Direction::Down, ONE);
        air.arrive(Direction::Down, &down);
        let up = air.fill(Direction::Up, 100);
        assert_eq!(up.len(), pdus);
        assert!(matches!(up[0], Pdu::Status(_)));
    }
}

#[test]
fn a_report_that_does_not_fit_tells_of_the_oldest_first_and_acknowledges_no_further() {
    let mut air = loaded(AmConfig::default(), 8);
    let mut pdus: Vec<_> = (0..8).map(|_| air.fill(Direction::Down, ONE)).collect();
    air.arrive(Direction::Down, &pdus.pop().unwrap());
    air.now_ms = 35;
    air.run_timers();
    // Seven NACKs have 99 bits; seven bytes hold three.
    assert_eq!(air.bearer.status(Direction::Up, air.now()).status_bytes, 13);
    let status = air.fill(Direction::Up, 3 + 7);
    assert_eq!(status[0].bytes(), 7);
    air.arrive(Direction::Up, &status);
    let again = air.fill(Direction::Down, 9000);
    assert_eq!(again.len(), 3);
    air.arrive(Direction::Down, &again);
    assert_eq!(air.numbers(Direction::Down), [0, 1, 2]);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]

    #[test]
    fn nothing_is_lost_or_repeated_when_the_bearer_starts_anew_again_and_again(seed in any::<u64>()) {
        let mut air = Air::new(endless(), seed);
        let weather = Weather { grant_bytes_max: 4000, loss_percent: 20, harq_max: 3 };
        for number in 0..200 {
            air.push(Direction::Down, number, 1 + number * 7);
        }
        while air.delivered[0].len() < 200 {
            air.step(weather);
            if air.dice.chance(2) {
                air.reestablish();
            }
            prop_assert_eq!(air.held_pkts() + air.delivered[0].len(), 200);
            prop_assert!(air.now_ms < 100_000, "no progress");
        }
        prop_assert!(air.numbers(Direction::Down).into_iter().eq(0..200));
    }
}
