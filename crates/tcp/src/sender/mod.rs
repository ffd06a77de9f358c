//! The sending half: what leaves, when, and the timer behind it.
//!
//! This file holds the state and decides what to transmit; [`ack`] takes acknowledgments,
//! [`timeout`] takes expiries of the timer, [`validation`] keeps the window honest when the
//! application and not the network limits the flow.

mod ack;
mod legacy;
mod ncr;
mod pacing;
mod pr;
mod probe;
mod rr;
mod slow_start;
mod state;
mod timeout;
mod undo;
mod validation;

use backlane_units::{Duration, SimTime};

use crate::config::{Config, Reordering};
use crate::congestion::{CongestionControl, INFINITE_SSTHRESH_PKTS, Window};
use crate::readings::{Readings, Statistics};
use crate::recovery::CongestionState;
use crate::recovery::prr::Prr;
use crate::recovery::rate::RateMeter;
use crate::recovery::rate_halving::RateHalving;
use crate::recovery::reordering::ReorderingState;
use crate::recovery::scoreboard::{Outgoing, Scoreboard};
use crate::rtt::RttEstimator;
use ncr::Ncr;
use pacing::Pacing;
use pr::Pr;
use rr::Rr;
use undo::Undo;
use validation::Validation;

/// What the one timer waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Timer {
    Off,
    Retransmission(SimTime),
    /// Something overtaken is not overdue yet (RFC 8985 §6.2).
    Reordering(SimTime),
    /// A tail loss probe.
    Probe(SimTime),
    /// The peer's window is closed (RFC 9293 §3.8.6.1).
    Persist(SimTime),
}

/// A tail loss probe that is due.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum TailProbe {
    #[default]
    None,
    /// With new data, the window notwithstanding.
    New,
    /// With the last segment again.
    Last,
}

#[derive(Debug)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "most are what the configuration allows"
)]
pub(crate) struct Sender {
    mss_bytes: u32,
    initial_window_pkts: u32,
    initial_ssthresh_pkts: u32,
    min_rto: Duration,
    /// One tick of the timestamp clock.
    tick_us: u64,
    selective: bool,
    limited_transmit: bool,
    send_buffer_bytes: u64,
    retries: u32,

    snd_una: u64,
    snd_nxt: u64,
    /// The sequence number after the last byte written.
    write_end: u64,
    fin_queued: bool,
    /// The first sequence number beyond the peer's window.
    window_end: u64,
    window_bytes: u32,
    /// The largest window that the peer ever offered.
    max_window_bytes: u32,
    /// The segment that last updated the window (RFC 9293: SND.WL1).
    window_seq: u64,
    /// The end of the last segment below full size (Minshall's form of Nagle's rule).
    small_end: u64,

    scoreboard: Scoreboard,
    pub(crate) rtt: RttEstimator,
    control: Box<dyn CongestionControl>,
    window: Window,
    state: CongestionState,
    /// Recovery ends when this is acknowledged.
    high_seq: u64,
    prr: Prr,
    /// In place of `prr`, where a policy has it.
    halving: Option<RateHalving>,
    reordering: ReorderingState,
    undo: Undo,
    undoes: bool,
    /// Extended limited transmit, while it is on.
    ncr: Option<Ncr>,
    /// The deadlines of TCP-PR, if it is on.
    pr: Option<Pr>,
    /// What RR-TCP has learned, if it is on.
    rr: Option<Rr>,
    frto: bool,
    /// F-RTO: the timeout may yet prove needless.
    checks_timeout: bool,
    /// F-RTO: new data goes before retransmissions.
    tries_new_data: bool,
    probes: bool,
    tail_probe: TailProbe,
    /// SND.NXT when the last probe left, until it is answered.
    probe_end: Option<u64>,
    probe_retransmits: bool,
    pacing: Pacing,
    /// The control sets the window in CWR and Recovery too.
    owns_window: bool,
    validation: Validation,
    last_sent: SimTime,
    /// Up to when the means over time are known.
    observed_at: SimTime,
    delivered_pkts: u64,
    delivered_ce_pkts: u64,
    /// The peer is to be told that the window was reduced.
    tells_reduction: bool,

