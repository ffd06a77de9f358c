//! How probably bits come through.
//!
//! The ratio of signal to noise and interference is over the receiver's bandwidth
//! ([`super::Standard::bandwidth_hz`]); errors of bits are independent. So a stretch of `n` bits
//! at one ratio comes through with (1 − p)ⁿ.
//!
//! - **DBPSK**: p = ½ exp(−γ), γ = E_b/N₀ (Proakis, Digital Communications, eq. 5.2-69).
//! - **DQPSK** with Gray's mapping: exact, as a single integral (Simon and Alouini's form of
//!   Marcum's function), instead of the approximation of Ferrari and Corazza 2004 that ns-3 has.
//! - **CCK**: a symbol of 5.5 Mb/s is one of sixteen biorthogonal signals, one of 11 Mb/s two
//!   such at half the energy (Pursley and Royster 2009, eq. 18 and 17), each at E/N₀ of half the
//!   symbol's, as in ns-3.
//! - **OFDM**: Pei and Henderson's model ("NIST" in ns-3): hard decisions of the demodulator with
//!   error p̂ go into a Viterbi decoder of the code (133, 171), whose bit errors are bounded by
//!   (1/2b) Σ B_d D^d with D = √(4 p̂ (1 − p̂)).
//!
//! It leaves out soft decisions (some 2 dB better), correlation of errors within a symbol or
//! along the trellis, and everything that a channel does within a frame.

use core::f64::consts::{PI, SQRT_2};

use backlane_radio::level::{decibels, ratio};
use libm::{erfc, exp, expm1, log, log1p, pow, sin, sqrt};

use super::standard::{Mode, Standard};

/// Information bits in error on all paths of distance d, from the free distance on, of the code
/// (133, 171) and its puncturings: rate 1/2 (distances 10, 12, …), 2/3 (6, 7, …), 3/4 (5, 6, …).
const WEIGHTS_1_2: [f64; 9] = [
    36.0,
    211.0,
    1404.0,
    11_633.0,
    77_433.0,
    502_690.0,
    3_322_763.0,
    21_292_910.0,
    134_365_911.0,
];
const WEIGHTS_2_3: [f64; 10] = [
    3.0,
    70.0,
    285.0,
    1276.0,
    6160.0,
    27_128.0,
    117_019.0,
    498_860.0,
    2_103_891.0,
    8_784_123.0,
];
const WEIGHTS_3_4: [f64; 10] = [
    42.0,
    201.0,
    1492.0,
    10_469.0,
    62_935.0,
    379_644.0,
    2_253_373.0,
    13_073_811.0,
    75_152_755.0,
    428_005_675.0,
];

/// The decibels that the table spans, and its steps in one.
const LEAST_DB: f64 = -25.0;
const MOST_DB: f64 = 36.0;
const STEPS_PER_DB: f64 = 10.0;
/// A bit with this error rate carries no information; a bound above it is void.
const MOST_ERROR: f64 = 0.5;
/// An error that is rarer than one in 10¹⁵ bits is never met: a frame has 10⁴ and a run 10⁷ frames.
const LEAST_EXPONENT: f64 = -35.0;

/// ln ½.
const LOG_HALF: f64 = -std::f64::consts::LN_2;

/// The error rates of a standard's modes, tabulated.
#[derive(Clone, Debug)]
pub struct ErrorRate {
    /// For each mode of [`Mode::ALL`] ln(−ln(1 − p)) at each step; empty if it is of another
    /// standard.
    tables: [Vec<f64>; Mode::ALL.len()],
    /// For each mode the ratio from which on all bits come through.
    certain: [f64; Mode::ALL.len()],
    /// For each mode the ratio up to which the hazard of a bit is above a half.
    garbled: [f64; Mode::ALL.len()],
}

impl ErrorRate {
    /// Tabulates the modes of `standard`.
    pub fn new(standard: Standard) -> Self {
        let steps = ((MOST_DB - LEAST_DB) * STEPS_PER_DB) as usize;
        let at = |step| ratio(LEAST_DB + step as f64 / STEPS_PER_DB);
        let tables = Mode::ALL.map(|mode| {
            if !standard.modes().contains(&mode) {
                return Vec::new();
            }
            (0..=steps).map(|step| log_hazard(mode, at(step))).collect()
        });
        // A step further, so that it is certain with either's rounding.
        let certain = tables.each_ref().map(|table: &Vec<f64>| {
            let least = table.iter().position(|&log| log <= LEAST_EXPONENT);
            least.map_or(f64::INFINITY, |step| at(step + 1))
        });
        let garbled = tables.each_ref().map(|table: &Vec<f64>| {
            let steps = table.iter().take_while(|&&log| log > LOG_HALF).count();
            steps.checked_sub(2).map_or(0.0, at)
        });
        Self {
            tables,
            certain,
            garbled,
        }
    }

