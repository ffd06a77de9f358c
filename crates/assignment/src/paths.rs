//! Short paths: all that visit no node twice and are at most so much longer than the shortest.

use std::collections::VecDeque;

use crate::demand::Demand;
use crate::error::Error;
use crate::mesh::Mesh;

/// Paths that are gone through before giving up: of one demand, and of all of them together where
/// each is a column of the program. A thousand columns take milliseconds, and this many seconds.
pub(crate) const MOST_PATHS: usize = 20_000;

/// A link in one direction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Hop {
    pub link: usize,
    /// 0 from the link's `a` to its `b`, 1 the other way.
    pub direction: usize,
}

/// The short paths from the demand's source to its destination, over usable links.
pub(crate) fn short_paths(
    mesh: &Mesh,
    index: usize,
    demand: &Demand,
    extra_hops: u8,
) -> Result<Vec<Vec<Hop>>, Error> {
    let (from, to) = (demand.from, demand.to);
    let left = mesh.hops_over(to, |link| mesh.usable(link));
    let Some(shortest) = left[from] else {
        return Err(Error::NoPath {
            demand: index,
            from,
            to,
        });
    };
    let mut leading: Vec<Vec<(Hop, usize)>> = vec![Vec::new(); mesh.nodes.len()];
    for (link, ends) in mesh
        .links
        .iter()
        .enumerate()
        .filter(|&(link, _)| mesh.usable(link))
    {
        leading[ends.a].push((Hop { link, direction: 0 }, ends.b));
        leading[ends.b].push((Hop { link, direction: 1 }, ends.a));
    }
    let mut search = Search {
        leading,
        to,
        most_hops: shortest + usize::from(extra_hops),
        visited: vec![false; mesh.nodes.len()],
        path: Vec::new(),
        found: Vec::new(),
    };
    search.go(from);
    if search.found.len() > MOST_PATHS {
        return Err(too_many(index, demand));
    }
    Ok(search.found)
}

/// The paths of this demand are too many, or with it those of all.
pub(crate) fn too_many(index: usize, demand: &Demand) -> Error {
    Error::TooManyPaths {
        demand: index,
        from: demand.from,
        to: demand.to,
        limit: MOST_PATHS,
    }
}

struct Search {
    leading: Vec<Vec<(Hop, usize)>>,
    to: usize,
    most_hops: usize,
    visited: Vec<bool>,
    path: Vec<Hop>,
    found: Vec<Vec<Hop>>,
}

impl Search {
    fn go(&mut self, node: usize) {
        if node == self.to {
            self.found.push(self.path.clone());
            return;
        }
        self.visited[node] = true;
        let left = self.hops_left();
        for index in 0..self.leading[node].len() {
            let (hop, next) = self.leading[node][index];
            let fits = left[next].is_some_and(|left| self.path.len() + 1 + left <= self.most_hops);
            if fits && self.found.len() <= MOST_PATHS {
                self.path.push(hop);
                self.go(next);
                self.path.pop();
            }
        }
        self.visited[node] = false;
    }

    /// Hops to the destination round the nodes that were visited. A step to a node from where they
    /// are few enough leads to a path: without dead ends, the search takes as long as there are
    /// paths to find.
    fn hops_left(&self) -> Vec<Option<usize>> {
        let mut hops = vec![None; self.leading.len()];
        hops[self.to] = Some(0);
        let mut waiting = VecDeque::from([(self.to, 0)]);
        while let Some((node, far)) = waiting.pop_front() {
            for &(_, next) in &self.leading[node] {
                if !self.visited[next] && hops[next].is_none() {
                    hops[next] = Some(far + 1);
                    waiting.push_back((next, far + 1));
                }
            }
        }
        hops
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mesh::{Channels, Interference, Link, Node};

    #[test]
    fn a_square_with_a_diagonal_has_one_path_of_one_hop_and_two_of_two() {
        let mesh = Mesh {
            nodes: vec![
                Node {
                    radios: 1,
                    position_m: None
                };
                4
            ],
            links: [(0, 1), (1, 2), (2, 3), (3, 0), (0, 2)]
                .map(|(a, b)| Link::new(a, b))
                .into(),
            rates_bps: vec![1],
            channels: Channels::Available(vec![1]),
            interference: Interference::All,
        };
        let demand = Demand {
            from: 0,
            to: 2,
            rate_bps: None,
            reverse_share: 0.0,
        };
        let count = |extra| short_paths(&mesh, 0, &demand, extra).unwrap().len();
        assert_eq!((count(0), count(1), count(5)), (1, 3, 3));
        // To a corner off the diagonal: directly, over the other end of the diagonal, all round.
        let aside = Demand { to: 1, ..demand };
        let count = |extra| short_paths(&mesh, 0, &aside, extra).unwrap().len();
        assert_eq!((count(0), count(1), count(2)), (1, 2, 3));
    }

    /// From the source a link leads to the destination and thirty into a clique that leads nowhere
    /// else: 10¹¹ walks of at most nine hops, and one path.
    #[test]
    fn dead_ends_are_not_gone_into() {
        let mut links = vec![Link::new(0, 1)];
        for node in 2..32 {
            links.push(Link::new(0, node));
            links.extend((2..node).map(|other| Link::new(other, node)));
        }
        let mesh = Mesh {
            nodes: vec![
                Node {
                    radios: 1,
                    position_m: None
                };
                32
            ],
            links,
            rates_bps: vec![1],
            channels: Channels::Available(vec![1]),
            interference: Interference::All,
        };
        let demand = Demand {
            from: 0,
            to: 1,
            rate_bps: None,
            reverse_share: 0.0,
        };
        assert_eq!(short_paths(&mesh, 0, &demand, 8).unwrap().len(), 1);
    }
}
