//! The fixed properties of a policy.

use crate::choices::RttSamples;
use crate::recovery::undo::UndoEvidence;
use crate::window::ReductionLaw;

/// The fixed properties of a policy.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Profile {
    pub(crate) undo: UndoEvidence,
    pub(crate) reduction: ReductionLaw,
    /// Whether the window falls step by step in Recovery.
    pub(crate) reduces_gradually: bool,
    /// Whether tail loss probes may be used.
    pub(crate) probes_tail: bool,
    /// The samples that the policy takes; `None`: those configured.
    pub(crate) rtt_samples: Option<RttSamples>,
    /// Whether the acknowledgment that undoes a recovery goes on to the search for losses, which
    /// does not find again what it found before (Linux since 4.15: `tsorted_sent_queue`).
    pub(crate) searches_after_undo: bool,
}

impl Profile {
    /// RFC 6675 with proportional rate reduction.
    pub(super) const PLAIN: Self = Self {
        undo: UndoEvidence::None,
        reduction: ReductionLaw::Proportional,
        reduces_gradually: true,
        probes_tail: true,
        rtt_samples: None,
        searches_after_undo: false,
    };
}
