//! Loop-free alternates (RFC 5286): a neighbour to which packets may be sent as soon as a first link
//! is lost, since its own shortest path does not lead back.
//!
//! Of S with the primary neighbour E, a neighbour N is an alternate to d if
//! D(N, d) < D(N, S) + D(S, d) (inequality 1). It also protects against the loss of E itself if
//! D(N, d) < D(N, E) + D(E, d) (inequality 3); such a one is preferred, then the shortest path.

use std::collections::BTreeMap;

use backlane_net::NodeId;

use super::lsa::{Link, Lsa};
use super::spf;

/// The alternate of each exit with one first interface, where there is one. Several equal paths
/// protect each other.
pub fn of<'a>(
    root: NodeId,
    routes: &BTreeMap<NodeId, Vec<u16>>,
    lsa: impl Fn(NodeId) -> Option<&'a Lsa>,
) -> BTreeMap<NodeId, u16> {
    let is_mutual = |link: &&Link| {
        let mut back = lsa(link.neighbour).into_iter().flat_map(Lsa::links);
        back.any(|back| back.neighbour == root)
    };
    let own: Vec<Link> = lsa(root)
        .into_iter()
        .flat_map(Lsa::links)
        .filter(is_mutual)
        .copied()
        .collect();
    let from_root = spf::costs(root, &lsa);
    let mut from: BTreeMap<NodeId, BTreeMap<NodeId, u32>> = BTreeMap::new();
    for link in &own {
        from.entry(link.neighbour)
            .or_insert_with(|| spf::costs(link.neighbour, &lsa));
    }
    let mut alternates = BTreeMap::new();
    for (&exit, first) in routes {
        let [primary] = first[..] else { continue };
        let Some(lost) = own.iter().find(|link| link.interface == primary) else {
            continue;
        };
        let distance = |node: NodeId, to: NodeId| from.get(&node)?.get(&to).copied();
        let best = own
            .iter()
            .filter(|link| link.interface != primary)
            .filter_map(|link| {
                let onward = distance(link.neighbour, exit)?;
                let back = distance(link.neighbour, root)? + from_root.get(&exit)?;
                let through = distance(link.neighbour, lost.neighbour)
                    .zip(distance(lost.neighbour, exit))
                    .map_or(u32::MAX, |(there, on)| there + on);
                let protects_node = onward < through;
                let length = u32::from(link.cost) + onward;
                (onward < back).then_some((!protects_node, length, link.interface))
            })
            .min();
        if let Some((.., alternate)) = best {
            alternates.insert(exit, alternate);
        }
    }
    alternates
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::ospf::spf::tests::lsas;

    fn alternates(lsas: &BTreeMap<NodeId, Lsa>, root: u32) -> BTreeMap<NodeId, u16> {
        let get = |node: NodeId| lsas.get(&node);
        of(NodeId(root), &spf::routes(NodeId(root), get), get)
    }

    /// Figure 1 of RFC 5286: S = 0, E = 1, N1 = 2, D = 3.
    #[test]
    fn the_rfcs_first_example_has_n1_as_alternate() {
        let found = alternates(&lsas(&[(0, 1, 5), (0, 2, 8), (1, 3, 4), (2, 3, 3)]), 0);
        assert_eq!(found[&NodeId(3)], 1);
    }

    /// In a ring of six with equal costs a neighbour's path to the router next door leads back.
    #[test]
    fn an_even_ring_has_an_alternate_only_beside_a_dear_link() {
        let ring: Vec<_> = (0..6).map(|node| (node, (node + 1) % 6, 1)).collect();
        assert!(alternates(&lsas(&ring), 0).is_empty());
        let mut dear = ring;
        dear[5].2 = 10;
        // The other way round costs 4, and back over the dear link 11.
        assert_eq!(alternates(&lsas(&dear), 0)[&NodeId(1)], 1);
    }

    /// Two neighbours lead to 4 without coming back; by the one, 2, the path passes 1 again.
    #[test]
    fn an_alternate_that_survives_the_neighbour_is_preferred() {
        let wires = [
            (0, 1, 1),
            (1, 4, 1),
            (0, 2, 1),
            (2, 1, 1),
            (0, 3, 5),
            (3, 4, 5),
        ];
        assert_eq!(alternates(&lsas(&wires), 0)[&NodeId(4)], 2);
    }

    const NODES: usize = 7;
    const FAR: u32 = u32::MAX / 4;

    /// All distances, by Floyd and Warshall.
    fn distances(wires: &[(u32, u32, u16)]) -> [[u32; NODES]; NODES] {
        let mut d = [[FAR; NODES]; NODES];
        for (node, row) in d.iter_mut().enumerate() {
            row[node] = 0;
        }
        for &(a, b, cost) in wires {
            let (a, b) = (a as usize, b as usize);
            d[a][b] = d[a][b].min(cost.into());
            d[b][a] = d[a][b];
        }
        for via in 0..NODES {
            for a in 0..NODES {
                for b in 0..NODES {
                    d[a][b] = d[a][b].min(d[a][via] + d[via][b]);
                }
            }
        }
        d
    }

    /// Whether a packet for `to` at `at` can pass node 0 on a shortest path.
    fn can_pass_root(
        wires: &[(u32, u32, u16)],
        d: &[[u32; NODES]; NODES],
        at: usize,
        to: usize,
    ) -> bool {
        at == 0
            || wires
                .iter()
                .flat_map(|&(a, b, cost)| {
                    [
                        (a as usize, b as usize, cost),
                        (b as usize, a as usize, cost),
                    ]
                })
                .filter(|&(a, b, cost)| {
                    a == at && a != to && u32::from(cost) + d[b][to] == d[a][to]
                })
                .any(|(_, next, _)| can_pass_root(wires, d, next, to))
    }

    fn wires() -> impl Strategy<Value = Vec<(u32, u32, u16)>> {
        let wire = (0..NODES as u32, 1..NODES as u32, 1u16..6);
        let wire = wire.prop_map(|(a, step, cost)| (a, (a + step) % NODES as u32, cost));
        prop::collection::vec(wire, 4..14)
    }

    proptest! {
        /// There is an alternate exactly where a neighbour's packets cannot come back, and it is
        /// such a neighbour.
        #[test]
        fn alternates_are_the_neighbours_whose_paths_do_not_come_back(wires in wires()) {
            let lsas = lsas(&wires);
            let root = NodeId(0);
            let Some(own) = lsas.get(&root) else { return Ok(()) };
            let (routes, d) = (spf::routes(root, |node| lsas.get(&node)), distances(&wires));
            let found = alternates(&lsas, 0);
            for (exit, first) in routes {
                let [primary] = first[..] else {
                    prop_assert!(!found.contains_key(&exit));
                    continue;
                };
                let to = exit.0 as usize;
                let safe: Vec<u16> = own
                    .links()
                    .filter(|link| link.interface != primary)
                    .filter(|link| !can_pass_root(&wires, &d, link.neighbour.0 as usize, to))
                    .map(|link| link.interface)
                    .collect();
                match found.get(&exit) {
                    None => prop_assert!(safe.is_empty()),
                    Some(alternate) => prop_assert!(safe.contains(alternate)),
                }
            }
        }
    }
}
