//! The receiver of one radio: the frames on the air at it, and the one that it receives.

use backlane_engine::Stream;
use backlane_units::SimTime;

use crate::frame::{Frame, NONE};
use crate::mac_params::{MacParams, ReceptionModel};
use crate::phy::reception::{detects_until, is_detected};
use crate::phy::{ErrorRate, Mode, SinrReception, finds_preamble};

/// The outcome of a reception at the end of the frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum RxOutcome {
    /// The frame is decoded.
    Ok,
    /// Its frame check sequence fails: EIFS follows.
    FcsError,
    /// Its preamble was not detected; it is energy alone.
    NotDetected,
}

/// The frame that a radio receives.
#[derive(Clone, Copy, Debug)]
struct Reception {
    /// Its sender; [`NONE`]: no frame.
    from: u32,
    begins: SimTime,
    ends: SimTime,
    power_mw: f64,
    /// Not yet lost to interference; with the thresholds and with ns-2's rule.
    good: bool,
    mode: Mode,
    bytes: u32,
    /// Its link has a given loss, and noise causes none.
    noise_free: bool,
}

impl Reception {
    /// The reception by error rates.
    fn over(&self, noise_mw: f64, others_mw: f64, params: &MacParams) -> SinrReception {
        SinrReception::new(
            self.begins,
            self.mode,
            self.power_mw,
            if self.noise_free { 0.0 } else { noise_mw },
            others_mw,
            self.begins
                .saturating_add(params.preamble_airtime(self.mode)),
            self.ends,
            self.bytes,
        )
    }

    /// Whether this interference, the first, is so early and strong that the preamble is lost.
    fn loses_preamble(&self, now: SimTime, noise_mw: f64, others_mw: f64) -> bool {
        let noise_mw = if self.noise_free { 0.0 } else { noise_mw };
        detects_until(self.begins) > now && !is_detected(self.power_mw, noise_mw + others_mw)
    }

    /// The probability that it is decoded without interference.
    fn success(
        &self,
        noise_mw: f64,
        rates: &ErrorRate,
        params: &MacParams,
        known: &mut [Undisturbed; KNOWN],
    ) -> f64 {
        if self.noise_free || rates.is_certain(self.mode, self.power_mw / noise_mw) {
            return 1.0;
        }
        let place = (self.from ^ self.bytes) as usize % KNOWN;
        let like = (self.power_mw, self.mode, self.bytes);
        if known[place].like != like {
            known[place] = Undisturbed {
                like,
                success: self.over(noise_mw, 0.0, params).success(rates),
            };
        }
        known[place].success
    }
}

/// Repeated frames have equal powers, modes and lengths. The probabilities of this many are kept.
const KNOWN: usize = 8;

/// The probability that a frame of this power, mode and length is decoded without interference.
#[derive(Clone, Copy, Debug)]
struct Undisturbed {
    like: (f64, Mode, u32),
    success: f64,
}

const NO_RECEPTION: Reception = Reception {
    from: NONE,
    begins: SimTime::ZERO,
    ends: SimTime::ZERO,
    power_mw: 0.0,
    good: false,
    mode: Mode::Ofdm6,
    bytes: 0,
    noise_free: false,
};

/// ns-2's rule for a radio that has locked on the first of two frames.
fn of_two(first: Reception, later: Reception, capture: f64) -> Reception {
    if first.power_mw >= capture * later.power_mw {
        return first;
    }
    let last = if later.ends > first.ends {
        later
    } else {
        first
    };
    Reception {
        good: false,
        ..last
    }
}

/// The receiver of a radio.
#[derive(Clone)]
pub(crate) struct FrameReceiver {
    /// The sum of the received powers of all frames on the air.
    total_mw: f64,
    on_air: u32,
    reception: Reception,
    /// The state of the reception once another frame has interfered with it.
    sinr: Option<SinrReception>,
    /// Apart from the rest, which is read for each frame.
    undisturbed: Box<[Undisturbed; KNOWN]>,
    errors: Stream,
    /// Draws of `errors` for frames whose outcome was certain. They are made when an outcome
    /// depends on a later one.
    owed_draws: u64,
}

