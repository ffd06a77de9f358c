//! One radio: reception, carrier sense, NAV and back-off.
//!
//! A radio with an MPDU counts down its back-off in slots while the channel is idle. The countdown
//! is not simulated slot by slot: `reference` is when it begins, once DIFS (or EIFS) has passed
//! after the last busy period and the NAV has expired, and the transmission begins `backoff` slots
//! later. If the channel becomes busy before that, the elapsed slots are subtracted.

use backlane_engine::Stream;
use backlane_net::{LinkId, NodeId, PacketId};
use backlane_units::{Duration, SimTime};

use crate::counters::RadioCounters;
use crate::deadlines::{Deadlines, Priority};
use crate::frame::{Frame, Kind, NONE};
use crate::mac_params::{MacParams, ReceptionModel};
use crate::phy::{ErrorRate, Mode, SinrReception, finds_preamble};
use crate::queues::Queues;

/// The state of a radio.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Phase {
    /// It is idle or counts down its back-off.
    Contend,
    /// It transmits.
    Transmit,
    /// It has sent an RTS or data and waits for CTS or ACK.
    Await,
    /// It sends a control response, or data after a CTS, when SIFS has passed.
    Respond,
}

/// The MPDU in service, from the queue to the ACK or the retry limit.
#[derive(Clone, Copy, Debug)]
pub(crate) struct TxMpdu {
    pub(crate) packet: PacketId,
    /// [`NONE`]: a broadcast.
    pub(crate) link: u32,
    /// The radio that it is for; [`NONE`]: all.
    pub(crate) to: u32,
    /// Size with MAC header and FCS.
    pub(crate) bytes: u32,
    pub(crate) mode: Mode,
    pub(crate) attempts: u32,
    pub(crate) short_retries: u8,
    pub(crate) long_retries: u8,
    /// Already received; further attempts happen only because the ACK was lost.
    pub(crate) arrived: bool,
}

/// A frame that a radio sends after SIFS.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Response {
    pub(crate) kind: Kind,
    pub(crate) to: u32,
    pub(crate) link: u32,
    pub(crate) mode: Mode,
    pub(crate) duration: Duration,
}

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

/// One radio of a station.
pub(crate) struct Radio {
    pub(crate) node: NodeId,
    /// Its number at the node.
    pub(crate) number: u8,
    pub(crate) up: bool,
    pub(crate) phase: Phase,
    pub(crate) response: Option<Response>,
    pub(crate) mpdu: Option<TxMpdu>,
    pub(crate) queue: Queues,
    pub(crate) draws: Draws,
    pub(crate) counters: RadioCounters,

    /// Slots left as of `reference`.
    backoff: u32,
    reference: SimTime,
    cw: u32,

    /// The sum of the received powers of all frames on the air.
    total_mw: f64,
    on_air: u32,
    /// Frames on the air above the CCA threshold.
    cca_busy: u32,
    reception: Reception,
    /// The state of the reception once another frame has interfered with it.
    sinr: Option<SinrReception>,
    undisturbed: [Undisturbed; KNOWN],
    queue_noted: SimTime,
    /// The start of the current busy period.
    busy_since: SimTime,
    /// The end of DIFS or EIFS, if the channel stays idle.
    access_at: SimTime,
    /// The end of EIFS after the last frame with an error, unless one was decoded since.
    eifs_until: SimTime,
    /// The end of the NAV.
    nav_until: SimTime,
    /// The NAV is reset here if no frame is sensed before.
    nav_reset_at: SimTime,
}

/// The random streams of a radio.
#[derive(Debug)]
pub(crate) struct Draws {
    pub(crate) backoff: Stream,
    pub(crate) errors: Stream,
    pub(crate) fading: Stream,
}

impl Radio {
    pub(crate) fn new(
        node: NodeId,
        number: u8,
        queue: Queues,
        draws: Draws,
        params: &MacParams,
    ) -> Self {
        Self {
            node,
            number,
            up: true,
            phase: Phase::Contend,
            response: None,
            mpdu: None,
            queue,
            draws,
            counters: RadioCounters::default(),
            backoff: 0,
            reference: SimTime::ZERO,
            cw: params.cw_min,
            total_mw: 0.0,
            on_air: 0,
            cca_busy: 0,
            reception: NO_RECEPTION,
            sinr: None,
            undisturbed: [Undisturbed {
                like: (0.0, Mode::Ofdm6, 0),
                success: 0.0,
            }; KNOWN],
            queue_noted: SimTime::ZERO,
            busy_since: SimTime::ZERO,
            access_at: SimTime::ZERO,
            eifs_until: SimTime::ZERO,
            nav_until: SimTime::ZERO,
            nav_reset_at: SimTime::MAX,
        }
    }

