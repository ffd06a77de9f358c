//! The shortest-path tree (RFC 2328 §16.1), with all next hops of equal paths.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};

use backlane_net::NodeId;

use super::lsa::{Link, Lsa};

/// The first interfaces of all shortest paths from `root`, in order, by router. A link counts if
/// both of its ends have it in their LSA; each direction has the cost of its sender.
pub fn routes<'a>(
    root: NodeId,
    lsa: impl Fn(NodeId) -> Option<&'a Lsa>,
) -> BTreeMap<NodeId, Vec<u16>> {
    let mut best = search(root, lsa);
    best.remove(&root);
    best.into_iter()
        .map(|(node, (_, paths))| (node, paths))
        .collect()
}

/// The costs of the shortest paths from `root` by router, itself included.
pub fn costs<'a>(root: NodeId, lsa: impl Fn(NodeId) -> Option<&'a Lsa>) -> BTreeMap<NodeId, u32> {
    let best = search(root, lsa).into_iter();
    best.map(|(node, (cost, _))| (node, cost)).collect()
}

/// The cost of the shortest paths to each router, and their first interfaces.
fn search<'a>(
    root: NodeId,
    lsa: impl Fn(NodeId) -> Option<&'a Lsa>,
) -> BTreeMap<NodeId, (u32, Vec<u16>)> {
    let links = |node| lsa(node).into_iter().flat_map(Lsa::links);
    let is_mutual = |from: NodeId, link: &Link| {
        let mut back = links(link.neighbour);
        back.any(|back| back.neighbour == from)
    };
    let mut best: BTreeMap<NodeId, (u32, Vec<u16>)> = BTreeMap::from([(root, (0, Vec::new()))]);
    let mut open = BinaryHeap::from([(Reverse(0u32), root)]);
    while let Some((Reverse(cost), node)) = open.pop() {
        let Some((known, first)) = best.get(&node) else {
            continue;
        };
        if cost > *known {
            continue;
        }
        let first = first.clone();
        for link in links(node).filter(|link| is_mutual(node, link)) {
            let through = cost + u32::from(link.cost);
            let own = [link.interface];
            let hops = if node == root { &own[..] } else { &first[..] };
            let (known, paths) = best.entry(link.neighbour).or_insert((u32::MAX, Vec::new()));
            if through > *known {
                continue;
            }
            if through < *known {
                (*known, *paths) = (through, Vec::new());
                open.push((Reverse(through), link.neighbour));
            }
            for hop in hops {
                if let Err(at) = paths.binary_search(hop) {
                    paths.insert(at, *hop);
                }
            }
        }
    }
    best
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use crate::ospf::lsa::{Entry, INITIAL_SEQUENCE};

    fn lsa_of(node: u32, sequence: i32, links: impl IntoIterator<Item = Link>) -> Lsa {
        Lsa::new(
            NodeId(node),
            sequence,
            links.into_iter().map(Entry::Link).collect(),
        )
    }

    /// The LSAs of a network of wires; interfaces are in the order of the wires.
    pub(in crate::ospf) fn lsas(wires: &[(u32, u32, u16)]) -> BTreeMap<NodeId, Lsa> {
        let mut links: BTreeMap<u32, Vec<Link>> = BTreeMap::new();
        for &(a, b, cost) in wires {
            for (from, to) in [(a, b), (b, a)] {
                let links = links.entry(from).or_default();
                links.push(Link {
                    neighbour: NodeId(to),
                    interface: links.len() as u16,
                    cost,
                });
            }
        }
        let lsa = |(node, links): (u32, Vec<Link>)| {
            let entries = links.into_iter().map(Entry::Link).collect();
            (
                NodeId(node),
                Lsa::new(NodeId(node), INITIAL_SEQUENCE, entries),
            )
        };
        links.into_iter().map(lsa).collect()
    }

    /// A grid of 4 × 4; node = 4 · row + column, links along a row cost 10, along a column 20.
    fn grid(without: Option<(u32, u32)>) -> BTreeMap<NodeId, Lsa> {
        let rows = (0..16).filter(|node| node % 4 < 3);
        let columns = 0..12;
        let rows = rows.map(|node| (node, node + 1, 10));
        let columns = columns.map(|node| (node, node + 4, 20));
        let mut wires: Vec<_> = rows.chain(columns).collect();
        wires.retain(|&(a, b, _)| without != Some((a, b)));
        lsas(&wires)
    }

    fn hops(lsas: &BTreeMap<NodeId, Lsa>, from: u32, to: u32) -> Vec<u32> {
        let routes = routes(NodeId(from), |node| lsas.get(&node));
        let links: Vec<_> = lsas[&NodeId(from)].links().collect();
        let interfaces = &routes[&NodeId(to)];
        let peers = interfaces
            .iter()
            .map(|at| links[usize::from(*at)].neighbour.0);
        let mut peers: Vec<_> = peers.collect();
        peers.sort_unstable();
        peers
    }

    /// Next hops that BIRD and FRR had in their kernels on this grid.
    #[test]
    fn next_hops_are_those_of_the_recorded_daemons() {
        let lsas = grid(None);
        assert_eq!(hops(&lsas, 5, 0), [1, 4]);
        assert_eq!(hops(&lsas, 5, 8), [4, 9]);
        assert_eq!(hops(&lsas, 5, 15), [6, 9]);
        assert_eq!(hops(&lsas, 5, 6), [6]);
        assert_eq!(hops(&grid(Some((5, 6))), 5, 6), [1, 9]);
    }

    #[test]
    fn a_link_that_one_end_alone_reports_is_not_used() {
        let mut lsas = grid(None);
        let links: Vec<_> = lsas[&NodeId(6)].links().copied().collect();
        let links = links.into_iter().filter(|link| link.neighbour != NodeId(5));
        lsas.insert(NodeId(6), lsa_of(6, INITIAL_SEQUENCE + 1, links));
        assert_eq!(hops(&lsas, 5, 6), [1, 9]);
    }

    #[test]
    fn parallel_links_of_equal_cost_are_both_used() {
        let link = |neighbour, interface| Link {
            neighbour: NodeId(neighbour),
            interface,
            cost: 3,
        };
        let lsa = |node, links: Vec<Link>| (NodeId(node), lsa_of(node, INITIAL_SEQUENCE, links));
        let lsas = BTreeMap::from([
            lsa(0, vec![link(1, 0), link(1, 1)]),
            lsa(1, vec![link(0, 0), link(0, 1), link(2, 2)]),
            lsa(2, vec![link(1, 0)]),
        ]);
        let routes = routes(NodeId(0), |node| lsas.get(&node));
        assert_eq!(routes[&NodeId(2)], [0, 1]);
    }
}