impl FrameReceiver {
    pub(crate) fn new(errors: Stream) -> Self {
        Self {
            total_mw: 0.0,
            on_air: 0,
            reception: NO_RECEPTION,
            sinr: None,
            undisturbed: Box::new(
                [Undisturbed {
                    like: (0.0, Mode::Ofdm6, 0),
                    success: 0.0,
                }; KNOWN],
            ),
            errors,
            owed_draws: 0,
        }
    }

    /// A frame starts, at this received power. `noise_free`: its link has a given loss, and noise
    /// causes none. `sensed`: the frames on the air above the CCA threshold, with this one.
    /// `deaf`: the radio transmits or its node has failed.
    #[inline]
    pub(crate) fn on_start(
        &mut self,
        frame: &Frame,
        power_mw: f64,
        noise_free: bool,
        sensed: u32,
        deaf: bool,
        params: &MacParams,
    ) {
        self.total_mw += power_mw;
        self.on_air += 1;
        if !deaf || matches!(params.reception, ReceptionModel::Pairwise { .. }) {
            self.lock_on(frame, power_mw, noise_free, sensed, params);
        }
        if deaf {
            self.lose(params);
        }
    }

    /// The node has failed: the ongoing reception is lost.
    pub(crate) fn switch_off(&mut self) {
        self.reception.from = NONE;
    }

    /// The end of the frame whose payload is being received, if there is one.
    pub(crate) fn receives_until(&self, now: SimTime, params: &MacParams) -> Option<SimTime> {
        let held = &self.reception;
        let payload = (held.begins).saturating_add(params.preamble_airtime(held.mode));
        (held.from != NONE && payload <= now && now < held.ends).then_some(held.ends)
    }

    /// The ongoing reception is lost. By ns-2's rule the receiver stays busy to its end.
    #[inline]
    pub(crate) fn lose(&mut self, params: &MacParams) {
        match params.reception {
            ReceptionModel::Pairwise { .. } => self.reception.good = false,
            _ => self.reception.from = NONE,
        }
    }

