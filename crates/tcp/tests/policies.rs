//! Every policy towards reordering over the same paths.

mod dumbbell;

use backlane_tcp::{Config, Reordering};
use backlane_units::{Duration, SimTime};
use dumbbell::{Dumbbell, Path};

#[derive(Debug)]
struct Outcome {
    goodput_mbps: f64,
    retransmits: u64,
    duplicates: u64,
    rtos: u64,
    fast: u64,
    cwnd: u32,
    thr: u32,
}

fn run(policy: Reordering, path: Path) -> Outcome {
    let config = Config {
        reordering: policy,
        congestion_control: "reno".parse().unwrap(),
        ..Config::default()
    };
    let mut run = Dumbbell::new(&config, path);
    run.run_until(SimTime::ZERO + Duration::from_secs(10));
    let start_bytes = run.sender.acked_bytes();
    run.run_until(SimTime::ZERO + Duration::from_secs(60));
    let bytes = run.sender.acked_bytes() - start_bytes;
    let statistics = run.sender.statistics();
    Outcome {
        goodput_mbps: bytes as f64 * 8.0 / 50e6,
        retransmits: statistics.retransmits,
        duplicates: statistics.spurious_retransmits,
        rtos: statistics.rtos,
        fast: statistics.fast_retransmits,
        cwnd: run.sender.readings().cwnd_pkts,
        thr: run.sender.readings().reordering_pkts,
    }
}

#[test]
fn table() {
    for path in [Path::clean(), Path::three()] {
        for policy in [
            Reordering::Fixed,
            Reordering::LinuxLegacy,
            Reordering::Rack,
            Reordering::NcrCareful,
            Reordering::NcrAggressive,
            Reordering::Pr,
            Reordering::Rr,
        ] {
            println!("{policy:?} {:?}", run(policy, path.clone()));
        }
        println!();
    }
}
