//! Rules that join placed nodes by their distances.
//!
//! A rule sees only a distance function, in metres. Ties are broken by the lower index, so the
//! result does not depend on the order in which pairs are looked at.

use std::cmp::{Ordering, Reverse};
use std::collections::BinaryHeap;

use backlane_units::Duration;

use crate::problems::Problems;

/// Speed of light in air at the refractive index 1.0003, in m/s.
const LIGHT_IN_AIR_M_PER_S: f64 = 299_702_547.0;

/// Index pairs, each with the lower index first.
pub(super) type Links = Vec<(usize, usize)>;

/// The time a radio wave takes over `length_m` metres.
pub(super) fn propagation(length_m: f64) -> Duration {
    Duration::from_secs_f64(length_m / LIGHT_IN_AIR_M_PER_S)
}

/// A candidate link; ordered by length, then by its ends.
#[derive(Clone, Copy, Debug)]
struct Candidate {
    length_m: f64,
    a: u32,
    b: u32,
}

impl Candidate {
    fn new(length_m: f64, a: usize, b: usize) -> Self {
        let (a, b) = (a as u32, b as u32);
        Self { length_m, a, b }
    }

    fn ends(&self) -> (usize, usize) {
        (self.a as usize, self.b as usize)
    }
}

impl Ord for Candidate {
    fn cmp(&self, other: &Self) -> Ordering {
        self.length_m
            .total_cmp(&other.length_m)
            .then((self.a, self.b).cmp(&(other.a, other.b)))
    }
}

impl PartialOrd for Candidate {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Candidate {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for Candidate {}

/// All pairs of some nodes, the shortest first. The pairs that each node begins are sorted by
/// themselves and merged as they are asked for, since few rules ask for all.
struct Pairs {
    /// The pairs that each node begins with higher ones, the longest first.
    of_nodes: Vec<Vec<Candidate>>,
    /// The shortest pair of each node that is not given out.
    next: BinaryHeap<Reverse<Candidate>>,
}

impl Pairs {
    /// `among` are the nodes, in their order.
    fn new(
        among: &[usize],
        distance: &dyn Fn(usize, usize) -> f64,
        problems: &mut Problems,
    ) -> Self {
        let last = among.last().map_or(0, |last| last + 1);
        let mut of_nodes = vec![Vec::new(); last];
        let mut next = BinaryHeap::with_capacity(among.len());
        for (at, &a) in among.iter().enumerate() {
            if !problems.go_on() {
                break;
            }
            let others = among[at + 1..].iter();
            let mut own: Vec<_> = others
                .map(|&b| Candidate::new(distance(a, b), a, b))
                .collect();
            own.sort_unstable_by_key(|pair| Reverse(*pair));
            next.extend(own.pop().map(Reverse));
            of_nodes[a] = own;
        }
        Self { of_nodes, next }
    }

