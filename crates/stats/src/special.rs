//! The normal distribution and Student's t.

/// P(Z ≤ `x`) of the standard normal distribution.
pub fn normal_cdf(x: f64) -> f64 {
    0.5 * libm::erfc(-x * std::f64::consts::FRAC_1_SQRT_2)
}

/// The quantile of the standard normal distribution: algorithm AS 241, PPND16 (Wichura 1988),
/// accurate to about 1 part in 10¹⁶. −∞ and ∞ at 0 and 1, NaN outside.
pub fn normal_quantile(p: f64) -> f64 {
    if p <= 0.0 || p >= 1.0 || p.is_nan() {
        return match p {
            0.0 => f64::NEG_INFINITY,
            1.0 => f64::INFINITY,
            _ => f64::NAN,
        };
    }
    let q = p - 0.5;
    if q.abs() <= 0.425 {
        let r = 0.180_625 - q * q;
        return q * ratio(r, &CENTRE);
    }
    let tail = if q < 0.0 { p } else { 1.0 - p };
    let r = libm::sqrt(-libm::log(tail));
    let value = if r <= 5.0 {
        ratio(r - 1.6, &MIDDLE)
    } else {
        ratio(r - 5.0, &FAR)
    };
    if q < 0.0 { -value } else { value }
}

/// Numerator and denominator, lowest power first.
type Rational = [[f64; 8]; 2];

#[allow(clippy::excessive_precision)] // as published
const CENTRE: Rational = [
    [
        3.387_132_872_796_366_608_0,
        1.331_416_678_917_843_774_5e2,
        1.971_590_950_306_551_442_7e3,
        1.373_169_376_550_946_112_5e4,
        4.592_195_393_154_987_145_7e4,
        6.726_577_092_700_870_085_3e4,
        3.343_057_558_358_812_810_5e4,
        2.509_080_928_730_122_672_7e3,
    ],
    [
        1.0,
        4.231_333_070_160_091_125_2e1,
        6.871_870_074_920_579_083_0e2,
        5.394_196_021_424_751_107_7e3,
        2.121_379_430_158_659_586_7e4,
        3.930_789_580_009_271_061_0e4,
        2.872_908_573_572_194_267_4e4,
        5.226_495_278_852_854_561_0e3,
    ],
];

#[allow(clippy::excessive_precision)]
const MIDDLE: Rational = [
    [
        1.423_437_110_749_683_577_34,
        4.630_337_846_156_545_295_90,
        5.769_497_221_460_691_405_50,
        3.647_848_324_763_204_605_04,
        1.270_458_252_452_368_382_58,
        2.417_807_251_774_506_117_70e-1,
        2.272_384_498_926_918_458_33e-2,
        7.745_450_142_783_414_076_40e-4,
    ],
    [
        1.0,
        2.053_191_626_637_758_821_87,
        1.676_384_830_183_803_849_40,
        6.897_673_349_851_000_045_50e-1,
        1.481_039_764_274_800_745_90e-1,
        1.519_866_656_361_645_719_66e-2,
        5.475_938_084_995_344_946_00e-4,
        1.050_750_071_644_416_843_24e-9,
    ],
];

#[allow(clippy::excessive_precision)]
const FAR: Rational = [
    [
        6.657_904_643_501_103_777_20,
        5.463_784_911_164_114_369_90,
        1.784_826_539_917_291_335_80,
        2.965_605_718_285_048_912_30e-1,
        2.653_218_952_657_612_309_30e-2,
        1.242_660_947_388_078_438_60e-3,
        2.711_555_568_743_487_578_15e-5,
        2.010_334_399_292_288_132_65e-7,
    ],
    [
        1.0,
        5.998_322_065_558_879_376_90e-1,
        1.369_298_809_227_358_053_10e-1,
        1.487_536_129_085_061_485_25e-2,
        7.868_691_311_456_132_591_00e-4,
        1.846_318_317_510_054_681_80e-5,
        1.421_511_758_316_445_888_70e-7,
        2.044_263_103_389_939_785_64e-15,
    ],
];

fn ratio(x: f64, [above, below]: &Rational) -> f64 {
    let of = |terms: &[f64; 8]| terms.iter().rev().fold(0.0, |sum, term| sum * x + term);
    of(above) / of(below)
}

/// P(T ≤ `t`) of Student's t with `degrees` of freedom: the regularised incomplete beta function
/// (Abramowitz and Stegun, 26.7.1 and 26.5.8).
pub fn student_cdf(degrees: f64, t: f64) -> f64 {
    if t.is_nan() || degrees.is_nan() || degrees <= 0.0 {
        return f64::NAN;
    }
    if t.is_infinite() {
        return if t > 0.0 { 1.0 } else { 0.0 };
    }
    let square = t * t;
    let x = degrees / (degrees + square);
    // Far from the end, 1 − x is exact by this quotient.
    let tail = 0.5 * incomplete_beta(degrees / 2.0, 0.5, x, square / (degrees + square));
    if t > 0.0 { 1.0 - tail } else { tail }
}

