//! The receiving side of an AM entity.

use std::collections::VecDeque;

use backlane_units::SimTime;

use super::super::config::AmConfig;
use super::super::ledger::Ledger;
use super::super::pdu::{DataPdu, Nack, Outcome, StatusPdu};
use super::{NACK_BITS, PORTION_BITS, STATUS_BITS, WINDOW_PDUS};

/// A PDU of the receiving window.
#[derive(Clone, Copy, Debug, Default)]
struct Slot {
    /// Its data field; known when `received_bytes` is not zero.
    start: u64,
    end: u64,
    received_bytes: u64,
    /// It polled before all older ones had arrived or were given up waiting for.
    polled: bool,
}

impl Slot {
    fn is_complete(&self) -> bool {
        self.received_bytes > 0 && self.received_bytes == self.end - self.start
    }

    fn is_partial(&self) -> bool {
        self.received_bytes > 0 && self.received_bytes < self.end - self.start
    }
}

/// Bytes received of a PDU that is not complete.
#[derive(Clone, Copy, Debug)]
struct Piece {
    sn: u32,
    start: u64,
    end: u64,
}

/// The state variables have the standard's names in their comments (TS 36.322 §7.1).
#[derive(Debug)]
pub(in super::super) struct Receiver {
    /// VR(R).
    first_sn: u32,
    /// The PDUs from VR(R) on; the one after the last is VR(H).
    slots: VecDeque<Slot>,
    /// In the order of the bytes; those of one PDU do not touch.
    pieces: Vec<Piece>,
    /// VR(MS).
    status_sn: u32,
    /// VR(X).
    reordering_sn: u32,
    /// When t-Reordering expires; [`SimTime::MAX`]: it is not running.
    reordering_deadline: SimTime,
    status_is_due: bool,
    /// When t-StatusProhibit expires.
    prohibited_until: SimTime,
}

impl Default for Receiver {
    fn default() -> Self {
        Self {
            first_sn: 0,
            slots: VecDeque::new(),
            pieces: Vec::new(),
            status_sn: 0,
            reordering_sn: 0,
            reordering_deadline: SimTime::MAX,
            status_is_due: false,
            prohibited_until: SimTime::ZERO,
        }
    }
}

impl Receiver {
    /// VR(H).
    fn highest_sn(&self) -> u32 {
        self.first_sn + self.slots.len() as u32
    }

    /// TS 36.322 §5.1.3.2 and the poll of §5.2.3.
    pub(in super::super) fn on_pdu(
        &mut self,
        config: &AmConfig,
        now: SimTime,
        pdu: &DataPdu,
        ledger: &mut Ledger,
        outcome: &mut Outcome,
    ) {
        let index = match pdu.sn.checked_sub(self.first_sn) {
            Some(index) if index < WINDOW_PDUS => index as usize,
            _ => {
                self.status_is_due |= pdu.poll;
                return;
            }
        };
        if index >= self.slots.len() {
            self.slots.resize(index + 1, Slot::default());
        }
        let is_new = self.place(index, pdu);
        self.status_is_due |= pdu.poll && (!is_new || pdu.sn < self.status_sn);
        self.slots[index].polled |= pdu.poll;
        if !is_new {
            return;
        }
        self.advance_status_sn(self.status_sn);
        if index == 0 {
            self.deliver(ledger, outcome);
        }
        if self.reordering_deadline != SimTime::MAX && self.reordering_sn <= self.first_sn {
            self.reordering_deadline = SimTime::MAX;
        }
        if self.reordering_deadline == SimTime::MAX && self.highest_sn() > self.first_sn {
            self.start_reordering(config, now);
        }
    }

    fn start_reordering(&mut self, config: &AmConfig, now: SimTime) {
        self.reordering_deadline = now + config.t_reordering;
        self.reordering_sn = self.highest_sn();
    }

    /// Puts the bytes into the reception buffer; whether any were new (TS 36.322 §5.1.3.2.2).
    fn place(&mut self, index: usize, pdu: &DataPdu) -> bool {
        let slot = &mut self.slots[index];
        if slot.is_complete() {
            return false;
        }
        (slot.start, slot.end) = (pdu.field_start, pdu.field_end);
        let before = slot.received_bytes;
        if (pdu.start, pdu.end) == (pdu.field_start, pdu.field_end) {
            slot.received_bytes = pdu.end - pdu.start;
            if before > 0 {
                self.pieces.retain(|piece| piece.sn != pdu.sn);
            }
            return true;
        }
        // Merge with all pieces of the same PDU that it overlaps or touches.
        let (mut start, mut end, mut merged_bytes) = (pdu.start, pdu.end, 0);
        self.pieces.retain(|piece| {
            let apart = piece.sn != pdu.sn || piece.end < start || end < piece.start;
            if !apart {
                start = start.min(piece.start);
                end = end.max(piece.end);
                merged_bytes += piece.end - piece.start;
            }
            apart
        });
        slot.received_bytes += end - start - merged_bytes;
        let is_new = slot.received_bytes > before;
        if slot.is_complete() {
            return is_new;
        }
        let at = self.pieces.partition_point(|piece| piece.start < start);
        let sn = pdu.sn;
        self.pieces.insert(at, Piece { sn, start, end });
        is_new
    }

