//! Links over a medium: received, overheard and failed packets, and the notices to routers.

use std::any::Any;
use std::collections::VecDeque;
use std::sync::{Arc, Mutex};

use backlane_engine::{EventQueue, Streams};
use backlane_net::testing::{Hub, HubConfig, Load, Script};
use backlane_net::{
    Context, DropCause, FlowId, LinkConfig, MediumId, Network, NodeId, Packet, PacketId,
    QueueConfig, QueueLimit, Router, Simulation,
};
use backlane_units::{Duration, Rate, SimTime};

const FRAME: Duration = Duration::from_millis(1);
const ATTEMPTS: u32 = 7;
const SIZE_BYTES: u32 = 1000;
const RATE: Rate = Rate::from_bps(11_000_000);
const QUEUE: QueueConfig = QueueConfig::DropTail(QueueLimit::Packets(3));

/// What happened where: node, in milliseconds, what.
type Log = Arc<Mutex<Vec<(u32, u64, String)>>>;

/// What a test's router does.
#[derive(Clone, Copy, PartialEq)]
enum Manner {
    /// Sends every packet at once to the neighbour that it is for, or to any if it is for none.
    Plain,
    /// The same with a message of four bytes on it.
    Rides,
    /// Keeps packets for its neighbours, each in a queue of its own, until the radio is idle.
    LateBinding,
}

struct Chatty {
    manner: Manner,
    log: Log,
    /// At this time, in milliseconds, it broadcasts.
    broadcasts_at: Option<u64>,
    queues: Vec<VecDeque<PacketId>>,
}

impl Chatty {
    fn note(&self, context: &Context<'_>, what: String) {
        let ms = context.now().as_ps() / Duration::from_millis(1).as_ps();
        self.log.lock().unwrap().push((context.node().0, ms, what));
    }

    fn serve(&mut self, context: &mut Context<'_>, interface: usize) {
        if self.queues[interface].is_empty() {
            return;
        }
        if context.device_is_idle(interface) {
            let id = self.queues[interface].pop_front().unwrap();
            context.transmit(interface, id);
            assert!(!context.device_is_idle(interface));
            assert_eq!(context.device_backlog_pkts(interface), 1);
        }
        if !self.queues[interface].is_empty() {
            context.notify_when_below(interface, 0);
        }
    }
}

impl Router for Chatty {
    fn start(&mut self, context: &mut Context<'_>) {
        self.queues
            .resize_with(context.interfaces().len(), VecDeque::new);
        if let Some(ms) = self.broadcasts_at {
            let timer = context.timer(0);
            context.set_timer(timer, SimTime::ZERO + Duration::from_millis(ms));
        }
    }

    fn on_packet(&mut self, context: &mut Context<'_>, id: PacketId) {
        let exit = context.packet(id).exit;
        let mut interfaces = context.interfaces().iter();
        let interface = interfaces.position(|face| face.peer == exit).unwrap_or(0);
        match self.manner {
            Manner::Plain => context.transmit(interface, id),
            Manner::Rides => context.transmit_with(interface, id, Arc::from([1, 2, 3, 4])),
            Manner::LateBinding => {
                self.queues[interface].push_back(id);
                self.serve(context, interface);
            }
        }
    }

    fn on_message(&mut self, context: &mut Context<'_>, interface: usize, ttl: u8, message: &[u8]) {
        let from = context.interfaces()[interface].peer.0;
        self.note(
            context,
            format!("{} bytes from {from}, TTL {ttl}", message.len()),
        );
    }

    fn on_timer(&mut self, context: &mut Context<'_>, _: u32) {
        context.broadcast(1, &Arc::from([0; 12]));
    }

    fn on_interface_ready(&mut self, context: &mut Context<'_>, interface: usize) {
        self.serve(context, interface);
    }

    fn on_tx_failed(&mut self, context: &mut Context<'_>, interface: usize, id: PacketId) {
        let to = context.interfaces()[interface].peer.0;
        let packet = context.packet(id);
        assert_eq!(packet.size_bytes, SIZE_BYTES, "no message is on it");
        let sequence = packet.sequence;
        self.note(context, format!("{sequence} back from {to}"));
        context.drop(id, DropCause::Radio);
    }

    fn on_tx_status(
        &mut self,
        context: &mut Context<'_>,
        interface: usize,
        attempts: u32,
        delivered: bool,
        rate: Rate,
    ) {
        assert_eq!(rate, RATE);
        let to = context.interfaces()[interface].peer.0;
        let end = if delivered { "delivered" } else { "lost" };
        self.note(context, format!("{attempts} attempts to {to}, {end}"));
    }

    fn shared_queue(&self) -> Option<backlane_net::RouterQueue> {
        let backlog_pkts = self.queues.iter().map(VecDeque::len).sum::<usize>() as u64;
        Some(backlane_net::RouterQueue {
            backlog_pkts,
            ..Default::default()
        })
    }
}

