//! The transmission buffer: limits, CoDel, the discard timer.

use backlane_lte::pdcp::PdcpConfig;
use backlane_lte::rlc::{Aqm, Direction, RlcConfig, UmConfig};
use backlane_net::PacketId;
use backlane_param::{BufferLimit, OrInfinite};
use backlane_units::{Bytes, Duration, SimTime};

use crate::air::{Air, UNLIMITED, Weather, at_ms, lena};

fn limited(limit: BufferLimit) -> Air {
    let rlc = RlcConfig {
        buffer: limit,
        ..RlcConfig::default()
    };
    Air::with(&rlc, &PdcpConfig::default(), 1)
}

fn unlimited() -> RlcConfig {
    RlcConfig {
        buffer: UNLIMITED,
        ..RlcConfig::default()
    }
}

fn dropped(air: &Air) -> Vec<u32> {
    air.dropped.iter().map(|packet| packet.0).collect()
}

#[test]
fn a_buffer_of_750_packets_drops_the_751st_and_does_not_count_the_one_begun() {
    let mut air = limited(BufferLimit::Packets(750));
    air.push(Direction::Down, 0, 1500);
    air.fill(Direction::Down, 500);
    for number in 1..=752 {
        air.push(Direction::Down, number, 1500);
    }
    assert_eq!(dropped(&air), [751, 752]);
    assert_eq!(air.bearer.queue_pkts(Direction::Down), 750);
    assert_eq!(air.bearer.held_pkts(Direction::Down), 751);
    assert_eq!(air.bearer.counters(Direction::Down).drops, 2);
    // The other direction has a buffer of its own.
    air.push(Direction::Up, 1000, 1500);
    assert_eq!(dropped(&air), [751, 752]);
}

#[test]
fn a_buffer_of_bytes_counts_pdcp_headers_and_lets_a_smaller_packet_in() {
    let mut air = limited(BufferLimit::Bytes(Bytes::new(3010)));
    for (number, bytes) in [(0, 1498), (1, 1498), (2, 1498), (3, 8)] {
        air.push(Direction::Down, number, bytes);
    }
    assert_eq!(dropped(&air), [2]);
    assert_eq!(air.bearer.queue_bytes(Direction::Down), 3010);
}

#[test]
fn a_buffer_of_time_is_full_while_its_oldest_packet_has_waited_for_longer() {
    let mut air = limited(BufferLimit::Time(Duration::from_millis(100)));
    air.push(Direction::Down, 0, 1498);
    air.now_ms = 100;
    air.push(Direction::Down, 1, 1498);
    air.now_ms = 101;
    air.push(Direction::Down, 2, 1498);
    assert_eq!(dropped(&air), [2]);
    // The oldest is begun: the next one has waited for a millisecond.
    air.fill(Direction::Down, 500);
    air.push(Direction::Down, 3, 1498);
    assert_eq!(dropped(&air), [2]);
    let status = air.bearer.status(Direction::Down, air.now());
    assert_eq!(status.head_delay, Duration::from_millis(1));
}

#[test]
fn lenas_buffer_does_not_hold_an_initial_window() {
    let mut air = Air::with(&lena(), &PdcpConfig::default(), 1);
    for number in 0..10 {
        air.push(Direction::Down, number, 1500);
    }
    assert_eq!(dropped(&air), [6, 7, 8, 9]);
}

#[test]
fn codel_drops_an_interval_after_the_sojourn_time_has_passed_its_target() {
    let rlc = RlcConfig {
        aqm: Aqm::CoDel {
            target: Duration::from_millis(5),
            interval: Duration::from_millis(100),
        },
        ..RlcConfig::from(UmConfig::default())
    };
    let mut air = Air::new(rlc, 1);
    for number in 0..400 {
        air.push(Direction::Down, number, 998);
    }
    // A packet a millisecond: the sojourn time passes 5 ms at 5 ms.
    let mut drop_times_ms = Vec::new();
    while air.bearer.queue_pkts(Direction::Down) > 0 {
        let before = air.dropped.len();
        let sent = air.fill(Direction::Down, 3 + 2 + 1000);
        assert_eq!(sent[0].bytes(), 1002);
        for _ in before..air.dropped.len() {
            drop_times_ms.push(air.now_ms);
        }
        air.now_ms += 1;
    }
    // RFC 8289 §5.6: 105 ms, then 100/√1, /√2, /√3 more, at whole milliseconds.
    assert_eq!(drop_times_ms[..4], [105, 205, 276, 334]);
    assert_eq!(
        air.bearer.counters(Direction::Down).drops,
        air.dropped.len() as u64
    );
}

#[test]
fn a_packet_is_discarded_when_its_timer_runs_out_unless_it_was_begun() {
    let pdcp = PdcpConfig {
        discard_timer: OrInfinite::Value(Duration::from_millis(150)),
        ..PdcpConfig::default()
    };
    let mut air = Air::with(&unlimited(), &pdcp, 1);
    for number in 0..3 {
        air.push(Direction::Down, number, 998);
    }
    air.now_ms = 100;
    air.push(Direction::Down, 3, 998);
    let begun = air.fill(Direction::Down, 500);
    assert_eq!(air.bearer.next_deadline(), at_ms(150));
    air.now_ms = 150;
    air.run_timers();
    assert_eq!(dropped(&air), [1, 2]);
    assert_eq!(air.bearer.next_deadline(), at_ms(250));
    // The rest of the first and the last go on.
    let rest = air.fill(Direction::Down, 9000);
    air.arrive(Direction::Down, &begun);
    air.arrive(Direction::Down, &rest);
    assert_eq!(air.numbers(Direction::Down), [0, 3]);
}

#[test]
fn what_was_sent_before_the_rest_was_discarded_is_still_asked_after() {
    let pdcp = PdcpConfig {
        discard_timer: OrInfinite::Value(Duration::from_millis(50)),
        ..PdcpConfig::default()
    };
    let clear = Weather {
        grant_bytes_max: 5000,
        loss_percent: 0,
        harq_max: 0,
    };
    for by_grant in [false, true] {
        let mut air = Air::with(&unlimited(), &pdcp, 1);
        air.push(Direction::Down, 0, 998);
        air.push(Direction::Down, 1, 998);
        // A PDU that does not poll, since another packet waits; it is lost, the other discarded,
        // by its timer or by a grant that comes for it at the same time.
        air.fill(Direction::Down, 3 + 2 + 1000);
        air.now_ms = 50;
        if by_grant {
            assert!(air.fill(Direction::Down, 5000).is_empty());
        }
        while air.delivered[0].is_empty() && air.now_ms < 1000 {
            air.step(clear);
        }
        assert_eq!(air.numbers(Direction::Down), [0]);
        assert_eq!(dropped(&air), [1]);
    }
}

#[test]
fn packets_that_wait_are_taken_out_in_order() {
    let mut air = Air::new(RlcConfig::from(UmConfig::default()), 1);
    for number in 0..5 {
        air.push(Direction::Down, number, 998);
    }
    air.fill(Direction::Down, 500);
    let mut packets = Vec::new();
    air.bearer.take_waiting(Direction::Down, &mut packets);
    assert_eq!(packets, [1, 2, 3, 4].map(PacketId));
    assert_eq!(air.bearer.held_pkts(Direction::Down), 1);
    assert_eq!(air.bearer.next_deadline(), SimTime::MAX);
}
