//! Slots per second of the downlink with two users: `cargo run --release --example speed`.

use std::time::Instant;

use backlane_engine::Streams;
use backlane_slotted::config::FlowControl;
use backlane_slotted::{Config, Flow, Interference, Link, Model, Rule, Scheduler, Source, Ties};

fn main() {
    let link = |to| Link {
        from: 0,
        to,
        rate_pkts: 1,
        on: 0.5,
    };
    let flow = |destination| Flow {
        source: 0,
        destination,
        arrivals: Source::Bernoulli(0.35),
        backlog_pkts: 0,
    };
    let config = Config {
        nodes: 3,
        links: vec![link(1), link(2)],
        interference: Interference::CollisionDomain,
        flows: vec![flow(1), flow(2)],
        k_pkts: 10,
        rule: Rule::WorkConserving,
        ties: Ties::RoundRobin,
        scheduler: Scheduler::Exact,
        buffer_pkts: None,
        flow_control: FlowControl {
            m: 50.0,
            r_max_pkts: 1.0,
        },
        warm_up_slots: 0,
        slots: 50_000_000,
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
