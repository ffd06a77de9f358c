//! One radio: what it hears, and when it may send.
//!
//! A radio that has a frame counts down its back-off in slots while the channel is idle. The
//! countdown is not played slot by slot: `reference` is when it begins, once DIFS (or EIFS) has
//! passed after the last thing heard and all reservations are over, and the frame begins so many
//! slots later. If the channel becomes busy before, the slots that have passed are taken off.

use backlane_engine::Stream;
use backlane_net::{LinkId, NodeId, PacketId};
use backlane_units::{Duration, SimTime};

use crate::agenda::{Agenda, Order};
use crate::frame::{Frame, Kind, NONE};
use crate::phy::{ErrorRate, Mode, SinrReception, finds_preamble};
use crate::queues::Queues;
use crate::readings::RadioReadings;
use crate::rules::{Hearing, Rules};

/// What a radio does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Phase {
    /// Nothing but to count down its back-off.
    Contend,
    /// It sends.
    Transmit,
    /// It has sent an RTS or data and waits for CTS or ACK.
    Await,
    /// It sends an answer, or data after a CTS, when SIFS has passed.
    Respond,
}

/// The frame that a radio brings over, from the queue to the ACK or the last attempt.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Service {
    pub(crate) packet: PacketId,
    /// [`NONE`]: a broadcast.
    pub(crate) link: u32,
    /// The radio that it is for; [`NONE`]: all.
    pub(crate) to: u32,
    /// Of the MAC frame.
    pub(crate) bytes: u32,
    pub(crate) mode: Mode,
    pub(crate) attempts: u32,
    pub(crate) short_retries: u8,
    pub(crate) long_retries: u8,
    /// The neighbour has it; what is repeated now is for want of an ACK.
    pub(crate) arrived: bool,
}

/// What a radio sends after SIFS.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Answer {
    pub(crate) kind: Kind,
    pub(crate) to: u32,
    pub(crate) link: u32,
    pub(crate) mode: Mode,
    pub(crate) reserves: Duration,
}

/// What a radio makes of a frame of another at its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Heard {
    /// All of it.
    Decoded,
    /// That it was there, and not what it said: EIFS follows.
    Error,
    /// Energy.
    Nothing,
}

/// The frame that a radio receives.
#[derive(Clone, Copy, Debug)]
struct Reception {
    /// Its sender; [`NONE`]: no frame.
    from: u32,
    begins: SimTime,
    ends: SimTime,
    power_mw: f64,
    /// Not disturbed by thresholds or pairs so far.
    good: bool,
    mode: Mode,
    bytes: u32,
    /// Its link has a given loss, and noise costs nothing.
    noise_free: bool,
}

impl Reception {
    /// What error rates make of it.
    fn over(&self, noise_mw: f64, others_mw: f64, rules: &Rules) -> SinrReception {
        SinrReception::new(
            self.begins,
            self.mode,
            self.power_mw,
            if self.noise_free { 0.0 } else { noise_mw },
            others_mw,
            self.begins
                .saturating_add(rules.preamble_airtime(self.mode)),
            self.ends,
            self.bytes,
        )
    }

    /// The probability that it comes through if nothing disturbed it.
    fn success(
        &self,
        noise_mw: f64,
        rates: &ErrorRate,
        rules: &Rules,
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
                success: self.over(noise_mw, 0.0, rules).success(rates),
            };
        }
        known[place].success
    }
}

/// Frames that others send again and again are alike. So many are kept.
const KNOWN: usize = 8;

/// How probably an undisturbed frame of this power, mode and length comes through.
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

