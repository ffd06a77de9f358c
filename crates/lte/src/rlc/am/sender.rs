//! The transmitting side of an AM entity.

use std::collections::VecDeque;

use backlane_units::SimTime;

use super::super::config::{AmConfig, PollRetransmission};
use super::super::ledger::{Ledger, lay_out};
use super::super::pdu::{Counters, DataPdu, Nack, Outcome, StatusPdu};
use super::super::stream::Stream;
use super::{FIELD_BYTES_MAX, HEADER_BYTES, SEGMENT_HEADER_BYTES, WINDOW_PDUS};

/// A PDU that was sent, from VT(A) on.
#[derive(Debug)]
struct Sent {
    start: u64,
    end: u64,
    header_bytes: u32,
    is_acknowledged: bool,
    /// RETX_COUNT; `None`: it was never considered for retransmission.
    retransmissions: Option<u32>,
    /// Bytes of it that wait to be retransmitted.
    pending_bytes: u64,
}

/// Bytes of a PDU that wait to be retransmitted. It is stale when the PDU was acknowledged
/// meanwhile.
#[derive(Clone, Copy, Debug)]
struct Portion {
    sn: u32,
    start: u64,
    end: u64,
}

/// The state variables have the standard's names in their comments (TS 36.322 §7.1).
#[derive(Debug)]
pub(in super::super) struct Sender {
    /// VT(A).
    first_sn: u32,
    /// The PDUs from VT(A) on; the one after the last is VT(S).
    sent: VecDeque<Sent>,
    portions: VecDeque<Portion>,
    /// Bytes in all portions that are not stale.
    pending_bytes: u64,
    /// PDU_WITHOUT_POLL.
    pdus_without_poll: u32,
    /// BYTE_WITHOUT_POLL.
    bytes_without_poll: u64,
    /// POLL_SN.
    poll_sn: u32,
    /// When t-PollRetransmit expires; [`SimTime::MAX`]: it is not running.
    poll_deadline: SimTime,
    /// t-PollRetransmit has expired: the next PDU polls.
    poll_is_due: bool,
    has_failed: bool,
}

impl Default for Sender {
    fn default() -> Self {
        Self {
            first_sn: 0,
            sent: VecDeque::new(),
            portions: VecDeque::new(),
            pending_bytes: 0,
            pdus_without_poll: 0,
            bytes_without_poll: 0,
            poll_sn: 0,
            poll_deadline: SimTime::MAX,
            poll_is_due: false,
            has_failed: false,
        }
    }
}

impl Sender {
    /// VT(S).
    fn next_sn(&self) -> u32 {
        self.first_sn + self.sent.len() as u32
    }

    fn is_stalled(&self) -> bool {
        self.sent.len() >= WINDOW_PDUS as usize
    }

    pub(in super::super) fn has_failed(&self) -> bool {
        self.has_failed
    }

    /// Bytes of the PDUs and segments that wait to be retransmitted, with headers.
    pub(in super::super) fn retransmit_bytes(&self) -> u64 {
        // Stale portions are few and counted too: they cost a grant some bytes, never too few.
        self.pending_bytes
            + match self.pending_bytes {
                0 => 0,
                _ => self.portions.len() as u64 * u64::from(SEGMENT_HEADER_BYTES),
            }
    }

    /// Whether a new PDU may be sent.
    pub(in super::super) fn may_send_new(&self) -> bool {
        !self.is_stalled()
    }

