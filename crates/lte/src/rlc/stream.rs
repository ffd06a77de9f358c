//! The sending end of the byte stream: from the transmission buffer into data fields.

use backlane_units::{Duration, SimTime};

use super::Outcome;
use super::buffer::{Buffer, Sdu};
use super::config::RlcConfig;
use super::ledger::{Ledger, indicator_bytes, lay_out};

/// A data field cut from the stream.
pub(super) struct Field {
    pub(super) start: u64,
    pub(super) end: u64,
    pub(super) header_bytes: u32,
}

#[derive(Debug)]
pub(super) struct Stream {
    pub(super) buffer: Buffer,
    pub(super) ledger: Ledger,
    /// The first byte that was never sent; from here to the ledger's end is the rest of an SDU.
    next: u64,
}

impl Stream {
    pub(super) fn new(config: &RlcConfig, discard_timer: Option<Duration>) -> Self {
        Self {
            buffer: Buffer::new(config, discard_timer),
            ledger: Ledger::default(),
            next: 0,
        }
    }

    /// Cuts the data field of a new PDU of at most `room_bytes`, whose header's fixed part has
    /// `fixed_bytes`. `None`: nothing waits, or no byte fits.
    pub(super) fn cut(
        &mut self,
        now: SimTime,
        fixed_bytes: u32,
        room_bytes: u32,
        outcome: &mut Outcome,
    ) -> Option<Field> {
        if room_bytes <= fixed_bytes {
            return None;
        }
        let Self {
            buffer,
            ledger,
            next,
        } = self;
        let mut begin = |ledger: &mut Ledger| {
            ledger.begin(buffer.pop(now, outcome)?);
            Some(ledger.end())
        };
        let start = *next;
        if start == ledger.end() {
            begin(ledger)?;
        }
        let (end, header_bytes) = lay_out(start, ledger.end(), fixed_bytes, room_bytes, || {
            begin(ledger)
        });
        *next = end;
        Some(Field {
            start,
            end,
            header_bytes,
        })
    }

    /// Nothing is left that was never sent.
    pub(super) fn is_empty(&self) -> bool {
        self.new_bytes() == 0
    }

    /// Bytes that were never sent.
    pub(super) fn new_bytes(&self) -> u64 {
        self.rest_bytes() + self.buffer.bytes()
    }

    fn rest_bytes(&self) -> u64 {
        self.ledger.end() - self.next
    }

    /// The header of one PDU with all that was never sent.
    pub(super) fn header_bytes(&self, fixed_bytes: u32) -> u32 {
        let elements = self.buffer.pkts() as u32 + u32::from(self.rest_bytes() > 0);
        if elements == 0 {
            return 0;
        }
        fixed_bytes + indicator_bytes(elements - 1)
    }

    /// Restarts the stream; what has not arrived and is worth sending again waits first.
    pub(super) fn restart(&mut self, mut again: impl FnMut(&Sdu) -> bool) {
        self.next = 0;
        for sdu in self.ledger.take_unsettled() {
            if again(&sdu) {
                self.buffer.put_back(sdu);
            }
        }
    }
}
