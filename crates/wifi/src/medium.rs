//! All radios of a network and the air between them, as a medium of `net`.
//!
//! A frame is told to each radio within reach when it begins and when it ends; everything else a
//! radio knows for itself. One timer of the event queue stands for the earliest deadline of all
//! radios.

use backlane_engine::TimerId;
use backlane_net::{DropCause, FlowId, LinkId, Medium, MediumContext, NodeId, PacketId};
use backlane_radio::FrameFading;
use backlane_units::{Duration, SimTime};

use crate::agenda::Agenda;
use crate::frame::{Frame, Kind, NONE};
use crate::radio::{Answer, Direction, Heard, Phase, Radio, Service};
use crate::readings::{LinkReadings, RadioReadings};
use crate::rules::Rules;

/// A radio that hears another.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Hearer {
    pub(crate) radio: u32,
    /// The link direction from the other to this one; [`NONE`] if there is none.
    pub(crate) link: u32,
    pub(crate) mean_mw: f64,
    /// The loss of the link is given: neither fading nor noise.
    pub(crate) given: bool,
}

/// An 802.11 network: all stations, links and channels.
pub struct Wifi {
    pub(crate) rules: Rules,
    pub(crate) radios: Vec<Radio>,
    /// By radio: what it sends, or sent last.
    pub(crate) frames: Vec<Frame>,
    /// By radio: who hears it.
    pub(crate) reach: Vec<Vec<Hearer>>,
    /// By radio: the powers at its hearers of the frame that it sends, where they fade.
    pub(crate) faded_mw: Vec<Vec<f64>>,
    pub(crate) links: Vec<Direction>,
    /// By node: its first radio.
    pub(crate) first_radio: Vec<u32>,
    /// The link direction of each [`LinkId`], counted from the first.
    pub(crate) first_link: u32,
    pub(crate) agenda: Agenda,
    pub(crate) timer: Option<TimerId>,
    pub(crate) armed: SimTime,
    pub(crate) held: usize,
    pub(crate) dropped: Vec<PacketId>,
    /// By packet that waits: the link direction that it is for, or [`NONE`].
    pub(crate) link_of_packet: Vec<u32>,
}

impl Wifi {
    /// What a radio of a station has done so far, by the number of the radio.
    pub fn radio_readings(&self, node: NodeId, radio: u8) -> Option<RadioReadings> {
        let radio = self.radio_of(node, radio)?;
        Some(self.radios[radio].readings)
    }

    /// What has been sent over a link direction so far.
    pub fn link_readings(&self, link: LinkId) -> Option<LinkReadings> {
        Some(self.links.get(self.direction_of(link))?.readings)
    }

    pub(crate) fn radio_of(&self, node: NodeId, number: u8) -> Option<usize> {
        let first = *self.first_radio.get(node.index())?;
        if first == NONE {
            return None;
        }
        let radio = first as usize + usize::from(number);
        let found = self.radios.get(radio)?;
        (found.node == node).then_some(radio)
    }

    fn direction_of(&self, link: LinkId) -> usize {
        link.0.wrapping_sub(self.first_link) as usize
    }

    fn fire(&mut self, context: &mut MediumContext<'_>, me: usize) {
        match self.radios[me].phase {
            Phase::Contend => self.attempt(context, me),
            Phase::Transmit => self.end_frame(context, me),
            Phase::Await => {
                self.fail(context, me);
                let now = context.now();
                self.radios[me].contend_after_timeout(me, now, &self.rules, &mut self.agenda);
            }
            Phase::Respond => self.send_answer(context, me),
        }
    }

    /// The radio has won its turn.
    fn attempt(&mut self, context: &mut MediumContext<'_>, me: usize) {
        let radio = &mut self.radios[me];
        let Some(service) = &mut radio.service else {
            return;
        };
        service.attempts += 1;
        let (link, bytes) = (service.link, service.bytes);
        let mut frame = Answer {
            kind: Kind::Data,
            to: service.to,
            link,
            mode: service.mode,
            reserves: Duration::ZERO,
        };
        if link == NONE {
            radio.readings.broadcasts += 1;
            return self.put_on_air(context, me, frame, bytes);
        }
        radio.readings.attempts += 1;
        self.links[link as usize].readings.attempts += 1;
        let control = self.rules.control_mode(frame.mode);
        if self.rules.needs_rts(bytes) {
            let data = self.rules.airtime(frame.mode, bytes);
            frame.kind = Kind::Rts;
            frame.mode = control;
            frame.reserves = self.rules.rts_reserves(control, data);
            self.put_on_air(context, me, frame, Rules::RTS_BYTES);
        } else {
            frame.reserves = self.rules.data_reserves(control);
            self.put_on_air(context, me, frame, bytes);
        }
    }

