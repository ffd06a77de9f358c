//! A medium between hosts and routers: what goes in comes out where it says, and is counted.

use std::any::Any;
use std::collections::VecDeque;

use backlane_engine::{EventQueue, TimerId};
use backlane_net::testing::{LineRouter, Load, Script};
use backlane_net::{
    AccessCounters, DropCause, Event, FlowId, LinkConfig, LinkId, Medium, MediumContext, MediumId,
    Network, NodeId, Packet, PacketId, QueueConfig, QueueLimit, Router, Simulation,
};
use backlane_units::{Duration, Rate, SimTime};

const AIR: Duration = Duration::from_millis(10);
const ENCAPSULATION_BYTES: u32 = 36;
const SIZE_BYTES: u32 = 1000;
const DELIVER: u32 = 0;
const HAND_OVER: u32 = 1;

/// Delays every packet by as much, and moves one host at a given time. What it still holds for
/// that host then, it sends back.
struct DelayLine {
    router: NodeId,
    handover: Option<(SimTime, NodeId)>,
    held: VecDeque<(SimTime, NodeId, PacketId)>,
    timer: Option<TimerId>,
    /// Gives up packets with these sequence numbers.
    loses: Vec<u64>,
    sent_back: usize,
}

impl Medium for DelayLine {
    fn start(&mut self, context: &mut MediumContext<'_>) {
        self.timer = Some(context.timer(DELIVER));
        if let Some((at, _)) = self.handover {
            let timer = context.timer(HAND_OVER);
            context.set_timer(timer, at);
        }
    }

    fn on_packet(&mut self, context: &mut MediumContext<'_>, node: NodeId, id: PacketId) {
        let packet = context.packet(id);
        assert_eq!(
            packet.size_bytes, SIZE_BYTES,
            "nothing is encapsulated on the air"
        );
        if self.loses.contains(&packet.sequence) {
            context.drop(id, DropCause::Radio);
            return;
        }
        let to = if node == packet.source {
            self.router
        } else if node == self.router {
            packet.destination
        } else {
            self.sent_back += 1;
            context.reroute(node, id);
            return;
        };
        let at = context.now() + AIR;
        if self.held.is_empty() {
            context.set_timer(self.timer.unwrap(), at);
        }
        self.held.push_back((at, to, id));
    }

    fn on_timer(&mut self, context: &mut MediumContext<'_>, token: u32) {
        if token == HAND_OVER {
            let (_, router) = self.handover.unwrap();
            let old = std::mem::replace(&mut self.router, router);
            for (_, host, id) in self.held.drain(..) {
                context.move_host(host, router);
                context.reroute(old, id);
                self.sent_back += 1;
            }
            context.cancel_timer(self.timer.unwrap());
            return;
        }
        while let Some(&(at, to, id)) = self.held.front() {
            if at > context.now() {
                context.set_timer(self.timer.unwrap(), at);
                break;
            }
            self.held.pop_front();
            context.deliver(to, id);
        }
    }

    fn held_pkts(&self) -> usize {
        self.held.len()
    }
}

/// Routers 0 – 1 – 2 in a line; a server at 0 by a wire, two hosts at 1 by a medium.
struct World {
    simulation: Simulation<Script>,
    medium: MediumId,
}

const SERVER: NodeId = NodeId(3);
const UES: [NodeId; 2] = [NodeId(4), NodeId(5)];
/// From router 0 to 1, back, from 1 to 2, back; then up from the server and down to it.
const LINKS: [LinkId; 6] = [
    LinkId(0),
    LinkId(1),
    LinkId(2),
    LinkId(3),
    LinkId(4),
    LinkId(5),
];

/// A byte takes 1 ns on every wire, and 1 ms passes before it arrives.
fn wire() -> LinkConfig {
    LinkConfig {
        rate: Rate::from_bps(8_000_000_000),
        delay: Duration::from_millis(1),
        queue: QueueConfig::DropTail(QueueLimit::Packets(100)),
    }
}

