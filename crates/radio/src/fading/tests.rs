//! The laws of Rayleigh fading, each against its equation. Where a number scatters, the tolerance
//! is that of the draws: five standard errors, from the theory where it gives them and otherwise
//! from the scatter between independent links, so that a wrong model cannot hide in it.

use super::*;
use backlane_engine::Streams;
use core::f64::consts::{PI, TAU};

fn response(profile: FadingProfile, offsets_hz: &[f64]) -> Arc<FrequencyResponse> {
    Arc::new(FrequencyResponse::new(profile, offsets_hz))
}

fn link(response: &Arc<FrequencyResponse>, index: usize) -> Fading {
    let name = format!("ue{index}");
    Fading::new(
        Arc::clone(response),
        &mut Streams::new(1).stream(&name, "fading"),
    )
}

/// Mean and standard error of independent values.
fn mean(values: &[f64]) -> (f64, f64) {
    let n = values.len() as f64;
    let mean = values.iter().sum::<f64>() / n;
    let variance = values.iter().map(|v| (v - mean) * (v - mean)).sum::<f64>() / (n - 1.0);
    (mean, (variance / n).sqrt())
}

fn assert_mean(what: &str, values: &[f64], expected: f64) {
    let (mean, error) = mean(values);
    assert!(
        (mean - expected).abs() < 5.0 * error,
        "{what}: {mean} ± {error}, not {expected}"
    );
}

/// What sixteen waves to a tap lack of a Gaussian process in fourth moments: ΣP²/M.
fn excess(profile: FadingProfile) -> f64 {
    let squares = profile.taps().iter().map(|tap| profile.share(*tap).powi(2));
    squares.sum::<f64>() / 16.0
}

/// Doppler at 60 and 200 km/h and 2.6 GHz.
const DOPPLER_HZ: [f64; 2] = [144.54, 481.82];

#[test]
fn gains_depend_on_the_distance_alone() {
    let response = response(FadingProfile::Eva, &group_offsets_hz(100, 4, 180e3));
    let (mut often, mut seldom) = (link(&response, 1), link(&response, 1));
    for step in 0..1000 {
        let _ = often.gains(f64::from(step) * 0.1445);
    }
    assert_eq!(often.gains(123.456), seldom.gains(123.456));
    let later = seldom.gains(200.0).to_vec();
    let _ = seldom.gains(3.0);
    assert_eq!(seldom.gains(200.0), later);
    assert_eq!(later.len(), 25);
    assert_ne!(link(&response, 2).gains(200.0), later);
}

/// The gain of a Rayleigh channel is exponential. Kolmogorov's statistic over independent links
/// passes 1.95/√n once in a thousand.
#[test]
fn the_amplitude_of_a_standing_user_is_rayleigh_over_draws() {
    let n = 10_000;
    for profile in [FadingProfile::Epa, FadingProfile::Eva, FadingProfile::Etu] {
        let response = response(profile, &[1.1e6]);
        let mut gains: Vec<f64> = (0..n)
            .map(|index| f64::from(link(&response, index).gains(0.0)[0]))
            .collect();
        assert_mean("E|H|²", &gains, 1.0);
        let squares: Vec<f64> = gains.iter().map(|g| g * g).collect();
        assert_mean("E|H|⁴", &squares, 2.0 - excess(profile));
        gains.sort_by(f64::total_cmp);
        let farthest = gains
            .iter()
            .enumerate()
            .map(|(rank, gain)| (1.0 - libm::exp(-gain) - (rank as f64 + 0.5) / n as f64).abs())
            .fold(0.0, f64::max);
        assert!(
            farthest < 1.95 / (n as f64).sqrt(),
            "{profile:?}: {farthest}"
        );
    }
}

