//! Amounts of data and data rates.

use crate::time::{Duration, PS_PER_S};

/// A data rate, in whole bits per second.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Rate(u64);

/// An amount of data, in bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Bytes(u64);

impl Rate {
    /// `bps` bits per second.
    #[inline]
    pub const fn from_bps(bps: u64) -> Self {
        Self(bps)
    }

    /// Bits per second.
    #[inline]
    pub const fn as_bps(self) -> u64 {
        self.0
    }

    /// How long `bytes` take to send at this rate, rounded down to the picosecond
    /// (exact whenever the rate divides 8·10¹²). The rate must not be zero.
    #[inline]
    pub const fn transmission_time(self, bytes: u64) -> Duration {
        const PS_PER_BYTE_AT_1_BPS: u64 = 8 * PS_PER_S;
        match bytes.checked_mul(PS_PER_BYTE_AT_1_BPS) {
            Some(numerator) => Duration::from_ps(numerator / self.0),
            None => Duration::from_ps(
                (bytes as u128 * PS_PER_BYTE_AT_1_BPS as u128 / self.0 as u128) as u64,
            ),
        }
    }

    /// The bytes that this rate carries in `span`, rounded down.
    #[inline]
    pub const fn bytes_in(self, span: Duration) -> Bytes {
        Bytes((self.0 as u128 * span.as_ps() as u128 / (8 * PS_PER_S as u128)) as u64)
    }
}

impl Bytes {
    /// `bytes` bytes.
    #[inline]
    pub const fn new(bytes: u64) -> Self {
        Self(bytes)
    }

    /// The number of bytes.
    #[inline]
    pub const fn get(self) -> u64 {
        self.0
    }
}
