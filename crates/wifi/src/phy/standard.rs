//! The radios: modes, times and contention windows.
//!
//! Numbers are those of IEEE 802.11 for 20 MHz OFDM (802.11a), ERP (802.11g) and HR/DSSS
//! (802.11b), which ns-2's and ns-3's sources restate alike; [`Standard::Dsss`] is the one radio
//! that ns-2's `Mac/802_11` knows.

use backlane_param::words;
use backlane_units::{Duration, Frequency, Power, Rate};

words! {
    /// The standard of a radio.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
    pub enum Standard {
        /// 802.11a: OFDM at 5 GHz, 6 to 54 Mb/s.
        A = "802.11a",
        /// 802.11b: DSSS and CCK at 2.4 GHz, 1 to 11 Mb/s.
        B = "802.11b",
        /// 802.11g without 802.11b neighbours: OFDM at 2.4 GHz with the short slot and no
        /// protection; the rates of 802.11b are there for broadcasts and control.
        G = "802.11g",
        /// ns-2's `Mac/802_11`: 802.11b's rates with the long preamble; every control frame at
        /// the basic rate.
        Dsss = "802.11-dsss",
    }
}

words! {
    /// The DSSS preamble. OFDM has one.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
    pub enum Preamble {
        /// 144 bits and a header of 48, both at 1 Mb/s: 192 µs. All receivers know it.
        #[default]
        Long = "long",
        /// 72 bits at 1 Mb/s and a header of 48 at 2 Mb/s: 96 µs. Not for frames at 1 Mb/s.
        Short = "short",
    }
}

/// A modulation and coding at one rate.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Mode {
    /// DBPSK, 1 Mb/s.
    Dsss1,
    /// DQPSK, 2 Mb/s.
    Dsss2,
    /// CCK, four bits a symbol, 5.5 Mb/s.
    Cck5,
    /// CCK, eight bits a symbol, 11 Mb/s.
    Cck11,
    /// BPSK, rate 1/2, 6 Mb/s.
    Ofdm6,
    /// BPSK, rate 3/4, 9 Mb/s.
    Ofdm9,
    /// QPSK, rate 1/2, 12 Mb/s.
    Ofdm12,
    /// QPSK, rate 3/4, 18 Mb/s.
    Ofdm18,
    /// 16-QAM, rate 1/2, 24 Mb/s.
    Ofdm24,
    /// 16-QAM, rate 3/4, 36 Mb/s.
    Ofdm36,
    /// 64-QAM, rate 2/3, 48 Mb/s.
    Ofdm48,
    /// 64-QAM, rate 3/4, 54 Mb/s.
    Ofdm54,
}

impl Mode {
    /// All modes, in the order of [`Mode::index`].
    pub const ALL: [Self; 12] = [
        Self::Dsss1,
        Self::Dsss2,
        Self::Cck5,
        Self::Cck11,
        Self::Ofdm6,
        Self::Ofdm9,
        Self::Ofdm12,
        Self::Ofdm18,
        Self::Ofdm24,
        Self::Ofdm36,
        Self::Ofdm48,
        Self::Ofdm54,
    ];

    /// The place in [`Mode::ALL`].
    pub const fn index(self) -> usize {
        self as usize
    }

    /// Bits of a frame's payload in a second.
    pub const fn rate(self) -> Rate {
        Rate::from_bps(match self {
            Self::Dsss1 => 1_000_000,
            Self::Dsss2 => 2_000_000,
            Self::Cck5 => 5_500_000,
            Self::Cck11 => 11_000_000,
            Self::Ofdm6 => 6_000_000,
            Self::Ofdm9 => 9_000_000,
            Self::Ofdm12 => 12_000_000,
            Self::Ofdm18 => 18_000_000,
            Self::Ofdm24 => 24_000_000,
            Self::Ofdm36 => 36_000_000,
            Self::Ofdm48 => 48_000_000,
            Self::Ofdm54 => 54_000_000,
        })
    }

    /// Whether it is OFDM.
    pub const fn is_ofdm(self) -> bool {
        self.index() >= Self::Ofdm6.index()
    }

