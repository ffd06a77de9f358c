//! Links that carry what a trace says.

use std::collections::VecDeque;
use std::sync::Arc;

use backlane_engine::EventQueue;
use backlane_net::queue::CoDelConfig;
use backlane_net::testing::{Load, Script};
use backlane_net::{
    AtEnd, Capacity, FlowId, LinkConfig, Network, NodeId, Opportunities, OpportunityTrace, Packet,
    QueueConfig, QueueLimit, RateStep, RateTrace, Simulation, TracedConfig,
};
use backlane_units::{Duration, Rate, SimTime};
use proptest::prelude::*;

const MS: u64 = 1_000_000_000;
const UE: NodeId = NodeId(1);
const SERVER: NodeId = NodeId(2);

fn opportunities(times: &[(u32, u32)], at_end: AtEnd) -> Capacity {
    let times = times
        .iter()
        .map(|&(at_ms, count)| Opportunities { at_ms, count })
        .collect();
    Capacity::Opportunities(OpportunityTrace::new(times, at_end).unwrap())
}

fn rates(steps: &[(u64, u64)], period_ms: u64) -> Capacity {
    let step = |&(ms, bps): &(u64, u64)| RateStep {
        from: Duration::from_millis(ms),
        bps,
    };
    let steps = steps.iter().map(step).collect();
    let period = Duration::from_millis(period_ms);
    Capacity::Rates(RateTrace::new(steps, period, AtEnd::Repeat).unwrap())
}

const ENDLESS: QueueConfig = QueueConfig::DropTail(QueueLimit::Packets(u32::MAX));

/// A UE behind the trace on a router, a server on the router by a wire that takes next to no
/// time. Packets take 1 ms after the trace.
fn run(
    up: Capacity,
    down: Capacity,
    queue: &QueueConfig,
    sends: &[(u64, u32, bool)],
    until_ms: u64,
) -> Simulation<Script> {
    let mut simulation = prepared(up, down, queue, sends);
    simulation.run(SimTime::from_ps(until_ms * MS), |_, _| false);
    let held = simulation.held_pkts() as u64;
    let balance = simulation.network.balance();
    assert!(balance.holds() && balance.in_flight == held);
    simulation
}

fn prepared(
    up: Capacity,
    down: Capacity,
    queue: &QueueConfig,
    sends: &[(u64, u32, bool)],
) -> Simulation<Script> {
    let mut events = EventQueue::new();
    let mut network = Network::new();
    let router = network.add_router();
    let (ue, server) = (network.add_host(), network.add_host());
    assert_eq!((ue, server), (UE, SERVER));
    let wire = LinkConfig {
        rate: Rate::from_bps(8_000_000_000_000),
        delay: Duration::ZERO,
        queue: ENDLESS,
    };
    let config = |capacity| TracedConfig {
        capacity: Arc::new(capacity),
        origin: SimTime::ZERO,
        delay: Duration::from_millis(1),
        queue: queue.clone(),
    };
    network.attach_traced(&mut events, &[ue], router, &config(up), &config(down));
    network.attach(&mut events, server, router, &wire);
    let loads = sends.iter().zip(0..).map(|(&(ms, size, up), sequence)| {
        let (source, destination) = if up { (UE, SERVER) } else { (SERVER, UE) };
        let packet = Packet {
            sequence,
            ..Packet::new(FlowId(0), source, destination, size)
        };
        Load::once(SimTime::from_ps(ms * MS), packet)
    });
    let script = Script::new(&mut events, loads.collect());
    // Every packet leaves at the router that it comes to, which needs no protocol.
    Simulation::new(network, events, script, vec![None, None, None], Vec::new())
}

/// Bytes that arrived, down and up.
fn received_bytes(simulation: &Simulation<Script>) -> [u64; 2] {
    let mut bytes = [0, 0];
    for arrival in &simulation.application.arrivals {
        let packet = &arrival.packet;
        bytes[usize::from(packet.source == UE)] += u64::from(packet.size_bytes);
    }
    bytes
}

/// Arrival in whole milliseconds, the millisecond of delay taken off.
fn carried_ms(simulation: &Simulation<Script>) -> Vec<(u64, u64)> {
    let arrivals = simulation.application.arrivals.iter();
    arrivals
        .map(|arrival| (arrival.packet.sequence, arrival.at.as_ps() / MS - 1))
        .collect()
}

