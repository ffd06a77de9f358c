//! Probing for bandwidth (§5.3.3): down until queue and headroom are free, cruise, and
//! periodically refill the pipe and go up until losses, marks or a plateau show the limit.

use super::bounds::{LOSS_CUT, UNBOUNDED, part_of};
use super::cycle::{Feedback, MAX_GROWTH_BITS};
use super::marks::Marks;
use super::phase::Phase;
use super::sample::Sample;
use super::{Ack, Bbr3, Window};
use crate::congestion::bbr::bandwidth::{Bandwidth, GAIN_UNIT};
use crate::recovery::CongestionState;

/// Bandwidth is probed for after 2 s and up to 1 s more, …
const WAIT_US: u64 = 2_000_000;
const WAIT_SPREAD_US: u32 = 1_000_000;
/// … or sooner after as many rounds as a Reno flow of this window would take between losses,
/// at most 63, less one at random.
const MAX_ROUNDS: u32 = 63;
const ROUNDS_SPREAD: u32 = 2;

impl Bbr3 {
    pub(super) fn forget_signals(&mut self) {
        self.bounds.reset_signals();
        self.marks.in_round = false;
        self.cycle.has_loss = false;
        self.cycle.has_marks = false;
    }

    pub(super) fn start_down(&mut self, now_us: u64, delivered_pkts: u64) {
        self.forget_signals();
        self.cycle.rounds = self.draws.below(ROUNDS_SPREAD);
        self.cycle.wait_us = WAIT_US + u64::from(self.draws.below(WAIT_SPREAD_US));
        self.cycle.start_us = now_us;
        self.stop_probing(delivered_pkts);
        self.phase = Phase::Down;
    }

    /// What is acknowledged from the next round on is not for the probe any more.
    pub(super) fn stop_probing(&mut self, delivered_pkts: u64) {
        self.cycle.feedback = Feedback::Stopping;
        self.start_round(delivered_pkts);
    }

    pub(super) fn start_cruise(&mut self) {
        if self.bounds.inflight_lo_pkts != UNBOUNDED {
            let lo_pkts = self.bounds.inflight_lo_pkts;
            self.bounds.inflight_lo_pkts = lo_pkts.min(self.bounds.inflight_hi_pkts);
        }
        self.phase = Phase::Cruise;
    }

    fn start_refill(&mut self, delivered_pkts: u64, growth_bits: u32) {
        self.bounds.reset_lo();
        self.cycle.growth_bits = growth_bits;
        self.cycle.growth_credit_pkts = 0;
        self.cycle.stopped_at_bound = false;
        self.cycle.feedback = Feedback::Refilling;
        self.start_round(delivered_pkts);
        self.phase = Phase::Refill;
    }

    fn start_up(&mut self, now_us: u64, delivered_pkts: u64, sample: &Sample, window: &Window) {
        self.cycle.awaits_verdict = true;
        self.cycle.feedback = Feedback::Starting;
        self.start_round(delivered_pkts);
        self.cycle.start_us = now_us;
        self.full_pipe.restart(sample.bandwidth);
        self.phase = Phase::Up;
        self.cycle.raise_growth(window.cwnd_pkts);
    }

    /// Whether losses or marks say that too much was in flight.
    pub(super) fn is_too_high(&self, sample: &Sample) -> bool {
        let borne_pkts = u64::from(sample.tx_in_flight_pkts) * self.loss_threshold / GAIN_UNIT;
        let loses =
            sample.lost_pkts > 0 && sample.tx_in_flight_pkts > 0 && sample.lost_pkts > borne_pkts;
        loses
            || (self.marks.are_heeded
                && Marks::are_too_many(sample.delivered_pkts, sample.delivered_ce_pkts))
    }

    /// The probe went too far: the bound is what was in flight then, and once per probe.
    pub(super) fn on_too_high(
        &mut self,
        now_us: u64,
        delivered_pkts: u64,
        sample: &Sample,
        window: &Window,
    ) {
        self.cycle.was_too_high = true;
        self.cycle.awaits_verdict = false;
        if !sample.is_app_limited {
            let floor_pkts = part_of(self.wanted_pkts(window), LOSS_CUT);
            self.bounds.inflight_hi_pkts = sample.tx_in_flight_pkts.max(floor_pkts);
        }
        if self.phase == Phase::Up {
            self.start_down(now_us, delivered_pkts);
        }
    }

    /// The target of what is in flight: the pipe, unless the window is smaller.
    fn wanted_pkts(&self, window: &Window) -> u32 {
        self.target_pkts(self.bandwidth(), GAIN_UNIT)
            .min(window.cwnd_pkts)
    }

