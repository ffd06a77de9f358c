//! Unacknowledged mode (TS 36.322 §5.1.2): a sender that numbers, a receiver that orders.
//!
//! Sequence numbers do not wrap. A PDU that comes later than the window reaches back is
//! discarded; a receiver that sees 5 or 10 bits would take its number for a later one.

use std::collections::VecDeque;

use backlane_units::SimTime;

use super::config::UmConfig;
use super::ledger::Ledger;
use super::stream::Stream;
use super::{DataPdu, Outcome};

#[derive(Debug, Default)]
pub(super) struct Sender {
    /// VT(US).
    next_sn: u32,
}

impl Sender {
    pub(super) fn next_pdu(
        &mut self,
        config: &UmConfig,
        now: SimTime,
        room_bytes: u32,
        stream: &mut Stream,
        outcome: &mut Outcome,
    ) -> Option<DataPdu> {
        let fixed_bytes = config.sequence_number.header_bytes();
        let field = stream.cut(now, fixed_bytes, room_bytes, outcome)?;
        let sn = self.next_sn;
        self.next_sn += 1;
        Some(DataPdu {
            sn,
            field_start: field.start,
            field_end: field.end,
            start: field.start,
            end: field.end,
            bytes: field.header_bytes + (field.end - field.start) as u32,
            poll: false,
        })
    }
}

/// The state variables have the standard's names in their comments (TS 36.322 §7.1).
#[derive(Debug)]
pub(super) struct Receiver {
    /// VR(UR): the first number that is still waited for.
    first_sn: u32,
    /// The data fields received from VR(UR) on; the one after the last is VR(UH).
    fields: VecDeque<Option<(u64, u64)>>,
    /// VR(UX).
    reordering_sn: u32,
    /// When t-Reordering expires; [`SimTime::MAX`]: it is not running.
    reordering_deadline: SimTime,
    /// All before this byte was delivered or is lost.
    edge: u64,
}

impl Default for Receiver {
    fn default() -> Self {
        Self {
            first_sn: 0,
            fields: VecDeque::new(),
            reordering_sn: 0,
            reordering_deadline: SimTime::MAX,
            edge: 0,
        }
    }
}

impl Receiver {
    /// VR(UH).
    fn highest_sn(&self) -> u32 {
        self.first_sn + self.fields.len() as u32
    }

    /// TS 36.322 §5.1.2.2.2 and §5.1.2.2.3.
    pub(super) fn on_pdu(
        &mut self,
        config: &UmConfig,
        now: SimTime,
        pdu: &DataPdu,
        ledger: &mut Ledger,
        outcome: &mut Outcome,
    ) {
        if pdu.sn < self.first_sn {
            return;
        }
        let index = (pdu.sn - self.first_sn) as usize;
        if index >= self.fields.len() {
            self.fields.resize(index + 1, None);
        }
        // A second copy replaces the first, which is the same.
        self.fields[index] = Some((pdu.start, pdu.end));
        let lower_edge = self
            .highest_sn()
            .saturating_sub(config.sequence_number.window());
        self.advance(lower_edge, ledger, outcome);
        if self.reordering_deadline != SimTime::MAX && self.reordering_sn <= self.first_sn {
            self.reordering_deadline = SimTime::MAX;
        }
        if self.reordering_deadline == SimTime::MAX {
            self.start_reordering(config, now);
        }
    }

    fn start_reordering(&mut self, config: &UmConfig, now: SimTime) {
        if self.highest_sn() > self.first_sn {
            self.reordering_deadline = now + config.t_reordering;
            self.reordering_sn = self.highest_sn();
        }
    }

    /// Moves VR(UR) to `to` and beyond all that follows without a gap.
    fn advance(&mut self, to: u32, ledger: &mut Ledger, outcome: &mut Outcome) {
        while let Some(&field) = self.fields.front()
            && (field.is_some() || self.first_sn < to)
        {
            self.fields.pop_front();
            self.first_sn += 1;
            if let Some((start, end)) = field {
                if start > self.edge {
                    ledger.lose_before(start, outcome);
                }
                ledger.deliver_before(end, outcome);
                ledger.forget_before(end);
                self.edge = end;
            }
        }
    }

    pub(super) fn next_deadline(&self) -> SimTime {
        self.reordering_deadline
    }

    /// TS 36.322 §5.1.2.2.4.
    pub(super) fn on_deadline(
        &mut self,
        config: &UmConfig,
        now: SimTime,
        ledger: &mut Ledger,
        outcome: &mut Outcome,
    ) {
        if self.reordering_deadline > now {
            return;
        }
        self.reordering_deadline = SimTime::MAX;
        self.advance(self.reordering_sn, ledger, outcome);
        self.start_reordering(config, now);
    }

    /// Delivers what can be put together and gives up the rest (TS 36.322 §5.4).
    pub(super) fn flush(&mut self, ledger: &mut Ledger, outcome: &mut Outcome) {
        self.advance(self.highest_sn(), ledger, outcome);
    }
}
