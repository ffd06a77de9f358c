//! TCP-PR (Bohacek, Hespanha, Lee, Lim and Obraczka, 2003): a segment is lost when it has been
//! out longer than any round trip should last, and for no other reason. What arrives in which
//! order is of no account, so that there is neither Disorder nor a retransmission timeout here:
//! every transmission has a deadline of its own.

use std::collections::VecDeque;

use backlane_units::{Duration, SimTime};

use super::state::Step;
use super::{Sender, Timer};
use crate::config::{PrConfig, Reordering};
use crate::readings::SlowStartEnd;
use crate::recovery::CongestionState;
use crate::recovery::scoreboard::Outgoing;

/// The shortest deadline once a window has been lost as a whole.
const SHORTEST_AFTER_COLLAPSE_US: f64 = 1e6;

/// One segment on its way: a first transmission or a later one.
#[derive(Clone, Copy, Debug)]
struct Transmission {
    end_seq: u64,
    sent_us: u64,
    /// The window when it left, cwnd(n).
    cwnd_pkts: u32,
}

#[derive(Clone, Debug)]
pub(super) struct Pr {
    config: PrConfig,
    max_us: f64,
    /// The envelope of the RTT; 0: no sample yet.
    ewrtt_us: f64,
    /// In the order in which they left; those delivered are taken off when they come to the
    /// front.
    sent: VecDeque<Transmission>,
    /// The number of the first of `sent`, counted from the start of the connection.
    first: u64,
    /// The memorise list: transmissions before this number left before the last reduction, and
    /// their loss is the same congestion.
    memorised: u64,
    /// Losses of that congestion, and the window when its first one left.
    burst_pkts: u32,
    burst_cwnd_pkts: u32,
}

impl Pr {
    pub(super) fn new(config: PrConfig, max_rto: Duration) -> Self {
        Self {
            config,
            max_us: max_rto.as_micros() as f64,
            ewrtt_us: 0.0,
            sent: VecDeque::new(),
            first: 0,
            memorised: 0,
            burst_pkts: 0,
            burst_cwnd_pkts: 0,
        }
    }

    /// A sample of the RTT, with which `packets` were delivered from a window of `cwnd_pkts`:
    /// ewrtt = max(α^(1/cwnd) · ewrtt per packet, sample).
    pub(super) fn on_sample(&mut self, rtt_us: u64, packets: u32, cwnd_pkts: u32) {
        let rounds = f64::from(packets) / f64::from(cwnd_pkts.max(1));
        let faded_us = self.ewrtt_us * libm::pow(self.config.alpha, rounds);
        self.ewrtt_us = faded_us.max(rtt_us as f64);
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
}

impl Sender {
    pub(super) fn is_pr(&self) -> bool {
        self.reordering.policy() == Reordering::Pr
    }

    /// A segment leaves.
    pub(super) fn on_pr_sent(&mut self, now: SimTime, outgoing: Outgoing) {
        let Some(pr) = &mut self.pr else { return };
        let length = u64::from(outgoing.payload_bytes) + u64::from(outgoing.fin);
        pr.sent.push_back(Transmission {
            end_seq: outgoing.seq + length,
            sent_us: now.as_micros(),
            cwnd_pkts: self.window.cwnd_pkts,
        });
        if !matches!(self.timer, Timer::Retransmission(_)) {
            self.arm_pr_timer(now);
        }
    }

    /// The transmission that has been out longest.
    fn oldest_transmission(&mut self) -> Option<Transmission> {
        let pr = self.pr.as_mut()?;
        while let Some(&oldest) = pr.sent.front() {
            if self.scoreboard.is_out(oldest.end_seq, oldest.sent_us) {
                return Some(oldest);
            }
            pr.sent.pop_front();
            pr.first += 1;
        }
        None
    }

    fn mxrtt_us(&self) -> u64 {
        let initial = self.rtt.rto();
        let pr = self.pr.as_ref();
        pr.map_or(0, |pr| pr.mxrtt_us(self.backoff, initial))
    }

    pub(super) fn arm_pr_timer(&mut self, now: SimTime) {
        let sent_us = self
            .oldest_transmission()
            .map_or(now.as_micros(), |oldest| oldest.sent_us);
        let at = Duration::from_micros(sent_us.saturating_add(self.mxrtt_us()));
        self.timer = Timer::Retransmission(SimTime::ZERO.saturating_add(at).max(now));
    }

    /// A deadline has passed.
    pub(super) fn on_pr_timeout(&mut self, now: SimTime) {
        let mxrtt_us = self.mxrtt_us();
        let now_us = now.as_micros();
        // All is SACKed and nothing acknowledged: the receiver has dropped what it had.
        let mut collapsed =
            self.scoreboard.in_flight() == 0 && !self.scoreboard.has_retransmissions();
        while let Some(oldest) = self.oldest_transmission()
            && oldest.sent_us + mxrtt_us <= now_us
        {
            collapsed |= self.lose(now, oldest);
        }
        self.tell_losses(now);
        if collapsed {
            self.on_pr_collapse(now);
        } else {
            self.arm_pr_timer(now);
        }
    }

