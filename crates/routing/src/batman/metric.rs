//! Transmit quality (batman IV) and throughput (batman V).

use backlane_units::Rate;

/// The transmit quality of a path without losses (`BATADV_TQ_MAX_VALUE`).
pub const TQ_MAX: u8 = 255;
/// The throughput of a link about which nothing is known, in 100 kbit/s
/// (`BATADV_THROUGHPUT_DEFAULT_VALUE`).
pub const DEFAULT_THROUGHPUT: u32 = 10;
/// At most this throughput, in 100 kbit/s, is not halved on a half-duplex port.
const NOT_HALVED: u32 = 10;
const WINDOW: u32 = super::window::WINDOW as u32;

/// A quality after the penalty of a hop.
pub fn after_hop(tq: u8, penalty: u8) -> u8 {
    let max = u32::from(TQ_MAX);
    (u32::from(tq) * (max - u32::from(penalty)) / max) as u8
}

/// The quality of a path whose first link is added: `tq` is that of the neighbour's path, `echoed`
/// and `received` count own OGMs that the neighbour repeated, and the neighbour's OGMs, of 64.
///
/// The share of own OGMs that arrived there is estimated by echoed over received, since an echo
/// crosses the link twice. Links that lose much of what they receive are penalised by 1 − (1 − x)³.
/// `same_radio` is the penalty of a hop that leaves by the radio on which it came.
pub fn path_quality(tq: u8, echoed: u8, received: u8, same_radio: Option<u8>) -> u8 {
    let max = u32::from(TQ_MAX);
    let (echoed, received) = (u32::from(echoed), u32::from(received));
    let own = (max * echoed.min(received))
        .checked_div(received)
        .unwrap_or(0);
    let lost = WINDOW - received.min(WINDOW);
    let symmetry = max - max * lost.pow(3) / WINDOW.pow(3);
    let radio = u32::from(same_radio.map_or(TQ_MAX, |penalty| after_hop(TQ_MAX, penalty)));
    (u32::from(tq) * own * symmetry * radio / max.pow(3)) as u8
}

/// A throughput after the penalty of a hop: half of it, if the OGM leaves by the half-duplex port on
/// which it came.
pub fn throughput_after_hop(throughput: u32, penalty: u8, same_half_duplex: bool) -> u32 {
    if same_half_duplex && throughput > NOT_HALVED {
        return throughput / 2;
    }
    let max = u64::from(TQ_MAX);
    (u64::from(throughput) * (max - u64::from(penalty)) / max) as u32
}

/// A rate in 100 kbit/s; at least one.
pub fn throughput_of(rate: Rate) -> u32 {
    u32::try_from(rate.as_bps() / 100_000).map_or(u32::MAX - 1, |throughput| throughput.max(1))
}

/// Weighted mean of a link's throughput: one eighth for the newest, ten bits of fraction
/// (`DECLARE_EWMA(throughput, 10, 8)`).
#[derive(Clone, Copy, Debug, Default)]
pub struct Mean(u64);

impl Mean {
    /// Adds a value; the first one is the mean.
    pub fn add(&mut self, value: u32) {
        let value = u64::from(value) << 10;
        self.0 = match self.0 {
            0 => value,
            mean => (mean * 7 + value) >> 3,
        };
    }

    /// The mean.
    pub fn value(self) -> u32 {
        (self.0 >> 10) as u32
    }
}

/// What the transmissions to a neighbour say of the throughput to it.
///
/// mac80211 estimates it with its rate control. As in minstrel, a weighted mean of the share of
/// attempts that succeed, three quarters of it old, is taken as at most 90 %, and below 10 % the
/// throughput is zero. The estimate is that share of the last frame's rate. What preambles and
/// interframe spaces cost is left out: a router does not see them.
#[derive(Clone, Copy, Debug, Default)]
pub struct Transmissions {
    attempts: u32,
    delivered: u32,
    share: Option<f64>,
    rate_bps: u64,
}

