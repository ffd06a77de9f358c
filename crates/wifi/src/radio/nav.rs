//! Virtual carrier sense.

use backlane_units::SimTime;

use crate::frame::{Frame, Kind};
use crate::mac_params::MacParams;

/// The network allocation vector.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Nav {
    /// Its end.
    until: SimTime,
    /// It is reset here if no frame is sensed before.
    reset_at: SimTime,
}

impl Nav {
    /// No frame has set it.
    pub(crate) const UNSET: Self = Self {
        until: SimTime::ZERO,
        reset_at: SimTime::MAX,
    };

    /// Its end, if no further frame is sensed.
    #[inline]
    pub(crate) fn ends(self) -> SimTime {
        self.until.min(self.reset_at)
    }

    /// Its end, or zero if it has expired.
    #[inline]
    pub(super) fn left(self, now: SimTime) -> SimTime {
        if self.ends() > now {
            self.ends()
        } else {
            SimTime::ZERO
        }
    }

    /// A frame is sensed.
    #[inline]
    pub(super) fn on_sensed(&mut self, now: SimTime) {
        if self.reset_at == SimTime::MAX {
            return;
        }
        if self.reset_at <= now {
            self.until = SimTime::ZERO;
        }
        self.reset_at = SimTime::MAX;
    }

    /// A frame for another radio has ended and sets it from its Duration field.
    #[inline]
    pub(super) fn set(&mut self, frame: &Frame, params: &MacParams) {
        let until = frame.ends.saturating_add(frame.duration);
        if until > self.until {
            self.until = until;
            self.reset_at = match frame.kind {
                Kind::Rts => {
                    let lapse = params.nav_reset(params.control_mode(frame.mode));
                    frame.ends.saturating_add(lapse)
                }
                _ => SimTime::MAX,
            };
        }
    }

    /// When a countdown begins on a channel that is idle and accessible from `access_at` on.
    #[inline]
    pub(super) fn reference(self, access_at: SimTime, params: &MacParams) -> SimTime {
        let ends = self.ends();
        if ends > SimTime::ZERO {
            access_at.max(ends.saturating_add(params.difs))
        } else {
            access_at
        }
    }
}