    timer: Timer,
    /// The present acknowledgment armed RACK's timer.
    waits_for_reordering: bool,
    backoff: u32,
    timeouts_in_a_row: u32,
    probe_due: bool,
    failed: bool,

    statistics: Statistics,
    last_rtt: Option<Duration>,
}

impl Sender {
    pub(crate) fn new(config: &Config) -> Self {
        let control = config.congestion_control.build(config.random_seed);
        let policy = if config.sack {
            config.reordering
        } else {
            Reordering::Fixed
        };
        let undoes = matches!(
            policy,
            Reordering::Rack | Reordering::LinuxLegacy | Reordering::Rr
        );
        let cwnd_pkts = config.initial_window_pkts.max(1);
        let ssthresh_pkts = config
            .initial_ssthresh_pkts
            .unwrap_or(INFINITE_SSTHRESH_PKTS);
        Self {
            mss_bytes: config.mss_bytes.max(1),
            initial_window_pkts: cwnd_pkts,
            initial_ssthresh_pkts: ssthresh_pkts,
            min_rto: config.min_rto,
            tick_us: u64::from(config.timestamp_tick_us()),
            selective: config.sack,
            limited_transmit: config.limited_transmit,
            send_buffer_bytes: config.send_buffer_bytes,
            retries: config.retries,
            snd_una: 1,
            snd_nxt: 1,
            write_end: 1,
            fin_queued: false,
            window_end: 1,
            window_bytes: 0,
            max_window_bytes: 0,
            window_seq: 0,
            small_end: 0,
            scoreboard: Scoreboard::new(
                config.mss_bytes,
                RateMeter::new(control.needs_rate_samples()),
            ),
            rtt: RttEstimator::new(
                config.rto,
                config.initial_rto,
                config.min_rto,
                config.max_rto,
            ),
            owns_window: control.owns_window(),
            control,
            pacing: Pacing::new(),
            window: Window::new(cwnd_pkts, ssthresh_pkts),
            state: CongestionState::Open,
            high_seq: 0,
            prr: Prr::default(),
            halving: (policy == Reordering::LinuxLegacy).then(RateHalving::default),
            reordering: ReorderingState::new(policy, config.mss_bytes, config.duplicate_threshold),
            undo: Undo::default(),
            undoes,
            ncr: None,
            pr: (policy == Reordering::Pr).then(|| Pr::new(config.pr, config.max_rto)),
            rr: (policy == Reordering::Rr).then(|| Rr::new(config.rr)),
            frto: config.frto && undoes,
            checks_timeout: false,
            tries_new_data: false,
            // Deadlines need no probe of the tail.
            probes: config.tail_loss_probe && config.sack && policy != Reordering::Pr,
            tail_probe: TailProbe::None,
            probe_end: None,
            probe_retransmits: false,
            validation: Validation::new(config.slow_start_after_idle),
            last_sent: SimTime::ZERO,
            observed_at: SimTime::ZERO,
            delivered_pkts: 0,
            delivered_ce_pkts: 0,
            tells_reduction: false,
            timer: Timer::Off,
            waits_for_reordering: false,
            backoff: 0,
            timeouts_in_a_row: 0,
            probe_due: false,
            failed: false,
            statistics: Statistics::default(),
            last_rtt: None,
        }
    }