    /// −ln of the probability that `bits` bits in `mode` come through at the ratio `sinr`. Those
    /// of the parts of a frame add up.
    ///
    /// # Panics
    /// If the mode is not of the standard for which this was made.
    pub fn hazard(&self, mode: Mode, sinr: f64, bits: f64) -> f64 {
        let table = &self.tables[mode.index()];
        assert!(!table.is_empty(), "{mode:?} is of another standard");
        if self.is_certain(mode, sinr) {
            return 0.0;
        }
        let last = table.len() - 1;
        let place = ((decibels(sinr) - LEAST_DB) * STEPS_PER_DB).clamp(0.0, last as f64);
        let step = (place as usize).min(last - 1);
        let exponent = table[step] + (table[step + 1] - table[step]) * (place - step as f64);
        if exponent <= LEAST_EXPONENT {
            return 0.0;
        }
        bits * exp(exponent)
    }

    /// Whether any number of bits in `mode` comes through at the ratio `sinr`.
    #[inline]
    pub fn is_certain(&self, mode: Mode, sinr: f64) -> bool {
        sinr >= self.certain[mode.index()]
    }

    /// Whether the [hazard](Self::hazard) of each bit in `mode` is above a half at the ratio `sinr`.
    #[inline]
    pub fn is_garbled(&self, mode: Mode, sinr: f64) -> bool {
        sinr <= self.garbled[mode.index()]
    }

    /// The probability that `bits` bits in `mode` come through at the ratio `sinr`.
    ///
    /// # Panics
    /// If the mode is not of the standard for which this was made.
    pub fn success(&self, mode: Mode, sinr: f64, bits: f64) -> f64 {
        exp(-self.hazard(mode, sinr, bits))
    }
}

/// ln(−ln(1 − p)) of one bit.
fn log_hazard(mode: Mode, sinr: f64) -> f64 {
    let error = bit_error(mode, sinr).min(MOST_ERROR);
    log(-log1p(-error)).max(LEAST_EXPONENT)
}

/// The probability that a bit is wrong; for OFDM a bound, which may be above one.
fn bit_error(mode: Mode, sinr: f64) -> f64 {
    // The energy of a bit over the noise density: the bandwidth by the rate times the ratio.
    let per_bit = |rate_mbps: f64| sinr * 22.0 / rate_mbps;
    match mode {
        Mode::Dsss1 => 0.5 * exp(-per_bit(1.0)),
        Mode::Dsss2 => dqpsk(per_bit(2.0)),
        // Errors of symbols, spread evenly over their bits.
        Mode::Cck5 => per_bit_of_symbol(biorthogonal_16(2.0 * per_bit(5.5)), 4.0),
        Mode::Cck11 => {
            let half = biorthogonal_16(2.0 * per_bit(11.0));
            per_bit_of_symbol(half * (2.0 - half), 8.0)
        }
        Mode::Ofdm6 => half_rate(bpsk(sinr)),
        Mode::Ofdm9 => three_quarters(bpsk(sinr)),
        Mode::Ofdm12 => half_rate(qpsk(sinr)),
        Mode::Ofdm18 => three_quarters(qpsk(sinr)),
        Mode::Ofdm24 => half_rate(qam16(sinr)),
        Mode::Ofdm36 => three_quarters(qam16(sinr)),
        Mode::Ofdm48 => decoded(qam64(sinr), 6.0, 1.0, 2.0, &WEIGHTS_2_3),
        Mode::Ofdm54 => three_quarters(qam64(sinr)),
    }
}

/// The error of a bit if symbols of `bits` bits fail with this probability.
fn per_bit_of_symbol(symbol_error: f64, bits: f64) -> f64 {
    if symbol_error >= 1.0 {
        return 1.0;
    }
    -expm1(log1p(-symbol_error) / bits)
}

