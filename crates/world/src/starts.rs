//! When flows start.

use backlane_engine::Streams;
use backlane_scenario::model::Start;
use backlane_units::Duration;

/// The start of the flow `index` of its group, counted from zero, after the warm-up.
pub(crate) fn start(rule: Start, index: u64, flow: &str, streams: &Streams) -> Duration {
    match rule {
        Start::At(at) => at,
        Start::Every { first, gap } => first.saturating_add(gap.saturating_mul(index)),
        Start::Uniform(from, to) => {
            let span = to.saturating_sub(from).as_secs_f64();
            from + Duration::from_secs_f64(span * streams.stream(flow, "start").uniform())
        }
        Start::Paper => Start::paper(index + 1),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_published_schedule_has_batches_of_25_four_seconds_apart() {
        let at = |i: u64| start(Start::Paper, i - 1, "", &Streams::new(0)).as_secs_f64();
        assert_eq!(
            [at(1), at(25), at(26), at(50), at(51), at(76), at(100)],
            [4.05, 5.25, 8.05, 9.25, 12.05, 16.05, 17.25]
        );
    }

    #[test]
    fn a_uniform_start_depends_on_the_flow_alone() {
        let rule = Start::Uniform(Duration::from_secs(1), Duration::from_secs(3));
        let streams = Streams::new(1);
        let at = start(rule, 0, "ue1", &streams);
        assert_eq!(at, start(rule, 5, "ue1", &streams));
        assert_ne!(at, start(rule, 0, "ue2", &streams));
        assert!((1.0..3.0).contains(&at.as_secs_f64()));
    }
}