/// The `t` with P(T ≤ `t`) = `p`, by bisection and Newton's method.
pub fn student_quantile(degrees: f64, p: f64) -> f64 {
    if !(p > 0.0 && p < 1.0) || degrees.is_nan() || degrees <= 0.0 {
        return match p {
            0.0 => f64::NEG_INFINITY,
            1.0 => f64::INFINITY,
            _ => f64::NAN,
        };
    }
    if p == 0.5 {
        return 0.0;
    }
    // The lower half keeps small probabilities exact.
    let tail = p.min(1.0 - p);
    let (mut low, mut high) = (-1.0, 0.0);
    while student_cdf(degrees, low) > tail {
        high = low;
        low *= 2.0;
        if low == f64::NEG_INFINITY {
            break;
        }
    }
    let mut t = 0.5 * (low + high);
    for _ in 0..200 {
        let error = student_cdf(degrees, t) - tail;
        if error > 0.0 {
            high = t;
        } else {
            low = t;
        }
        let step = t - error / density(degrees, t);
        let next = if step > low && step < high {
            step
        } else {
            0.5 * (low + high)
        };
        if next == t || high - low <= f64::EPSILON * t.abs() {
            break;
        }
        t = next;
    }
    if p > 0.5 { -t } else { t }
}

fn density(degrees: f64, t: f64) -> f64 {
    let scale = libm::lgamma(0.5 * degrees + 0.5) - libm::lgamma(degrees / 2.0);
    let power = -(degrees + 1.0) / 2.0 * libm::log1p(t * t / degrees);
    libm::exp(scale + power) / libm::sqrt(degrees * std::f64::consts::PI)
}

/// The regularised incomplete beta function at `x`, where `y` is 1 − `x`.
fn incomplete_beta(a: f64, b: f64, x: f64, y: f64) -> f64 {
    if x <= 0.0 {
        return 0.0;
    }
    if y <= 0.0 {
        return 1.0;
    }
    let scale = libm::lgamma(a + b) - libm::lgamma(a) - libm::lgamma(b);
    let front = libm::exp(scale + a * libm::log(x) + b * libm::log(y));
    // The fraction converges fast on this side of the mean.
    if x < (a + 1.0) / (a + b + 2.0) {
        front * fraction(a, b, x) / a
    } else {
        1.0 - front * fraction(b, a, y) / b
    }
}

/// The continued fraction of the incomplete beta function, by Lentz's method.
#[allow(clippy::many_single_char_names)] // as in the equation
fn fraction(a: f64, b: f64, x: f64) -> f64 {
    const TINY: f64 = 1e-300;
    let kept = |value: f64| if value.abs() < TINY { TINY } else { value };
    let mut c = 1.0;
    let mut d = 1.0 / kept(1.0 - (a + b) * x / (a + 1.0));
    let mut value = d;
    for m in 1..1000 {
        let m = f64::from(m);
        let even = m * (b - m) * x / ((a + 2.0 * m - 1.0) * (a + 2.0 * m));
        d = 1.0 / kept(1.0 + even * d);
        c = kept(1.0 + even / c);
        value *= d * c;
        let odd = -(a + m) * (a + b + m) * x / ((a + 2.0 * m) * (a + 2.0 * m + 1.0));
        d = 1.0 / kept(1.0 + odd * d);
        c = kept(1.0 + odd / c);
        let factor = d * c;
        value *= factor;
        if (factor - 1.0).abs() < 1e-16 {
            break;
        }
    }
    value
}

#[cfg(test)]
mod tests {
    use super::*;

    fn is_near(value: f64, wanted: f64, relative: f64) {
        assert!(
            (value - wanted).abs() <= relative * wanted.abs(),
            "{value} is not {wanted}"
        );
    }

    /// Abramowitz and Stegun, table 26.10, and values of the definition for one and two degrees.
    #[test]
    fn students_quantiles_are_those_of_the_table() {
        for (degrees, p, wanted) in [
            (1.0, 0.975, 12.706),
            (2.0, 0.975, 4.303),
            (4.0, 0.975, 2.776),
            (9.0, 0.975, 2.262),
            (30.0, 0.975, 2.042),
            (9.0, 0.995, 3.250),
            (120.0, 0.9, 1.289),
        ] {
            is_near(student_quantile(degrees, p), wanted, 3e-4);
        }
        // tan(π (p − ½)), and t / √(2 + t²) = 2 p − 1.
        let cauchy = libm::tan(std::f64::consts::PI * 0.475);
        is_near(student_quantile(1.0, 0.975), cauchy, 1e-13);
        let two = libm::sqrt(2.0 * 0.95 * 0.95 / (1.0 - 0.95 * 0.95));
        is_near(student_quantile(2.0, 0.975), two, 1e-13);
        assert_eq!(student_quantile(5.0, 0.5), 0.0);
    }

    #[test]
    fn a_quantile_is_the_inverse_of_the_distribution() {
        for degrees in [1.0, 2.0, 3.0, 7.0, 29.0, 200.0] {
            for p in [1e-9, 0.001, 0.025, 0.4, 0.6, 0.975, 0.9999] {
                is_near(student_cdf(degrees, student_quantile(degrees, p)), p, 1e-12);
            }
        }
        for p in [1e-300, 1e-9, 0.025, 0.3, 0.5, 0.7, 0.999_999] {
            is_near(normal_cdf(normal_quantile(p)), p, 1e-12);
        }
    }

    #[test]
    fn outside_of_the_range_there_is_no_quantile() {
        assert_eq!(normal_quantile(0.0), f64::NEG_INFINITY);
        assert_eq!(student_quantile(3.0, 1.0), f64::INFINITY);
        assert!(normal_quantile(1.5).is_nan());
        assert!(student_quantile(0.0, 0.3).is_nan());
        assert!(student_cdf(2.0, f64::NAN).is_nan());
    }
}
