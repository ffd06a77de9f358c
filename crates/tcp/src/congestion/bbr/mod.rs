//! BBR, version 1 (Cardwell, Cheng, Gunn, Hassas Yeganeh and Jacobson, "BBR: congestion-based
//! congestion control", 2016), as Linux 6.1 has it: pacing and the window follow a model of the
//! path, the largest delivery rate of ten rounds and the smallest RTT of ten seconds.
//!
//! The map: `bandwidth` is the unit of the model, `filter` the windowed maximum,
//! `aggregation` and `policer` two estimators beside it; `phases` holds the phases
//! and `steps` says when one follows another, `window` how much may be in flight. Rounds, arithmetic and clocks are
//! the kernel's: gains in 256ths, RTT filters in whole milliseconds (HZ = 1000).
//!
//! Left out: the mark of acknowledgments that a receiver may have delayed, which Linux does not
//! let into an expired RTT filter.

use backlane_param::params;
use backlane_units::{Duration, Rate, SimTime};

use super::draws::Draws;
use super::factory::Factory;
use super::{Ack, CongestionControl, Window};
use crate::recovery::CongestionState;
use aggregation::Aggregation;
use bandwidth::{Bandwidth, GAIN_UNIT};
use filter::WindowedMax;
use phases::{FullPipe, Rest};
use policer::{Policer, Totals};

pub(crate) mod aggregation;
pub(crate) mod bandwidth;
pub(crate) mod filter;
mod phases;
mod policer;
mod steps;
mod window;

pub use phases::Phase;

/// No RTT sample yet.
const NO_RTT: u32 = u32::MAX;

params! {
    /// BBR, version 1 (Cardwell et al. 2016).
    ///
    /// The defaults are Linux's. No ranges are published.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub struct Config {
        /// Rounds over which the bandwidth is the largest seen.
        bandwidth_rounds: u32 = 10, in 2..=1000;
        /// How long the smallest RTT is valid before the queue is drained to measure it again.
        min_rtt_window: Duration = Duration::from_secs(10),
            in Duration::from_secs(1)..=Duration::from_secs(1000);
    }
}

impl Factory for Config {
    const NAME: &'static str = "bbr";

    fn build(&self, random_seed: u64) -> Box<dyn CongestionControl> {
        Box::new(Bbr::new(self, random_seed))
    }
}

/// BBR's state for one connection.
#[derive(Clone, Debug)]
pub struct Bbr {
    config: Config,
    draws: Draws,
    phase: Phase,
    pacing_gain: u64,
    cwnd_gain: u64,
    pacing_bytes_per_s: u64,
    mss_bytes: u32,

    max_bandwidth: WindowedMax,
    rounds: u32,
    /// The round ends when a segment is acknowledged that left after so much was delivered.
    round_end_pkts: u64,
    starts_round: bool,
    min_rtt_us: u32,
    min_rtt_at_ms: u64,
    has_seen_rtt: bool,

    full_pipe: FullPipe,
    aggregation: Aggregation,
    policer: Policer,
    /// Where in the gain cycle, and since when.
    cycle: usize,
    cycle_start_us: u64,
    rest: Rest,
    is_restarting: bool,
    /// What the path could carry is not asked for at present.
    holds_back: bool,

    last_state: CongestionState,
    conserves_packets: bool,
    prior_cwnd_pkts: u32,
    totals: Totals,
}

impl Bbr {
    /// A BBR control; `random_seed` decides where its gain cycles begin.
    pub fn new(config: &Config, random_seed: u64) -> Self {
        Self {
            config: *config,
            draws: Draws::new(random_seed),
            phase: Phase::Startup,
            pacing_gain: phases::HIGH_GAIN,
            cwnd_gain: phases::HIGH_GAIN,
            pacing_bytes_per_s: 0,
            mss_bytes: 0,
            max_bandwidth: WindowedMax::new(config.bandwidth_rounds),
            rounds: 0,
            round_end_pkts: 0,
            starts_round: false,
            min_rtt_us: NO_RTT,
            min_rtt_at_ms: 0,
            has_seen_rtt: false,
            full_pipe: FullPipe::default(),
            aggregation: Aggregation::default(),
            policer: Policer::default(),
            cycle: 0,
            cycle_start_us: 0,
            rest: Rest::default(),
            is_restarting: false,
            holds_back: false,
            last_state: CongestionState::Open,
            conserves_packets: false,
            prior_cwnd_pkts: 0,
            totals: Totals::default(),
        }
    }

    /// The phase.
    pub fn phase(&self) -> Phase {
        self.phase
    }

    /// The bandwidth estimate, of payload.
    pub fn bandwidth_estimate(&self) -> Rate {
        Rate::from_bps(self.bandwidth().bits_per_s(self.mss_bytes))
    }

    /// The smallest RTT; `None` before the first sample.
    pub fn min_rtt(&self) -> Option<Duration> {
        (self.min_rtt_us != NO_RTT).then(|| Duration::from_micros(u64::from(self.min_rtt_us)))
    }

    fn max_bandwidth(&self) -> Bandwidth {
        Bandwidth(self.max_bandwidth.get())
    }

    fn bandwidth(&self) -> Bandwidth {
        self.policer
            .bandwidth()
            .unwrap_or_else(|| self.max_bandwidth())
    }