    /// Bits in a symbol of 4 µs (N_DBPS); `None` if it is not OFDM.
    pub const fn bits_per_symbol(self) -> Option<u64> {
        match self {
            Self::Dsss1 | Self::Dsss2 | Self::Cck5 | Self::Cck11 => None,
            Self::Ofdm6 => Some(24),
            Self::Ofdm9 => Some(36),
            Self::Ofdm12 => Some(48),
            Self::Ofdm18 => Some(72),
            Self::Ofdm24 => Some(96),
            Self::Ofdm36 => Some(144),
            Self::Ofdm48 => Some(192),
            Self::Ofdm54 => Some(216),
        }
    }

    /// The mode in which the header before the payload is sent: SIGNAL at 6 Mb/s, PLCP at 1 Mb/s.
    pub const fn header_mode(self) -> Self {
        if self.is_ofdm() {
            Self::Ofdm6
        } else {
            Self::Dsss1
        }
    }

    /// The minimum input level that the standard asks of a receiver: 10 % of frames of 1000 bytes
    /// lost with OFDM, 8 % of 1024 bytes with DSSS. It gives none for 1 and 5.5 Mb/s, which have
    /// here the levels of 2 and 11 Mb/s.
    pub const fn sensitivity(self) -> Power {
        Power::from_mdbm(match self {
            Self::Dsss1 | Self::Dsss2 => -80_000,
            Self::Cck5 | Self::Cck11 => -76_000,
            Self::Ofdm6 => -82_000,
            Self::Ofdm9 => -81_000,
            Self::Ofdm12 => -79_000,
            Self::Ofdm18 => -77_000,
            Self::Ofdm24 => -74_000,
            Self::Ofdm36 => -70_000,
            Self::Ofdm48 => -66_000,
            Self::Ofdm54 => -65_000,
        })
    }
}

