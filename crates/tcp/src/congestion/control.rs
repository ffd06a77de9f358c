//! The trait of congestion controls, and what its hooks are given.

use std::any::Any;
use std::fmt;

use backlane_units::{Duration, Rate, SimTime};

use crate::choices::Growth;
use crate::readings::SlowStartEnd;
use crate::recovery::CongestionState;

/// A slow-start threshold that is never reached.
pub const INFINITE_SSTHRESH_PKTS: u32 = u32::MAX;

/// The congestion window and the slow-start threshold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Window {
    /// The congestion window, in packets; at least 1.
    pub cwnd_pkts: u32,
    /// The slow-start threshold, in packets; [`INFINITE_SSTHRESH_PKTS`]: none yet.
    pub ssthresh_pkts: u32,
    /// Packets acknowledged that have not yet moved the window.
    pub(super) credit_pkts: u32,
    /// Bytes beyond `cwnd_pkts`, with [`Growth::Ns3`].
    credit_bytes: u32,
    growth: Growth,
    end_of_slow_start: Option<SlowStartEnd>,
}

impl Window {
    /// A window of `cwnd_pkts` packets.
    pub const fn new(cwnd_pkts: u32, ssthresh_pkts: u32) -> Self {
        Self {
            cwnd_pkts,
            ssthresh_pkts,
            credit_pkts: 0,
            credit_bytes: 0,
            growth: Growth::Packets,
            end_of_slow_start: None,
        }
    }

    /// The same window, which grows by `growth`.
    #[must_use]
    pub(crate) const fn growing_by(self, growth: Growth) -> Self {
        Self { growth, ..self }
    }

    /// The same window with another size, to compute a threshold.
    #[must_use]
    pub(crate) const fn sized(self, cwnd_pkts: u32) -> Self {
        Self { cwnd_pkts, ..self }
    }

    /// Whether the window is below the threshold.
    #[inline]
    pub const fn in_slow_start(&self) -> bool {
        self.cwnd_pkts < self.ssthresh_pkts
    }

    /// Slow start for an acknowledgment of `acked_pkts` packets, up to the threshold: a packet for
    /// each of them, or one in all where growth counts acknowledgments. Returns the packets that
    /// are left for congestion avoidance: all of them where the threshold has been reached.
    #[inline]
    pub fn slow_start(&mut self, acked_pkts: u32) -> u32 {
        let steps = match self.growth {
            Growth::Packets => acked_pkts,
            Growth::Acknowledgments | Growth::Ns3 => acked_pkts.min(1),
        };
        let left = self.slow_start_by_packets(steps);
        if self.in_slow_start() {
            return 0;
        }
        left + (acked_pkts - steps)
    }

    /// As [`slow_start`](Self::slow_start), a packet for each regardless of the growth.
    #[inline]
    pub(super) fn slow_start_by_packets(&mut self, acked_pkts: u32) -> u32 {
        let target = self
            .cwnd_pkts
            .saturating_add(acked_pkts)
            .min(self.ssthresh_pkts.max(self.cwnd_pkts));
        let left = acked_pkts - (target - self.cwnd_pkts);
        self.cwnd_pkts = target;
        left
    }

    /// Ends slow start where the window is, and says why.
    pub fn leave_slow_start(&mut self, cause: SlowStartEnd) {
        self.ssthresh_pkts = self.cwnd_pkts;
        self.end_of_slow_start = Some(cause);
    }

    pub(crate) const fn end_of_slow_start(&self) -> Option<SlowStartEnd> {
        self.end_of_slow_start
    }

    /// Additive increase: one packet for every `per_pkts` packets acknowledged, or acknowledgments
    /// where growth counts those.
    #[inline]
    pub fn increase_additively(&mut self, per_pkts: u32, acked_pkts: u32) {
        let steps = match self.growth {
            Growth::Packets | Growth::Ns3 => acked_pkts,
            Growth::Acknowledgments => acked_pkts.min(1),
        };
        self.increase_by_packets(per_pkts, steps);
    }

