//! A frame on the air.

use backlane_units::{Duration, SimTime};

use crate::phy::Mode;

/// Names no radio and no link.
pub(crate) const NONE: u32 = u32::MAX;

/// The kinds of frames.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Data,
    Rts,
    Cts,
    Ack,
}

/// A frame as its sender sends it; each radio sends at most one at a time.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Frame {
    pub(crate) kind: Kind,
    pub(crate) mode: Mode,
    /// Its sender.
    pub(crate) from: u32,
    /// The radio that it is for; [`NONE`]: all.
    pub(crate) to: u32,
    /// The link direction of its MPDU, or of the frame that it responds to; [`NONE`]: a broadcast.
    pub(crate) link: u32,
    pub(crate) bytes: u32,
    pub(crate) begins: SimTime,
    pub(crate) ends: SimTime,
    /// Its Duration field: the NAV that it sets after its end.
    pub(crate) duration: Duration,
}

impl Frame {
    /// That of a radio that has not sent yet.
    pub(crate) const NOTHING: Self = Self {
        kind: Kind::Ack,
        mode: Mode::Ofdm6,
        from: NONE,
        to: NONE,
        link: NONE,
        bytes: 0,
        begins: SimTime::ZERO,
        ends: SimTime::ZERO,
        duration: Duration::ZERO,
    };
}