    /// The handshake is done. `rtt`: its round trip, if it can be told.
    pub(crate) fn on_established(
        &mut self,
        now: SimTime,
        window_bytes: u32,
        rtt: Option<Duration>,
        syn_retransmits: u32,
    ) {
        self.window_end = self.snd_una + u64::from(window_bytes);
        self.window_bytes = window_bytes;
        self.max_window_bytes = window_bytes;
        self.last_sent = now;
        self.validation.on_start(now);
        match rtt {
            Some(rtt) => {
                self.take_rtt(now, rtt.as_micros(), rtt.as_micros());
                if let Some(pr) = &mut self.pr {
                    pr.on_sample(rtt.as_micros(), 0, 1);
                }
            }
            None if !self.rtt.has_sample() && syn_retransmits > 0 => self.rtt.fall_back(),
            None => {}
        }
        if syn_retransmits > 1 {
            // RFC 5681 §3.1: a handshake that lost more than one SYN starts from one segment.
            self.window.cwnd_pkts = 1;
        }
        let srtt_us = self.rtt.srtt_us() as u32;
        self.control
            .on_established(now, srtt_us, self.mss_bytes, &mut self.window);
    }

    pub(crate) fn write(&mut self, bytes: u64) {
        if !self.fin_queued {
            self.write_end = self.write_end.saturating_add(bytes);
            self.validation.on_write();
        }
    }

    pub(crate) fn close(&mut self) {
        self.fin_queued = true;
    }

    /// Forgets what has been written and not sent, and closes. Whether there was any.
    pub(crate) fn stop(&mut self) -> bool {
        let cut_short = self.snd_nxt < self.write_end;
        self.write_end = self.write_end.min(self.snd_nxt);
        self.fin_queued = true;
        cut_short
    }

    fn has_unsent(&self) -> bool {
        self.snd_nxt < self.write_end || (self.fin_queued && self.snd_nxt == self.write_end)
    }

    /// Whether the FIN has been sent and acknowledged.
    pub(crate) fn has_finished(&self) -> bool {
        self.fin_queued && self.snd_una > self.write_end
    }

    pub(crate) fn snd_nxt(&self) -> u64 {
        self.snd_nxt
    }

    pub(crate) fn acked_bytes(&self) -> u64 {
        self.snd_una - 1 - u64::from(self.has_finished())
    }

    pub(crate) fn has_failed(&self) -> bool {
        self.failed
    }

    /// When the timer is due; [`SimTime::MAX`]: it does not run.
    #[inline]
    pub(crate) fn next_timeout(&self) -> SimTime {
        let at = match self.timer {
            Timer::Off => SimTime::MAX,
            Timer::Retransmission(at)
            | Timer::Reordering(at)
            | Timer::Probe(at)
            | Timer::Persist(at) => at,
        };
        at.min(self.pacing.next_timeout())
    }

    /// Whether the next new segment tells of a reduction (CWR).
    pub(crate) fn take_reduction_notice(&mut self) -> bool {
        std::mem::take(&mut self.tells_reduction)
    }

    pub(crate) fn statistics(&self) -> &Statistics {
        &self.statistics
    }

    pub(crate) fn take_rtt_sample(&mut self) -> Option<Duration> {
        self.last_rtt.take()
    }

    fn take_rtt(&mut self, now: SimTime, rtt_us: u64, path_rtt_us: u64) {
        self.rtt.on_path_sample(now.as_micros(), path_rtt_us);
        self.rtt.on_sample(rtt_us, self.snd_una, self.snd_nxt);
        self.backoff = 0;
        let rtt = Duration::from_micros(rtt_us);
        self.statistics.on_rtt(rtt);
        self.last_rtt = Some(rtt);
    }

    pub(crate) fn readings(&self) -> Readings {
        Readings {
            cwnd_pkts: self.window.cwnd_pkts,
            ssthresh_pkts: self.window.ssthresh_pkts,
            srtt: Duration::from_micros(self.rtt.srtt_us()),
            rttvar: Duration::from_micros(self.rtt.rttvar_us()),
            rto: self.rtt.rto(),
            min_rtt: self.rtt.min_rtt_us().map(Duration::from_micros),
            in_flight_pkts: self.scoreboard.in_flight(),
            packets_out_pkts: self.scoreboard.packets_out(),
            sacked_pkts: self.scoreboard.sacked_out(),
            lost_pkts: self.scoreboard.lost_out(),
            retrans_out_pkts: self.scoreboard.retrans_out(),
            delivered_pkts: self.delivered_pkts,
            reordering_pkts: self.reordering.degree(),
            pacing_rate: self.control.pacing_rate(),
            state: self.state,
            control: self.control.readings(),
        }
    }