    fn send_answer(&mut self, context: &mut MediumContext<'_>, me: usize) {
        let Some(answer) = self.radios[me].answer.take() else {
            return;
        };
        let bytes = match (answer.kind, self.radios[me].service) {
            (Kind::Data, Some(service)) => service.bytes,
            _ => Rules::ANSWER_BYTES,
        };
        self.put_on_air(context, me, answer, bytes);
    }

    fn put_on_air(&mut self, context: &mut MediumContext<'_>, me: usize, what: Answer, bytes: u32) {
        let begins = context.now();
        let airtime = self.rules.airtime(what.mode, bytes);
        // Not by way of a copy: what was just written in parts cannot be read as a whole at once.
        self.frames[me] = Frame {
            kind: what.kind,
            mode: what.mode,
            from: me as u32,
            to: what.to,
            link: what.link,
            bytes,
            begins,
            ends: begins.saturating_add(airtime),
            reserves: what.reserves,
        };
        if what.link != NONE {
            let readings = &mut self.links[what.link as usize].readings;
            readings.airtime_ps += u128::from(airtime.as_ps());
        }
        let frame = &self.frames[me];
        self.radios[me].begin(me, frame, &self.rules, &mut self.agenda);
        if context.is_capturing() {
            self.note(context, me, frame, self.content(me, frame));
        }
        for (index, hearer) in self.reach[me].iter().enumerate() {
            let to = hearer.radio as usize;
            let power_mw = match self.rules.fading {
                FrameFading::None => hearer.mean_mw,
                fading => {
                    let radio = &mut self.radios[to];
                    let gain = if hearer.given {
                        1.0
                    } else {
                        fading.gain(&mut radio.draws.fading)
                    };
                    let power_mw = hearer.mean_mw * gain;
                    self.faded_mw[me][index] = power_mw;
                    power_mw
                }
            };
            self.radios[to].hear_begin(
                to,
                frame,
                power_mw,
                hearer.given,
                &self.rules,
                &mut self.agenda,
            );
        }
    }

    fn end_frame(&mut self, context: &mut MediumContext<'_>, me: usize) {
        let frame = self.frames[me];
        let by_others = self.heard_by_others(context, me, &frame);
        let content = if context.is_capturing() {
            self.content(me, &frame)
        } else {
            None
        };
        let reach = std::mem::take(&mut self.reach[me]);
        for (index, hearer) in reach.iter().enumerate() {
            let to = hearer.radio as usize;
            let power_mw = match self.rules.fading {
                FrameFading::None => hearer.mean_mw,
                _ => self.faded_mw[me][index],
            };
            let radio = &mut self.radios[to];
            let mut heard = radio.hear_end(&frame, power_mw, &self.rules);
            let up = radio.up;
            if heard == Heard::Decoded && !(self.came_over(hearer, &frame) && up) {
                heard = Heard::Error;
            }
            if heard == Heard::Decoded {
                if context.is_capturing() {
                    self.note(context, to, &frame, content);
                }
                self.on_decoded(context, hearer, &frame, by_others);
            }
            if power_mw >= self.rules.carrier_sense_mw {
                let now = context.now();
                self.radios[to].hear_silence(to, now, heard, &self.rules, &mut self.agenda);
            }
        }
        self.reach[me] = reach;
        let next = match frame.kind {
            Kind::Cts | Kind::Ack => Phase::Contend,
            Kind::Rts | Kind::Data if self.radios[me].service.is_none() => Phase::Contend,
            Kind::Rts => Phase::Await,
            Kind::Data if frame.to != NONE => Phase::Await,
            Kind::Data => {
                self.broadcast_done(context, me);
                Phase::Contend
            }
        };
        let now = context.now();
        self.radios[me].end(me, now, next, &self.rules, &mut self.agenda);
    }

