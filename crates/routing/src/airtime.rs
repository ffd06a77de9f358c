//! Metrics that take the rate of a link into account: the time that a transmission occupies.
//!
//! - [`directional`]: the directional airtime metric (DAT) of OLSRv2 (RFC 7779).
//! - [`LinkMetric`]: a metric as OLSRv2's messages carry it (RFC 7181 §6.2).
//! - [`LossMemory`]: the losses of a link by the numbers of its packets (RFC 7779).
//! - [`hwmp`]: the airtime link metric of 802.11s, as Linux computes it.

use std::collections::VecDeque;

use backlane_units::{Duration, Rate, SimTime};

/// More transmissions of a packet than this do not count (`DAT_MAXIMUM_LOSS`).
const MAXIMUM_LOSS: f64 = 8.0;
/// The rate of a link of which none is known (`DAT_MINIMUM_BITRATE`).
pub const MINIMUM_RATE: Rate = Rate::from_bps(1000);
/// The metric of a link of [`MINIMUM_RATE`] without losses.
const LARGEST_WITHOUT_LOSS: f64 = (1u32 << 24) as f64 / MAXIMUM_LOSS;
/// The loss memory has this many intervals (`DAT_MEMORY_LENGTH`).
pub const MEMORY_LENGTH: u64 = 64;
/// A larger jump of the sequence numbers is a restart (`DAT_SEQNO_RESTART_DETECTION`).
const RESTART: u16 = 256;

/// The directional airtime metric of RFC 7779: 2²⁴/8 · min(loss, 8) / (rate / 1 kbit/s), where the
/// loss is packets sent over packets received.
///
/// `share` is the share of packets that arrive in the direction; with zero the metric is the largest
/// one. A rate below 1 kbit/s counts as that.
pub fn directional(share: f64, rate: Rate) -> f64 {
    if share <= 0.0 {
        return f64::from(LinkMetric::MAXIMUM.value());
    }
    let loss = (1.0 / share).min(MAXIMUM_LOSS);
    let rate_bps = rate.as_bps().max(MINIMUM_RATE.as_bps());
    LARGEST_WITHOUT_LOSS * loss / (rate_bps as f64 / MINIMUM_RATE.as_bps() as f64)
}

/// The bits of the frame that 802.11s tests a link with.
const TEST_FRAME_BITS: u64 = 8192;
/// Bits of fraction of Linux's numbers.
const FRACTION: u32 = 8;

/// The airtime link metric of 802.11s (IEEE 802.11-2016, 14.9): (O + B/r) / (1 − e) with a frame of B =
/// 8192 bits at the rate r, of which the share e fails, as Linux computes it: in whole microseconds, with
/// eight bits of fraction on the way and an overhead O of 1 µs.
///
/// `failed_percent` is at most 99.
pub fn hwmp(rate: Rate, failed_percent: u32) -> u64 {
    let rate = (rate.as_bps() / 100_000).max(1);
    let failed = (u64::from(failed_percent.min(99)) << FRACTION) / 100;
    let once = (1 << FRACTION) + 10 * (TEST_FRAME_BITS << FRACTION) / rate;
    let attempts = (1 << (2 * FRACTION)) / ((1 << FRACTION) - failed);
    (once * attempts) >> (2 * FRACTION)
}

/// A link metric in the twelve bits of OLSRv2's messages: four for *a* and eight for *b*, of the value
/// (257 + *b*) 2^*a* − 256 (RFC 7181 §6.2).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct LinkMetric(u16);

impl LinkMetric {
    /// The largest one, 2²⁴ − 256.
    pub const MAXIMUM: Self = Self(0xfff);

