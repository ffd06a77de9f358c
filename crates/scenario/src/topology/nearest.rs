//! The nearest nodes of a node, by a k-d tree (Bentley 1975).
//!
//! The tree only rules out what cannot be nearer; distances are those of [`Positions`], so that the
//! result is that of a search over all nodes.

use std::cmp::Ordering;
use std::collections::BinaryHeap;

use super::positions::{Point, Positions};

/// The most nodes of a leaf.
const LEAF: usize = 8;

/// Rounding of positions in space and of distances, in metres and relative.
const ROUNDING: (f64, f64) = (1e-6, 1e-12);

/// A bound on the error of a distance in space.
fn rounding_m(length_m: f64) -> f64 {
    ROUNDING.0 + ROUNDING.1 * length_m
}

/// A candidate link; ordered by length, then by its ends.
#[derive(Clone, Copy, Debug)]
pub(super) struct Candidate {
    pub(super) length_m: f64,
    a: u32,
    b: u32,
}

impl Candidate {
    /// The link between two nodes.
    pub(super) fn new(length_m: f64, a: usize, b: usize) -> Self {
        let (a, b) = (a.min(b) as u32, a.max(b) as u32);
        Self { length_m, a, b }
    }

    /// Its ends, the lower index first.
    pub(super) fn ends(&self) -> (usize, usize) {
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

/// The box around the nodes of a branch: the lowest and the highest coordinate of each axis.
#[derive(Clone, Copy, Debug)]
struct Bounds([[f64; 2]; 3]);

impl Bounds {
    fn around(nodes: &[u32], points: &[Point]) -> Self {
        let mut bounds = [[f64::INFINITY, f64::NEG_INFINITY]; 3];
        for node in nodes {
            for ([low, high], at) in bounds.iter_mut().zip(points[*node as usize]) {
                (*low, *high) = (low.min(at), high.max(at));
            }
        }
        Self(bounds)
    }

    fn widest_axis(&self) -> usize {
        let width = |axis: &usize| self.0[*axis][1] - self.0[*axis][0];
        (0..3)
            .max_by(|x, y| width(x).total_cmp(&width(y)))
            .unwrap_or(0)
    }

    /// The squares of the distances of a point from the nearest and the farthest part of the box.
    fn squared_m2(&self, point: &Point) -> (f64, f64) {
        let (mut nearest, mut farthest) = (0.0, 0.0);
        for ([low, high], at) in self.0.iter().zip(point) {
            let gap = (low - at).max(at - high).max(0.0);
            let span = (high - at).max(at - low);
            nearest += gap * gap;
            farthest += span * span;
        }
        (nearest, farthest)
    }

    /// Whether `c` sees every part of the box at an obtuse angle from `a`.
    fn is_behind(&self, a: &Point, c: &Point) -> bool {
        let (mut most, mut away) = (0.0, 0.0);
        for (([low, high], a), c) in self.0.iter().zip(a).zip(c) {
            let (back, low, high) = (a - c, low - c, high - c);
            most += (back * low).max(back * high);
            away += back.abs() + low.abs().max(high.abs());
        }
        most < -(2.0 * away * rounding_m(away))
    }
}

/// A part of the tree: its number, and its nodes in the order of the leaves.
#[derive(Clone, Copy)]
struct Branch {
    number: usize,
    begin: usize,
    end: usize,
}

impl Branch {
    /// The two halves; `None` for a leaf.
    fn halves(self) -> Option<[Self; 2]> {
        if self.end - self.begin <= LEAF {
            return None;
        }
        let middle = usize::midpoint(self.begin, self.end);
        Some([
            Self {
                number: 2 * self.number + 1,
                end: middle,
                ..self
            },
            Self {
                number: 2 * self.number + 2,
                begin: middle,
                ..self
            },
        ])
    }
}

/// A k-d tree over some of the nodes.
pub(super) struct Nearest<'p> {
    positions: &'p Positions,
    points: Vec<Point>,
    /// The nodes in the order of the leaves.
    order: Vec<u32>,
    /// By branch.
    bounds: Vec<Bounds>,
    /// The nodes of each branch that are not removed.
    left: Vec<u32>,
    /// The piece of all nodes that are left in a branch, if it is one.
    pieces: Vec<Option<u32>>,
    /// The place of each node in `order`.
    places: Vec<u32>,
    is_removed: Vec<bool>,
    /// The piece of each node, if pieces are known.
    piece_of: Vec<u32>,
}

/// A search for the nodes that follow `after` in the order of the links of `from`.
struct Search {
    from: usize,
    after: Option<Candidate>,
    count: usize,
    found: BinaryHeap<Candidate>,
    /// Squares of distances in space: branches beyond the first, or within the second, have none.
    beyond_m2: f64,
    within_m2: f64,
}

impl<'p> Nearest<'p> {
    /// The tree of the nodes `among`.
    pub(super) fn new(positions: &'p Positions, among: impl IntoIterator<Item = usize>) -> Self {
        let order: Vec<u32> = among.into_iter().map(|node| node as u32).collect();
        let mut tree = Self {
            positions,
            points: positions.points(),
            bounds: Vec::new(),
            left: Vec::new(),
            pieces: Vec::new(),
            places: vec![u32::MAX; positions.len()],
            is_removed: vec![false; positions.len()],
            piece_of: Vec::new(),
            order,
        };
        tree.split(tree.root());
        for (place, node) in tree.order.iter().enumerate() {
            tree.places[*node as usize] = place as u32;
        }
        tree.pieces = vec![None; tree.bounds.len()];
        tree
    }

