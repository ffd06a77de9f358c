//! The capacity of a link over time, from a recorded trace.
//!
//! There are two kinds. **Delivery opportunities** are instants at which a number of bytes
//! leave the queue at once, the format of mahimahi (Netravali et al., USENIX ATC 2015); unused
//! opportunities are lost. **Rates** are piecewise constant. Times count from the beginning of the trace.

use backlane_units::{Duration, Rate};

/// Bytes of a delivery opportunity (mm-link(1): "the ability to deliver 1500 bytes").
pub const OPPORTUNITY_BYTES: u64 = 1500;

const PS_PER_S: u128 = 1_000_000_000_000;
const PS_PER_MS: u64 = 1_000_000_000;

/// The behaviour after the end of a trace.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AtEnd {
    /// The trace is repeated.
    Repeat,
    /// The last rate holds; there are no more opportunities.
    Hold,
    /// There is no more capacity.
    Stop,
}

/// The capacity of a link direction over time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Capacity {
    /// Delivery opportunities.
    Opportunities(OpportunityTrace),
    /// Rates.
    Rates(RateTrace),
}

impl Capacity {
    /// The mean rate of one pass of the trace, at least 1 bit/s.
    pub fn mean_rate(&self) -> Rate {
        let (bits, period) = match self {
            Self::Opportunities(trace) => (trace.bits_within(trace.period()), trace.period()),
            Self::Rates(trace) => (trace.bits_within(trace.period), trace.period),
        };
        let bps = bits / u128::from(period.as_ps());
        Rate::from_bps(u64::try_from(bps).unwrap_or(u64::MAX).max(1))
    }

    /// The bytes that can be carried from the beginning of the trace until `end`, opportunities
    /// at `end` itself included.
    pub fn offered_bytes(&self, end: Duration) -> u64 {
        let (period, at_end) = match self {
            Self::Opportunities(trace) => (trace.period(), trace.at_end),
            Self::Rates(trace) => (trace.period, trace.at_end),
        };
        let rounds = match at_end {
            AtEnd::Repeat => end.as_ps() / period.as_ps(),
            AtEnd::Hold | AtEnd::Stop => 0,
        };
        let rest = Duration::from_ps(end.as_ps() - rounds * period.as_ps());
        let (round_bits, rest_bits) = match self {
            Self::Opportunities(trace) => (trace.bits_within(period), trace.bits_within(rest)),
            Self::Rates(trace) => (trace.bits_within(period), trace.bits_within(rest)),
        };
        let bits = (u128::from(rounds) * round_bits + rest_bits) / PS_PER_S;
        u64::try_from(bits / 8).unwrap_or(u64::MAX)
    }
}

/// Delivery opportunities at one instant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Opportunities {
    /// Milliseconds from the beginning of the trace.
    pub at_ms: u32,
    /// Their number.
    pub count: u32,
}

/// Delivery opportunities over time. The trace ends with the last one; a repetition begins at that
/// instant.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OpportunityTrace {
    times: Vec<Opportunities>,
    at_end: AtEnd,
}

impl OpportunityTrace {
    /// A trace of opportunities in increasing order of their times. `None` if they are not in
    /// order, or if the last time is zero.
    pub fn new(times: Vec<Opportunities>, at_end: AtEnd) -> Option<Self> {
        let in_order = times.windows(2).all(|pair| pair[0].at_ms < pair[1].at_ms);
        let has_length = times.last()?.at_ms > 0;
        (in_order && has_length).then_some(Self { times, at_end })
    }

    fn period(&self) -> Duration {
        let last = self.times.last().map_or(1, |last| last.at_ms);
        Duration::from_millis(u64::from(last))
    }

    /// Bits, times 10¹², of the first pass until `end`.
    fn bits_within(&self, end: Duration) -> u128 {
        let until = self.first_after(end);
        let counts = self.times[..until].iter().map(|at| u64::from(at.count));
        u128::from(counts.sum::<u64>() * OPPORTUNITY_BYTES * 8) * PS_PER_S
    }

    /// The index of the first opportunities after `within` the pass.
    fn first_after(&self, within: Duration) -> usize {
        let within_ms = within.as_ps() / PS_PER_MS;
        self.times
            .partition_point(|at| u64::from(at.at_ms) <= within_ms)
    }
}

