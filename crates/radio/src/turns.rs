//! Sine and cosine of an angle in turns, made for loops over arrays.
//!
//! There is no branch and no call, so that a compiler makes vector code of it on every machine,
//! and nothing but additions and multiplications, so that every machine has the same result.

/// Added and taken away, it rounds to the nearest whole number, exactly up to 2⁵¹.
const ROUND: f64 = 1.5 * (1u64 << 52) as f64;

/// (cos 2πt, sin 2πt), within 2·10⁻⁶. `turns` may be of any size up to 2⁵¹.
#[inline]
pub(crate) fn cos_sin(turns: f64) -> (f32, f32) {
    // Half the angle is within ±π/2, where the series are short.
    let rest = turns - ((turns + ROUND) - ROUND);
    let half = (core::f64::consts::PI * rest) as f32;
    let square = half * half;
    let sine = half
        * (1.0
            + square
                * (-1.0 / 6.0
                    + square
                        * (1.0 / 120.0
                            + square
                                * (-1.0 / 5040.0
                                    + square
                                        * (1.0 / 362_880.0 + square * (-1.0 / 39_916_800.0))))));
    let cosine = 1.0
        + square
            * (-1.0 / 2.0
                + square
                    * (1.0 / 24.0
                        + square
                            * (-1.0 / 720.0
                                + square * (1.0 / 40_320.0 + square * (-1.0 / 3_628_800.0)))));
    (1.0 - 2.0 * sine * sine, 2.0 * sine * cosine)
}

#[cfg(test)]
mod tests {
    use super::*;
    use core::f64::consts::TAU;

    #[test]
    fn it_is_the_cosine_and_the_sine() {
        for step in -20_000..20_000 {
            let turns = f64::from(step) * 0.000_137;
            let (cosine, sine) = cos_sin(turns);
            assert!(
                (f64::from(cosine) - libm::cos(TAU * turns)).abs() < 2e-6,
                "{turns}"
            );
            assert!(
                (f64::from(sine) - libm::sin(TAU * turns)).abs() < 2e-6,
                "{turns}"
            );
        }
    }

    #[test]
    fn a_million_turns_more_are_the_same_angle() {
        // 2⁻⁸ turns are exact beside 2²⁰ of them.
        let (near, far) = (cos_sin(0.25 + 0.003_906_25), cos_sin(1_048_576.253_906_25));
        assert_eq!(near, far);
    }
}
