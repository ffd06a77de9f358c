//! Which links a flow may take.

use std::collections::{BTreeMap, BTreeSet};

use backlane_net::{Network, NodeId};

use crate::graph::{Distances, links_to};

/// The maximum number of steps of a search for a path through a link; a link whose search is given
/// up counts as being on one.
const MOST_STEPS: u32 = 1_000;

/// The source of a flow and the router where it leaves the mesh.
type Ends = (NodeId, NodeId);

/// The links that the flows of a network may take: all, those on their simple paths, or those that
/// lead nearer to the exit; and how far each node is from the exits.
#[derive(Debug)]
pub struct FlowLinks {
    /// Nodes that forward only their own packets.
    no_transit: Vec<bool>,
    /// Numbers of links to the exits of flows.
    distances: Distances,
    /// The directed links on the simple paths of restricted flows.
    kept_to: BTreeMap<Ends, BTreeSet<(NodeId, NodeId)>>,
    downhill: bool,
}

impl FlowLinks {
    /// Every flow may take any link. `exits` are the routers where flows leave the mesh. The nodes
    /// in `no_transit` do not forward other nodes' packets.
    pub fn all(
        network: &Network,
        no_transit: &[NodeId],
        exits: impl IntoIterator<Item = NodeId>,
    ) -> Self {
        let mut closed = vec![false; network.node_count()];
        for node in no_transit {
            closed[node.index()] = true;
        }
        let mut into: Vec<Vec<NodeId>> = vec![Vec::new(); network.node_count()];
        for node in (0..network.node_count() as u32).map(NodeId) {
            for interface in network.mesh_interfaces(node) {
                into[interface.peer.index()].push(node);
            }
        }
        Self {
            distances: Distances::by(network.node_count(), exits, |exit| {
                links_to(exit, &into, &closed)
            }),
            no_transit: closed,
            kept_to: BTreeMap::new(),
            downhill: false,
        }
    }

    /// The flows between these ends keep to links on paths that visit no node twice: the source
    /// (a host or a router), the router where it is attached, and the router where the flow
    /// leaves. Flows between other ends may take any link.
    #[must_use]
    pub fn on_simple_paths(
        mut self,
        network: &Network,
        ends: impl IntoIterator<Item = (NodeId, NodeId, NodeId)>,
    ) -> Self {
        let mut between = BTreeMap::new();
        for (source, entry, exit) in ends {
            let links = between
                .entry((entry, exit))
                .or_insert_with(|| Search::new(network, &self.no_transit, entry, exit).links());
            self.kept_to.insert((source, exit), links.clone());
        }
        self
    }

    /// All flows keep to links that lead to a node with fewer links to their exit.
    #[must_use]
    pub fn downhill(mut self) -> Self {
        self.downhill = true;
        self
    }

    /// The number of links from a node to an exit; `u16::MAX` if there is no path, or the node is
    /// no flow's exit.
    pub(super) fn hops(&self, from: NodeId, exit: NodeId) -> u16 {
        self.distances
            .to(exit)
            .map_or(u16::MAX, |hops| hops[from.index()])
    }

    /// Whether a flow from `source` that leaves the mesh at `exit` may go from one router to the
    /// next.
    pub(super) fn may_take(&self, (source, exit): Ends, from: NodeId, to: NodeId) -> bool {
        if self.no_transit[to.index()] && to != exit {
            return false;
        }
        if self.downhill {
            return self.hops(to, exit) < self.hops(from, exit);
        }
        let kept_to = self.kept_to.get(&(source, exit));
        kept_to.is_none_or(|links| links.contains(&(from, to)))
    }
}

/// The links on simple paths from one router to another.
struct Search {
    entry: NodeId,
    exit: NodeId,
    /// The possible next hops of each node.
    neighbours: Vec<Vec<NodeId>>,
    visited: Vec<bool>,
    /// Scratch of [`Search::reaches`].
    seen: Vec<bool>,
    ahead: Vec<NodeId>,
}

impl Search {
    fn new(network: &Network, no_transit: &[bool], entry: NodeId, exit: NodeId) -> Self {
        let nodes = (0..network.node_count() as u32).map(NodeId);
        let neighbours = nodes
            .map(|node| {
                let interfaces = network.mesh_interfaces(node).iter();
                interfaces
                    .map(|interface| interface.peer)
                    .filter(|&peer| !no_transit[peer.index()] || peer == exit)
                    .collect()
            })
            .collect();
        Self {
            entry,
            exit,
            neighbours,
            visited: vec![false; network.node_count()],
            seen: Vec::new(),
            ahead: Vec::new(),
        }
    }