    /// Before there is a bandwidth: the window in one RTT, or in 1 ms if that is not known.
    fn pace_by_rtt(&mut self, srtt_us: u32, cwnd_pkts: u32) {
        self.has_seen_rtt = srtt_us > 0;
        let rtt_us = if self.has_seen_rtt { srtt_us } else { 1000 };
        let bandwidth = Bandwidth::of(u64::from(cwnd_pkts), u64::from(rtt_us));
        self.pacing_bytes_per_s = bandwidth.paced_bytes_per_s(self.mss_bytes, phases::HIGH_GAIN);
    }

    /// Paces at the bandwidth times `gain`; before the pipe is full the rate does not fall.
    fn pace(&mut self, gain: u64) {
        let bytes_per_s = self.bandwidth().paced_bytes_per_s(self.mss_bytes, gain);
        if self.full_pipe.is_reached() || bytes_per_s > self.pacing_bytes_per_s {
            self.pacing_bytes_per_s = bytes_per_s;
        }
    }

    fn update_bandwidth(&mut self, ack: &Ack) {
        self.starts_round = false;
        if ack.rate.interval_us == 0 {
            return;
        }
        if ack.rate.prior_delivered_pkts >= self.round_end_pkts {
            self.round_end_pkts = ack.delivered_pkts;
            self.rounds = self.rounds.wrapping_add(1);
            self.starts_round = true;
            self.conserves_packets = false;
        }
        self.look_for_policer(ack.newly_lost_pkts > 0, ack.rate.is_app_limited);
        let bandwidth = Bandwidth::of(
            u64::from(ack.rate.delivered_pkts),
            u64::from(ack.rate.interval_us),
        );
        // An application's own rate says nothing of the path, unless it is the larger.
        if !ack.rate.is_app_limited || bandwidth >= self.max_bandwidth() {
            self.max_bandwidth.update(self.rounds, bandwidth.0);
        }
    }

    fn look_for_policer(&mut self, has_losses: bool, is_app_limited: bool) {
        let was_used = self.policer.bandwidth().is_some();
        let is_over = self.policer.on_ack(&policer::Step {
            totals: self.totals,
            starts_round: self.starts_round,
            has_losses,
            is_app_limited,
            probes_bandwidth: self.phase == Phase::ProbeBandwidth,
            mss_bytes: self.mss_bytes,
        });
        if is_over {
            self.start_gain_cycle();
        } else if !was_used && self.policer.bandwidth().is_some() {
            self.pacing_gain = GAIN_UNIT;
        }
    }

    fn update_aggregation(&mut self, ack: &Ack, window: &Window) {
        if ack.rate.interval_us > 0 && ack.acked_pkts > 0 {
            self.aggregation.on_ack(
                self.totals.delivered_us,
                ack.acked_pkts,
                self.bandwidth(),
                self.starts_round,
                aggregation::HALF_ROUNDS,
                window.cwnd_pkts,
            );
        }
    }
}

impl CongestionControl for Bbr {
    fn on_established(&mut self, now: SimTime, srtt_us: u32, mss_bytes: u32, window: &mut Window) {
        let now_us = now.as_micros();
        self.mss_bytes = mss_bytes;
        self.min_rtt_us = if srtt_us > 0 { srtt_us } else { NO_RTT };
        self.min_rtt_at_ms = now_us / 1000;
        self.totals.delivered_us = now_us;
        self.policer.reset(self.totals);
        self.aggregation.restart(now_us);
        self.pace_by_rtt(srtt_us, window.cwnd_pkts);
    }

    fn on_ack(&mut self, now: SimTime, ack: &Ack, window: &mut Window) {
        let now_us = now.as_micros();
        self.mss_bytes = ack.mss_bytes;
        self.totals.delivered_pkts = ack.delivered_pkts;
        self.totals.lost_pkts = ack.lost_pkts;
        if ack.acked_pkts > 0 {
            self.totals.delivered_us = now_us;
        }
        self.update_bandwidth(ack);
        self.update_aggregation(ack, window);
        self.update_cycle(ack);
        self.look_for_full_pipe(ack);
        self.look_for_drained_queue(ack, window);
        self.update_min_rtt(now_us / 1000, ack, window);
        self.update_gains();
        if !self.has_seen_rtt && ack.srtt_us > 0 {
            self.pace_by_rtt(ack.srtt_us, window.cwnd_pkts);
        }
        self.pace(self.pacing_gain);
        self.set_window(ack, window);
    }

    /// Entering recovery or loss: the threshold stays, the window is remembered.
    fn ssthresh(&mut self, _now: SimTime, window: &Window, _in_flight_pkts: u32) -> u32 {
        self.remember_window(window);
        window.ssthresh_pkts
    }

    fn undo_cwnd(&mut self, window: &Window, _prior_cwnd_pkts: u32) -> u32 {
        self.full_pipe.forget();
        self.policer.reset(self.totals);
        window.cwnd_pkts
    }

    fn on_timeout(&mut self, _now: SimTime, lost_pkts: u64) {
        self.last_state = CongestionState::Loss;
        self.full_pipe.forget_bandwidth();
        // A timeout ends a round.
        self.starts_round = true;
        self.totals.lost_pkts = lost_pkts;
        self.look_for_policer(true, false);
    }

    fn on_restart(&mut self, now: SimTime, window: &mut Window) {
        self.is_restarting = true;
        self.aggregation.restart(now.as_micros());
        match self.phase {
            // The queue is gone; no need to make another at once.
            Phase::ProbeBandwidth => self.pace(GAIN_UNIT),
            Phase::ProbeRtt => self.look_for_end_of_rest(now.as_micros() / 1000, window),
            Phase::Startup | Phase::Drain => {}
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