/// Routers 0, 1 and 2 over a hub, each a neighbour of both others; 0 – 3 is a wire.
struct World {
    simulation: Simulation<Script>,
    medium: MediumId,
    log: Log,
}

impl World {
    /// `sends`: millisecond, from, to.
    fn new(manner: Manner, sends: &[(u64, u32, u32)], broadcasts_at: Option<u64>) -> Self {
        let mut events = EventQueue::new();
        let mut network = Network::new();
        let nodes = [(); 4].map(|()| network.add_router());
        let medium = MediumId(0);
        let config = HubConfig {
            rate: RATE,
            frame: |_| FRAME,
            attempts: ATTEMPTS,
            queue: QUEUE,
        };
        let links = [(0, 1, [1.0; 2]), (0, 2, [1.0; 2]), (1, 2, [1.0; 2])];
        let draws = Streams::new(1).stream("hub", "loss");
        let hub = Hub::connect(&mut network, &mut events, medium, &links, config, draws);
        let wire = LinkConfig {
            rate: Rate::from_bps(1_000_000_000),
            delay: FRAME,
            queue: QUEUE,
        };
        network.connect(&mut events, nodes[0], nodes[3], &wire);
        let loads = sends.iter().zip(0..).map(|(&(ms, from, to), sequence)| {
            let packet = Packet {
                sequence,
                ..Packet::new(FlowId(0), NodeId(from), NodeId(to), SIZE_BYTES)
            };
            Load::once(SimTime::ZERO + Duration::from_millis(ms), packet)
        });
        let script = Script::new(&mut events, loads.collect());
        let log = Log::default();
        let router = |node: u32| -> Option<Box<dyn Router>> {
            Some(Box::new(Chatty {
                manner,
                log: log.clone(),
                broadcasts_at: broadcasts_at.filter(|_| node == 0),
                queues: Vec::new(),
            }))
        };
        let routers = (0..4).map(router).collect();
        Self {
            simulation: Simulation::new(network, events, script, routers, vec![Box::new(hub)]),
            medium,
            log,
        }
    }

    fn run_until(&mut self, ms: u64) {
        let until = SimTime::ZERO + Duration::from_millis(ms);
        self.simulation.run(until, |_, _| false);
        let balance = self.simulation.network.balance();
        assert!(balance.holds(), "{balance:?}");
        assert_eq!(balance.in_flight, self.simulation.held_pkts() as u64);
    }

    fn run(mut self) -> Self {
        self.run_until(1000);
        assert_eq!(self.simulation.network.balance().in_flight, 0);
        let hub: &dyn Any = self.simulation.medium(self.medium).unwrap();
        assert!(hub.downcast_ref::<Hub>().is_some());
        self
    }

    /// Sequence, millisecond, size.
    fn arrivals(&self) -> Vec<(u64, u64, u32)> {
        let arrivals = self.simulation.application.arrivals.iter();
        let ms = |at: SimTime| at.as_ps() / Duration::from_millis(1).as_ps();
        arrivals
            .map(|arrival| (ms(arrival.at), &arrival.packet))
            .map(|(ms, packet)| (packet.sequence, ms, packet.size_bytes))
            .collect()
    }

    /// The sequence numbers of source drops.
    fn source_drops(&self) -> Vec<u64> {
        let drops = self.simulation.application.source_drops.iter();
        drops.map(|packet| packet.sequence).collect()
    }

    fn log(&self) -> Vec<(u32, u64, String)> {
        self.log.lock().unwrap().clone()
    }

    fn dropped(&self, cause: DropCause) -> u64 {
        self.simulation.network.balance().dropped[cause as usize]
    }
}

fn said(entries: &[(u32, u64, &str)]) -> Vec<(u32, u64, String)> {
    let owned = entries
        .iter()
        .map(|&(node, ms, what)| (node, ms, what.to_owned()));
    owned.collect()
}

#[test]
fn a_packet_reaches_its_neighbour_and_the_sender_gets_its_status() {
    let world = World::new(Manner::Plain, &[(5, 0, 1)], None).run();
    assert_eq!(world.arrivals(), [(0, 6, SIZE_BYTES)]);
    assert_eq!(world.log(), said(&[(0, 6, "1 attempts to 1, delivered")]));
    let links = world.simulation.network.links();
    let (counters, back) = (links[0].counters(), links[1].counters());
    assert_eq!(
        (counters.packets, counters.bytes, back.packets),
        (1, 1000, 0)
    );
}