    /// Reno's additive increase: one packet for every window. In ns-3 each acknowledgment adds
    /// `MSS² / window` whole bytes, at least one.
    #[inline]
    pub(super) fn increase_like_reno(&mut self, acked_pkts: u32, mss_bytes: u32) {
        if self.growth != Growth::Ns3 {
            self.increase_additively(self.cwnd_pkts, acked_pkts);
            return;
        }
        if acked_pkts == 0 {
            return;
        }
        let mss_bytes = u64::from(mss_bytes.max(1));
        let credit_bytes = u64::from(self.credit_bytes);
        let window_bytes = u64::from(self.cwnd_pkts) * mss_bytes + credit_bytes;
        let credit_bytes = credit_bytes + (mss_bytes * mss_bytes / window_bytes.max(1)).max(1);
        let packets = (credit_bytes / mss_bytes) as u32;
        self.cwnd_pkts = self.cwnd_pkts.saturating_add(packets);
        self.credit_bytes = (credit_bytes % mss_bytes) as u32;
    }

    /// As [`increase_additively`](Self::increase_additively), by packets regardless of the growth.
    #[inline]
    pub(super) fn increase_by_packets(&mut self, per_pkts: u32, acked_pkts: u32) {
        let per_pkts = per_pkts.max(1);
        // Credit gathered under a larger divisor is worth one packet at once.
        if self.credit_pkts >= per_pkts {
            self.credit_pkts = 0;
            self.cwnd_pkts = self.cwnd_pkts.saturating_add(1);
        }
        self.credit_pkts += acked_pkts;
        if self.credit_pkts >= per_pkts {
            let packets = self.credit_pkts / per_pkts;
            self.credit_pkts -= packets * per_pkts;
            self.cwnd_pkts = self.cwnd_pkts.saturating_add(packets);
        }
    }

    /// Forgets acknowledged packets that have not yet moved the window.
    #[inline]
    pub(crate) fn drop_credit(&mut self) {
        self.credit_pkts = 0;
        self.credit_bytes = 0;
    }
}

/// How fast the network delivered, measured over the flight of the newest segment that an
/// acknowledgment covered (draft-cheng-iccrg-delivery-rate-estimation, Linux's `tcp_rate.c`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RateSample {
    /// Packets delivered while that segment was in flight.
    pub delivered_pkts: u32,
    /// The longer of the sending and the acknowledging interval, in microseconds; 0: the sample
    /// is not valid (too short, or nothing was delivered).
    pub interval_us: u32,
    /// Packets ever delivered when that segment was sent; 0 with an invalid sample.
    pub prior_delivered_pkts: u64,
    /// Packets ever lost when that segment was sent.
    pub prior_lost_pkts: u64,
    /// Packets delivered with a congestion mark while that segment was in flight.
    pub delivered_ce_pkts: u32,
    /// Packets in flight when that segment was sent, itself included.
    pub tx_in_flight_pkts: u32,
    /// Whether the application limited the sender when that segment was sent.
    pub is_app_limited: bool,
    /// Whether that segment had been retransmitted.
    pub is_retransmitted: bool,
}

/// A packet that was marked lost.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LostPacket {
    /// Packets in flight when it was sent, itself included.
    pub tx_in_flight_pkts: u32,
    /// Packets marked lost since it was sent, itself included.
    pub lost_since_sent_pkts: u64,
    /// Whether the application limited the sender when it was sent.
    pub is_app_limited: bool,
    /// Packets ever delivered, the present acknowledgment included.
    pub delivered_pkts: u64,
}

/// What a new acknowledgment says, before losses are looked for.
#[derive(Clone, Copy, Debug, Default)]
pub struct Arrival {
    /// Bytes that it acknowledges cumulatively.
    pub acked_bytes: u64,
    /// Packets newly acknowledged or SACKed.
    pub delivered_pkts: u32,
    /// The first sequence number not acknowledged, this acknowledgment included.
    pub snd_una: u64,
    /// The next sequence number to be sent.
    pub snd_nxt: u64,
    /// Whether it echoes a congestion mark (ECE, RFC 3168).
    pub has_ece: bool,
    /// The delay of the data on its way here, in microseconds, from the timestamps; clocks need
    /// not agree, so that only differences mean something. `None` without timestamps.
    pub one_way_delay_us: Option<i64>,
    /// The smoothed RTT, in microseconds; 0 before the first sample.
    pub srtt_us: u32,
    /// Payload of a full segment, in bytes.
    pub mss_bytes: u32,
}

