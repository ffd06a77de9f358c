//! The division of a network into regions of similar load.
//!
//! Nodes that must stay together are joined first: hosts with their routers, and the ends of links
//! that are too short. The shortest delay that may be cut is the longest at which what is joined still
//! fits into a region. The joined groups are then divided in two, again and again, along short fronts:
//! a region grows from the edge of the network until it has its share of the load, and its border is
//! improved group by group (Fiduccia and Mattheyses, DAC 1982, without its buckets).

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::Arc;

use backlane_engine::Stream;
use backlane_net::NodeId;
use backlane_units::Duration;

/// The load of a joined group over that of a thread, at most.
const LARGEST_GROUP: f64 = 1.1;
/// How far the load of a region may be from its share when a border is improved.
const TOLERANCE: f64 = 0.02;
/// Rounds of improvements of a border.
const ROUNDS: usize = 8;

/// A network as the division sees it.
pub(crate) struct Map {
    /// The load of each node; its unit does not matter.
    pub(crate) load: Vec<u64>,
    /// Wires, with their delays.
    pub(crate) wires: Vec<(NodeId, NodeId, Duration)>,
    /// Nodes that must be in one region.
    pub(crate) together: Vec<(NodeId, NodeId)>,
}

/// The regions of a network.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Division {
    /// The region of each node.
    pub(crate) of_node: Arc<[u16]>,
    /// The number of regions; at least two.
    pub(crate) regions: usize,
    /// The number of threads; at most one for each region.
    pub(crate) threads: usize,
    /// The least delay between two regions.
    pub(crate) look_ahead: Duration,
}

/// Sets of nodes that are together.
struct Groups(Vec<u32>);

impl Groups {
    fn new(nodes: usize) -> Self {
        Self((0..nodes as u32).collect())
    }

    fn root(&mut self, node: u32) -> u32 {
        let mut root = node;
        while self.0[root as usize] != root {
            let above = self.0[root as usize];
            self.0[root as usize] = self.0[above as usize];
            root = above;
        }
        root
    }

    fn join(&mut self, a: NodeId, b: NodeId) {
        let (a, b) = (self.root(a.0), self.root(b.0));
        // The lesser number leads, so that the result does not depend on the order of joins.
        self.0[a.max(b) as usize] = a.min(b);
    }
}

impl Map {
    /// Divides the network into this many regions for this many threads; fewer where it is too small.
    /// `None` if it cannot be divided.
    pub(crate) fn divide(&self, regions: usize, threads: usize) -> Option<Division> {
        let total: u64 = self.load.iter().sum();
        let largest = (total as f64 / threads as f64 * LARGEST_GROUP) as u64;
        let mut delays: Vec<Duration> = self.wires.iter().map(|wire| wire.2).collect();
        delays.sort_unstable();
        delays.dedup();
        delays.retain(|&delay| delay > Duration::ZERO);
        // The heaviest group grows with the delay below which links are not cut.
        let fits = |&delay: &Duration| self.heaviest(&mut self.joined(delay)) <= largest;
        let longest = delays.partition_point(fits).checked_sub(1)?;
        self.cut(delays[longest], regions, threads)
    }

    /// Groups of nodes that are joined by more than links of at least this delay.
    fn joined(&self, delay: Duration) -> Groups {
        let mut groups = Groups::new(self.load.len());
        for &(a, b) in &self.together {
            groups.join(a, b);
        }
        for &(a, b, _) in self.wires.iter().filter(|wire| wire.2 < delay) {
            groups.join(a, b);
        }
        groups
    }

    fn heaviest(&self, groups: &mut Groups) -> u64 {
        let mut loads = vec![0; self.load.len()];
        for (node, load) in (0..).zip(&self.load) {
            loads[groups.root(node) as usize] += load;
        }
        loads.into_iter().max().unwrap_or(0)
    }

    /// Puts each group of nodes that must be together into a region at random.
    pub(crate) fn scatter(
        &self,
        regions: usize,
        threads: usize,
        mut draw: Stream,
    ) -> Option<Division> {
        let (groups, group_of) = self.grouped(Duration::from_ps(1));
        let region: Vec<u16> = (0..groups)
            .map(|_| (draw.uniform() * regions as f64) as u16)
            .collect();
        self.division(&group_of, &region, threads)
    }

    /// The number of groups that links of at least this delay join, and the group of each node.
    fn grouped(&self, delay: Duration) -> (usize, Vec<usize>) {
        let mut groups = self.joined(delay);
        let mut numbers = BTreeMap::new();
        let group_of = (0..self.load.len() as u32)
            .map(|node| {
                let next = numbers.len();
                *numbers.entry(groups.root(node)).or_insert(next)
            })
            .collect();
        (numbers.len(), group_of)
    }

    fn cut(&self, delay: Duration, regions: usize, threads: usize) -> Option<Division> {
        let (groups, group_of) = self.grouped(delay);
        let mut graph = Graph {
            load: vec![0; groups],
            near: vec![BTreeMap::new(); groups],
        };
        for (&group, load) in group_of.iter().zip(&self.load) {
            graph.load[group] += load;
        }
        for &(a, b, _) in &self.wires {
            let (a, b) = (group_of[a.index()], group_of[b.index()]);
            if a != b {
                *graph.near[a].entry(b).or_default() += 1;
                *graph.near[b].entry(a).or_default() += 1;
            }
        }
        let mut region = vec![0; groups];
        let all: Vec<usize> = (0..groups).collect();
        let regions = regions.min(groups).min(usize::from(u16::MAX));
        graph.split(&all, 0, regions, &mut region);
        self.division(&group_of, &region, threads)
    }

