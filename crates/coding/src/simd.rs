//! Multiply-add over slices with vector instructions: a byte's product is the sum of those of
//! its two halves, each looked up among sixteen in one shuffle. The only module with `unsafe`;
//! each path is taken only on a machine that has its instructions.

#![allow(unsafe_code)]
// The loads and stores in use need no alignment.
#![allow(clippy::cast_ptr_alignment)]

/// Adds the products of `from` with the factor of `halves` to `to`, in whole vectors; gives how
/// many bytes were done. `None`: the machine lacks the instructions.
type Path = fn(&mut [u8], &[u8], &[u8; 32]) -> Option<usize>;

/// The paths of this kind of machine, widest first.
#[cfg(target_arch = "x86_64")]
pub(crate) const PATHS: [Path; 2] = [x86::wide, x86::narrow];
/// The paths of this kind of machine, widest first.
#[cfg(target_arch = "aarch64")]
pub(crate) const PATHS: [Path; 1] = [neon::narrow];
/// The paths of this kind of machine, widest first.
#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
pub(crate) const PATHS: [Path; 0] = [];

/// Adds products in whole vectors, as far as the shorter slice has them; gives how many bytes
/// were done.
#[inline]
pub(crate) fn multiply_add(to: &mut [u8], from: &[u8], halves: &[u8; 32]) -> usize {
    PATHS
        .iter()
        .find_map(|path| path(to, from, halves))
        .unwrap_or(0)
}

#[cfg(target_arch = "x86_64")]
mod x86 {
    use std::arch::x86_64::{
        __m128i, __m256i, _mm_and_si128, _mm_loadu_si128, _mm_set1_epi8, _mm_shuffle_epi8,
        _mm_srli_epi64, _mm_storeu_si128, _mm_xor_si128, _mm256_and_si256,
        _mm256_broadcastsi128_si256, _mm256_loadu_si256, _mm256_set1_epi8, _mm256_shuffle_epi8,
        _mm256_srli_epi64, _mm256_storeu_si256, _mm256_xor_si256,
    };

    pub(super) fn wide(to: &mut [u8], from: &[u8], halves: &[u8; 32]) -> Option<usize> {
        // SAFETY: the machine has AVX2.
        is_x86_feature_detected!("avx2").then(|| unsafe { avx2(to, from, halves) })
    }

    pub(super) fn narrow(to: &mut [u8], from: &[u8], halves: &[u8; 32]) -> Option<usize> {
        // SAFETY: the machine has SSSE3.
        is_x86_feature_detected!("ssse3").then(|| unsafe { ssse3(to, from, halves) })
    }

    #[target_feature(enable = "avx2")]
    fn avx2(to: &mut [u8], from: &[u8], halves: &[u8; 32]) -> usize {
        // SAFETY: `halves` has two vectors of 16 bytes; loads need no alignment.
        let (low, high) = unsafe {
            let at = halves.as_ptr();
            (
                _mm256_broadcastsi128_si256(_mm_loadu_si128(at.cast::<__m128i>())),
                _mm256_broadcastsi128_si256(_mm_loadu_si128(at.add(16).cast::<__m128i>())),
            )
        };
        let mask = _mm256_set1_epi8(15);
        let mut done = 0;
        for (to, from) in to.chunks_exact_mut(32).zip(from.chunks_exact(32)) {
            // SAFETY: both chunks are 32 bytes long; loads and stores need no alignment.
            unsafe {
                let bytes = _mm256_loadu_si256(from.as_ptr().cast::<__m256i>());
                let sum = _mm256_loadu_si256(to.as_ptr().cast::<__m256i>());
                let of_low = _mm256_shuffle_epi8(low, _mm256_and_si256(bytes, mask));
                let upper = _mm256_and_si256(_mm256_srli_epi64::<4>(bytes), mask);
                let product = _mm256_xor_si256(of_low, _mm256_shuffle_epi8(high, upper));
                let sum = _mm256_xor_si256(sum, product);
                _mm256_storeu_si256(to.as_mut_ptr().cast::<__m256i>(), sum);
            }
            done += 32;
        }
        done
    }

    #[target_feature(enable = "ssse3")]
    fn ssse3(to: &mut [u8], from: &[u8], halves: &[u8; 32]) -> usize {
        // SAFETY: `halves` has two vectors of 16 bytes; loads need no alignment.
        let (low, high) = unsafe {
            let at = halves.as_ptr();
            (
                _mm_loadu_si128(at.cast::<__m128i>()),
                _mm_loadu_si128(at.add(16).cast::<__m128i>()),
            )
        };
        let mask = _mm_set1_epi8(15);
        let mut done = 0;
        for (to, from) in to.chunks_exact_mut(16).zip(from.chunks_exact(16)) {
            // SAFETY: both chunks are 16 bytes long; loads and stores need no alignment.
            unsafe {
                let bytes = _mm_loadu_si128(from.as_ptr().cast::<__m128i>());
                let sum = _mm_loadu_si128(to.as_ptr().cast::<__m128i>());
                let of_low = _mm_shuffle_epi8(low, _mm_and_si128(bytes, mask));
                let upper = _mm_and_si128(_mm_srli_epi64::<4>(bytes), mask);
                let product = _mm_xor_si128(of_low, _mm_shuffle_epi8(high, upper));
                let sum = _mm_xor_si128(sum, product);
                _mm_storeu_si128(to.as_mut_ptr().cast::<__m128i>(), sum);
            }
            done += 16;
        }
        done
    }
}

#[cfg(target_arch = "aarch64")]
mod neon {
    use std::arch::aarch64::{
        vandq_u8, vdupq_n_u8, veorq_u8, vld1q_u8, vqtbl1q_u8, vshrq_n_u8, vst1q_u8,
    };

    /// Every machine of this kind has NEON.
    pub(super) fn narrow(to: &mut [u8], from: &[u8], halves: &[u8; 32]) -> Option<usize> {
        let mut done = 0;
        // SAFETY: `halves` has two vectors of 16 bytes, and the chunks are 16 bytes long.
        unsafe {
            let low = vld1q_u8(halves.as_ptr());
            let high = vld1q_u8(halves.as_ptr().add(16));
            for (to, from) in to.chunks_exact_mut(16).zip(from.chunks_exact(16)) {
                let bytes = vld1q_u8(from.as_ptr());
                let of_low = vqtbl1q_u8(low, vandq_u8(bytes, vdupq_n_u8(15)));
                let product = veorq_u8(of_low, vqtbl1q_u8(high, vshrq_n_u8::<4>(bytes)));
                let sum = veorq_u8(vld1q_u8(to.as_ptr()), product);
                vst1q_u8(to.as_mut_ptr(), sum);
                done += 16;
            }
        }
        Some(done)
    }
}
