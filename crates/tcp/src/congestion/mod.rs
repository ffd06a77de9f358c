//! Congestion controls: one file each, behind a small trait.
//!
//! The endpoint owns the [`Window`] and lends it to the hooks; recovery (which segment is lost,
//! how fast the window shrinks) is not the congestion control's business. Windows are counted
//! in packets, as Linux counts them. A control's config type is its factory: add the file, a
//! variant of [`CongestionControlConfig`] and its name, and it can be selected everywhere.

use std::fmt;
use std::str::FromStr;

use backlane_units::{Duration, SimTime};

use crate::recovery::CongestionState;

pub mod cubic;
mod hystart;
pub mod reno;
pub mod vegas;

pub use hystart::HyStart;

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
    credit_pkts: u32,
}

impl Window {
    /// A window of `cwnd_pkts` packets.
    pub const fn new(cwnd_pkts: u32, ssthresh_pkts: u32) -> Self {
        Self {
            cwnd_pkts,
            ssthresh_pkts,
            credit_pkts: 0,
        }
    }

    /// Whether the window is below the threshold.
    #[inline]
    pub const fn in_slow_start(&self) -> bool {
        self.cwnd_pkts < self.ssthresh_pkts
    }

    /// Slow start for `acked_pkts` packets, by packets and not by acknowledgments, up to the
    /// threshold. Returns the packets that are left for congestion avoidance.
    #[inline]
    pub fn slow_start(&mut self, acked_pkts: u32) -> u32 {
        let target = self
            .cwnd_pkts
            .saturating_add(acked_pkts)
            .min(self.ssthresh_pkts);
        let left = acked_pkts - (target - self.cwnd_pkts);
        self.cwnd_pkts = target;
        left
    }

    /// Additive increase: one packet for every `per_pkts` packets acknowledged.
    #[inline]
    pub fn increase_additively(&mut self, per_pkts: u32, acked_pkts: u32) {
        let per_pkts = per_pkts.max(1);
        // Credit gathered under a larger divisor is worth one packet at once.
        if self.credit_pkts >= per_pkts {
            self.credit_pkts = 0;
            self.cwnd_pkts += 1;
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
    }
}

/// What an acknowledgment brought.
#[derive(Clone, Copy, Debug)]
pub struct Ack {
    /// Packets newly acknowledged or SACKed.
    pub acked_pkts: u32,
    /// Packets in flight after the acknowledgment was processed.
    pub in_flight_pkts: u32,
    /// The first sequence number not acknowledged.
    pub snd_una: u64,
    /// The next sequence number to be sent: a round that starts now ends when it is passed.
    pub snd_nxt: u64,
    /// Whether the last flight was limited by the congestion window and not by the application
    /// or the receiver.
    pub is_cwnd_limited: bool,
}

/// An RTT sample, of the newest segment acknowledged.
#[derive(Clone, Copy, Debug)]
pub struct RttSample {
    /// The sample, in microseconds.
    pub rtt_us: u32,
    /// The smoothed RTT, this sample included, in microseconds.
    pub srtt_us: u32,
    /// Packets newly acknowledged or SACKed.
    pub acked_pkts: u32,
    /// Packets sent and not cumulatively acknowledged.
    pub packets_out_pkts: u32,
    /// The first sequence number not acknowledged.
    pub snd_una: u64,
    /// The next sequence number to be sent.
    pub snd_nxt: u64,
    /// Payload of a full segment, in bytes.
    pub mss_bytes: u32,
}

/// What a congestion control can tell about itself.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum ControlReadings {
    /// Nothing beyond the window.
    None,
    /// See [`cubic::Readings`].
    Cubic(cubic::Readings),
    /// See [`vegas::Readings`].
    Vegas(vegas::Readings),
}

/// The law by which the window grows and shrinks.
///
/// For one acknowledgment the hooks come in this order: [`on_rtt_sample`], then the changes of
/// state and [`ssthresh`] that loss detection brings, then [`on_ack`] unless the state is CWR
/// or Recovery, where the endpoint itself shrinks the window to the threshold.
///
/// [`on_rtt_sample`]: Self::on_rtt_sample
/// [`ssthresh`]: Self::ssthresh
/// [`on_ack`]: Self::on_ack
pub trait CongestionControl: fmt::Debug + Send {
    /// An RTT was measured. SACK and cumulative acknowledgment have been applied to the
    /// scoreboard; losses have not yet been looked for. The threshold may be lowered.
    fn on_rtt_sample(&mut self, _now: SimTime, _sample: &RttSample, _window: &mut Window) {}