    /// Locks on a frame, or lets it interfere with the ongoing reception. Of frames that start at
    /// the same instant a radio locks on the strongest.
    #[inline(always)]
    #[expect(
        clippy::inline_always,
        reason = "once for each frame and hearer; the call would cost as much as its body"
    )]
    fn lock_on(
        &mut self,
        frame: &Frame,
        power_mw: f64,
        noise_free: bool,
        sensed: u32,
        params: &MacParams,
    ) {
        let others_mw = self.others_mw(power_mw);
        let held = &self.reception;
        let is_free = held.from == NONE;
        let stronger_twin = !is_free && held.begins == frame.begins && power_mw > held.power_mw;
        let may_turn = is_free
            || stronger_twin
            || params
                .recapture
                .is_some_and(|more| power_mw >= more * others_mw);
        let new = || Reception {
            from: frame.from,
            begins: frame.begins,
            ends: frame.ends,
            power_mw,
            good: true,
            mode: frame.mode,
            bytes: frame.bytes,
            noise_free,
        };
        match params.reception {
            ReceptionModel::Threshold {
                sensitivity_mw,
                capture,
            } => {
                let clear = |power_mw: f64, others_mw: f64| match capture {
                    Some(ratio) => power_mw >= ratio * others_mw,
                    None => sensed == 1,
                };
                if power_mw >= sensitivity_mw && may_turn && clear(power_mw, others_mw) {
                    self.reception = new();
                } else if !is_free {
                    let held_mw = held.power_mw;
                    self.reception.good &= clear(held_mw, self.others_mw(held_mw));
                }
            }
            ReceptionModel::Pairwise {
                sensitivity_mw,
                capture,
            } => {
                if power_mw < params.carrier_sense_mw {
                    return;
                }
                let new = Reception {
                    good: power_mw >= sensitivity_mw,
                    ..new()
                };
                self.reception = if is_free {
                    new
                } else if stronger_twin {
                    of_two(new, *held, capture)
                } else {
                    of_two(*held, new, capture)
                };
            }
            ReceptionModel::ErrorRate {
                sensitivity_mw,
                noise_mw,
                ref rates,
            } => {
                let found = if power_mw >= sensitivity_mw && may_turn {
                    let noise_mw = if noise_free { 0.0 } else { noise_mw };
                    let found = finds_preamble(power_mw, noise_mw + others_mw);
                    if found {
                        self.reception = new();
                        self.sinr = None;
                        if self.on_air > 1 {
                            self.sinr = Some(self.reception.over(noise_mw, others_mw, params));
                        }
                    }
                    found
                } else if !is_free {
                    let others_mw = self.others_mw(held.power_mw);
                    self.disturb(frame.begins, noise_mw, others_mw, rates, params)
                } else {
                    true
                };
                if !found {
                    self.reception.from = NONE;
                    self.sinr = None;
                }
            }
        }
    }

    /// The interference has this power from now on. Returns whether the preamble of the ongoing
    /// reception is still detected.
    #[inline]
    fn disturb(
        &mut self,
        now: SimTime,
        noise_mw: f64,
        others_mw: f64,
        rates: &ErrorRate,
        params: &MacParams,
    ) -> bool {
        let reception = &self.reception;
        if self.sinr.is_none() && reception.loses_preamble(now, noise_mw, others_mw) {
            return false;
        }
        let sinr = self
            .sinr
            .get_or_insert_with(|| reception.over(noise_mw, 0.0, params));
        sinr.on_interference(now, others_mw, rates);
        sinr.preamble_found()
    }

    /// The power of all frames on the air but one.
    #[inline]
    fn others_mw(&self, power_mw: f64) -> f64 {
        if self.on_air <= 1 {
            return 0.0;
        }
        (self.total_mw - power_mw).max(0.0)
    }

    /// A frame ends. By error rates, a frame that the receiver has not locked on is energy alone;
    /// by thresholds, each sensed frame that is not decoded is an error.
    #[inline(always)]
    #[expect(
        clippy::inline_always,
        reason = "once for each frame and hearer; the call would cost as much as its body"
    )]
    pub(crate) fn on_end(&mut self, frame: &Frame, power_mw: f64, params: &MacParams) -> RxOutcome {
        self.on_air -= 1;
        self.total_mw = if self.on_air == 0 {
            0.0
        } else {
            self.total_mw - power_mw
        };
        if self.reception.from == frame.from {
            return self.complete(params);
        }
        let ReceptionModel::ErrorRate {
            rates, noise_mw, ..
        } = &params.reception
        else {
            return RxOutcome::FcsError;
        };
        if self.reception.from != NONE {
            let others_mw = match self.on_air {
                1 => 0.0,
                _ => (self.total_mw - self.reception.power_mw).max(0.0),
            };
            self.disturb(frame.ends, *noise_mw, others_mw, rates, params);
        }
        RxOutcome::NotDetected
    }

    /// The frame that the receiver has locked on ends.
    #[inline]
    fn complete(&mut self, params: &MacParams) -> RxOutcome {
        self.reception.from = NONE;
        let good = match &params.reception {
            ReceptionModel::ErrorRate {
                rates, noise_mw, ..
            } => {
                let success = match self.sinr.take() {
                    Some(sinr) => sinr.success(rates),
                    None => {
                        let known = &mut self.undisturbed;
                        self.reception.success(*noise_mw, rates, params, known)
                    }
                };
                self.succeeds(success)
            }
            _ => self.reception.good,
        };
        if good {
            RxOutcome::Ok
        } else {
            RxOutcome::FcsError
        }
    }

    /// This many frames were certain to be decoded, and the receiver was not notified of them.
    pub(crate) fn owe_draws(&mut self, frames: u64) {
        self.owed_draws += frames;
    }

    /// Draws whether a frame is decoded, with this probability.
    #[inline]
    fn succeeds(&mut self, probability: f64) -> bool {
        if probability <= 0.0 || probability >= 1.0 {
            self.owed_draws += 1;
            return probability > 0.0;
        }
        for _ in 0..std::mem::take(&mut self.owed_draws) {
            self.errors.next_u64();
        }
        self.errors.bernoulli(probability)
    }
}
