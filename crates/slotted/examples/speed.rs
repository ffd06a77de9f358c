//! Slots per second of the downlink with two users: `cargo run --release --example speed`.

use std::time::Instant;

use backlane_engine::Streams;
use backlane_param::Id;
use backlane_slotted::{
    Arrivals, Config, Flow, FlowControl, Interference, Link, Model, Rule, Scheduler, Ties,
};

fn main() {
    let node = |name: &str| Id(name.to_owned());
    let link = |to| Link {
        from: node("base"),
        to: node(to),
        rate_pkts: 1,
        on: 0.5,
    };
    let flow = |to| Flow {
        name: None,
        from: node("base"),
        to: node(to),
        arrivals: Arrivals::Bernoulli { rate: 0.35 },
        backlog_pkts: 0,
    };
    let config = Config {
        slots: 50_000_000,
        warm_up_slots: 0,
        k_pkts: 10,
        rule: Rule::WorkConserving,
        ties: Ties::RoundRobin,
        scheduler: Scheduler::Exact,
        buffer_pkts: None,
        flow_control: FlowControl::default(),
        sample_slots: None,
        region: None,
        link: vec![link("1"), link("2")],
        flow: vec![flow("1"), flow("2")],
        interference: Interference::CollisionDomain,
    };
    let mut model = Model::new(&config, &Streams::new(1)).expect("a sound network");
    let begun = Instant::now();
    let slots = model.run(u64::MAX);
    let seconds = begun.elapsed().as_secs_f64();
    println!(
        "{:.1} million slots per second; {} packets wait",
        slots as f64 / seconds / 1e6,
        model.balance().queued_pkts
    );
}
