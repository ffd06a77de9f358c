//! BBR, version 3 (draft-ietf-ccwg-bbr-05; constants and details as in Google's kernel): the
//! model of the path has bounds, a long-term one that probing finds by loss and marks, and a
//! short-term one that follows the last round's delivery when something is lost.
//!
//! The map: `bounds` holds the two bounds and when they move, `marks` the share of
//! congestion marks, `probing` the four phases in which bandwidth is probed for, `startup`
//! how they are reached, `min_rtt` the smallest RTT, `window` what follows for pacing and
//! window. Their state is in `cycle`, `full_pipe` and `rest`; `phase` names the phases and
//! `sample` is a rate sample. Units are those of version 1's `bandwidth`.
//!
//! Left out: protective load balancing, the reaction to a loss that a tail loss probe repaired,
//! the receiver's fast acknowledgments, and the short cut for application-limited flows.

use backlane_param::params;
use backlane_units::{Duration, Rate, SimTime};

use super::bbr::aggregation::{self, Aggregation};
use super::bbr::bandwidth::{Bandwidth, GAIN_UNIT};
use super::draws::Draws;
use super::factory::Factory;
use super::{Ack, CongestionControl, LostPacket, Window};
use crate::recovery::CongestionState;
use bounds::{Bounds, UNBOUNDED};
use cycle::Cycle;
use full_pipe::FullPipe;
use marks::Marks;
use rest::{NO_RTT, Rest};
use sample::Sample;

mod bounds;
mod cycle;
mod full_pipe;
mod marks;
mod min_rtt;
mod phase;
mod probing;
mod rest;
mod sample;
mod startup;
mod window;

pub use phase::Phase;

params! {
    /// BBR, version 3 (draft-ietf-ccwg-bbr-05).
    ///
    /// The defaults are those of Google's kernel. No ranges are published.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub struct Config {
        /// Share of the packets in flight that may be lost while bandwidth is probed for.
        loss_threshold_percent: u32 = 2, in 1..=50;
        /// Congestion marks are heeded once the smallest RTT was not longer; 0 s at any RTT.
        ///
        /// Google's kernel: `bbr_ecn_max_rtt_us`. Marks must be echoed exactly ([`crate::Ecn::Exact`]) and mean a short queue.
        ecn_max_rtt: Duration = Duration::from_millis(5),
            in Duration::ZERO..=Duration::from_secs(10);
    }
}

impl Factory for Config {
    const NAME: &'static str = "bbr3";

    fn build(&self, random_seed: u64) -> Box<dyn CongestionControl> {
        Box::new(Bbr3::new(self, random_seed))
    }
}

/// BBR's state for one connection.
#[derive(Clone, Debug)]
pub struct Bbr3 {
    /// Losses per packet in flight that are tolerated, in 256ths.
    loss_threshold: u64,
    draws: Draws,
    phase: Phase,
    pacing_gain: u64,
    cwnd_gain: u64,
    pacing_bytes_per_s: u64,
    mss_bytes: u32,
    initial_cwnd_pkts: u32,

    /// The largest bandwidth of the last cycle and of this.
    max_bandwidth: [Bandwidth; 2],
    bounds: Bounds,
    marks: Marks,
    cycle: Cycle,
    full_pipe: FullPipe,
    rest: Rest,
    aggregation: Aggregation,
    min_rtt_us: u32,
    has_seen_rtt: bool,

    /// The round ends when a segment is acknowledged that left after this much was delivered.
    round_end_pkts: u64,
    starts_round: bool,
    delivered_us: u64,
    is_restarting: bool,
    holds_back: bool,
    last_state: CongestionState,
    prior_cwnd_pkts: u32,
}

