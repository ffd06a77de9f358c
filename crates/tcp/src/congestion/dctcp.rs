//! DCTCP: cuts the window by half the share of packets that were marked (RFC 8257), as in Linux.
//!
//! It needs a receiver that echoes each mark ([`Ecn::Exact`](crate::Ecn::Exact)) and a queue that
//! marks above a threshold. Growth is Reno's, and a loss costs half, so that without marks it is
//! Reno: Linux falls back to Reno where ECN was not agreed.

use backlane_param::params;
use backlane_units::SimTime;

use super::factory::Factory;
use super::{Ack, Arrival, CongestionControl, Window, reno};

params! {
    /// DCTCP (RFC 8257).
    #[derive(Clone, Copy, Debug, PartialEq)]
    pub struct Config {
        /// The weight of a new round trip in α, as the power of one half: 1/16.
        ///
        /// Linux: `dctcp_shift_g`, 0 to 10. RFC 8257 and Alizadeh et al. 2010 have g = 1/16.
        gain_shift: u32 = 4, in 0..=10;
        /// α before the first round trip (RFC 8257 §3.3), in steps of 1/1024.
        initial_alpha: f64 = 1.0, in 0.0..=1.0;
    }
}

impl Factory for Config {
    const NAME: &'static str = "dctcp";

    fn build(&self, _random_seed: u64) -> Box<dyn CongestionControl> {
        Box::new(Dctcp::new(self))
    }
}

/// An α of one.
const ONE: u32 = 1024;

/// DCTCP's state for one connection.
#[derive(Clone, Debug)]
pub struct Dctcp {
    config: Config,
    alpha_1024: u32,
    round_end_seq: u64,
    delivered_pkts: u32,
    marked_pkts: u32,
}

impl Dctcp {
    /// A DCTCP control.
    pub fn new(config: &Config) -> Self {
        Self {
            config: *config,
            alpha_1024: ((config.initial_alpha * f64::from(ONE)) as u32).min(ONE),
            round_end_seq: 0,
            delivered_pkts: 0,
            marked_pkts: 0,
        }
    }

    /// The smoothed share of packets that were marked: α.
    pub fn alpha(&self) -> f64 {
        f64::from(self.alpha_1024) / f64::from(ONE)
    }

    /// RFC 8257 §3.3: α = (1 − g)·α + g·M, with M the share marked in the round that ends.
    fn end_round(&mut self) {
        // A decrease that rounds to nothing takes all of it, so that α can reach zero.
        let decrease = match self.alpha_1024 >> self.config.gain_shift {
            0 => self.alpha_1024,
            decrease => decrease,
        };
        let marked = u64::from(self.marked_pkts) * u64::from(ONE >> self.config.gain_shift);
        let increase = marked / u64::from(self.delivered_pkts.max(1));
        self.alpha_1024 = (self.alpha_1024 - decrease + increase as u32).min(ONE);
        self.delivered_pkts = 0;
        self.marked_pkts = 0;
    }
}

impl CongestionControl for Dctcp {
    /// As in Linux, the acknowledgment that ends a round counts for the next one.
    fn on_arrival(&mut self, _now: SimTime, arrival: &Arrival, _window: &mut Window) {
        if arrival.snd_una >= self.round_end_seq {
            self.end_round();
            self.round_end_seq = arrival.snd_nxt;
        }
        self.delivered_pkts += arrival.delivered_pkts;
        if arrival.has_ece {
            self.marked_pkts += arrival.delivered_pkts;
        }
    }

    fn on_ack(&mut self, _now: SimTime, ack: &Ack, window: &mut Window) {
        if ack.is_cwnd_limited {
            reno::grow(window, ack.acked_pkts, ack.mss_bytes);
        }
    }

