//! What a UE hears, where a recorded trace says so.

use backlane_net::AtEnd;
use backlane_units::{Duration, SimTime};

/// Values over time; each lasts until the next.
#[derive(Clone, Debug, PartialEq)]
pub struct ChannelTrace {
    times: Vec<Duration>,
    values: Vec<f64>,
    period: Duration,
    at_end: AtEnd,
    origin: SimTime,
}

impl ChannelTrace {
    /// As many values as times, which are in order, the first zero; the last value lasts until
    /// `period`. Times count from `origin`; before it the first value holds. `None` where they
    /// are not so.
    pub fn new(
        times: Vec<Duration>,
        values: Vec<f64>,
        period: Duration,
        at_end: AtEnd,
        origin: SimTime,
    ) -> Option<Self> {
        let in_order = times.windows(2).all(|pair| pair[0] < pair[1]);
        let whole = times.first()? == &Duration::ZERO && *times.last()? < period;
        (in_order && whole && times.len() == values.len()).then_some(Self {
            times,
            values,
            period,
            at_end,
            origin,
        })
    }

    /// The value at a time; `None` after the end of a trace that stops.
    pub fn value(&self, now: SimTime) -> Option<f64> {
        let mut within = now.saturating_since(self.origin);
        if within >= self.period {
            match self.at_end {
                AtEnd::Repeat => {
                    within = Duration::from_ps(within.as_ps() % self.period.as_ps());
                }
                AtEnd::Hold => {}
                AtEnd::Stop => return None,
            }
        }
        let next = self.times.partition_point(|time| *time <= within);
        self.values.get(next.checked_sub(1)?).copied()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn trace(at_end: AtEnd) -> ChannelTrace {
        let times = [0, 10, 15].map(Duration::from_millis).to_vec();
        let period = Duration::from_millis(20);
        let origin = SimTime::ZERO + Duration::from_millis(100);
        ChannelTrace::new(times, vec![1.0, 2.0, 3.0], period, at_end, origin).unwrap()
    }

    #[test]
    fn a_value_lasts_until_the_next_and_the_end_is_as_stated() {
        let at = |ms| SimTime::ZERO + Duration::from_millis(ms);
        for (at_end, after) in [
            (AtEnd::Repeat, [Some(1.0), Some(3.0)]),
            (AtEnd::Hold, [Some(3.0), Some(3.0)]),
            (AtEnd::Stop, [None, None]),
        ] {
            let trace = trace(at_end);
            let during = [0, 100, 109, 110, 114, 115, 119].map(|ms| trace.value(at(ms)));
            assert_eq!(during, [1.0, 1.0, 1.0, 2.0, 2.0, 3.0, 3.0].map(Some));
            assert_eq!([120, 1_017].map(|ms| trace.value(at(ms))), after);
        }
    }
}