impl Transmissions {
    /// A frame was sent this number of times, the last time at `rate`.
    pub fn on_status(&mut self, attempts: u32, delivered: bool, rate: Rate) {
        self.attempts = self.attempts.saturating_add(attempts);
        self.delivered = self.delivered.saturating_add(delivered.into());
        self.rate_bps = rate.as_bps();
    }

    /// Takes what was sent since the last call into the mean.
    fn update(&mut self) {
        if self.attempts == 0 {
            return;
        }
        let share = f64::from(self.delivered) / f64::from(self.attempts);
        self.share = Some(self.share.map_or(share, |old| 0.75 * old + 0.25 * share));
        (self.attempts, self.delivered) = (0, 0);
    }

    /// The expected throughput in 100 kbit/s; `None` before the first frame.
    pub fn expected(&mut self) -> Option<u32> {
        self.update();
        let share = match self.share? {
            share if share < 0.1 => 0.0,
            share => share.min(0.9),
        };
        Some((self.rate_bps as f64 * share / 100_000.0) as u32)
    }

    /// A third of the rate of the last frame, in 100 kbit/s; `None` before it.
    pub fn third_of_rate(&self) -> Option<u32> {
        (self.rate_bps > 0).then(|| throughput_of(Rate::from_bps(self.rate_bps)) / 3)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Quality of the neighbour's path, own OGMs echoed, its OGMs received, result: computed
    /// independently from the kernel's integer formula.
    #[test]
    fn qualities_are_those_of_the_kernel() {
        let table = [
            (255, 64, 64, 255),
            (255, 48, 64, 191),
            (255, 32, 64, 127),
            (255, 32, 32, 224),
            (225, 57, 60, 213),
        ];
        for (tq, echoed, received, expected) in table {
            assert_eq!(path_quality(tq, echoed, received, None), expected);
        }
        assert_eq!(path_quality(255, 0, 64, None), 0);
        assert_eq!(path_quality(255, 64, 0, None), 0);
        // 255 · 225 / 255, on the radio where it came.
        assert_eq!(path_quality(255, 64, 64, Some(30)), 225);
    }

    #[test]
    fn the_best_quality_falls_by_30_of_255_a_hop() {
        let hops: Vec<u8> = (0..3)
            .scan(TQ_MAX, |tq, _| {
                *tq = after_hop(*tq, 30);
                Some(*tq)
            })
            .collect();
        assert_eq!(hops, [225, 198, 174]);
    }

    #[test]
    fn throughputs_are_those_of_the_kernel() {
        assert_eq!(throughput_after_hop(1000, 30, false), 882);
        // 54 Mbit/s · 225 / 255 = 47.6 Mbit/s; 27.0 on the same half-duplex port.
        assert_eq!(throughput_after_hop(540, 30, false), 476);
        assert_eq!(throughput_after_hop(540, 30, true), 270);
        assert_eq!(throughput_after_hop(10, 30, true), 8);
        assert_eq!(throughput_after_hop(11, 30, true), 5);
    }

    #[test]
    fn a_mean_moves_by_an_eighth() {
        let mut mean = Mean::default();
        mean.add(800);
        assert_eq!(mean.value(), 800);
        mean.add(0);
        assert_eq!(mean.value(), 700);
        mean.add(700);
        assert_eq!(mean.value(), 700);
    }

    #[test]
    fn expected_throughput_counts_attempts_that_fail() {
        let rate = Rate::from_bps(54_000_000);
        let mut sent = Transmissions::default();
        assert_eq!((sent.expected(), sent.third_of_rate()), (None, None));
        sent.on_status(1, true, rate);
        // At most nine tenths of 54 Mbit/s.
        assert_eq!(sent.expected(), Some(486));
        sent.on_status(4, true, rate);
        // Shares 1 and ¼: 0.75 + 0.0625.
        assert_eq!(sent.expected(), Some(438));
        assert_eq!(sent.third_of_rate(), Some(180));
        for _ in 0..20 {
            sent.on_status(7, false, rate);
            sent.expected();
        }
        assert_eq!(sent.expected(), Some(0));
    }
}
