//! Rules that join placed nodes by their distances.
//!
//! A rule sees only a distance function, in metres. Ties are broken by the lower index, so the
//! result does not depend on the order in which pairs are looked at.

use std::cmp::Ordering;

use backlane_units::Duration;

/// Speed of light in air at the refractive index 1.0003, in m/s.
const LIGHT_IN_AIR_M_PER_S: f64 = 299_702_547.0;

/// Index pairs, each with the lower index first.
pub(super) type Links = Vec<(usize, usize)>;

/// The time a radio wave takes over `length_m` metres.
pub(super) fn propagation(length_m: f64) -> Duration {
    Duration::from_secs_f64(length_m / LIGHT_IN_AIR_M_PER_S)
}

/// A candidate link; ordered by length, then by its ends.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Candidate {
    length_m: f64,
    a: usize,
    b: usize,
}

impl Candidate {
    fn new(length_m: f64, a: usize, b: usize) -> Self {
        Self {
            length_m,
            a: a.min(b),
            b: a.max(b),
        }
    }

    fn order(&self, other: &Self) -> Ordering {
        self.length_m
            .total_cmp(&other.length_m)
            .then((self.a, self.b).cmp(&(other.a, other.b)))
    }
}

/// All pairs, the shortest first.
fn pairs_by_length(nodes: usize, distance: &dyn Fn(usize, usize) -> f64) -> Vec<Candidate> {
    let mut pairs: Vec<_> = (0..nodes)
        .flat_map(|a| (a + 1..nodes).map(move |b| (a, b)))
        .map(|(a, b)| Candidate::new(distance(a, b), a, b))
        .collect();
    pairs.sort_unstable_by(Candidate::order);
    pairs
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
pub(super) fn k_nearest(nodes: usize, k: usize, distance: &dyn Fn(usize, usize) -> f64) -> Links {
    let mut links = Links::new();
    for a in 0..nodes {
        let mut others: Vec<_> = (0..nodes)
            .filter(|b| *b != a)
            .map(|b| (distance(a, b), b))
            .collect();
        others.sort_unstable_by(|x, y| x.0.total_cmp(&y.0).then(x.1.cmp(&y.1)));
        links.extend(others.iter().take(k).map(|(_, b)| (a.min(*b), a.max(*b))));
    }
    links.sort_unstable();
    links.dedup();
    links
}

/// Two nodes are joined when no third lies inside the circle over their link, that is, when no
/// third sees them at an obtuse angle (Gabriel and Sokal 1969).
pub(super) fn gabriel(nodes: usize, distance: &dyn Fn(usize, usize) -> f64) -> Links {
    let mut links = Links::new();
    for a in 0..nodes {
        let mut others: Vec<_> = (0..nodes)
            .filter(|b| *b != a)
            .map(|b| (distance(a, b), b))
            .collect();
        others.sort_unstable_by(|x, y| x.0.total_cmp(&y.0).then(x.1.cmp(&y.1)));
        for (rank, (length, b)) in others.iter().enumerate() {
            // Whoever lies inside the circle is nearer to `a` than `b` is.
            let is_free = !others[..rank].iter().any(|(to_a, c)| {
                let to_b = distance(*c, *b);
                to_a * to_a + to_b * to_b < length * length
            });
            if a < *b && is_free {
                links.push((a, *b));
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
            .map(|v| Candidate {
                length_m: best[v].0,
                a: best[v].1,
                b: v,
            })
            .min_by(Candidate::order);
        let Some(Candidate {
            a: parent,
            b: child,
            ..
        }) = next
        else {
            break;
        };
        links.push((parent.min(child), parent.max(child)));
        inside[child] = true;
        members.push(child);
        used[parent] += 1;
        let is_full = used[parent] >= children.max(1);
        for v in (0..nodes).filter(|v| !inside[*v]) {
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
) -> Links {
    let mut parents: Vec<usize> = (0..nodes).collect();
    let mut degree = vec![0_usize; nodes];
    let mut links = Links::new();
    for Candidate { a, b, .. } in pairs_by_length(nodes, distance) {
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
) {
    let mut degrees = vec![0_usize; nodes];
    for (a, b) in links.iter() {
        degrees[*a] += 1;
        degrees[*b] += 1;
    }
    let present: std::collections::BTreeSet<_> = links.iter().copied().collect();
    let mut added = 0;
    for pair in pairs_by_length(nodes, distance) {
        if added == most {
            break;
        }
        let has_room = |node: usize| exempt == Some(node) || degrees[node] < degree;
        if present.contains(&(pair.a, pair.b)) || !has_room(pair.a) || !has_room(pair.b) {
            continue;
        }
        degrees[pair.a] += 1;
        degrees[pair.b] += 1;
        links.push((pair.a, pair.b));
        added += 1;
    }
}

/// Joins the pieces by the shortest links between them; the result is what was added.
pub(super) fn connect(
    links: &mut Links,
    nodes: usize,
    distance: &dyn Fn(usize, usize) -> f64,
) -> Links {
    let mut parents = pieces(nodes, links.iter().copied());
    if parents.iter().all(|piece| *piece == 0) {
        return Links::new();
    }
    let mut added = Links::new();
    for pair in pairs_by_length(nodes, distance) {
        if join(&mut parents, pair.a, pair.b) {
            added.push((pair.a, pair.b));
        }
    }
    links.extend(&added);
    added
}

#[cfg(test)]
mod tests {
    use super::*;

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
        let mut links = capped_mst(4, 4, &distance);
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
        let links = capped_mst(5, 2, &distance);
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
        assert_eq!(gabriel(3, &distance), vec![(0, 1), (1, 2)]);
    }

    #[test]
    fn pieces_are_joined_by_their_shortest_link() {
        let distance = line(&[0.0, 1.0, 10.0, 11.0]);
        let mut links = k_nearest(4, 1, &distance);
        assert_eq!(links, vec![(0, 1), (2, 3)]);
        assert_eq!(connect(&mut links, 4, &distance), vec![(1, 2)]);
        assert_eq!(connect(&mut links, 4, &distance), vec![]);
    }

    #[test]
    fn a_tree_with_two_children_spans_every_node() {
        let points: [f64; 6] = [0.0, 1.0, 2.0, 3.0, 4.0, 5.0];
        let distance = |a: usize, b: usize| (points[a] - points[b]).abs();
        let links = capped_tree(6, 2, 2, &distance);
        assert_eq!(links.len(), 5);
        assert!(pieces(6, links.into_iter()).iter().all(|piece| *piece == 0));
    }
}