    /// The end of the NAV, if no further frame is sensed.
    fn nav(&self) -> SimTime {
        self.nav_until.min(self.nav_reset_at)
    }

    pub(crate) fn nav_busy(&self, now: SimTime) -> bool {
        self.nav() > now
    }

    fn draw_backoff(&mut self) {
        self.backoff = self.draws.backoff.uniform_below(u64::from(self.cw) + 1) as u32;
    }

    /// An MPDU has come into service. Without a remaining back-off it is sent at once if the
    /// channel is idle, and after a back-off if not.
    pub(crate) fn request_access(
        &mut self,
        me: usize,
        now: SimTime,
        params: &MacParams,
        deadlines: &mut Deadlines,
    ) {
        if self.phase != Phase::Contend || self.cca_busy > 0 {
            if self.backoff == 0 {
                self.draw_backoff();
            }
            return;
        }
        let begins = self.begins(params);
        if begins <= now {
            self.backoff = 0;
            deadlines.set(me, now, Priority::Other);
        } else {
            if self.backoff == 0 && self.nav_busy(now) {
                self.draw_backoff();
            }
            deadlines.set(me, self.begins(params), Priority::Other);
        }
    }

    fn begins(&self, params: &MacParams) -> SimTime {
        self.reference
            .saturating_add(params.slot.saturating_mul(u64::from(self.backoff)))
    }

    /// The countdown continues on an idle channel.
    pub(crate) fn resume(&mut self, me: usize, params: &MacParams, deadlines: &mut Deadlines) {
        debug_assert!(self.phase == Phase::Contend && self.cca_busy == 0);
        let nav = self.nav();
        self.reference = self.access_at;
        if nav > SimTime::ZERO {
            self.reference = self.reference.max(nav.saturating_add(params.difs));
        }
        if self.mpdu.is_some() {
            deadlines.set(me, self.begins(params), Priority::Other);
        }
    }

    /// The countdown stops. A transmission due within the sensing delay starts nevertheless.
    fn freeze(&mut self, me: usize, now: SimTime, params: &MacParams, deadlines: &mut Deadlines) {
        let begins = deadlines.at(me);
        if begins <= now || begins < now.saturating_add(params.sensing_delay) {
            return;
        }
        if self.backoff > 0 && now > self.reference {
            let passed = now.saturating_since(self.reference).as_ps() / params.slot.as_ps();
            self.backoff -= passed.min(u64::from(self.backoff)) as u32;
        }
        deadlines.clear(me);
    }

    /// A transmission starts. An ongoing reception is lost.
    pub(crate) fn begin(
        &mut self,
        me: usize,
        frame: &Frame,
        params: &MacParams,
        deadlines: &mut Deadlines,
    ) {
        if self.cca_busy == 0 {
            self.busy_since = frame.begins;
        }
        if self.phase == Phase::Contend {
            self.backoff = 0;
        }
        self.phase = Phase::Transmit;
        self.lose_reception(params);
        self.counters.frames_sent += 1;
        self.counters.sending_ps += u128::from(frame.ends.saturating_since(frame.begins).as_ps());
        deadlines.set(me, frame.ends, Priority::FrameEnds);
    }

    /// The ongoing reception is lost. By ns-2's rule the receiver stays busy to its end.
    fn lose_reception(&mut self, params: &MacParams) {
        match params.reception {
            ReceptionModel::Pairwise { .. } => self.reception.good = false,
            _ => self.reception.from = NONE,
        }
    }

    /// A transmission ends; `phase` is the next state.
    pub(crate) fn end(
        &mut self,
        me: usize,
        now: SimTime,
        phase: Phase,
        params: &MacParams,
        deadlines: &mut Deadlines,
    ) {
        self.phase = phase;
        if phase == Phase::Await {
            deadlines.set(me, now.saturating_add(params.ack_timeout), Priority::Other);
        }
        if self.cca_busy > 0 {
            return;
        }
        self.note_busy_until(now);
        self.eifs_until = SimTime::ZERO;
        self.access_at = now.saturating_add(params.difs);
        if phase == Phase::Contend {
            self.resume(me, params, deadlines);
        }
    }

