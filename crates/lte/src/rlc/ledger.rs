//! The bytes of a direction as one stream: which SDU ends where, and which of them has arrived.

use std::collections::VecDeque;

use super::Outcome;
use super::buffer::Sdu;

/// The longest data field element that a length indicator of 11 bits can tell
/// (TS 36.322 §6.2.2.2): a longer one can only be the last of its PDU, which has none.
const LENGTH_INDICATOR_MAX: u64 = 2047;

/// Bytes of `count` pairs of E and LI, 12 bits each, padded to whole bytes
/// (TS 36.322 §6.2.1.4).
pub(super) const fn indicator_bytes(count: u32) -> u32 {
    count + count.div_ceil(2)
}

/// Lays a data field out from `start`: puts whole elements into a PDU of at most `room_bytes` as
/// long as they and their length indicators fit, and cuts the last one. `first_end` is where the
/// first element ends; `next` begins another one and tells where it ends, and is only called when
/// at least a byte of that one fits. Gives the end of the data field and the bytes of the header.
/// `room_bytes` is larger than `fixed_bytes`, the fixed part of the header.
pub(super) fn lay_out(
    start: u64,
    first_end: u64,
    fixed_bytes: u32,
    room_bytes: u32,
    mut next: impl FnMut() -> Option<u64>,
) -> (u64, u32) {
    let mut end = start;
    let mut element_end = first_end;
    let mut indicators = 0;
    loop {
        let header_bytes = fixed_bytes + indicator_bytes(indicators);
        let data_end = start + u64::from(room_bytes - header_bytes);
        if element_end > data_end {
            return (data_end, header_bytes);
        }
        let is_long = element_end - end > LENGTH_INDICATOR_MAX;
        end = element_end;
        let longer_bytes = fixed_bytes + indicator_bytes(indicators + 1);
        if is_long || end - start + u64::from(longer_bytes) >= u64::from(room_bytes) {
            return (end, header_bytes);
        }
        let Some(another) = next() else {
            return (end, header_bytes);
        };
        element_end = another;
        indicators += 1;
    }
}

#[derive(Debug)]
struct Begun {
    sdu: Sdu,
    end: u64,
}

impl Begun {
    fn start(&self) -> u64 {
        self.end - u64::from(self.sdu.bytes)
    }
}

/// SDUs of which bytes were sent, in order. Those that have arrived are kept as long as the
/// sender may have to cut a retransmission at their ends.
#[derive(Debug, Default)]
pub(super) struct Ledger {
    begun: VecDeque<Begun>,
    /// How many of the first have arrived or are lost.
    settled: usize,
    end: u64,
}

impl Ledger {
    /// The end of the newest SDU.
    pub(super) fn end(&self) -> u64 {
        self.end
    }

    /// SDUs under way.
    pub(super) fn pkts(&self) -> usize {
        self.begun.len() - self.settled
    }

    pub(super) fn begin(&mut self, sdu: Sdu) {
        self.end += u64::from(sdu.bytes);
        let end = self.end;
        self.begun.push_back(Begun { sdu, end });
    }

    /// Where SDUs end beyond this byte.
    pub(super) fn ends_after(&self, byte: u64) -> impl Iterator<Item = u64> + '_ {
        let first = self.begun.partition_point(|begun| begun.end <= byte);
        self.begun.range(first..).map(|begun| begun.end)
    }

    fn settle_one(&mut self, by: impl Fn(&Begun) -> bool) -> Option<Sdu> {
        let begun = self.begun.get(self.settled)?;
        if !by(begun) {
            return None;
        }
        self.settled += 1;
        Some(begun.sdu)
    }

    /// All bytes before `edge` have arrived that are not lost.
    pub(super) fn deliver_before(&mut self, edge: u64, outcome: &mut Outcome) {
        while let Some(sdu) = self.settle_one(|begun| begun.end <= edge) {
            outcome.delivered.push(sdu.delivered());
        }
    }

    /// The bytes before `edge` will not arrive any more, nor will the SDUs they belong to.
    pub(super) fn lose_before(&mut self, edge: u64, outcome: &mut Outcome) {
        while let Some(sdu) = self.settle_one(|begun| begun.start() < edge) {
            outcome.lost.push(sdu.packet);
        }
    }

    /// No byte before `edge` is sent again.
    pub(super) fn forget_before(&mut self, edge: u64) {
        while self.settled > 0 && self.begun.front().is_some_and(|begun| begun.end <= edge) {
            self.begun.pop_front();
            self.settled -= 1;
        }
    }

    /// Takes all that has not arrived, the newest first, and resets the ledger.
    pub(super) fn take_unsettled(&mut self) -> impl Iterator<Item = Sdu> + '_ {
        let settled = std::mem::take(&mut self.settled);
        self.end = 0;
        self.begun
            .drain(..)
            .skip(settled)
            .rev()
            .map(|begun| begun.sdu)
    }
}
