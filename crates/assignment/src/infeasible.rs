//! Demands that cannot all be met: the factor by which they could, the binding constraints, and the
//! remedies.

/// A resource of limited time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Constraint {
    /// The radios of a node.
    Radios {
        /// The node.
        node: usize,
        /// Its radios.
        radios: u8,
    },
    /// The channels that a link and those that would disturb it have between them.
    Channels {
        /// The link.
        link: usize,
        /// The channels that there are.
        channels: usize,
    },
    /// A link at its highest rate.
    Link {
        /// The link.
        link: usize,
    },
    /// A link and those that disturb it on its given channel.
    Domain {
        /// The link.
        link: usize,
        /// Its channel.
        channel: u8,
    },
}

/// One more radio or channel, or twice a link's rate, and what it brings.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Remedy {
    /// Of what.
    pub constraint: Constraint,
    /// The demands could then be met by this factor.
    pub factor: f64,
}

/// Demands that cannot all be met.
#[derive(Clone, Debug, PartialEq)]
pub struct Infeasible {
    /// All could be met to this factor of their rates, below 1.
    pub factor: f64,
    /// The binding constraints: one more unit of any of them would help; with `together`, only one
    /// more of each.
    pub remedies: Vec<Remedy>,
    /// Whether no remedy alone would help.
    pub together: bool,
}
