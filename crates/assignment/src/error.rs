//! Why a mesh cannot be assigned to, and how to mend it.

use crate::infeasible::Infeasible;
use crate::mesh::Mesh;

/// What is wrong. Nodes, links and demands are indices; [`Error::describe`] names them.
#[derive(Clone, Debug, PartialEq)]
pub enum Error {
    /// The data contradict themselves; the rule that they break.
    Malformed(String),
    /// A node with links has no radio.
    NoRadio {
        /// The node.
        node: usize,
    },
    /// Two radios of a node would have to be on one channel.
    MoreRadiosThanChannels {
        /// The node.
        node: usize,
        /// Its radios.
        radios: u8,
        /// The channels that there are.
        channels: usize,
    },
    /// The given channels of a node's links are more than its radios.
    TooManyChannels {
        /// The node.
        node: usize,
        /// The channels of its links.
        channels: Vec<u8>,
        /// Its radios.
        radios: u8,
    },
    /// The ends of a link are too far from each other for the lowest rate.
    OutOfRange {
        /// The link.
        link: usize,
    },
    /// Nodes that links join are not joined by links with a channel.
    Unconnected {
        /// The nodes of each piece, all of which the mesh's links join.
        pieces: Vec<Vec<usize>>,
    },
    /// No path of usable links leads from a demand's source to its destination.
    NoPath {
        /// The demand.
        demand: usize,
        /// Its source.
        from: usize,
        /// Its destination.
        to: usize,
    },
    /// There are more short paths than are gone through, of a demand or with it.
    TooManyPaths {
        /// The demand.
        demand: usize,
        /// Its source.
        from: usize,
        /// Its destination.
        to: usize,
        /// The number of paths that are examined.
        limit: usize,
    },
    /// The demands that name a rate cannot all be met.
    Infeasible(Infeasible),
    /// The solver of linear programs gave up; its words.
    Solver(String),
}

impl Error {
    /// What happened, and what to do, with the nodes named by `name`.
    pub fn describe(&self, mesh: &Mesh, name: impl Fn(usize) -> String) -> (String, String) {
        let count = |number: usize, one: &str| match number {
            1 => format!("1 {one}"),
            _ => format!("{number} {one}s"),
        };
        match self {
            Self::Malformed(rule) => ("nothing can be assigned here".to_string(), rule.clone()),
            Self::NoRadio { node } => (
                format!("{} has links but no radio", name(*node)),
                "give it one, or take its links away".to_string(),
            ),
            Self::MoreRadiosThanChannels {
                node,
                radios,
                channels,
            } => (
                format!(
                    "{} has {} for {}, and two radios of a node on one channel disturb each other",
                    name(*node),
                    count(usize::from(*radios), "radio"),
                    count(*channels, "channel"),
                ),
                format!("give it at most {channels}, or make more channels available"),
            ),
            Self::TooManyChannels {
                node,
                channels,
                radios,
            } => {
                let listed: Vec<String> = channels.iter().map(u8::to_string).collect();
                let what = format!(
                    "the links of {} are on {} ({}), but it has {}",
                    name(*node),
                    count(channels.len(), "channel"),
                    listed.join(", "),
                    count(usize::from(*radios), "radio"),
                );
                let radios = count(channels.len(), "radio");
                (
                    what,
                    format!("give it {radios}, or put its links on fewer channels"),
                )
            }
            Self::OutOfRange { link } => (
                format!(
                    "{} and {} are too far from each other for the lowest rate",
                    name(mesh.links[*link].a),
                    name(mesh.links[*link].b),
                ),
                "move them together, or take the link away".to_string(),
            ),
            Self::Unconnected { pieces } => {
                let named = |piece: &Vec<usize>| {
                    let names: Vec<String> = piece.iter().map(|&node| name(node)).collect();
                    format!("{{{}}}", names.join(", "))
                };
                let pieces: Vec<String> = pieces.iter().map(named).collect();
                (
                    format!(
                        "with these channels the mesh falls apart into {}",
                        pieces.join(" and ")
                    ),
                    "give a link between them a channel that both its ends have".to_string(),
                )
            }
            Self::NoPath { from, to, .. } => (
                format!(
                    "no links with a channel lead from {} to {}",
                    name(*from),
                    name(*to)
                ),
                "join them, or take the demand away".to_string(),
            ),
            Self::TooManyPaths {
                from, to, limit, ..
            } => (
                format!(
                    "with those from {} to {} there are more than {limit} paths within the bound on \
                     hops",
                    name(*from),
                    name(*to),
                ),
                "lower extra_hops, or use flow rates that need no paths (\"equal\")".to_string(),
            ),
            Self::Infeasible(infeasible) => infeasible.describe(mesh, &name),
            Self::Solver(words) => (
                format!("the flow rates could not be computed ({words})"),
                "use \"paths\" or \"equal\"".to_string(),
            ),
        }
    }
}
