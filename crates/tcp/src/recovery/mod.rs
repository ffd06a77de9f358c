//! Loss recovery: which segments are lost, and how fast the window shrinks meanwhile.
//!
//! [`scoreboard`] keeps one record per segment in flight and finds the lost ones; [`prr`] paces
//! the retransmissions of a recovery, or [`rate_halving`] before it was known; [`reordering`]
//! knows how much disorder to bear; [`rate`] measures how fast
//! the path delivers. What an acknowledgment or a timeout does to the
//! [`CongestionState`] is in the sender.

pub(crate) mod prr;
pub(crate) mod rate;
pub(crate) mod rate_halving;
pub(crate) mod reordering;
pub(crate) mod scoreboard;

/// The state of loss recovery, as Linux divides it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum CongestionState {
    /// Nothing unusual.
    #[default]
    Open,
    /// Duplicate acknowledgments or SACKs have come, too few to call a segment lost.
    Disorder,
    /// The window is being reduced without a loss.
    Cwr,
    /// Fast recovery: lost segments are retransmitted, the window is being reduced.
    Recovery,
    /// A retransmission timeout: slow start from one packet.
    Loss,
}
