//! Loads over UDP against the times that their law says, from the same draws.

use std::collections::BTreeSet;
use std::sync::Arc;

use backlane_engine::{EventQueue, Streams, Watch};
use backlane_net::{LinkConfig, Network, NodeId, QueueConfig, QueueLimit, Router, Simulation};
use backlane_routing::shortest_path::{self, ShortestPath, Tables};
use backlane_traffic::{FlowSpec, Flows, Start, Transport, TransportSpec, UdpConfig};
use backlane_units::{Duration, Rate, SimTime};

const SEED: u64 = 5;

/// A load between two routers whose wire takes no time worth mentioning.
fn simulation(config: UdpConfig) -> Simulation<Flows> {
    let mut events = EventQueue::new();
    let mut network = Network::new();
    let ends = [network.add_router(), network.add_router()];
    let wire = LinkConfig {
        rate: Rate::from_bps(1_000_000_000_000),
        delay: Duration::ZERO,
        queue: QueueConfig::DropTail(QueueLimit::Packets(u32::MAX)),
    };
    network.connect(&mut events, ends[0], ends[1], &wire);
    let pairs = [(ends[0], ends[1])];
    let mut go_on = |_, _| Ok(());
    let watch = &mut Watch::new(&mut go_on);
    let tables = Tables::new(
        &network,
        shortest_path::Metric::Hops,
        &BTreeSet::new(),
        pairs,
        watch,
    )
    .expect("the watch lets it go on");
    let tables = Arc::new(tables);
    let router = |node: NodeId| -> Option<Box<dyn Router>> {
        Some(Box::new(ShortestPath::new(node, tables.clone())))
    };
    let routers = ends.map(router).into();
    let load = FlowSpec {
        source: ends[0],
        destination: ends[1],
        size_bytes: None,
        start: Start::At(SimTime::ZERO),
        stop: None,
        transport: TransportSpec::Udp(config),
    };
    let flows = Flows::new(&mut events, Streams::new(SEED), vec![load]);
    Simulation::new(network, events, flows, routers, Vec::new())
}

/// 1000 bytes at 80 kbit/s are 100 ms, as long as the mean time on: a packet at the begin of each
/// time on and one every 100 ms until its end, at which the pause begins, whenever the last
/// packet was. A pause that begins 100 ms after the last packet leaves an eighth less to send.
#[test]
fn a_pause_begins_where_the_time_on_ends_and_not_with_the_packet_after_it() {
    let (on, off, gap) = (0.1, 0.3, 0.1);
    let mut simulation = simulation(UdpConfig {
        rate: Rate::from_bps(80_000),
        packet_bytes: 1000,
        on_off: Some((Duration::from_secs_f64(on), Duration::from_secs_f64(off))),
        control: None,
    });
    let mut periods = Streams::new(SEED).stream("flow0", "on-off");
    let mut expected = 0;
    let mut begins = 0.0;
    while begins < 200.0 {
        let ends = begins + periods.exponential(on);
        let mut at = begins;
        while at < ends && at < 200.0 {
            expected += 1;
            at += gap;
        }
        begins = ends + periods.exponential(off);
    }
    simulation.run(SimTime::ZERO + Duration::from_secs(200), |_, _| false);
    let Some(Transport::Udp(udp)) = &simulation.application.flows()[0].transport else {
        panic!("it runs");
    };
    // Of 500 cycles with 1/(1 − 1/e) = 1.58 packets each.
    assert!((600..1000).contains(&expected), "{expected}");
    assert_eq!(udp.packets_sent, expected);
}
