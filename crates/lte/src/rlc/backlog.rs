//! What waits to be sent in a direction.
//!
//! The MAC asks for it several times in each TTI, so it is counted when it changes.

use backlane_units::{Duration, SimTime};

use super::am;
use super::path::{Mode, Path};
use super::pdu::BufferStatus;

/// What waits to be sent in a direction, as of the last change.
#[derive(Clone, Copy, Debug)]
pub(super) struct Backlog {
    retransmit_bytes: u64,
    new_bytes: u64,
    header_bytes: u32,
    /// The STATUS PDU on the other direction.
    status_bytes: u32,
    /// When it may be sent; [`SimTime::MAX`]: none is due.
    status_at: SimTime,
}

impl Default for Backlog {
    fn default() -> Self {
        Self {
            retransmit_bytes: 0,
            new_bytes: 0,
            header_bytes: 0,
            status_bytes: 0,
            status_at: SimTime::MAX,
        }
    }
}

impl Backlog {
    /// Counts the data of the direction's own sender.
    pub(super) fn count_data(&mut self, path: &Path) {
        let Path { stream, mode, .. } = path;
        let (fixed_bytes, retransmit_bytes, may_send_new) = match mode {
            Mode::Um { config, .. } => (config.sequence_number.header_bytes(), 0, true),
            Mode::Am { sender, .. } => (
                am::HEADER_BYTES,
                sender.retransmit_bytes(),
                sender.may_send_new(),
            ),
        };
        self.retransmit_bytes = retransmit_bytes;
        (self.new_bytes, self.header_bytes) = if may_send_new {
            (stream.new_bytes(), stream.header_bytes(fixed_bytes))
        } else {
            (0, 0)
        };
    }

    /// Counts the STATUS PDU of the other direction's receiver.
    pub(super) fn count_report(&mut self, opposite: &Path) {
        if let Mode::Am { receiver, .. } = &opposite.mode {
            self.status_at = receiver.status_at();
            self.status_bytes = receiver.status_bytes();
        }
    }

    /// As of `now`, where the oldest packet has waited for `head_delay`.
    #[inline]
    pub(super) fn status(&self, now: SimTime, head_delay: Duration) -> BufferStatus {
        let is_due = self.status_at <= now;
        BufferStatus {
            status_bytes: if is_due { self.status_bytes.into() } else { 0 },
            retransmit_bytes: self.retransmit_bytes,
            new_bytes: self.new_bytes,
            header_bytes: self.header_bytes.into(),
            head_delay,
        }
    }
}
