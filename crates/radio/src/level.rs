//! Decibels, thermal noise, and the two numbers that make Doppler of a speed.

use backlane_units::Frequency;

/// The speed of light, in m/s (exact by definition of the metre).
pub const SPEED_OF_LIGHT_M_PER_S: f64 = 299_792_458.0;

/// The thermal noise density at room temperature, in dBm/Hz: k · 290 K, which 3GPP rounds to −174
/// (TR 36.942 and others; exactly it is −173.98).
pub const NOISE_DENSITY_DBM_PER_HZ: f64 = -174.0;

/// The ratio that is `db` decibels.
pub fn ratio(db: f64) -> f64 {
    libm::exp10(db * 0.1)
}

/// A ratio in decibels: −∞ for zero.
pub fn decibels(ratio: f64) -> f64 {
    10.0 * libm::log10(ratio)
}

/// The noise power in `bandwidth_hz` behind a receiver with this noise figure, in dBm.
pub fn thermal_noise_dbm(bandwidth_hz: f64, noise_figure_db: f64) -> f64 {
    NOISE_DENSITY_DBM_PER_HZ + decibels(bandwidth_hz) + noise_figure_db
}

/// The wavelength, in metres.
pub fn wavelength_m(frequency: Frequency) -> f64 {
    SPEED_OF_LIGHT_M_PER_S / frequency.as_hz() as f64
}

/// The largest Doppler shift at this speed, in hertz.
pub fn doppler_hz(speed_m_per_s: f64, frequency: Frequency) -> f64 {
    speed_m_per_s / wavelength_m(frequency)
}

#[cfg(test)]
mod tests {
    use backlane_units::Speed;

    use super::*;

    #[test]
    fn decibels_and_ratios_are_inverse() {
        assert!((ratio(3.0) - 1.995_262).abs() < 1e-6);
        assert!((decibels(ratio(-123.4)) + 123.4).abs() < 1e-10);
        assert_eq!(ratio(0.0), 1.0);
        assert_eq!(decibels(0.0), f64::NEG_INFINITY);
    }

    /// −174 + 10 log 180 000 + 9: a resource block at a UE with a noise figure of 9 dB.
    #[test]
    fn a_resource_block_at_a_ue_has_112_4_dbm_of_noise_below_a_milliwatt() {
        assert!((thermal_noise_dbm(180e3, 9.0) + 112.447).abs() < 0.001);
    }

    #[test]
    fn doppler_at_band_7_is_that_of_the_tables() {
        for (speed, expected_hz) in [
            ("3 km/h", 7.23),
            ("60 km/h", 144.54),
            ("120 km/h", 289.09),
            ("200 km/h", 481.82),
        ] {
            let m_per_s = speed.parse::<Speed>().unwrap().as_m_per_s_f64();
            let found = doppler_hz(m_per_s, "2.6 GHz".parse().unwrap());
            assert!((found - expected_hz).abs() < 0.01, "{speed}: {found}");
        }
    }
}