/// A place in a trace of opportunities: which pass, and which entry comes next.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Cursor {
    round: u64,
    index: usize,
}

impl Cursor {
    /// At the first opportunities after `now`.
    pub(crate) fn after(trace: &OpportunityTrace, now: Duration) -> Self {
        let period = trace.period().as_ps();
        Self {
            round: now.as_ps() / period,
            index: trace.first_after(Duration::from_ps(now.as_ps() % period)),
        }
    }

    /// When the opportunities are and the bytes that they carry; `None` if there are no more.
    pub(crate) fn opportunities(self, trace: &OpportunityTrace) -> Option<(Duration, u64)> {
        if self.round > 0 && trace.at_end != AtEnd::Repeat {
            return None;
        }
        let entry = trace.times.get(self.index)?;
        let begin = trace.period().as_ps().checked_mul(self.round)?;
        let at = begin.checked_add(u64::from(entry.at_ms) * PS_PER_MS)?;
        let bytes = u64::from(entry.count) * OPPORTUNITY_BYTES;
        Some((Duration::from_ps(at), bytes))
    }

    /// At the opportunities after these.
    pub(crate) fn next(self, trace: &OpportunityTrace) -> Self {
        if self.index + 1 < trace.times.len() {
            Self {
                index: self.index + 1,
                ..self
            }
        } else {
            Self {
                round: self.round + 1,
                index: 0,
            }
        }
    }
}

/// A rate from an instant on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RateStep {
    /// From the beginning of the trace.
    pub from: Duration,
    /// Bits per second; may be zero.
    pub bps: u64,
}

/// What is carried of a packet before a trace of rates begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Early {
    /// All of it, in this time.
    All(Duration),
    /// All but these bytes.
    Rest(u64),
}

/// Piecewise constant rates.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RateTrace {
    steps: Vec<RateStep>,
    period: Duration,
    at_end: AtEnd,
}

impl RateTrace {
    /// A trace of rates in increasing order of their times, the first at zero; the last one lasts
    /// until `period`. `None` if they are not in order.
    pub fn new(steps: Vec<RateStep>, period: Duration, at_end: AtEnd) -> Option<Self> {
        let in_order = steps.windows(2).all(|pair| pair[0].from < pair[1].from);
        let whole = steps.first()?.from == Duration::ZERO && steps.last()?.from < period;
        (in_order && whole).then_some(Self {
            steps,
            period,
            at_end,
        })
    }

    /// Bits, times 10¹², of the first pass until `end`, and of the held rate after it with
    /// [`AtEnd::Hold`].
    fn bits_within(&self, end: Duration) -> u128 {
        let last = match self.at_end {
            AtEnd::Hold => end.max(self.period),
            AtEnd::Repeat | AtEnd::Stop => self.period,
        };
        let ends = self.steps[1..].iter().map(|step| step.from);
        self.steps
            .iter()
            .zip(ends.chain([last]))
            .take_while(|(step, _)| step.from < end)
            .map(|(step, until)| {
                let span = until.min(end).saturating_sub(step.from);
                u128::from(step.bps) * u128::from(span.as_ps())
            })
            .sum()
    }

    /// What the first rate carries of `bytes` in the time `left` before the trace begins.
    pub(crate) fn first_rate_carries(&self, bytes: u64, left: Duration) -> Early {
        let bps = u128::from(self.steps[0].bps);
        let need = u128::from(bytes) * 8 * PS_PER_S;
        let offered = bps * u128::from(left.as_ps());
        if need <= offered {
            let span_ps = u64::try_from(need.div_ceil(bps)).unwrap_or(u64::MAX);
            return Early::All(Duration::from_ps(span_ps));
        }
        let rest = (need - offered).div_ceil(8 * PS_PER_S);
        Early::Rest(u64::try_from(rest).unwrap_or(u64::MAX))
    }

