//! A world: the simulation of a scenario, and what its results need to know.

use backlane_lte::Ran;
use backlane_net::{NodeId, Simulation};
use backlane_record::Table;
use backlane_traffic::Flows;
use backlane_units::SimTime;
use backlane_wifi::Wifi;

use crate::capture::Captures;
use crate::failures::Failures;
use crate::infos::{FlowInfo, LinkInfo, NodeInfo};
use crate::outcome::busiest::Busiest;
use crate::outcome::carried::Carried;
use crate::outcome::sampler::Sampler;
use crate::ran::Radio;
use crate::regions::{Others, Whole};
use crate::stations::Radios;

/// A world that is ready to run.
pub struct World {
    /// Network, routers and flows.
    pub simulation: Simulation<Flows>,
    pub(crate) nodes: Vec<NodeInfo>,
    /// The number of routers among the nodes.
    pub(crate) routers: usize,
    pub(crate) links: Vec<LinkInfo>,
    pub(crate) flows: Vec<FlowInfo>,
    pub(crate) end: SimTime,
    pub(crate) warm_up: SimTime,
    pub(crate) sampler: Sampler,
    /// The counters of each link direction at the end of the warm-up; `None` without one.
    pub(crate) carried_in_warm_up: Option<Vec<Carried>>,
    /// From the end of the warm-up on.
    pub(crate) busiest: Option<Busiest>,
    pub(crate) failures: Failures,
    /// The regions that other threads run.
    pub(crate) others: Option<Others>,
    /// Why there are none.
    pub(crate) whole: Whole,
    pub(crate) radio: Option<Radio>,
    pub(crate) wifi: Option<Radios>,
    pub(crate) captures: Option<Captures>,
    /// The routing protocol.
    pub(crate) protocol: String,
    /// The result of the channel assignment.
    pub(crate) assigned: Table,
}

impl World {
    /// The number of a node by its name.
    pub fn node(&self, id: &str) -> Option<NodeId> {
        self.nodes
            .iter()
            .position(|node| node.id == id)
            .map(|index| NodeId(index as u32))
    }

    /// The number of threads that will run it.
    pub fn threads(&self) -> usize {
        self.others.as_ref().map_or(1, Others::threads)
    }

    /// Why one thread runs it, as a clause about the network; `None` if several do.
    pub fn undivided(&self) -> Option<&'static str> {
        self.others.is_none().then(|| self.whole.reason())
    }

    /// The radio access network, if UEs are behind one.
    pub(crate) fn ran(&self) -> Option<(&Radio, &Ran)> {
        let radio = self.radio.as_ref()?;
        Some((radio, radio.ran(&self.simulation)?))
    }

    /// The medium, if routers have radios.
    pub(crate) fn medium(&self) -> Option<(&Radios, &Wifi)> {
        let radios = self.wifi.as_ref()?;
        Some((radios, radios.medium(&self.simulation)?))
    }

    /// `at` in seconds; the clock of results starts after the warm-up.
    pub(crate) fn traffic_s(&self, at: SimTime) -> f64 {
        at.as_secs_f64() - self.warm_up.as_secs_f64()
    }

    /// For each node the number of its connected component.
    pub(crate) fn pieces(&self) -> Vec<usize> {
        let mut pieces: Vec<usize> = (0..self.nodes.len()).collect();
        let root = |pieces: &mut [usize], mut node: usize| {
            while pieces[node] != node {
                pieces[node] = pieces[pieces[node]];
                node = pieces[node];
            }
            node
        };
        // The shared pipe of a cell has no node at one end; its UEs are attached.
        let links = self.simulation.network.links().iter();
        let joined = links
            .filter(|link| link.from != NodeId::NONE && link.to != NodeId::NONE)
            .map(|link| (link.from.index(), link.to.index()));
        let hosts = self.nodes.iter().enumerate();
        let attached = hosts.filter_map(|(host, info)| Some((host, info.attached_to?.index())));
        for (a, b) in joined.chain(attached) {
            let (a, b) = (root(&mut pieces, a), root(&mut pieces, b));
            pieces[a.max(b)] = a.min(b);
        }
        (0..pieces.len())
            .map(|node| root(&mut pieces, node))
            .collect()
    }
}
