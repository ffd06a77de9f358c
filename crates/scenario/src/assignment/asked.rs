//! The question of an assignment and its answer.

use backlane_assignment as fcra;

use crate::diagnostic::Span;
use crate::model::{Scenario, Wifi};
use crate::topology::Network;
use crate::tree::Table;

/// The section with what it is about.
pub(super) struct Asked<'a> {
    pub(super) config: fcra::Config,
    pub(super) table: &'a Table,
    pub(super) span: Span,
    pub(super) network: &'a Network,
    pub(super) scenario: &'a Scenario,
    pub(super) wifi: &'a Wifi,
    /// The indices of the links over radios, in their order in the mesh.
    pub(super) links: Vec<usize>,
}

/// The result for the links of the mesh.
pub(super) struct Found {
    /// As they are from now on; `None` where they stay as they are.
    pub(super) channels: Option<Vec<Option<u8>>>,
    pub(super) rates_bps: Vec<u64>,
    pub(super) flow_rates_bps: Vec<[u64; 2]>,
    pub(super) scale: f64,
    pub(super) utilisation: Vec<f64>,
}
