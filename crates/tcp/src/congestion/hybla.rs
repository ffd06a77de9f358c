//! Hybla (Caini and Firrincieli, "TCP Hybla: a TCP enhancement for heterogeneous networks",
//! 2004): a flow of a long RTT grows as fast as one of the reference RTT would.
//!
//! ρ = RTT/reference, at least 1: slow start adds 2^ρ − 1 per acknowledgment, congestion avoidance
//! ρ²/w. As Linux has it, in eighths and 128ths, per acknowledgment and not per packet, and
//! starting from ρ packets instead of the initial window; ns-3 does otherwise in the last two.

use backlane_param::params;
use backlane_units::{Duration, SimTime};

use super::factory::Factory;
use super::{Ack, CongestionControl, Window, reno};
use crate::recovery::CongestionState;
use crate::stack::Stack;

params! {
    /// Hybla (Caini and Firrincieli 2004).
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub struct Config {
        /// The RTT at which it is Reno.
        ///
        /// 25 ms (Caini and Firrincieli 2004; Linux). No range is published; a second is about the
        /// RTT of two satellite hops, with which ρ is 1 on nearly every path.
        reference_rtt: Duration = Duration::from_millis(25),
            in Duration::from_millis(1)..=Duration::from_secs(1);
        /// Whether congestion avoidance counts packets acknowledged, as in ns-3, and not
        /// acknowledgements, as in Linux.
        per_packet: bool = false;
        /// Whether the window starts at ρ packets, as in Linux, and not at the initial window.
        starts_from_rho: bool = true;
    }
}

impl Config {
    /// As ns-3 has it.
    pub const fn ns3() -> Self {
        Self {
            reference_rtt: Duration::from_millis(50),
            per_packet: true,
            starts_from_rho: false,
        }
    }
}

impl Factory for Config {
    const NAME: &'static str = "hybla";

    fn build(&self, _random_seed: u64) -> Box<dyn CongestionControl> {
        Box::new(Hybla::new(self))
    }

    fn of(self, stack: Stack) -> Self {
        match stack {
            Stack::Ns3 | Stack::Ns3Of2016 => Self::ns3(),
            Stack::Linux | Stack::Linux44 | Stack::Linux26 => self,
        }
    }
}

/// Linux bounds the window to 16 bits.
const MAX_WINDOW_PKTS: u32 = 65_535;
/// 2^(i/8) in 128ths.
const EXP2_128: [u32; 8] = [128, 139, 152, 165, 181, 197, 215, 234];
/// 2^ρ is not computed beyond this ρ; one acknowledgment then fills the whole window.
const MAX_EXPONENT: u32 = 17;

/// Hybla's state for one connection.
#[derive(Clone, Copy, Debug)]
pub struct Hybla {
    config: Config,
    /// Only in state Open; otherwise it is Reno.
    enabled: bool,
    rho_8: u32,
    min_srtt_us: u32,
    /// Growth that is not yet a packet, in 128ths.
    fraction_128: u32,
}

impl Hybla {
    /// A Hybla control.
    pub const fn new(config: &Config) -> Self {
        Self {
            config: *config,
            enabled: true,
            rho_8: 8,
            min_srtt_us: u32::MAX,
            fraction_128: 0,
        }
    }

    fn take_rtt(&mut self, srtt_us: u32) {
        if srtt_us < self.min_srtt_us {
            self.min_srtt_us = srtt_us;
            let reference_us = self.config.reference_rtt.as_micros();
            self.rho_8 = ((u64::from(srtt_us) * 8 / reference_us) as u32).max(8);
        }
    }

    /// What an acknowledgment of `acked_pkts` packets counts in congestion avoidance.
    fn times(&self, acked_pkts: u32) -> u32 {
        if self.config.per_packet {
            acked_pkts
        } else {
            1
        }
    }

