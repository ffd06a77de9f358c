//! Amounts of data and data rates.

use std::fmt;
use std::str::FromStr;

use crate::parse::{Quantity, Unit, UnitError, parse_unsigned, unit, write_largest};
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

    /// The transmission time of `bytes` at this rate, rounded down to the picosecond
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

/// The units a rate is read in, as bits per second: SI prefixes are powers of 1000, IEC
/// prefixes (IEC 80000-13) powers of 1024.
pub(crate) const RATE_UNITS: &[Unit] = &[
    unit("bit/s", 1),
    unit("bps", 1),
    unit("b/s", 1),
    unit("B/s", 8),
    unit("kbit/s", 1_000),
    unit("kbps", 1_000),
    unit("kb/s", 1_000),
    unit("kB/s", 8_000),
    unit("Mbit/s", 1_000_000),
    unit("Mbps", 1_000_000),
    unit("Mb/s", 1_000_000),
    unit("MB/s", 8_000_000),
    unit("Gbit/s", 1_000_000_000),
    unit("Gbps", 1_000_000_000),
    unit("Gb/s", 1_000_000_000),
    unit("GB/s", 8_000_000_000),
    unit("Tbit/s", 1_000_000_000_000),
    unit("Tbps", 1_000_000_000_000),
    unit("Tb/s", 1_000_000_000_000),
    unit("TB/s", 8_000_000_000_000),
    unit("Kibit/s", 1_024),
    unit("KiB/s", 8_192),
    unit("Mibit/s", 1_048_576),
    unit("MiB/s", 8_388_608),
    unit("Gibit/s", 1_073_741_824),
    unit("GiB/s", 8_589_934_592),
];

/// The units a size is read in, as bytes.
pub(crate) const SIZE_UNITS: &[Unit] = &[
    unit("B", 1),
    unit("kB", 1_000),
    unit("MB", 1_000_000),
    unit("GB", 1_000_000_000),
    unit("TB", 1_000_000_000_000),
    unit("PB", 1_000_000_000_000_000),
    unit("EB", 1_000_000_000_000_000_000),
    unit("KiB", 1_024),
    unit("MiB", 1_048_576),
    unit("GiB", 1_073_741_824),
    unit("TiB", 1_099_511_627_776),
    unit("PiB", 1_125_899_906_842_624),
    unit("EiB", 1_152_921_504_606_846_976),
    Unit {
        name: "bit",
        factor: 1,
        divisor: 8,
    },
    Unit {
        name: "kbit",
        factor: 1_000,
        divisor: 8,
    },
    Unit {
        name: "Mbit",
        factor: 1_000_000,
        divisor: 8,
    },
    Unit {
        name: "Gbit",
        factor: 1_000_000_000,
        divisor: 8,
    },
];

/// Reads "500 Mbit/s", exactly.
impl FromStr for Rate {
    type Err = UnitError;

    fn from_str(text: &str) -> Result<Self, UnitError> {
        parse_unsigned(text, Quantity::Rate, RATE_UNITS).map(Self)
    }
}

/// Prints a whole number of the largest SI unit that divides the rate.
impl fmt::Display for Rate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        const PRINTED: &[(&str, u64)] = &[
            ("Tbit/s", 1_000_000_000_000),
            ("Gbit/s", 1_000_000_000),
            ("Mbit/s", 1_000_000),
            ("kbit/s", 1_000),
            ("bit/s", 1),
        ];
        write_largest(f, self.0, PRINTED, "bit/s")
    }
}

/// Reads "10 MB" or "6 MiB", exactly.
impl FromStr for Bytes {
    type Err = UnitError;

    fn from_str(text: &str) -> Result<Self, UnitError> {
        parse_unsigned(text, Quantity::Bytes, SIZE_UNITS).map(Self)
    }
}

/// Prints a whole number of the largest SI unit that divides the size, or of the largest IEC
/// unit where no SI prefix does.
impl fmt::Display for Bytes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        const PRINTED: &[(&str, u64)] = &[
            ("EB", 1_000_000_000_000_000_000),
            ("PB", 1_000_000_000_000_000),
            ("TB", 1_000_000_000_000),
            ("GB", 1_000_000_000),
            ("MB", 1_000_000),
            ("kB", 1_000),
            ("EiB", 1 << 60),
            ("PiB", 1 << 50),
            ("TiB", 1 << 40),
            ("GiB", 1 << 30),
            ("MiB", 1 << 20),
            ("KiB", 1 << 10),
            ("B", 1),
        ];
        write_largest(f, self.0, PRINTED, "B")
    }
}