    /// Nothing to send and nothing outstanding, as on the side of a transfer that only receives.
    #[inline]
    fn is_at_rest(&self) -> bool {
        self.scoreboard.packets_out() == 0
            && !self.has_unsent()
            && self.tail_probe == TailProbe::None
            && !self.probe_due
            && !self.validation.is_in_burst()
            && !self.scoreboard.rate.is_enabled()
    }

    /// The next segment to leave, if any may: retransmissions first, then new data.
    #[inline]
    pub(crate) fn next_segment(&mut self, now: SimTime) -> Option<Outgoing> {
        if self.is_at_rest() {
            self.pacing.rest();
            return None;
        }
        if self.tail_probe != TailProbe::None
            && let Some(outgoing) = self.send_probe(now)
        {
            return Some(outgoing);
        }
        let may_send = self.scoreboard.in_flight() < self.window.cwnd_pkts;
        if may_send
            && (self.has_unsent() || self.scoreboard.has_retransmissions())
            && self.pacing.holds_back(now)
        {
            self.on_burst_end(now);
            return None;
        }
        if may_send
            && self.scoreboard.has_retransmissions()
            && !(self.tries_new_data && self.may_send_new())
            && let Some(outgoing) = self.retransmission(now)
        {
            return Some(outgoing);
        }
        if self.has_unsent() {
            self.restart_after_idle(now);
            if let Some(outgoing) = self.new_data(now) {
                return Some(outgoing);
            }
            self.wait_for_window(now);
        }
        self.pacing.rest();
        self.on_burst_end(now);
        if self.probe_due {
            self.probe_due = false;
            return Some(self.window_probe(now));
        }
        None
    }

    fn retransmission(&mut self, now: SimTime) -> Option<Outgoing> {
        let starts = self.scoreboard.in_flight() == 0;
        let (outgoing, is_head) = self.scoreboard.retransmit(now.as_micros())?;
        self.statistics.retransmits += 1;
        self.undo.on_retransmit(now.as_micros());
        self.on_sent(now, starts);
        self.pace(now, outgoing.payload_bytes);
        self.on_pr_sent(now, outgoing);
        if is_head && !matches!(self.timer, Timer::Reordering(_)) {
            self.arm_retransmission_timer(now);
        }
        Some(outgoing)
    }

    #[inline]
    fn new_data(&mut self, now: SimTime) -> Option<Outgoing> {
        let packets_out = self.scoreboard.packets_out();
        let in_flight_pkts = self.scoreboard.in_flight();
        // RFC 3042: a duplicate acknowledgment makes room, if limited transmit is on.
        let held_back = self.state == CongestionState::Disorder && !self.limited_transmit;
        let (counted_pkts, limit_pkts) = match self.ncr_limit_pkts() {
            Some(limit_pkts) => (in_flight_pkts, limit_pkts),
            None if held_back => (packets_out, self.window.cwnd_pkts),
            None => (in_flight_pkts, self.window.cwnd_pkts),
        };
        if counted_pkts >= limit_pkts || self.rr_holds_back() {
            return None;
        }
        let left_bytes = self.write_end - self.snd_nxt;
        let mut payload_bytes = left_bytes.min(u64::from(self.mss_bytes));
        let room_bytes = self.window_end.saturating_sub(self.snd_nxt);
        if payload_bytes > room_bytes {
            // RFC 9293 §3.8.6.2.1: half of the largest window is worth a segment.
            if packets_out > 0 || room_bytes == 0 || self.max_window_bytes / 2 > room_bytes as u32 {
                return None;
            }
            payload_bytes = room_bytes;
        }
        let end = self.snd_nxt + payload_bytes;
        if payload_bytes > 0 && packets_out > 0 && end - self.snd_una > self.send_buffer_bytes {
            return None;
        }
        let fin = self.fin_queued && end == self.write_end;
        if payload_bytes < u64::from(self.mss_bytes) && !fin {
            if self.small_end > self.snd_una {
                return None;
            }
            self.small_end = end;
        }
        self.on_ncr_sent();
        Some(self.send_new(now, payload_bytes as u32, fin))
    }