    fn links(mut self) -> BTreeSet<(NodeId, NodeId)> {
        let mut found = BTreeSet::new();
        if self.entry == self.exit {
            return found;
        }
        let nodes = || (0..self.neighbours.len() as u32).map(NodeId);
        let entry_leads_to = |node: NodeId| {
            node == self.entry || self.neighbours[self.entry.index()].contains(&node)
        };
        let leads_to_exit =
            |node: NodeId| node == self.exit || self.neighbours[node.index()].contains(&self.exit);
        let begins: Vec<bool> = nodes().map(entry_leads_to).collect();
        let ends: Vec<bool> = nodes().map(leads_to_exit).collect();
        for from in (0..self.neighbours.len() as u32).map(NodeId) {
            for to in self.neighbours[from.index()].clone() {
                if found.contains(&(from, to)) || from == self.exit || to == self.entry {
                    continue;
                }
                // In a dense network nearly all links are of this kind.
                if begins[from.index()] && ends[to.index()] {
                    found.insert((from, to));
                    continue;
                }
                self.visited.fill(false);
                self.visited[self.entry.index()] = true;
                let mut path = vec![self.entry];
                let mut steps = MOST_STEPS;
                if self.through((from, to), &mut path, &mut steps) {
                    found.insert((from, to));
                    if steps > 0 {
                        found.extend(path.windows(2).map(|pair| (pair[0], pair[1])));
                    }
                }
            }
        }
        found
    }

    /// Extends `path` to the start of the link, such that a path remains from its end to the exit.
    /// Counts down the steps left; without any, the answer is yes.
    fn through(&mut self, link: (NodeId, NodeId), path: &mut Vec<NodeId>, steps: &mut u32) -> bool {
        let (from, to) = link;
        let at = path[path.len() - 1];
        if *steps == 0 {
            return true;
        }
        *steps -= 1;
        if self.visited[to.index()] || !self.reaches(to, self.exit, None) {
            return false;
        }
        if at == from {
            return true;
        }
        if !self.reaches(at, from, Some(to)) {
            return false;
        }
        for next in self.neighbours[at.index()].clone() {
            if self.visited[next.index()] || next == to || next == self.exit {
                continue;
            }
            self.visited[next.index()] = true;
            path.push(next);
            if self.through(link, path, steps) {
                return true;
            }
            path.pop();
            self.visited[next.index()] = false;
        }
        false
    }

    /// Whether a path over unvisited nodes exists that avoids `but`.
    fn reaches(&mut self, from: NodeId, to: NodeId, but: Option<NodeId>) -> bool {
        self.seen.clone_from(&self.visited);
        if let Some(but) = but {
            self.seen[but.index()] = true;
        }
        self.ahead.clear();
        self.ahead.push(from);
        while let Some(at) = self.ahead.pop() {
            if at == to {
                return true;
            }
            for &next in &self.neighbours[at.index()] {
                if !self.seen[next.index()] {
                    self.seen[next.index()] = true;
                    self.ahead.push(next);
                }
            }
        }
        false
    }
}

#[cfg(test)]
mod tests {
    use backlane_engine::EventQueue;
    use backlane_net::{LinkConfig, QueueConfig, QueueLimit};
    use backlane_units::{Duration, Rate};

    use super::*;

    fn network(nodes: u32, wires: &[(u32, u32)]) -> Network {
        let mut network = Network::new();
        for _ in 0..nodes {
            network.add_router();
        }
        let link = LinkConfig {
            rate: Rate::from_bps(1_000_000),
            delay: Duration::ZERO,
            queue: QueueConfig::DropTail(QueueLimit::Packets(10)),
        };
        for &(a, b) in wires {
            network.connect(&mut EventQueue::new(), NodeId(a), NodeId(b), &link);
        }
        network
    }

    /// The links on simple paths that a flow from 0 to `exit` may take.
    fn links(network: &Network, exit: u32, no_transit: &[NodeId]) -> Vec<(u32, u32)> {
        let (source, exit) = (NodeId(0), NodeId(exit));
        let links = FlowLinks::all(network, no_transit, [exit]);
        taken(
            network,
            &links.on_simple_paths(network, [(source, source, exit)]),
            exit,
        )
    }

    /// The links that a flow from 0 to `exit` may take.
    fn taken(network: &Network, links: &FlowLinks, exit: NodeId) -> Vec<(u32, u32)> {
        let source = NodeId(0);
        let nodes = (0..network.node_count() as u32).map(NodeId);
        nodes
            .flat_map(|from| {
                let peers = network.mesh_interfaces(from).iter().map(|i| i.peer);
                peers.map(move |to| (from, to))
            })
            .filter(|&(from, to)| links.may_take((source, exit), from, to))
            .map(|(from, to)| (from.0, to.0))
            .collect()
    }

