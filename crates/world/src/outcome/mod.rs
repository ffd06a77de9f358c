//! The results of a run: a summary, tables, series and captures.
//!
//! Each file declares the tables that it fills ([`backlane_record::table!`]); [`tables`] lists all.

use backlane_engine::{Interrupt, Watch};
use backlane_net::DropCause;
use backlane_record::{Row, Table, TableSpec};
use backlane_traffic::Flow;
use backlane_units::SimTime;

use crate::build::World;
use crate::capture::Captures;
use crate::{assignment, slotted};

pub(crate) mod carried;
mod coding;
pub(crate) mod flows;
pub(crate) mod links;
mod mesh;
pub(crate) mod radio;
pub(crate) mod radio_series;
mod reordering;
mod runs;
pub(crate) mod sampler;

/// A row has many columns.
const STEPS_PER_ROW: u64 = 4;

/// The beginning of the page of the tables.
const INTRODUCTION: &str = "# Tables of results

<!-- Written by `UPDATE_GOLDEN=1 cargo test -p backlane-world --test documents`. -->

A results folder has a Parquet file for each table, such as `flows.parquet`; series are in the \
folder `series/`. Tables but `runs` begin with the column `run_id`, which names the run. Flows, \
links and nodes are in all results, the other tables in those of runs that have rows for them.

Texts are strings, integers are signed with 64 bits, floats have 64 bits. The unit 1 is that of a \
share. Columns without a unit are texts, counts and indices.
";

/// The page of all tables and their columns, in Markdown.
pub fn reference() -> String {
    backlane_record::reference(INTRODUCTION, &tables())
}

/// Why a run ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ended {
    /// Every finite flow has finished or failed.
    FlowsFinished,
    /// The scenario's duration is over.
    TimeLimit,
}

impl Ended {
    /// The name in results.
    pub const fn name(self) -> &'static str {
        match self {
            Self::FlowsFinished => "flows finished",
            Self::TimeLimit => "time limit",
        }
    }
}

/// A run in numbers.
#[derive(Clone, Debug, PartialEq)]
pub struct Summary {
    /// Simulated time at the end, warm-up included, in seconds.
    pub simulated_s: f64,
    /// The same without the warm-up: the end on the clock of the flows, in seconds.
    pub traffic_s: f64,
    /// Events that fired.
    pub events: u64,
    /// Packets that applications and routers sent.
    pub packets_injected: u64,
    /// Packets that reached their destination.
    pub packets_delivered: u64,
    /// Packets dropped, by cause.
    pub dropped_by_cause: Vec<(&'static str, u64)>,
    /// Application bytes that all flows delivered; `None` where packets have no size.
    pub delivered_bytes: Option<u64>,
    /// Packets in the network at the end.
    pub packets_in_flight: u64,
    /// Sum over delivered and dropped packets of the link directions that they entered.
    pub packet_hops: u64,
    /// A hash of all events and their times.
    pub digest: u64,
    /// Why it ended.
    pub ended: Ended,
}

/// A finished run.
#[derive(Clone, Debug, PartialEq)]
pub struct Outcome {
    /// The run in numbers.
    pub summary: Summary,
    /// One row for each flow.
    pub flows: Table,
    /// One row for each link direction.
    pub links: Table,
    /// One row for each node.
    pub nodes: Table,
    /// One row for each UE of a radio access network.
    pub radio: Table,
    /// One row for each such UE, direction and MCS.
    pub mcs: Table,
    /// Further tables by name, only those with rows.
    pub more: Vec<(&'static str, Table)>,
    /// Series: name of the probe, and one row for each sample.
    pub series: Vec<(&'static str, Table)>,
    /// Captures as pcapng files, by the name of the node.
    pub captures: Vec<(String, Vec<u8>)>,
}

/// The declarations of all tables, in the order of the reference. Series are named
/// `series/<probe>`.
pub fn tables() -> Vec<TableSpec> {
    vec![
        runs::RunRow::TABLE,
        flows::FlowRow::TABLE,
        reordering::FlowReorderingRow::TABLE,
        links::LinkRow::TABLE,
        links::NodeRow::TABLE,
        radio::UeRow::TABLE,
        radio::McsRow::TABLE,
        mesh::RadioRow::TABLE,
        mesh::RouterRow::TABLE,
        coding::CodedFlowRow::TABLE,
        reordering::DensityRow::TABLE,
        assignment::AssignedRow::TABLE,
        slotted::SlottedRow::TABLE,
        slotted::RegionRow::TABLE,
        sampler::CwndRow::TABLE,
        sampler::GoodputRow::TABLE,
        sampler::QueueRow::TABLE,
        radio_series::UeSampleRow::TABLE,
        slotted::SampleRow::TABLE,
    ]
}

impl Outcome {
    /// The tables that the results of the run have, by name, without series.
    pub fn tables(self) -> impl Iterator<Item = (&'static str, Table)> {
        let always = [
            ("flows", self.flows),
            ("links", self.links),
            ("nodes", self.nodes),
        ];
        let some = [("radio", self.radio), ("mcs", self.mcs)];
        let some = some.into_iter().chain(self.more);
        always
            .into_iter()
            .chain(some.filter(|(_, table)| table.rows() > 0))
    }

    /// # Errors
    /// [`Interrupt`], if `watch` returns it.
    ///
    /// # Panics
    /// If the conservation of packets does not hold, which is a bug.
    pub(crate) fn of(
        mut world: World,
        ended: Ended,
        watch: &mut Watch<'_>,
    ) -> Result<Self, Interrupt> {
        let now = match ended {
            Ended::FlowsFinished => world.simulation.events.now(),
            Ended::TimeLimit => world.end,
        };
        let balance = world.simulation.network.balance();
        assert!(balance.holds(), "packets are conserved: {balance:?}");
        assert_eq!(
            balance.in_flight,
            world.simulation.held_pkts() as u64,
            "every packet in flight is on a link or in a router"
        );
        let summary = Summary {
            simulated_s: now.as_secs_f64(),
            traffic_s: traffic_s(&world, now),
            events: world.simulation.events.fired(),
            packets_injected: balance.injected,
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
        ("coding", coding::flows(world, now, watch)?),
        ("reordering", reordering::densities(world, watch)?),
        ("assignment", world.assigned.clone()),
    ];
    Ok(tables
        .into_iter()
        .filter(|(_, table)| table.rows() > 0)
        .collect())
}

/// `span` in seconds; the clock of results starts after the warm-up.
fn traffic_s(world: &World, at: SimTime) -> f64 {
    at.as_secs_f64() - world.warm_up.as_secs_f64()
}
