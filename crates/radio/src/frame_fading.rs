//! Fading that is drawn for each frame.
//!
//! The gain is a power around a mean of one: exponential with Rayleigh's amplitudes, gamma with
//! Nakagami's. A frame is short beside the channel's coherence, and the next one comes so much
//! later that it meets another channel; that is the model, and what it leaves out is memory
//! between frames ([`crate::Fading`] has it).

use backlane_engine::Stream;
use backlane_param::choice;

choice! {
    /// Fading of the received power, drawn for each frame and receiver.
    #[derive(Clone, Copy, Debug, PartialEq)]
    pub enum FrameFading as "fading" {
        /// The distribution.
        model = None;

        /// No fading.
        None = "none";
        /// No path is stronger than the others: the power is exponential.
        Rayleigh = "rayleigh";
        /// The power has a gamma distribution.
        ///
        /// Its mean is one (Nakagami 1960).
        Nakagami = "nakagami" {
            /// Its shape: 1 is Rayleigh, more is less fading.
            m: f64, in 0.5..=100.0;
        }
    }
}

impl FrameFading {
    /// A gain, as a ratio of powers. Without fading nothing is drawn.
    #[inline]
    pub fn gain(self, stream: &mut Stream) -> f64 {
        match self {
            Self::None => 1.0,
            Self::Rayleigh => stream.exponential(1.0),
            Self::Nakagami { m } => gamma(m, stream) / m,
        }
    }
}

/// A gamma variate of this shape and scale one (Marsaglia and Tsang 2000, ACM TOMS 26(3)); a shape
/// below one is raised by one and the variate multiplied with U^(1/shape), as they say.
fn gamma(shape: f64, stream: &mut Stream) -> f64 {
    if shape < 1.0 {
        // 1 − U is never zero.
        let power = libm::pow(1.0 - stream.uniform(), 1.0 / shape);
        return gamma(shape + 1.0, stream) * power;
    }
    let body = shape - 1.0 / 3.0;
    let spread = 1.0 / libm::sqrt(9.0 * body);
    loop {
        let x = normal(stream);
        let root = 1.0 + spread * x;
        if root <= 0.0 {
            continue;
        }
        let v = root * root * root;
        let u = 1.0 - stream.uniform();
        if libm::log(u) < 0.5 * x * x + body * (1.0 - v + libm::log(v)) {
            return body * v;
        }
    }
}

/// A standard normal variate, by the first of Box and Muller's two.
fn normal(stream: &mut Stream) -> f64 {
    let radius = libm::sqrt(2.0 * stream.exponential(1.0));
    radius * libm::cos(2.0 * core::f64::consts::PI * stream.uniform())
}

#[cfg(test)]
mod tests {
    use super::*;
    use backlane_engine::Streams;

    type Law<'a> = &'a dyn Fn(f64) -> f64;

    const N: usize = 200_000;

    fn gains(fading: FrameFading, purpose: &str) -> Vec<f64> {
        let mut stream = Streams::new(11).stream("test", purpose);
        (0..N).map(|_| fading.gain(&mut stream)).collect()
    }

    /// E gᵏ = m(m + 1)…(m + k − 1)/mᵏ, at five standard errors, which follow from E g²ᵏ.
    #[test]
    fn gains_have_the_moments_of_a_gamma_law() {
        for (fading, m) in [
            (FrameFading::Rayleigh, 1.0),
            (FrameFading::Nakagami { m: 0.5 }, 0.5),
            (FrameFading::Nakagami { m: 1.0 }, 1.0),
            (FrameFading::Nakagami { m: 3.0 }, 3.0),
            (FrameFading::Nakagami { m: 10.5 }, 10.5),
        ] {
            let gains = gains(fading, &format!("moments {fading:?}"));
            let moment = |k: i32| (0..k).map(|j| (m + f64::from(j)) / m).product::<f64>();
            for k in 1..=3 {
                let power = |g: f64| (0..k).map(|_| g).product::<f64>();
                let found = gains.iter().map(|&g| power(g)).sum::<f64>() / N as f64;
                let variance = moment(2 * k) - moment(k) * moment(k);
                let error = 5.0 * libm::sqrt(variance / N as f64);
                let expected = moment(k);
                assert!(
                    (found - expected).abs() < error,
                    "{fading:?}, moment {k}: {found}, {expected} ± {error}"
                );
            }
        }
    }

    /// Kolmogorov and Smirnov's distance at 0.1 %, 1.95/√n, against the two laws with closed forms:
    /// 1 − exp(−g), and for m = 2 1 − (1 + 2g) exp(−2g).
    #[test]
    fn gains_are_exponential_and_erlang() {
        let two = |g: f64| 1.0 - (1.0 + 2.0 * g) * libm::exp(-2.0 * g);
        let one = |g: f64| 1.0 - libm::exp(-g);
        let laws: [(FrameFading, Law); 3] = [
            (FrameFading::Rayleigh, &one),
            (FrameFading::Nakagami { m: 1.0 }, &one),
            (FrameFading::Nakagami { m: 2.0 }, &two),
        ];
        for (fading, law) in laws {
            let mut gains = gains(fading, &format!("law {fading:?}"));
            gains.sort_by(f64::total_cmp);
            let distance = gains
                .iter()
                .enumerate()
                .map(|(index, &g)| {
                    let expected = law(g);
                    let below = index as f64 / N as f64;
                    (expected - below)
                        .abs()
                        .max((expected - below - 1.0 / N as f64).abs())
                })
                .fold(0.0, f64::max);
            assert!(
                distance < 1.95 / libm::sqrt(N as f64),
                "{fading:?}: {distance}"
            );
        }
    }

    #[test]
    fn without_fading_nothing_is_drawn() {
        let mut stream = Streams::new(1).stream("test", "none");
        let mut untouched = stream.clone();
        assert_eq!(FrameFading::None.gain(&mut stream), 1.0);
        assert_eq!(stream.next_u64(), untouched.next_u64());
    }
}
