//! A world while it is built.

use backlane_engine::{EventQueue, Streams};
use backlane_net::{Event, LinkId, Medium, Network, NodeId, QueueConfig};
use backlane_scenario::model::{self, Scenario};
use backlane_tcp::congestion::Custom;

use crate::controls::Instead;
use crate::error::BuildError;
use crate::infos::{LinkInfo, NodeInfo};
use crate::models::Models;
use crate::ran::Radio;
use crate::routers::Protocol;
use crate::stations::Radios;

/// A partly built world.
pub(crate) struct Builder<'a> {
    pub(crate) scenario: &'a Scenario,
    pub(crate) models: &'a Models,
    pub(crate) protocol: &'a Protocol,
    pub(crate) controls: &'a [Custom],
    pub(crate) instead: Option<&'a Instead<'a>>,
    pub(crate) streams: Streams,
    pub(crate) events: EventQueue<Event>,
    pub(crate) network: Network,
    pub(crate) media: Vec<Box<dyn Medium>>,
    pub(crate) nodes: Vec<NodeInfo>,
    pub(crate) links: Vec<LinkInfo>,
    pub(crate) ues: Vec<NodeId>,
    /// The first direction of each link of the file that is built; its other direction follows.
    pub(crate) link_ids: Vec<Option<LinkId>>,
    pub(crate) radio: Option<Radio>,
    pub(crate) wifi: Option<Radios>,
}

impl Builder<'_> {
    /// The queue that the scenario describes.
    pub(crate) fn queue(&self, queue: &model::QueueConfig) -> Result<QueueConfig, BuildError> {
        self.models.queues.config(queue, &self.streams)
    }

    pub(crate) fn id(&self, node: NodeId) -> String {
        self.nodes[node.index()].id.clone()
    }
}