    /// One transmission is lost; whether so much is that the window is lost as a whole.
    fn lose(&mut self, now: SimTime, lost: Transmission) -> bool {
        let Some(pr) = &mut self.pr else { return false };
        let is_new = pr.first >= pr.memorised;
        pr.sent.pop_front();
        pr.first += 1;
        self.scoreboard.lose(lost.end_seq);
        if is_new {
            // What is out now left before the reduction.
            pr.memorised = pr.first + pr.sent.len() as u64;
            pr.burst_pkts = 0;
            pr.burst_cwnd_pkts = lost.cwnd_pkts;
        }
        pr.burst_pkts += 1;
        let collapsed =
            pr.burst_pkts > pr.burst_cwnd_pkts / 2 + 1 || (is_new && lost.cwnd_pkts <= 1);
        if is_new && lost.cwnd_pkts > 1 {
            self.reduce_window_of(now, lost.cwnd_pkts);
        }
        collapsed
    }

    /// The window becomes what the control makes of `cwnd_pkts`, at most what it is.
    fn reduce_window_of(&mut self, now: SimTime, cwnd_pkts: u32) {
        self.statistics.fast_retransmits += 1;
        self.end_slow_start(now, SlowStartEnd::Loss);
        let present_pkts = self.window.cwnd_pkts;
        if !self.owns_window {
            self.window.cwnd_pkts = cwnd_pkts.max(1);
        }
        let in_flight_pkts = self.scoreboard.in_flight();
        self.window.ssthresh_pkts = self.control.ssthresh(now, &self.window, in_flight_pkts);
        self.window.drop_credit();
        if !self.owns_window {
            self.window.cwnd_pkts = self.window.ssthresh_pkts.min(present_pkts).max(1);
        }
        self.high_seq = self.snd_nxt;
        self.tells_reduction = true;
        self.control.on_loss(now, &mut self.window);
        self.set_state(now, CongestionState::Recovery);
    }

    /// More than half of a window is lost, or all of one packet: slow start from one packet,
    /// and deadlines of a second at least, doubled each time until a sample comes.
    fn on_pr_collapse(&mut self, now: SimTime) {
        if let Some(pr) = &mut self.pr {
            pr.burst_pkts = 0;
            pr.memorised = pr.first + pr.sent.len() as u64;
        }
        self.on_loss_of_all(now);
    }

    /// What an acknowledgment does to the state.
    pub(super) fn step_by_deadlines(&mut self, now: SimTime, step: &Step) {
        let over = self.snd_una >= self.high_seq;
        match self.state {
            CongestionState::Cwr if self.snd_una > self.high_seq => {
                self.end_reduction(now);
                self.set_state(now, CongestionState::Open);
            }
            CongestionState::Loss if over => self.set_state(now, CongestionState::Open),
            CongestionState::Recovery => {
                self.oldest_transmission();
                if self.pr.as_ref().is_some_and(|pr| pr.first >= pr.memorised) {
                    self.control.on_recovery_exit(now, &mut self.window);
                    self.set_state(now, CongestionState::Open);
                }
            }
            _ => {}
        }
        if step.has_ece {
            self.enter_cwr(now, SlowStartEnd::Mark);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// After 40 windows of 20 ms samples: 40 ms · 0.995⁴⁰ = 32.73 ms.
    #[test]
    fn the_envelope_rises_with_a_sample_at_once_and_fades_by_alpha_per_window() {
        let mut pr = Pr::new(PrConfig::default(), Duration::from_secs(120));
        pr.on_sample(20_000, 1, 10);
        pr.on_sample(40_000, 1, 10);
        for _ in 0..400 {
            pr.on_sample(20_000, 1, 10);
        }
        assert!((pr.ewrtt_us - 32_733.0).abs() < 1.0, "{}", pr.ewrtt_us);
        for _ in 0..10_000 {
            pr.on_sample(20_000, 1, 10);
        }
        assert_eq!(pr.ewrtt_us, 20_000.0);
    }

    #[test]
    fn after_a_collapse_the_deadline_is_a_second_at_least_and_doubles_up_to_the_limit() {
        let mut pr = Pr::new(PrConfig::default(), Duration::from_secs(10));
        let initial = Duration::from_millis(700);
        assert_eq!(pr.mxrtt_us(0, initial), 700_000);
        pr.on_sample(40_000, 1, 10);
        let deadlines_us = [0, 1, 2, 4, 5].map(|collapses| pr.mxrtt_us(collapses, initial));
        assert_eq!(
            deadlines_us,
            [120_000, 1_000_000, 2_000_000, 8_000_000, 10_000_000]
        );
    }
}
