//! A network as tables: which flow may take which link.

use std::fmt;

use crate::config::{Config, Interference, Source};

/// A configuration that is no network.
#[derive(Clone, Debug, PartialEq)]
pub enum Problem {
    /// A link or flow names a node that is not there.
    UnknownNode(usize),
    /// A conflict names a link that is not there.
    UnknownLink(usize),
    /// A link or flow ends where it begins.
    SameEnds(usize),
    /// The flow with this index has no way to its destination.
    NoPath(usize),
    /// A probability, rate or weight is not a number in its range.
    Value(&'static str),
    /// There are more links than the scheduler takes: 64 for the exact one, 1024 for the other.
    TooManyLinks(usize),
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::UnknownNode(node) => write!(f, "there is no node {node}"),
            Self::UnknownLink(link) => write!(f, "there is no link {link}"),
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

/// Which flow may take which link, and where its queues are.
#[derive(Clone, Debug)]
pub(crate) struct Network {
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
    /// Checks a configuration and finds the links that lie on ways of each flow.
    pub(crate) fn new(config: &Config) -> Result<Self, Problem> {
        check(config)?;
        let flows = config.flows.len();
        let mut network = Self {
            candidates: Vec::new(),
            ends: Vec::new(),
        };
        let forward: Vec<_> = (config.flows.iter())
            .map(|flow| reach(config, flow.source, |link| (link.from, link.to)))
            .collect();
        let backward: Vec<_> = (config.flows.iter())
            .map(|flow| reach(config, flow.destination, |link| (link.to, link.from)))
            .collect();
        for (index, flow) in config.flows.iter().enumerate() {
            if !forward[index][flow.destination] {
                return Err(Problem::NoPath(index));
            }
        }
        for link in &config.links {
            for (index, flow) in config.flows.iter().enumerate() {
                let leads = forward[index][link.from] && backward[index][link.to];
                if leads && link.from != flow.destination {
                    let at = |node| queue(node, index, flows) as u32;
                    network.candidates.push(Candidate {
                        flow: index as u32,
                        from: at(link.from),
                        to: (link.to != flow.destination).then(|| at(link.to)),
                    });
                }
            }
            network.ends.push(network.candidates.len() as u32);
        }
        Ok(network)
    }
}

/// The nodes that can be reached from `start` over links that lead as `ends` says.
fn reach(
    config: &Config,
    start: usize,
    ends: impl Fn(&crate::Link) -> (usize, usize),
) -> Vec<bool> {
    let mut reached = vec![false; config.nodes];
    let mut open = vec![start];
    while let Some(node) = open.pop() {
        if std::mem::replace(&mut reached[node], true) {
            continue;
        }
        let next = config.links.iter().map(&ends);
        open.extend(next.filter(|&(from, _)| from == node).map(|(_, to)| to));
    }
    reached
}

fn check(config: &Config) -> Result<(), Problem> {
    let ends = (config.links.iter().map(|link| (link.from, link.to))).chain(
        config
            .flows
            .iter()
            .map(|flow| (flow.source, flow.destination)),
    );
    for (from, to) in ends {
        if let Some(&node) = [from, to].iter().find(|&&node| node >= config.nodes) {
            return Err(Problem::UnknownNode(node));
        }
        if from == to {
            return Err(Problem::SameEnds(from));
        }
    }
    if let Interference::Conflicts(pairs) = &config.interference {
        let links = pairs.iter().flat_map(|&(a, b)| [a, b]);
        if let Some(link) = links.into_iter().find(|&link| link >= config.links.len()) {
            return Err(Problem::UnknownLink(link));
        }
    }
    if config.links.len() > MOST_LINKS {
        return Err(Problem::TooManyLinks(config.links.len()));
    }
    let within = |value: f64, most: f64| (0.0..=most).contains(&value);
    let most = f64::from(MOST_RATE_PKTS);
    for link in &config.links {
        if !within(link.on, 1.0) {
            return Err(Problem::Value("the probability that a channel is ON"));
        }
        if !(1..=MOST_RATE_PKTS).contains(&link.rate_pkts) {
            return Err(Problem::Value("the rate of a link"));
        }
    }
    for flow in &config.flows {
        match flow.arrivals {
            Source::Bernoulli(rate) | Source::Constant(rate) if !within(rate, most) => {
                return Err(Problem::Value("the rate of a flow"));
            }
            Source::Window(window) if window.initial_pkts == 0 || window.most_pkts == 0 => {
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
