//! Rules that join placed nodes by their distances.
//!
//! Ties are broken by the lower index, so the result does not depend on the order in which pairs
//! are looked at. Only near pairs are: for evenly spread nodes a rule takes time in proportion to
//! n log n.

use std::cmp::Reverse;
use std::collections::{BTreeSet, BinaryHeap};

use backlane_units::Duration;

use super::nearest::{Candidate, Nearest, is_inside};
use super::positions::Positions;
use crate::problems::Problems;

/// Speed of light in air at the refractive index 1.0003, in m/s.
const LIGHT_IN_AIR_M_PER_S: f64 = 299_702_547.0;

/// Index pairs, each with the lower index first.
pub(super) type Links = Vec<(usize, usize)>;

/// The time a radio wave takes over `length_m` metres.
pub(super) fn propagation(length_m: f64) -> Duration {
    Duration::from_secs_f64(length_m / LIGHT_IN_AIR_M_PER_S)
}

/// The nearest nodes that are looked up first; twice as many each further time.
const FIRST_BATCH: usize = 8;

/// All pairs of some nodes, the shortest first. Each node looks its nearest ones up in batches,
/// since few rules ask for all.
struct Pairs<'p> {
    nearest: Nearest<'p>,
    /// By node, what is looked up but not given out: the longest first, and the size of the batch.
    batches: Vec<(Vec<Candidate>, usize)>,
    /// The shortest pair of each node that is not given out, with the node.
    next: BinaryHeap<Reverse<(Candidate, u32)>>,
    last: Option<Candidate>,
}

impl<'p> Pairs<'p> {
    /// The pairs of `nodes`, which may be in pieces.
    fn new(
        positions: &'p Positions,
        nodes: &[usize],
        parents: Option<&mut [usize]>,
        problems: &mut Problems,
    ) -> Self {
        let mut pairs = Self {
            nearest: Nearest::new(positions, nodes.iter().copied()),
            batches: vec![(Vec::new(), FIRST_BATCH); positions.len()],
            next: BinaryHeap::with_capacity(nodes.len()),
            last: None,
        };
        if let Some(parents) = parents {
            pairs.set_pieces(parents);
        }
        for &node in nodes {
            if !problems.go_on() {
                break;
            }
            pairs.look_up(node, None);
        }
        pairs
    }

    /// Removes a node: its pairs are no longer wanted.
    fn remove(&mut self, node: usize) {
        self.nearest.remove(node);
        self.batches[node].0 = Vec::new();
    }

    /// Pairs within one piece are no longer wanted; some may still come.
    fn set_pieces(&mut self, parents: &mut [usize]) {
        let pieces = 0..parents.len();
        let pieces = pieces.map(|node| root(parents, node) as u32);
        self.nearest.set_pieces(pieces.collect());
    }

    /// Puts the pair of `node` that follows `after` in line.
    fn look_up(&mut self, node: usize, after: Option<Candidate>) {
        if self.nearest.is_removed(node) {
            return;
        }
        let (batch, size) = &mut self.batches[node];
        if batch.is_empty() {
            *batch = self.nearest.of(node, after, *size);
            batch.reverse();
            *size *= 2;
        }
        let following = batch.pop().map(|pair| Reverse((pair, node as u32)));
        self.next.extend(following);
    }

    fn next(&mut self, problems: &mut Problems) -> Option<Candidate> {
        while problems.go_on() {
            let Reverse((pair, node)) = self.next.pop()?;
            self.look_up(node as usize, Some(pair));
            // Both ends have the pair in line, one right after the other.
            if self.last.replace(pair) != Some(pair) {
                return Some(pair);
            }
        }
        None
    }
}

/// The piece that each node belongs to, named by its lowest index.
pub(super) fn pieces(nodes: usize, links: impl Iterator<Item = (usize, usize)>) -> Vec<usize> {
    let mut parents: Vec<usize> = (0..nodes).collect();
    for (a, b) in links {
        join(&mut parents, a, b);
    }
    (0..nodes).map(|node| root(&mut parents, node)).collect()
}

fn root(parents: &mut [usize], mut node: usize) -> usize {
    while parents[node] != node {
        parents[node] = parents[parents[node]];
        node = parents[node];
    }
    node
}