/// P = (1/4π) ∫ (1 − ζ²)/(1 + 2ζ sin θ + ζ²) exp(−γ (1 + 1/√2)(1 + 2ζ sin θ + ζ²)) dθ over a
/// turn, ζ² = (√2 − 1)/(√2 + 1). The integrand is periodic, so that a plain sum converges faster
/// than any power of its step.
fn dqpsk(gamma: f64) -> f64 {
    const POINTS: u32 = 128;
    let zeta = SQRT_2 - 1.0;
    let scale = gamma * (1.0 + 1.0 / SQRT_2);
    let sum: f64 = (0..POINTS)
        .map(|point| {
            let angle = 2.0 * PI * f64::from(point) / f64::from(POINTS);
            let square = 1.0 + 2.0 * zeta * sin(angle) + zeta * zeta;
            (1.0 - zeta * zeta) / square * exp(-scale * square)
        })
        .sum();
    0.5 * sum / f64::from(POINTS)
}

/// The error of one of sixteen biorthogonal signals at `e`, half its E/N₀ (Proakis, eq. 5.2-34):
/// 1 − ∫ (2Φ(x + β) − 1)⁷ φ(x) dx over x > −β, β = √(2e).
fn biorthogonal_16(e: f64) -> f64 {
    let beta = sqrt(2.0 * e);
    // What is beyond ±9 standard deviations is below 10⁻¹⁸. The complement is integrated, so
    // that small errors keep their digits.
    let (least, most) = ((-beta).max(-9.0), 9.0);
    let intervals = 240;
    let step = (most - least) / f64::from(intervals);
    let density = |x: f64| exp(-0.5 * x * x) / sqrt(2.0 * PI);
    let wrong = |x: f64| {
        let outside = erfc((x + beta) / SQRT_2);
        -expm1(7.0 * log1p(-outside)) * density(x)
    };
    // Simpson's rule.
    let inner: f64 = (1..intervals)
        .map(|index| {
            let weight = if index % 2 == 1 { 4.0 } else { 2.0 };
            weight * wrong(least + f64::from(index) * step)
        })
        .sum();
    // At x = −β all seven win, and below it the opposite does.
    let (edge, below) = if least == -beta {
        (density(least), 0.5 * erfc(beta / SQRT_2))
    } else {
        (wrong(least), 0.0)
    };
    (step / 3.0 * (edge + inner + wrong(most)) + below).min(1.0)
}

/// Bit errors before the decoder: of BPSK, QPSK, 16-QAM and 64-QAM with Gray's mapping.
fn bpsk(snr: f64) -> f64 {
    0.5 * erfc(sqrt(snr))
}

fn qpsk(snr: f64) -> f64 {
    0.5 * erfc(sqrt(snr / 2.0))
}

fn qam16(snr: f64) -> f64 {
    0.75 * 0.5 * erfc(sqrt(snr / 10.0))
}

fn qam64(snr: f64) -> f64 {
    7.0 / 12.0 * 0.5 * erfc(sqrt(snr / 42.0))
}

fn half_rate(raw: f64) -> f64 {
    decoded(raw, 10.0, 2.0, 1.0, &WEIGHTS_1_2)
}

fn three_quarters(raw: f64) -> f64 {
    decoded(raw, 5.0, 1.0, 3.0, &WEIGHTS_3_4)
}

