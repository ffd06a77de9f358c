//! Demands, and flow rates for them.

/// Traffic from one node to another.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Demand {
    /// The source.
    pub from: usize,
    /// The destination.
    pub to: usize,
    /// What must be carried, in bit/s; `None`: as much as goes.
    pub rate_bps: Option<f64>,
    /// So much flows back for each bit that flows forward, such as acknowledgments.
    pub reverse_share: f64,
}

/// What each link carries in bit/s, from its `a` to its `b` and back.
#[derive(Clone, Debug, PartialEq)]
pub struct FlowRates(pub Vec<[f64; 2]>);

impl FlowRates {
    /// Both directions of a link together, in bit/s.
    pub fn of(&self, link: usize) -> f64 {
        self.0[link][0] + self.0[link][1]
    }
}