    fn root(&self) -> Branch {
        Branch {
            number: 0,
            begin: 0,
            end: self.order.len(),
        }
    }

    fn split(&mut self, branch: Branch) {
        let nodes = &mut self.order[branch.begin..branch.end];
        let bounds = Bounds::around(nodes, &self.points);
        if self.bounds.len() <= branch.number {
            self.bounds.resize(branch.number + 1, bounds);
            self.left.resize(branch.number + 1, 0);
        }
        self.bounds[branch.number] = bounds;
        self.left[branch.number] = nodes.len() as u32;
        if let Some(halves) = branch.halves() {
            let axis = bounds.widest_axis();
            let middle = halves[0].end - branch.begin;
            let at = |node: &u32| self.points[*node as usize][axis];
            nodes.select_nth_unstable_by(middle, |x, y| at(x).total_cmp(&at(y)));
            for half in halves {
                self.split(half);
            }
        }
    }

    /// Removes a node: no search finds it again.
    pub(super) fn remove(&mut self, node: usize) {
        if std::mem::replace(&mut self.is_removed[node], true) {
            return;
        }
        let place = self.places[node] as usize;
        let mut branch = self.root();
        loop {
            self.left[branch.number] -= 1;
            let Some([low, high]) = branch.halves() else {
                return;
            };
            branch = if place < low.end { low } else { high };
        }
    }

    /// Whether a node was removed.
    pub(super) fn is_removed(&self, node: usize) -> bool {
        self.is_removed[node]
    }

    /// From here on, searches may omit nodes of their own piece.
    pub(super) fn set_pieces(&mut self, piece_of: Vec<u32>) {
        self.piece_of = piece_of;
        self.join(self.root());
    }

    fn join(&mut self, branch: Branch) -> Option<u32> {
        let piece = if let Some(halves) = branch.halves() {
            let [low, high] = halves.map(|half| (self.join(half), self.left[half.number]));
            match (low, high) {
                ((piece, _), (_, 0)) | ((_, 0), (piece, _)) => piece,
                ((low, _), (high, _)) => low.filter(|piece| high == Some(*piece)),
            }
        } else {
            let nodes = self.order[branch.begin..branch.end].iter();
            let mut pieces = nodes
                .filter(|node| !self.is_removed[**node as usize])
                .map(|node| self.piece_of[*node as usize]);
            let first = pieces.next();
            first.filter(|first| pieces.all(|piece| piece == *first))
        };
        self.pieces[branch.number] = piece;
        piece
    }