/// The same over the way of single links: what a user meets in ten seconds at 60 km/h is the
/// same distribution, each link's mean gain scattering around one.
#[test]
fn the_amplitude_of_a_moving_user_is_rayleigh_over_the_way() {
    let response = response(FadingProfile::Eva, &[0.0]);
    let (mut means, mut faded) = (Vec::new(), Vec::new());
    for index in 0..200 {
        let mut link = link(&response, index);
        let gains: Vec<f64> = (0..2000)
            .map(|step| f64::from(link.gains(DOPPLER_HZ[0] * f64::from(step) * 5e-3)[0]))
            .collect();
        means.push(gains.iter().sum::<f64>() / 2000.0);
        faded.push(gains.iter().filter(|&&gain| gain < 0.1).count() as f64 / 2000.0);
    }
    assert_mean("mean gain", &means, 1.0);
    // P(gain < 0.1) = 1 − exp(−0.1)
    assert_mean("10 dB fades", &faded, 1.0 - libm::exp(-0.1));
}

/// Clarke's and Jakes' autocorrelation J₀(2π f_d τ), with its sign, over independent links.
#[test]
fn the_complex_gain_has_the_autocorrelation_j0_at_60_and_200_km_per_hour() {
    let response = response(FadingProfile::Eva, &[0.0]);
    // At the carrier the taps add up as they are.
    let sum = |parts: [f32; TAPS]| parts.iter().map(|&part| f64::from(part)).sum::<f64>();
    let lags: Vec<(f64, f64)> = DOPPLER_HZ
        .into_iter()
        .flat_map(|hz| [0.5, 1.0, 2.0, 4.0, 6.0, 8.0].map(|ms| (hz, ms * 1e-3)))
        .collect();
    let mut products = vec![(Vec::new(), Vec::new()); lags.len()];
    for index in 0..20_000 {
        let link = link(&response, index);
        let (re, im) = link.taps_at(3.0);
        let (a, b) = (sum(re), sum(im));
        for ((real, imaginary), (doppler_hz, lag_s)) in products.iter_mut().zip(&lags) {
            let (re, im) = link.taps_at(3.0 + doppler_hz * lag_s);
            let (c, d) = (sum(re), sum(im));
            real.push(a * c + b * d);
            imaginary.push(a * d - b * c);
        }
    }
    for ((real, imaginary), (doppler_hz, lag_s)) in products.iter().zip(&lags) {
        let what = format!("{doppler_hz} Hz, {lag_s} s");
        assert_mean(&what, real, libm::j0(TAU * doppler_hz * lag_s));
        assert_mean(&what, imaginary, 0.0);
    }
}

/// Rice 1944: a Rayleigh envelope crosses ρ times its rms value upwards √(2π) f_d ρ exp(−ρ²) times
/// a second and stays below it for (exp(ρ²) − 1)/(ρ f_d √(2π)) on average; at 60 km/h and ρ = 1
/// that is 133 times a second and 4.7 ms.
#[test]
fn fades_are_as_frequent_and_as_long_as_rice_found() {
    let response = response(FadingProfile::Eva, &[0.0]);
    // 200 samples a wavelength, 100 wavelengths a link.
    let (samples, step) = (20_000, 0.005);
    let thresholds = [1.0f64, 0.316_228];
    let (mut rates, mut shares) = ([const { Vec::new() }; 2], [const { Vec::new() }; 2]);
    for index in 0..100 {
        let mut link = link(&response, index);
        let gains: Vec<f64> = (0..samples)
            .map(|sample| f64::from(link.gains(f64::from(sample) * step)[0]))
            .collect();
        for (which, threshold) in thresholds.into_iter().enumerate() {
            let square = threshold * threshold;
            let crossings = gains
                .windows(2)
                .filter(|pair| pair[0] < square && pair[1] >= square)
                .count();
            let below = gains.iter().filter(|&&gain| gain < square).count();
            rates[which].push(crossings as f64 / (f64::from(samples) * step));
            shares[which].push(below as f64 / f64::from(samples));
        }
    }
    for (which, threshold) in thresholds.into_iter().enumerate() {
        let square = threshold * threshold;
        // Per wavelength; times f_d it is per second.
        let rate = (2.0 * PI).sqrt() * threshold * libm::exp(-square);
        assert_mean(&format!("rate at {threshold}"), &rates[which], rate);
        // A fade lasts for the share of time below divided by the rate.
        let ((share, share_error), (found, rate_error)) =
            (mean(&shares[which]), mean(&rates[which]));
        let duration = (libm::exp(square) - 1.0) / (threshold * (2.0 * PI).sqrt());
        let error = share / found * (share_error / share + rate_error / found);
        assert!(
            (share / found - duration).abs() < 5.0 * error,
            "{} wavelengths at {threshold}, not {duration}",
            share / found
        );
    }
}