    /// The division with these regions of the groups; `None` if there is only one.
    fn division(&self, group_of: &[usize], region: &[u16], threads: usize) -> Option<Division> {
        let of_node: Vec<u16> = group_of.iter().map(|&group| region[group]).collect();
        // Regions without nodes are left out.
        let used: BTreeSet<u16> = of_node.iter().copied().collect();
        let number = |region: &u16| used.range(..region).count() as u16;
        let of_node: Arc<[u16]> = of_node.iter().map(number).collect();
        let crossing =
            |wire: &&(NodeId, NodeId, Duration)| of_node[wire.0.index()] != of_node[wire.1.index()];
        let between = self.wires.iter().filter(crossing);
        let look_ahead = between.map(|wire| wire.2).min();
        (used.len() > 1).then(|| Division {
            of_node: of_node.clone(),
            regions: used.len(),
            threads: threads.min(used.len()),
            // Regions that nothing joins never wait for each other.
            look_ahead: look_ahead.unwrap_or(Duration::from_secs(3600)),
        })
    }
}

/// Groups, and the number of links between them.
struct Graph {
    load: Vec<u64>,
    near: Vec<BTreeMap<usize, u32>>,
}

impl Graph {
    /// Assigns the regions from `first` on to `groups`.
    fn split(&self, groups: &[usize], first: u16, regions: usize, region: &mut [u16]) {
        if regions < 2 || groups.len() < 2 {
            for &group in groups {
                region[group] = first;
            }
            return;
        }
        let left = regions / 2;
        let total: u64 = groups.iter().map(|&group| self.load[group]).sum();
        let share = (total as f64 * left as f64 / regions as f64) as u64;
        let mut inside = self.grown(groups, share);
        self.improve(groups, share, total, &mut inside);
        let (a, b): (Vec<usize>, Vec<usize>) =
            groups.iter().partition(|group| inside.contains(group));
        self.split(&a, first, left, region);
        self.split(&b, first + left as u16, regions - left, region);
    }

    /// Groups in the order of their distance from `start`; those that it does not reach come last.
    fn by_distance(&self, groups: &[usize], start: usize) -> Vec<usize> {
        let mut left: BTreeSet<usize> = groups.iter().copied().collect();
        let mut order = Vec::with_capacity(groups.len());
        let mut queue = VecDeque::from([start]);
        left.remove(&start);
        loop {
            while let Some(group) = queue.pop_front() {
                order.push(group);
                for &near in self.near[group].keys() {
                    if left.remove(&near) {
                        queue.push_back(near);
                    }
                }
            }
            match left.pop_first() {
                Some(group) => queue.push_back(group),
                None => return order,
            }
        }
    }

    /// The groups nearest to the edge of the network that have this load together.
    fn grown(&self, groups: &[usize], share: u64) -> BTreeSet<usize> {
        let far = |start| self.by_distance(groups, start).last().copied();
        let edge = far(groups[0]).and_then(far).unwrap_or(groups[0]);
        let mut load = 0;
        let mut inside = BTreeSet::new();
        for group in self.by_distance(groups, edge) {
            let with = load + self.load[group];
            // The group at the limit is taken if that brings the load nearer to the share.
            if inside.is_empty() || with.abs_diff(share) < share.abs_diff(load) {
                inside.insert(group);
                load = with;
            } else if with > share {
                break;
            }
        }
        inside
    }

    /// Moves groups across the border while that shortens it, or brings the loads nearer to their
    /// shares without lengthening it.
    fn improve(&self, groups: &[usize], share: u64, total: u64, inside: &mut BTreeSet<usize>) {
        let tolerance = (total as f64 * TOLERANCE) as u64;
        let mut load: u64 = inside.iter().map(|&group| self.load[group]).sum();
        let here: BTreeSet<usize> = groups.iter().copied().collect();
        for _ in 0..ROUNDS {
            let mut moved = false;
            for &group in groups {
                let is_in = inside.contains(&group);
                let mut gain = 0_i64;
                for (near, &links) in &self.near[group] {
                    if here.contains(near) {
                        let same_side = inside.contains(near) == is_in;
                        gain += if same_side { -1 } else { 1 } * i64::from(links);
                    }
                }
                let after = if is_in {
                    load - self.load[group]
                } else {
                    load + self.load[group]
                };
                let (before_off, after_off) = (load.abs_diff(share), after.abs_diff(share));
                let stays_balanced = after_off <= tolerance.max(before_off);
                let is_better = gain > 0 || (gain == 0 && after_off < before_off);
                let side = if is_in {
                    inside.len()
                } else {
                    here.len() - inside.len()
                };
                if is_better && stays_balanced && side > 1 {
                    if is_in {
                        inside.remove(&group);
                    } else {
                        inside.insert(group);
                    }
                    load = after;
                    moved = true;
                }
            }
            if !moved {
                return;
            }
        }
    }
}
