//! HighSpeed TCP (RFC 3649): the larger the window, the faster it grows and the less a loss costs.
//!
//! The response function is tabulated as in RFC 3649, appendix B, with the decrease in 256ths.
//! Growth is counted per acknowledgment and not per packet acknowledged, as in Linux, so that
//! delayed acknowledgments halve it.

use backlane_param::params;
use backlane_units::SimTime;

use super::factory::Factory;
use super::{Ack, CongestionControl, Window};
use crate::stack::Stack;

params! {
    /// HighSpeed TCP (RFC 3649).
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub struct Config {
        /// Whether growth counts packets acknowledged, as in ns-3, and not acknowledgements, as in
        /// Linux.
        per_packet: bool = false;
        /// Whether the share that a loss costs is that of the window at the loss, as in ns-3, and
        /// not that of the last growth, as in Linux.
        looks_up_at_loss: bool = false;
    }
}

impl Config {
    /// As ns-3 has it.
    pub const fn ns3() -> Self {
        Self {
            per_packet: true,
            looks_up_at_loss: true,
        }
    }
}

impl Factory for Config {
    const NAME: &'static str = "highspeed";

    fn build(&self, _random_seed: u64) -> Box<dyn CongestionControl> {
        Box::new(HighSpeed::new(self))
    }

    fn of(self, stack: Stack) -> Self {
        match stack {
            Stack::Ns3 | Stack::Ns3Of2016 => Self::ns3(),
            Stack::Linux | Stack::Linux44 | Stack::Linux26 => self,
        }
    }
}

/// Row i: up to this window, in packets, the window grows by i + 1 per round, and a loss costs
/// this many 256ths of it (RFC 3649, appendix B; Linux ends with the row of 72, too).
const TABLE: [(u32, u32); 72] = [
    (38, 128),
    (118, 112),
    (221, 104),
    (347, 98),
    (495, 93),
    (663, 89),
    (851, 86),
    (1058, 83),
    (1284, 81),
    (1529, 78),
    (1793, 76),
    (2076, 74),
    (2378, 72),
    (2699, 71),
    (3039, 69),
    (3399, 68),
    (3778, 66),
    (4177, 65),
    (4596, 64),
    (5036, 62),
    (5497, 61),
    (5979, 60),
    (6483, 59),
    (7009, 58),
    (7558, 57),
    (8130, 56),
    (8726, 55),
    (9346, 54),
    (9991, 53),
    (10661, 52),
    (11358, 52),
    (12082, 51),
    (12834, 50),
    (13614, 49),
    (14424, 48),
    (15265, 48),
    (16137, 47),
    (17042, 46),
    (17981, 45),
    (18955, 45),
    (19965, 44),
    (21013, 43),
    (22101, 43),
    (23230, 42),
    (24402, 41),
    (25618, 41),
    (26881, 40),
    (28193, 39),
    (29557, 39),
    (30975, 38),
    (32450, 38),
    (33986, 37),
    (35586, 36),
    (37253, 36),
    (38992, 35),
    (40808, 35),
    (42707, 34),
    (44694, 33),
    (46776, 33),
    (48961, 32),
    (51258, 32),
    (53677, 31),
    (56230, 30),
    (58932, 30),
    (61799, 29),
    (64851, 28),
    (68113, 28),
    (71617, 27),
    (75401, 26),
    (79517, 26),
    (84035, 25),
    (89053, 24),
];

/// HighSpeed's state for one connection.
#[derive(Clone, Copy, Debug)]
pub struct HighSpeed {
    config: Config,
    row: usize,
}

impl HighSpeed {
    /// A HighSpeed control.
    pub const fn new(config: &Config) -> Self {
        Self {
            config: *config,
            row: 0,
        }
    }

    /// Moves to the first row that holds `window_pkts`.
    fn find_row(&mut self, window_pkts: u32) {
        while self.row + 1 < TABLE.len() && window_pkts > TABLE[self.row].0 {
            self.row += 1;
        }
        while self.row > 0 && window_pkts <= TABLE[self.row - 1].0 {
            self.row -= 1;
        }
    }
}

impl CongestionControl for HighSpeed {
    fn on_ack(&mut self, _now: SimTime, ack: &Ack, window: &mut Window) {
        if !ack.is_cwnd_limited {
            return;
        }
        if window.in_slow_start() {
            // What is left at the threshold is not used, as in Linux.
            window.slow_start(ack.acked_pkts);
            return;
        }
        self.find_row(window.cwnd_pkts);
        let growth = self.row as u32 + 1;
        let times = if self.config.per_packet {
            ack.acked_pkts
        } else {
            1
        };
        window.credit_pkts += growth * times;
        if window.credit_pkts >= window.cwnd_pkts {
            window.credit_pkts -= window.cwnd_pkts;
            window.cwnd_pkts += 1;
        }
    }