    /// The attempt has failed: the contention window doubles and a back-off is drawn from it.
    pub(crate) fn back_off_after_failure(&mut self, params: &MacParams) {
        self.cw = (2 * self.cw + 1).min(params.cw_max);
        self.draw_backoff();
    }

    /// An MPDU is delivered or dropped: the contention window is reset and a back-off drawn.
    pub(crate) fn back_off_after_frame(&mut self, params: &MacParams) {
        self.cw = params.cw_min;
        self.draw_backoff();
    }

    /// The radio contends again after a CTS or ACK timeout.
    pub(crate) fn contend_after_timeout(
        &mut self,
        me: usize,
        now: SimTime,
        params: &MacParams,
        deadlines: &mut Deadlines,
    ) {
        self.phase = Phase::Contend;
        self.access_at = self.access_at.max(now.saturating_add(params.difs));
        if self.cca_busy == 0 {
            self.resume(me, params, deadlines);
        }
    }

    /// Updates the time integral of the queue, before the queue changes.
    pub(crate) fn integrate_queue(&mut self, now: SimTime) {
        let waiting = self.queue.backlog_pkts() as u128;
        let passed = now.saturating_since(self.queue_noted).as_ps();
        self.counters.queue_area += waiting * u128::from(passed);
        self.queue_noted = now;
    }

    /// The node has failed. It still senses frames and decodes none. `frame` is the one that it
    /// sends, or sent last.
    pub(crate) fn switch_off(&mut self, me: usize, frame: &mut Frame, deadlines: &mut Deadlines) {
        self.reception.from = NONE;
        self.response = None;
        self.backoff = 0;
        if self.phase == Phase::Transmit {
            // The frame still on the air is decoded by no receiver.
            frame.kind = Kind::Ack;
            frame.to = NONE;
        } else {
            self.phase = Phase::Contend;
            deadlines.clear(me);
        }
    }

    fn note_busy_until(&mut self, now: SimTime) {
        self.counters.busy_ps += u128::from(now.saturating_since(self.busy_since).as_ps());
    }

    /// A frame of another radio starts, at this received power. `noise_free`: its link has a given
    /// loss, and noise causes none.
    pub(crate) fn on_rx_start(
        &mut self,
        me: usize,
        frame: &Frame,
        power_mw: f64,
        noise_free: bool,
        params: &MacParams,
        deadlines: &mut Deadlines,
    ) {
        let now = frame.begins;
        self.total_mw += power_mw;
        self.on_air += 1;
        if power_mw >= params.carrier_sense_mw {
            self.cca_busy += 1;
            if self.cca_busy == 1 && self.phase != Phase::Transmit {
                self.busy_since = now;
                if self.phase == Phase::Contend {
                    self.freeze(me, now, params, deadlines);
                }
            }
            if self.nav_reset_at != SimTime::MAX {
                if self.nav_reset_at <= now {
                    self.nav_until = SimTime::ZERO;
                }
                self.nav_reset_at = SimTime::MAX;
            }
        }
        let deaf = self.phase == Phase::Transmit || !self.up;
        if !deaf || matches!(params.reception, ReceptionModel::Pairwise { .. }) {
            self.lock_on(frame, power_mw, noise_free, params);
        }
        if deaf {
            self.lose_reception(params);
        }
    }