    /// The `count` first links of `from` that come after `after`, in their order.
    pub(super) fn of(&self, from: usize, after: Option<Candidate>, count: usize) -> Vec<Candidate> {
        let within_m = after.map_or(0.0, |after| {
            let straight_m = self.positions.straight_m(after.length_m);
            (straight_m - rounding_m(straight_m)).max(0.0)
        });
        let mut search = Search {
            from,
            after,
            count,
            found: BinaryHeap::with_capacity(count + 1),
            beyond_m2: f64::INFINITY,
            within_m2: within_m * within_m,
        };
        self.look(self.root(), &mut search);
        search.found.into_sorted_vec()
    }

    fn look(&self, branch: Branch, search: &mut Search) {
        let own = self.piece_of.get(search.from);
        let is_own = own.is_some() && self.pieces[branch.number].as_ref() == own;
        if self.left[branch.number] == 0 || is_own {
            return;
        }
        let point = &self.points[search.from];
        let (nearest, farthest) = self.bounds[branch.number].squared_m2(point);
        if nearest > search.beyond_m2 || farthest < search.within_m2 {
            return;
        }
        if let Some(mut halves) = branch.halves() {
            let [low, high] = halves.map(|half| self.bounds[half.number].squared_m2(point).0);
            if high < low {
                halves.swap(0, 1);
            }
            for half in halves {
                self.look(half, search);
            }
            return;
        }
        for node in &self.order[branch.begin..branch.end] {
            let node = *node as usize;
            if node == search.from || self.is_removed[node] {
                continue;
            }
            let length_m = self.positions.distance_m(search.from, node);
            let candidate = Candidate::new(length_m, search.from, node);
            if search.after.is_some_and(|after| candidate <= after) {
                continue;
            }
            search.found.push(candidate);
            if search.found.len() > search.count {
                search.found.pop();
            }
            if search.found.len() == search.count
                && let Some(last) = search.found.peek()
            {
                let straight_m = self.positions.straight_m(last.length_m);
                let beyond_m = straight_m + rounding_m(straight_m);
                search.beyond_m2 = beyond_m * beyond_m;
            }
        }
    }

    /// Whether any node but `a` and `b` is inside the circle over their link, which is `length_m`
    /// metres long.
    pub(super) fn is_any_inside(&self, a: usize, b: usize, length_m: f64) -> bool {
        let limit_m = length_m + 2.0 * rounding_m(length_m);
        let mut open = vec![self.root()];
        while let Some(branch) = open.pop() {
            let bounds = &self.bounds[branch.number];
            let [to_a, to_b] = [a, b].map(|end| bounds.squared_m2(&self.points[end]).0);
            if to_a + to_b > limit_m * limit_m {
                continue;
            }
            match branch.halves() {
                Some(halves) => open.extend(halves),
                None => {
                    let mut nodes = self.order[branch.begin..branch.end].iter();
                    if nodes.any(|c| is_inside(self.positions, a, b, length_m, *c as usize)) {
                        return true;
                    }
                }
            }
        }
        false
    }

    /// The nodes that none of `near` sees at an obtuse angle from `a`, and a few others.
    pub(super) fn not_behind(&self, a: usize, near: &[usize]) -> Vec<usize> {
        let mut nodes = Vec::new();
        let mut open = vec![self.root()];
        while let Some(branch) = open.pop() {
            let bounds = &self.bounds[branch.number];
            let is_behind = |c: &usize| bounds.is_behind(&self.points[a], &self.points[*c]);
            if near.iter().any(is_behind) {
                continue;
            }
            match branch.halves() {
                Some(halves) => open.extend(halves),
                None => {
                    let leaf = self.order[branch.begin..branch.end].iter();
                    nodes.extend(leaf.map(|node| *node as usize));
                }
            }
        }
        nodes
    }
}

/// Whether `c` is another node than `a` and `b` inside the circle over their link, which is
/// `length_m` metres long: it sees them at an obtuse angle.
pub(super) fn is_inside(
    positions: &Positions,
    a: usize,
    b: usize,
    length_m: f64,
    c: usize,
) -> bool {
    let (to_a, to_b) = (positions.distance_m(a, c), positions.distance_m(c, b));
    c != a && c != b && to_a * to_a + to_b * to_b < length_m * length_m
}