/// Bit errors behind the decoder: distances from `free` on by `step`, `inputs` bits a period.
fn decoded(raw: f64, free: f64, step: f64, inputs: f64, weights: &[f64]) -> f64 {
    let d = sqrt(4.0 * raw * (1.0 - raw));
    let ratio = pow(d, step);
    let mut power = pow(d, free);
    let mut sum = 0.0;
    for weight in weights {
        sum += weight * power;
        power *= ratio;
    }
    sum / (2.0 * inputs)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn success(mode: Mode, snr_db: f64) -> f64 {
        let standard = if mode.is_ofdm() {
            Standard::A
        } else {
            Standard::B
        };
        ErrorRate::new(standard).success(mode, ratio(snr_db), 8000.0)
    }

    /// Success of 8000 bits, as ns-3.37's NistErrorRateModel and DsssErrorRateModel (with GSL)
    /// compute it.
    #[test]
    fn bits_up_to_the_garbled_ratio_have_a_hazard_above_a_half() {
        for standard in [Standard::A, Standard::B, Standard::G, Standard::Dsss] {
            let rates = ErrorRate::new(standard);
            for &mode in standard.modes() {
                let most = rates.garbled[mode.index()];
                for part in 0..=100 {
                    let sinr = most * (f64::from(part) / 100.0);
                    assert!(rates.hazard(mode, sinr, 1.0) > 0.5, "{mode:?} at {sinr}");
                    assert!(rates.is_garbled(mode, sinr));
                }
            }
        }
    }

    #[test]
    fn frames_of_1000_bytes_come_through_as_often_as_in_ns3() {
        let points = [
            (Mode::Dsss1, -5.0, 0.022_177_928_2),
            (Mode::Dsss1, -4.0, 0.533_340_859),
            (Mode::Dsss1, -3.0, 0.936_988_076),
            (Mode::Cck5, 3.0, 0.432_321_808),
            (Mode::Cck5, 4.0, 0.905_366_455),
            (Mode::Cck11, 5.0, 0.010_082_027_3),
            (Mode::Cck11, 6.0, 0.425_250_532),
            (Mode::Cck11, 7.0, 0.903_129_201),
            (Mode::Ofdm6, 3.0, 0.141_636_346),
            (Mode::Ofdm6, 4.0, 0.940_858_797),
            (Mode::Ofdm9, 6.0, 0.311_366_66),
            (Mode::Ofdm9, 7.0, 0.958_163_458),
            (Mode::Ofdm12, 6.0, 0.132_042_086),
            (Mode::Ofdm12, 7.0, 0.938_690_664),
            (Mode::Ofdm18, 9.0, 0.299_179_426),
            (Mode::Ofdm18, 10.0, 0.956_689_103),
            (Mode::Ofdm24, 13.0, 0.703_249_107),
            (Mode::Ofdm24, 14.0, 0.986_904_346),
            (Mode::Ofdm36, 16.0, 0.621_768_479),
            (Mode::Ofdm36, 17.0, 0.980_635_512),
            (Mode::Ofdm48, 21.0, 0.805_814_283),
            (Mode::Ofdm48, 22.0, 0.991_751_454),
            (Mode::Ofdm54, 22.0, 0.640_671_564),
            (Mode::Ofdm54, 23.0, 0.978_858_722),
        ];
        for (mode, snr_db, expected) in points {
            let found = success(mode, snr_db);
            assert!(
                (found - expected).abs() < 2e-6,
                "{mode:?} at {snr_db} dB: {found}, ns-3 {expected}"
            );
        }
    }

    /// ns-3 has Ferrari and Corazza's approximation, which is some per cent above the exact error
    /// and comes nearer as errors grow rarer: 0.05 dB.
    #[test]
    fn dqpsk_is_a_little_better_than_the_approximation_in_ns3() {
        let points = [
            (0.0, 0.211_445_257),
            (1.0, 0.770_221_315),
            (2.0, 0.971_920_392),
        ];
        let hazards = points.map(|(db, ns3)| log(success(Mode::Dsss2, db)) / log(ns3));
        for (found, expected) in hazards.into_iter().zip([0.943, 0.953, 0.961]) {
            assert!((found - expected).abs() < 1e-3, "{hazards:?}");
        }
    }

    /// Q(a, b) − ½ I₀(ab) exp(−(a² + b²)/2) with a² = γ(2 − √2), b² = γ(2 + √2) (Proakis, eq.
    /// 5.2-71), by its series of Bessel functions and theirs of powers.
    #[test]
    fn dqpsk_is_marcums_function() {
        for gamma in [0.5, 2.0, 5.0, 10.0] {
            let (a, b) = (sqrt(gamma * (2.0 - SQRT_2)), sqrt(gamma * (2.0 + SQRT_2)));
            let bessel = |order: u32| {
                let half = a * b / 2.0;
                let mut term = (1..=order).fold(1.0, |term, k| term * half / f64::from(k));
                let mut sum = term;
                for k in 1..200 {
                    term *= half * half / (f64::from(k) * f64::from(k + order));
                    sum += term;
                }
                sum
            };
            let series: f64 = (0..60)
                .map(|order| pow(a / b, f64::from(order)) * bessel(order))
                .sum();
            let expected = (series - 0.5 * bessel(0)) * exp(-(a * a + b * b) / 2.0);
            assert!((dqpsk(gamma) / expected - 1.0).abs() < 1e-9, "{gamma}");
        }
    }

    /// Fourteen signals are orthogonal to the one sent and one is its opposite, so that the error
    /// is below 14 Q(β/√2) + Q(β), and close to it when errors are rare.
    #[test]
    fn biorthogonal_errors_meet_the_union_bound_from_below() {
        let tail = |x: f64| 0.5 * erfc(x / SQRT_2);
        for (e, tightness) in [(16.0, 0.08), (24.0, 0.02), (32.0, 0.005)] {
            let beta = sqrt(2.0 * e);
            let bound = 14.0 * tail(beta / SQRT_2) + tail(beta);
            let found = biorthogonal_16(e);
            assert!(
                found < bound && found > bound * (1.0 - tightness),
                "{e}: {found}, bound {bound}"
            );
        }
        // Without a signal the guess is one of sixteen.
        assert!((biorthogonal_16(0.0) - 15.0 / 16.0).abs() < 1e-3);
    }

    /// All paths through the trellis that leave the zero state and come back, counted. Where they
    /// come back they end, but only at the end of a period of the puncturing, as the tables of
    /// punctured codes have it.
    #[test]
    fn weights_are_those_of_the_code_133_171_and_its_puncturings() {
        let count = |puncturing: &[(bool, bool)], most: usize| {
            let nothing = vec![vec![(0.0, 0.0); most + 1]; 64];
            let mut weights = vec![0.0; most + 1];
            // For each state and distance: paths, and bits in error on all of them.
            let mut paths = nothing.clone();
            paths[0][0].0 = 1.0;
            for _ in 0..100 {
                for &(keep_a, keep_b) in puncturing {
                    let mut next = nothing.clone();
                    for (state, distances) in paths.iter().enumerate() {
                        for bit in 0..2 {
                            let register = bit << 6 | state;
                            let sent = |generator: usize, keep: bool| {
                                usize::from((register & generator).count_ones() % 2 == 1 && keep)
                            };
                            let more = sent(0o133, keep_a) + sent(0o171, keep_b);
                            for (distance, here) in distances.iter().enumerate() {
                                if distance + more <= most {
                                    let there = &mut next[register >> 1][distance + more];
                                    there.0 += here.0;
                                    there.1 += here.1 + here.0 * bit as f64;
                                }
                            }
                        }
                    }
                    paths = next;
                }
                for (weight, ended) in weights.iter_mut().zip(&mut paths[0]) {
                    *weight += ended.1;
                    *ended = (0.0, 0.0);
                }
            }
            weights
        };
        let (both, only_a, only_b) = ((true, true), (true, false), (false, true));
        let half = count(&[both], 20);
        assert_eq!(half[..10], [0.0; 10]);
        for (index, distance) in (10..=20).step_by(2).enumerate() {
            assert_eq!(half[distance], WEIGHTS_1_2[index], "distance {distance}");
        }
        let two_thirds = count(&[both, only_a], 12);
        assert_eq!(two_thirds[6..=12], WEIGHTS_2_3[..7]);
        let three_quarters = count(&[both, only_a, only_b], 11);
        assert_eq!(three_quarters[5..=11], WEIGHTS_3_4[..7]);
    }

    #[test]
    fn the_table_is_within_a_thousandth_of_the_formulas_where_frames_live_or_die() {
        for (standard, modes) in [
            (Standard::B, Standard::B.modes()),
            (Standard::A, Standard::A.modes()),
        ] {
            let rates = ErrorRate::new(standard);
            for &mode in modes {
                for step in 0..4000 {
                    let sinr = ratio(-12.0 + 0.01 * f64::from(step));
                    let exact = bit_error(mode, sinr);
                    if (1e-8..0.1).contains(&exact) {
                        let found = rates.hazard(mode, sinr, 1.0) / -log1p(-exact);
                        assert!((found - 1.0).abs() < 2e-3, "{mode:?} {sinr}: {found}");
                    }
                }
            }
        }
    }

    #[test]
    fn more_signal_never_hurts_and_faster_modes_of_a_kind_need_more() {
        for standard in [Standard::B, Standard::A] {
            let rates = ErrorRate::new(standard);
            let needed = |mode| {
                (-300..400)
                    .map(|step| f64::from(step) * 0.1)
                    .find(|&db| rates.success(mode, ratio(db), 8000.0) > 0.9)
                    .unwrap()
            };
            for &mode in standard.modes() {
                let along: Vec<f64> = (-300..400)
                    .map(|step| rates.success(mode, ratio(f64::from(step) * 0.1), 8000.0))
                    .collect();
                assert!(along.is_sorted(), "{mode:?}");
                assert!(along[0] < 1e-9 && *along.last().unwrap() == 1.0);
            }
            let modes = standard.modes();
            // 9 Mb/s needs as much as 12: the code of 3/4 on BPSK is no bargain.
            let levels: Vec<f64> = modes
                .iter()
                .filter(|&&mode| mode != Mode::Ofdm9)
                .map(|&mode| needed(mode))
                .collect();
            assert!(levels.is_sorted_by(|a, b| a < b), "{levels:?}");
        }
    }

    #[test]
    fn no_signal_gets_no_frame_through() {
        assert!(ErrorRate::new(Standard::B).success(Mode::Dsss1, 0.0, 112.0) < 1e-30);
    }
}
