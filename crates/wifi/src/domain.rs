//! Carrier state kept once for radios that all hear each other.
//!
//! A *domain* is a set of radios on one channel that all sense each other and hear no other radio,
//! without fading and without a given loss on their links. When a frame starts on the idle air of a
//! domain, all members that contend stop their countdown, and when it ends alone and decoded, they
//! all set their NAV and continue after DIFS. These members are *bystanders*: the domain has one
//! [`Carrier`] for all of them, which is updated in their place. A bystander's back-off is the
//! number of idle slots of the domain after which it transmits, and only the bystander with the
//! smallest number has a deadline.
//!
//! Other members have a state of their own and are notified of each frame: its sender and the
//! station that it is for, those that transmit within the sensing delay after its start, and those
//! that wait for a response. A bystander gets its own state when it is concerned ([`Wifi::part`](crate::Wifi::part)).
//! For this the domain keeps the *burst*: the starts and ends of frames since the air was idle
//! last, which the radio then processes one after the other. After a burst of several frames, or
//! of one that is not certain to be decoded, all bystanders do so. A member with its own state that
//! contends becomes a bystander again when the next burst starts, if its NAV is that of the others.
//!
//! The order of events and all draws are those of radios that are notified of each frame. A domain
//! is given up when one of its links or nodes fails, and when frames are captured.

use crate::deadlines::Keys;
use crate::frame::Frame;
use crate::phy::Mode;
use crate::radio::Carrier;

/// Radios that all hear each other.
#[derive(Debug)]
pub(crate) struct Domain {
    /// In ascending order.
    pub(crate) members: Vec<u32>,
    /// The places of the members that are no bystanders, in ascending order.
    pub(crate) own: Vec<u32>,
    pub(crate) carrier: Carrier,
    /// By place among the members: the slots of bystanders that have an MPDU.
    pub(crate) slots: Keys,
    /// The bystander whose deadline is set.
    pub(crate) next: Option<u32>,
    /// Frames of members on the air.
    pub(crate) on_air: u32,
    /// Since the air was idle last.
    pub(crate) burst: Vec<Passed>,
    /// By [`Mode::index`]: whether all members decode an undisturbed frame with certainty.
    certain: [bool; Mode::ALL.len()],
}

/// A frame of a burst starts or ends.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Passed {
    pub(crate) frame: Frame,
    /// The place of its sender.
    pub(crate) place: u32,
    pub(crate) ends: bool,
}

/// A radio's place in a domain.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Membership {
    pub(crate) domain: u32,
    pub(crate) place: u32,
}

impl Domain {
    pub(crate) fn new(members: Vec<u32>, certain: [bool; Mode::ALL.len()]) -> Self {
        Self {
            slots: Keys::new(members.len()),
            own: Vec::with_capacity(members.len()),
            members,
            carrier: Carrier::new(),
            next: None,
            on_air: 0,
            burst: Vec::new(),
            certain,
        }
    }

    /// Whether a frame that is on the air is the only one of the burst, and all members decode it.
    pub(crate) fn is_shared(&self, frame: &Frame) -> bool {
        self.burst.len() == 1 && self.certain[frame.mode.index()]
    }
}
