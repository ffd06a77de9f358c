//! The networks whose stability region is known.

use backlane_engine::Streams;
use backlane_slotted::config::FlowControl;
use backlane_slotted::{Config, Flow, Interference, Link, Model, Rule, Scheduler, Source, Ties};

pub fn link(from: usize, to: usize, on: f64) -> Link {
    Link {
        from,
        to,
        rate_pkts: 1,
        on,
    }
}

pub fn flow(source: usize, destination: usize, arrivals: Source) -> Flow {
    Flow {
        source,
        destination,
        arrivals,
        backlog_pkts: 0,
    }
}

pub fn config(nodes: usize, links: Vec<Link>, flows: Vec<Flow>, slots: u64) -> Config {
    Config {
        nodes,
        links,
        interference: Interference::CollisionDomain,
        flows,
        k_pkts: 0,
        rule: Rule::WorkConserving,
        ties: Ties::RoundRobin,
        scheduler: Scheduler::Exact,
        buffer_pkts: None,
        flow_control: FlowControl {
            m: 50.0,
            r_max_pkts: 2.0,
        },
        warm_up_slots: 0,
        slots,
    }
}

/// A base station (0) and two receivers, one of which is served in a slot.
pub fn downlink(on: [f64; 2], arrivals: [Source; 2], slots: u64) -> Config {
    let links = vec![link(0, 1, on[0]), link(0, 2, on[1])];
    let flows = vec![flow(0, 1, arrivals[0]), flow(0, 2, arrivals[1])];
    config(3, links, flows, slots)
}

/// One flow over A–B–D and A–C–D.
pub fn diamond(interference: Interference, arrivals: Source, slots: u64) -> Config {
    let links = [(0, 1), (0, 2), (1, 3), (2, 3)].map(|(from, to)| link(from, to, 1.0));
    Config {
        interference,
        ..config(4, links.to_vec(), vec![flow(0, 3, arrivals)], slots)
    }
}

/// The network after its last slot.
pub fn finished(config: &Config, seed: u64) -> Model {
    let mut model = Model::new(config, &Streams::new(seed)).unwrap();
    model.run(u64::MAX);
    assert!(model.balance().holds(), "{:?}", model.balance());
    model
}
