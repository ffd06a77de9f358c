//! Tail loss probe (RFC 8985 §7, Linux's timing): two round trips after the last segment left
//! without an answer, one more segment asks for one.

use backlane_units::{Duration, SimTime};

use super::state::Step;
use super::{Sender, TailProbe, Timer};
use crate::recovery::CongestionState;
use crate::recovery::scoreboard::Outgoing;

/// The shortest wait of a kernel timer: two ticks (`TCP_TIMEOUT_MIN`, HZ = 1000).
pub(super) const SHORTEST_WAIT: Duration = Duration::from_millis(2);

impl Sender {
    /// Arms the probe in place of the retransmission timer. `restarts`: the timeout would start
    /// anew now; otherwise it runs from when the first outstanding segment left.
    pub(super) fn schedule_probe(&mut self, now: SimTime, restarts: bool) -> bool {
        let packets_out = self.scoreboard.packets_out();
        if !self.probes
            || packets_out == 0
            || !matches!(self.state, CongestionState::Open | CongestionState::Cwr)
        {
            return false;
        }
        let mut wait = if self.rtt.has_sample() {
            let two_rtts = Duration::from_millis((2 * self.rtt.srtt_us()).div_ceil(1000));
            two_rtts
                + if packets_out == 1 {
                    self.min_rto
                } else {
                    SHORTEST_WAIT
                }
        } else {
            self.rtt.rto()
        };
        let rto_at = if restarts {
            now.saturating_add(self.rtt.backed_off_rto(self.backoff))
        } else {
            self.timeout_of_head(now)
        };
        if rto_at > now {
            wait = wait.min(rto_at.saturating_since(now));
        }
        self.timer = Timer::Probe(now.saturating_add(wait));
        true
    }

    pub(super) fn on_probe_timeout(&mut self, now: SimTime) {
        self.timer = Timer::Off;
        if self.probe_end.is_none() {
            let payload_bytes =
                (self.write_end - self.snd_nxt.min(self.write_end)).min(u64::from(self.mss_bytes));
            let fits = self.snd_nxt + payload_bytes <= self.window_end;
            self.tail_probe = if self.has_unsent() && fits {
                TailProbe::New
            } else {
                TailProbe::Last
            };
        }
        self.arm_retransmission_timer(now);
    }

    /// The probe itself, when the timer asked for one.
    pub(super) fn send_probe(&mut self, now: SimTime) -> Option<Outgoing> {
        let outgoing = match std::mem::take(&mut self.tail_probe) {
            TailProbe::None => return None,
            TailProbe::New => {
                let left_bytes = self.write_end - self.snd_nxt;
                let payload_bytes = left_bytes.min(u64::from(self.mss_bytes));
                let fin = self.fin_queued && self.snd_nxt + payload_bytes == self.write_end;
                self.probe_retransmits = false;
                self.send_new(now, payload_bytes as u32, fin)
            }
            TailProbe::Last => {
                let outgoing = self.scoreboard.retransmit_last(now.as_micros())?;
                self.statistics.retransmits += 1;
                self.undo.on_retransmit(now.as_micros());
                self.probe_retransmits = true;
                self.on_sent(now, false);
                outgoing
            }
        };
        self.statistics.tail_probes += 1;
        self.probe_end = Some(self.snd_nxt);
        self.validation.forget_burst();
        self.arm_retransmission_timer(now);
        Some(outgoing)
    }

    /// What an acknowledgment says about the probe: one that only the probe can have brought
    /// means that something was lost, and costs the window once (RFC 8985 §7.4).
    pub(super) fn judge_probe(&mut self, now: SimTime, step: &Step, duplicate_seen: bool) {
        let Some(probe_end) = self.probe_end else {
            return;
        };
        let ack = step.segment.ack;
        if ack < probe_end {
            return;
        }
        if !self.probe_retransmits || duplicate_seen {
            self.probe_end = None;
        } else if ack > probe_end {
            self.start_reduction(now);
            self.undo.forget_threshold();
            self.set_state(now, CongestionState::Cwr);
            self.end_reduction(now);
            self.keep_open(now);
        } else if step.is_duplicate && !step.delivery.newly_sacked {
            self.probe_end = None;
        }
    }
}