fn idle() -> Capacity {
    opportunities(&[(1000, 1)], AtEnd::Repeat)
}

#[test]
fn a_saturated_link_delivers_1500_bytes_for_each_line_of_its_trace() {
    let trace = [(0, 2), (3, 1), (4, 7), (40, 1), (41, 3), (100, 2)];
    let lines: u64 = trace.iter().map(|&(_, count)| u64::from(count)).sum();
    let sends = vec![(0, 1500, true); 100];
    let up = opportunities(&trace, AtEnd::Repeat);
    let simulation = run(up, idle(), &ENDLESS, &sends, 352);
    // The packets come at the instant of the first two opportunities and miss them. After that
    // three passes in full, and half a pass until 351 ms less the delay.
    let bytes = (3 * lines + 1 + 7 + 1 + 3) * 1500;
    assert_eq!(received_bytes(&simulation), [0, bytes]);
}

#[test]
fn unused_opportunities_are_lost() {
    let trace: Vec<(u32, u32)> = (1..=100).map(|ms| (ms, 1)).collect();
    let sends = [(50, 1500, true), (50, 1500, true), (70, 40, true)];
    let up = opportunities(&trace, AtEnd::Repeat);
    let simulation = run(up, idle(), &ENDLESS, &sends, 200);
    assert_eq!(carried_ms(&simulation), [(0, 51), (1, 52), (2, 71)]);
}

#[test]
fn a_large_packet_takes_several_opportunities_and_small_ones_share_one() {
    let up = opportunities(&[(10, 1), (20, 1), (30, 1), (50, 2)], AtEnd::Stop);
    let sends = [
        (1, 2000, true),
        (1, 500, true),
        (1, 500, true),
        (1, 700, true),
        (45, 1500, true),
    ];
    let simulation = run(up, idle(), &ENDLESS, &sends, 1000);
    // 1500 of the first at 10 ms; 500, 500 and 500 at 20 ms; 700 at 30 ms and its rest lost.
    assert_eq!(
        carried_ms(&simulation),
        [(0, 20), (1, 20), (2, 20), (3, 30), (4, 50)]
    );
}

#[test]
fn each_direction_has_its_own_trace() {
    let up = opportunities(&[(7, 1)], AtEnd::Repeat);
    let down = rates(&[(0, 12_000_000)], 10);
    let sends: Vec<_> = (0..40).map(|n| (0, 1500, n % 2 == 0)).collect();
    let simulation = run(up, down, &ENDLESS, &sends, 17);
    // 12 Mbit/s are a packet each millisecond from the first nanoseconds on, and 1 ms of delay.
    assert_eq!(received_bytes(&simulation), [15 * 1500, 2 * 1500]);
}

#[test]
fn a_saturated_link_carries_the_integral_of_its_rates() {
    let steps = [(0, 3_000_000), (15, 0), (40, 20_000_000), (41, 1_234_567)];
    let sends = vec![(0, 1400, true); 400];
    let simulation = run(rates(&steps, 60), idle(), &ENDLESS, &sends, 601);
    let link = &simulation.network.links()[0];
    let (capacity, _) = link.capacity().unwrap();
    let offered = capacity.offered_bytes(Duration::from_millis(600));
    let bits = 3_000 * 15 + 20_000 + 1_234_567 * 19 / 1000;
    assert_eq!(offered, bits * 10 / 8);
    let carried = received_bytes(&simulation)[1];
    assert!(offered - carried < 1400, "{carried} of {offered}");
}

#[test]
fn a_link_with_an_empty_queue_has_no_events() {
    let trace: Vec<(u32, u32)> = (1..=1000).map(|ms| (ms, 5)).collect();
    let up = opportunities(&trace, AtEnd::Repeat);
    let sends = [(5, 100, true), (90_000, 100, true)];
    let simulation = run(up, idle(), &ENDLESS, &sends, 100_000);
    assert_eq!(simulation.application.arrivals.len(), 2);
    // For each packet: it is sent, an opportunity comes, and it arrives twice.
    assert_eq!(simulation.events.fired(), 2 * 4);
}

#[test]
fn packets_left_at_the_end_of_a_trace_stay_and_fill_the_queue() {
    let queue = QueueConfig::DropTail(QueueLimit::Packets(3));
    let sends = vec![(2, 1500, true); 6];
    let up = opportunities(&[(1, 9), (5, 1)], AtEnd::Stop);
    let simulation = run(up, idle(), &queue, &sends, 1000);
    let balance = simulation.network.balance();
    let queued = (
        balance.delivered,
        balance.dropped_total(),
        balance.in_flight,
    );
    assert_eq!(queued, (1, 3, 2));
}