/// Joins two pieces; false if they were one.
fn join(parents: &mut [usize], a: usize, b: usize) -> bool {
    let (a, b) = (root(parents, a), root(parents, b));
    let (low, high) = (a.min(b), a.max(b));
    parents[high] = low;
    low != high
}

/// Each node is joined to its `k` nearest.
pub(super) fn k_nearest(positions: &Positions, k: usize, problems: &mut Problems) -> Links {
    let nearest = Nearest::new(positions, 0..positions.len());
    let mut links = Links::new();
    for node in 0..positions.len() {
        if !problems.go_on() {
            break;
        }
        links.extend(nearest.of(node, None, k).iter().map(Candidate::ends));
    }
    links.sort_unstable();
    links.dedup();
    links
}

/// A node inside the circle is usually among this many nearest nodes of either end.
const NEAREST: usize = 16;

/// Two nodes are joined when no third lies inside the circle over their link, that is, when no
/// third sees them at an obtuse angle (Gabriel and Sokal 1969).
///
/// Nodes at one place see the others alike, so that one of them is looked at for all.
pub(super) fn gabriel(positions: &Positions, problems: &mut Problems) -> Links {
    let places = positions.places();
    let mut place_of = vec![usize::MAX; positions.len()];
    for (place, nodes) in places.iter().enumerate() {
        place_of[nodes[0]] = place;
    }
    let nearest = Nearest::new(positions, places.iter().map(|nodes| nodes[0]));
    let mut near = Vec::with_capacity(places.len());
    for nodes in &places {
        if !problems.go_on() {
            return Links::new();
        }
        let found = nearest.of(nodes[0], None, NEAREST);
        let others = found.iter().map(|pair| match pair.ends() {
            (a, b) if a == nodes[0] => b,
            (a, _) => a,
        });
        near.push(others.collect::<Vec<_>>());
    }
    let mut links = Links::new();
    for (place, nodes) in places.iter().enumerate() {
        // Nothing lies inside a circle without extent.
        for (rank, first) in nodes.iter().enumerate() {
            links.extend(nodes[rank + 1..].iter().map(|second| (*first, *second)));
        }
        let a = nodes[0];
        for b in nearest.not_behind(a, &near[place]) {
            if place_of[b] <= place {
                continue;
            }
            if !problems.go_on() {
                return Links::new();
            }
            let length_m = positions.distance_m(a, b);
            let mut close = near[place].iter().chain(&near[place_of[b]]);
            if close.any(|c| is_inside(positions, a, b, length_m, *c))
                || nearest.is_any_inside(a, b, length_m)
            {
                continue;
            }
            for first in nodes {
                let ends = places[place_of[b]].iter();
                links.extend(ends.map(|second| (*first.min(second), *first.max(second))));
            }
        }
    }
    links.sort_unstable();
    links
}

/// A spanning tree grown from `root` by the shortest link that leaves it (Prim), in which `root`
/// and every other node have at most `children` children; at least one is always allowed.
pub(super) fn capped_tree(
    positions: &Positions,
    root: usize,
    children: usize,
    problems: &mut Problems,
) -> Links {
    let nodes = positions.len();
    let distance = |a: usize, b: usize| positions.distance_m(a, b);
    let mut links = Links::new();
    let mut used = vec![0_usize; nodes];
    let mut inside = vec![false; nodes];
    let mut members = vec![root];
    // For each node outside, the nearest member that may still take a child.
    let mut best: Vec<(f64, usize)> = (0..nodes).map(|v| (distance(root, v), root)).collect();
    inside[root] = true;
    while members.len() < nodes {
        let next = (0..nodes).filter(|v| !inside[*v]).min_by(|x, y| {
            let (x, y) = ((best[*x], *x), (best[*y], *y));
            x.0.0
                .total_cmp(&y.0.0)
                .then((x.0.1, x.1).cmp(&(y.0.1, y.1)))
        });
        let Some(child) = next else {
            break;
        };
        let parent = best[child].1;
        links.push((parent.min(child), parent.max(child)));
        inside[child] = true;
        members.push(child);
        used[parent] += 1;
        let is_full = used[parent] >= children.max(1);
        for v in (0..nodes).filter(|v| !inside[*v]) {
            if !problems.go_on() {
                return links;
            }
            if is_full && best[v].1 == parent {
                best[v] = members
                    .iter()
                    .filter(|m| used[**m] < children.max(1))
                    .map(|m| (distance(*m, v), *m))
                    .min_by(|x, y| x.0.total_cmp(&y.0).then(x.1.cmp(&y.1)))
                    .unwrap_or((f64::INFINITY, child));
            }
            let through_child = (distance(child, v), child);
            if through_child
                .0
                .total_cmp(&best[v].0)
                .then(child.cmp(&best[v].1))
                .is_lt()
            {
                best[v] = through_child;
            }
        }
    }
    links
}

