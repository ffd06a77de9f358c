//! Why a mesh cannot be assigned to, and how to mend it.

use crate::infeasible::Infeasible;
use crate::mesh::Mesh;

/// What is wrong. Nodes, links and demands are indices; [`Error::describe`] names them.
#[derive(Clone, Debug, PartialEq)]
pub enum Error {
    /// The data contradict themselves.
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
    /// There are more short paths for a demand than are gone through.
    TooManyPaths {
        /// The demand.
        demand: usize,
        /// Its source.
        from: usize,
        /// Its destination.
        to: usize,
        /// So many are gone through.
        limit: usize,
    },
    /// The demands that name a rate cannot all be met.
    Infeasible(Infeasible),
    /// The solver of linear programs gave up; its words.
    Solver(String),
}

impl Error {
    /// What happened and what to do, with the nodes named by `name`.
    pub fn describe(&self, mesh: &Mesh, name: impl Fn(usize) -> String) -> String {
        let link = |link: usize| {
            let ends = mesh.links[link];
            format!("{}-{}", name(ends.a), name(ends.b))
        };
        match self {
            Self::Malformed(what) => what.clone(),
            Self::NoRadio { node } => {
                let node = name(*node);
                format!("{node} has links but no radio: give it one, or take its links away")
            }
            Self::MoreRadiosThanChannels {
                node,
                radios,
                channels,
            } => format!(
                "{} has {radios} radios for {channels} {}, and two radios of a node on one channel \
                 disturb each other: give it at most {channels}, or make more channels available",
                name(*node),
                if *channels == 1 {
                    "channel"
                } else {
                    "channels"
                },
            ),
            Self::TooManyChannels {
                node,
                channels,
                radios,
            } => {
                let listed: Vec<String> = channels.iter().map(u8::to_string).collect();
                format!(
                    "the links of {} are on {} channels ({}), but it has {radios} {}: give it {} \
                     radios, or put its links on fewer channels",
                    name(*node),
                    channels.len(),
                    listed.join(", "),
                    if *radios == 1 { "radio" } else { "radios" },
                    channels.len(),
                )
            }
            Self::OutOfRange { link: far } => format!(
                "the ends of {} are too far from each other for the lowest rate: move them \
                 together, or take the link away",
                link(*far),
            ),
            Self::Unconnected { pieces } => {
                let pieces: Vec<String> = pieces
                    .iter()
                    .map(|piece| {
                        let names: Vec<String> = piece.iter().map(|&node| name(node)).collect();
                        format!("{{{}}}", names.join(", "))
                    })
                    .collect();
                format!(
                    "with these channels the mesh falls apart into {}: give a link between them a \
                     channel that both its ends have",
                    pieces.join(" and "),
                )
            }
            Self::NoPath { from, to, .. } => format!(
                "no links with a channel lead from {} to {}: join them, or take the demand away",
                name(*from),
                name(*to),
            ),
            Self::TooManyPaths {
                from, to, limit, ..
            } => format!(
                "there are more than {limit} paths from {} to {} within the bound on hops: lower \
                 extra_hops, or use flow rates that need no paths (\"equal\")",
                name(*from),
                name(*to),
            ),
            Self::Infeasible(infeasible) => infeasible.describe(mesh, &name),
            Self::Solver(words) => format!(
                "the flow rates could not be computed ({words}): use \"paths\" or \"equal\""
            ),
        }
    }
}
