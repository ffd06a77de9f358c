//! Why a mesh cannot be assigned to.

use crate::infeasible::Infeasible;

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
