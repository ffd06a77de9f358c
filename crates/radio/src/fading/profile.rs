//! Delay profiles of TS 36.104 Annex B.2.

use backlane_param::words;

words! {
    /// One of the delay profiles that LTE is tested with.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum FadingProfile {
        /// Extended Pedestrian A: 43 ns of rms delay spread.
        Epa = "epa",
        /// Extended Vehicular A: 357 ns.
        Eva = "eva",
        /// Extended Typical Urban: 991 ns.
        Etu = "etu",
    }
}

/// An echo.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Tap {
    /// How much later than the first it comes.
    pub delay_ns: f64,
    /// Its mean power, relative to the strongest.
    pub power_db: f64,
}

const fn tap(delay_ns: f64, power_db: f64) -> Tap {
    Tap { delay_ns, power_db }
}

/// Table B.2-1.
const EPA: [Tap; 7] = [
    tap(0.0, 0.0),
    tap(30.0, -1.0),
    tap(70.0, -2.0),
    tap(90.0, -3.0),
    tap(110.0, -8.0),
    tap(190.0, -17.2),
    tap(410.0, -20.8),
];
/// Table B.2-2.
const EVA: [Tap; 9] = [
    tap(0.0, 0.0),
    tap(30.0, -1.5),
    tap(150.0, -1.4),
    tap(310.0, -3.6),
    tap(370.0, -0.6),
    tap(710.0, -9.1),
    tap(1090.0, -7.0),
    tap(1730.0, -12.0),
    tap(2510.0, -16.9),
];
/// Table B.2-3.
const ETU: [Tap; 9] = [
    tap(0.0, -1.0),
    tap(50.0, -1.0),
    tap(120.0, -1.0),
    tap(200.0, 0.0),
    tap(230.0, 0.0),
    tap(500.0, 0.0),
    tap(1600.0, -3.0),
    tap(2300.0, -5.0),
    tap(5000.0, -7.0),
];

impl FadingProfile {
    /// Its echoes.
    pub fn taps(self) -> &'static [Tap] {
        match self {
            Self::Epa => &EPA,
            Self::Eva => &EVA,
            Self::Etu => &ETU,
        }
    }

    /// The share of the power that an echo has.
    pub(super) fn share(self, tap: Tap) -> f64 {
        let all: f64 = self.taps().iter().map(|tap| linear(*tap)).sum();
        linear(tap) / all
    }
}

fn linear(tap: Tap) -> f64 {
    crate::level::ratio(tap.power_db)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The names of the profiles in TS 36.101 Annex B.2 come with these values: 43, 357, 991 ns.
    #[test]
    fn profiles_have_the_delay_spread_that_the_standard_gives_them() {
        for (profile, expected_ns) in [
            (FadingProfile::Epa, 43.0),
            (FadingProfile::Eva, 357.0),
            (FadingProfile::Etu, 991.0),
        ] {
            let moment = |power: i32| -> f64 {
                profile
                    .taps()
                    .iter()
                    .map(|tap| profile.share(*tap) * tap.delay_ns.powi(power))
                    .sum()
            };
            let spread = (moment(2) - moment(1) * moment(1)).sqrt();
            assert!((moment(0) - 1.0).abs() < 1e-12);
            assert!((spread - expected_ns).abs() < 0.5, "{profile:?}: {spread}");
        }
    }
}