    /// RFC 8257 §3.3: w·(1 − α/2).
    fn ssthresh(&mut self, _now: SimTime, window: &Window, _in_flight_pkts: u32) -> u32 {
        let window_pkts = window.cwnd_pkts;
        let cut = u64::from(window_pkts) * u64::from(self.alpha_1024) / u64::from(2 * ONE);
        (window_pkts - cut as u32).max(2)
    }

    /// RFC 8257 §3.5: a loss is answered as by Reno.
    fn on_loss(&mut self, _now: SimTime, window: &mut Window) {
        window.ssthresh_pkts = reno::half(window);
    }
}

#[cfg(test)]
mod tests {
    use super::super::fixture::ack;
    use super::*;

    /// Rounds of 100 packets of which the first `marked` are marked each time.
    fn rounds(dctcp: &mut Dctcp, count: u64, marked: u32) {
        let mut window = Window::new(100, 50);
        for _ in 0..count {
            let start = dctcp.round_end_seq;
            for i in 0..100 {
                let arrival = Arrival {
                    delivered_pkts: 1,
                    snd_una: start + u64::from(i),
                    snd_nxt: start + 100,
                    has_ece: i < marked,
                    ..Arrival::default()
                };
                dctcp.on_arrival(SimTime::ZERO, &arrival, &mut window);
            }
        }
    }

    #[test]
    fn alpha_is_one_at_first_and_forgets_a_sixteenth_in_each_round() {
        let mut dctcp = Dctcp::new(&Config::default());
        assert_eq!(dctcp.alpha_1024, 1024);
        rounds(&mut dctcp, 1, 0); // Ends a round in which nothing was delivered.
        assert_eq!(dctcp.alpha_1024, 960);
        rounds(&mut dctcp, 1, 0);
        assert_eq!(dctcp.alpha_1024, 900);
    }

    #[test]
    fn alpha_converges_to_the_share_that_is_marked() {
        for marked in [10, 25, 50, 100] {
            let mut dctcp = Dctcp::new(&Config::default());
            rounds(&mut dctcp, 200, marked);
            // Rounding down loses up to one 64th of 1024, sixteen times over.
            let error = dctcp.alpha() - f64::from(marked) / 100.0;
            assert!((-0.016..=0.016).contains(&error), "{marked}: {error}");
        }
    }

    #[test]
    fn alpha_reaches_zero_without_marks() {
        let mut dctcp = Dctcp::new(&Config::default());
        rounds(&mut dctcp, 100, 0);
        assert_eq!(dctcp.alpha_1024, 0);
        let window = Window::new(100, 50);
        assert_eq!(dctcp.ssthresh(SimTime::ZERO, &window, 100), 100);
    }

    #[test]
    fn a_round_lasts_until_what_was_sent_at_its_start_is_acknowledged() {
        let mut dctcp = Dctcp::new(&Config::default());
        let mut window = Window::new(100, 50);
        for (snd_una, alpha_1024) in [(1, 960), (50, 960), (199, 960), (200, 900), (201, 900)] {
            let arrival = Arrival {
                delivered_pkts: 1,
                snd_una,
                snd_nxt: snd_una + 199,
                ..Arrival::default()
            };
            dctcp.on_arrival(SimTime::ZERO, &arrival, &mut window);
            assert_eq!(dctcp.alpha_1024, alpha_1024, "{snd_una}");
        }
    }

    #[test]
    fn a_mark_costs_half_of_alpha_and_a_loss_costs_half() {
        let mut dctcp = Dctcp::new(&Config::default());
        let mut window = Window::new(100, 50);
        for (alpha_1024, left) in [(1024, 50), (512, 75), (102, 96), (0, 100)] {
            dctcp.alpha_1024 = alpha_1024;
            assert_eq!(dctcp.ssthresh(SimTime::ZERO, &window, 100), left);
        }
        dctcp.on_loss(SimTime::ZERO, &mut window);
        assert_eq!((window.cwnd_pkts, window.ssthresh_pkts), (100, 50));
        let mut least = Window::new(2, 50);
        dctcp.alpha_1024 = 1024;
        assert_eq!(dctcp.ssthresh(SimTime::ZERO, &least, 2), 2);
        dctcp.on_loss(SimTime::ZERO, &mut least);
        assert_eq!(least.ssthresh_pkts, 2);
    }

