//! UEs and their access links or radio network.

use std::sync::Arc;

use backlane_engine::{Interrupt, Watch};
use backlane_net::{Capacity, MediumId, NodeId, TracedConfig};
use backlane_scenario::model::{
    Access, AccessKind, DeclaredAccess, IdealAccess, NodeKind, Placement, TraceAccess,
};
use backlane_units::SimTime;

use crate::builder::Builder;
use crate::convert;
use crate::error::{BuildError, Unbuilt};
use crate::infos::{LinkInfo, NodeInfo};
use crate::technologies::Cell;

impl Builder<'_> {
    /// Adds the UEs and attaches them.
    pub(crate) fn add_access(&mut self, watch: &mut Watch<'_>) -> Result<(), Unbuilt> {
        let Some(access) = &self.scenario.access else {
            return Ok(());
        };
        let enodebs: Vec<NodeId> = (0..self.scenario.nodes.len())
            .filter(|&index| self.scenario.nodes[index].kind == NodeKind::Enodeb)
            .map(|index| NodeId(index as u32))
            .collect();
        if access.ues > 0 && enodebs.is_empty() {
            return Err(BuildError("UEs need an eNodeB".to_owned()).into());
        }
        let cells = self.add_ues(access, &enodebs, watch)?;
        match &access.kind {
            AccessKind::Ideal(ideal) => self.attach_ideal(*ideal, &cells),
            AccessKind::Lte(lte) => self.attach_lte(access, lte, &enodebs, watch)?,
            AccessKind::Declared(declared) => self.attach_declared(declared, &cells)?,
            AccessKind::Trace(trace) => self.attach_traced(trace, &enodebs, &cells)?,
        }
        Ok(())
    }

    /// Adds the UEs; returns each eNodeB with the UEs that it serves, if any.
    fn add_ues(
        &mut self,
        access: &Access,
        enodebs: &[NodeId],
        watch: &mut Watch<'_>,
    ) -> Result<Vec<(NodeId, Vec<NodeId>)>, Interrupt> {
        let mut cells: Vec<Vec<NodeId>> = vec![Vec::new(); self.scenario.nodes.len()];
        for index in 0..access.ues {
            watch.tick(1)?;
            let id = format!("ue{}", index + 1);
            let enodeb = match &access.placement {
                Placement::RoundRobin => enodebs[index % enodebs.len()],
                Placement::Random => {
                    let mut stream = self.streams.stream(&id, "placement");
                    enodebs[stream.uniform_below(enodebs.len() as u64) as usize]
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
                geographic_deg: None,
                attached_to: Some(enodeb),
            });
        }
        Ok(enodebs
            .iter()
            .map(|&enodeb| (enodeb, std::mem::take(&mut cells[enodeb.index()])))
            .filter(|(_, ues)| !ues.is_empty())
            .collect())
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

    fn attach_traced(
        &mut self,
        access: &TraceAccess,
        enodebs: &[NodeId],
        cells: &[(NodeId, Vec<NodeId>)],
    ) -> Result<(), BuildError> {
        let traces: Vec<Arc<Capacity>> = access
            .traces
            .iter()
            .map(|trace| convert::capacity(trace, access.at_end).map(Arc::new))
            .collect::<Option<_>>()
            .ok_or_else(|| BuildError("a trace has no order or no length".to_owned()))?;
        let queue = self.queue(&access.queue)?;
        let config = |list: &[usize], number: usize| TracedConfig {
            capacity: traces[list[number % list.len()]].clone(),
            origin: SimTime::ZERO + self.scenario.warm_up,
            delay: access.delay,
            queue: queue.clone(),
        };
        // The lists of traces count eNodeBs in the order of the file, or UEs.
        let mut links: Vec<(usize, NodeId, &[NodeId])> = Vec::new();
        for (enodeb, ues) in cells {
            if access.shared {
                let number = enodebs.iter().position(|known| known == enodeb);
                links.push((number.unwrap_or(0), *enodeb, ues));
            } else {
                // UEs have consecutive numbers.
                let first = self.ues.first().map_or(0, |ue| ue.index());
                let own = ues.iter().map(std::slice::from_ref);
                links.extend(own.map(|ue| (ue[0].index() - first, *enodeb, ue)));
            }
        }
        links.sort_by_key(|(number, ..)| *number);
        for (number, enodeb, ues) in links {
            let up = config(&access.uplink, number);
            let down = config(&access.downlink, number);
            self.network
                .attach_traced(&mut self.events, ues, enodeb, &up, &down);
            let enodeb = self.id(enodeb);
            let below = if access.shared {
                format!("{enodeb}:ues")
            } else {
                self.id(ues[0])
            };
            self.name_links(below, enodeb);
        }
        Ok(())
    }

    /// Attaches the UEs of the cells by one medium.
    fn attach_declared(
        &mut self,
        access: &DeclaredAccess,
        cells: &[(NodeId, Vec<NodeId>)],
    ) -> Result<(), BuildError> {
        let cells: Vec<Cell> = cells
            .iter()
            .map(|(enodeb, ues)| Cell {
                enodeb: *enodeb,
                position_m: self.nodes[enodeb.index()].position_m,
                ues: ues.clone(),
            })
            .collect();
        let technologies = &self.models.technologies;
        let network = technologies.medium(access, &cells, &self.streams)?;
        let medium = MediumId(self.media.len() as u32);
        self.media.push(network);
        for cell in &cells {
            for &ue in &cell.ues {
                self.network.attach_over(ue, cell.enodeb, medium);
            }
        }
        Ok(())
    }

    /// Names the two directions of the last attachment: up, then down.
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
