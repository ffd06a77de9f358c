//! Multipath fading of one link over frequency.
//!
//! Each tap of the delay profile (TS 36.104 Annex B.2) is a sum of waves from all around the user
//! (Clarke's model in the statistical form of Zheng and Xiao 2003, "Simulation models with correct
//! statistical properties for Rayleigh fading channels", IEEE Trans. Commun. 51(6)):
//!
//! h_ℓ(s) = √(P_ℓ/M) Σ_m exp j(2π s cos α_m + φ_m),  α_m = (2πm + θ_ℓ)/M,  M = 16
//!
//! with θ_ℓ and φ_m drawn for each link, and s the distance that the user has travelled in
//! wavelengths: s = f_d t at one speed. The gain at a frequency f beside the carrier is
//! |Σ_ℓ h_ℓ exp(−j2π f τ_ℓ)|². Its mean over draws is one, over s the autocorrelation of h is
//! exactly J₀(2πs), and E|h_ℓ|⁴ = 2 − 1/M (2 for Rayleigh).
//!
//! Since s is the argument, the gains are a function of it alone: of nothing that was asked before,
//! at changing speeds too, and standing still is a static draw. Gains are computed
//! only for the instants that are asked for.

mod profile;

use std::sync::Arc;

use backlane_engine::Stream;

use crate::turns::cos_sin;
pub use profile::{FadingProfile, Tap};

/// Waves of a tap come in pairs from opposite directions, whose phases are conjugate.
const PAIRS: usize = 8;
/// Taps of a vector.
const TAP_LANES: usize = 4;
/// Room for the taps of every profile.
const TAPS: usize = 3 * TAP_LANES;
/// Frequencies of a vector.
const LANES: usize = 8;

/// What a delay profile does to a set of frequencies: made once, shared by all links.
#[derive(Clone, Debug)]
pub struct FrequencyResponse {
    amplitudes: [f32; TAPS],
    taps: usize,
    frequencies: usize,
    /// For each vector of frequencies and each tap, exp(−j2π f τ).
    phasors: Vec<[Phasors; TAPS]>,
}

#[derive(Clone, Copy, Debug, Default)]
struct Phasors {
    re: [f32; LANES],
    im: [f32; LANES],
}

/// The fading of one link between two antennas.
#[derive(Clone, Debug)]
pub struct Fading {
    response: Arc<FrequencyResponse>,
    /// For each vector of taps.
    waves: [[Waves; PAIRS]; TAPS / TAP_LANES],
    at: f64,
    gains: Vec<f32>,
}

/// A pair of waves of each tap of a vector.
#[derive(Clone, Copy, Debug, Default)]
struct Waves {
    /// cos α.
    doppler: [f64; TAP_LANES],
    /// What cos 2πs cos α and sin 2πs cos α are multiplied by, which has the tap's amplitude and
    /// both phases of the pair in it.
    cosine_re: [f32; TAP_LANES],
    cosine_im: [f32; TAP_LANES],
    sine_re: [f32; TAP_LANES],
    sine_im: [f32; TAP_LANES],
}

impl FrequencyResponse {
    /// For `profile` at frequencies given as offsets from the carrier, in hertz.
    pub fn new(profile: FadingProfile, offsets_hz: &[f64]) -> Self {
        let taps = profile.taps();
        let mut amplitudes = [0.0; TAPS];
        for (amplitude, tap) in amplitudes.iter_mut().zip(taps) {
            *amplitude = profile.share(*tap).sqrt() as f32;
        }
        let phasors = offsets_hz
            .chunks(LANES)
            .map(|offsets| {
                let mut phasors = [Phasors::default(); TAPS];
                for (phasors, tap) in phasors.iter_mut().zip(taps) {
                    for (lane, offset_hz) in offsets.iter().enumerate() {
                        let (re, im) = cos_sin(-offset_hz * tap.delay_ns * 1e-9);
                        phasors.re[lane] = re;
                        phasors.im[lane] = im;
                    }
                }
                phasors
            })
            .collect();
        Self {
            amplitudes,
            taps: taps.len(),
            frequencies: offsets_hz.len(),
            phasors,
        }
    }
}