    /// Data was acknowledged in state Open, Disorder or Loss: the window may grow. Everything
    /// but the window has been updated.
    fn on_ack(&mut self, now: SimTime, ack: &Ack, window: &mut Window);

    /// The threshold for a loss seen now, in packets (at least 2). Called once on entry to
    /// Recovery or Loss, before the state changes and with the window still untouched.
    fn ssthresh(&mut self, now: SimTime, window: &Window, in_flight_pkts: u32) -> u32;

    /// The state is about to become `state`; entering Loss, the window has not yet been cut.
    fn on_state_change(&mut self, _now: SimTime, _state: CongestionState, _snd_nxt: u64) {}

    /// Recovery is over and the window stands at the threshold; the state is still Recovery.
    fn on_recovery_exit(&mut self, _now: SimTime, _window: &mut Window) {}

    /// Transmission starts with nothing in flight, `idle` after the last segment was sent. The
    /// window has already been shrunk if the idle time exceeded the timeout.
    fn on_transmit_start(&mut self, _now: SimTime, _idle: Duration, _snd_nxt: u64) {}

    /// The state of the control, for probes.
    fn readings(&self) -> ControlReadings {
        ControlReadings::None
    }
}

/// A congestion control by name, with its parameters.
#[derive(Clone, Debug, PartialEq)]
pub enum CongestionControlConfig {
    /// Reno's window law (RFC 5681) by packets.
    Reno(reno::Config),
    /// CUBIC (RFC 9438).
    Cubic(cubic::Config),
    /// Vegas.
    Vegas(vegas::Config),
}

impl CongestionControlConfig {
    /// The names that [`FromStr`] understands.
    pub const NAMES: &[&str] = &["reno", "cubic", "vegas"];

    /// The name, as Linux has it.
    pub const fn name(&self) -> &'static str {
        match self {
            Self::Reno(_) => "reno",
            Self::Cubic(_) => "cubic",
            Self::Vegas(_) => "vegas",
        }
    }

    /// A fresh control for one connection.
    pub fn build(&self) -> Box<dyn CongestionControl> {
        match self {
            Self::Reno(config) => Box::new(reno::Reno::new(config)),
            Self::Cubic(config) => Box::new(cubic::Cubic::new(config)),
            Self::Vegas(config) => Box::new(vegas::Vegas::new(config)),
        }
    }
}

impl Default for CongestionControlConfig {
    fn default() -> Self {
        Self::Cubic(cubic::Config::default())
    }
}

/// A name that is no congestion control.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnknownCongestionControl {
    /// The name as given.
    pub name: String,
}

impl fmt::Display for UnknownCongestionControl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "unknown congestion control \"{}\"; choose one of {}",
            self.name,
            CongestionControlConfig::NAMES.join(", ")
        )
    }
}

impl std::error::Error for UnknownCongestionControl {}

impl FromStr for CongestionControlConfig {
    type Err = UnknownCongestionControl;

    fn from_str(name: &str) -> Result<Self, Self::Err> {
        match name {
            "reno" => Ok(Self::Reno(reno::Config::default())),
            "cubic" => Ok(Self::Cubic(cubic::Config::default())),
            "vegas" => Ok(Self::Vegas(vegas::Config::default())),
            _ => Err(UnknownCongestionControl {
                name: name.to_owned(),
            }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_name_is_understood_and_given_back() {
        for name in CongestionControlConfig::NAMES {
            let config: CongestionControlConfig = name.parse().unwrap();
            assert_eq!(config.name(), *name);
        }
    }

    #[test]
    fn an_unknown_name_lists_the_known_ones() {
        let error = "renno".parse::<CongestionControlConfig>().unwrap_err();
        assert_eq!(
            error.to_string(),
            "unknown congestion control \"renno\"; choose one of reno, cubic, vegas"
        );
    }

    #[test]
    fn slow_start_stops_at_the_threshold_and_returns_the_rest() {
        let mut window = Window::new(10, 12);
        assert_eq!(window.slow_start(5), 3);
        assert_eq!(window.cwnd_pkts, 12);
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
