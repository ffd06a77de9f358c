//! A histogram of durations with buckets of constant relative width.

use backlane_units::Duration;

/// Buckets to an octave: a bucket is 1.1 % wide.
const BUCKETS_PER_OCTAVE: f64 = 64.0;
/// The lower edge of the first bucket, in seconds.
const FLOOR_S: f64 = 1e-6;

/// Durations from a microsecond up, with exact count, mean and extremes, and quantiles with an
/// error of less than a bucket (1.1 %).
#[derive(Clone, Debug, Default)]
pub struct Histogram {
    counts: Vec<u32>,
    count: u64,
    sum_s: f64,
    min_s: f64,
    max_s: f64,
    /// The bucket of the last sample and its range: consecutive samples are often similar, and a
    /// logarithm is slow.
    last: (f64, f64, usize),
}

impl Histogram {
    /// Adds a sample.
    #[inline]
    pub fn add(&mut self, sample: Duration) {
        let sample_s = sample.as_secs_f64();
        let (from, to, mut bucket) = self.last;
        if !(from..to).contains(&sample_s) {
            bucket = bucket_of(sample_s);
            self.last = (edge(bucket), edge(bucket + 1), bucket);
            if bucket >= self.counts.len() {
                self.counts.resize(bucket + 1, 0);
            }
        }
        self.counts[bucket] += 1;
        self.sum_s += sample_s;
        if self.count == 0 || sample_s < self.min_s {
            self.min_s = sample_s;
        }
        self.max_s = self.max_s.max(sample_s);
        self.count += 1;
    }

    /// The number of samples.
    pub fn count(&self) -> u64 {
        self.count
    }

    /// The mean, in seconds; `None` without samples.
    pub fn mean_s(&self) -> Option<f64> {
        (self.count > 0).then(|| self.sum_s / self.count as f64)
    }

    /// The value below which a share `q` of the samples lies, in seconds, linear within a
    /// bucket; `None` without samples.
    pub fn quantile_s(&self, q: f64) -> Option<f64> {
        if self.count == 0 {
            return None;
        }
        let rank = q.clamp(0.0, 1.0) * self.count as f64;
        let mut below = 0.0;
        for (bucket, &count) in self.counts.iter().enumerate() {
            let count = f64::from(count);
            if count > 0.0 && below + count >= rank {
                let share = (rank - below) / count;
                let (from, to) = (edge(bucket), edge(bucket + 1));
                return Some((from + share * (to - from)).clamp(self.min_s, self.max_s));
            }
            below += count;
        }
        Some(self.max_s)
    }
}

fn bucket_of(sample_s: f64) -> usize {
    (libm::log2(sample_s.max(FLOOR_S) / FLOOR_S) * BUCKETS_PER_OCTAVE) as usize
}

fn edge(bucket: usize) -> f64 {
    FLOOR_S * libm::exp2(bucket as f64 / BUCKETS_PER_OCTAVE)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_are_within_a_bucket_and_the_mean_is_exact() {
        let mut histogram = Histogram::default();
        for us in 1..=10_000 {
            histogram.add(Duration::from_micros(us * 10));
        }
        assert_eq!(histogram.count(), 10_000);
        assert!((histogram.mean_s().unwrap() - 0.050_005).abs() < 1e-9);
        for q in [0.01, 0.2, 0.5, 0.95, 0.99] {
            let exact = q * 0.1;
            let got = histogram.quantile_s(q).unwrap();
            assert!((got / exact - 1.0).abs() < 0.011, "q {q}: {got}");
        }
        assert_eq!(histogram.quantile_s(1.0), Some(0.1));
    }

    #[test]
    fn a_constant_has_itself_for_every_quantile() {
        let mut histogram = Histogram::default();
        for _ in 0..10 {
            histogram.add(Duration::from_millis(40));
        }
        assert_eq!(histogram.quantile_s(0.05), Some(0.04));
        assert_eq!(histogram.quantile_s(0.95), Some(0.04));
    }

    #[test]
    fn without_samples_there_is_no_mean() {
        assert_eq!(Histogram::default().mean_s(), None);
        assert_eq!(Histogram::default().quantile_s(0.5), None);
    }

    /// Samples 10 µs apart in buckets of 1.1 %: the error of linear interpolation is less than
    /// the distance of two samples, that of the bucket's edge up to 1 ms.
    #[test]
    fn quantiles_of_evenly_spread_samples_are_exact_to_a_sample() {
        let mut histogram = Histogram::default();
        for us in 1..=10_000 {
            histogram.add(Duration::from_micros(us * 10));
        }
        for percent in 1..=99 {
            let q = f64::from(percent) / 100.0;
            let got = histogram.quantile_s(q).unwrap();
            assert!((got - q * 0.1).abs() <= 10.1e-6, "q {q}: {got}");
        }
    }
}
