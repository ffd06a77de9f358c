//! Startup and drain: the way to the first estimate of the bandwidth.

use super::bounds::MIN_CWND_PKTS;
use super::phase::Phase;
use super::sample::Sample;
use super::{Ack, Bbr3, Window};
use crate::congestion::bbr::bandwidth::GAIN_UNIT;
use crate::recovery::CongestionState;

/// The pipe is full when the bandwidth has not grown by a quarter for three rounds.
const FULL_GROWTH: u64 = GAIN_UNIT * 5 / 4;
const FULL_ROUNDS: u32 = 3;
/// Acknowledgments that reveal losses in one round of recovery, from which on the loss rate
/// may end startup.
const LOSS_EVENTS: u32 = 6;

impl Bbr3 {
    /// Startup has queued too much: what was delivered in the last round is safe.
    pub(super) fn end_startup(&mut self) {
        self.full_pipe.is_reached = true;
        let pipe_pkts = self.target_pkts(self.max_bandwidth(), GAIN_UNIT);
        self.bounds.inflight_hi_pkts = pipe_pkts.max(self.bounds.inflight_latest_pkts());
    }

    pub(super) fn update_marks(&mut self, ack: &Ack) {
        self.marks.look_at_path(self.min_rtt_us);
        if self.marks.are_heeded {
            let too_many = self
                .marks
                .on_round(ack.delivered_pkts, ack.delivered_ce_pkts);
            if too_many && !self.full_pipe.is_reached {
                self.end_startup();
            }
        }
    }

    /// Startup ends by losses too: at the end of a round of recovery, when it saw enough of
    /// them.
    pub(super) fn look_for_losses_in_startup(&mut self, ack: &Ack, sample: &Sample) {
        if self.full_pipe.is_reached {
            return;
        }
        let pipe = &mut self.full_pipe;
        pipe.loss_events_in_round += u32::from(ack.newly_lost_pkts > 0);
        if !self.bounds.starts_loss_round {
            return;
        }
        let events = std::mem::take(&mut pipe.loss_events_in_round);
        if ack.state == CongestionState::Recovery
            && events >= LOSS_EVENTS
            && self.is_too_high(sample)
        {
            self.end_startup();
        }
    }

    pub(super) fn look_for_full_pipe(&mut self, sample: &Sample) {
        let pipe = &mut self.full_pipe;
        if pipe.is_reached_now || sample.is_app_limited {
            return;
        }
        if sample.bandwidth >= pipe.bandwidth.scaled(FULL_GROWTH) {
            pipe.restart(sample.bandwidth);
        } else if self.starts_round {
            pipe.rounds += 1;
            pipe.is_reached_now = pipe.rounds >= FULL_ROUNDS;
            pipe.is_reached |= pipe.is_reached_now;
        }
    }

    pub(super) fn look_for_drained_queue(&mut self, now_us: u64, ack: &Ack, window: &mut Window) {
        if self.phase == Phase::Startup && self.full_pipe.is_reached {
            self.phase = Phase::Drain;
            window.ssthresh_pkts = self
                .target_pkts(self.max_bandwidth(), GAIN_UNIT)
                .max(MIN_CWND_PKTS);
            self.forget_signals();
        }
        if self.phase == Phase::Drain
            && self.in_network_pkts(ack, ack.in_flight_pkts)
                <= self.target_pkts(self.max_bandwidth(), GAIN_UNIT)
        {
            self.start_down(now_us, ack.delivered_pkts);
        }
    }
}