    /// Moves the long-term bound. Whether the phase has been decided by that.
    fn adapt_hi(&mut self, now_us: u64, ack: &Ack, sample: &Sample, window: &Window) -> bool {
        if self.starts_round && self.cycle.feedback == Feedback::Starting {
            self.cycle.feedback = Feedback::Probing;
        }
        if self.starts_round && self.cycle.feedback == Feedback::Stopping {
            self.cycle.awaits_verdict = false;
            self.cycle.feedback = Feedback::None;
            if self.phase.is_in_cycle() {
                // The best samples of this cycle are in; those of the last may go (§5.5.6).
                if !sample.is_app_limited && self.max_bandwidth[1] > Bandwidth::default() {
                    self.max_bandwidth = [self.max_bandwidth[1], Bandwidth::default()];
                }
                if self.cycle.stopped_at_bound && !self.cycle.was_too_high {
                    // The bound did no harm this time: look beyond it at once.
                    self.start_refill(ack.delivered_pkts, 0);
                    return true;
                }
            }
        }
        if self.is_too_high(sample) {
            if self.cycle.awaits_verdict {
                self.on_too_high(now_us, ack.delivered_pkts, sample, window);
            }
        } else if self.bounds.inflight_hi_pkts != UNBOUNDED {
            let hi_pkts = self.bounds.inflight_hi_pkts;
            self.bounds.inflight_hi_pkts = hi_pkts.max(sample.tx_in_flight_pkts);
            if self.phase == Phase::Up {
                self.raise_hi(ack, window);
            }
        }
        false
    }

    /// While the bound limits the probe, it grows by 1, 2, 4, … packets a round (§5.3.3.4).
    fn raise_hi(&mut self, ack: &Ack, window: &Window) {
        if !ack.is_cwnd_limited || window.cwnd_pkts < self.bounds.inflight_hi_pkts {
            return;
        }
        let cycle = &mut self.cycle;
        cycle.growth_credit_pkts += ack.acked_pkts;
        let growth_pkts = cycle.growth_credit_pkts / cycle.pkts_per_growth;
        cycle.growth_credit_pkts %= cycle.pkts_per_growth;
        let hi_pkts = self.bounds.inflight_hi_pkts;
        self.bounds.inflight_hi_pkts = hi_pkts.saturating_add(growth_pkts).min(UNBOUNDED - 1);
        if self.starts_round {
            cycle.raise_growth(window.cwnd_pkts);
        }
    }

    /// Refills the pipe if it is time to probe again.
    fn look_for_time_to_probe(&mut self, now_us: u64, ack: &Ack, window: &Window) -> bool {
        // Marks but no losses, and now no marks: another flow may have left.
        if self.marks.are_heeded
            && self.cycle.has_marks
            && !self.cycle.has_loss
            && ack.state == CongestionState::Open
        {
            let half_pkts = self.bounds.inflight_hi_pkts / 2;
            let growth_bits = half_pkts.checked_ilog2().unwrap_or(0).min(MAX_GROWTH_BITS);
            self.start_refill(ack.delivered_pkts, growth_bits);
            return true;
        }
        let waited = now_us > self.cycle.start_us + self.cycle.wait_us;
        let reno_rounds = self.wanted_pkts(window).min(MAX_ROUNDS);
        if waited || self.cycle.rounds >= reno_rounds {
            self.start_refill(ack.delivered_pkts, 0);
            return true;
        }
        false
    }

    pub(super) fn update_cycle(
        &mut self,
        now_us: u64,
        ack: &Ack,
        sample: &Sample,
        window: &Window,
    ) {
        if !self.full_pipe.is_reached || self.adapt_hi(now_us, ack, sample, window) {
            return;
        }
        let in_flight_pkts = self.in_network_pkts(ack, ack.prior_in_flight_pkts);
        match self.phase {
            Phase::Cruise => {
                self.look_for_time_to_probe(now_us, ack, window);
            }
            Phase::Down => {
                if !self.look_for_time_to_probe(now_us, ack, window)
                    && in_flight_pkts <= self.bounds.with_headroom_pkts()
                    && in_flight_pkts <= self.target_pkts(self.max_bandwidth(), GAIN_UNIT)
                {
                    self.start_cruise();
                }
            }
            Phase::Refill => {
                if self.starts_round {
                    self.start_up(now_us, ack.delivered_pkts, sample, window);
                }
            }
            Phase::Up => {
                if self.is_probe_over(ack, in_flight_pkts, sample, window) {
                    self.cycle.was_too_high = false;
                    self.start_down(now_us, ack.delivered_pkts);
                }
            }
            Phase::Startup | Phase::Drain | Phase::ProbeRtt => {}
        }
    }

    fn is_probe_over(
        &mut self,
        ack: &Ack,
        in_flight_pkts: u32,
        sample: &Sample,
        window: &Window,
    ) -> bool {
        let hi_pkts = self.bounds.inflight_hi_pkts;
        if self.cycle.was_too_high && in_flight_pkts >= hi_pkts {
            self.cycle.stopped_at_bound = true;
            return true;
        }
        if ack.is_cwnd_limited && window.cwnd_pkts >= hi_pkts {
            // The bound and not the path limits the bandwidth.
            self.full_pipe.restart(sample.bandwidth);
            return false;
        }
        self.full_pipe.is_reached_now
    }
}
