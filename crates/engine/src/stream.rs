//! Named random streams.
//!
//! The generator is xoshiro256++ (Blackman and Vigna 2019) with a 256-bit state derived by
//! SipHash-2-4 from (run seed, entity, purpose). The samplers are implemented here, because those
//! of a library may change between versions.

use std::hash::Hasher;
use std::sync::Arc;

use rand_core::{RngCore, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use siphasher::sip::SipHasher24;

use crate::trace::{Trace, TraceEntry};

/// The source of all streams of a run.
#[derive(Clone, Debug, Default)]
pub struct Streams {
    seed: u64,
    trace: Option<Trace>,
}

/// One random stream.
#[derive(Clone, Debug)]
pub struct Stream {
    generator: Xoshiro256PlusPlus,
    trace: Option<(Arc<str>, Trace)>,
}

impl Streams {
    /// The streams of the run with this seed.
    pub fn new(seed: u64) -> Self {
        Self { seed, trace: None }
    }

    /// Logs every draw of the streams made from here on.
    #[must_use]
    pub fn with_trace(mut self, trace: Trace) -> Self {
        self.trace = Some(trace);
        self
    }

    /// The stream of `entity` for `purpose`. The same names give the same stream again.
    pub fn stream(&self, entity: &str, purpose: &str) -> Stream {
        let mut seed = [0u8; 32];
        for (lane, bytes) in seed.chunks_exact_mut(8).enumerate() {
            let mut hasher = SipHasher24::new_with_keys(self.seed, lane as u64);
            hasher.write(&(entity.len() as u64).to_le_bytes());
            hasher.write(entity.as_bytes());
            hasher.write(purpose.as_bytes());
            bytes.copy_from_slice(&hasher.finish().to_le_bytes());
        }
        Stream {
            generator: Xoshiro256PlusPlus::from_seed(seed),
            trace: self
                .trace
                .clone()
                .map(|trace| (format!("{entity}/{purpose}").into(), trace)),
        }
    }
}

impl Stream {
    /// The next 64 random bits.
    #[inline]
    pub fn next_u64(&mut self) -> u64 {
        let value = self.generator.next_u64();
        if let Some((stream, trace)) = &self.trace {
            trace.push(TraceEntry::Draw {
                stream: stream.clone(),
                value,
            });
        }
        value
    }

    /// Uniform in [0, 1), a multiple of 2⁻⁵³.
    #[inline]
    pub fn uniform(&mut self) -> f64 {
        (self.next_u64() >> 11) as f64 * (1.0 / (1u64 << 53) as f64)
    }

    /// Uniform among 0, 1, …, `n` − 1, without bias (Lemire 2019). `n` must not be zero.
    #[inline]
    pub fn uniform_below(&mut self, n: u64) -> u64 {
        debug_assert!(n > 0);
        let mut product = u128::from(self.next_u64()) * u128::from(n);
        if (product as u64) < n {
            let threshold = n.wrapping_neg() % n;
            while (product as u64) < threshold {
                product = u128::from(self.next_u64()) * u128::from(n);
            }
        }
        (product >> 64) as u64
    }

    /// True with probability `p`.
    #[inline]
    pub fn bernoulli(&mut self, p: f64) -> bool {
        self.uniform() < p
    }

    /// Exponential with the given mean.
    #[inline]
    pub fn exponential(&mut self, mean: f64) -> f64 {
        -mean * libm::log1p(-self.uniform())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stream_depends_on_seed_entity_and_purpose_alone() {
        let first = |seed, entity, purpose| Streams::new(seed).stream(entity, purpose).next_u64();
        assert_eq!(first(1, "enb1", "jitter"), first(1, "enb1", "jitter"));
        assert_ne!(first(1, "enb1", "jitter"), first(2, "enb1", "jitter"));
        assert_ne!(first(1, "enb1", "jitter"), first(1, "enb2", "jitter"));
        assert_ne!(first(1, "enb1", "jitter"), first(1, "enb1", "ties"));
        assert_ne!(first(1, "ab", "c"), first(1, "a", "bc"));
    }

    #[test]
    fn the_first_words_are_stable() {
        let mut stream = Streams::new(1).stream("enb1", "jitter");
        assert_eq!([stream.next_u64(), stream.next_u64()], FIXED);
    }

    const FIXED: [u64; 2] = [15_356_191_216_236_939_095, 11_076_029_917_091_266_420];

    /// Mean and variance against the laws, at five standard errors of 10⁵ draws.
    #[test]
    fn samplers_have_the_moments_of_their_laws() {
        let n = 100_000;
        let mut stream = Streams::new(7).stream("test", "moments");
        let moments = |draw: &mut dyn FnMut() -> f64| {
            let values: Vec<f64> = (0..n).map(|_| draw()).collect();
            let mean = values.iter().sum::<f64>() / n as f64;
            let variance = values.iter().map(|v| (v - mean) * (v - mean)).sum::<f64>() / n as f64;
            (mean, variance)
        };
        let (mean, variance) = moments(&mut || stream.uniform());
        assert!((mean - 0.5).abs() < 5.0 * (1.0 / 12.0 / n as f64).sqrt());
        assert!((variance - 1.0 / 12.0).abs() < 0.001);
        let (mean, variance) = moments(&mut || stream.exponential(2.0));
        assert!((mean - 2.0).abs() < 5.0 * 2.0 / (n as f64).sqrt());
        assert!((variance - 4.0).abs() < 5.0 * (8.0f64 * 16.0 / n as f64).sqrt());
        for p in [0.3, 0.9] {
            let (mean, _) = moments(&mut || f64::from(u8::from(stream.bernoulli(p))));
            assert!((mean - p).abs() < 5.0 * (p * (1.0 - p) / n as f64).sqrt());
        }
        let mut counts = [0u32; 7];
        for _ in 0..n {
            counts[stream.uniform_below(7) as usize] += 1;
        }
        let expected = n as f64 / 7.0;
        let chi2: f64 = counts
            .iter()
            .map(|&c| (f64::from(c) - expected).powi(2) / expected)
            .sum();
        assert!(
            chi2 < 22.5,
            "chi-square with 6 degrees of freedom, 0.1 %: {chi2}"
        );
    }
}
