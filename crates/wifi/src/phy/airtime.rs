//! Airtimes of frames.
//!
//! Sizes are those of the whole MAC frame with header and FCS (the PSDU). DSSS and CCK: preamble
//! and PLCP header, then 8 L / R rounded up to whole microseconds, which is how the header states
//! the length. OFDM: 16 µs of preamble, 4 µs of SIGNAL, then as many symbols of 4 µs as hold 16
//! bits of SERVICE, 8 L bits and 6 tail bits; 802.11g adds 6 µs of silence, so that its short SIFS
//! gives a decoder the time that 802.11a's gives.

use backlane_units::Duration;

use super::standard::{Mode, Preamble, Standard};

/// Bytes of an acknowledgment and of a CTS.
pub const ACK_BYTES: u32 = 14;
/// Bytes of an RTS.
pub const RTS_BYTES: u32 = 20;

/// The part of a frame before its payload: preamble and header.
pub const fn preamble_airtime(mode: Mode, preamble: Preamble) -> Duration {
    Duration::from_micros(match (mode, preamble) {
        (Mode::Dsss2 | Mode::Cck5 | Mode::Cck11, Preamble::Short) => 96,
        (Mode::Dsss1 | Mode::Dsss2 | Mode::Cck5 | Mode::Cck11, _) => 192,
        _ => 20,
    })
}

/// The airtime of a frame of `bytes` in `mode`. A frame at 1 Mb/s has the long preamble,
/// regardless of `preamble`.
pub const fn frame_airtime(
    standard: Standard,
    mode: Mode,
    preamble: Preamble,
    bytes: u32,
) -> Duration {
    let bits = 8 * bytes as u64;
    let payload_us = match mode.bits_per_symbol() {
        Some(bits_per_symbol) => 4 * (16 + bits + 6).div_ceil(bits_per_symbol),
        None => (1_000_000 * bits).div_ceil(mode.rate().as_bps()),
    };
    let extension_us = match (standard, mode.is_ofdm()) {
        (Standard::G, true) => 6,
        _ => 0,
    };
    preamble_airtime(mode, preamble)
        .saturating_add(Duration::from_micros(payload_us + extension_us))
}

/// How long an acknowledgment or CTS in `mode` lasts.
pub const fn ack_airtime(standard: Standard, mode: Mode, preamble: Preamble) -> Duration {
    frame_airtime(standard, mode, preamble, ACK_BYTES)
}

/// The space that a station leaves after a frame which it could not decode, so that the frame's
/// receiver can acknowledge it: SIFS, an acknowledgment in the lowest mode with the long preamble
/// (with 802.11g the lowest of OFDM), and DIFS.
pub const fn eifs(standard: Standard) -> Duration {
    let lowest = match standard {
        Standard::G => Mode::Ofdm6,
        _ => standard.lowest_mode(),
    };
    standard
        .sifs()
        .saturating_add(ack_airtime(standard, lowest, Preamble::Long))
        .saturating_add(standard.difs())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn micros(standard: Standard, mode: Mode, bytes: u32) -> u64 {
        frame_airtime(standard, mode, Preamble::Long, bytes).as_micros()
    }

    /// 20 µs + 4 ⌈(22 + 8 · 1536)/N⌉ for 1500 bytes of IP with LLC, header and FCS: 12 310 bits.
    #[test]
    fn a_full_frame_over_802_11a_lasts_as_many_symbols_as_hold_its_bits() {
        let expected = [
            (Mode::Ofdm6, 20 + 4 * 513),
            (Mode::Ofdm9, 20 + 4 * 342),
            (Mode::Ofdm12, 20 + 4 * 257),
            (Mode::Ofdm18, 20 + 4 * 171),
            (Mode::Ofdm24, 20 + 4 * 129),
            (Mode::Ofdm36, 20 + 4 * 86),
            (Mode::Ofdm48, 20 + 4 * 65),
            (Mode::Ofdm54, 20 + 4 * 57),
        ];
        for (mode, us) in expected {
            assert_eq!(micros(Standard::A, mode, 1536), us, "{mode:?}");
            assert_eq!(micros(Standard::G, mode, 1536), us + 6, "{mode:?}");
        }
    }

    /// The acknowledgments that every table of 802.11a prints: 44, 32 and 28 µs.
    #[test]
    fn acknowledgments_over_802_11a_last_44_32_and_28_us() {
        let at = |mode| ack_airtime(Standard::A, mode, Preamble::Long).as_micros();
        assert_eq!(
            [Mode::Ofdm6, Mode::Ofdm12, Mode::Ofdm24].map(at),
            [44, 32, 28]
        );
    }

    #[test]
    fn acknowledgments_over_802_11b_last_304_and_248_us_with_the_long_preamble() {
        let at = |mode| ack_airtime(Standard::B, mode, Preamble::Long).as_micros();
        assert_eq!(
            [Mode::Dsss1, Mode::Dsss2, Mode::Cck5, Mode::Cck11].map(at),
            [304, 248, 213, 203]
        );
    }

    #[test]
    fn the_short_preamble_saves_96_us_but_not_at_1_mbit_per_s() {
        let short = |mode| frame_airtime(Standard::B, mode, Preamble::Short, 1064).as_micros();
        for mode in [Mode::Dsss2, Mode::Cck5, Mode::Cck11] {
            assert_eq!(short(mode), micros(Standard::B, mode, 1064) - 96);
        }
        assert_eq!(short(Mode::Dsss1), micros(Standard::B, Mode::Dsss1, 1064));
    }

    /// 8 · 1064 / 11 = 773.8.
    #[test]
    fn cck_frames_end_on_whole_microseconds() {
        assert_eq!(micros(Standard::B, Mode::Cck11, 1064), 192 + 774);
        assert_eq!(micros(Standard::B, Mode::Cck5, 1064), 192 + 1548);
    }

    /// The values that ns-2 and ns-3 use: 364, 94 and 88 µs.
    #[test]
    fn eifs_leaves_room_for_the_slowest_acknowledgment() {
        let at = |standard| eifs(standard).as_micros();
        assert_eq!(
            [Standard::Dsss, Standard::B, Standard::A, Standard::G].map(at),
            [364, 364, 94, 88]
        );
    }

    /// One saturated station waits 15.5 slots on the mean: what Bianchi's model gives for n = 1
    /// with 1000 bytes in frames of 1028. The 5136 kb/s of a calculation without rounding to whole
    /// microseconds become 5135.
    #[test]
    fn one_saturated_station_over_802_11b_gets_1607_and_5135_kbit_per_s() {
        let throughput = |mode, control| {
            let cycle_us = micros(Standard::B, mode, 1028)
                + Standard::B.sifs().as_micros()
                + ack_airtime(Standard::B, control, Preamble::Long).as_micros()
                + Standard::B.difs().as_micros()
                + 310;
            8e6 / cycle_us as f64
        };
        assert_eq!(throughput(Mode::Dsss2, Mode::Dsss1).round(), 1607.0);
        assert_eq!(throughput(Mode::Cck11, Mode::Dsss2).round(), 5135.0);
    }
}
