//! How the flows fall on equal paths.

use std::collections::BTreeMap;

use backlane_engine::{Interrupt, Watch};
use backlane_net::{FlowId, NodeId, Packet};
use backlane_record::{Rows, Table, table};

use super::STEPS_PER_ROW;
use crate::world::World;

table! {
    /// One row for each link over which a router divides flows by a hash (OSPF), by the routes at the
    /// end of the run. Flows that the hash puts on one link share its rate.
    pub(super) struct DivisionRow in "divisions" {
        /// The router.
        node: String;
        /// The router at the other end of the link.
        to: String;
        /// The equal paths among which the router chooses.
        paths: u64;
        /// Directions of flows that take this link of them: data one way, acknowledgments the other.
        flows: u64;
        /// Those of them with data.
        data_flows: u64;
    }
}

/// A size; hashes have none.
const ANY_BYTES: u32 = 1500;

/// Links with the number of directions of flows that take them, and of those with data.
type Counts = BTreeMap<u16, (u64, u64)>;

/// Follows every flow and its acknowledgments from router to router.
pub(super) fn divisions(world: &World, watch: &mut Watch<'_>) -> Result<Table, Interrupt> {
    let network = &world.simulation.network;
    let mut all: BTreeMap<(NodeId, Vec<u16>), Counts> = BTreeMap::new();
    for (number, flow) in world.simulation.application.flows().iter().enumerate() {
        let ends = [flow.spec.source, flow.spec.destination];
        for (is_data, [from, to]) in [(true, ends), (false, [ends[1], ends[0]])] {
            let mut packet = Packet::new(FlowId(number as u32), from, to, ANY_BYTES);
            packet.reverse = !is_data;
            packet.exit = network.exit_of(to);
            let mut node = network.exit_of(from);
            for _ in 0..packet.ttl {
                watch.tick(1)?;
                if node == packet.exit {
                    break;
                }
                let Some(router) = world.simulation.router(node) else {
                    break;
                };
                let interface = match router.division(&packet) {
                    None => router.next_hop(packet.exit),
                    Some(division) => {
                        let counts = all.entry((node, division.interfaces.clone())).or_default();
                        for interface in division.interfaces {
                            counts.entry(interface).or_default();
                        }
                        let (flows, data_flows) = counts.entry(division.chosen).or_default();
                        *flows += 1;
                        *data_flows += u64::from(is_data);
                        Some(usize::from(division.chosen))
                    }
                };
                let Some(interface) = interface else { break };
                node = network.mesh_interfaces(node)[interface].peer;
            }
        }
    }
    let name = |node: NodeId| world.nodes[node.index()].id.clone();
    let mut rows = Rows::new();
    for ((node, interfaces), counts) in all {
        for (interface, (flows, data_flows)) in counts {
            watch.tick(STEPS_PER_ROW)?;
            rows.push(DivisionRow {
                node: name(node),
                to: name(network.mesh_interfaces(node)[usize::from(interface)].peer),
                paths: interfaces.len() as u64,
                flows,
                data_flows,
            });
        }
    }
    Ok(rows.into_table())
}