impl Bbr3 {
    /// A BBR control; `random_seed` decides how long it waits between its probes.
    pub fn new(config: &Config, random_seed: u64) -> Self {
        Self {
            loss_threshold: GAIN_UNIT * u64::from(config.loss_threshold_percent) / 100,
            draws: Draws::new(random_seed),
            phase: Phase::Startup,
            pacing_gain: phase::PACING_GAIN,
            cwnd_gain: phase::CWND_GAIN,
            pacing_bytes_per_s: 0,
            mss_bytes: 0,
            initial_cwnd_pkts: 0,
            max_bandwidth: [Bandwidth::default(); 2],
            bounds: Bounds::default(),
            marks: Marks::new(config.ecn_max_rtt),
            cycle: Cycle::default(),
            full_pipe: FullPipe::default(),
            rest: Rest::default(),
            aggregation: Aggregation::default(),
            min_rtt_us: NO_RTT,
            has_seen_rtt: false,
            round_end_pkts: 0,
            starts_round: false,
            delivered_us: 0,
            is_restarting: false,
            holds_back: false,
            last_state: CongestionState::Open,
            prior_cwnd_pkts: 0,
        }
    }

    /// The phase.
    pub fn phase(&self) -> Phase {
        self.phase
    }

    /// The long-term bound of the flight, in packets; `None`: none found.
    pub fn inflight_hi_pkts(&self) -> Option<u32> {
        let bound_pkts = self.bounds.inflight_hi_pkts;
        (bound_pkts != UNBOUNDED).then_some(bound_pkts)
    }

    /// The smoothed share of packets delivered with a mark; 1 at first.
    pub fn marked_share(&self) -> f64 {
        self.marks.share()
    }

    fn max_bandwidth(&self) -> Bandwidth {
        self.max_bandwidth[0].max(self.max_bandwidth[1])
    }

    /// The bandwidth in use: the largest found, unless losses say that there is less now.
    fn bandwidth(&self) -> Bandwidth {
        self.max_bandwidth().min(self.bounds.bandwidth_lo)
    }

    /// A round starts now.
    fn start_round(&mut self, delivered_pkts: u64) {
        self.round_end_pkts = delivered_pkts;
    }

    fn update_round(&mut self, ack: &Ack) {
        self.starts_round =
            ack.rate.interval_us > 0 && ack.rate.prior_delivered_pkts >= self.round_end_pkts;
        if self.starts_round {
            self.start_round(ack.delivered_pkts);
            self.cycle.on_round();
        }
    }

    /// What this acknowledgment says of bandwidth and losses; once per round the short-term
    /// bound follows (§5.5.10.3).
    fn update_congestion(&mut self, ack: &Ack, sample: &Sample, window: &Window) {
        if !sample.is_valid {
            return;
        }
        if !sample.is_app_limited || sample.bandwidth >= self.max_bandwidth() {
            self.max_bandwidth[1] = self.max_bandwidth[1].max(sample.bandwidth);
        }
        self.bounds.loss_in_round |= ack.newly_lost_pkts > 0;
        if self.bounds.starts_loss_round {
            if !self.phase.probes_bandwidth() {
                let max_bandwidth = self.max_bandwidth();
                let marked = self.marks.in_round.then(|| self.marks.remaining_share());
                self.bounds.adapt(max_bandwidth, window.cwnd_pkts, marked);
            }
            self.bounds.loss_in_round = false;
            self.marks.in_round = false;
        }
    }

    fn update_aggregation(&mut self, ack: &Ack, window: &Window) {
        if ack.rate.interval_us > 0 && ack.acked_pkts > 0 {
            let half_rounds = if self.full_pipe.is_reached {
                aggregation::HALF_ROUNDS
            } else {
                1
            };
            self.aggregation.on_ack(
                self.delivered_us,
                ack.acked_pkts,
                self.bandwidth(),
                self.starts_round,
                half_rounds,
                window.cwnd_pkts,
            );
        }
    }
}

impl CongestionControl for Bbr3 {
    fn on_established(&mut self, now: SimTime, srtt_us: u32, mss_bytes: u32, window: &mut Window) {
        let now_us = now.as_micros();
        self.mss_bytes = mss_bytes;
        self.initial_cwnd_pkts = window.cwnd_pkts.min(127);
        self.prior_cwnd_pkts = window.cwnd_pkts;
        self.delivered_us = now_us;
        self.aggregation.restart(now_us);
        self.min_rtt_us = if srtt_us > 0 { srtt_us } else { NO_RTT };
        self.rest = Rest::starting(self.min_rtt_us, now_us / 1000);
        // The first losses are judged after the first flight.
        self.bounds.loss_round_end_pkts = 1;
        self.pace_by_rtt(srtt_us, window.cwnd_pkts);
    }