/// The spanning tree that takes the shortest links first (Kruskal) while no node gets more than
/// `cap` links. With a cap of 2 or more every piece keeps a node with room, so it always spans.
pub(super) fn capped_mst(positions: &Positions, cap: usize, problems: &mut Problems) -> Links {
    let mut parents: Vec<usize> = (0..positions.len()).collect();
    spanning(positions, &mut parents, cap, problems)
}

/// The shortest links that join the pieces `parents`, while no node gets more than `cap` of them.
fn spanning(
    positions: &Positions,
    parents: &mut [usize],
    cap: usize,
    problems: &mut Problems,
) -> Links {
    let nodes = positions.len();
    let mut apart = (0..nodes).filter(|node| parents[*node] == *node).count();
    let mut links = Links::new();
    if apart < 2 {
        return links;
    }
    let mut degree = vec![0_usize; nodes];
    let all: Vec<usize> = (0..nodes).collect();
    let mut pairs = Pairs::new(positions, &all, Some(parents), problems);
    let mut next_look = apart / 2;
    while apart > 1
        && let Some(pair) = pairs.next(problems)
    {
        let (a, b) = pair.ends();
        if degree[a] >= cap || degree[b] >= cap || !join(parents, a, b) {
            continue;
        }
        links.push((a, b));
        for end in [a, b] {
            degree[end] += 1;
            if degree[end] == cap {
                pairs.remove(end);
            }
        }
        apart -= 1;
        if apart <= next_look {
            pairs.set_pieces(parents);
            next_look = apart / 2;
        }
    }
    links
}

/// Which missing links are added.
pub(super) struct Extra {
    /// To nodes that have fewer links.
    pub(super) degree: usize,
    /// The number of links at most.
    pub(super) most: usize,
    /// Their length at most, in metres.
    pub(super) longest_m: Option<f64>,
    /// A node that may have any number of links.
    pub(super) exempt: Option<usize>,
}

impl Default for Extra {
    fn default() -> Self {
        Self {
            degree: 0,
            most: usize::MAX,
            longest_m: None,
            exempt: None,
        }
    }
}

/// Adds the shortest missing links.
pub(super) fn add_extra(
    links: &mut Links,
    positions: &Positions,
    extra: &Extra,
    problems: &mut Problems,
) {
    let nodes = positions.len();
    let mut degrees = vec![0_usize; nodes];
    for (a, b) in links.iter() {
        degrees[*a] += 1;
        degrees[*b] += 1;
    }
    let present: BTreeSet<_> = links.iter().copied().collect();
    let has_room =
        |degrees: &[usize], node: usize| extra.exempt == Some(node) || degrees[node] < extra.degree;
    let with_room: Vec<usize> = (0..nodes)
        .filter(|node| has_room(&degrees, *node))
        .collect();
    let mut pairs = Pairs::new(positions, &with_room, None, problems);
    let mut added = 0;
    while added < extra.most
        && let Some(pair) = pairs.next(problems)
        && extra
            .longest_m
            .is_none_or(|longest_m| pair.length_m <= longest_m)
    {
        let (a, b) = pair.ends();
        if present.contains(&(a, b)) || !has_room(&degrees, a) || !has_room(&degrees, b) {
            continue;
        }
        links.push((a, b));
        added += 1;
        for end in [a, b] {
            degrees[end] += 1;
            if !has_room(&degrees, end) {
                pairs.remove(end);
            }
        }
    }
}

