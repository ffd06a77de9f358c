//! The fixed properties of a policy.

use crate::recovery::undo::UndoEvidence;
use crate::window::ReductionLaw;

/// Which RTT sample is preferred.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum RttSource {
    /// From segments acknowledged or SACKed that were sent once; else from the echoed timestamp.
    Segments,
    /// From the echoed timestamp; without one, from segments acknowledged. SACKs give no sample.
    Timestamps,
}

/// The fixed properties of a policy.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Profile {
    pub(crate) undo: UndoEvidence,
    pub(crate) reduction: ReductionLaw,
    /// Whether the window falls step by step in Recovery.
    pub(crate) reduces_gradually: bool,
    /// Whether tail loss probes may be used.
    pub(crate) probes_tail: bool,
    pub(crate) rtt_source: RttSource,
}

impl Profile {
    /// RFC 6675 with proportional rate reduction.
    pub(super) const PLAIN: Self = Self {
        undo: UndoEvidence::None,
        reduction: ReductionLaw::Proportional,
        reduces_gradually: true,
        probes_tail: true,
        rtt_source: RttSource::Segments,
    };
}
