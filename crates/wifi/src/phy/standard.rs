//! The standards.

/// A physical layer of 802.11.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Standard {
    /// 802.11b: DSSS and CCK at 1, 2, 5.5 and 11 Mbit/s in the 2.4 GHz band.
    B,
    /// 802.11a: OFDM at 6 to 54 Mbit/s in the 5 GHz band.
    A,
    /// 802.11g: the rates of 802.11a in the 2.4 GHz band.
    G,
    /// 802.11b as ns-2's `Mac/802_11` has it: any rate, with the times of DSSS.
    Dsss,
}

/// The preamble of DSSS and CCK frames.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Preamble {
    /// 144 µs and a header of 48 µs.
    #[default]
    Long,
    /// 72 µs and a header of 24 µs.
    Short,
}
