//! The sending half: what is sent, when, and the timer behind it.
//!
//! - [`ack`] processes acknowledgments, step by step; [`sack`] their SACK blocks and [`rtt`] the
//!   RTT sample.
//! - [`transmit`] decides what leaves.
//! - Loss detection is a [`LossDetection`] policy; the state that it shares with the sender is
//!   [`Recovery`].

mod ack;
mod rtt;
mod sack;
mod transmit;

use backlane_units::{Duration, SimTime};

use crate::choices::{ControlRtt, Growth, OldAcks, RttSamples, WithoutNewData};
use crate::config::Config;
use crate::congestion::CongestionControl;
use crate::loss::LossDetection;
use crate::readings::{Readings, Statistics};
use crate::recovery::Recovery;
use crate::recovery::timer::Timer;
use crate::rtt::RttEstimator;
use crate::segment::Segment;
use crate::window::pacing::Pacing;
use crate::window::validation::Validation;

#[derive(Debug)]
pub(crate) struct Sender {
    loss: LossDetection,
    recovery: Recovery,
    pacing: Pacing,
    validation: Validation,
    selective: bool,
    limited_transmit: bool,
    send_buffer_bytes: u64,
    /// One tick of the timestamp clock.
    tick_us: u64,
    rtt_samples: RttSamples,
    control_rtt: ControlRtt,
    growth: Growth,
    old_acks: OldAcks,
    /// Only the first partial acknowledgment of a recovery restarts the timer.
    impatient: bool,
    without_new_data: WithoutNewData,
    lost_syns_reduce_window: bool,
    /// The last RTT sample that the application has not taken.
    last_rtt: Option<Duration>,
    last_sent: SimTime,
    /// The time integrals of the statistics cover everything up to here.
    observed_at: SimTime,
}

impl Sender {
    pub(crate) fn new(config: &Config) -> Self {
        let loss = LossDetection::new(config);
        let profile = loss.profile();
        Self {
            recovery: Recovery::new(config, profile),
            loss,
            pacing: Pacing::new(),
            validation: Validation::new(config),
            selective: config.sack,
            limited_transmit: config.limited_transmit,
            send_buffer_bytes: config.send_buffer_bytes(),
            tick_us: u64::from(config.timestamp_tick_us()),
            rtt_samples: profile.rtt_samples.unwrap_or(config.rtt_samples),
            control_rtt: config.control_rtt,
            growth: config.growth,
            old_acks: config.old_acks,
            impatient: config.impatient,
            without_new_data: config.without_new_data,
            lost_syns_reduce_window: config.lost_syns_reduce_window,
            last_rtt: None,
            last_sent: SimTime::ZERO,
            observed_at: SimTime::ZERO,
        }
    }

    /// The handshake is done. `rtt`: its round trip, if it could be measured.
    pub(crate) fn on_established(
        &mut self,
        now: SimTime,
        window_bytes: u32,
        rtt: Option<Duration>,
        syn_retransmits: u32,
    ) {
        let rtt = self.handshake_sample(now, rtt, syn_retransmits);
        self.recovery.space.on_established(window_bytes);
        self.last_sent = now;
        self.validation.on_start(now);
        match rtt {
            Some(rtt) => {
                self.take_rtt(now, rtt.as_micros(), rtt.as_micros());
                self.loss.on_rtt_sample(rtt.as_micros(), 0, 1);
            }
            None if !self.recovery.rtt.has_sample() && syn_retransmits > 0 => {
                self.recovery.rtt.fall_back();
            }
            None => {}
        }
        let r = &mut self.recovery;
        if syn_retransmits > 1 && self.lost_syns_reduce_window {
            // RFC 5681 §3.1: a handshake that lost more than one SYN starts from one segment.
            r.window.cwnd_pkts = 1;
        }
        let srtt_us = r.rtt.srtt_us() as u32;
        r.control
            .on_established(now, srtt_us, r.space.mss_bytes, &mut r.window);
    }

    /// The RTT sample of the handshake: in ns-3 in whole ticks, and none of a repeated SYN.
    fn handshake_sample(
        &self,
        now: SimTime,
        rtt: Option<Duration>,
        syn_retransmits: u32,
    ) -> Option<Duration> {
        if self.rtt_samples != RttSamples::Advancing {
            return rtt;
        }
        rtt.filter(|_| syn_retransmits == 0)
            .map(|rtt| Duration::from_micros(self.whole_ticks_us(now, rtt.as_micros())))
    }

