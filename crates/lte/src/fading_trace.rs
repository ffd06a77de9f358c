//! Fading from a recorded trace: a gain for each resource block and millisecond, as in ns-3's
//! LENA.
//!
//! LENA has one trace for all links. A link plays a window of it, from an offset drawn for that
//! link, and goes on to another window when it has ended; all windows end together, at multiples
//! of their length. An offset lies between one sample after the begin and one window before the
//! end.

use backlane_engine::Stream;
use backlane_units::Duration;

/// Gains over time, of each resource block.
#[derive(Clone, Debug, PartialEq)]
pub struct FadingTrace {
    blocks: usize,
    samples: usize,
    /// As ratios, for each sample and block.
    gains: Vec<f32>,
    window: u64,
}

impl FadingTrace {
    /// One row of decibels for each resource block, from the lowest frequency on, with a value
    /// each millisecond; a window is that many whole milliseconds long, at least one. `None` where
    /// there is no row, a row is empty, or rows differ in length.
    pub fn new(rows_db: &[Vec<f64>], window: Duration) -> Option<Self> {
        let samples = rows_db.first()?.len();
        if samples == 0 || rows_db.iter().any(|row| row.len() != samples) {
            return None;
        }
        let at = |sample: usize| rows_db.iter().map(move |row| row[sample]);
        let ratio = |db: f64| backlane_radio::level::ratio(db) as f32;
        Some(Self {
            blocks: rows_db.len(),
            samples,
            gains: (0..samples).flat_map(at).map(ratio).collect(),
            window: (window.as_ps() / Duration::from_millis(1).as_ps()).max(1),
        })
    }

    /// Resource blocks.
    pub fn blocks(&self) -> usize {
        self.blocks
    }

    fn offsets(&self) -> u64 {
        (self.samples as u64).saturating_sub(self.window)
    }
}

/// What a link takes of the trace.
#[derive(Debug)]
pub(crate) struct Windows {
    draws: Stream,
    /// The offset of each window so far.
    offsets: Vec<u64>,
}

impl Windows {
    pub(crate) fn new(draws: Stream) -> Self {
        Self {
            draws,
            offsets: Vec::new(),
        }
    }

    /// The gains of the resource blocks in a TTI.
    pub(crate) fn gains<'a>(&mut self, trace: &'a FadingTrace, tti: u64) -> &'a [f32] {
        let window = (tti / trace.window) as usize;
        while self.offsets.len() <= window {
            let choices = trace.offsets();
            let offset = if choices == 0 {
                0
            } else {
                1 + self.draws.uniform_below(choices)
            };
            self.offsets.push(offset);
        }
        let sample = (self.offsets[window] + tti % trace.window) as usize % trace.samples;
        let begin = sample * trace.blocks;
        &trace.gains[begin..begin + trace.blocks]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use backlane_engine::Streams;

    fn trace(samples: usize) -> FadingTrace {
        let row = |block: usize| {
            let db = move |sample: usize| (sample * 10 + block) as f64 / 10.0;
            (0..samples).map(db).collect::<Vec<_>>()
        };
        let rows: Vec<_> = (0..6).map(row).collect();
        FadingTrace::new(&rows, Duration::from_millis(20)).unwrap()
    }

    /// The sample that a gain was, by the rows above.
    fn sample(gains: &[f32]) -> usize {
        let db = |gain: f32| 10.0 * libm::log10(f64::from(gain));
        for (block, gain) in gains.iter().enumerate() {
            assert!((db(*gain) - db(gains[0]) - block as f64 / 10.0).abs() < 1e-4);
        }
        db(gains[0]).round() as usize
    }

    #[test]
    fn a_window_plays_samples_in_order_and_the_next_begins_elsewhere() {
        let trace = trace(100);
        let mut windows = Windows::new(Streams::new(1).stream("ue1", "fading"));
        let mut begins = Vec::new();
        for window in 0..200 {
            let begin = sample(windows.gains(&trace, 20 * window));
            assert!((1..=80).contains(&begin), "{begin}");
            for within in 0..20 {
                let gains = windows.gains(&trace, 20 * window + within);
                assert_eq!(sample(gains), begin + within as usize);
            }
            begins.push(begin);
        }
        begins.sort_unstable();
        begins.dedup();
        // 200 draws of 80 miss a given one with 8 %.
        assert!(begins.len() > 60, "{}", begins.len());
    }

    #[test]
    fn gains_depend_on_time_alone_and_a_short_trace_repeats() {
        let windows = || Windows::new(Streams::new(2).stream("ue1", "fading"));
        let (long, short) = (trace(100), trace(20));
        let (mut forward, mut jump) = (windows(), windows());
        for tti in 0..500 {
            forward.gains(&long, tti);
        }
        assert_eq!(forward.gains(&long, 333), jump.gains(&long, 333));
        for tti in 0..60 {
            assert_eq!(sample(windows().gains(&short, tti)), tti as usize % 20);
        }
        assert!(FadingTrace::new(&[], Duration::from_millis(500)).is_none());
        let uneven = [vec![0.0; 2], vec![0.0]];
        assert!(FadingTrace::new(&uneven, Duration::from_millis(500)).is_none());
    }
}
