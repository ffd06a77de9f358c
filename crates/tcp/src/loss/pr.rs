//! TCP-PR (Bohacek, Hespanha, Lee, Lim and Obraczka, 2003): a segment is lost when it has been
//! outstanding longer than any round trip should last.
//!
//! The order of arrivals plays no part, so that there is neither Disorder nor a common
//! retransmission timeout: each transmission has a deadline of its own.

use std::collections::VecDeque;

use backlane_units::{Duration, SimTime};

use super::machine::{StateMachine, enter_cwr};
use super::policy::{AckEvent, LossPolicy};
use super::profile::Profile;
use super::timeout::on_retransmission_timeout;
use crate::config::{Config, PrConfig};
use crate::readings::SlowStartEnd;
use crate::recovery::timer::Timer;
use crate::recovery::{CongestionState, Recovery};
use crate::scoreboard::{Delivery, Outgoing};

/// The shortest deadline after the loss of a whole window.
const SHORTEST_AFTER_COLLAPSE_US: f64 = 1e6;

/// One transmission of a segment, the first or a later one.
#[derive(Clone, Copy, Debug)]
struct Transmission {
    end_seq: u64,
    sent_us: u64,
    /// The window when it left, cwnd(n).
    cwnd_pkts: u32,
}

/// Whether so much of a window is lost that the window counts as lost as a whole.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Extent {
    Some,
    Collapse,
}

#[derive(Clone, Debug)]
pub(crate) struct Pr {
    config: PrConfig,
    threshold_pkts: u32,
    max_us: f64,
    /// The envelope of the RTT; 0: no sample yet.
    ewrtt_us: f64,
    /// In the order of sending; those delivered are removed when they reach the front.
    sent: VecDeque<Transmission>,
    /// The number of the first of `sent`, counted from the start of the connection.
    first: u64,
    /// The memorise list: transmissions before this number left before the last reduction, and
    /// their loss belongs to the same congestion.
    memorised: u64,
    /// Losses of that congestion, and the window when its first one left.
    burst_pkts: u32,
    burst_cwnd_pkts: u32,
}

impl Pr {
    pub(super) fn new(config: PrConfig, endpoint: &Config) -> Self {
        Self {
            config,
            threshold_pkts: endpoint.duplicate_threshold.max(1),
            max_us: endpoint.max_rto.as_micros() as f64,
            ewrtt_us: 0.0,
            sent: VecDeque::new(),
            first: 0,
            memorised: 0,
            burst_pkts: 0,
            burst_cwnd_pkts: 0,
        }
    }

    /// How long a segment may be out, after `collapses` losses of whole windows in a row;
    /// `initial`: before the first sample.
    fn mxrtt_us(&self, collapses: u32, initial: Duration) -> u64 {
        let mut mxrtt_us = if self.ewrtt_us > 0.0 {
            self.config.beta * self.ewrtt_us
        } else {
            initial.as_micros() as f64
        };
        if collapses > 0 {
            let doublings = f64::from(1u32 << (collapses - 1).min(31));
            mxrtt_us = mxrtt_us.max(SHORTEST_AFTER_COLLAPSE_US) * doublings;
        }
        mxrtt_us.min(self.max_us).max(1.0) as u64
    }

    fn deadline_us(&self, r: &Recovery) -> u64 {
        self.mxrtt_us(r.timers.backoff, r.rtt.rto())
    }

    /// The transmission that has been out longest.
    fn oldest_transmission(&mut self, r: &Recovery) -> Option<Transmission> {
        while let Some(&oldest) = self.sent.front() {
            if r.scoreboard.is_out(oldest.end_seq, oldest.sent_us) {
                return Some(oldest);
            }
            self.pop_transmission();
        }
        None
    }

    fn pop_transmission(&mut self) {
        self.sent.pop_front();
        self.first += 1;
    }

    /// What is out now left before the reduction.
    fn memorise(&mut self) {
        self.memorised = self.first + self.sent.len() as u64;
        self.burst_pkts = 0;
    }

    /// The oldest transmission, `lost`, is lost.
    fn lose(&mut self, r: &mut Recovery, now: SimTime, lost: Transmission) -> Extent {
        let is_new = self.first >= self.memorised;
        self.pop_transmission();
        r.scoreboard.lose(lost.end_seq);
        if is_new {
            self.memorise();
            self.burst_cwnd_pkts = lost.cwnd_pkts;
        }
        self.burst_pkts += 1;
        if is_new && lost.cwnd_pkts > 1 {
            reduce_window_of(r, now, lost.cwnd_pkts);
        }
        let is_single = is_new && lost.cwnd_pkts <= 1;
        if is_single || self.burst_pkts > self.burst_cwnd_pkts / 2 + 1 {
            Extent::Collapse
        } else {
            Extent::Some
        }
    }
}

/// Sets the window to what the control makes of `cwnd_pkts`, at most the present one.
fn reduce_window_of(r: &mut Recovery, now: SimTime, cwnd_pkts: u32) {
    r.statistics.fast_retransmits += 1;
    r.end_slow_start(now, SlowStartEnd::Loss);
    let present_pkts = r.window.cwnd_pkts;
    if !r.owns_window {
        r.window.cwnd_pkts = cwnd_pkts.max(1);
    }
    let in_flight_pkts = r.scoreboard.in_flight();
    r.window.ssthresh_pkts = r.control.ssthresh(now, &r.window, in_flight_pkts);
    r.window.drop_credit();
    if !r.owns_window {
        r.window.cwnd_pkts = r.window.ssthresh_pkts.min(present_pkts).max(1);
    }
    r.high_seq = r.space.snd_nxt;
    r.cwr_due = true;
    r.control.on_loss(now, &mut r.window);
    r.set_state(now, CongestionState::Recovery);
}

