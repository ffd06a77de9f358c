//! What leaves: the tail loss probe, retransmissions, new data, the window probe, in this order.

use backlane_units::SimTime;

use super::Sender;
use crate::choices::WithoutNewData;
use crate::recovery::CongestionState;
use crate::recovery::probe::DueProbe;
use crate::recovery::space::NewSegment;
use crate::recovery::timer::Timer;
use crate::scoreboard::Outgoing;

impl Sender {
    /// Nothing to send and nothing outstanding, as on the side of a transfer that only receives.
    #[inline]
    fn is_at_rest(&self) -> bool {
        let r = &self.recovery;
        r.scoreboard.packets_out() == 0
            && !r.space.has_unsent()
            && r.probe.due == DueProbe::None
            && !r.timers.window_probe_due
            && !self.validation.is_in_burst()
            && !r.scoreboard.rate.is_enabled()
    }

    /// The next segment to leave, if any may: retransmissions first, then new data.
    #[inline]
    pub(crate) fn next_segment(&mut self, now: SimTime) -> Option<Outgoing> {
        if self.is_at_rest() {
            self.pacing.rest();
            return None;
        }
        if self.recovery.probe.due != DueProbe::None
            && let Some(outgoing) = self.tail_loss_probe(now)
        {
            return Some(outgoing);
        }
        let r = &mut self.recovery;
        let may_send = r.scoreboard.in_flight() < r.window.cwnd_pkts;
        let has_retransmissions = r.scoreboard.has_retransmissions();
        if may_send && (r.space.has_unsent() || has_retransmissions) && self.pacing.holds_back(now)
        {
            self.validation.on_burst_end(r, now);
            return None;
        }
        if may_send
            && has_retransmissions
            && !(r.frto.tries_new_data && r.space.can_send_new())
            && let Some(outgoing) = self.retransmission(now)
        {
            return Some(outgoing);
        }
        let r = &mut self.recovery;
        if r.space.has_unsent() {
            self.validation.restart_after_idle(r, now, self.last_sent);
            if let Some(outgoing) = self.new_data(now) {
                return Some(outgoing);
            }
            self.wait_for_window(now);
        }
        if let Some(outgoing) = self.unsacked_data(now) {
            return Some(outgoing);
        }
        self.pacing.rest();
        let r = &mut self.recovery;
        self.validation.on_burst_end(r, now);
        if std::mem::take(&mut r.timers.window_probe_due) {
            return Some(self.window_probe(now));
        }
        None
    }

    fn retransmission(&mut self, now: SimTime) -> Option<Outgoing> {
        let r = &mut self.recovery;
        let starts = r.scoreboard.in_flight() == 0;
        let (outgoing, is_head) = r.scoreboard.retransmit(now.as_micros())?;
        r.statistics.retransmits += 1;
        r.undo.on_retransmit(now.as_micros());
        if starts {
            self.on_transmit_start(now);
        }
        self.on_sent(now);
        self.pace(now, outgoing.payload_bytes);
        let r = &mut self.recovery;
        self.loss.on_sent(r, now, outgoing);
        if is_head && !self.impatient && !matches!(r.timers.armed, Timer::Reordering(_)) {
            self.loss.arm_timer(r, now);
        }
        Some(outgoing)
    }

    /// In a recovery with nothing lost and no new data left, what is not SACKed.
    #[inline]
    fn unsacked_data(&mut self, now: SimTime) -> Option<Outgoing> {
        let r = &mut self.recovery;
        let is_due = self.without_new_data == WithoutNewData::Unsacked
            && r.state == CongestionState::Recovery
            && !r.scoreboard.has_retransmissions()
            && r.scoreboard.in_flight() < r.window.cwnd_pkts;
        if !is_due {
            return None;
        }
        let outgoing = r.scoreboard.retransmit_unsacked(now.as_micros())?;
        r.statistics.retransmits += 1;
        r.undo.on_retransmit(now.as_micros());
        self.on_sent(now);
        self.pace(now, outgoing.payload_bytes);
        self.loss.on_sent(&mut self.recovery, now, outgoing);
        Some(outgoing)
    }