    /// The next data PDU, of at most `room_bytes`: retransmissions first (TS 36.322 §5.1.3.1.1).
    pub(in super::super) fn next_pdu(
        &mut self,
        config: &AmConfig,
        now: SimTime,
        room_bytes: u32,
        stream: &mut Stream,
        counters: &mut Counters,
        outcome: &mut Outcome,
    ) -> Option<DataPdu> {
        let mut polls = std::mem::take(&mut self.poll_is_due);
        let mut pdu = if self.pending_bytes > 0 {
            self.retransmission(config, room_bytes, &stream.ledger)
                .inspect(|pdu| {
                    counters.retransmitted_pdus += 1;
                    counters.retransmitted_bytes += u64::from(pdu.bytes);
                })
        } else if self.is_stalled() {
            None
        } else {
            let room_bytes = room_bytes.min(FIELD_BYTES_MAX + HEADER_BYTES - 1);
            let field = stream.cut(now, HEADER_BYTES, room_bytes, outcome);
            field.map(|field| {
                let bytes = field.end - field.start;
                self.pdus_without_poll += 1;
                self.bytes_without_poll += bytes;
                polls |= config
                    .poll_pdus
                    .value()
                    .is_some_and(|pdus| self.pdus_without_poll >= pdus)
                    || config
                        .poll_bytes
                        .value()
                        .is_some_and(|bytes| self.bytes_without_poll >= bytes.get());
                self.sent.push_back(Sent {
                    start: field.start,
                    end: field.end,
                    header_bytes: field.header_bytes,
                    is_acknowledged: false,
                    retransmissions: None,
                    pending_bytes: 0,
                });
                DataPdu {
                    sn: self.next_sn() - 1,
                    field_start: field.start,
                    field_end: field.end,
                    start: field.start,
                    end: field.end,
                    bytes: field.header_bytes + bytes as u32,
                    poll: false,
                }
            })
        };
        let Some(pdu) = &mut pdu else {
            self.poll_is_due = polls;
            return None;
        };
        // TS 36.322 §5.2.2.1.
        let is_last = stream.is_empty() && self.pending_bytes == 0;
        if polls || is_last || self.is_stalled() {
            pdu.poll = true;
            self.pdus_without_poll = 0;
            self.bytes_without_poll = 0;
            self.poll_sn = self.next_sn() - 1;
            self.poll_deadline = now + config.t_poll_retransmit;
        }
        Some(*pdu)
    }

    /// TS 36.322 §5.2.1: the oldest portion, whole or as much of it as fits.
    fn retransmission(
        &mut self,
        config: &AmConfig,
        room_bytes: u32,
        ledger: &Ledger,
    ) -> Option<DataPdu> {
        let portion = loop {
            let portion = *self.portions.front()?;
            match portion.sn.checked_sub(self.first_sn) {
                Some(index) if !self.sent[index as usize].is_acknowledged => break portion,
                _ => self.portions.pop_front(),
            };
        };
        let sent = &mut self.sent[(portion.sn - self.first_sn) as usize];
        let is_whole = (portion.start, portion.end) == (sent.start, sent.end);
        let whole_bytes = sent.header_bytes + (sent.end - sent.start) as u32;
        let (end, bytes) = if is_whole && whole_bytes <= room_bytes {
            (portion.end, whole_bytes)
        } else {
            if room_bytes <= SEGMENT_HEADER_BYTES || !config.resegmentation {
                return None;
            }
            let mut ends = ledger
                .ends_after(portion.start)
                .take_while(|&end| end < portion.end)
                .chain(std::iter::once(portion.end));
            let first_end = ends.next()?;
            let (end, header_bytes) = lay_out(
                portion.start,
                first_end,
                SEGMENT_HEADER_BYTES,
                room_bytes,
                || ends.next(),
            );
            (end, header_bytes + (end - portion.start) as u32)
        };
        let sent_bytes = end - portion.start;
        sent.pending_bytes -= sent_bytes;
        self.pending_bytes -= sent_bytes;
        if end == portion.end {
            self.portions.pop_front();
        } else {
            self.portions[0].start = end;
        }
        Some(DataPdu {
            sn: portion.sn,
            field_start: sent.start,
            field_end: sent.end,
            start: portion.start,
            end,
            bytes,
            poll: false,
        })
    }

    /// TS 36.322 §5.1.3.1.1, §5.2.1 and §5.2.2.2.
    pub(in super::super) fn on_status(
        &mut self,
        config: &AmConfig,
        status: &StatusPdu,
        ledger: &mut Ledger,
    ) {
        // ACK_SN is beyond every NACK_SN, but for a report that was cut within a PDU.
        if self.poll_sn < status.ack_sn {
            self.poll_deadline = SimTime::MAX;
        }
        let mut nacks = status.nacks.iter().peekable();
        for sn in self.first_sn..status.ack_sn.min(self.next_sn()) {
            while nacks.next_if(|nack| nack.sn < sn).is_some() {}
            if nacks.peek().is_none_or(|nack| nack.sn != sn) {
                self.acknowledge(sn);
            }
        }
        for portions in status.nacks.chunk_by(|a, b| a.sn == b.sn) {
            self.consider(config, portions);
        }
        while self.sent.front().is_some_and(|sent| sent.is_acknowledged) {
            self.sent.pop_front();
            self.first_sn += 1;
        }
        let edge = self.sent.front().map_or(u64::MAX, |sent| sent.start);
        ledger.forget_before(edge);
    }

