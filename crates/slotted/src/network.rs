//! The tables of a network: its nodes, the ends of its links, and the flows that may take each link.

use std::collections::BTreeMap;
use std::fmt;

use backlane_param::Id;

use crate::config::{Arrivals, Config, Interference};
use crate::conflicts::Conflicts;

/// Why a configuration is no network.
#[derive(Clone, Debug, PartialEq)]
pub enum Problem {
    /// A flow names a node that no link has.
    UnknownNode(String),
    /// A conflict is no pair of links.
    BadConflict(Vec<String>),
    /// A link or flow ends where it begins.
    SameEnds(String),
    /// The flow of this name has no path to its destination.
    NoPath(String),
    /// A probability, rate or weight is not a number in its range.
    Value(&'static str),
    /// There are more links than the scheduler takes: 64 for the exact one, 1024 for the other.
    TooManyLinks(usize),
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::UnknownNode(node) => write!(f, "no link has the node {node}"),
            Self::BadConflict(links) => write!(f, "{links:?} is no pair of links"),
            Self::SameEnds(node) => write!(f, "a link or flow leads from node {node} to itself"),
            Self::NoPath(flow) => write!(f, "flow {flow} has no path to its destination"),
            Self::Value(what) => write!(f, "{what} is out of range"),
            Self::TooManyLinks(links) => {
                write!(f, "{links} links are more than the scheduler takes")
            }
        }
    }
}

impl std::error::Error for Problem {}

/// The largest rate of a link or source, in packets per slot.
pub const MOST_RATE_PKTS: u32 = 100;
/// The largest K, in packets.
pub const MOST_K_PKTS: u32 = 1_000_000;
/// The longest run.
pub const MOST_SLOTS: u64 = 1_000_000_000;
/// The most links of any network.
pub const MOST_LINKS: usize = 1024;
/// The most links of an exact schedule.
pub use crate::conflicts::MOST_MASKED as MOST_EXACT_LINKS;

/// A flow that may take a link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Candidate {
    pub(crate) flow: u32,
    /// Its queue before the link.
    pub(crate) from: u32,
    /// Its queue behind the link; `None` at its destination.
    pub(crate) to: Option<u32>,
}

/// Nodes, links and flows by index, and which flow may take which link.
#[derive(Clone, Debug)]
pub(crate) struct Network {
    /// The names of the nodes, in the order in which links name them.
    pub(crate) nodes: Vec<String>,
    /// From which node and to which each link leads.
    pub(crate) links: Vec<(usize, usize)>,
    /// The source and the destination of each flow.
    pub(crate) flows: Vec<(usize, usize)>,
    /// The candidates of all links, one link after another.
    pub(crate) candidates: Vec<Candidate>,
    /// Where those of each link end.
    pub(crate) ends: Vec<u32>,
}

/// The queue of a flow at a node.
pub(crate) fn queue(node: usize, flow: usize, flows: usize) -> usize {
    node * flows + flow
}

impl Network {
    /// Checks a configuration and finds the links that lie on paths of each flow.
    pub(crate) fn new(config: &Config) -> Result<Self, Problem> {
        check(config)?;
        let mut network = Self::named(config)?;
        let (links, flows) = (&network.links, &network.flows);
        let nodes = network.nodes.len();
        let backwards: Vec<_> = links.iter().map(|&(from, to)| (to, from)).collect();
        let forward: Vec<_> = (flows.iter().map(|flow| reach(nodes, links, flow.0))).collect();
        let backward: Vec<_> = (flows.iter())
            .map(|flow| reach(nodes, &backwards, flow.1))
            .collect();
        for (index, flow) in flows.iter().enumerate() {
            if !forward[index][flow.1] {
                return Err(Problem::NoPath(config.flow[index].label()));
            }
        }
        let (mut candidates, mut ends) = (Vec::new(), Vec::new());
        for &(from, to) in links {
            for (index, &(_, destination)) in flows.iter().enumerate() {
                let leads = forward[index][from] && backward[index][to];
                if leads && from != destination {
                    let at = |node| queue(node, index, flows.len()) as u32;
                    candidates.push(Candidate {
                        flow: index as u32,
                        from: at(from),
                        to: (to != destination).then(|| at(to)),
                    });
                }
            }
            ends.push(candidates.len() as u32);
        }
        (network.candidates, network.ends) = (candidates, ends);
        Ok(network)
    }