    /// Enumerates all simple paths.
    fn by_enumeration(network: &Network, exit: u32) -> BTreeSet<(u32, u32)> {
        fn go(network: &Network, path: &mut Vec<u32>, exit: u32, on: &mut BTreeSet<(u32, u32)>) {
            let at = path[path.len() - 1];
            if at == exit {
                on.extend(path.windows(2).map(|pair| (pair[0], pair[1])));
                return;
            }
            for interface in network.mesh_interfaces(NodeId(at)) {
                if !path.contains(&interface.peer.0) {
                    path.push(interface.peer.0);
                    go(network, path, exit, on);
                    path.pop();
                }
            }
        }
        let mut on = BTreeSet::new();
        go(network, &mut vec![0], exit, &mut on);
        on
    }

    #[test]
    fn in_a_tree_a_flow_has_one_path() {
        let tree = network(4, &[(0, 1), (0, 2), (2, 3)]);
        assert_eq!(links(&tree, 1, &[]), [(0, 1)]);
        assert_eq!(links(&tree, 3, &[]), [(0, 2), (2, 3)]);
    }

    #[test]
    fn in_a_diamond_a_flow_uses_both_paths_and_not_the_links_back() {
        let diamond = network(4, &[(0, 1), (0, 2), (1, 3), (2, 3)]);
        assert_eq!(links(&diamond, 1, &[]), [(0, 1), (0, 2), (2, 3), (3, 1)]);
        assert_eq!(links(&diamond, 3, &[]), [(0, 1), (0, 2), (1, 3), (2, 3)]);
        assert_eq!(links(&diamond, 3, &[NodeId(2)]), [(0, 1), (1, 3)]);
    }

    /// A path of two and one of three links from 0 to 3, and a link between them.
    #[test]
    fn downhill_a_flow_takes_links_that_lower_the_hop_count_only() {
        let wires = [(0, 1), (1, 3), (0, 2), (2, 4), (4, 3), (1, 2)];
        let network = network(5, &wires);
        let links = |closed: &[NodeId]| {
            let links = FlowLinks::all(&network, closed, [NodeId(3)]).downhill();
            taken(&network, &links, NodeId(3))
        };
        assert_eq!(links(&[]), [(0, 1), (1, 3), (2, 4), (2, 1), (4, 3)]);
        assert_eq!(links(&[NodeId(1)]), [(0, 2), (1, 3), (2, 4), (4, 3)]);
    }

    #[test]
    fn where_all_are_neighbours_a_flow_may_take_all_links_but_back_to_its_source() {
        let all: Vec<_> = (0..6).flat_map(|a| (0..a).map(move |b| (a, b))).collect();
        let all = network(6, &all);
        let found: BTreeSet<_> = links(&all, 5, &[]).into_iter().collect();
        assert_eq!(found, by_enumeration(&all, 5));
        assert_eq!(found.len(), 5 + 4 * 4, "none to 0, none from 5");
        assert_eq!(links(&all, 0, &[]), []);
    }

    #[test]
    fn the_search_finds_what_trying_every_path_finds() {
        let grid: Vec<_> = (0..12)
            .flat_map(|node| [(node, node + 1), (node, node + 4)])
            .filter(|&(a, b)| b < 12 && (b - a == 4 || b % 4 != 0))
            .collect();
        let grid = network(12, &grid);
        for exit in 1..12 {
            let found: BTreeSet<_> = links(&grid, exit, &[]).into_iter().collect();
            assert_eq!(found, by_enumeration(&grid, exit), "to {exit}");
        }
    }

    /// A search that is cut short answers yes: a superfluous link costs little, while a missing one
    /// could disconnect a flow.
    #[test]
    fn a_search_that_runs_out_of_steps_leaves_no_link_out() {
        let ring: Vec<_> = (0..8).map(|node| (node, (node + 1) % 8)).collect();
        let ring = network(8, &ring);
        let search = || Search::new(&ring, &[false; 8], NodeId(0), NodeId(4));
        for (from, to) in by_enumeration(&ring, 4) {
            for most in 0..8 {
                let mut search = search();
                search.visited[0] = true;
                let (mut path, mut steps) = (vec![NodeId(0)], most);
                let link = (NodeId(from), NodeId(to));
                assert!(
                    search.through(link, &mut path, &mut steps),
                    "{from} to {to} in {most} steps"
                );
            }
        }
    }
}
