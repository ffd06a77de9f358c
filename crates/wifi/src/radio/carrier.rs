//! The carrier state that the bystanders of a [domain](crate::domain) share.

use backlane_units::SimTime;

use super::nav::Nav;
use super::{Phase, Radio};
use crate::deadlines::Deadlines;
use crate::frame::{Frame, NONE};
use crate::mac_params::MacParams;
use crate::receiver::RxOutcome;

/// The state of the channel as all bystanders of a domain sense it.
#[derive(Debug)]
pub(crate) struct Carrier {
    /// Idle slots that have passed, up to the last frame.
    slots: u64,
    /// When the countdown goes on after the last frame.
    reference: SimTime,
    /// The end of DIFS after the last frame.
    access_at: SimTime,
    nav: Nav,
    /// The start of the last frame.
    busy_since: SimTime,
    /// The length of all frames that have ended.
    busy_ps: u64,
    /// All frames that have ended.
    frames: u64,
}

/// A bystander's part of its carrier's state.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Share {
    /// Its transmission is due when this many idle slots have passed.
    slot: u64,
    /// [`Carrier::busy_ps`] when it became a bystander.
    busy_ps: u64,
    /// [`Carrier::frames`] when it became a bystander.
    frames: u64,
}

impl Share {
    /// Busy time that the radio has not counted itself, in picoseconds.
    #[inline]
    pub(crate) fn busy_ps(&self, carrier: &Carrier) -> u128 {
        u128::from(carrier.busy_ps - self.busy_ps)
    }

    /// Frames that were certain to be decoded, and that the radio was not notified of.
    #[inline]
    pub(crate) fn frames(&self, carrier: &Carrier) -> u64 {
        carrier.frames - self.frames
    }
}

impl Carrier {
    /// The state before the first frame.
    pub(crate) fn new() -> Self {
        Self {
            slots: 0,
            reference: SimTime::ZERO,
            access_at: SimTime::ZERO,
            nav: Nav::UNSET,
            busy_since: SimTime::ZERO,
            busy_ps: 0,
            frames: 0,
        }
    }

    /// When a transmission begins that is due after this many idle slots.
    #[inline]
    pub(crate) fn begins(&self, slot: u64, params: &MacParams) -> SimTime {
        let left = slot.saturating_sub(self.slots);
        self.reference
            .saturating_add(params.slot.saturating_mul(left))
    }

    /// There are no bystanders any more.
    pub(crate) fn abandon(&mut self) {
        self.nav = Nav::UNSET;
    }

    /// A frame starts.
    pub(crate) fn on_start(&mut self, now: SimTime, params: &MacParams) {
        self.slots += params.slots_between(self.reference, now);
        self.busy_since = now;
        self.nav.on_sensed(now);
    }

    /// The frame ends, and all bystanders decode it.
    pub(crate) fn on_end(&mut self, frame: &Frame, params: &MacParams) {
        if frame.to != NONE {
            self.nav.set(frame, params);
        }
        self.busy_ps += frame.ends.saturating_since(self.busy_since).as_ps();
        self.frames += 1;
        self.access_at = frame.ends.saturating_add(params.difs);
        self.reference = self.nav.reference(self.access_at, params);
    }
}

impl Radio {
    /// Whether a radio at which a burst has just started is in the state of the bystanders but for
    /// its back-off.
    #[inline]
    pub(crate) fn is_like(
        &self,
        me: usize,
        now: SimTime,
        carrier: &Carrier,
        deadlines: &Deadlines,
    ) -> bool {
        let is_frozen = self.phase == Phase::Contend && deadlines.at(me) == SimTime::MAX;
        is_frozen && self.nav.left(now) == carrier.nav.left(now)
    }

    /// The radio becomes a bystander. Returns the number of idle slots after which its
    /// transmission is due.
    #[inline]
    pub(crate) fn join(&mut self, carrier: &Carrier) -> u64 {
        let slot = carrier.slots + u64::from(self.backoff);
        self.cca_busy = 0;
        self.share = Some(Share {
            slot,
            busy_ps: carrier.busy_ps,
            frames: carrier.frames,
        });
        slot
    }

    /// The radio is no bystander any more, as of before the first frame of the burst, but with
    /// its countdown stopped if there is one.
    #[inline]
    pub(crate) fn leave(&mut self, share: Share, carrier: &Carrier) {
        self.backoff = share.slot.saturating_sub(carrier.slots) as u32;
        self.reference = carrier.reference;
        self.access_at = carrier.access_at;
        self.nav = carrier.nav;
        self.busy_since = carrier.busy_since;
        self.counters.busy_ps += share.busy_ps(carrier);
        let frames = share.frames(carrier);
        if frames > 0 {
            self.eifs_until = SimTime::ZERO;
            self.receiver.owe_draws(frames);
        }
    }

    /// A frame of the burst has started.
    #[inline]
    pub(crate) fn on_shared_start(
        &mut self,
        frame: &Frame,
        power_mw: f64,
        noise_free: bool,
        params: &MacParams,
    ) {
        self.cca_busy += 1;
        self.nav.on_sensed(frame.begins);
        self.receive(frame, power_mw, noise_free, params);
    }

    /// A frame of the burst has ended.
    #[inline]
    pub(crate) fn on_shared_end(
        &mut self,
        me: usize,
        frame: &Frame,
        power_mw: f64,
        params: &MacParams,
        deadlines: &mut Deadlines,
    ) {
        let heard = self.receiver.on_end(frame, power_mw, params);
        if heard == RxOutcome::Ok && frame.to != NONE {
            self.set_nav(frame, params);
        }
        self.on_cca_idle(me, frame.ends, heard, params, deadlines);
    }
}
