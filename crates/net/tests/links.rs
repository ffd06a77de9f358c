//! Links move packets at the times that arithmetic says, whatever the mechanism inside.

use backlane_engine::{EventQueue, Streams};
use backlane_net::packet::Ecn;
use backlane_net::{
    Application, Event, FlowId, HostContext, LinkConfig, Network, NodeId, Packet, PacketId,
    QueueConfig, QueueLimit, Simulation,
};
use backlane_units::{Duration, Rate, SimTime};
use proptest::prelude::*;

/// Sends packets of given sizes at given times and notes what arrives when.
struct Script {
    source: NodeId,
    destination: NodeId,
    sizes: Vec<u32>,
    ecn: Ecn,
    marked: Vec<u64>,
    arrivals: Vec<(u64, u64)>,
}

impl Application for Script {
    fn on_packet(&mut self, context: &mut HostContext<'_>, id: PacketId) {
        let packet = context.packet(id);
        self.arrivals.push((packet.sequence, context.now().as_ps()));
        if packet.ecn == Ecn::Marked {
            self.marked.push(packet.sequence);
        }
    }

    fn on_timer(&mut self, context: &mut HostContext<'_>, id: u32, _token: u32) {
        context.send(Packet {
            ecn: self.ecn,
            sequence: u64::from(id),
            ..Packet::new(
                FlowId(0),
                self.source,
                self.destination,
                self.sizes[id as usize],
            )
        });
    }
}

fn config(queue: QueueConfig) -> LinkConfig {
    LinkConfig {
        rate: Rate::from_bps(8_000_000),
        delay: Duration::from_millis(3),
        queue,
    }
}

/// Two hosts on one router; the second wire is the bottleneck under test.
fn run(queue: Option<QueueConfig>, sends: &[(u64, u32)], loss: f64) -> Simulation<Script> {
    run_with(queue, sends, loss, Ecn::NotCapable)
}

fn run_with(
    queue: Option<QueueConfig>,
    sends: &[(u64, u32)],
    loss: f64,
    ecn: Ecn,
) -> Simulation<Script> {
    let mut events = EventQueue::new();
    let mut network = Network::new();
    let source = network.add_host();
    let router = network.add_router();
    let destination = network.add_host();
    let instant = LinkConfig {
        rate: Rate::from_bps(8_000_000_000_000),
        delay: Duration::ZERO,
        queue: QueueConfig::DropTail(QueueLimit::Packets(u32::MAX)),
    };
    network.attach(&mut events, source, router, &instant);
    if let Some(queue) = queue {
        let (_, down) = network.attach(&mut events, destination, router, &config(queue));
        if loss > 0.0 {
            network.set_loss(down, loss, Streams::new(1).stream("wire", "loss"));
        }
    } else {
        // The cell's queue decides at dequeue time and is a plain FIFO for one user.
        let config = config(QueueConfig::DropTail(QueueLimit::Bytes(4000)));
        let hosts = [destination];
        network.attach_cell(&mut events, &hosts, router, config.rate, config.delay, 4000);
    }
    for (id, &(at_us, _)) in sends.iter().enumerate() {
        let at = SimTime::ZERO + Duration::from_micros(at_us);
        events.once(
            at,
            Event::Application {
                id: id as u32,
                token: 0,
            },
        );
    }
    let script = Script {
        source,
        destination,
        sizes: sends.iter().map(|&(_, size)| size).collect(),
        ecn,
        marked: Vec::new(),
        arrivals: Vec::new(),
    };
    let mut simulation =
        Simulation::new(network, events, script, vec![None, None, None], Vec::new());
    simulation.run(SimTime::MAX, |_, _| false);
    let balance = simulation.network.balance();
    assert!(balance.holds(), "{balance:?}");
    assert_eq!((balance.in_flight, simulation.held_pkts()), (0, 0));
    simulation
}