/// ns-2's rule: what a radio that has taken up the first of two frames makes of both.
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
    pub(crate) answer: Option<Answer>,
    pub(crate) service: Option<Service>,
    pub(crate) queue: Queues,
    pub(crate) draws: Draws,
    pub(crate) readings: RadioReadings,

    /// Slots that are left as of `reference`.
    backoff: u32,
    reference: SimTime,
    cw: u32,

    /// Sum over the frames on the air of their powers here.
    total_mw: f64,
    on_air: u32,
    /// Frames that it senses.
    sensed: u32,
    reception: Reception,
    /// Of what it receives, once something else was on the air meanwhile.
    sinr: Option<SinrReception>,
    undisturbed: [Undisturbed; KNOWN],
    queue_noted: SimTime,
    /// Since when it senses something or sends.
    busy_since: SimTime,
    /// When DIFS or EIFS is over, if nothing comes.
    access_at: SimTime,
    /// EIFS after the last frame that could not be decoded, unless one was since.
    error_until: SimTime,
    /// Until when others have reserved the channel.
    reserved_until: SimTime,
    /// The reservation lapses here if nothing is heard before.
    reservation_lapses: SimTime,
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
        rules: &Rules,
    ) -> Self {
        Self {
            node,
            number,
            up: true,
            phase: Phase::Contend,
            answer: None,
            service: None,
            queue,
            draws,
            readings: RadioReadings::default(),
            backoff: 0,
            reference: SimTime::ZERO,
            cw: rules.cw_min,
            total_mw: 0.0,
            on_air: 0,
            sensed: 0,
            reception: NO_RECEPTION,
            sinr: None,
            undisturbed: [Undisturbed {
                like: (0.0, Mode::Ofdm6, 0),
                success: 0.0,
            }; KNOWN],
            queue_noted: SimTime::ZERO,
            busy_since: SimTime::ZERO,
            access_at: SimTime::ZERO,
            error_until: SimTime::ZERO,
            reserved_until: SimTime::ZERO,
            reservation_lapses: SimTime::MAX,
        }
    }

    /// Until when the channel is reserved, if nothing more is heard.
    fn reservation(&self) -> SimTime {
        self.reserved_until.min(self.reservation_lapses)
    }

    pub(crate) fn is_reserved(&self, now: SimTime) -> bool {
        self.reservation() > now
    }

    fn draw_backoff(&mut self) {
        self.backoff = self.draws.backoff.uniform_below(u64::from(self.cw) + 1) as u32;
    }

    /// A frame has come into service. Without a back-off left over it begins at once if the
    /// channel is idle and with a back-off if not.
    pub(crate) fn request_access(
        &mut self,
        me: usize,
        now: SimTime,
        rules: &Rules,
        agenda: &mut Agenda,
    ) {
        if self.phase != Phase::Contend || self.sensed > 0 {
            if self.backoff == 0 {
                self.draw_backoff();
            }
            return;
        }
        let begins = self.begins(rules);
        if begins <= now {
            self.backoff = 0;
            agenda.set(me, now, Order::Other);
        } else {
            if self.backoff == 0 && self.is_reserved(now) {
                self.draw_backoff();
            }
            agenda.set(me, self.begins(rules), Order::Other);
        }
    }

    fn begins(&self, rules: &Rules) -> SimTime {
        self.reference
            .saturating_add(rules.slot.saturating_mul(u64::from(self.backoff)))
    }

    /// The countdown goes on: nothing is sensed.
    pub(crate) fn resume(&mut self, me: usize, rules: &Rules, agenda: &mut Agenda) {
        debug_assert!(self.phase == Phase::Contend && self.sensed == 0);
        let reservation = self.reservation();
        self.reference = self.access_at;
        if reservation > SimTime::ZERO {
            self.reference = self.reference.max(reservation.saturating_add(rules.difs));
        }
        if self.service.is_some() {
            agenda.set(me, self.begins(rules), Order::Other);
        }
    }

    /// The countdown stops; a frame that would begin before the other can be sensed begins all
    /// the same.
    fn freeze(&mut self, me: usize, now: SimTime, rules: &Rules, agenda: &mut Agenda) {
        let begins = agenda.at(me);
        if begins <= now || begins < now.saturating_add(rules.sensing_delay) {
            return;
        }
        if self.backoff > 0 && now > self.reference {
            let passed = now.saturating_since(self.reference).as_ps() / rules.slot.as_ps();
            self.backoff -= passed.min(u64::from(self.backoff)) as u32;
        }
        agenda.clear(me);
    }

    /// It begins to send. What it was receiving is lost.
    pub(crate) fn begin(&mut self, me: usize, frame: &Frame, rules: &Rules, agenda: &mut Agenda) {
        if self.sensed == 0 {
            self.busy_since = frame.begins;
        }
        if self.phase == Phase::Contend {
            self.backoff = 0;
        }
        self.phase = Phase::Transmit;
        self.lose_reception(rules);
        self.readings.frames_sent += 1;
        self.readings.sending_ps += u128::from(frame.ends.saturating_since(frame.begins).as_ps());
        agenda.set(me, frame.ends, Order::FrameEnds);
    }

    /// What it receives is lost. By ns-2's rule it keeps the receiver busy to its end.
    fn lose_reception(&mut self, rules: &Rules) {
        match rules.hearing {
            Hearing::Pairwise { .. } => self.reception.good = false,
            _ => self.reception.from = NONE,
        }
    }

    /// It has sent; `phase` is what comes next.
    pub(crate) fn end(
        &mut self,
        me: usize,
        now: SimTime,
        phase: Phase,
        rules: &Rules,
        agenda: &mut Agenda,
    ) {
        self.phase = phase;
        if phase == Phase::Await {
            agenda.set(me, now.saturating_add(rules.answer_timeout), Order::Other);
        }
        if self.sensed > 0 {
            return;
        }
        self.note_busy_until(now);
        self.error_until = SimTime::ZERO;
        self.access_at = now.saturating_add(rules.difs);
        if phase == Phase::Contend {
            self.resume(me, rules, agenda);
        }
    }

    /// The attempt has failed, or another frame has come in place of the answer: the back-off is
    /// drawn from a window twice as large.
    pub(crate) fn back_off_further(&mut self, rules: &Rules) {
        self.cw = (2 * self.cw + 1).min(rules.cw_max);
        self.draw_backoff();
    }

    /// A frame is done with, one way or the other: the next one contends anew.
    pub(crate) fn back_off_anew(&mut self, rules: &Rules) {
        self.cw = rules.cw_min;
        self.draw_backoff();
    }

    /// The radio contends again after it has waited for an answer in vain.
    pub(crate) fn contend_after_timeout(
        &mut self,
        me: usize,
        now: SimTime,
        rules: &Rules,
        agenda: &mut Agenda,
    ) {
        self.phase = Phase::Contend;
        self.access_at = self.access_at.max(now.saturating_add(rules.difs));
        if self.sensed == 0 {
            self.resume(me, rules, agenda);
        }
    }

    /// Its queue is about to change.
    pub(crate) fn note_queue(&mut self, now: SimTime) {
        let waiting = self.queue.backlog_pkts() as u128;
        let passed = now.saturating_since(self.queue_noted).as_ps();
        self.readings.queue_area += waiting * u128::from(passed);
        self.queue_noted = now;
    }

    /// The node has died. What it hears still counts as heard, and is not decoded. `frame` is what
    /// it sends, or sent last.
    pub(crate) fn fall_silent(&mut self, me: usize, frame: &mut Frame, agenda: &mut Agenda) {
        self.reception.from = NONE;
        self.answer = None;
        self.backoff = 0;
        if self.phase == Phase::Transmit {
            // What is still on the air says nothing to anybody.
            frame.kind = Kind::Ack;
            frame.to = NONE;
        } else {
            self.phase = Phase::Contend;
            agenda.clear(me);
        }
    }

    fn note_busy_until(&mut self, now: SimTime) {
        self.readings.busy_ps += u128::from(now.saturating_since(self.busy_since).as_ps());
    }

    /// A frame of another begins, at this power. `noise_free`: its link has a given loss, and
    /// noise costs nothing.
    pub(crate) fn hear_begin(
        &mut self,
        me: usize,
        frame: &Frame,
        power_mw: f64,
        noise_free: bool,
        rules: &Rules,
        agenda: &mut Agenda,
    ) {
        let now = frame.begins;
        self.total_mw += power_mw;
        self.on_air += 1;
        if power_mw >= rules.carrier_sense_mw {
            self.sensed += 1;
            if self.sensed == 1 && self.phase != Phase::Transmit {
                self.busy_since = now;
                if self.phase == Phase::Contend {
                    self.freeze(me, now, rules, agenda);
                }
            }
            if self.reservation_lapses != SimTime::MAX {
                if self.reservation_lapses <= now {
                    self.reserved_until = SimTime::ZERO;
                }
                self.reservation_lapses = SimTime::MAX;
            }
        }
        let deaf = self.phase == Phase::Transmit || !self.up;
        if !deaf || matches!(rules.hearing, Hearing::Pairwise { .. }) {
            self.take_up(frame, power_mw, noise_free, rules);
        }
        if deaf {
            self.lose_reception(rules);
        }
    }

    /// Begins to receive a frame, or lets it disturb what is being received. Of frames that begin
    /// at the same instant a radio takes up the strongest.
    fn take_up(&mut self, frame: &Frame, power_mw: f64, noise_free: bool, rules: &Rules) {
        let others_mw = self.others_mw(power_mw);
        let held = &self.reception;
        let is_free = held.from == NONE;
        let stronger_twin = !is_free && held.begins == frame.begins && power_mw > held.power_mw;
        let may_turn = is_free
            || stronger_twin
            || rules
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
        match rules.hearing {
            Hearing::Threshold {
                sensitivity_mw,
                capture,
            } => {
                let sensed = self.sensed;
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
            Hearing::Pairwise {
                sensitivity_mw,
                capture,
            } => {
                if power_mw < rules.carrier_sense_mw {
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
            Hearing::ErrorRate {
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
                        self.sinr = Some(self.reception.over(noise_mw, others_mw, rules));
                    } else {
                        self.sinr = None;
                    }
                } else if !is_free {
                    let others_mw = self.others_mw(held.power_mw);
                    found = self.disturb(frame.begins, noise_mw, others_mw, rates, rules);
                }
                if !found {
                    self.reception.from = NONE;
                    self.sinr = None;
                }
            }
        }
    }

    /// The others on the air are as loud as this from now on. Whether the preamble of what it
    /// receives is still found.
    fn disturb(
        &mut self,
        now: SimTime,
        noise_mw: f64,
        others_mw: f64,
        rates: &ErrorRate,
        rules: &Rules,
    ) -> bool {
        let reception = &self.reception;
        let sinr = self
            .sinr
            .get_or_insert_with(|| reception.over(noise_mw, 0.0, rules));
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

    /// A frame of another ends. What then becomes of it must be done before
    /// [`Radio::hear_silence`]. By error rates, a frame that was not taken up is energy alone; by
    /// thresholds, whatever is sensed and not decoded is an error.
    pub(crate) fn hear_end(&mut self, frame: &Frame, power_mw: f64, rules: &Rules) -> Heard {
        self.on_air -= 1;
        self.total_mw = if self.on_air == 0 {
            0.0
        } else {
            self.total_mw - power_mw
        };
        if self.reception.from == frame.from {
            self.reception.from = NONE;
            let good = match &rules.hearing {
                Hearing::ErrorRate {
                    rates, noise_mw, ..
                } => {
                    let success = match self.sinr.take() {
                        Some(sinr) => sinr.success(rates),
                        None => {
                            let known = &mut self.undisturbed;
                            self.reception.success(*noise_mw, rates, rules, known)
                        }
                    };
                    self.draws.errors.bernoulli(success)
                }
                _ => self.reception.good,
            };
            return if good { Heard::Decoded } else { Heard::Error };
        }
        let Hearing::ErrorRate {
            rates, noise_mw, ..
        } = &rules.hearing
        else {
            return Heard::Error;
        };
        if self.reception.from != NONE {
            let others_mw = match self.on_air {
                1 => 0.0,
                _ => (self.total_mw - self.reception.power_mw).max(0.0),
            };
            self.disturb(frame.ends, *noise_mw, others_mw, rates, rules);
        }
        Heard::Nothing
    }

    /// What follows the end of a frame of another that it has sensed.
    pub(crate) fn hear_silence(
        &mut self,
        me: usize,
        now: SimTime,
        heard: Heard,
        rules: &Rules,
        agenda: &mut Agenda,
    ) {
        self.sensed -= 1;
        if self.phase == Phase::Transmit {
            return;
        }
        match heard {
            Heard::Decoded => self.error_until = SimTime::ZERO,
            Heard::Error => self.error_until = now.saturating_add(rules.after_error),
            Heard::Nothing => {}
        }
        if heard != Heard::Decoded {
            self.readings.undecoded += 1;
        }
        if self.sensed == 0 {
            self.note_busy_until(now);
            self.access_at = now.saturating_add(rules.difs).max(self.error_until);
            if self.phase == Phase::Contend {
                self.resume(me, rules, agenda);
            }
        }
    }

    /// A frame meant for another reserves the channel.
    pub(crate) fn reserve(&mut self, frame: &Frame, rules: &Rules) {
        let until = frame.ends.saturating_add(frame.reserves);
        if until > self.reserved_until {
            self.reserved_until = until;
            self.reservation_lapses = match frame.kind {
                Kind::Rts => {
                    let lapse = rules.rts_lapses(rules.control_mode(frame.mode));
                    frame.ends.saturating_add(lapse)
                }
                _ => SimTime::MAX,
            };
        }
    }

    /// Sends an answer when SIFS has passed.
    pub(crate) fn respond(
        &mut self,
        me: usize,
        now: SimTime,
        answer: Answer,
        rules: &Rules,
        agenda: &mut Agenda,
    ) {
        self.phase = Phase::Respond;
        self.answer = Some(answer);
        agenda.set(me, now.saturating_add(rules.sifs), Order::Other);
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
    /// Where the loss of its frames is given.
    pub(crate) loss: Option<(f64, Stream)>,
    pub(crate) readings: crate::readings::LinkReadings,
}
