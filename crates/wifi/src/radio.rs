//! One radio: carrier sense, NAV and back-off.
//!
//! A radio with an MPDU counts down its back-off in slots while the channel is idle. The countdown
//! is not simulated slot by slot: `reference` is when it begins, once DIFS (or EIFS) has passed
//! after the last busy period and the NAV has expired, and the transmission begins `backoff` slots
//! later. If the channel becomes busy before that, the elapsed slots are subtracted.

mod carrier;
mod nav;

use backlane_engine::Stream;
use backlane_net::{LinkId, NodeId, PacketId};
use backlane_units::{Duration, SimTime};

use crate::counters::RadioCounters;
use crate::deadlines::{Deadlines, Priority};
use crate::frame::{Frame, Kind, NONE};
use crate::mac_params::MacParams;
use crate::phy::Mode;
use crate::queues::Queues;
use crate::receiver::{FrameReceiver, RxOutcome};
pub(crate) use carrier::{Carrier, Share};
use nav::Nav;

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
    /// When it came to the radio.
    pub(crate) queued_at: SimTime,
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
    backoff_draws: Stream,
    pub(crate) fading_draws: Stream,
    pub(crate) counters: RadioCounters,

    /// Slots left as of `reference`.
    backoff: u32,
    reference: SimTime,
    cw: u32,

    pub(crate) receiver: FrameReceiver,
    /// Frames on the air above the CCA threshold.
    cca_busy: u32,
    queue_noted: SimTime,
    /// The start of the current busy period.
    busy_since: SimTime,
    /// The end of DIFS or EIFS, if the channel stays idle.
    access_at: SimTime,
    /// The end of EIFS after the last frame with an error, unless one was decoded since.
    eifs_until: SimTime,
    nav: Nav,
    /// Of a bystander. Its carrier sense, NAV and back-off are then those of its domain.
    pub(crate) share: Option<Share>,
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
            backoff_draws: draws.backoff,
            fading_draws: draws.fading,
            counters: RadioCounters::default(),
            backoff: 0,
            reference: SimTime::ZERO,
            cw: params.cw_min,
            receiver: FrameReceiver::new(draws.errors),
            cca_busy: 0,
            queue_noted: SimTime::ZERO,
            busy_since: SimTime::ZERO,
            access_at: SimTime::ZERO,
            eifs_until: SimTime::ZERO,
            nav: Nav::UNSET,
            share: None,
        }
    }

    #[inline]
    pub(crate) fn nav_busy(&self, now: SimTime) -> bool {
        self.nav.ends() > now
    }

    fn draw_backoff(&mut self) {
        self.backoff = self.backoff_draws.uniform_below(u64::from(self.cw) + 1) as u32;
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
        if params.arrives_as_in_ns3 && self.arrive_on_idle_channel(me, now, params, deadlines) {
            return;
        }
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

    /// What ns-3 does with an MPDU that comes into service while it takes the channel to be idle,
    /// which it does until the station's own answer begins. Returns whether that is so.
    fn arrive_on_idle_channel(
        &mut self,
        me: usize,
        now: SimTime,
        params: &MacParams,
        deadlines: &mut Deadlines,
    ) -> bool {
        let is_contending = self.phase == Phase::Contend;
        let may_send = is_contending || self.phase == Phase::Respond;
        if !may_send || self.cca_busy > 0 || self.nav_busy(now) {
            return false;
        }
        if is_contending && self.begins(params) <= now {
            self.backoff = 0;
        }
        if self.backoff == 0 {
            self.reference = self.reference.max(now.saturating_add(params.difs));
        }
        // A responding station contends again when its answer has ended.
        if is_contending {
            deadlines.set(me, self.begins(params), Priority::Other);
        }
        true
    }

    #[inline]
    fn begins(&self, params: &MacParams) -> SimTime {
        self.reference
            .saturating_add(params.slot.saturating_mul(u64::from(self.backoff)))
    }

    /// The countdown continues on an idle channel.
    #[inline]
    pub(crate) fn resume(&mut self, me: usize, params: &MacParams, deadlines: &mut Deadlines) {
        debug_assert!(self.phase == Phase::Contend && self.cca_busy == 0);
        self.reference = self.nav.reference(self.access_at, params);
        self.resume_slot(me, params, deadlines);
    }

    /// The transmission is due when the back-off has passed from `reference` on.
    #[inline]
    pub(crate) fn resume_slot(&self, me: usize, params: &MacParams, deadlines: &mut Deadlines) {
        if self.mpdu.is_some() {
            deadlines.set(me, self.begins(params), Priority::Other);
        }
    }

    /// The countdown stops. A transmission due within the sensing delay starts nevertheless.
    #[inline]
    fn freeze(&mut self, me: usize, now: SimTime, params: &MacParams, deadlines: &mut Deadlines) {
        let begins = deadlines.at(me);
        if begins <= now || begins < now.saturating_add(params.sensing_delay) {
            return;
        }
        if self.backoff > 0 {
            let passed = params.slots_between(self.reference, now);
            self.backoff -= passed.min(u64::from(self.backoff)) as u32;
        }
        deadlines.clear(me);
    }

    /// A transmission starts. An ongoing reception is lost.
    #[inline]
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
        self.receiver.lose(params);
        self.counters.frames_sent += 1;
        self.counters.sending_ps += u128::from(frame.ends.saturating_since(frame.begins).as_ps());
        deadlines.set(me, frame.ends, Priority::FrameEnds);
    }

    /// A transmission ends; `phase` is the next state. `wait`: for an answer, if it awaits one.
    #[inline]
    pub(crate) fn end(
        &mut self,
        me: usize,
        now: SimTime,
        phase: Phase,
        wait: Duration,
        params: &MacParams,
        deadlines: &mut Deadlines,
    ) {
        self.phase = phase;
        if phase == Phase::Await {
            deadlines.set(me, now.saturating_add(wait), Priority::Other);
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

    /// The MPDU has waited too long and no other waits: a back-off is drawn.
    pub(crate) fn back_off_after_expiry(&mut self) {
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
        self.receiver.switch_off();
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
    #[inline]
    pub(crate) fn on_rx_start(
        &mut self,
        me: usize,
        frame: &Frame,
        power_mw: f64,
        noise_free: bool,
        params: &MacParams,
        deadlines: &mut Deadlines,
    ) {
        if power_mw >= params.carrier_sense_mw {
            self.on_cca_busy(me, frame.begins, params, deadlines);
        }
        self.receive(frame, power_mw, noise_free, params);
    }

    /// The receiver notices the start of a frame, which carrier sense has noticed.
    #[inline]
    pub(crate) fn receive(
        &mut self,
        frame: &Frame,
        power_mw: f64,
        noise_free: bool,
        params: &MacParams,
    ) {
        let (sensed, deaf) = (self.cca_busy, self.phase == Phase::Transmit || !self.up);
        self.receiver
            .on_start(frame, power_mw, noise_free, sensed, deaf, params);
    }

    /// A sensed frame of another radio starts.
    #[inline]
    pub(crate) fn on_cca_busy(
        &mut self,
        me: usize,
        now: SimTime,
        params: &MacParams,
        deadlines: &mut Deadlines,
    ) {
        self.cca_busy += 1;
        if self.cca_busy == 1 && self.phase != Phase::Transmit {
            self.busy_since = now;
            if self.phase == Phase::Contend {
                self.freeze(me, now, params, deadlines);
            }
        }
        self.nav.on_sensed(now);
    }

    /// Follows the end of a sensed frame of another radio.
    #[inline]
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
    #[inline]
    pub(crate) fn set_nav(&mut self, frame: &Frame, params: &MacParams) {
        self.nav.set(frame, params);
    }

    /// Sends a response when SIFS has passed.
    #[inline]
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
