//! The run-twice check: the same run must have the same events and draws in the same order.

use backlane_engine::Trace;

/// Executes a run twice and returns the first difference: the number of the event or draw, and
/// both events or draws. `None`: the runs are equal.
pub fn first_difference(mut run: impl FnMut(Trace)) -> Option<String> {
    let logs = [Trace::new(), Trace::new()];
    for log in &logs {
        run(log.clone());
    }
    let [first, second] = logs;
    assert!(
        !first.entries().is_empty(),
        "a run that does nothing shows nothing"
    );
    first
        .first_difference(&second)
        .map(|(index, a, b)| format!("entry {index}: first run {a:?}, second run {b:?}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use backlane_engine::Streams;

    #[test]
    fn the_first_draw_that_differs_is_named() {
        let mut seed = 0;
        let difference = first_difference(|log| {
            seed += 1;
            Streams::new(seed)
                .with_trace(log)
                .stream("enb1", "jitter")
                .next_u64();
        });
        assert!(
            difference
                .unwrap()
                .starts_with("entry 0: first run Some(Draw { stream: \"enb1/jitter\"")
        );
    }

    #[test]
    fn like_runs_have_no_difference() {
        let run = |log| {
            Streams::new(1)
                .with_trace(log)
                .stream("enb1", "jitter")
                .next_u64();
        };
        assert_eq!(first_difference(run), None);
    }
}
