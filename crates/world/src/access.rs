//! UEs, and what is between them and their eNodeBs.

use backlane_net::NodeId;
use backlane_scenario::model::{Access, AccessKind, IdealAccess, NodeKind, Placement};

use crate::build::{BuildError, Builder, LinkInfo, NodeInfo};

impl Builder<'_> {
    /// Adds the UEs and attaches them.
    pub(crate) fn add_access(&mut self) -> Result<(), BuildError> {
        let Some(access) = &self.scenario.access else {
            return Ok(());
        };
        let enodebs: Vec<NodeId> = (0..self.scenario.nodes.len())
            .filter(|&index| self.scenario.nodes[index].kind == NodeKind::Enodeb)
            .map(|index| NodeId(index as u32))
            .collect();
        if access.ues > 0 && enodebs.is_empty() {
            return Err(BuildError("UEs need an eNodeB".to_owned()));
        }
        let cells = self.add_ues(access, &enodebs);
        match &access.kind {
            AccessKind::Ideal(ideal) => self.attach_ideal(*ideal, &cells),
            AccessKind::Lte(_) => {
                return Err(BuildError(
                    "LTE access can be checked and not run".to_owned(),
                ));
            }
        }
        Ok(())
    }

    /// Adds the UEs; gives each eNodeB with those that it serves, if there are any.
    fn add_ues(&mut self, access: &Access, enodebs: &[NodeId]) -> Vec<(NodeId, Vec<NodeId>)> {
        let mut cells: Vec<Vec<NodeId>> = vec![Vec::new(); self.scenario.nodes.len()];
        for index in 0..access.ues {
            let id = format!("ue{}", index + 1);
            let enodeb = match &access.placement {
                Placement::RoundRobin => enodebs[index % enodebs.len()],
                Placement::Random => {
                    let mut stream = self.streams.stream(&id, "placement");
                    enodebs[stream.below(enodebs.len() as u64) as usize]
                }
                Placement::Listed(nodes) => NodeId(nodes[index] as u32),
            };
            let ue = self.network.add_host();
            cells[enodeb.index()].push(ue);
            self.ues.push(ue);
            self.nodes.push(NodeInfo {
                id,
                kind: "ue",
                position_m: self.nodes[enodeb.index()].position_m,
                attached_to: Some(enodeb),
            });
        }
        enodebs
            .iter()
            .map(|&enodeb| (enodeb, std::mem::take(&mut cells[enodeb.index()])))
            .filter(|(_, ues)| !ues.is_empty())
            .collect()
    }

    fn attach_ideal(&mut self, ideal: IdealAccess, cells: &[(NodeId, Vec<NodeId>)]) {
        for (enodeb, hosts) in cells {
            self.network.attach_cell(
                &mut self.events,
                hosts,
                *enodeb,
                ideal.rate,
                ideal.delay,
                ideal.queue_bytes,
            );
            let enodeb = self.id(*enodeb);
            self.name_links(format!("{enodeb}:ues"), enodeb);
        }
    }

    /// Names the two directions of what was attached last: up, then down.
    fn name_links(&mut self, below: String, enodeb: String) {
        self.links.push(LinkInfo {
            from: below.clone(),
            to: enodeb.clone(),
        });
        self.links.push(LinkInfo {
            from: enodeb,
            to: below,
        });
    }
}