    /// Whether there is new data that the peer's window takes.
    fn may_send_new(&self) -> bool {
        let left_bytes = self.write_end - self.snd_nxt.min(self.write_end);
        let payload_bytes = left_bytes.min(u64::from(self.mss_bytes));
        self.has_unsent() && self.snd_nxt + payload_bytes <= self.window_end
    }

    #[inline]
    fn send_new(&mut self, now: SimTime, payload_bytes: u32, fin: bool) -> Outgoing {
        let outgoing = Outgoing {
            seq: self.snd_nxt,
            payload_bytes,
            fin,
        };
        let starts = self.scoreboard.in_flight() == 0;
        let was_empty = self.scoreboard.packets_out() == 0;
        if was_empty {
            self.observed_at = now;
        }
        self.on_sent(now, starts);
        self.pace(now, payload_bytes);
        self.scoreboard.push(outgoing, now.as_micros());
        self.snd_nxt += u64::from(payload_bytes) + u64::from(fin);
        self.validation.on_new_data();
        self.on_pr_sent(now, outgoing);
        if was_empty || matches!(self.timer, Timer::Probe(_)) {
            self.arm_retransmission_timer(now);
        }
        outgoing
    }

    /// Counts what was so until now, before an acknowledgment or a timeout changes it.
    #[inline]
    fn observe(&mut self, now: SimTime) {
        if self.scoreboard.packets_out() > 0 {
            let span = now.saturating_since(self.observed_at);
            let in_flight_pkts = self.scoreboard.in_flight();
            self.statistics
                .on_outstanding(span, self.window.cwnd_pkts, in_flight_pkts);
            let most_pkts = &mut self.statistics.reordering_max_pkts;
            *most_pkts = (*most_pkts).max(self.reordering.degree());
        }
        self.observed_at = now;
    }

    /// What every data segment does on its way out; `starts`: nothing was in flight.
    #[inline]
    fn on_sent(&mut self, now: SimTime, starts: bool) {
        if starts {
            let idle = now.saturating_since(self.last_sent);
            if self.scoreboard.rate.is_app_limited() {
                self.control.on_restart(now, &mut self.window);
            }
            self.control.on_transmit_start(now, idle, self.snd_nxt);
        }
        self.last_sent = now;
        self.statistics.segments_sent += 1;
        if self.is_reducing() {
            self.prr.on_sent();
        }
    }

    fn is_reducing(&self) -> bool {
        // TCP-PR reduces at once and grows on.
        self.state == CongestionState::Cwr
            || (self.state == CongestionState::Recovery && !self.is_pr())
    }

    /// Nothing in flight and a window too small for what waits: only a probe will tell when it
    /// opens.
    fn wait_for_window(&mut self, now: SimTime) {
        if self.scoreboard.packets_out() == 0 && self.timer == Timer::Off && !self.probe_due {
            self.arm_persist_timer(now);
        }
    }

    /// As much as the window takes, or an empty segment below it that draws an acknowledgment.
    fn window_probe(&mut self, now: SimTime) -> Outgoing {
        let room_bytes = self.window_end.saturating_sub(self.snd_nxt);
        let left_bytes = self.write_end.saturating_sub(self.snd_nxt);
        let payload_bytes = room_bytes.min(left_bytes).min(u64::from(self.mss_bytes));
        if payload_bytes > 0 && self.scoreboard.packets_out() == 0 {
            let fin = self.fin_queued && payload_bytes == left_bytes;
            return self.send_new(now, payload_bytes as u32, fin);
        }
        Outgoing {
            seq: self.snd_una - 1,
            payload_bytes: 0,
            fin: false,
        }
    }
}
