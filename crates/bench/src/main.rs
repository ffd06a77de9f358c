//! CPU time of whole scenarios.

use backlane_net::{QueueConfig, QueueLimit};
use backlane_testkit::Dumbbell;
use backlane_units::{Duration, Rate};
use cpu_time::ThreadTime;

fn dumbbell(name: &str, mbps: u64, flows: usize, seconds: u64) {
    let dumbbell = Dumbbell {
        rate: Rate::from_bps(mbps * 1_000_000),
        queue: QueueConfig::DropTail(QueueLimit::BandwidthDelayProduct(1.0)),
        flows: vec![backlane_tcp::Config::default(); flows],
        ..Dumbbell::default()
    };
    let start = ThreadTime::now();
    let simulation = dumbbell.run(Duration::from_secs(seconds));
    let cpu_s = start.elapsed().as_secs_f64();
    let delivered: u64 = simulation
        .application
        .flows()
        .iter()
        .map(|flow| flow.delivery.packets)
        .sum();
    println!(
        "{name:<28} {seconds:>4} s  {delivered:>9} packets  {:>9} events  {cpu_s:>7.3} CPU-s  {:>10.0} packets/CPU-s",
        simulation.events.fired(),
        delivered as f64 / cpu_s,
    );
}

fn main() {
    dumbbell("dumbbell 50 Mb/s, 1 flow", 50, 1, 600);
    dumbbell("dumbbell 1 Gb/s, 10 flows", 1000, 10, 30);
    dumbbell("dumbbell 1 Gb/s, 100 flows", 1000, 100, 30);
}
