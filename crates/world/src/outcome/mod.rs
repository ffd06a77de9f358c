//! The results of a run: a summary, tables, series and captures.
//!
//! Each file declares the tables that it fills ([`backlane_record::table!`]); [`tables`] lists all.

use backlane_record::Table;

pub(crate) mod busiest;
pub(crate) mod carried;
mod coding;
mod collect;
mod divisions;
pub(crate) mod flows;
pub(crate) mod links;
mod mesh;
pub(crate) mod radio;
pub(crate) mod radio_series;
mod reference;
mod reordering;
mod runs;
pub(crate) mod sampler;

pub use reference::{reference, tables};

/// A row has many columns.
const STEPS_PER_ROW: u64 = 4;

/// Why a run ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ended {
    /// Every finite flow has finished or failed.
    FlowsFinished,
    /// The scenario's duration is over.
    TimeLimit,
    /// What shares its clock has ended it.
    Stopped,
}

impl Ended {
    /// The name in results.
    pub const fn name(self) -> &'static str {
        match self {
            Self::FlowsFinished => "flows finished",
            Self::TimeLimit => "time limit",
            Self::Stopped => "stopped",
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
    /// Copies that wires made of packets.
    pub packets_duplicated: u64,
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
}
