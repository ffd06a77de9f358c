//! Frames on the air: their start and their end at each radio in range.

use backlane_net::{FlowId, MediumContext, PacketId};
use backlane_radio::FrameFading;

use crate::frame::{Frame, Kind, NONE};
use crate::medium::{Hearer, Wifi};
use crate::radio::{Phase, Response};
use crate::receiver::RxOutcome;

/// A frame at its end.
pub(crate) struct Ended {
    pub(crate) frame: Frame,
    /// The packet whose message other stations overhear.
    pub(crate) overheard: Option<PacketId>,
    /// The packet that is captured with the frame.
    content: Option<PacketId>,
}

impl Wifi {
    pub(crate) fn put_on_air(
        &mut self,
        context: &mut MediumContext<'_>,
        me: usize,
        what: Response,
        bytes: u32,
    ) {
        self.part(me);
        let begins = context.now();
        let airtime = self.params.airtime(what.mode, bytes);
        // Built in place: copying a struct that was just written field by field stalls
        // store-to-load forwarding.
        self.frames[me] = Frame {
            kind: what.kind,
            mode: what.mode,
            from: me as u32,
            to: what.to,
            link: what.link,
            bytes,
            begins,
            ends: begins.saturating_add(airtime),
            duration: what.duration,
        };
        if what.link != NONE {
            let counters = &mut self.links[what.link as usize].counters;
            counters.airtime_ps += u128::from(airtime.as_ps());
        }
        let frame = &self.frames[me];
        self.radios[me].begin(me, frame, &self.params, &mut self.deadlines);
        if context.is_capturing() {
            self.note(context, me, frame, self.content(me, frame));
            self.give_up_domain_of(me);
        }
        match self.place_of(me) {
            Some((domain, place)) => self.start_in_domain(domain, place, me),
            None => self.start_everywhere(me),
        }
    }

    /// A frame starts at all radios in range.
    fn start_everywhere(&mut self, me: usize) {
        let frame = &self.frames[me];
        for (index, hearer) in self.audible[me].iter().enumerate() {
            let to = hearer.radio as usize;
            let radio = &mut self.radios[to];
            let power_mw = match self.params.fading {
                FrameFading::None => hearer.mean_mw,
                fading => {
                    let gain = if hearer.given {
                        1.0
                    } else {
                        fading.gain(&mut radio.fading_draws)
                    };
                    let power_mw = hearer.mean_mw * gain;
                    self.faded_mw[me][index] = power_mw;
                    power_mw
                }
            };
            radio.on_rx_start(
                to,
                frame,
                power_mw,
                hearer.given,
                &self.params,
                &mut self.deadlines,
            );
        }
    }

    pub(crate) fn end_frame(&mut self, context: &mut MediumContext<'_>, me: usize) {
        let frame = &self.frames[me];
        let is_capturing = context.is_capturing();
        let ended = Ended {
            overheard: self.overhearable(context, me, frame),
            content: is_capturing.then(|| self.content(me, frame)).flatten(),
            frame: *frame,
        };
        let place = self.place_of(me);
        match place {
            Some((domain, place)) if !self.prepare_end(domain, &ended) => {
                self.end_at_own(context, domain, place, &ended);
            }
            _ => self.end_everywhere(context, &ended),
        }
        if let Some((domain, place)) = place {
            self.end_in_domain(domain, place, &ended.frame);
        }
        let next = match ended.frame.kind {
            Kind::Cts | Kind::Ack => Phase::Contend,
            Kind::Rts | Kind::Data if self.radios[me].mpdu.is_none() => Phase::Contend,
            Kind::Rts => Phase::Await,
            Kind::Data if ended.frame.to != NONE => Phase::Await,
            Kind::Data => {
                self.broadcast_done(context, me);
                Phase::Contend
            }
        };
        let now = context.now();
        let wait = self.params.answer_wait(ended.frame.mode);
        self.radios[me].end(me, now, next, wait, &self.params, &mut self.deadlines);
    }