    fn next(&mut self, problems: &mut Problems) -> Option<(usize, usize)> {
        if !problems.go_on() {
            return None;
        }
        let Reverse(pair) = self.next.pop()?;
        let own = self.of_nodes.get_mut(pair.a as usize);
        let following = own.and_then(Vec::pop);
        self.next.extend(following.map(Reverse));
        Some(pair.ends())
    }
}

/// The other nodes, those nearest to `node` first.
fn by_distance(
    nodes: usize,
    node: usize,
    distance: &dyn Fn(usize, usize) -> f64,
) -> Vec<(f64, usize)> {
    let others = (0..nodes).filter(|other| *other != node);
    let mut others: Vec<_> = others.map(|other| (distance(node, other), other)).collect();
    others.sort_unstable_by(|x, y| x.0.total_cmp(&y.0).then(x.1.cmp(&y.1)));
    others
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
pub(super) fn k_nearest(
    nodes: usize,
    k: usize,
    distance: &dyn Fn(usize, usize) -> f64,
    problems: &mut Problems,
) -> Links {
    let mut links = Links::new();
    for a in 0..nodes {
        if !problems.go_on() {
            break;
        }
        let others = by_distance(nodes, a, distance);
        links.extend(others.iter().take(k).map(|(_, b)| (a.min(*b), a.max(*b))));
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
/// `places` are the nodes by where they are, each list in the order of the nodes: nodes at one
/// place see the others alike, so that one of them is looked at for all.
pub(super) fn gabriel(
    places: &[Vec<usize>],
    distance: &dyn Fn(usize, usize) -> f64,
    problems: &mut Problems,
) -> Links {
    let firsts: Vec<usize> = places.iter().map(|place| place[0]).collect();
    let between = |a: usize, b: usize| distance(firsts[a], firsts[b]);
    let mut near = Vec::with_capacity(firsts.len());
    for a in 0..firsts.len() {
        if !problems.go_on() {
            return Links::new();
        }
        let others = (0..firsts.len()).filter(|b| *b != a);
        let mut others: Vec<_> = others.map(|b| (between(a, b), b)).collect();
        if others.len() > NEAREST {
            others.select_nth_unstable_by(NEAREST, |x, y| x.0.total_cmp(&y.0));
            others.truncate(NEAREST);
        }
        near.push(others.iter().map(|(_, b)| *b).collect::<Vec<_>>());
    }
    let mut links = Links::new();
    for (a, place) in places.iter().enumerate() {
        // Nothing lies inside a circle without extent.
        for (rank, first) in place.iter().enumerate() {
            links.extend(place[rank + 1..].iter().map(|second| (*first, *second)));
        }
        if !problems.go_on() {
            return Links::new();
        }
        let others = by_distance(firsts.len(), a, &between);
        for (rank, (length, b)) in others.iter().enumerate() {
            if *b < a {
                continue;
            }
            let is_inside = |c: usize| {
                let (to_a, to_b) = (between(a, c), between(c, *b));
                c != a && c != *b && to_a * to_a + to_b * to_b < length * length
            };
            if near[a].iter().chain(&near[*b]).any(|c| is_inside(*c)) {
                continue;
            }
            if !problems.go_on() {
                return Links::new();
            }
            // Whoever lies inside the circle is nearer to `a` than `b` is.
            let is_free = !others[..rank].iter().any(|(_, c)| is_inside(*c));
            if is_free {
                for first in place {
                    let ends = places[*b].iter();
                    links.extend(ends.map(|second| (*first.min(second), *first.max(second))));
                }
            }
        }
    }
    links.sort_unstable();
    links
}

/// A spanning tree grown from `root` by the shortest link that leaves it (Prim), in which `root`
/// and every other node have at most `children` children; at least one is always allowed.
pub(super) fn capped_tree(
    nodes: usize,
    root: usize,
    children: usize,
    distance: &dyn Fn(usize, usize) -> f64,
    problems: &mut Problems,
) -> Links {
    let mut links = Links::new();
    let mut used = vec![0_usize; nodes];
    let mut inside = vec![false; nodes];
    let mut members = vec![root];
    // For each node outside, the nearest member that may still take a child.
    let mut best: Vec<(f64, usize)> = (0..nodes).map(|v| (distance(root, v), root)).collect();
    inside[root] = true;
    while members.len() < nodes {
        let next = (0..nodes)
            .filter(|v| !inside[*v])
            .map(|v| Candidate::new(best[v].0, best[v].1, v))
            .min();
        let Some((parent, child)) = next.map(|next| next.ends()) else {
            break;
        };
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
pub(super) fn capped_mst(
    nodes: usize,
    cap: usize,
    distance: &dyn Fn(usize, usize) -> f64,
    problems: &mut Problems,
) -> Links {
    let mut parents: Vec<usize> = (0..nodes).collect();
    let mut degree = vec![0_usize; nodes];
    let mut links = Links::new();
    let among: Vec<usize> = (0..nodes).collect();
    let mut pairs = Pairs::new(&among, distance, problems);
    while links.len() + 1 < nodes
        && let Some((a, b)) = pairs.next(problems)
    {
        if degree[a] < cap && degree[b] < cap && join(&mut parents, a, b) {
            degree[a] += 1;
            degree[b] += 1;
            links.push((a, b));
        }
    }
    links
}

/// Adds up to `most` of the shortest missing links between nodes that have fewer than `degree`
/// links; `exempt` may have any number.
pub(super) fn add_extra(
    links: &mut Links,
    nodes: usize,
    degree: usize,
    most: usize,
    exempt: Option<usize>,
    distance: &dyn Fn(usize, usize) -> f64,
    problems: &mut Problems,
) {
    let mut degrees = vec![0_usize; nodes];
    for (a, b) in links.iter() {
        degrees[*a] += 1;
        degrees[*b] += 1;
    }
    let present: std::collections::BTreeSet<_> = links.iter().copied().collect();
    let has_room = |degrees: &[usize], node: usize| exempt == Some(node) || degrees[node] < degree;
    let among: Vec<usize> = (0..nodes)
        .filter(|node| has_room(&degrees, *node))
        .collect();
    let mut pairs = Pairs::new(&among, distance, problems);
    let mut added = 0;
    while added < most
        && let Some((a, b)) = pairs.next(problems)
    {
        if present.contains(&(a, b)) || !has_room(&degrees, a) || !has_room(&degrees, b) {
            continue;
        }
        degrees[a] += 1;
        degrees[b] += 1;
        links.push((a, b));
        added += 1;
    }
}

/// Joins the pieces by the shortest links between them; the result is what was added.
pub(super) fn connect(
    links: &mut Links,
    nodes: usize,
    distance: &dyn Fn(usize, usize) -> f64,
    problems: &mut Problems,
) -> Links {
    let mut parents = pieces(nodes, links.iter().copied());
    let apart = (0..nodes).filter(|node| parents[*node] == *node).count();
    if apart < 2 {
        return Links::new();
    }
    let mut added = Links::new();
    let among: Vec<usize> = (0..nodes).collect();
    let mut pairs = Pairs::new(&among, distance, problems);
    while added.len() + 1 < apart
        && let Some((a, b)) = pairs.next(problems)
    {
        if join(&mut parents, a, b) {
            added.push((a, b));
        }
    }
    links.extend(&added);
    added
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::catalogue::Catalogue;
    use crate::problems::Interrupt;

    /// Distances between points on a line.
    fn line(points: &'static [f64]) -> impl Fn(usize, usize) -> f64 {
        move |a, b| (points[a] - points[b]).abs()
    }

    #[test]
    fn a_kilometre_of_air_takes_3_3_microseconds() {
        assert_eq!(propagation(1000.0).as_ps() / 1000, 3336);
    }

    #[test]
    fn the_mst_of_points_on_a_line_joins_neighbours() {
        let distance = line(&[0.0, 3.0, 1.0, 7.0]);
        let mut links = capped_mst(4, 4, &distance, &mut Problems::default());
        links.sort_unstable();
        assert_eq!(links, vec![(0, 2), (1, 2), (1, 3)]);
    }

    #[test]
    fn a_degree_cap_is_kept_and_the_tree_still_spans() {
        // A hub at 0 with leaves that are all nearest to it.
        let points = [
            (0.0_f64, 0.0_f64),
            (1.0, 0.0),
            (-1.0, 0.0),
            (0.0, 1.0),
            (0.0, -1.0),
        ];
        let distance = |a: usize, b: usize| {
            let (dx, dy): (f64, f64) = (points[a].0 - points[b].0, points[a].1 - points[b].1);
            (dx * dx + dy * dy).sqrt()
        };
        let links = capped_mst(5, 2, &distance, &mut Problems::default());
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
        let distance = line(&[0.0, 1.0, 2.0]);
        let places = [vec![0], vec![1], vec![2]];
        let links = gabriel(&places, &distance, &mut Problems::default());
        assert_eq!(links, vec![(0, 1), (1, 2)]);
    }

    #[test]
    fn pieces_are_joined_by_their_shortest_link() {
        let mut problems = Problems::default();
        let distance = line(&[0.0, 1.0, 10.0, 11.0]);
        let mut links = k_nearest(4, 1, &distance, &mut problems);
        assert_eq!(links, vec![(0, 1), (2, 3)]);
        assert_eq!(
            connect(&mut links, 4, &distance, &mut problems),
            vec![(1, 2)]
        );
        assert_eq!(connect(&mut links, 4, &distance, &mut problems), vec![]);
    }

    #[test]
    fn a_tree_with_two_children_spans_every_node() {
        let points: [f64; 6] = [0.0, 1.0, 2.0, 3.0, 4.0, 5.0];
        let distance = |a: usize, b: usize| (points[a] - points[b]).abs();
        let links = capped_tree(6, 2, 2, &distance, &mut Problems::default());
        assert_eq!(links.len(), 5);
        assert!(pieces(6, links.into_iter()).iter().all(|piece| *piece == 0));
    }
    /// Random, gathered and equal points, and points in line: (x, y) on a coarse lattice.
    fn points(nodes: usize, spread: u64, seed: u64) -> Vec<(f64, f64)> {
        let mut state = seed;
        let mut draw = || {
            // Knuth's MMIX generator: enough for places.
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            ((state >> 33) % spread) as f64 / 7.0
        };
        (0..nodes).map(|_| (draw(), draw())).collect()
    }

    fn apart(points: &[(f64, f64)]) -> impl Fn(usize, usize) -> f64 {
        move |a, b| {
            let (dx, dy) = (points[a].0 - points[b].0, points[a].1 - points[b].1);
            (dx * dx + dy * dy).sqrt()
        }
    }

    /// All pairs in order, as a sort of all of them gives it.
    fn sorted_pairs(nodes: usize, distance: &dyn Fn(usize, usize) -> f64) -> Vec<(usize, usize)> {
        let mut pairs: Vec<_> = (0..nodes)
            .flat_map(|a| (a + 1..nodes).map(move |b| (a, b)))
            .map(|(a, b)| Candidate::new(distance(a, b), a, b))
            .collect();
        pairs.sort_unstable();
        pairs.iter().map(Candidate::ends).collect()
    }

    #[test]
    fn merged_pairs_come_in_the_order_of_a_sort_of_all() {
        for spread in [1, 3, 1000] {
            let points = points(60, spread, 5);
            let distance = apart(&points);
            let among: Vec<usize> = (0..60).collect();
            let mut problems = Problems::default();
            let mut pairs = Pairs::new(&among, &distance, &mut problems);
            let merged: Vec<_> = std::iter::from_fn(|| pairs.next(&mut problems)).collect();
            assert_eq!(merged, sorted_pairs(60, &distance), "{spread}");
        }
    }

    #[test]
    fn gabriel_links_are_those_of_looking_at_every_third_node() {
        for (nodes, spread) in [
            (80, 1),
            (80, 2),
            (80, 4),
            (80, 9),
            (200, 100),
            (80, 1 << 30),
        ] {
            let points = points(nodes, spread, 11);
            let distance = apart(&points);
            let mut by_place: std::collections::BTreeMap<_, Vec<usize>> =
                std::collections::BTreeMap::new();
            for (node, (x, y)) in points.iter().enumerate() {
                let place = by_place.entry((x.to_bits(), y.to_bits())).or_default();
                place.push(node);
            }
            let mut places: Vec<_> = by_place.into_values().collect();
            places.sort_unstable();
            let naive: Links = sorted_pairs(nodes, &distance)
                .into_iter()
                .filter(|(a, b)| {
                    let length = distance(*a, *b);
                    (0..nodes).filter(|c| c != a && c != b).all(|c| {
                        let (to_a, to_b) = (distance(*a, c), distance(c, *b));
                        to_a * to_a + to_b * to_b >= length * length
                    })
                })
                .collect();
            let mut links = gabriel(&places, &distance, &mut Problems::default());
            let mut naive = naive;
            naive.sort_unstable();
            links.sort_unstable();
            assert_eq!(links, naive, "{spread}");
        }
    }

    #[test]
    fn a_rule_ends_when_it_is_told_to() {
        let points = points(300, 1 << 30, 3);
        let distance = apart(&points);
        let mut asked = 0;
        let watch = move || {
            asked += 1;
            if asked > 100 { Err(Interrupt) } else { Ok(()) }
        };
        let mut problems = Problems::watched(Catalogue::default(), Some(Box::new(watch)));
        assert!(capped_mst(300, 4, &distance, &mut problems).len() < 100);
        assert!(problems.is_interrupted());
    }
}
