//! The congestion state.

/// The state of loss recovery, as Linux divides it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum CongestionState {
    /// Nothing unusual.
    #[default]
    Open,
    /// Duplicate acknowledgments or SACKs have arrived, too few to call a segment lost.
    Disorder,
    /// The window is being reduced without a loss.
    Cwr,
    /// Fast recovery: lost segments are retransmitted, the window is being reduced.
    Recovery,
    /// A retransmission timeout: slow start from one packet.
    Loss,
}