    #[inline]
    fn new_data(&mut self, now: SimTime) -> Option<Outgoing> {
        let r = &mut self.recovery;
        let packets_out = r.scoreboard.packets_out();
        // RFC 3042: a duplicate acknowledgment makes room, if limited transmit is on.
        let is_held_back = r.state == CongestionState::Disorder && !self.limited_transmit;
        let limit_pkts = self.loss.new_data_limit_pkts(r);
        let counted_pkts = if is_held_back && limit_pkts.is_none() {
            packets_out
        } else {
            r.scoreboard.in_flight()
        };
        if counted_pkts >= limit_pkts.unwrap_or(r.window.cwnd_pkts) {
            return None;
        }
        let segment = r.space.next_segment(packets_out, self.send_buffer_bytes)?;
        self.loss.on_new_data();
        Some(self.send_new(now, segment))
    }

    #[inline]
    fn send_new(&mut self, now: SimTime, segment: NewSegment) -> Outgoing {
        let r = &mut self.recovery;
        let outgoing = Outgoing {
            seq: r.space.snd_nxt,
            payload_bytes: segment.payload_bytes,
            fin: segment.fin,
        };
        let starts = r.scoreboard.in_flight() == 0;
        let was_empty = r.scoreboard.packets_out() == 0;
        if was_empty {
            self.observed_at = now;
        }
        if starts {
            self.on_transmit_start(now);
        }
        self.on_sent(now);
        self.pace(now, outgoing.payload_bytes);
        let r = &mut self.recovery;
        r.scoreboard.push(outgoing, now.as_micros());
        r.space.snd_nxt += u64::from(outgoing.payload_bytes) + u64::from(outgoing.fin);
        self.validation.on_new_data();
        self.loss.on_sent(r, now, outgoing);
        if was_empty || matches!(r.timers.armed, Timer::Probe(_)) {
            self.loss.arm_timer(r, now);
        }
        outgoing
    }

    /// A data segment leaves with nothing in flight.
    fn on_transmit_start(&mut self, now: SimTime) {
        let r = &mut self.recovery;
        let idle = now.saturating_since(self.last_sent);
        if r.scoreboard.rate.is_app_limited() {
            r.control.on_restart(now, &mut r.window);
        }
        r.control.on_transmit_start(now, idle, r.space.snd_nxt);
    }

    /// A data segment leaves.
    #[inline]
    fn on_sent(&mut self, now: SimTime) {
        self.last_sent = now;
        let r = &mut self.recovery;
        r.statistics.segments_sent += 1;
        if r.is_reducing() {
            r.reduction.on_sent();
        }
    }

    #[inline]
    fn pace(&mut self, now: SimTime, payload_bytes: u32) {
        let r = &self.recovery;
        self.pacing.on_sent(
            now,
            r.control.pacing_rate(),
            payload_bytes,
            r.statistics.segments_sent,
        );
    }

    /// The tail loss probe that is due.
    fn tail_loss_probe(&mut self, now: SimTime) -> Option<Outgoing> {
        let r = &mut self.recovery;
        let due = std::mem::take(&mut r.probe.due);
        let outgoing = if due == DueProbe::New {
            let segment = r.space.probe_segment();
            self.send_new(now, segment)
        } else {
            let outgoing = r.scoreboard.retransmit_last(now.as_micros())?;
            r.statistics.retransmits += 1;
            r.undo.on_retransmit(now.as_micros());
            self.on_sent(now);
            outgoing
        };
        let r = &mut self.recovery;
        r.probe.is_retransmission = due == DueProbe::Last;
        r.statistics.tail_probes += 1;
        r.probe.end_seq = Some(r.space.snd_nxt);
        self.validation.forget_burst();
        self.loss.arm_timer(r, now);
        Some(outgoing)
    }

    /// With nothing in flight and a window too small for the next segment, only a probe shows
    /// when the window opens.
    fn wait_for_window(&mut self, now: SimTime) {
        let r = &mut self.recovery;
        if r.scoreboard.packets_out() == 0
            && r.timers.armed == Timer::Off
            && !r.timers.window_probe_due
        {
            r.arm_persist_timer(now);
        }
    }

    /// As much as the window takes, or an empty segment below it that draws an acknowledgment.
    fn window_probe(&mut self, now: SimTime) -> Outgoing {
        let r = &self.recovery;
        if r.scoreboard.packets_out() == 0
            && let Some(segment) = r.space.window_probe_segment()
        {
            return self.send_new(now, segment);
        }
        Outgoing {
            seq: r.space.snd_una - 1,
            payload_bytes: 0,
            fin: false,
        }
    }
}