    /// A frame ends at all radios in range. Bystanders of a domain decode it.
    fn end_everywhere(&mut self, context: &mut MediumContext<'_>, ended: &Ended) {
        let me = ended.frame.from as usize;
        let audible = std::mem::take(&mut self.audible[me]);
        for (index, hearer) in audible.iter().enumerate() {
            let power_mw = match self.params.fading {
                FrameFading::None => hearer.mean_mw,
                _ => self.faded_mw[me][index],
            };
            self.end_at(context, hearer, power_mw, ended);
        }
        self.audible[me] = audible;
    }

    /// A frame ends at a radio.
    pub(crate) fn end_at(
        &mut self,
        context: &mut MediumContext<'_>,
        hearer: &Hearer,
        power_mw: f64,
        ended: &Ended,
    ) {
        let (to, frame) = (hearer.radio as usize, &ended.frame);
        let radio = &mut self.radios[to];
        if radio.share.is_some() {
            return self.overhear(context, hearer, ended);
        }
        let mut heard = radio.receiver.on_end(frame, power_mw, &self.params);
        let up = radio.up;
        if heard == RxOutcome::Ok && !(self.passes_link(hearer, frame) && up) {
            heard = RxOutcome::FcsError;
        }
        if heard == RxOutcome::Ok {
            if context.is_capturing() {
                self.note(context, to, frame, ended.content);
            }
            self.on_decoded(context, hearer, ended);
        }
        if power_mw >= self.params.carrier_sense_mw {
            let now = context.now();
            self.radios[to].on_cca_idle(to, now, heard, &self.params, &mut self.deadlines);
        }
    }

    fn on_decoded(&mut self, context: &mut MediumContext<'_>, hearer: &Hearer, ended: &Ended) {
        let (me, frame) = (hearer.radio as usize, &ended.frame);
        if frame.to == hearer.radio {
            match frame.kind {
                Kind::Data => self.on_data(context, me, frame),
                Kind::Rts => self.on_rts(context, me, frame),
                Kind::Cts => self.on_cts(context, me, frame),
                Kind::Ack => self.on_ack(context, me, frame),
            }
            return;
        }
        self.overhear(context, hearer, ended);
        if frame.to != NONE {
            self.radios[me].set_nav(frame, &self.params);
        }
    }

    /// A radio that a frame is not for has decoded it.
    pub(crate) fn overhear(&self, context: &mut MediumContext<'_>, hearer: &Hearer, ended: &Ended) {
        if let Some(packet) = ended.overheard
            && let Some(link) = self.links.get(hearer.link as usize)
        {
            context.overhear(link.id, packet);
        }
    }

    /// The packet of a data frame whose message other stations overhear: a broadcast, or a packet
    /// that carries a message and has not been received yet.
    fn overhearable(
        &self,
        context: &MediumContext<'_>,
        me: usize,
        frame: &Frame,
    ) -> Option<PacketId> {
        if frame.kind != Kind::Data {
            return None;
        }
        let mpdu = self.radios[me].mpdu?;
        if mpdu.arrived {
            return None;
        }
        if frame.to != NONE {
            let packet = context.packet(mpdu.packet);
            let rides = packet.flow != FlowId::NONE && packet.message.is_some();
            if !self.params.promiscuous || !rides {
                return None;
            }
        }
        Some(mpdu.packet)
    }

    /// Whether the link of a received frame is up and its given loss does not affect the frame.
    fn passes_link(&mut self, hearer: &Hearer, frame: &Frame) -> bool {
        let Some(link) = self.links.get_mut(hearer.link as usize) else {
            return true;
        };
        let at_risk = frame.kind == Kind::Data || self.params.control_loss;
        match &mut link.loss {
            Some((loss, draws)) if at_risk && *loss > 0.0 => link.up && !draws.bernoulli(*loss),
            _ => link.up,
        }
    }
}