    /// The packet of a data frame whose message others are to hear: a broadcast, or a packet with
    /// a message on it that has not yet come out.
    fn heard_by_others(
        &self,
        context: &MediumContext<'_>,
        me: usize,
        frame: &Frame,
    ) -> Option<PacketId> {
        if frame.kind != Kind::Data {
            return None;
        }
        let service = self.radios[me].service?;
        if service.arrived {
            return None;
        }
        if frame.to != NONE {
            let packet = context.packet(service.packet);
            let rides = packet.flow != FlowId::NONE && packet.message.is_some();
            if !self.rules.promiscuous || !rides {
                return None;
            }
        }
        Some(service.packet)
    }

    /// Whether a frame that was received came over its link: it is up, and its given loss spares
    /// the frame.
    fn came_over(&mut self, hearer: &Hearer, frame: &Frame) -> bool {
        let Some(link) = self.links.get_mut(hearer.link as usize) else {
            return true;
        };
        let at_risk = frame.kind == Kind::Data || self.rules.control_loss;
        match &mut link.loss {
            Some((loss, draws)) if at_risk && *loss > 0.0 => link.up && !draws.bernoulli(*loss),
            _ => link.up,
        }
    }

    fn on_decoded(
        &mut self,
        context: &mut MediumContext<'_>,
        hearer: &Hearer,
        frame: &Frame,
        heard: Option<PacketId>,
    ) {
        let me = hearer.radio as usize;
        if frame.to == hearer.radio {
            match frame.kind {
                Kind::Data => self.on_data(context, me, frame),
                Kind::Rts => self.on_rts(context, me, frame),
                Kind::Cts => self.on_cts(context, me, frame),
                Kind::Ack => self.on_ack(context, me, frame),
            }
            return;
        }
        if let Some(packet) = heard
            && let Some(link) = self.links.get(hearer.link as usize)
        {
            context.overhear(link.id, packet);
        }
        if frame.to != NONE {
            self.radios[me].reserve(frame, &self.rules);
        }
    }

    fn on_data(&mut self, context: &mut MediumContext<'_>, me: usize, frame: &Frame) {
        if let Some(service) = &mut self.radios[frame.from as usize].service {
            if service.arrived {
                self.radios[me].readings.duplicates += 1;
            } else {
                service.arrived = true;
                let packet = service.packet;
                self.held -= 1;
                let link = &mut self.links[frame.link as usize];
                link.readings.delivered += 1;
                context.receive(link.id, packet);
                self.radios[me].readings.received += 1;
            }
        }
        self.answer(context, me, frame, Kind::Ack, Duration::from_ps(0));
    }

    fn on_rts(&mut self, context: &mut MediumContext<'_>, me: usize, frame: &Frame) {
        let now = context.now();
        if self.radios[me].is_reserved(now) {
            return;
        }
        let control = self.rules.control_mode(frame.mode);
        let used = self
            .rules
            .sifs
            .saturating_add(self.rules.answer_airtime(control));
        self.answer(
            context,
            me,
            frame,
            Kind::Cts,
            frame.reserves.saturating_sub(used),
        );
    }

    fn answer(
        &mut self,
        context: &mut MediumContext<'_>,
        me: usize,
        frame: &Frame,
        kind: Kind,
        reserves: Duration,
    ) {
        match self.radios[me].phase {
            Phase::Contend => {}
            // Anything else that comes in place of an answer ends the wait for it.
            Phase::Await => self.fail(context, me),
            Phase::Transmit | Phase::Respond => return,
        }
        let answer = Answer {
            kind,
            to: frame.from,
            link: frame.link,
            mode: self.rules.control_mode(frame.mode),
            reserves,
        };
        let now = context.now();
        self.radios[me].respond(me, now, answer, &self.rules, &mut self.agenda);
    }

    fn awaits(&self, me: usize, kind: Kind, from: u32) -> bool {
        let sent = &self.frames[me];
        self.radios[me].phase == Phase::Await && sent.kind == kind && sent.to == from
    }

    fn on_cts(&mut self, context: &mut MediumContext<'_>, me: usize, frame: &Frame) {
        if !self.awaits(me, Kind::Rts, frame.from) {
            return;
        }
        let Some(service) = &mut self.radios[me].service else {
            return;
        };
        service.short_retries = 0;
        let service = *service;
        let reserves = self
            .rules
            .data_reserves(self.rules.control_mode(service.mode));
        let data = Answer {
            kind: Kind::Data,
            to: service.to,
            link: service.link,
            mode: service.mode,
            reserves,
        };
        let now = context.now();
        self.radios[me].respond(me, now, data, &self.rules, &mut self.agenda);
    }

