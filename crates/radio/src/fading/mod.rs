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
    /// For each vector of frequencies and each tap, exp(−j2π f τ): of all frequencies, or of the
    /// lower half of them.
    phasors: Vec<[Phasors; TAPS]>,
    /// The frequencies are symmetric about the carrier, so that the phasors of the upper half are
    /// the conjugates of those of the lower one, in reverse.
    is_symmetric: bool,
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

/// The four sums of products of which the gains at a vector of frequencies consist, and those at
/// the frequencies opposite to them.
struct Parts {
    re_re: [f32; LANES],
    im_im: [f32; LANES],
    re_im: [f32; LANES],
    im_re: [f32; LANES],
}

impl Parts {
    /// Over taps with these gains: their real and imaginary parts by those of the phasors.
    #[inline]
    fn sum(re: &[f32], im: &[f32], phasors: &[Phasors; TAPS]) -> Self {
        let mut parts = Self {
            re_re: [0.0; LANES],
            im_im: [0.0; LANES],
            re_im: [0.0; LANES],
            im_re: [0.0; LANES],
        };
        for ((&re, &im), phasor) in re.iter().zip(im).zip(phasors) {
            for lane in 0..LANES {
                parts.re_re[lane] += re * phasor.re[lane];
            }
            for lane in 0..LANES {
                parts.im_im[lane] += im * phasor.im[lane];
            }
            for lane in 0..LANES {
                parts.re_im[lane] += re * phasor.im[lane];
            }
            for lane in 0..LANES {
                parts.im_re[lane] += im * phasor.re[lane];
            }
        }
        parts
    }
}

impl FrequencyResponse {
    /// For `profile` at frequencies given as offsets from the carrier, in hertz.
    pub fn new(profile: FadingProfile, offsets_hz: &[f64]) -> Self {
        let taps = profile.taps();
        let mut amplitudes = [0.0; TAPS];
        for (amplitude, tap) in amplitudes.iter_mut().zip(taps) {
            *amplitude = profile.share(*tap).sqrt() as f32;
        }
        let count = offsets_hz.len();
        let mirrored = offsets_hz.iter().zip(offsets_hz.iter().rev());
        let is_symmetric = count.is_multiple_of(2) && mirrored.clone().all(|(a, b)| *a == -*b);
        let lower = if is_symmetric { count / 2 } else { count };
        let phasors = offsets_hz[..lower]
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
            frequencies: count,
            phasors,
            is_symmetric,
        }
    }
}

impl Fading {
    /// Draws a link. The number of draws is the same for every profile.
    pub fn new(response: Arc<FrequencyResponse>, stream: &mut Stream) -> Self {
        let mut fading = Self {
            waves: [[Waves::default(); PAIRS]; TAPS / TAP_LANES],
            at: f64::NAN,
            gains: vec![0.0; response.frequencies],
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
        &self.gains
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
        let lower = if self.response.is_symmetric {
            self.gains.len() / 2
        } else {
            self.gains.len()
        };
        let (lower, upper) = self.gains.split_at_mut(lower);
        let mut mirrored = upper.rchunks_mut(LANES);
        for (gains, phasors) in lower.chunks_mut(LANES).zip(&self.response.phasors) {
            let Parts {
                re_re,
                im_im,
                re_im,
                im_re,
            } = Parts::sum(&re[..taps], &im[..taps], phasors);
            let (mut below, mut above) = ([0.0f32; LANES], [0.0f32; LANES]);
            for lane in 0..LANES {
                let (re, im) = (re_re[lane] - im_im[lane], re_im[lane] + im_re[lane]);
                below[lane] = re * re + im * im;
            }
            let count = gains.len();
            gains.copy_from_slice(&below[..count]);
            let Some(gains) = mirrored.next() else {
                continue;
            };
            for lane in 0..LANES {
                let (re, im) = (re_re[lane] + im_im[lane], im_re[lane] - re_im[lane]);
                above[lane] = re * re + im * im;
            }
            for (gain, above) in gains.iter_mut().rev().zip(above) {
                *gain = above;
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