    /// Growth for an acknowledgment of `acked_pkts` packets, in 128ths of a packet.
    fn growth_128(&self, window: &Window, acked_pkts: u32) -> u32 {
        if window.in_slow_start() {
            let exponent = (self.rho_8 / 8).min(MAX_EXPONENT);
            (EXP2_128[self.rho_8 as usize % 8] << exponent) - 128
        } else {
            let rho_squared_128 = u64::from(self.rho_8) * u64::from(self.rho_8) * 2;
            let times = u64::from(self.times(acked_pkts));
            u32::try_from(times * rho_squared_128 / u64::from(window.cwnd_pkts)).unwrap_or(u32::MAX)
        }
    }
}

impl CongestionControl for Hybla {
    fn on_established(
        &mut self,
        _now: SimTime,
        srtt_us: u32,
        _mss_bytes: u32,
        window: &mut Window,
    ) {
        if srtt_us != 0 {
            self.take_rtt(srtt_us);
        }
        if self.config.starts_from_rho {
            window.cwnd_pkts = (self.rho_8 / 8).min(MAX_WINDOW_PKTS);
        }
    }

    fn on_ack(&mut self, _now: SimTime, ack: &Ack, window: &mut Window) {
        if ack.srtt_us != 0 {
            self.take_rtt(ack.srtt_us);
        }
        if !ack.is_cwnd_limited {
            return;
        }
        if !self.enabled {
            reno::grow(window, ack.acked_pkts, ack.mss_bytes);
            return;
        }
        let growth_128 = self.growth_128(window, ack.acked_pkts);
        let limit_pkts = if window.in_slow_start() {
            window.ssthresh_pkts.min(MAX_WINDOW_PKTS)
        } else {
            MAX_WINDOW_PKTS
        };
        self.fraction_128 += growth_128 % 128;
        let mut packets = growth_128 / 128 + self.fraction_128 / 128;
        if self.fraction_128 >= 128 {
            window.credit_pkts = 0;
        }
        self.fraction_128 %= 128;
        // A growth below a 128th is no growth: Linux falls back to a packet per round.
        if !window.in_slow_start() && growth_128 < 128 {
            window.credit_pkts += self.times(ack.acked_pkts);
            if growth_128 == 0 && window.credit_pkts >= window.cwnd_pkts {
                window.credit_pkts = 0;
                packets += 1;
            }
        }
        window.cwnd_pkts = window.cwnd_pkts.saturating_add(packets).min(limit_pkts);
    }

    fn ssthresh(&mut self, _now: SimTime, window: &Window, _in_flight_pkts: u32) -> u32 {
        reno::half(window)
    }