    /// The smallest metric that is not below a value.
    pub fn at_least(value: f64) -> Self {
        let codes = 0..=Self::MAXIMUM.0;
        let (mut low, mut high) = (*codes.start(), *codes.end());
        while low < high {
            let middle = low.midpoint(high);
            if f64::from(Self(middle).value()) < value {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        Self(low)
    }

    /// The value, 1 to 2²⁴ − 256.
    pub fn value(self) -> u32 {
        let (a, b) = (u32::from(self.0 >> 8), u32::from(self.0 & 0xff));
        ((257 + b) << a) - 256
    }

    /// Its bits, the upper four of them zero.
    pub fn to_bits(self) -> u16 {
        self.0
    }

    /// Reads twelve bits; the upper four are ignored.
    pub fn from_bits(bits: u16) -> Self {
        Self(bits & Self::MAXIMUM.0)
    }
}

/// What arrived and what was sent in one interval.
#[derive(Clone, Copy, Debug)]
struct Counted {
    interval: u64,
    received: u32,
    total: u32,
}

/// The losses of a neighbour's packets over the last 64 intervals (RFC 7779: `L_DAT_received` and
/// `L_DAT_total`).
///
/// The intervals begin when the first packet arrives. While HELLOs are overdue, each of them takes
/// its share of the memory off what was received.
#[derive(Clone, Debug)]
pub struct LossMemory {
    interval: Duration,
    counted: VecDeque<Counted>,
    begin: SimTime,
    last: Option<(SimTime, u16)>,
}

impl LossMemory {
    /// The memory of a link over which no packet came; it is as long as 64 intervals.
    pub fn new(length: Duration) -> Self {
        let interval = Duration::from_ps((length.as_ps() / MEMORY_LENGTH).max(1));
        Self {
            interval,
            counted: VecDeque::new(),
            begin: SimTime::ZERO,
            last: None,
        }
    }

    /// A packet of the neighbour arrived. It numbers its packets one by one.
    pub fn on_packet(&mut self, now: SimTime, sequence: u16) {
        let sent = match self.last {
            None => {
                self.begin = now;
                1
            }
            Some((_, last)) => match sequence.wrapping_sub(last) {
                0 => return,
                step if step > RESTART => 1,
                step => u32::from(step),
            },
        };
        self.last = Some((now, sequence));
        let interval = self.interval_at(now);
        match self.counted.back_mut() {
            Some(newest) if newest.interval == interval => {
                newest.received += 1;
                newest.total += sent;
            }
            _ => self.counted.push_back(Counted {
                interval,
                received: 1,
                total: sent,
            }),
        }
        while let Some(oldest) = self.counted.front()
            && oldest.interval + MEMORY_LENGTH <= interval
        {
            self.counted.pop_front();
        }
    }

    /// The share of packets that arrived in the memory, between 0 and 1. `hello_interval` is the
    /// longest time between two HELLOs: one counts as lost after 1.2 times as long
    /// (`DAT_HELLO_TIMEOUT_FACTOR`), and a further one after each interval more.
    pub fn share(&self, now: SimTime, hello_interval: Duration) -> f64 {
        let Some((last, _)) = self.last else {
            return 0.0;
        };
        let interval = self.interval_at(now);
        let remembered = self.counted.iter();
        let remembered = remembered.filter(|counted| counted.interval + MEMORY_LENGTH > interval);
        let (received, total) = remembered.fold((0, 0), |(received, total), counted| {
            (received + counted.received, total + counted.total)
        });
        let silent = now.saturating_since(last).as_ps();
        let hello = hello_interval.as_ps().max(1);
        let lost = match silent.checked_sub(hello.saturating_add(hello / 5)) {
            Some(beyond) => 1 + beyond / hello,
            None => 0,
        };
        let memory = self.interval.as_ps() as f64 * MEMORY_LENGTH as f64;
        let kept = (1.0 - hello as f64 * lost as f64 / memory).max(0.0);
        let received = f64::from(received) * kept;
        if received < 1.0 {
            return 0.0;
        }
        received / f64::from(total)
    }

    fn interval_at(&self, now: SimTime) -> u64 {
        now.saturating_since(self.begin).as_ps() / self.interval.as_ps()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const SECOND: Duration = Duration::from_secs(1);
    const MBIT: u64 = 1_000_000;

    fn at(ms: u64) -> SimTime {
        SimTime::ZERO + Duration::from_millis(1) * ms
    }

    /// RFC 7779's formula on rates and counts of packets, evaluated apart with its constants: 2²⁴ ·
    /// min(total/received, 8)/8 / (bit/s / 1000).
    #[test]
    fn directional_airtimes_are_those_of_the_formula() {
        let table = [
            (54 * MBIT, 64, 64, 38.8),
            (54 * MBIT, 64, 32, 77.7),
            (54 * MBIT, 64, 4, 310.7),
            (6 * MBIT, 64, 64, 349.5),
        ];
        for (bps, total, received, expected) in table {
            let share = f64::from(received) / f64::from(total);
            let found = directional(share, Rate::from_bps(bps));
            assert!((found - expected).abs() < 0.05, "{bps} {received}: {found}");
        }
    }

    /// Rate in 100 kbit/s, failed frames in percent, result: Linux's `airtime_link_metric_get`, computed
    /// apart. With the overhead of 802.11a's draft, 75 and 110 µs, 54 Mbit/s have 336.7 µs: 184 more.
    #[test]
    fn airtimes_of_802_11s_are_those_of_linux() {
        let table = [
            (540, 0, 152),
            (540, 20, 190),
            (540, 50, 305),
            (60, 0, 1366),
            (3000, 0, 28),
        ];
        for (rate, failed, expected) in table {
            assert_eq!(hwmp(Rate::from_bps(rate * 100_000), failed), expected);
        }
        let with_overhead = hwmp(Rate::from_bps(54 * MBIT), 0) + 184;
        assert!((with_overhead as f64 - 336.7).abs() < 1.0);
    }

    /// RFC 7779: the metric lies between 1, at 2²¹ kbit/s, and 2²⁴ with the largest loss at 1 kbit/s.
    #[test]
    fn the_range_of_rates_and_losses_is_that_of_the_metric() {
        assert_eq!(directional(1.0, Rate::from_bps((1 << 21) * 1000)), 1.0);
        assert_eq!(directional(0.1, MINIMUM_RATE), f64::from(1 << 24));
        assert_eq!(directional(0.01, MINIMUM_RATE), f64::from(1 << 24));
        assert_eq!(directional(0.0, Rate::from_bps(54 * MBIT)), 16_776_960.0);
    }

    /// RFC 7181 §6.2: from 1 to 16 776 960, and each step at most 1/256 of the value and 256.
    #[test]
    fn metrics_have_twelve_bits() {
        let codes: Vec<LinkMetric> = (0..=0xfff).map(LinkMetric::from_bits).collect();
        assert_eq!(codes[0].value(), 1);
        assert_eq!(codes[255].value(), 256);
        assert_eq!(codes[256].value(), 258);
        assert_eq!(LinkMetric::MAXIMUM.value(), 16_776_960);
        for pair in codes.windows(2) {
            let step = pair[1].value() - pair[0].value();
            assert!(step * 256 <= pair[0].value() + 256 && step > 0);
        }
    }

    proptest! {
        #[test]
        fn a_metric_is_the_smallest_that_is_not_below_its_value(value in 0.0..2e7f64) {
            let metric = LinkMetric::at_least(value);
            let below = metric.to_bits().checked_sub(1).map(LinkMetric::from_bits);
            prop_assert!(f64::from(metric.value()) >= value || metric == LinkMetric::MAXIMUM);
            prop_assert!(below.is_none_or(|below| f64::from(below.value()) < value));
        }
    }

    /// A neighbour numbers its packets from `first`, one each second; the listed ones arrive.
    fn heard(first: u16, arrived: impl IntoIterator<Item = u16>) -> LossMemory {
        let mut memory = LossMemory::new(SECOND * 64);
        for n in arrived {
            memory.on_packet(at(u64::from(n) * 1000), first.wrapping_add(n));
        }
        memory
    }

    #[test]
    fn a_loss_is_a_gap_in_the_numbers() {
        for first in [0, 1000, u16::MAX - 2] {
            let memory = heard(first, [0, 1, 3, 4, 7]);
            assert_eq!(memory.share(at(7000), SECOND * 2), 5.0 / 8.0);
        }
        assert_eq!(heard(0, []).share(at(7000), SECOND * 2), 0.0);
    }

    /// Every second packet of 64, and of 1000, of which the last 64 intervals count.
    #[test]
    fn the_memory_has_64_intervals() {
        // The first packet that arrives shows no loss: 32 of 63.
        let memory = heard(0, (0..64).step_by(2));
        assert_eq!(memory.share(at(62_000), SECOND * 2), 32.0 / 63.0);
        let memory = heard(0, (0..1000).step_by(2));
        assert_eq!(memory.share(at(998_000), SECOND * 2), 0.5);
        // The gaps of earlier intervals do not count.
        let memory = heard(0, (0..100).step_by(2).chain(100..200));
        assert_eq!(memory.share(at(199_000), SECOND * 2), 1.0);
    }

    /// RFC 7779: with HELLOs each 2 s the first is lost 2.4 s after the last packet; each takes 2/64
    /// off what was received.
    #[test]
    fn lost_hellos_take_their_share_of_the_memory() {
        let memory = heard(0, 0..64);
        let share = |ms: u64| memory.share(at(63_000 + ms), SECOND * 2);
        assert_eq!(share(300), 1.0);
        assert_eq!(share(2399), 62.0 / 62.0);
        assert_eq!(share(2400), 62.0 / 64.0);
        assert_eq!(share(4399), 62.0 / 64.0);
        assert_eq!(share(4400), 60.0 / 64.0);
        // 64 s later nothing is remembered.
        assert_eq!(share(64_000), 0.0);
    }

    #[test]
    fn a_repetition_counts_once_and_a_restart_counts_no_losses() {
        let mut memory = heard(0, [0, 1]);
        memory.on_packet(at(1000), 1);
        memory.on_packet(at(2000), 40_000);
        assert_eq!(memory.share(at(2000), SECOND * 2), 1.0);
        memory.on_packet(at(3000), 40_256);
        assert_eq!(memory.share(at(3000), SECOND * 2), 4.0 / 259.0);
    }
}