#[test]
fn codel_shortens_the_queue_before_a_slow_trace() {
    let delay_ms = |queue| {
        // Of twenty packets that come nineteen can leave.
        let sends: Vec<_> = (0..6000).map(|ms| (ms, 1500, true)).collect();
        let trace: Vec<(u32, u32)> = (2..=20).map(|ms| (ms, 1)).collect();
        let up = opportunities(&trace, AtEnd::Repeat);
        let simulation = run(up, idle(), &queue, &sends, 6000);
        let last = *carried_ms(&simulation).last().unwrap();
        last.1 - last.0
    };
    let codel = CoDelConfig {
        target: Duration::from_millis(5),
        interval: Duration::from_millis(100),
        ecn: false,
    };
    let limit = QueueLimit::Packets(u32::MAX);
    assert_eq!(delay_ms(ENDLESS) / 10, 30);
    assert!(delay_ms(QueueConfig::new(limit, codel)) < 60);
}

#[test]
fn a_failed_link_drops_its_packets_and_recovers() {
    let sends = [(1, 3000, true), (1, 1500, true), (50, 1500, true)];
    let up = opportunities(&[(10, 1), (20, 1)], AtEnd::Repeat);
    let mut simulation = prepared(up, idle(), &ENDLESS, &sends);
    let at = |ms: u64| SimTime::from_ps(ms * MS);
    simulation.run(at(15), |_, _| false);
    for up in [false, true] {
        let link = backlane_net::LinkId(0);
        simulation.set_link_up(link, up);
    }
    assert_eq!(simulation.network.balance().dropped_total(), 2);
    simulation.run(at(200), |_, _| false);
    assert_eq!(carried_ms(&simulation), [(2, 60)]);
}

/// What mm-link does, millisecond by millisecond and opportunity by opportunity: the end of a
/// pass is the beginning of the next, and what arrives in the millisecond of an opportunity has
/// missed it.
fn expected(trace: &[(u32, u32)], sends: &[(u64, u32, bool)], until_ms: u64) -> Vec<(u64, u64)> {
    let period = u64::from(trace.last().unwrap().0);
    let mut waiting: VecDeque<(u64, u32)> = VecDeque::new();
    let mut carried = Vec::new();
    let mut next_send = 0;
    for ms in 0..until_ms {
        let mut lines = 0;
        for &(at, count) in trace {
            let at = u64::from(at);
            let in_pass = ms % period == at % period && ms >= at;
            lines += if in_pass { count } else { 0 };
        }
        for _ in 0..lines {
            let mut left = 1500;
            while let Some((sequence, size)) = waiting.front_mut() {
                let used = left.min(*size);
                left -= used;
                *size -= used;
                if *size > 0 {
                    break;
                }
                carried.push((*sequence, ms));
                waiting.pop_front();
            }
        }
        while sends.get(next_send).is_some_and(|&(at, ..)| at == ms) {
            waiting.push_back((next_send as u64, sends[next_send].1));
            next_send += 1;
        }
    }
    carried
}

proptest! {
    #[test]
    fn any_packets_over_any_trace_leave_when_mahimahis_rules_say(
        gaps in prop::collection::vec((1u32..30, 1u32..4), 1..20),
        first_at_zero: bool,
        sends in prop::collection::vec((0u64..6, 40u32..4000), 1..80),
    ) {
        let mut at = 0;
        let mut trace: Vec<(u32, u32)> = Vec::new();
        for (index, (gap, count)) in gaps.into_iter().enumerate() {
            at += if index == 0 && first_at_zero { 0 } else { gap };
            trace.push((at, count));
        }
        prop_assume!(at > 0);
        let mut ms = 0;
        let sends: Vec<(u64, u32, bool)> = sends
            .into_iter()
            .map(|(gap, size)| {
                ms += gap;
                (ms, size, true)
            })
            .collect();
        let up = opportunities(&trace, AtEnd::Repeat);
        let simulation = run(up, idle(), &ENDLESS, &sends, 20_002);
        prop_assert_eq!(carried_ms(&simulation), expected(&trace, &sends, 20_001));
    }
}