    /// Moves VR(MS) to the first PDU from `from` on that is not complete. A poll that it passes
    /// is answered now (TS 36.322 §5.2.3).
    fn advance_status_sn(&mut self, from: u32) {
        let mut to = from;
        while self
            .slots
            .get((to - self.first_sn) as usize)
            .is_some_and(Slot::is_complete)
        {
            to += 1;
        }
        let passed = (self.status_sn - self.first_sn) as usize..(to - self.first_sn) as usize;
        self.status_is_due |= self.slots.range(passed).any(|slot| slot.polled);
        self.status_sn = to;
    }

    /// Delivers what is complete from VR(R) on, and what the PDU after that begins with.
    fn deliver(&mut self, ledger: &mut Ledger, outcome: &mut Outcome) {
        let mut edge = 0;
        while let Some(slot) = self.slots.front()
            && slot.is_complete()
        {
            edge = slot.end;
            self.slots.pop_front();
            self.first_sn += 1;
        }
        if let Some(slot) = self.slots.front()
            && slot.is_partial()
            && let Some(piece) = self.pieces.iter().find(|piece| piece.sn == self.first_sn)
            && piece.start == slot.start
        {
            edge = piece.end;
        }
        ledger.deliver_before(edge, outcome);
    }

    pub(in super::super) fn next_deadline(&self) -> SimTime {
        if self.status_is_due && self.prohibited_until != SimTime::ZERO {
            self.reordering_deadline.min(self.prohibited_until)
        } else {
            self.reordering_deadline
        }
    }

    /// TS 36.322 §5.1.3.2.4 and §5.2.3.
    pub(in super::super) fn on_deadline(&mut self, config: &AmConfig, now: SimTime) {
        if self.prohibited_until <= now {
            self.prohibited_until = SimTime::ZERO;
        }
        if self.reordering_deadline > now {
            return;
        }
        self.reordering_deadline = SimTime::MAX;
        self.advance_status_sn(self.reordering_sn);
        if self.highest_sn() > self.status_sn {
            self.start_reordering(config, now);
        }
        self.status_is_due = true;
    }

    /// Calls `tell` with each NACK to report until it returns false; returns ACK_SN.
    fn for_each_nack(&self, mut tell: impl FnMut(Nack) -> bool) -> u32 {
        let mut pieces = self.pieces.iter().peekable();
        for (sn, slot) in (self.first_sn..self.status_sn).zip(&self.slots) {
            if slot.is_complete() {
                continue;
            }
            if slot.received_bytes == 0 {
                if !tell(Nack { sn, portion: None }) {
                    return sn;
                }
                continue;
            }
            // The holes: before, between and behind the pieces, which are in order.
            let mut at = slot.start;
            let mut hole = |at: u64, end: u64| {
                let byte = |byte: u64| (byte - slot.start) as u32;
                at == end
                    || tell(Nack {
                        sn,
                        portion: Some((byte(at), byte(end - 1))),
                    })
            };
            while let Some(piece) = pieces.next_if(|piece| piece.sn <= sn) {
                if piece.sn == sn {
                    if !hole(at, piece.start) {
                        return sn;
                    }
                    at = piece.end;
                }
            }
            if !hole(at, slot.end) {
                return sn;
            }
        }
        self.status_sn
    }

    /// The size of the STATUS PDU that is due; zero: none is (TS 36.322 §4.5).
    pub(in super::super) fn status_bytes(&self) -> u32 {
        if !self.status_is_due {
            return 0;
        }
        let mut bits = STATUS_BITS;
        self.for_each_nack(|nack| {
            bits += nack_bits(&nack);
            true
        });
        bits.div_ceil(8)
    }

    /// When the STATUS PDU that is due may be sent; [`SimTime::MAX`]: none is.
    pub(in super::super) fn status_at(&self) -> SimTime {
        if self.status_is_due {
            self.prohibited_until
        } else {
            SimTime::MAX
        }
    }

    /// The STATUS PDU that is due, with as much as fits (TS 36.322 §5.2.3).
    pub(in super::super) fn next_status(
        &mut self,
        config: &AmConfig,
        now: SimTime,
        room_bytes: u32,
    ) -> Option<StatusPdu> {
        if self.status_at() > now || room_bytes * 8 < STATUS_BITS {
            return None;
        }
        let mut bits = STATUS_BITS;
        let mut nacks = Vec::new();
        let ack_sn = self.for_each_nack(|nack| {
            let fits = bits + nack_bits(&nack) <= room_bytes * 8;
            if fits {
                bits += nack_bits(&nack);
                nacks.push(nack);
            }
            fits
        });
        self.status_is_due = false;
        self.prohibited_until = now + config.t_status_prohibit;
        Some(StatusPdu {
            ack_sn,
            nacks,
            bytes: bits.div_ceil(8),
        })
    }
}

fn nack_bits(nack: &Nack) -> u32 {
    NACK_BITS + nack.portion.map_or(0, |_| PORTION_BITS)
}