impl LossPolicy for Pr {
    /// The window is reduced at once and grows on. Deadlines need no probe of the tail.
    const PROFILE: Profile = Profile {
        reduces_gradually: false,
        probes_tail: false,
        ..Profile::PLAIN
    };

    #[inline]
    fn threshold_pkts(&self) -> u32 {
        self.threshold_pkts
    }

    /// Deadlines alone show losses.
    fn detect_losses(&mut self, _r: &mut Recovery, _now: SimTime, _ack: &AckEvent) {}

    /// ewrtt = max(α^(1/cwnd) · ewrtt per packet, sample).
    fn on_rtt_sample(&mut self, rtt_us: u64, delivered_pkts: u32, cwnd_pkts: u32) {
        let rounds = f64::from(delivered_pkts) / f64::from(cwnd_pkts.max(1));
        let faded_us = self.ewrtt_us * libm::pow(self.config.alpha, rounds);
        self.ewrtt_us = faded_us.max(rtt_us as f64);
    }

    fn arm_timer(&mut self, r: &mut Recovery, now: SimTime) {
        let sent_us = self
            .oldest_transmission(r)
            .map_or(now.as_micros(), |oldest| oldest.sent_us);
        let at = Duration::from_micros(sent_us.saturating_add(self.deadline_us(r)));
        r.timers.armed = Timer::Retransmission(SimTime::ZERO.saturating_add(at).max(now));
    }

    fn restarts_timer(&self, _delivery: &Delivery, _before_head: bool) -> bool {
        true
    }

    /// Every packet that arrives counts, in any order.
    fn counts_sacks_as_progress(&self) -> bool {
        true
    }

    fn on_sent(&mut self, r: &mut Recovery, now: SimTime, outgoing: Outgoing) {
        let length = u64::from(outgoing.payload_bytes) + u64::from(outgoing.fin);
        self.sent.push_back(Transmission {
            end_seq: outgoing.seq + length,
            sent_us: now.as_micros(),
            cwnd_pkts: r.window.cwnd_pkts,
        });
        if !matches!(r.timers.armed, Timer::Retransmission(_)) {
            self.arm_timer(r, now);
        }
    }
}

impl StateMachine for Pr {
    fn on_ack(&mut self, r: &mut Recovery, now: SimTime, ack: &AckEvent) {
        match r.state {
            CongestionState::Cwr if r.space.snd_una > r.high_seq => {
                r.end_reduction(now);
                r.set_state(now, CongestionState::Open);
            }
            CongestionState::Loss if r.is_recovered() => r.set_state(now, CongestionState::Open),
            CongestionState::Recovery => {
                self.oldest_transmission(r);
                if self.first >= self.memorised {
                    r.control.on_recovery_exit(now, &mut r.window);
                    r.set_state(now, CongestionState::Open);
                }
            }
            _ => {}
        }
        if ack.has_ece {
            enter_cwr(self, r, now, SlowStartEnd::Mark);
        }
    }

    /// A deadline has passed. After a collapse slow start begins with one packet, and deadlines
    /// are at least a second, doubled each time until a sample arrives.
    fn on_retransmission_timeout(&mut self, r: &mut Recovery, now: SimTime) {
        let deadline_us = self.deadline_us(r);
        // Nothing is out and nothing may leave. All is SACKed and nothing acknowledged: the receiver
        // has dropped what it had. Or SACKed retransmissions that count as in flight fill the window.
        let is_full = r.scoreboard.in_flight() >= r.window.cwnd_pkts;
        let may_leave = r.scoreboard.has_retransmissions() && !is_full;
        let mut is_collapsed = self.oldest_transmission(r).is_none() && !may_leave;
        while let Some(oldest) = self.oldest_transmission(r)
            && oldest.sent_us + deadline_us <= now.as_micros()
        {
            is_collapsed |= self.lose(r, now, oldest) == Extent::Collapse;
        }
        r.report_losses(now);
        if is_collapsed {
            self.memorise();
            on_retransmission_timeout(self, r, now);
        } else {
            self.arm_timer(r, now);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pr(max_rto: Duration) -> Pr {
        let endpoint = Config {
            max_rto,
            ..Config::default()
        };
        Pr::new(PrConfig::default(), &endpoint)
    }

    /// After 40 windows of 20 ms samples: 40 ms · 0.995⁴⁰ = 32.73 ms.
    #[test]
    fn the_envelope_rises_with_a_sample_at_once_and_fades_by_alpha_per_window() {
        let mut pr = pr(Duration::from_secs(120));
        pr.on_rtt_sample(20_000, 1, 10);
        pr.on_rtt_sample(40_000, 1, 10);
        for _ in 0..400 {
            pr.on_rtt_sample(20_000, 1, 10);
        }
        assert!((pr.ewrtt_us - 32_733.0).abs() < 1.0, "{}", pr.ewrtt_us);
        for _ in 0..10_000 {
            pr.on_rtt_sample(20_000, 1, 10);
        }
        assert_eq!(pr.ewrtt_us, 20_000.0);
    }

    #[test]
    fn after_a_collapse_the_deadline_is_a_second_at_least_and_doubles_up_to_the_limit() {
        let mut pr = pr(Duration::from_secs(10));
        let initial = Duration::from_millis(700);
        assert_eq!(pr.mxrtt_us(0, initial), 700_000);
        pr.on_rtt_sample(40_000, 1, 10);
        let deadlines_us = [0, 1, 2, 4, 5].map(|collapses| pr.mxrtt_us(collapses, initial));
        assert_eq!(
            deadlines_us,
            [120_000, 1_000_000, 2_000_000, 8_000_000, 10_000_000]
        );
    }
}