/// What an acknowledgment brought.
#[derive(Clone, Copy, Debug, Default)]
pub struct Ack {
    /// Packets newly acknowledged or SACKed (Linux: `acked` of `cong_avoid`).
    pub acked_pkts: u32,
    /// Packets that the cumulative acknowledgment covers now, those SACKed before included (Linux:
    /// `pkts_acked` of the sample).
    pub covered_pkts: u32,
    /// Packets in flight after the acknowledgment was processed.
    pub in_flight_pkts: u32,
    /// The first sequence number not acknowledged.
    pub snd_una: u64,
    /// The next sequence number to be sent: a round that starts now ends when it is passed.
    pub snd_nxt: u64,
    /// Whether the last flight was limited by the congestion window and not by the application
    /// or the receiver.
    pub is_cwnd_limited: bool,
    /// Packets ever delivered, this acknowledgment included.
    pub delivered_pkts: u64,
    /// Packets ever delivered with a congestion mark, this acknowledgment included.
    pub delivered_ce_pkts: u64,
    /// Packets ever marked lost.
    pub lost_pkts: u64,
    /// Packets newly marked lost by this acknowledgment.
    pub newly_lost_pkts: u32,
    /// Packets in flight before the acknowledgment was processed.
    pub prior_in_flight_pkts: u32,
    /// Whether it echoes a congestion mark (ECE).
    pub has_ece: bool,
    /// The smallest RTT of the last 300 s, in microseconds; 0 before the first sample.
    pub min_rtt_us: u32,
    /// The RTT sample of this acknowledgment, in microseconds, if there was one.
    pub rtt_us: Option<u32>,
    /// The smoothed RTT, in microseconds.
    pub srtt_us: u32,
    /// The most packets out in the last flight (Linux: `max_packets_out`).
    pub max_packets_out_pkts: u32,
    /// How long pacing holds the next segment back, in microseconds.
    pub pacing_wait_us: u32,
    /// The state of loss recovery.
    pub state: CongestionState,
    /// Payload of a full segment, in bytes.
    pub mss_bytes: u32,
    /// The delivery rate; all zero unless [`CongestionControl::needs_rate_samples`].
    pub rate: RateSample,
}

/// An RTT sample, of the newest segment acknowledged.
#[derive(Clone, Copy, Debug, Default)]
pub struct RttSample {
    /// The sample, in microseconds.
    pub rtt_us: u32,
    /// The smoothed RTT, this sample included, in microseconds.
    pub srtt_us: u32,
    /// Packets that the cumulative acknowledgment covers now, those SACKed before included.
    pub covered_pkts: u32,
    /// Packets SACKed and not cumulatively acknowledged.
    pub sacked_pkts: u32,
    /// Packets sent and not cumulatively acknowledged.
    pub packets_out_pkts: u32,
    /// The first sequence number not acknowledged.
    pub snd_una: u64,
    /// The next sequence number to be sent.
    pub snd_nxt: u64,
    /// Payload of a full segment, in bytes.
    pub mss_bytes: u32,
}

/// The law by which the window grows and shrinks.
///
/// For one acknowledgment the hooks come in this order: [`on_rtt_sample`], [`on_arrival`], then
/// the changes of state and [`ssthresh`] that loss detection brings, then [`on_ack`] unless the
/// state is CWR or Recovery, where the endpoint itself shrinks the window to the threshold. A
/// control that [owns its window] gets [`on_ack`] in every state and nothing else shrinks it.
///
/// [`on_arrival`]: Self::on_arrival
/// [owns its window]: Self::owns_window
/// [`on_rtt_sample`]: Self::on_rtt_sample
/// [`ssthresh`]: Self::ssthresh
/// [`on_ack`]: Self::on_ack
// A new hook is one of Python's too: python/backlane/congestion.py and
// crates/python/src/congestion/control.rs.
pub trait CongestionControl: Any + fmt::Debug + Send {
    /// The handshake is done and the window is the initial one. `srtt_us`: the RTT of the
    /// handshake, in microseconds; 0 if it could not be measured. `mss_bytes`: payload of a full
    /// segment, in bytes.
    fn on_established(
        &mut self,
        _now: SimTime,
        _srtt_us: u32,
        _mss_bytes: u32,
        _window: &mut Window,
    ) {
    }