impl Fading {
    /// Draws a link. The number of draws is the same for every profile.
    pub fn new(response: Arc<FrequencyResponse>, stream: &mut Stream) -> Self {
        let mut fading = Self {
            waves: [[Waves::default(); PAIRS]; TAPS / TAP_LANES],
            at: f64::NAN,
            gains: vec![0.0; response.phasors.len() * LANES],
            response,
        };
        let wave_count = 2 * PAIRS;
        for tap in 0..TAPS {
            // θ/2π, and the amplitude of a single wave.
            let theta = stream.uniform() - 0.5;
            let amplitude = fading.response.amplitudes[tap] / (wave_count as f32).sqrt();
            let lane = tap % TAP_LANES;
            for (pair, waves) in fading.waves[tap / TAP_LANES].iter_mut().enumerate() {
                let turns = (pair as f64 + theta) / wave_count as f64;
                waves.doppler[lane] = libm::cos(core::f64::consts::TAU * turns);
                // A exp(jψ) + B exp(−jψ) = (A + B) cos ψ + j(A − B) sin ψ
                let (a_re, a_im) = cos_sin(stream.uniform());
                let (b_re, b_im) = cos_sin(stream.uniform());
                waves.cosine_re[lane] = amplitude * (a_re + b_re);
                waves.cosine_im[lane] = amplitude * (a_im + b_im);
                waves.sine_re[lane] = amplitude * (b_im - a_im);
                waves.sine_im[lane] = amplitude * (a_re - b_re);
            }
        }
        fading
    }

    /// The power gain (1 on average) at each frequency of the response when the user has
    /// travelled this far, in wavelengths: the travelled distance divided by the wavelength, or
    /// the Doppler frequency times the time. Asking again for the same distance costs nothing.
    pub fn gains(&mut self, wavelengths: f64) -> &[f32] {
        if self.at.to_bits() != wavelengths.to_bits() {
            self.at = wavelengths;
            self.evaluate(wavelengths);
        }
        &self.gains[..self.response.frequencies]
    }

    /// The complex gain of each tap.
    fn taps_at(&self, wavelengths: f64) -> ([f32; TAPS], [f32; TAPS]) {
        let (mut re, mut im) = ([0.0f32; TAPS], [0.0f32; TAPS]);
        let (re_vectors, _) = re.as_chunks_mut::<TAP_LANES>();
        let (im_vectors, _) = im.as_chunks_mut::<TAP_LANES>();
        let vectors = self.response.taps.div_ceil(TAP_LANES);
        for ((re, im), pairs) in re_vectors
            .iter_mut()
            .zip(im_vectors)
            .zip(&self.waves)
            .take(vectors)
        {
            for waves in pairs {
                for lane in 0..TAP_LANES {
                    let (cosine, sine) = cos_sin(wavelengths * waves.doppler[lane]);
                    re[lane] += waves.cosine_re[lane] * cosine + waves.sine_re[lane] * sine;
                    im[lane] += waves.cosine_im[lane] * cosine + waves.sine_im[lane] * sine;
                }
            }
        }
        (re, im)
    }

    fn evaluate(&mut self, wavelengths: f64) {
        let (re, im) = self.taps_at(wavelengths);
        let taps = self.response.taps;
        for (gains, phasors) in self
            .gains
            .chunks_exact_mut(LANES)
            .zip(&self.response.phasors)
        {
            let (mut sum_re, mut sum_im) = ([0.0f32; LANES], [0.0f32; LANES]);
            for tap in 0..taps.min(TAPS) {
                let phasor = &phasors[tap];
                for lane in 0..LANES {
                    sum_re[lane] += re[tap] * phasor.re[lane] - im[tap] * phasor.im[lane];
                    sum_im[lane] += re[tap] * phasor.im[lane] + im[tap] * phasor.re[lane];
                }
            }
            for lane in 0..LANES {
                gains[lane] = sum_re[lane] * sum_re[lane] + sum_im[lane] * sum_im[lane];
            }
        }
    }
}

/// The centres of groups of `per_group` neighbouring blocks, each `block_hz` wide, as offsets from
/// the centre of all `blocks`. The last group is smaller if they do not come out even. With one
/// block to a group, the centres of the blocks.
pub fn group_offsets_hz(blocks: usize, per_group: usize, block_hz: f64) -> Vec<f64> {
    let per_group = per_group.max(1);
    (0..blocks)
        .step_by(per_group)
        .map(|first| {
            let end = (first + per_group).min(blocks);
            ((first + end) as f64 - blocks as f64) * 0.5 * block_hz
        })
        .collect()
}

/// The power that falls from each subcarrier onto the others because the channel changes within a
/// symbol, relative to the signal: (2π f_d/Δf)²/24 for the classical Doppler spectrum (Li and
/// Cimini 2001, "Bounds on the interchannel interference of OFDM in time-varying impairments",
/// IEEE Trans. Commun. 49(3)), at most one. It adds to the noise.
pub fn inter_carrier_interference(doppler_hz: f64, subcarrier_spacing_hz: f64) -> f64 {
    let turn = core::f64::consts::TAU * doppler_hz / subcarrier_spacing_hz;
    (turn * turn / 24.0).min(1.0)
}

#[cfg(test)]
mod tests;
