//! The outcome of a world that has run.

use backlane_engine::{Interrupt, Watch};
use backlane_net::DropCause;
use backlane_record::Table;
use backlane_traffic::Flow;
use backlane_units::SimTime;

use super::{Ended, Outcome, Summary, coding, divisions, flows, links, mesh, radio, reordering};
use crate::capture::Captures;
use crate::world::World;

impl Outcome {
    /// Of a world that has run until `now`, and why no longer.
    ///
    /// # Errors
    /// [`Interrupt`], if `watch` returns it.
    ///
    /// # Panics
    /// If the conservation of packets does not hold, which is a bug.
    pub(crate) fn of(
        mut world: World,
        (ended, now): (Ended, SimTime),
        watch: &mut Watch<'_>,
    ) -> Result<Self, Interrupt> {
        let balance = world.simulation.network.balance();
        assert!(balance.holds(), "packets are conserved: {balance:?}");
        assert_eq!(
            balance.in_flight,
            world.simulation.held_pkts() as u64,
            "every packet in flight is on a link or in a router"
        );
        let summary = Summary {
            simulated_s: now.as_secs_f64(),
            traffic_s: world.traffic_s(now),
            events: world.simulation.fired(),
            packets_injected: balance.injected,
            packets_duplicated: balance.duplicated,
            packets_delivered: balance.delivered,
            dropped_by_cause: DropCause::ALL
                .iter()
                .map(|&cause| (cause.name(), balance.dropped[cause as usize]))
                .collect(),
            delivered_bytes: Some(
                (world.simulation.application.flows().iter())
                    .map(Flow::delivered_bytes)
                    .sum(),
            ),
            packets_in_flight: balance.in_flight,
            packet_hops: world
                .simulation
                .network
                .links()
                .iter()
                .map(|link| link.counters().packets)
                .sum(),
            digest: world.simulation.digest(),
            ended,
        };
        Ok(Self {
            summary,
            flows: flows::flows(&world, now, watch)?,
            links: links::links(&mut world, now, watch)?,
            nodes: links::nodes(&world, now, watch)?,
            radio: radio::ues(&world, watch)?,
            mcs: radio::mcs(&world, watch)?,
            more: further(&world, now, watch)?,
            series: world.sampler.take(),
            captures: world
                .captures
                .as_ref()
                .map_or_else(Vec::new, Captures::take),
        })
    }
}

/// The tables that only some runs have.
fn further(
    world: &World,
    now: SimTime,
    watch: &mut Watch<'_>,
) -> Result<Vec<(&'static str, Table)>, Interrupt> {
    let tables = [
        ("wifi", mesh::radios(world, now, watch)?),
        ("routing", mesh::routers(world, now, watch)?),
        ("divisions", divisions::divisions(world, watch)?),
        ("coding", coding::flows(world, now, watch)?),
        ("reordering", reordering::densities(world, watch)?),
        ("assignment", world.assigned.clone()),
    ];
    Ok(tables
        .into_iter()
        .filter(|(_, table)| table.rows() > 0)
        .collect())
}
