//! Loads into the processor's cache ahead of their use. The only module with `unsafe`.

#![allow(unsafe_code)]

/// Bytes of a cache line.
const LINE: usize = 64;

/// Asks for the cache lines of a value. Nothing waits for them, and nothing else happens.
#[inline]
pub fn prefetch<T: ?Sized>(value: &T) {
    let first: *const u8 = std::ptr::from_ref(value).cast();
    for offset in (0..size_of_val(value)).step_by(LINE) {
        line(first.wrapping_add(offset));
    }
}

/// Asks for the cache line in which a value begins.
#[inline]
pub fn prefetch_start<T>(value: &T) {
    line(std::ptr::from_ref(value).cast());
}

#[cfg(target_arch = "x86_64")]
#[inline]
fn line(at: *const u8) {
    use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
    // SAFETY: the instruction belongs to every x86-64 processor, and faults at no address.
    unsafe { _mm_prefetch::<_MM_HINT_T0>(at.cast()) }
}

#[cfg(target_arch = "aarch64")]
#[inline]
fn line(at: *const u8) {
    // SAFETY: the instruction belongs to every AArch64 processor, and faults at no address.
    unsafe {
        std::arch::asm!("prfm pldl1keep, [{}]", in(reg) at, options(nostack, preserves_flags, readonly));
    }
}

#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
#[inline]
fn line(_at: *const u8) {}