    /// Locks on a frame, or lets it interfere with the ongoing reception. Of frames that start at
    /// the same instant a radio locks on the strongest.
    fn lock_on(&mut self, frame: &Frame, power_mw: f64, noise_free: bool, params: &MacParams) {
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
                let cca_busy = self.cca_busy;
                let clear = |power_mw: f64, others_mw: f64| match capture {
                    Some(ratio) => power_mw >= ratio * others_mw,
                    None => cca_busy == 1,
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
                let mut found = true;
                if power_mw >= sensitivity_mw && may_turn {
                    self.reception = new();
                    let noise_mw = if noise_free { 0.0 } else { noise_mw };
                    found = finds_preamble(power_mw, noise_mw + others_mw);
                    if self.on_air > 1 {
                        self.sinr = Some(self.reception.over(noise_mw, others_mw, params));
                    } else {
                        self.sinr = None;
                    }
                } else if !is_free {
                    let others_mw = self.others_mw(held.power_mw);
                    found = self.disturb(frame.begins, noise_mw, others_mw, rates, params);
                }
                if !found {
                    self.reception.from = NONE;
                    self.sinr = None;
                }
            }
        }
    }

    /// The interference has this power from now on. Returns whether the preamble of the ongoing
    /// reception is still detected.
    fn disturb(
        &mut self,
        now: SimTime,
        noise_mw: f64,
        others_mw: f64,
        rates: &ErrorRate,
        params: &MacParams,
    ) -> bool {
        let reception = &self.reception;
        let sinr = self
            .sinr
            .get_or_insert_with(|| reception.over(noise_mw, 0.0, params));
        sinr.on_interference(now, others_mw, rates);
        sinr.preamble_found()
    }

    /// The power of all frames on the air but one.
    fn others_mw(&self, power_mw: f64) -> f64 {
        if self.on_air <= 1 {
            return 0.0;
        }
        (self.total_mw - power_mw).max(0.0)
    }

    /// A frame of another radio ends. A decoded frame has to be handled before
    /// [`Radio::on_cca_idle`]. By error rates, a frame that the radio has not locked on is energy
    /// alone; by thresholds, each sensed frame that is not decoded is an error.
    pub(crate) fn on_rx_end(
        &mut self,
        frame: &Frame,
        power_mw: f64,
        params: &MacParams,
    ) -> RxOutcome {
        self.on_air -= 1;
        self.total_mw = if self.on_air == 0 {
            0.0
        } else {
            self.total_mw - power_mw
        };
        if self.reception.from == frame.from {
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
                    self.draws.errors.bernoulli(success)
                }
                _ => self.reception.good,
            };
            return if good {
                RxOutcome::Ok
            } else {
                RxOutcome::FcsError
            };
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

    /// Follows the end of a sensed frame of another radio.
    pub(crate) fn on_cca_idle(
        &mut self,
        me: usize,
        now: SimTime,
        heard: RxOutcome,
        params: &MacParams,
        deadlines: &mut Deadlines,
    ) {
        self.cca_busy -= 1;
        if self.phase == Phase::Transmit {
            return;
        }
        match heard {
            RxOutcome::Ok => self.eifs_until = SimTime::ZERO,
            RxOutcome::FcsError => self.eifs_until = now.saturating_add(params.after_error),
            RxOutcome::NotDetected => {}
        }
        if heard != RxOutcome::Ok {
            self.counters.undecoded += 1;
        }
        if self.cca_busy == 0 {
            self.note_busy_until(now);
            self.access_at = now.saturating_add(params.difs).max(self.eifs_until);
            if self.phase == Phase::Contend {
                self.resume(me, params, deadlines);
            }
        }
    }

    /// Sets the NAV from the Duration field of a frame for another radio.
    pub(crate) fn set_nav(&mut self, frame: &Frame, params: &MacParams) {
        let until = frame.ends.saturating_add(frame.duration);
        if until > self.nav_until {
            self.nav_until = until;
            self.nav_reset_at = match frame.kind {
                Kind::Rts => {
                    let lapse = params.nav_reset(params.control_mode(frame.mode));
                    frame.ends.saturating_add(lapse)
                }
                _ => SimTime::MAX,
            };
        }
    }

    /// Sends a response when SIFS has passed.
    pub(crate) fn respond(
        &mut self,
        me: usize,
        now: SimTime,
        response: Response,
        params: &MacParams,
        deadlines: &mut Deadlines,
    ) {
        self.phase = Phase::Respond;
        self.response = Some(response);
        deadlines.set(me, now.saturating_add(params.sifs), Priority::Other);
    }
}

/// A direction of a link.
#[derive(Debug)]
pub(crate) struct Direction {
    pub(crate) id: LinkId,
    pub(crate) from: u32,
    pub(crate) to: u32,
    pub(crate) mode: Mode,
    pub(crate) up: bool,
    /// The given loss of its frames, with the stream of its draws.
    pub(crate) loss: Option<(f64, Stream)>,
    pub(crate) counters: crate::counters::LinkCounters,
}