impl World {
    fn new(
        sends: &[(u64, NodeId, NodeId)],
        handover_ms: Option<u64>,
        change: impl FnOnce(&mut DelayLine),
    ) -> Self {
        let mut events = EventQueue::new();
        let mut network = Network::new();
        let routers = [(); 3].map(|()| network.add_router());
        network.connect(&mut events, routers[0], routers[1], &wire());
        network.connect(&mut events, routers[1], routers[2], &wire());
        let hosts = [(); 3].map(|()| network.add_host());
        network.attach(&mut events, hosts[0], routers[0], &wire());
        let mut line = DelayLine {
            router: routers[1],
            handover: handover_ms.map(|ms| (SimTime::ZERO + Duration::from_millis(ms), routers[2])),
            held: VecDeque::new(),
            timer: None,
            loses: Vec::new(),
            sent_back: 0,
        };
        change(&mut line);
        let medium = MediumId(0);
        let media: Vec<Box<dyn Medium>> = vec![Box::new(line)];
        for host in UES {
            network.attach_over(host, routers[1], medium);
        }
        network.set_encapsulation_bytes(ENCAPSULATION_BYTES);
        let loads = sends.iter().zip(0..).map(|(&(at_ms, from, to), sequence)| {
            let packet = Packet {
                sequence,
                ..Packet::new(FlowId(0), from, to, SIZE_BYTES)
            };
            Load::once(SimTime::ZERO + Duration::from_millis(at_ms), packet)
        });
        let script = Script::new(&mut events, loads.collect());
        let line = || -> Option<Box<dyn Router>> { Some(Box::new(LineRouter)) };
        let routers = vec![line(), line(), line(), None, None, None];
        Self {
            simulation: Simulation::new(network, events, script, routers, media),
            medium,
        }
    }

    fn run(mut self) -> Self {
        self.run_until(SimTime::MAX);
        assert_eq!(self.simulation.network.balance().in_flight, 0);
        self
    }

    fn run_until(&mut self, until: SimTime) {
        self.simulation.run(until, |_, _| false);
        let balance = self.simulation.network.balance();
        assert!(balance.holds(), "{balance:?}");
        assert_eq!(balance.in_flight, self.simulation.held_pkts() as u64);
    }

    fn line(&self) -> &DelayLine {
        let medium: &dyn Any = self.simulation.medium(self.medium).unwrap();
        medium.downcast_ref().unwrap()
    }

    fn bytes(&self) -> [u64; 6] {
        LINKS.map(|link| {
            self.simulation.network.links()[link.index()]
                .counters()
                .bytes
        })
    }

    /// Sequence, time in picoseconds, destination, size, routers passed.
    fn arrivals(&self) -> Vec<(u64, u64, NodeId, u32, u8)> {
        let arrivals = self.simulation.application.arrivals.iter();
        arrivals
            .map(|arrival| (arrival.at.as_ps(), &arrival.packet))
            .map(|(at, p)| (p.sequence, at, p.destination, p.size_bytes, p.hops))
            .collect()
    }
}

fn ps(ms: u64, ns: u64) -> u64 {
    Duration::from_millis(ms).as_ps() + 1000 * ns
}

#[test]
fn a_packet_crosses_the_medium_down_and_its_answer_up() {
    let mut world = World::new(&[(0, SERVER, UES[0])], None, |_| {});
    world.simulation.application =
        std::mem::take(&mut world.simulation.application).with_reply(|packet| {
            let answer = Packet::new(packet.flow, packet.destination, packet.source, SIZE_BYTES);
            let sequence = packet.sequence + 100;
            (packet.sequence < 100).then_some(Packet { sequence, ..answer })
        });
    let world = world.run();
    let one_way = (2 + 10, 1000 + 1036);
    assert_eq!(
        world.arrivals(),
        [
            (0, ps(one_way.0, one_way.1), UES[0], SIZE_BYTES, 2),
            (100, ps(2 * one_way.0, 2 * one_way.1), SERVER, SIZE_BYTES, 2),
        ]
    );
}

#[test]
fn an_encapsulation_is_carried_by_the_mesh_alone() {
    let world = World::new(&[(0, SERVER, UES[0]), (0, UES[1], SERVER)], None, |_| {}).run();
    assert_eq!(world.bytes(), [1036, 1036, 0, 0, 1000, 1000]);
}

#[test]
fn between_hosts_of_one_router_nothing_is_encapsulated() {
    let world = World::new(&[(0, UES[0], UES[1])], None, |_| {}).run();
    assert_eq!(world.arrivals(), [(0, ps(20, 0), UES[1], SIZE_BYTES, 1)]);
    assert_eq!(world.bytes(), [0; 6]);
}

#[test]
fn packets_in_a_medium_are_in_flight_and_its_drops_are_counted_as_radio() {
    let sends: Vec<_> = (0..5).map(|ms| (ms, SERVER, UES[0])).collect();
    let mut world = World::new(&sends, None, |line| line.loses = vec![1]);
    world.run_until(SimTime::ZERO + Duration::from_millis(8));
    assert_eq!(world.line().held_pkts(), 4);
    let balance = world.simulation.network.balance();
    assert_eq!(balance.dropped[DropCause::Radio as usize], 1);
    let world = world.run();
    let network = &world.simulation.network;
    assert_eq!(network.balance().delivered, 4);
    let [up, down] = network.access_counters(NodeId(1));
    assert_eq!(up, AccessCounters::default());
    assert_eq!((down.bytes, down.packets, down.drops), (4000, 4, 1));
    assert_eq!(down.area, 4000 * u128::from(AIR.as_ps()));
}