    fn acknowledge(&mut self, sn: u32) {
        let sent = &mut self.sent[(sn - self.first_sn) as usize];
        sent.is_acknowledged = true;
        self.pending_bytes -= std::mem::take(&mut sent.pending_bytes);
    }

    /// Considers portions of one PDU for retransmission.
    fn consider(&mut self, config: &AmConfig, nacks: &[Nack]) {
        let Some(index) = nacks[0].sn.checked_sub(self.first_sn) else {
            return;
        };
        let Some(sent) = self.sent.get(index as usize) else {
            return;
        };
        if sent.is_acknowledged {
            return;
        }
        let (field_start, field_end) = (sent.start, sent.end);
        let mut is_new = false;
        for nack in nacks {
            let (start, end) = match nack.portion {
                Some((first, last)) => (
                    field_start + u64::from(first),
                    field_start + u64::from(last) + 1,
                ),
                None => (field_start, field_end),
            };
            is_new |= self.add_portion(nack.sn, start, end);
        }
        if !is_new {
            return;
        }
        let count = self.sent[index as usize]
            .retransmissions
            .map_or(0, |count| count + 1);
        self.sent[index as usize].retransmissions = Some(count);
        self.has_failed |= config
            .max_retransmissions
            .value()
            .is_some_and(|max| count >= max);
    }

    /// Puts those bytes in line that do not wait already; whether there were any.
    fn add_portion(&mut self, sn: u32, start: u64, end: u64) -> bool {
        let sent = &mut self.sent[(sn - self.first_sn) as usize];
        let before = sent.pending_bytes;
        if before == sent.end - sent.start {
            return false;
        }
        let mut at = start;
        while at < end {
            let mine = self.portions.iter().filter(|portion| portion.sn == sn);
            let waiting = mine
                .clone()
                .find(|portion| portion.start <= at && at < portion.end);
            if let Some(waiting) = waiting {
                at = waiting.end;
                continue;
            }
            let starts = mine.map(|portion| portion.start);
            let gap_end = starts
                .filter(|&start| start > at)
                .min()
                .map_or(end, |start| start.min(end));
            self.portions.push_back(Portion {
                sn,
                start: at,
                end: gap_end,
            });
            sent.pending_bytes += gap_end - at;
            at = gap_end;
        }
        self.pending_bytes += sent.pending_bytes - before;
        sent.pending_bytes > before
    }

    pub(in super::super) fn next_deadline(&self) -> SimTime {
        self.poll_deadline
    }

    /// TS 36.322 §5.2.2.3.
    pub(in super::super) fn on_deadline(
        &mut self,
        config: &AmConfig,
        now: SimTime,
        stream: &Stream,
    ) {
        if self.poll_deadline > now {
            return;
        }
        self.poll_deadline = SimTime::MAX;
        self.poll_is_due = true;
        let nothing_waits = stream.is_empty() && self.pending_bytes == 0;
        if !nothing_waits && !self.is_stalled() {
            return;
        }
        let unacknowledged: Vec<u32> = (self.first_sn..)
            .zip(&self.sent)
            .filter(|(_, sent)| !sent.is_acknowledged)
            .map(|(sn, _)| sn)
            .collect();
        let first = match config.poll_retransmission {
            PollRetransmission::Newest => unacknowledged.len().saturating_sub(1),
            PollRetransmission::All => 0,
        };
        for &sn in &unacknowledged[first..] {
            self.consider(config, &[Nack { sn, portion: None }]);
        }
    }

    /// Where what was discarded was the last that waited, nothing would poll for what was sent any
    /// more: the timer has to.
    pub(in super::super) fn ensure_poll(
        &mut self,
        config: &AmConfig,
        now: SimTime,
        stream: &Stream,
    ) {
        let nothing_waits = stream.is_empty() && self.pending_bytes == 0;
        if nothing_waits && !self.sent.is_empty() && self.poll_deadline == SimTime::MAX {
            self.poll_deadline = now + config.t_poll_retransmit;
        }
    }
}
