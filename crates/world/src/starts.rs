//! The start times and random draws of flows.

use backlane_engine::Streams;
use backlane_scenario::model::{Law, Start};
use backlane_units::Duration;

/// The starts of the flows of a group, one after another.
pub(crate) struct Starts {
    rule: Start,
    index: u64,
    /// The last start, where the times between two are drawn.
    last: Option<Duration>,
}

impl Starts {
    pub(crate) const fn new(rule: Start) -> Self {
        Self {
            rule,
            index: 0,
            last: None,
        }
    }

    /// The start of the next flow, after the warm-up.
    pub(crate) fn next(&mut self, flow: &str, streams: &Streams) -> Duration {
        let index = self.index;
        self.index += 1;
        match self.rule {
            Start::At(at) => at,
            Start::Every {
                first,
                gap: Law::Fixed(gap),
            } => first.saturating_add(gap.saturating_mul(index)),
            Start::Every { first, gap } => {
                let start = match self.last {
                    None => first,
                    Some(last) => last.saturating_add(time(gap, flow, "gap", streams)),
                };
                self.last = Some(start);
                start
            }
            Start::Uniform(from, to) => time(Law::Uniform(from, to), flow, "start", streams),
            Start::Staggered => Start::staggered(index + 1),
        }
    }
}

/// A time of one flow.
pub(crate) fn time(law: Law<Duration>, flow: &str, purpose: &str, streams: &Streams) -> Duration {
    let draw = || streams.stream(flow, purpose);
    match law {
        Law::Fixed(time) => time,
        Law::Uniform(low, high) => {
            let span = high.saturating_sub(low).as_secs_f64();
            low + Duration::from_secs_f64(span * draw().uniform())
        }
        Law::Exponential(mean) => Duration::from_secs_f64(draw().exponential(mean.as_secs_f64())),
    }
}

/// The size of one flow, in whole bytes and never zero.
pub(crate) fn size_bytes(law: Law<u64>, flow: &str, streams: &Streams) -> u64 {
    let draw = || streams.stream(flow, "size");
    match law {
        Law::Fixed(bytes) => bytes,
        Law::Uniform(low, high) => low + draw().uniform_below((high - low).saturating_add(1)),
        Law::Exponential(mean) => (draw().exponential(mean as f64) as u64).max(1),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn starts(rule: Start, count: usize) -> Vec<f64> {
        let streams = Streams::new(1);
        let mut starts = Starts::new(rule);
        (0..count)
            .map(|i| starts.next(&format!("ue{i}"), &streams).as_secs_f64())
            .collect()
    }

    #[test]
    fn the_published_schedule_has_batches_of_25_four_seconds_apart() {
        let all = starts(Start::Staggered, 100);
        assert_eq!(
            [1, 25, 26, 50, 51, 76, 100].map(|i| all[i - 1]),
            [4.05, 5.25, 8.05, 9.25, 12.05, 16.05, 17.25]
        );
    }

    #[test]
    fn a_uniform_start_depends_on_the_flow_alone() {
        let rule = Start::Uniform(Duration::from_secs(1), Duration::from_secs(3));
        let streams = Streams::new(1);
        let mut group = Starts::new(rule);
        let at = group.next("ue1", &streams);
        assert_ne!(at, group.next("ue2", &streams));
        assert_eq!(at, group.next("ue1", &streams));
        assert!((1.0..3.0).contains(&at.as_secs_f64()));
    }

    /// The mean of 4000 exponential times has a standard deviation of 1.6 % of it, that of as many
    /// uniform ones from zero 0.9 %.
    #[test]
    fn drawn_times_between_starts_have_the_mean_that_was_asked_for() {
        let mean = Duration::from_millis(100);
        for gap in [
            Law::Exponential(mean),
            Law::Uniform(Duration::ZERO, mean + mean),
        ] {
            let first = Duration::from_secs(2);
            let all = starts(Start::Every { first, gap }, 4001);
            assert_eq!(all[0], 2.0);
            assert!(all.is_sorted());
            let measured = (all[4000] - 2.0) / 4000.0;
            assert!((measured / 0.1 - 1.0).abs() < 0.05, "{measured}");
        }
    }

    #[test]
    fn drawn_sizes_keep_to_their_law() {
        let streams = Streams::new(1);
        let sizes = |law| -> Vec<u64> {
            (0..4000)
                .map(|i| size_bytes(law, &format!("ue{i}"), &streams))
                .collect()
        };
        let uniform = sizes(Law::Uniform(10, 12));
        assert!([10, 11, 12].iter().all(|size| uniform.contains(size)));
        assert!(uniform.iter().all(|size| (10..=12).contains(size)));
        let exponential = sizes(Law::Exponential(15_600));
        // 90 % lie below ln 10 means: 35.9 kB; three standard deviations of the share are 1.4 %.
        let below = exponential.iter().filter(|&&size| size <= 35_920).count();
        assert!((below as f64 / 4000.0 - 0.9).abs() < 0.0143, "{below}");
    }
}