    /// An RTT was measured. SACK and cumulative acknowledgment have been applied to the
    /// scoreboard; losses have not yet been looked for. The threshold may be lowered.
    fn on_rtt_sample(&mut self, _now: SimTime, _sample: &RttSample, _window: &mut Window) {}

    /// An acknowledgment that is not older than the last one arrived (Linux: `in_ack_event`). The
    /// scoreboard knows it; losses have not yet been looked for.
    fn on_arrival(&mut self, _now: SimTime, _arrival: &Arrival, _window: &mut Window) {}

    /// Data was acknowledged in state Open, Disorder or Loss: the window may grow. Everything
    /// but the window has been updated.
    fn on_ack(&mut self, now: SimTime, ack: &Ack, window: &mut Window);

    /// The threshold for a loss seen now, in packets (at least 2). Called once on entry to
    /// Recovery or Loss, before the state changes and with the window still untouched.
    fn ssthresh(&mut self, now: SimTime, window: &Window, in_flight_pkts: u32) -> u32;

    /// The same where thresholds follow from `flight_pkts`, what was in flight when the loss was
    /// found: that of a window of this size, unless the control also remembers the window.
    fn ssthresh_of_flight(
        &mut self,
        now: SimTime,
        window: &Window,
        flight_pkts: u32,
        in_flight_pkts: u32,
    ) -> u32 {
        self.ssthresh(now, &window.sized(flight_pkts), in_flight_pkts)
    }

    /// Whether [`ssthresh`](Self::ssthresh) gets the congestion window even where thresholds follow
    /// from what is in flight. Asked at each loss.
    fn reduces_window(&self) -> bool {
        false
    }

    /// Recovery or Loss begins for a loss; the threshold follows from [`ssthresh`], unless a
    /// reduction or a recovery was under way, and may be changed.
    ///
    /// [`ssthresh`]: Self::ssthresh
    fn on_loss(&mut self, _now: SimTime, _window: &mut Window) {}

    /// The window after a recovery or timeout proved needless, in packets; `prior_cwnd_pkts` is
    /// what it was before. The endpoint restores the threshold itself.
    fn undo_cwnd(&mut self, window: &Window, prior_cwnd_pkts: u32) -> u32 {
        window.cwnd_pkts.max(prior_cwnd_pkts)
    }

    /// Whether the window shall be reduced to [`ssthresh`](Self::ssthresh) as after a congestion
    /// mark. Asked once after each [`on_ack`](Self::on_ack).
    fn take_reduction(&mut self) -> bool {
        false
    }

    /// The rate at which segments may leave; `None`: as fast as the window allows.
    fn pacing_rate(&self) -> Option<Rate> {
        None
    }

    /// Whether [`Ack::rate`] is needed; asked once, when the connection is made.
    fn needs_rate_samples(&self) -> bool {
        false
    }

    /// Whether the control sets the window in CWR and Recovery too (Linux: `cong_control`).
    /// Asked once, when the connection is made.
    fn owns_window(&self) -> bool {
        false
    }

    /// The state is about to become `state`; entering Loss, the window has not yet been cut.
    fn on_state_change(&mut self, _now: SimTime, _state: CongestionState, _snd_nxt: u64) {}

    /// A packet was marked lost, by an acknowledgment or a timer; before the other hooks that
    /// follow from the loss, but for [`ssthresh`](Self::ssthresh) and the change of state. Only
    /// for controls that need rate samples.
    fn on_packet_lost(&mut self, _now: SimTime, _lost: &LostPacket, _window: &Window) {}

    /// The retransmission timer expired: what was outstanding is marked lost, in all
    /// `lost_pkts` packets were ever. After [`ssthresh`](Self::ssthresh) and before the change of
    /// state, if the timeout brings them, and before the window is cut.
    fn on_timeout(&mut self, _now: SimTime, _lost_pkts: u64) {}

    /// Recovery is over and the window stands at the threshold; the state is still Recovery.
    fn on_recovery_exit(&mut self, _now: SimTime, _window: &mut Window) {}

