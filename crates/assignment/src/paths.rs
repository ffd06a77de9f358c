//! Short paths: all that visit no node twice and are at most so much longer than the shortest.

use crate::error::Error;
use crate::flow::Demand;
use crate::mesh::Mesh;

/// Paths of one demand that are gone through before giving up. A thousand columns of the program
/// take milliseconds, and this many seconds.
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
        left,
        to,
        most_hops: shortest + usize::from(extra_hops),
        visited: vec![false; mesh.nodes.len()],
        path: Vec::new(),
        found: Vec::new(),
    };
    search.go(from);
    if search.found.len() > MOST_PATHS {
        return Err(Error::TooManyPaths {
            demand: index,
            from,
            to,
            limit: MOST_PATHS,
        });
    }
    Ok(search.found)
}

struct Search {
    leading: Vec<Vec<(Hop, usize)>>,
    left: Vec<Option<usize>>,
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
        for index in 0..self.leading[node].len() {
            let (hop, next) = self.leading[node][index];
            let fits =
                self.left[next].is_some_and(|left| self.path.len() + 1 + left <= self.most_hops);
            if fits && !self.visited[next] && self.found.len() <= MOST_PATHS {
                self.path.push(hop);
                self.go(next);
                self.path.pop();
            }
        }
        self.visited[node] = false;
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
}
