//! The networks whose stability region is known.

use backlane_engine::Streams;
use backlane_param::Id;
use backlane_slotted::{
    Arrivals, Config, Flow, FlowControl, Interference, Link, Model, Rule, Scheduler, Ties,
};

/// A node; the nodes of these networks are numbered in the order in which links name them.
fn node(number: usize) -> Id {
    Id(number.to_string())
}

pub fn link(from: usize, to: usize, on: f64) -> Link {
    Link {
        from: node(from),
        to: node(to),
        rate_pkts: 1,
        on,
    }
}

pub fn flow(source: usize, destination: usize, arrivals: Arrivals) -> Flow {
    Flow {
        name: None,
        from: node(source),
        to: node(destination),
        arrivals,
        backlog_pkts: 0,
    }
}

pub fn config(link: Vec<Link>, flow: Vec<Flow>, slots: u64) -> Config {
    Config {
        slots,
        warm_up_slots: 0,
        k_pkts: 0,
        rule: Rule::WorkConserving,
        ties: Ties::RoundRobin,
        scheduler: Scheduler::Exact,
        buffer_pkts: None,
        flow_control: FlowControl {
            r_max_pkts: 2.0,
            ..FlowControl::default()
        },
        sample_slots: None,
        region: None,
        link,
        flow,
        interference: Interference::CollisionDomain,
    }
}

/// A base station (0) and two receivers, one of which is served in a slot.
pub fn downlink(on: [f64; 2], arrivals: [Arrivals; 2], slots: u64) -> Config {
    let links = vec![link(0, 1, on[0]), link(0, 2, on[1])];
    let flows = vec![flow(0, 1, arrivals[0]), flow(0, 2, arrivals[1])];
    config(links, flows, slots)
}

/// One flow over A–B–D and A–C–D.
pub fn diamond(interference: Interference, arrivals: Arrivals, slots: u64) -> Config {
    let links = [(0, 1), (0, 2), (1, 3), (2, 3)].map(|(from, to)| link(from, to, 1.0));
    Config {
        interference,
        ..config(links.to_vec(), vec![flow(0, 3, arrivals)], slots)
    }
}

/// The network after its last slot.
pub fn finished(config: &Config, seed: u64) -> Model {
    let mut model = Model::new(config, &Streams::new(seed)).unwrap();
    model.run(u64::MAX);
    assert!(model.balance().holds(), "{:?}", model.balance());
    model
}