    /// The network without candidates: names as indices.
    fn named(config: &Config) -> Result<Self, Problem> {
        let mut nodes = Vec::new();
        let mut by_name = BTreeMap::new();
        let mut links = Vec::new();
        for link in &config.link {
            let mut index = |node: &Id| {
                *by_name.entry(node.0.clone()).or_insert_with(|| {
                    nodes.push(node.0.clone());
                    nodes.len() - 1
                })
            };
            links.push((index(&link.from), index(&link.to)));
        }
        let find = |node: &Id| {
            let found = by_name.get(&node.0).copied();
            found.ok_or_else(|| Problem::UnknownNode(node.0.clone()))
        };
        let flows = config.flow.iter();
        let flows: Result<Vec<_>, _> = flows
            .map(|flow| Ok((find(&flow.from)?, find(&flow.to)?)))
            .collect();
        Ok(Self {
            nodes,
            links,
            flows: flows?,
            candidates: Vec::new(),
            ends: Vec::new(),
        })
    }

    /// The conflicts of the links.
    pub(crate) fn conflicts(&self, config: &Config) -> Result<Conflicts, Problem> {
        let links = self.links.len();
        Ok(match &config.interference {
            Interference::None => Conflicts::new(links, []),
            Interference::Primary => Conflicts::of_common_ends(&self.links),
            Interference::CollisionDomain => Conflicts::of_one_domain(links),
            Interference::Conflicts { conflicts } => {
                let mut names = BTreeMap::new();
                for (index, link) in config.link.iter().enumerate() {
                    let name = format!("{}-{}", link.from.0, link.to.0);
                    names.entry(name).or_insert(index);
                }
                let pair = |pair: &Vec<String>| match &pair[..] {
                    [a, b] => Some((*names.get(a)?, *names.get(b)?)),
                    _ => None,
                };
                let pairs = conflicts.iter();
                let pairs: Result<Vec<_>, _> = pairs
                    .map(|named| pair(named).ok_or_else(|| Problem::BadConflict(named.clone())))
                    .collect();
                Conflicts::new(links, pairs?)
            }
        })
    }
}

/// The nodes that can be reached from `start` over `links`.
fn reach(nodes: usize, links: &[(usize, usize)], start: usize) -> Vec<bool> {
    let mut reached = vec![false; nodes];
    let mut open = vec![start];
    while let Some(node) = open.pop() {
        if std::mem::replace(&mut reached[node], true) {
            continue;
        }
        open.extend(
            links
                .iter()
                .filter(|link| link.0 == node)
                .map(|link| link.1),
        );
    }
    reached
}

fn check(config: &Config) -> Result<(), Problem> {
    let links = config.link.iter().map(|link| (&link.from, &link.to));
    let flows = config.flow.iter().map(|flow| (&flow.from, &flow.to));
    if let Some((node, _)) = links.chain(flows).find(|(from, to)| from == to) {
        return Err(Problem::SameEnds(node.0.clone()));
    }
    if config.link.len() > MOST_LINKS {
        return Err(Problem::TooManyLinks(config.link.len()));
    }
    let within = |value: f64, most: f64| (0.0..=most).contains(&value);
    let most = f64::from(MOST_RATE_PKTS);
    for link in &config.link {
        if !within(link.on, 1.0) {
            return Err(Problem::Value("the probability that a channel is ON"));
        }
        if !(1..=MOST_RATE_PKTS).contains(&link.rate_pkts) {
            return Err(Problem::Value("the rate of a link"));
        }
    }
    for flow in &config.flow {
        match flow.arrivals {
            Arrivals::Bernoulli { rate } | Arrivals::Constant { rate } if !within(rate, most) => {
                return Err(Problem::Value("the rate of a flow"));
            }
            Arrivals::Window(window) if window.window_pkts == 0 || window.most_window_pkts == 0 => {
                return Err(Problem::Value("a window"));
            }
            _ => {}
        }
    }
    let control = config.flow_control;
    if !(control.m > 0.0 && control.m.is_finite()) {
        return Err(Problem::Value("M"));
    }
    if !(control.r_max_pkts > 0.0 && control.r_max_pkts <= most) {
        return Err(Problem::Value("the bound of the flow control"));
    }
    if config.k_pkts > MOST_K_PKTS {
        return Err(Problem::Value("K"));
    }
    if config.warm_up_slots.saturating_add(config.slots) > MOST_SLOTS {
        return Err(Problem::Value("the number of slots"));
    }
    Ok(())
}