    fn on_packet_lost(&mut self, now: SimTime, lost: &LostPacket, window: &Window) {
        self.bounds.on_loss(lost.delivered_pkts);
        self.cycle.has_loss = true;
        if !self.cycle.awaits_verdict {
            return;
        }
        let sample = Sample {
            lost_pkts: lost.lost_since_sent_pkts,
            tx_in_flight_pkts: lost.tx_in_flight_pkts,
            is_app_limited: lost.is_app_limited,
            ..Sample::default()
        };
        if self.is_too_high(&sample) {
            let in_flight_pkts = bounds::in_flight_at_loss(lost, self.loss_threshold);
            let sample = Sample {
                tx_in_flight_pkts: in_flight_pkts,
                ..sample
            };
            self.on_too_high(now.as_micros(), lost.delivered_pkts, &sample, window);
        }
    }

    fn on_ack(&mut self, now: SimTime, ack: &Ack, window: &mut Window) {
        let now_us = now.as_micros();
        self.mss_bytes = ack.mss_bytes;
        if ack.acked_pkts > 0 {
            self.delivered_us = now_us;
        }
        if self.last_state == CongestionState::Loss && ack.state != CongestionState::Loss {
            window.cwnd_pkts = window.cwnd_pkts.max(self.prior_cwnd_pkts);
        }
        let sample = Sample::of(ack);
        self.update_round(ack);
        if self.starts_round {
            self.update_marks(ack);
        }
        self.marks.in_round |= ack.has_ece && self.marks.are_heeded;
        self.bounds
            .update_latest(&sample, ack.rate.prior_delivered_pkts, ack.delivered_pkts);

        self.update_congestion(ack, &sample, window);
        self.update_aggregation(ack, window);
        self.look_for_losses_in_startup(ack, &sample);
        self.look_for_full_pipe(&sample);
        self.look_for_drained_queue(now_us, ack, window);
        self.update_cycle(now_us, ack, &sample, window);
        self.update_min_rtt(now_us, ack, window);

        self.update_gains();
        if !self.has_seen_rtt && ack.srtt_us > 0 {
            self.pace_by_rtt(ack.srtt_us, window.cwnd_pkts);
        }
        self.pace(self.pacing_gain);
        self.set_window(ack, window);

        self.bounds.end_latest(&sample);
        self.last_state = ack.state;
        self.cycle.has_loss |= sample.lost_pkts > 0;
        self.cycle.has_marks |= sample.delivered_ce_pkts > 0;
    }

    /// Entering recovery or loss: stores what is restored if it proves spurious.
    fn ssthresh(&mut self, _now: SimTime, window: &Window, _in_flight_pkts: u32) -> u32 {
        self.remember_window(window);
        self.bounds.remember();
        window.ssthresh_pkts
    }

    fn undo_cwnd(&mut self, _window: &Window, _prior_cwnd_pkts: u32) -> u32 {
        self.full_pipe.restart(Bandwidth::default());
        self.bounds.undo();
        self.prior_cwnd_pkts
    }

    fn on_timeout(&mut self, _now: SimTime, _lost_pkts: u64) {
        self.last_state = CongestionState::Loss;
        self.full_pipe.restart(Bandwidth::default());
        if !self.phase.probes_bandwidth() && self.bounds.inflight_lo_pkts == UNBOUNDED {
            self.bounds.inflight_lo_pkts = self.prior_cwnd_pkts;
        }
    }

    fn on_restart(&mut self, now: SimTime, window: &mut Window) {
        self.is_restarting = true;
        self.aggregation.restart(now.as_micros());
        if self.phase.is_in_cycle() {
            self.pace(GAIN_UNIT);
        } else if self.phase == Phase::ProbeRtt {
            let round_end_pkts = self.round_end_pkts;
            self.look_for_end_of_rest(now.as_micros(), round_end_pkts, window);
        }
    }

    fn pacing_rate(&self) -> Option<Rate> {
        Some(Rate::from_bps(self.pacing_bytes_per_s.saturating_mul(8)))
    }

    fn needs_rate_samples(&self) -> bool {
        true
    }

    fn owns_window(&self) -> bool {
        true
    }

    fn holds_back(&self) -> bool {
        self.holds_back
    }
}

#[cfg(test)]
mod tests;