impl Standard {
    /// The modes, by rate from the lowest to the highest. Rates are unique.
    pub const fn modes(self) -> &'static [Mode] {
        use Mode::{
            Cck5, Cck11, Dsss1, Dsss2, Ofdm6, Ofdm9, Ofdm12, Ofdm18, Ofdm24, Ofdm36, Ofdm48, Ofdm54,
        };
        match self {
            Self::Dsss | Self::B => &[Dsss1, Dsss2, Cck5, Cck11],
            Self::A => &[Ofdm6, Ofdm9, Ofdm12, Ofdm18, Ofdm24, Ofdm36, Ofdm48, Ofdm54],
            Self::G => &[
                Dsss1, Dsss2, Cck5, Ofdm6, Ofdm9, Cck11, Ofdm12, Ofdm18, Ofdm24, Ofdm36, Ofdm48,
                Ofdm54,
            ],
        }
    }

    /// The mode of this rate; `None` if the radio has none.
    pub fn mode(self, rate: Rate) -> Option<Mode> {
        let mut modes = self.modes().iter();
        modes.find(|mode| mode.rate() == rate).copied()
    }

    /// The lowest mode in which a radio of this standard sends to all: 1 Mb/s, or 6 Mb/s with
    /// 802.11a.
    pub const fn lowest_mode(self) -> Mode {
        self.modes()[0]
    }

    /// The highest rate.
    pub const fn highest_rate(self) -> Rate {
        let modes = self.modes();
        modes[modes.len() - 1].rate()
    }

    /// The lowest rate of its own modulation: that of broadcasts.
    pub const fn broadcast_rate(self) -> Rate {
        match self {
            Self::A | Self::G => Mode::Ofdm6.rate(),
            Self::B | Self::Dsss => Mode::Dsss1.rate(),
        }
    }

    /// The carrier frequency: channel 36 at 5 GHz, channel 6 at 2.4 GHz.
    pub const fn frequency(self) -> Frequency {
        Frequency::from_hz(match self {
            Self::A => 5_180_000_000,
            Self::B | Self::G | Self::Dsss => 2_437_000_000,
        })
    }

    /// The mode of an acknowledgment or CTS that answers a frame in `mode`, and of an RTS before
    /// it: the highest mandatory mode that is no faster and of the same kind (OFDM or DSSS).
    /// OFDM's mandatory rates are 6, 12 and 24 Mb/s, 802.11b's all four. With [`Standard::Dsss`]
    /// always the lowest, as in ns-2 with its default of 1 Mb/s.
    ///
    /// A network that has agreed on basic rates uses the highest of those instead; then the rate
    /// is given.
    pub const fn control_mode(self, mode: Mode) -> Mode {
        match (self, mode) {
            (Self::Dsss, _) => Mode::Dsss1,
            (_, Mode::Ofdm6 | Mode::Ofdm9) => Mode::Ofdm6,
            (_, Mode::Ofdm12 | Mode::Ofdm18) => Mode::Ofdm12,
            (_, Mode::Ofdm24 | Mode::Ofdm36 | Mode::Ofdm48 | Mode::Ofdm54) => Mode::Ofdm24,
            (_, dsss) => dsss,
        }
    }

    /// The slot of the back-off.
    pub const fn slot(self) -> Duration {
        Duration::from_micros(match self {
            Self::Dsss | Self::B => 20,
            Self::A | Self::G => 9,
        })
    }

    /// The space before an answer.
    pub const fn sifs(self) -> Duration {
        Duration::from_micros(match self {
            Self::Dsss | Self::B | Self::G => 10,
            Self::A => 16,
        })
    }

    /// The space before a contention: SIFS and two slots.
    pub const fn difs(self) -> Duration {
        self.sifs().saturating_add(self.slot().saturating_mul(2))
    }

    /// The least contention window: back-offs are drawn from 0 to this.
    pub const fn cw_min(self) -> u32 {
        match self {
            Self::Dsss | Self::B => 31,
            Self::A | Self::G => 15,
        }
    }

    /// The largest contention window.
    pub const fn cw_max(self) -> u32 {
        1023
    }

    /// The energy detection threshold of CCA, whether the signal is decoded or not: −62 dBm with OFDM (20 dB above the sensitivity at 6 Mb/s); with DSSS −76 dBm, the
    /// value for transmitters of 50 to 100 mW, or −80 dBm for [`Standard::Dsss`] above 100 mW.
    pub const fn energy_detection(self) -> Power {
        Power::from_mdbm(match self {
            Self::Dsss => -80_000,
            Self::B => -76_000,
            Self::A | Self::G => -62_000,
        })
    }

    /// The bandwidth of the receiver's noise, in hertz: 22 MHz with DSSS, 20 MHz with OFDM.
    pub const fn bandwidth_hz(self) -> f64 {
        match self {
            Self::Dsss | Self::B => 22e6,
            Self::A | Self::G => 20e6,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mode_stands_at_its_index_and_is_found_by_its_rate() {
        for (index, mode) in Mode::ALL.into_iter().enumerate() {
            assert_eq!(mode.index(), index);
            assert_eq!(Standard::G.mode(mode.rate()), Some(mode));
        }
        assert_eq!(Standard::A.mode(Rate::from_bps(11_000_000)), None);
        assert_eq!(Standard::B.mode(Rate::from_bps(54_000_000)), None);
    }

    #[test]
    fn modes_of_every_standard_stand_by_rate() {
        for standard in [Standard::Dsss, Standard::B, Standard::A, Standard::G] {
            let rates: Vec<_> = standard.modes().iter().map(|mode| mode.rate()).collect();
            assert!(rates.is_sorted_by(|a, b| a < b), "{standard:?}: {rates:?}");
        }
    }

    #[test]
    fn ofdm_symbols_carry_24_to_216_bits() {
        let bits: Vec<_> = Standard::A
            .modes()
            .iter()
            .filter_map(|mode| mode.bits_per_symbol())
            .collect();
        assert_eq!(bits, [24, 36, 48, 72, 96, 144, 192, 216]);
        assert_eq!(Mode::Cck11.bits_per_symbol(), None);
    }

    #[test]
    fn difs_is_50_34_and_28_us() {
        let micros = |standard: Standard| standard.difs().as_micros();
        assert_eq!(
            [Standard::B, Standard::A, Standard::G].map(micros),
            [50, 34, 28]
        );
    }

    #[test]
    fn answers_are_never_faster_than_what_they_answer() {
        for standard in [Standard::Dsss, Standard::B, Standard::A, Standard::G] {
            for &mode in standard.modes() {
                let control = standard.control_mode(mode);
                assert!(standard.modes().contains(&control));
                assert!(control.rate() <= mode.rate());
                assert_eq!(control.is_ofdm(), mode.is_ofdm());
            }
        }
        assert_eq!(Standard::A.control_mode(Mode::Ofdm54), Mode::Ofdm24);
        assert_eq!(Standard::A.control_mode(Mode::Ofdm9), Mode::Ofdm6);
        assert_eq!(Standard::Dsss.control_mode(Mode::Cck11), Mode::Dsss1);
    }
}