#[test]
fn a_broadcast_is_one_frame_on_the_radio_and_a_copy_on_the_wire() {
    let world = World::new(Manner::Plain, &[], Some(3)).run();
    let mut log = world.log();
    log.sort_unstable();
    assert_eq!(
        log,
        said(&[
            (1, 4, "12 bytes from 0, TTL 1"),
            (2, 4, "12 bytes from 0, TTL 1"),
            (3, 4, "12 bytes from 0, TTL 1"),
        ])
    );
    let sent = world.simulation.network.messages_sent(NodeId(0));
    assert_eq!((sent.messages, sent.bytes), (2, 2 * (12 + 28)));
    assert_eq!(world.simulation.network.balance().delivered, 2);
}

#[test]
fn a_message_on_a_packet_is_overheard_by_all_and_removed_at_the_far_end() {
    let world = World::new(Manner::Rides, &[(0, 0, 1)], None).run();
    assert_eq!(
        world.log(),
        said(&[
            (0, 1, "1 attempts to 1, delivered"),
            (1, 1, "4 bytes from 0, TTL 63"),
            (2, 1, "4 bytes from 0, TTL 63"),
        ])
    );
    assert_eq!(world.arrivals(), [(0, 1, SIZE_BYTES)]);
    let carried = world.simulation.network.links()[0].counters().bytes;
    assert_eq!(carried, u64::from(SIZE_BYTES) + 4);
}

#[test]
fn a_packet_carries_a_message_over_a_wire_too() {
    let world = World::new(Manner::Rides, &[(0, 3, 0)], None).run();
    assert_eq!(world.log(), said(&[(0, 1, "4 bytes from 3, TTL 63")]));
    assert_eq!(world.arrivals(), [(0, 1, SIZE_BYTES)]);
}

#[test]
fn an_undelivered_packet_returns_to_the_router_that_sent_it() {
    let mut world = World::new(Manner::Rides, &[(2, 0, 1), (2, 0, 2)], None);
    world.simulation.set_wire_up(NodeId(0), NodeId(1), false);
    let world = world.run();
    assert_eq!(
        world.log(),
        said(&[
            // Seven attempts of 1 ms from 2 ms on.
            (0, 9, "7 attempts to 1, lost"),
            (0, 9, "0 back from 1"),
            // The other neighbour overhears it. Node 1 decodes nothing of node 0.
            (2, 9, "4 bytes from 0, TTL 63"),
            (0, 10, "1 attempts to 2, delivered"),
            (2, 10, "4 bytes from 0, TTL 63"),
        ])
    );
    assert_eq!(world.dropped(DropCause::Radio), 1);
    assert_eq!(world.simulation.network.links()[0].counters().drops, 1);
}

#[test]
fn interfaces_of_one_radio_share_its_queue_and_take_turns_at_it() {
    let sends: Vec<_> = (0..3)
        .flat_map(|_| [(0, 0, 1), (0, 0, 1), (0, 0, 2)])
        .collect();
    let world = World::new(Manner::LateBinding, &sends, None).run();
    let to: Vec<_> = world
        .log()
        .iter()
        .map(|(_, ms, what)| (*ms, what.split(' ').nth(3).unwrap().to_owned()))
        .collect();
    let expected = ["1,", "1,", "2,", "1,", "2,", "1,", "2,", "1,", "1,"];
    let expected: Vec<_> = (1..).zip(expected.map(str::to_owned)).collect();
    assert_eq!(to, expected);
}

#[test]
fn the_application_is_notified_of_source_drops_alone() {
    // One packet is on the air and three wait.
    let own: Vec<_> = (0..6).map(|_| (0, 0, 1)).collect();
    let world = World::new(Manner::Plain, &own, None).run();
    assert_eq!(world.source_drops(), [4, 5]);
    assert_eq!(world.dropped(DropCause::Queue), 2);

    // What node 0 refuses of the packets from node 3 is not refused at its source.
    let others: Vec<_> = (0..12).map(|n| (n / 4, 3, 1)).collect();
    let world = World::new(Manner::Plain, &others, None).run();
    assert!(world.dropped(DropCause::Queue) > 0);
    assert_eq!(world.source_drops(), [0; 0]);
}

#[test]
fn a_failed_node_neither_sends_nor_receives_and_recovers() {
    let sends = [(0, 1, 0), (0, 1, 0), (2, 0, 1), (4, 1, 2), (20, 0, 1)];
    let mut world = World::new(Manner::Plain, &sends, None);
    world.run_until(0);
    world.simulation.set_node_up(NodeId(1), false);
    assert_eq!(world.dropped(DropCause::LinkDown), 2);
    world.run_until(10);
    world.simulation.set_node_up(NodeId(1), true);
    let world = world.run();
    assert_eq!(world.arrivals(), [(4, 21, SIZE_BYTES)]);
    assert_eq!(world.dropped(DropCause::Radio), 1);
    assert_eq!(world.dropped(DropCause::LinkDown), 3);
}
