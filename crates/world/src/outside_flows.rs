//! What an [`Outside`](crate::Outside) needs to know of a world before it runs.

use backlane_net::NodeId;
use backlane_scenario::model::Programs;
use backlane_traffic::FlowSpec;
use backlane_units::{Duration, SimTime};

use crate::world::World;

/// A flow whose ends are outside.
#[derive(Clone, Debug)]
pub struct OutsideFlow {
    /// Its number.
    pub number: u32,
    /// Its name.
    pub name: String,
    /// Its congestion control, by name.
    pub congestion_control: Option<String>,
    /// What its ends run in place of a transfer.
    pub programs: Option<Programs>,
    /// Its ends, size, start and stop.
    pub spec: FlowSpec,
}

impl World {
    /// The flows whose ends are outside, which [`World::run_beside`] needs.
    pub fn outside_flows(&self) -> Vec<OutsideFlow> {
        let flows = self.simulation.application.flows().iter();
        let numbered = (0..).zip(self.flows.iter().zip(flows));
        let outside = numbered.filter(|(_, (_, flow))| flow.is_outside());
        outside
            .map(|(number, (info, flow))| OutsideFlow {
                number,
                name: info.name.clone(),
                congestion_control: info.congestion_control.clone(),
                programs: info.programs.clone(),
                spec: flow.spec.clone(),
            })
            .collect()
    }

    /// The ends of each link direction, in the order of the results.
    pub fn link_names(&self) -> impl Iterator<Item = (&str, &str)> {
        let links = self.links.iter();
        links.map(|link| (link.from.as_str(), link.to.as_str()))
    }

    /// The name of a node.
    pub fn name(&self, node: NodeId) -> &str {
        self.nodes.get(node.index()).map_or("", |node| &node.id)
    }

    /// When the warm-up ends, and the run at the latest.
    pub fn span(&self) -> [SimTime; 2] {
        [self.warm_up, self.end]
    }

    /// The interval of series of windows, if there are any.
    pub fn windows_every(&self) -> Option<Duration> {
        self.sampler.windows_every()
    }
}