    fn on_ack(&mut self, context: &mut MediumContext<'_>, me: usize, frame: &Frame) {
        if !self.awaits(me, Kind::Data, frame.from) {
            return;
        }
        if let Some(service) = self.radios[me].service {
            let link = self.links[service.link as usize].id;
            context.tx_status(link, service.attempts, true, service.mode.rate());
        }
        self.agenda.clear(me);
        self.radios[me].phase = Phase::Contend;
        self.done(context, me);
    }

    /// An attempt has failed. The radio's phase is for the caller to change.
    fn fail(&mut self, context: &mut MediumContext<'_>, me: usize) {
        let radio = &mut self.radios[me];
        let Some(service) = &mut radio.service else {
            return;
        };
        radio.readings.failures += 1;
        let short = self.frames[me].kind == Kind::Rts || !self.rules.needs_rts(service.bytes);
        let last = if short {
            service.short_retries += 1;
            service.short_retries >= self.rules.short_retry
        } else {
            service.long_retries += 1;
            service.long_retries >= self.rules.long_retry
        };
        if !last {
            radio.back_off_further(&self.rules);
            return;
        }
        let service = *service;
        radio.readings.given_up += 1;
        let link = &mut self.links[service.link as usize];
        link.readings.given_up += 1;
        if !service.arrived {
            self.held -= 1;
            context.tx_failed(link.id, service.packet);
        }
        context.tx_status(link.id, service.attempts, false, service.mode.rate());
        self.done(context, me);
    }

    fn broadcast_done(&mut self, context: &mut MediumContext<'_>, me: usize) {
        if let Some(service) = self.radios[me].service {
            self.held -= 1;
            context.broadcast_sent(service.packet);
        }
        self.done(context, me);
    }

    /// The frame in service is done with. The next one contends when the channel is idle.
    fn done(&mut self, context: &mut MediumContext<'_>, me: usize) {
        self.radios[me].service = None;
        self.radios[me].back_off_anew(&self.rules);
        self.serve(context, me);
        self.tell_backlog(context, me);
    }

    /// Takes the next packet from the queue, if the radio has none.
    fn serve(&mut self, context: &mut MediumContext<'_>, me: usize) {
        let now = context.now();
        let radio = &mut self.radios[me];
        if radio.service.is_some() {
            return;
        }
        radio.note_queue(now);
        let next = radio
            .queue
            .dequeue(now, context.packets_mut(), &mut self.dropped);
        if let Some(packet) = next {
            let link = self.link_of_packet[packet.index()];
            let (to, mode) = match self.links.get(link as usize) {
                Some(direction) => (direction.to, direction.mode),
                None => (NONE, self.rules.broadcast_mode),
            };
            radio.service = Some(Service {
                packet,
                link,
                to,
                bytes: context.packet(packet).size_bytes + self.rules.overhead_bytes,
                mode,
                attempts: 0,
                short_retries: 0,
                long_retries: 0,
                arrived: false,
            });
        }
        self.drop_refused(context, me);
    }

    /// Drops what a queue discipline gave up.
    fn drop_refused(&mut self, context: &mut MediumContext<'_>, me: usize) {
        while let Some(id) = self.dropped.pop() {
            self.held -= 1;
            self.radios[me].readings.queue_drops += 1;
            context.drop(id, DropCause::Queue);
        }
    }

    fn tell_backlog(&self, context: &mut MediumContext<'_>, me: usize) {
        let radio = &self.radios[me];
        let waiting = radio.queue.backlog_pkts() as u32;
        context.set_backlog(radio.node, radio.number, waiting, radio.service.is_some());
    }

