//! The attributes of nodes, links and flows besides their numbers.

use backlane_net::NodeId;
use backlane_scenario::model::Programs;

/// The attributes of a node besides its number.
pub(crate) struct NodeInfo {
    pub id: String,
    pub kind: &'static str,
    pub position_m: Option<(f64, f64)>,
    pub geographic_deg: Option<(f64, f64)>,
    pub attached_to: Option<NodeId>,
}

/// The attributes of a link direction besides its number.
pub(crate) struct LinkInfo {
    pub from: String,
    pub to: String,
}

/// The attributes of a flow besides its number.
pub(crate) struct FlowInfo {
    pub name: String,
    pub kind: &'static str,
    pub congestion_control: Option<String>,
    /// What kernels run in place of a transfer.
    pub programs: Option<Programs>,
}