#[test]
fn a_packet_takes_its_size_over_the_rate_plus_the_delay() {
    let queue = QueueConfig::DropTail(QueueLimit::Bytes(4000));
    let simulation = run(Some(queue), &[(0, 1000), (0, 500)], 0.0);
    // 1 byte takes 1 ps on the first wire and 1 µs on the second.
    let us = 1_000_000;
    assert_eq!(
        simulation.application.arrivals,
        [(0, 1000 + 4000 * us), (1, 1000 + 4500 * us)],
        "the second waits for the first"
    );
}

/// One packet is being sent when the others arrive, so that packet n finds n − 1 waiting.
#[test]
fn what_finds_more_than_the_threshold_waiting_is_marked() {
    let limit = QueueLimit::Packets(6);
    let thresholds = [
        (QueueLimit::Packets(3), vec![5, 6]),
        (QueueLimit::Bytes(3000), vec![5, 6]),
        (QueueLimit::Bytes(2999), vec![4, 5, 6]),
        (QueueLimit::Packets(0), vec![2, 3, 4, 5, 6]),
        (QueueLimit::Packets(6), vec![]),
        // 8 Mb/s · 6 ms = 6000 B; of that 0.4.
        (QueueLimit::BandwidthDelayProduct(0.4), vec![4, 5, 6]),
    ];
    for (mark_above, marked) in thresholds {
        let queue = Some(QueueConfig::Marking { limit, mark_above });
        let simulation = run_with(queue, &[(0, 1000); 9], 0.0, Ecn::Capable);
        assert_eq!(simulation.application.marked, marked, "{mark_above:?}");
        assert_eq!(simulation.network.links()[3].marks(), marked.len() as u64);
        assert_eq!(simulation.network.balance().dropped[0], 2);
        let deaf = run_with(queue, &[(0, 1000); 9], 0.0, Ecn::NotCapable);
        assert_eq!(
            (
                deaf.application.marked.len(),
                deaf.network.links()[3].marks()
            ),
            (0, 0)
        );
        assert_eq!(deaf.application.arrivals, simulation.application.arrivals);
    }
}

#[test]
fn the_packet_in_transmission_does_not_count_against_the_limit() {
    let queue = QueueConfig::DropTail(QueueLimit::Bytes(4000));
    let simulation = run(Some(queue), &[(0, 1000); 7], 0.0);
    assert_eq!(simulation.application.arrivals.len(), 5);
    assert_eq!(simulation.network.balance().dropped[0], 2);
    let counters = simulation.network.links()[3].counters();
    assert_eq!(
        (counters.queue_max_bytes, counters.drops, counters.packets),
        (4000, 2, 5)
    );
    // The four wait for 1, 2, 3 and 4 ms, less the 1, 2, 3 and 4 ns by which they came later.
    assert_eq!(counters.queue_area, 1000 * (10_000_000_000 - 10_000));
}

#[test]
fn the_wire_loses_the_share_it_is_told_to() {
    let queue = QueueConfig::DropTail(QueueLimit::Packets(u32::MAX));
    let sends: Vec<(u64, u32)> = (0..20_000).map(|n| (n * 200, 100)).collect();
    let simulation = run(Some(queue), &sends, 0.05);
    let lost = simulation.network.balance().dropped[1] as f64;
    // Five standard deviations of a binomial.
    assert!(
        (lost - 1000.0).abs() < 5.0 * (20_000.0f64 * 0.05 * 0.95).sqrt(),
        "{lost}"
    );
}

proptest! {
    /// The fast path of drop-tail against the mechanism that decides at dequeue time.
    #[test]
    fn drop_tail_known_in_advance_equals_drop_tail_decided_late(
        gaps in prop::collection::vec((0u64..3000, 40u32..1500), 1..60)
    ) {
        let mut at = 0;
        let sends: Vec<(u64, u32)> = gaps
            .iter()
            .map(|&(gap, size)| {
                at += gap;
                (at, size)
            })
            .collect();
        let early = run(Some(QueueConfig::DropTail(QueueLimit::Bytes(4000))), &sends, 0.0);
        let late = run(None, &sends, 0.0);
        prop_assert_eq!(&early.application.arrivals, &late.application.arrivals);
        prop_assert_eq!(
            early.network.links()[3].counters(),
            late.network.links()[3].counters()
        );
    }
}