    /// What two readings of the timestamp clock, `rtt_us` apart, show; at least a tick.
    pub(super) fn whole_ticks_us(&self, now: SimTime, rtt_us: u64) -> u64 {
        let (now_us, tick_us) = (now.as_micros(), self.tick_us);
        let rtt_ticks = now_us / tick_us - now_us.saturating_sub(rtt_us) / tick_us;
        rtt_ticks.max(1) * tick_us
    }

    pub(crate) fn write(&mut self, bytes: u64) {
        if self.recovery.space.write(bytes) {
            self.validation.on_write();
        }
    }

    pub(crate) fn close(&mut self) {
        self.recovery.space.close();
    }

    /// Discards unsent data and closes. Returns whether data was discarded.
    pub(crate) fn stop(&mut self) -> bool {
        self.recovery.space.stop()
    }

    /// Whether the FIN has been sent and acknowledged.
    pub(crate) fn has_finished(&self) -> bool {
        self.recovery.space.has_finished()
    }

    pub(crate) fn snd_nxt(&self) -> u64 {
        self.recovery.space.snd_nxt
    }

    pub(crate) fn acked_bytes(&self) -> u64 {
        self.recovery.space.acked_bytes()
    }

    /// Whether `segment` acknowledges nothing new and carries no newer window.
    #[inline]
    pub(crate) fn is_repeated(&self, segment: &Segment) -> bool {
        self.recovery.space.is_repeated(segment)
    }

    pub(crate) fn has_failed(&self) -> bool {
        self.recovery.timers.has_failed
    }

    #[inline]
    pub(crate) fn rtt(&self) -> &RttEstimator {
        &self.recovery.rtt
    }

    /// When the timer expires; [`SimTime::MAX`]: it is off.
    #[inline]
    pub(crate) fn next_timeout(&self) -> SimTime {
        let at = self.recovery.timers.next_timeout();
        at.min(self.pacing.next_timeout())
    }

    pub(crate) fn on_timer(&mut self, now: SimTime) {
        self.pacing.on_timer(now);
        self.observe(now);
        let r = &mut self.recovery;
        match r.timers.armed {
            Timer::Retransmission(at) if at <= now => self.loss.on_retransmission_timeout(r, now),
            Timer::Reordering(at) if at <= now => self.loss.on_reordering_timeout(r, now),
            Timer::Probe(at) if at <= now => r.on_probe_timeout(now),
            Timer::Persist(at) if at <= now => r.on_persist_timeout(now),
            _ => {}
        }
    }

    /// Whether the next new segment carries CWR.
    pub(crate) fn take_cwr(&mut self) -> bool {
        std::mem::take(&mut self.recovery.cwr_due)
    }

    pub(crate) fn statistics(&self) -> &Statistics {
        &self.recovery.statistics
    }

    pub(crate) fn congestion_control(&self) -> &dyn CongestionControl {
        &*self.recovery.control
    }

    pub(crate) fn take_rtt_sample(&mut self) -> Option<Duration> {
        self.last_rtt.take()
    }

    pub(crate) fn readings(&self) -> Readings {
        let r = &self.recovery;
        Readings {
            cwnd_pkts: r.window.cwnd_pkts,
            ssthresh_pkts: r.window.ssthresh_pkts,
            srtt: Duration::from_micros(r.rtt.srtt_us()),
            rttvar: Duration::from_micros(r.rtt.rttvar_us()),
            rto: r.rtt.rto(),
            min_rtt: r.rtt.min_rtt_us().map(Duration::from_micros),
            in_flight_pkts: r.scoreboard.in_flight(),
            packets_out_pkts: r.scoreboard.packets_out(),
            sacked_pkts: r.scoreboard.sacked_out(),
            lost_pkts: r.scoreboard.lost_out(),
            retrans_out_pkts: r.scoreboard.retrans_out(),
            delivered_pkts: r.delivered_pkts,
            reordering_pkts: self.loss.threshold_pkts(),
            pacing_rate: r.control.pacing_rate(),
            state: r.state,
        }
    }

    /// Adds the time since the last call to the statistics, before an acknowledgment or a timeout
    /// changes the state.
    #[inline]
    fn observe(&mut self, now: SimTime) {
        let r = &mut self.recovery;
        if r.scoreboard.packets_out() > 0 {
            let span = now.saturating_since(self.observed_at);
            let in_flight_pkts = r.scoreboard.in_flight();
            r.statistics
                .on_outstanding(span, r.window.cwnd_pkts, in_flight_pkts);
            let most_pkts = &mut r.statistics.reordering_max_pkts;
            *most_pkts = (*most_pkts).max(self.loss.threshold_pkts());
        }
        self.observed_at = now;
    }
}
