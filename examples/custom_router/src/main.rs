//! A routing protocol of one's own, with a key of its own and a sweep over it.
//!
//! Deflection: a packet takes a shortest path in hops, unless `patience` packets wait before that
//! link. Then it takes the link with the shortest queue among those that bring it no farther away.

use std::error::Error;
use std::sync::Arc;

use backlane_world::Models;
use backlane_world::net::{Context, DropCause, PacketId, Router};
use backlane_world::param::params;
use backlane_world::routers::Protocol;
use backlane_world::routing::graph::{Distances, Graph};

params! {
    /// Shortest paths in hops with deflection before a long queue.
    #[derive(Clone, Copy, Debug)]
    pub struct Config {
        /// Packets before the link of the shortest path from which on another link is tried.
        patience: u32 = 20, in 1..=1_000_000;
    }
}

struct Deflection {
    config: Config,
    hops: Arc<Distances>,
}

impl Router for Deflection {
    fn start(&mut self, _context: &mut Context<'_>) {}

    fn on_packet(&mut self, context: &mut Context<'_>, id: PacketId) {
        let (here, exit) = (context.node(), context.packet(id).exit);
        let Some(hops) = self.hops.to(exit) else {
            return context.drop(id, DropCause::NoRoute);
        };
        // (hops to the exit, packets before the link, interface), of links that lead no farther.
        let mut links: Vec<(u16, usize, usize)> = Vec::new();
        for interface in 0..context.interfaces().len() {
            let left = hops[context.interfaces()[interface].peer.index()];
            if left <= hops[here.index()] {
                links.push((left, context.device_backlog_pkts(interface), interface));
            }
        }
        let shortest = links
            .iter()
            .min_by_key(|(left, _, interface)| (left, interface));
        let emptiest = links
            .iter()
            .min_by_key(|(left, waiting, _)| (waiting, left));
        match shortest.zip(emptiest) {
            Some((&(_, waiting, interface), &(_, _, other))) => {
                let is_deflected = waiting >= self.config.patience as usize;
                context.transmit(if is_deflected { other } else { interface }, id);
            }
            None => context.drop(id, DropCause::NoRoute),
        }
    }

    fn on_message(&mut self, _: &mut Context<'_>, _: usize, _: u8, _: &[u8]) {}

    fn on_timer(&mut self, _: &mut Context<'_>, _: u32) {}
}

fn deflection() -> Protocol {
    Protocol::new("deflection", |config: Config, site| {
        let graph = Graph::of(site.network(), |_, _| 1);
        let exits = site.paths().map(|(_, exit)| exit);
        let hops = Arc::new(Distances::new(&graph, exits));
        Ok(Box::new(move |_node| {
            Box::new(Deflection {
                config,
                hops: hops.clone(),
            })
        }))
    })
}

fn main() -> Result<(), Box<dyn Error>> {
    let models = Models::builder().router(deflection()).build()?;
    let catalogue = models.catalogue();
    println!(
        "{}\n",
        catalogue.explain("routing.patience").ok_or("no such key")?
    );

    let text = include_str!("../deflection.toml");
    let plan = catalogue.plan(text, "deflection.toml", &[], None)?;
    println!("patience  goodput of all flows  segments sent again");
    for cell in &plan.cells {
        let scenario = catalogue.from_resolved(&cell.resolved)?;
        let outcome = models.run(&scenario, scenario.seed)?;
        let flows = &outcome.flows;
        let goodputs_bps = flows.floats("goodput_bps").ok_or("a column is missing")?;
        let retransmits = flows.integers("retransmits").ok_or("a column is missing")?;
        println!(
            "{:>8} {:>13.2} Mbit/s {:>20}",
            cell.parameters["routing.patience"],
            goodputs_bps.iter().flatten().sum::<f64>() / 1e6,
            retransmits.iter().flatten().sum::<u64>(),
        );
    }
    Ok(())
}