    fn on_state_change(&mut self, _now: SimTime, state: CongestionState, _snd_nxt: u64) {
        self.enabled = state == CongestionState::Open;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn established(srtt_us: u32) -> (Hybla, Window) {
        let mut hybla = Hybla::new(&Config::default());
        let mut window = Window::new(10, u32::MAX);
        hybla.on_established(SimTime::ZERO, srtt_us, 1000, &mut window);
        (hybla, window)
    }

    fn ack() -> Ack {
        Ack {
            acked_pkts: 1,
            is_cwnd_limited: true,
            ..Ack::default()
        }
    }

    #[test]
    fn it_starts_from_rho_packets() {
        assert_eq!(established(100_000).1.cwnd_pkts, 4);
        assert_eq!(established(40_010).1.cwnd_pkts, 1);
        assert_eq!(established(1_000).1.cwnd_pkts, 1);
    }

    #[test]
    fn at_the_reference_rtt_slow_start_is_reno_s() {
        let (mut hybla, mut window) = established(25_000);
        for _ in 0..20 {
            hybla.on_ack(SimTime::ZERO, &ack(), &mut window);
        }
        assert_eq!(window.cwnd_pkts, 21);
    }

    #[test]
    fn at_four_times_the_reference_slow_start_adds_fifteen_per_acknowledgment() {
        let (mut hybla, mut window) = established(100_000);
        hybla.on_ack(SimTime::ZERO, &ack(), &mut window);
        assert_eq!(window.cwnd_pkts, 19);
    }

    #[test]
    fn fractions_of_rho_are_in_eighths() {
        // 40 ms: ρ = 1.6, of which 12/8 are counted; 2^1.5 − 1 = 1.828 packets, 234 128ths.
        let (hybla, window) = established(40_000);
        assert_eq!(hybla.growth_128(&window, 1), 2 * 181 - 128);
    }

    /// The rate of growth, in packets per second squared.
    fn growth_of_rate(srtt_us: u32, window_pkts: u32) -> f64 {
        let (hybla, _) = established(srtt_us);
        let per_round =
            f64::from(hybla.growth_128(&Window::new(window_pkts, 2), 1) * window_pkts) / 128.0;
        let rtt_s = f64::from(srtt_us) * 1e-6;
        per_round / (rtt_s * rtt_s)
    }

    #[test]
    fn in_congestion_avoidance_the_rate_grows_as_fast_at_any_rtt() {
        // ρ² packets per round at ρ times the reference RTT: the same 1600 packets/s².
        assert!((growth_of_rate(25_000, 32) - 1600.0).abs() < 1e-6);
        assert!((growth_of_rate(100_000, 128) - 1600.0).abs() < 1e-6);
    }

    #[test]
    fn a_window_too_large_for_128ths_grows_by_a_packet_per_round() {
        let (mut hybla, _) = established(25_000);
        let mut window = Window::new(1000, 2);
        for _ in 0..1000 {
            assert_eq!(window.cwnd_pkts, 1000);
            hybla.on_ack(SimTime::ZERO, &ack(), &mut window);
        }
        assert_eq!(window.cwnd_pkts, 1001);
    }

    /// Packets gained in a round of 400 packets, two to an acknowledgment, with ρ = 4.
    fn gain(per_packet: bool) -> u32 {
        let mut hybla = Hybla::new(&Config {
            per_packet,
            ..Config::default()
        });
        hybla.take_rtt(100_000);
        let mut window = Window::new(400, 2);
        for _ in 0..200 {
            let ack = Ack {
                acked_pkts: 2,
                ..ack()
            };
            hybla.on_ack(SimTime::ZERO, &ack, &mut window);
        }
        window.cwnd_pkts - 400
    }

    #[test]
    fn delayed_acknowledgments_halve_the_growth_unless_packets_are_counted() {
        // ρ² = 16 packets per round; 5/128 for each acknowledgment, 10/128 for each two packets.
        assert_eq!((gain(false), gain(true)), (7, 15));
    }

    #[test]
    fn as_in_ns3_it_starts_from_the_initial_window_with_half_the_rho() {
        let mut hybla = Hybla::new(&Config::ns3());
        let mut window = Window::new(10, u32::MAX);
        hybla.on_established(SimTime::ZERO, 100_000, 1448, &mut window);
        assert_eq!((window.cwnd_pkts, hybla.rho_8), (10, 16));
    }

    #[test]
    fn only_a_smaller_rtt_changes_rho() {
        let (mut hybla, mut window) = established(100_000);
        for (srtt_us, rho_8) in [(200_000, 32), (75_000, 24), (80_000, 24)] {
            hybla.on_ack(SimTime::ZERO, &Ack { srtt_us, ..ack() }, &mut window);
            assert_eq!(hybla.rho_8, rho_8);
        }
    }

    #[test]
    fn slow_start_stops_at_the_threshold() {
        let (mut hybla, mut window) = established(100_000);
        window.ssthresh_pkts = 10;
        hybla.on_ack(SimTime::ZERO, &ack(), &mut window);
        assert_eq!(window.cwnd_pkts, 10);
    }

    #[test]
    fn outside_open_it_is_reno() {
        let (mut hybla, mut window) = established(100_000);
        hybla.on_state_change(SimTime::ZERO, CongestionState::Disorder, 0);
        hybla.on_ack(SimTime::ZERO, &ack(), &mut window);
        assert_eq!(window.cwnd_pkts, 5);
    }

    #[test]
    fn an_rtt_of_an_hour_overflows_nothing() {
        let (mut hybla, mut window) = established(3_600_000_000);
        hybla.on_ack(SimTime::ZERO, &ack(), &mut window);
        assert_eq!(window.cwnd_pkts, MAX_WINDOW_PKTS);
        window.ssthresh_pkts = 2;
        hybla.on_ack(SimTime::ZERO, &ack(), &mut window);
    }
}