/// Two frequencies are as alike as the profile's transform says: |Σ P exp(−j2πΔf τ)|², of gains.
#[test]
fn frequencies_decorrelate_as_the_delay_profile_says() {
    let offsets = [0.0, 180e3, 360e3, 720e3, 1.44e6, 5e6];
    let n = 20_000;
    for profile in [FadingProfile::Epa, FadingProfile::Eva, FadingProfile::Etu] {
        let response = response(profile, &offsets);
        let draws: Vec<Vec<f64>> = (0..n)
            .map(|index| {
                let mut link = link(&response, index);
                link.gains(0.0)
                    .iter()
                    .map(|&g| f64::from(g) - 1.0)
                    .collect()
            })
            .collect();
        for (column, offset_hz) in offsets.iter().enumerate() {
            let products: Vec<f64> = draws.iter().map(|gains| gains[0] * gains[column]).collect();
            let (mut re, mut im) = (0.0, 0.0);
            for tap in profile.taps() {
                let angle = TAU * offset_hz * tap.delay_ns * 1e-9;
                re += profile.share(*tap) * libm::cos(angle);
                im += profile.share(*tap) * libm::sin(angle);
            }
            let what = format!("{profile:?} at {offset_hz} Hz");
            assert_mean(&what, &products, re * re + im * im - excess(profile));
        }
    }
}

/// Standing still is a static draw, and a user that stops keeps what it has.
#[test]
fn a_user_that_stands_has_a_static_channel() {
    let response = response(FadingProfile::Eva, &group_offsets_hz(100, 4, 180e3));
    let mut link = link(&response, 7);
    let stopped = link.gains(33.3).to_vec();
    for _ in 0..3 {
        assert_eq!(link.gains(33.3), stopped);
    }
    assert_ne!(stopped[0], stopped[24]);
}

#[test]
fn groups_of_blocks_lie_around_the_carrier() {
    assert_eq!(group_offsets_hz(4, 1, 2.0), [-3.0, -1.0, 1.0, 3.0]);
    assert_eq!(group_offsets_hz(100, 4, 180e3)[0], -8_640e3);
    // Twelve groups of two and one of a single block.
    let groups = group_offsets_hz(25, 2, 1.0);
    assert_eq!(groups.len(), 13);
    assert_eq!((groups[0], groups[12]), (-11.5, 12.0));
}

/// The exact power beside the carrier is 1 − ∫₋₁¹ (1 − |x|) J₀(2π f_d T x) dx; the law is its
/// first term and an upper bound.
#[test]
fn the_interference_between_carriers_bounds_the_exact_one_closely() {
    for (doppler_hz, expected_db) in [(DOPPLER_HZ[1], -27.7), (1000.0, -21.4)] {
        let law = inter_carrier_interference(doppler_hz, 15e3);
        let steps = 10_000;
        let kept: f64 = (0..steps)
            .map(|step| {
                let x = (f64::from(step) + 0.5) / f64::from(steps);
                2.0 * (1.0 - x) * libm::j0(TAU * doppler_hz / 15e3 * x) / f64::from(steps)
            })
            .sum();
        let exact = 1.0 - kept;
        assert!(exact <= law && law < exact * 1.02, "{law}, exactly {exact}");
        assert!((crate::level::decibels(law) - expected_db).abs() < 0.05);
    }
    assert_eq!(inter_carrier_interference(0.0, 15e3), 0.0);
    assert_eq!(inter_carrier_interference(1e6, 15e3), 1.0);
}