    /// The row is that of the last growth: Linux does not look it up again.
    fn ssthresh(&mut self, _now: SimTime, window: &Window, _in_flight_pkts: u32) -> u32 {
        if self.config.looks_up_at_loss {
            self.find_row(window.cwnd_pkts);
        }
        let cost = (u64::from(window.cwnd_pkts) * u64::from(TABLE[self.row].1)) >> 8;
        (window.cwnd_pkts - cost as u32).max(2)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Half of a window of 38; the row of the last growth, at 1000, would leave 68 %.
    #[test]
    fn in_ns3_the_share_of_a_loss_is_that_of_the_window_at_the_loss() {
        let threshold = |config: &Config| {
            let mut control = HighSpeed::new(config);
            control.find_row(1000);
            control.ssthresh(SimTime::ZERO, &Window::new(38, 2), 0)
        };
        assert_eq!(threshold(&Config::ns3()), 19);
        assert_eq!(threshold(&Config::default()), 26);
    }

    /// b(w) of RFC 3649 §5 with High_Window = 83 000 and High_Decrease = 0.1.
    fn decrease(window_pkts: f64) -> f64 {
        let span = libm::log(83_000.0) - libm::log(38.0);
        (0.1 - 0.5) * (libm::log(window_pkts) - libm::log(38.0)) / span + 0.5
    }

    /// a(w) of RFC 3649 §5, with p(w) = 1/(12.8 w^1.2) as its appendix B has it.
    fn increase(window_pkts: f64) -> f64 {
        let b = decrease(window_pkts);
        window_pkts * window_pkts * 2.0 * b / ((2.0 - b) * libm::pow(window_pkts, 1.2) * 12.8)
    }

    #[test]
    fn the_table_is_what_the_formulas_of_rfc_3649_give() {
        let mut rows = vec![(38, 128)];
        let mut last = 1.0;
        for window_pkts in 39..90_000 {
            let a = increase(f64::from(window_pkts));
            if a > last + 1.0 {
                rows.push((
                    window_pkts,
                    (decrease(f64::from(window_pkts)) * 256.0) as u32,
                ));
                last = a;
            }
        }
        assert_eq!(rows, TABLE);
    }

    #[test]
    fn at_the_top_of_the_response_function_it_grows_by_seventy_packets() {
        // RFC 3649 table 3 rounds a(83 000) up to 72; the formula gives 70.7 with p = 0.078/w^1.2.
        let mut control = HighSpeed::new(&Config::default());
        control.find_row(83_000);
        assert_eq!(control.row + 1, 71);
        assert!((decrease(83_000.0) - 0.1).abs() < 1e-12);
    }

    fn ack(acked_pkts: u32) -> Ack {
        Ack {
            acked_pkts,
            is_cwnd_limited: true,
            ..Ack::default()
        }
    }

    fn growth(config: Config, window_pkts: u32) -> u32 {
        let mut control = HighSpeed::new(&config);
        let mut window = Window::new(window_pkts, 2);
        for _ in 0..window_pkts / 2 {
            control.on_ack(SimTime::ZERO, &ack(2), &mut window);
        }
        window.cwnd_pkts - window_pkts
    }

    #[test]
    fn delayed_acknowledgments_halve_the_growth_unless_packets_are_counted() {
        // 1500 packets: row 10. 750 acknowledgments · 10 / 1500.
        assert_eq!(growth(Config::default(), 1500), 4);
        assert_eq!(growth(Config::ns3(), 1500), 9);
    }

    #[test]
    fn up_to_38_packets_it_is_reno() {
        let mut control = HighSpeed::new(&Config::default());
        let mut window = Window::new(20, 2);
        for _ in 0..20 {
            control.on_ack(SimTime::ZERO, &ack(1), &mut window);
        }
        assert_eq!(window.cwnd_pkts, 21);
        assert_eq!(control.ssthresh(SimTime::ZERO, &Window::new(38, 2), 0), 19);
    }

    #[test]
    fn the_row_follows_the_window_both_ways() {
        let mut control = HighSpeed::new(&Config::default());
        for (window_pkts, row) in [
            (119, 2),
            (118, 1),
            (1_000_000, 71),
            (10, 0),
            (38, 0),
            (39, 1),
        ] {
            control.find_row(window_pkts);
            assert_eq!(control.row, row, "{window_pkts}");
        }
    }

    /// 100 acknowledgments of eight packets bring 1600 of credit at a(w) = 2, and a packet costs
    /// the window each time: 50 + 51 + … + 74 = 1550 is paid for, 75 more are not. What is over
    /// each time is kept; thrown away it would cost two packets.
    #[test]
    fn credit_beyond_a_packet_is_kept() {
        let mut control = HighSpeed::new(&Config::ns3());
        let mut window = Window::new(50, 2);
        for _ in 0..100 {
            control.on_ack(SimTime::ZERO, &ack(8), &mut window);
        }
        assert_eq!((window.cwnd_pkts, window.credit_pkts), (75, 50));
    }
}