    /// A router gives a packet to a radio; `link` is [`NONE`] for a broadcast.
    fn take_in(&mut self, context: &mut MediumContext<'_>, me: usize, link: u32, id: PacketId) {
        if !self.radios[me].up {
            context.drop(id, DropCause::LinkDown);
            return;
        }
        if id.index() >= self.link_of_packet.len() {
            self.link_of_packet.resize(id.index() + 1, NONE);
        }
        self.link_of_packet[id.index()] = link;
        let now = context.now();
        context.packet_mut(id).queued_at = now;
        self.held += 1;
        let radio = &mut self.radios[me];
        radio.note_queue(now);
        radio
            .queue
            .enqueue(now, id, context.packets_mut(), &mut self.dropped);
        self.drop_refused(context, me);
        if self.radios[me].service.is_none() {
            self.serve(context, me);
            if self.radios[me].service.is_some() {
                self.radios[me].request_access(me, now, &self.rules, &mut self.agenda);
            }
        }
        let radio = &mut self.radios[me];
        let waiting = radio.queue.backlog_pkts() as u32;
        radio.readings.queue_max_pkts = radio.readings.queue_max_pkts.max(waiting);
        self.tell_backlog(context, me);
        // Only this radio's deadline can have moved, and only from never.
        let at = self.agenda.at(me);
        if at < self.armed
            && let Some(timer) = self.timer
        {
            self.armed = at;
            context.set_timer(timer, at);
        }
    }

    /// Sets the timer to the earliest deadline, the `first` of the agenda.
    fn arm(&mut self, context: &mut MediumContext<'_>, first: Option<(SimTime, usize)>) {
        let Some(timer) = self.timer else {
            return;
        };
        let at = first.map_or(SimTime::MAX, |(at, _)| at);
        if at == self.armed {
            return;
        }
        self.armed = at;
        if at == SimTime::MAX {
            context.cancel_timer(timer);
        } else {
            context.set_timer(timer, at);
        }
    }
}

impl Medium for Wifi {
    fn start(&mut self, context: &mut MediumContext<'_>) {
        self.timer = Some(context.timer(0));
        let first = self.agenda.first();
        self.arm(context, first);
    }

    /// No host is attached to the medium.
    fn on_packet(&mut self, context: &mut MediumContext<'_>, _node: NodeId, id: PacketId) {
        context.drop(id, DropCause::NoRoute);
    }

    fn on_frame(&mut self, context: &mut MediumContext<'_>, link: LinkId, id: PacketId) {
        let direction = self.direction_of(link);
        match self.links.get(direction) {
            Some(found) => self.take_in(context, found.from as usize, direction as u32, id),
            None => context.drop(id, DropCause::NoRoute),
        }
    }

    fn on_broadcast(
        &mut self,
        context: &mut MediumContext<'_>,
        node: NodeId,
        radio: u8,
        id: PacketId,
    ) {
        match self.radio_of(node, radio) {
            Some(radio) => self.take_in(context, radio, NONE, id),
            None => context.drop(id, DropCause::NoRoute),
        }
    }

    fn on_timer(&mut self, context: &mut MediumContext<'_>, token: u32) {
        self.armed = SimTime::MAX;
        loop {
            let first = self.agenda.first();
            match first {
                Some((at, radio)) if at <= context.now() || context.try_advance(token, at) => {
                    self.agenda.clear(radio);
                    self.fire(context, radio);
                }
                _ => return self.arm(context, first),
            }
        }
    }

    /// Nothing that either end sends is decoded by the other; it is sensed and disturbs as
    /// before. Who sends learns it from frames that stay without an answer.
    fn set_link_up(&mut self, _context: &mut MediumContext<'_>, link: LinkId, up: bool) {
        let direction = self.direction_of(link);
        if let Some(link) = self.links.get_mut(direction) {
            link.up = up;
        }
    }

    /// A frame that is on the air stays there to its end.
    fn set_node_up(&mut self, context: &mut MediumContext<'_>, node: NodeId, up: bool) {
        let now = context.now();
        let mut number = 0;
        while let Some(me) = self.radio_of(node, number) {
            number += 1;
            self.radios[me].up = up;
            if up {
                continue;
            }
            if let Some(service) = self.radios[me].service.take()
                && !service.arrived
            {
                self.held -= 1;
                context.drop(service.packet, DropCause::LinkDown);
            }
            let radio = &mut self.radios[me];
            radio.note_queue(now);
            while let Some(id) = radio
                .queue
                .dequeue(now, context.packets_mut(), &mut self.dropped)
            {
                self.held -= 1;
                context.drop(id, DropCause::LinkDown);
            }
            self.drop_refused(context, me);
            let frame = &mut self.frames[me];
            self.radios[me].fall_silent(me, frame, &mut self.agenda);
            self.tell_backlog(context, me);
        }
        let first = self.agenda.first();
        self.arm(context, first);
    }

    fn held_pkts(&self) -> usize {
        self.held
    }
}