    /// Alizadeh et al. 2010: one flow over a queue that marks from a window of W on, growing
    /// by a packet per RTT and cut at once, has α ≈ √(2/W): what is sent in the RTT before the cut
    /// is marked, one RTT of each W·α/2. Within a cycle α falls until it is used, so that it is
    /// the mean of α times α at the cut that is 2/W.
    #[test]
    fn alpha_of_a_lone_flow_that_is_cut_at_once_follows_the_square_root_law() {
        // A cut of 6 packets is rounded down by up to one, and the 1024ths of α weigh the more the
        // smaller it is; α is as the root of either.
        for limit_pkts in [64, 256] {
            let mut dctcp = Dctcp::new(&Config::default());
            let mut window = Window::new(limit_pkts, limit_pkts);
            let (mut was_marked, mut alpha_sum) = (false, 0.0);
            let (mut cuts, mut cut_alpha_sum) = (0, 0.0);
            for round in 0..5000 {
                let start = dctcp.round_end_seq;
                let sent_pkts = window.cwnd_pkts;
                for i in 0..sent_pkts {
                    let arrival = Arrival {
                        delivered_pkts: 1,
                        snd_una: start + u64::from(i),
                        snd_nxt: start + u64::from(sent_pkts),
                        has_ece: was_marked,
                        ..Arrival::default()
                    };
                    dctcp.on_arrival(SimTime::ZERO, &arrival, &mut window);
                    if was_marked && i == 0 {
                        window.cwnd_pkts = dctcp.ssthresh(SimTime::ZERO, &window, sent_pkts);
                        if round >= 1000 {
                            cuts += 1;
                            cut_alpha_sum += dctcp.alpha();
                        }
                    }
                }
                window.cwnd_pkts += 1;
                was_marked = !was_marked && window.cwnd_pkts > limit_pkts;
                if round >= 1000 {
                    alpha_sum += dctcp.alpha() / 4000.0;
                }
            }
            let law = (2.0 / f64::from(limit_pkts)).sqrt();
            let alpha = (alpha_sum * cut_alpha_sum / f64::from(cuts)).sqrt();
            let error = alpha / law - 1.0;
            assert!(error.abs() < 0.1, "{limit_pkts}: {alpha}, law {law}");
        }
    }

    #[test]
    fn it_grows_like_reno() {
        let mut dctcp = Dctcp::new(&Config::default());
        let mut window = Window::new(20, 20);
        for _ in 0..10 {
            dctcp.on_ack(SimTime::ZERO, &ack(2), &mut window);
        }
        assert_eq!(window.cwnd_pkts, 21);
    }

    /// RFC 8257 §3.3: M is of bytes, so that an acknowledgment counts for all that it covers. Ten
    /// marked ones cover 30 of 100 packets, seventy others the rest.
    #[test]
    fn a_marked_acknowledgment_counts_for_what_it_covers() {
        let mut dctcp = Dctcp::new(&Config::default());
        let mut window = Window::new(100, 50);
        for _ in 0..200 {
            let start = dctcp.round_end_seq;
            let mut snd_una = start;
            for i in 0..80 {
                let delivered_pkts = if i < 10 { 3 } else { 1 };
                let arrival = Arrival {
                    delivered_pkts,
                    snd_una,
                    snd_nxt: start + 100,
                    has_ece: i < 10,
                    ..Arrival::default()
                };
                dctcp.on_arrival(SimTime::ZERO, &arrival, &mut window);
                snd_una += u64::from(delivered_pkts);
            }
        }
        let error = dctcp.alpha() - 0.3;
        assert!((-0.016..=0.016).contains(&error), "{error}");
    }
}