/// The host moves at 8 ms from router 1 to router 2. Packet 0 is in the air of the old cell, packet 1 on
/// the wire to its router, packet 2 was not sent yet.
#[test]
fn packets_for_a_host_that_moved_follow_it_through_the_mesh() {
    let sends = [
        (0, SERVER, UES[0]),
        (7, SERVER, UES[0]),
        (9, SERVER, UES[0]),
        (9, UES[0], SERVER),
    ];
    let world = World::new(&sends, Some(8), |_| {}).run();
    assert_eq!(world.line().sent_back, 2);
    let mut arrivals = world.arrivals();
    arrivals.sort_unstable();
    assert_eq!(
        arrivals,
        [
            // Given back at 8 ms, one wire, the air; router 1 passed it twice.
            (0, ps(8 + 1 + 10, 1036), UES[0], SIZE_BYTES, 4),
            (
                1,
                ps(7 + 2 + 1 + 10, 1000 + 2 * 1036),
                UES[0],
                SIZE_BYTES,
                4
            ),
            (2, ps(9 + 3 + 10, 1000 + 2 * 1036), UES[0], SIZE_BYTES, 3),
            // Up, from the new router.
            (3, ps(9 + 10 + 3, 1000 + 2 * 1036), SERVER, SIZE_BYTES, 3),
        ]
    );
    assert_eq!(
        world.bytes(),
        [3 * 1036, 1036, 3 * 1036, 1036, 3 * 1000, 1000]
    );
}

#[test]
fn the_timers_of_a_medium_are_not_those_of_a_router_in_the_digest() {
    let digest = |medium: bool| {
        let mut events = EventQueue::new();
        let mut network = Network::new();
        network.add_router();
        let event = if medium {
            Event::Medium {
                medium: MediumId(0),
                token: 0,
            }
        } else {
            Event::Router {
                node: NodeId(0),
                token: 0,
            }
        };
        events.once(SimTime::ZERO, event);
        let script = Script::default();
        let mut simulation = Simulation::new(network, events, script, vec![None], Vec::new());
        simulation.run(SimTime::MAX, |_, _| false);
        simulation.digest()
    };
    assert_ne!(digest(true), digest(false));
}

/// Has something to do every 3 ms, and a timer for each time, or goes on as far as it may.
struct Ticks {
    goes_on: bool,
    timer: Option<TimerId>,
    hooks: usize,
}

impl Medium for Ticks {
    fn start(&mut self, context: &mut MediumContext<'_>) {
        let timer = context.timer(7);
        context.set_timer(timer, SimTime::ZERO);
        self.timer = Some(timer);
    }

    fn on_packet(&mut self, context: &mut MediumContext<'_>, _: NodeId, id: PacketId) {
        context.drop(id, DropCause::Radio);
    }

    fn on_timer(&mut self, context: &mut MediumContext<'_>, token: u32) {
        self.hooks += 1;
        loop {
            let next = context.now() + Duration::from_millis(3);
            if !(self.goes_on && context.try_advance(token, next)) {
                return context.set_timer(self.timer.unwrap(), next);
            }
        }
    }

    fn held_pkts(&self) -> usize {
        0
    }
}

/// Of the timers at 5, 10 and 15 ms, the last is at the time of a tick.
#[test]
fn advancing_within_a_hook_keeps_the_digest_and_the_number_of_events() {
    let run = |goes_on: bool| {
        let mut events = EventQueue::new();
        let mut network = Network::new();
        network.add_router();
        for ms in [5, 10, 15] {
            let router = Event::Router {
                node: NodeId(0),
                token: ms,
            };
            events.once(SimTime::ZERO + Duration::from_millis(u64::from(ms)), router);
        }
        let ticks = Box::new(Ticks {
            goes_on,
            timer: None,
            hooks: 0,
        });
        let script = Script::default();
        let mut simulation = Simulation::new(network, events, script, vec![None], vec![ticks]);
        simulation.run(SimTime::ZERO + Duration::from_millis(20), |_, _| false);
        simulation.run(SimTime::ZERO + Duration::from_millis(40), |_, _| false);
        let medium: &dyn Any = simulation.medium(MediumId(0)).unwrap();
        let hooks = medium.downcast_ref::<Ticks>().unwrap().hooks;
        (simulation.digest(), simulation.events.fired(), hooks)
    };
    let (digest, fired, hooks) = run(false);
    assert_eq!((fired, hooks), (14 + 3, 14));
    // At 0, 6, 12, 15 and 21 ms: behind each of the others, at the one that another shares, and
    // behind the end of a run.
    assert_eq!(run(true), (digest, fired, 5));
}