    /// The sender was idle for longer than the timeout and the window is about to be shrunk
    /// (Linux: `CA_EVENT_CWND_RESTART`).
    fn on_idle_restart(&mut self, _now: SimTime, _snd_nxt: u64, _window: &Window) {}

    /// Transmission starts with nothing in flight, `idle` after the last segment was sent. The
    /// window has already been shrunk if the idle time exceeded the timeout.
    fn on_transmit_start(&mut self, _now: SimTime, _idle: Duration, _snd_nxt: u64) {}

    /// As [`on_transmit_start`](Self::on_transmit_start), and before that meanwhile the
    /// application had nothing to send. Only for controls that need rate samples.
    fn on_restart(&mut self, _now: SimTime, _window: &mut Window) {}

    /// Whether the control itself keeps the flow below what the path may carry, so that samples
    /// of what is sent now count as limited by the application. Asked after each
    /// [`on_ack`](Self::on_ack) of controls that need rate samples.
    fn holds_back(&self) -> bool {
        false
    }
}

impl dyn CongestionControl {
    /// The control as the type `C`; `None`: it is another one.
    pub fn downcast_ref<C: CongestionControl>(&self) -> Option<&C> {
        (self as &dyn Any).downcast_ref()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slow_start_stops_at_the_threshold_and_returns_the_rest() {
        let mut window = Window::new(10, 12);
        assert_eq!(window.slow_start(5), 3);
        assert_eq!(window.cwnd_pkts, 12);
        window.cwnd_pkts = 20;
        assert_eq!(window.slow_start(5), 5);
        assert_eq!(window.cwnd_pkts, 20);
    }

    /// Acknowledgments of two packets: 1.5 windows a round in slow start, half a packet a round
    /// above, where each counts once.
    #[test]
    fn growth_by_acknowledgments_takes_one_step_for_two_packets() {
        let mut window = Window::new(10, 100).growing_by(Growth::Acknowledgments);
        for _ in 0..5 {
            assert_eq!(window.slow_start(2), 0);
        }
        assert_eq!(window.cwnd_pkts, 15);
        let mut window = Window::new(10, 10).growing_by(Growth::Acknowledgments);
        for _ in 0..9 {
            window.increase_like_reno(2, 1448);
        }
        assert_eq!(window.cwnd_pkts, 10);
        window.increase_like_reno(2, 1448);
        assert_eq!(window.cwnd_pkts, 11);
    }

    /// 1448² / (100 · 1448) = 14.48: 14 bytes for each acknowledgment, as the window grows by less
    /// than a segment; 1448 / 14 = 103.4.
    #[test]
    fn in_ns3_an_acknowledgment_adds_whole_bytes() {
        let mut window = Window::new(100, 100).growing_by(Growth::Ns3);
        for _ in 0..103 {
            window.increase_like_reno(2, 1448);
        }
        assert_eq!(window.cwnd_pkts, 100);
        window.increase_like_reno(2, 1448);
        assert_eq!(window.cwnd_pkts, 101);
        // Of a megabyte and a half and more, 1448² / window is below two bytes.
        let mut window = Window::new(1400, 1400).growing_by(Growth::Ns3);
        for _ in 0..1447 {
            window.increase_like_reno(2, 1448);
        }
        assert_eq!(window.cwnd_pkts, 1400);
        window.increase_like_reno(2, 1448);
        assert_eq!(window.cwnd_pkts, 1401);
    }

    /// One below the threshold, an acknowledgment of two takes one step and leaves one packet.
    #[test]
    fn in_ns3_slow_start_leaves_the_rest_at_the_threshold() {
        let mut window = Window::new(99, 100).growing_by(Growth::Ns3);
        assert_eq!(window.slow_start(2), 1);
        assert_eq!(window.cwnd_pkts, 100);
    }

    #[test]
    fn additive_increase_counts_packets_over_many_acks() {
        let mut window = Window::new(10, 5);
        for _ in 0..9 {
            window.increase_additively(10, 1);
        }
        assert_eq!(window.cwnd_pkts, 10);
        window.increase_additively(10, 1);
        assert_eq!(window.cwnd_pkts, 11);
    }
}
