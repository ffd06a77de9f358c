//! A queue discipline of one's own, with keys of its own and a sweep over one of them.
//!
//! Random early detection (Floyd and Jacobson, "Random early detection gateways for congestion
//! avoidance", IEEE/ACM Transactions on Networking 1(4), 1993). The average is counted in packets;
//! it does not decay while the queue is empty.

use std::error::Error;

use backlane_world::Models;
use backlane_world::engine::Stream;
use backlane_world::net::queue::DropTail;
use backlane_world::net::{PacketId, PacketStore, QueueDiscipline};
use backlane_world::param::{Issue, params};
use backlane_world::queues::Queue;
use backlane_world::units::SimTime;

params! {
    /// Random early detection (Floyd and Jacobson 1993).
    #[derive(Clone, Copy, Debug)]
    pub struct Config {
        /// Average queue in packets below which no packet is dropped (§8: 5).
        min_threshold: f64 = 5.0, in 0.0..=1e6;
        /// Average queue in packets from which on every packet is dropped (§8: 15).
        max_threshold: f64 = 15.0, in 1.0..=1e6;
        /// Drop probability of a packet as the average reaches max_threshold (§8: 0.02).
        max_probability: f64 = 0.02, in 0.0..=1.0;
        /// Weight of a new sample in the average (§8: 0.002).
        weight: f64 = 0.002, in 1e-6..=1.0;
    }
    rules Config::has_ordered_thresholds;
}

impl Config {
    fn has_ordered_thresholds(&self) -> Vec<Issue> {
        if self.min_threshold < self.max_threshold {
            return Vec::new();
        }
        vec![Issue::new(
            &["min_threshold", "max_threshold"],
            "min_threshold is not below max_threshold",
            "lower min_threshold",
        )]
    }
}

struct Red {
    config: Config,
    fifo: DropTail,
    stream: Stream,
    average_pkts: f64,
    /// Packets since the last drop.
    since_drop: f64,
}

impl Red {
    /// Whether the packet that arrives now is dropped early (§4).
    fn drops(&mut self) -> bool {
        let backlog_pkts = self.fifo.backlog_pkts() as f64;
        self.average_pkts += self.config.weight * (backlog_pkts - self.average_pkts);
        let above = self.average_pkts - self.config.min_threshold;
        if above < 0.0 {
            self.since_drop = 0.0;
            return false;
        }
        let range = self.config.max_threshold - self.config.min_threshold;
        let base = self.config.max_probability * above / range;
        // The gap between two drops is uniform.
        let probability = (base / (1.0 - self.since_drop * base)).clamp(0.0, 1.0);
        self.since_drop += 1.0;
        let drops = above >= range || self.stream.bernoulli(probability);
        if drops {
            self.since_drop = 0.0;
        }
        drops
    }
}

impl QueueDiscipline for Red {
    fn enqueue(
        &mut self,
        now: SimTime,
        id: PacketId,
        packets: &mut PacketStore,
        dropped: &mut Vec<PacketId>,
    ) {
        if self.drops() {
            dropped.push(id);
        } else {
            self.fifo.enqueue(now, id, packets, dropped);
        }
    }

    fn dequeue(
        &mut self,
        now: SimTime,
        packets: &mut PacketStore,
        dropped: &mut Vec<PacketId>,
    ) -> Option<PacketId> {
        self.fifo.dequeue(now, packets, dropped)
    }

    fn backlog_bytes(&self) -> u64 {
        self.fifo.backlog_bytes()
    }

    fn backlog_pkts(&self) -> usize {
        self.fifo.backlog_pkts()
    }
}

fn red() -> Queue {
    Queue::new("red", |config: &Config, site, stream| {
        Box::new(Red {
            config: *config,
            fifo: DropTail::new(site.limits()),
            stream,
            average_pkts: 0.0,
            since_drop: 0.0,
        })
    })
}

fn main() -> Result<(), Box<dyn Error>> {
    let models = Models::builder().queue(red()).build()?;
    let catalogue = models.catalogue();
    let text = include_str!("../red.toml");
    let plan = catalogue.plan(text, "red.toml", &[], None)?;
    println!("max_probability  goodput of all flows  mean RTT  segments sent again");
    for cell in &plan.cells {
        let scenario = catalogue.from_resolved(&cell.resolved)?;
        let outcome = models.run(&scenario, scenario.seed)?;
        let flows = &outcome.flows;
        let floats = |name| flows.floats(name).ok_or("a column is missing");
        let rtts_s: Vec<f64> = floats("rtt_mean_s")?.iter().flatten().copied().collect();
        let retransmits = flows.integers("retransmits").ok_or("a column is missing")?;
        println!(
            "{:>15} {:>14.2} Mbit/s {:>6.1} ms {:>20}",
            cell.parameters["topology.link.queue.max_probability"],
            floats("goodput_bps")?.iter().flatten().sum::<f64>() / 1e6,
            1e3 * rtts_s.iter().sum::<f64>() / rtts_s.len() as f64,
            retransmits.iter().flatten().sum::<u64>(),
        );
    }
    Ok(())
}