/// Joins the pieces by the shortest links between them; the result is what was added.
pub(super) fn connect(links: &mut Links, positions: &Positions, problems: &mut Problems) -> Links {
    let mut parents = pieces(positions.len(), links.iter().copied());
    let added = spanning(positions, &mut parents, usize::MAX, problems);
    links.extend(&added);
    added
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::catalogue::Catalogue;
    use crate::problems::Interrupt;

    /// Points on a line.
    fn line(points: &[f64]) -> Positions {
        Positions::Plane(points.iter().map(|x| (*x, 0.0)).collect())
    }

    #[test]
    fn a_kilometre_of_air_takes_3_3_microseconds() {
        assert_eq!(propagation(1000.0).as_ps() / 1000, 3336);
    }

    #[test]
    fn the_mst_of_points_on_a_line_joins_neighbours() {
        let positions = line(&[0.0, 3.0, 1.0, 7.0]);
        let mut links = capped_mst(&positions, 4, &mut Problems::default());
        links.sort_unstable();
        assert_eq!(links, vec![(0, 2), (1, 2), (1, 3)]);
    }

    #[test]
    fn a_degree_cap_is_kept_and_the_tree_still_spans() {
        // A hub at 0 with leaves that are all nearest to it.
        let hub = [(0.0, 0.0), (1.0, 0.0), (-1.0, 0.0), (0.0, 1.0), (0.0, -1.0)];
        let positions = Positions::Plane(hub.to_vec());
        let links = capped_mst(&positions, 2, &mut Problems::default());
        assert_eq!(links.len(), 4);
        for node in 0..5 {
            assert!(
                links
                    .iter()
                    .filter(|(a, b)| *a == node || *b == node)
                    .count()
                    <= 2
            );
        }
        assert!(pieces(5, links.into_iter()).iter().all(|piece| *piece == 0));
    }

    #[test]
    fn a_third_point_inside_the_circle_forbids_a_gabriel_link() {
        let links = gabriel(&line(&[0.0, 1.0, 2.0]), &mut Problems::default());
        assert_eq!(links, vec![(0, 1), (1, 2)]);
    }

    #[test]
    fn pieces_are_joined_by_their_shortest_link() {
        let mut problems = Problems::default();
        let positions = line(&[0.0, 1.0, 10.0, 11.0]);
        let mut links = k_nearest(&positions, 1, &mut problems);
        assert_eq!(links, vec![(0, 1), (2, 3)]);
        assert_eq!(connect(&mut links, &positions, &mut problems), [(1, 2)]);
        assert_eq!(connect(&mut links, &positions, &mut problems), []);
    }

    #[test]
    fn a_tree_with_two_children_spans_every_node() {
        let positions = line(&[0.0, 1.0, 2.0, 3.0, 4.0, 5.0]);
        let links = capped_tree(&positions, 2, 2, &mut Problems::default());
        assert_eq!(links.len(), 5);
        assert!(pieces(6, links.into_iter()).iter().all(|piece| *piece == 0));
    }

    /// Random, gathered and equal points, and points in line, on a coarse lattice: on a plane, on
    /// a small part of the sphere and all over it.
    fn scattered(nodes: usize, spread: u64, seed: u64) -> [Positions; 3] {
        let mut state = seed;
        let mut draw = || {
            // Knuth's MMIX generator: enough for places.
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            ((state >> 33) % spread) as f64 / spread as f64
        };
        let points: Vec<(f64, f64)> = (0..nodes).map(|_| (draw(), draw())).collect();
        let scaled = |(first, second): (f64, f64)| {
            let scale = |&(x, y): &(f64, f64)| (first * (x - 0.5), second * (y - 0.5));
            points.iter().map(scale).collect()
        };
        [
            Positions::Plane(scaled((1e6, 1e6))),
            Positions::Geographic(scaled((10.0, 10.0))),
            Positions::Geographic(scaled((180.0, 360.0))),
        ]
    }

    /// Numbers of nodes and of values on each axis.
    const SCATTERS: [(usize, u64); 7] = [
        (80, 1),
        (80, 2),
        (80, 4),
        (80, 9),
        (200, 100),
        (80, 1 << 30),
        (300, 1 << 30),
    ];

    fn each_scatter(mut check: impl FnMut(&Positions, &[Candidate])) {
        for (nodes, spread) in SCATTERS {
            for positions in scattered(nodes, spread, 11) {
                let mut pairs: Vec<_> = (0..nodes)
                    .flat_map(|a| (a + 1..nodes).map(move |b| (a, b)))
                    .map(|(a, b)| Candidate::new(positions.distance_m(a, b), a, b))
                    .collect();
                pairs.sort_unstable();
                check(&positions, &pairs);
            }
        }
    }

    #[test]
    fn merged_pairs_come_in_the_order_of_a_sort_of_all() {
        each_scatter(|positions, sorted| {
            let all: Vec<usize> = (0..positions.len()).collect();
            let mut problems = Problems::default();
            let mut pairs = Pairs::new(positions, &all, None, &mut problems);
            let merged: Vec<_> = std::iter::from_fn(|| pairs.next(&mut problems)).collect();
            assert_eq!(merged, sorted);
        });
    }

    #[test]
    fn each_node_is_linked_to_its_nearest_as_a_sort_of_all_gives_them() {
        each_scatter(|positions, sorted| {
            for k in [1, 3, 20] {
                let mut degree = vec![0; positions.len()];
                let mut naive = BTreeSet::new();
                for (a, b) in sorted.iter().map(Candidate::ends) {
                    for end in [a, b] {
                        degree[end] += 1;
                        if degree[end] <= k {
                            naive.insert((a, b));
                        }
                    }
                }
                let links = k_nearest(positions, k, &mut Problems::default());
                assert_eq!(links, Vec::from_iter(naive), "{k}");
            }
        });
    }

    #[test]
    fn trees_and_extra_links_are_those_of_looking_at_all_pairs() {
        each_scatter(|positions, sorted| {
            for (cap, degree) in [(2, 3), (4, 3), (1000, 5)] {
                let mut naive = Links::new();
                let mut degrees = vec![0; positions.len()];
                let mut parents: Vec<usize> = (0..positions.len()).collect();
                let mut take = |limit: usize, naive: &mut Links, is_tree: bool| {
                    for (a, b) in sorted.iter().map(Candidate::ends) {
                        let has_room = degrees[a] < limit && degrees[b] < limit;
                        let is_new = is_tree || !naive.contains(&(a, b));
                        if has_room && is_new && (!is_tree || join(&mut parents, a, b)) {
                            degrees[a] += 1;
                            degrees[b] += 1;
                            naive.push((a, b));
                        }
                    }
                };
                take(cap, &mut naive, true);
                let mut links = capped_mst(positions, cap, &mut Problems::default());
                assert_eq!(links, naive, "{cap}");
                take(degree, &mut naive, false);
                let extra = Extra {
                    degree,
                    ..Extra::default()
                };
                add_extra(&mut links, positions, &extra, &mut Problems::default());
                assert_eq!(links, naive, "{degree}");
            }
        });
    }

    #[test]
    fn gabriel_links_are_those_of_looking_at_every_third_node() {
        each_scatter(|positions, sorted| {
            let is_free = |pair: &&Candidate| {
                let (a, b) = pair.ends();
                !(0..positions.len()).any(|c| is_inside(positions, a, b, pair.length_m, c))
            };
            let naive: BTreeSet<_> = sorted.iter().filter(is_free).map(Candidate::ends).collect();
            let links = gabriel(positions, &mut Problems::default());
            assert_eq!(links, Vec::from_iter(naive));
        });
    }

    #[test]
    fn a_rule_ends_when_it_is_told_to() {
        let [positions, ..] = scattered(300, 1 << 30, 3);
        let mut asked = 0;
        let watch = move || {
            asked += 1;
            if asked > 100 { Err(Interrupt) } else { Ok(()) }
        };
        let mut problems = Problems::watched(Catalogue::default(), Some(Box::new(watch)));
        assert!(capped_mst(&positions, 4, &mut problems).len() < 100);
        assert!(problems.is_interrupted());
    }
}