    /// When a transmission of `bytes` from `start` on ends, rounded up to a picosecond; `None` if
    /// it never ends.
    pub(crate) fn finish(&self, start: Duration, bytes: u64) -> Option<Duration> {
        let period = self.period.as_ps();
        let repeats = self.at_end == AtEnd::Repeat;
        let mut need = u128::from(bytes) * 8 * PS_PER_S;
        let mut begin = if repeats {
            start.as_ps() / period * period
        } else {
            0
        };
        let mut at = start.as_ps() - begin;
        let mut index = self.steps.partition_point(|step| step.from.as_ps() <= at);
        index = index.saturating_sub(1);
        loop {
            let bps = u128::from(self.steps[index].bps);
            let next = self.steps.get(index + 1);
            let end = next.map_or(period, |step| step.from.as_ps());
            let is_endless = next.is_none() && self.at_end == AtEnd::Hold;
            let offered = bps * u128::from(end.saturating_sub(at));
            if bps > 0 && (need <= offered || is_endless) {
                let span = u64::try_from(need.div_ceil(bps)).ok()?;
                let finish = begin.checked_add(at)?.checked_add(span)?;
                return Some(Duration::from_ps(finish));
            }
            need -= offered;
            if next.is_some() {
                at = end;
                index += 1;
                continue;
            }
            if !repeats {
                return None;
            }
            // Whole passes without enough capacity are skipped at once.
            let pass = self.bits_within(self.period);
            let skipped = need.saturating_sub(1).checked_div(pass)?;
            need -= skipped * pass;
            let passes = u64::try_from(skipped).ok()?.checked_add(1)?;
            begin = begin.checked_add(passes.checked_mul(period)?)?;
            (at, index) = (0, 0);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(ms: u64) -> Duration {
        Duration::from_millis(ms)
    }

    fn rates(steps: &[(u64, u64)], period_ms: u64, at_end: AtEnd) -> RateTrace {
        let steps = steps
            .iter()
            .map(|&(from, bps)| RateStep {
                from: at(from),
                bps,
            })
            .collect();
        RateTrace::new(steps, at(period_ms), at_end).unwrap()
    }

    fn opportunities(times: &[(u32, u32)], at_end: AtEnd) -> OpportunityTrace {
        let times = times
            .iter()
            .map(|&(at_ms, count)| Opportunities { at_ms, count })
            .collect();
        OpportunityTrace::new(times, at_end).unwrap()
    }

    #[test]
    fn a_packet_is_carried_by_all_rates_that_it_meets() {
        // 8000 bit: 1 ms at 4 Mbit/s, a silence of 2 ms, then 2 ms at 2 Mbit/s.
        let trace = rates(
            &[(0, 4_000_000), (10, 0), (12, 2_000_000)],
            20,
            AtEnd::Repeat,
        );
        assert_eq!(trace.finish(at(9), 1000), Some(at(14)));
        // From the end into the next pass: 1 ms at 2 Mbit/s leaves 6000 bit for 4 Mbit/s.
        let finish = at(20) + Duration::from_micros(1500);
        assert_eq!(trace.finish(at(19), 1000), Some(finish));
        // A pass carries 56 000 bit; 141 passes and a rest.
        let long = trace.finish(Duration::ZERO, 1_000_000).unwrap();
        let rest = 8_000_000 - 142 * 56_000;
        assert_eq!(rest, 48_000);
        assert_eq!(long, at(142 * 20 + 12 + 4));
    }

    /// 12 000 bit: 8000 in 1 ms at 8 Mbit/s, the rest in 50 µs at 80 Mbit/s. Only the last rate is
    /// held.
    #[test]
    fn a_trace_that_holds_its_end_has_all_its_rates_before() {
        for at_end in [AtEnd::Hold, AtEnd::Stop, AtEnd::Repeat] {
            let trace = rates(&[(0, 8_000_000), (1, 80_000_000)], 20, at_end);
            let finish = Duration::from_micros(1050);
            assert_eq!(trace.finish(Duration::ZERO, 1500), Some(finish));
        }
    }

    /// 8000 bit at 4 Mbit/s take 2 ms; of 1 ms before the trace, half remains.
    #[test]
    fn before_a_trace_its_first_rate_holds() {
        let trace = rates(&[(0, 4_000_000), (10, 0)], 20, AtEnd::Repeat);
        let early = |left_ms| trace.first_rate_carries(1000, at(left_ms));
        assert_eq!(early(30), Early::All(at(2)));
        assert_eq!(early(2), Early::All(at(2)));
        assert_eq!(early(1), Early::Rest(500));
        let silent = rates(&[(0, 0), (10, 8_000_000)], 20, AtEnd::Repeat);
        assert_eq!(silent.first_rate_carries(1000, at(30)), Early::Rest(1000));
    }

    #[test]
    fn the_end_of_a_trace_holds_stops_or_begins_again() {
        let steps = [(0, 1_000_000), (10, 8_000_000)];
        let finish = |at_end| rates(&steps, 20, at_end).finish(at(19), 2000);
        assert_eq!(finish(AtEnd::Hold), Some(at(21)));
        assert_eq!(finish(AtEnd::Stop), None);
        assert_eq!(finish(AtEnd::Repeat), Some(at(28)));
        let silent = rates(&[(0, 0)], 20, AtEnd::Repeat);
        assert_eq!(silent.finish(at(19), 2000), None);
    }

    #[test]
    fn the_offered_capacity_is_the_integral_of_the_trace() {
        let steps = [(0, 1_000_000), (10, 8_000_000)];
        let offered = |at_end, ms| {
            let capacity = Capacity::Rates(rates(&steps, 20, at_end));
            capacity.offered_bytes(at(ms))
        };
        // 10 kbit and 80 kbit a pass.
        assert_eq!(offered(AtEnd::Repeat, 45), (2 * 90_000 + 5_000) / 8);
        assert_eq!(offered(AtEnd::Stop, 45), 90_000 / 8);
        assert_eq!(offered(AtEnd::Hold, 45), (90_000 + 25 * 8_000) / 8);
        let capacity = Capacity::Rates(rates(&steps, 20, AtEnd::Hold));
        assert_eq!(capacity.mean_rate(), Rate::from_bps(4_500_000));
        let trace = opportunities(&[(0, 1), (3, 2), (5, 1)], AtEnd::Repeat);
        let capacity = Capacity::Opportunities(trace);
        assert_eq!(capacity.offered_bytes(at(4)), 3 * 1500);
        assert_eq!(capacity.offered_bytes(at(5)), 5 * 1500);
        assert_eq!(capacity.offered_bytes(at(13)), 11 * 1500);
        assert_eq!(capacity.mean_rate(), Rate::from_bps(4 * 12_000 * 200));
    }

    #[test]
    fn a_trace_of_opportunities_begins_again_at_the_instant_of_its_last_one() {
        let trace = opportunities(&[(0, 1), (3, 2), (5, 1)], AtEnd::Repeat);
        let mut cursor = Cursor::after(&trace, at(2));
        let mut seen = Vec::new();
        for _ in 0..5 {
            let (time, bytes) = cursor.opportunities(&trace).unwrap();
            seen.push((time.as_ps() / PS_PER_MS, bytes));
            cursor = cursor.next(&trace);
        }
        assert_eq!(
            seen,
            [(3, 3000), (5, 1500), (5, 1500), (8, 3000), (10, 1500)]
        );
        // A packet at the instant of an opportunity misses it.
        let (time, _) = Cursor::after(&trace, at(8)).opportunities(&trace).unwrap();
        assert_eq!(time, at(10));
        let once = opportunities(&[(3, 2), (5, 1)], AtEnd::Stop);
        assert!(Cursor::after(&once, at(4)).opportunities(&once).is_some());
        assert!(Cursor::after(&once, at(5)).opportunities(&once).is_none());
    }

    #[test]
    fn unordered_and_empty_traces_are_refused() {
        let rate = |ms, bps| RateStep { from: at(ms), bps };
        let trace = |steps, ms| RateTrace::new(steps, at(ms), AtEnd::Hold);
        assert!(trace(vec![], 1).is_none());
        assert!(trace(vec![rate(1, 5)], 2).is_none());
        assert!(trace(vec![rate(0, 5), rate(2, 5)], 2).is_none());
        assert!(trace(vec![rate(0, 5), rate(0, 6)], 2).is_none());
        let zero = Opportunities { at_ms: 0, count: 1 };
        assert!(OpportunityTrace::new(vec![zero], AtEnd::Stop).is_none());
        assert!(OpportunityTrace::new(vec![], AtEnd::Stop).is_none());
    }
}
