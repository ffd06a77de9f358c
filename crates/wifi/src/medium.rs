//! All radios of a network and the air between them, as a medium of `net`.
//!
//! Each radio in range is notified when a frame starts and when it ends, except for the bystanders
//! of a [domain](crate::domain); all other state is local to the radio. One timer of the event queue stands for the earliest deadline of all radios.

use backlane_engine::TimerId;
use backlane_net::{DropCause, LinkId, Medium, MediumContext, NodeId, PacketId};
use backlane_units::{Duration, SimTime};

use crate::counters::{LinkCounters, RadioCounters};
use crate::deadlines::{Deadlines, Priority};
use crate::domain::{Domain, Membership};
use crate::frame::{Frame, Kind, NONE};
use crate::mac_params::MacParams;
use crate::radio::{Direction, Phase, Radio, Response, TxMpdu};

/// A radio in range of another.
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
    pub(crate) params: MacParams,
    pub(crate) radios: Vec<Radio>,
    /// By radio: the frame that it sends, or sent last.
    pub(crate) frames: Vec<Frame>,
    /// By radio: the radios in its range.
    pub(crate) audible: Vec<Vec<Hearer>>,
    /// By radio: the faded powers of its frame at the radios in its range.
    pub(crate) faded_mw: Vec<Vec<f64>>,
    pub(crate) links: Vec<Direction>,
    /// By node: its first radio.
    pub(crate) first_radio: Vec<u32>,
    /// The link direction of each [`LinkId`], counted from the first.
    pub(crate) first_link: u32,
    pub(crate) domains: Vec<Domain>,
    /// By radio: its place in a domain.
    pub(crate) memberships: Vec<Option<Membership>>,
    pub(crate) deadlines: Deadlines,
    pub(crate) timer: Option<TimerId>,
    pub(crate) armed: SimTime,
    pub(crate) held: usize,
    pub(crate) dropped: Vec<PacketId>,
    /// By packet that waits: the link direction that it is for, or [`NONE`].
    pub(crate) link_of_packet: Vec<u32>,
}

impl Wifi {
    /// What a radio of a station has done so far, by the number of the radio.
    pub fn radio_counters(&self, node: NodeId, radio: u8) -> Option<RadioCounters> {
        let radio = self.radio_of(node, radio)?;
        let mut counters = self.radios[radio].counters;
        self.add_shared(radio, &mut counters);
        Some(counters)
    }

    /// What has been sent over a link direction so far.
    pub fn link_counters(&self, link: LinkId) -> Option<LinkCounters> {
        Some(self.links.get(self.direction_of(link))?.counters)
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

    fn on_deadline(&mut self, context: &mut MediumContext<'_>, me: usize) {
        match self.radios[me].phase {
            Phase::Contend => self.attempt(context, me),
            Phase::Transmit => self.end_frame(context, me),
            Phase::Await => {
                let now = context.now();
                if self.params.waits_for_reception
                    && let Some(ends) = self.radios[me].receiver.receives_until(now, &self.params)
                {
                    return self.deadlines.set(me, ends, Priority::Other);
                }
                self.fail(context, me);
                self.radios[me].contend_after_timeout(me, now, &self.params, &mut self.deadlines);
            }
            Phase::Respond => self.send_response(context, me),
        }
    }

    /// The back-off has expired: the radio sends.
    fn attempt(&mut self, context: &mut MediumContext<'_>, me: usize) {
        if self.params.lifetime.is_some() {
            self.drop_expired(context, me);
        }
        let radio = &mut self.radios[me];
        let Some(mpdu) = &mut radio.mpdu else {
            return;
        };
        mpdu.attempts += 1;
        let (link, bytes) = (mpdu.link, mpdu.bytes);
        let mut frame = Response {
            kind: Kind::Data,
            to: mpdu.to,
            link,
            mode: mpdu.mode,
            duration: Duration::ZERO,
        };
        if link == NONE {
            radio.counters.broadcasts += 1;
            return self.put_on_air(context, me, frame, bytes);
        }
        radio.counters.attempts += 1;
        self.links[link as usize].counters.attempts += 1;
        let control = self.params.control_mode(frame.mode);
        if self.params.needs_rts(bytes) {
            let data = self.params.airtime(frame.mode, bytes);
            frame.kind = Kind::Rts;
            frame.mode = control;
            frame.duration = self.params.rts_duration(control, data);
            self.put_on_air(context, me, frame, MacParams::RTS_BYTES);
        } else {
            frame.duration = self.params.data_duration(control);
            self.put_on_air(context, me, frame, bytes);
        }
    }

    /// Drops the MPDU in service if it has waited too long. The next one takes its place.
    fn drop_expired(&mut self, context: &mut MediumContext<'_>, me: usize) {
        let Some(mpdu) = self.radios[me].mpdu else {
            return;
        };
        if !self.params.is_expired(mpdu.queued_at, context.now()) {
            return;
        }
        let radio = &mut self.radios[me];
        radio.mpdu = None;
        if !mpdu.arrived {
            self.held -= 1;
            radio.counters.queue_drops += 1;
            context.drop(mpdu.packet, DropCause::Queue);
        }
        if let Some(link) = self.links.get(mpdu.link as usize)
            && self.params.report_expiry
        {
            context.tx_status(link.id, mpdu.attempts, false, mpdu.mode.rate());
        }
        self.serve(context, me);
        if self.radios[me].mpdu.is_none() {
            self.radios[me].back_off_after_expiry();
        }
        self.report_backlog(context, me);
    }

    fn send_response(&mut self, context: &mut MediumContext<'_>, me: usize) {
        let Some(response) = self.radios[me].response.take() else {
            return;
        };
        let bytes = match (response.kind, self.radios[me].mpdu) {
            (Kind::Data, Some(mpdu)) => mpdu.bytes,
            _ => MacParams::RESPONSE_BYTES,
        };
        self.put_on_air(context, me, response, bytes);
    }

    pub(crate) fn on_data(&mut self, context: &mut MediumContext<'_>, me: usize, frame: &Frame) {
        if let Some(mpdu) = &mut self.radios[frame.from as usize].mpdu {
            if mpdu.arrived {
                self.radios[me].counters.duplicates += 1;
            } else {
                mpdu.arrived = true;
                let packet = mpdu.packet;
                self.held -= 1;
                let link = &mut self.links[frame.link as usize];
                link.counters.delivered += 1;
                context.receive(link.id, packet);
                self.radios[me].counters.received += 1;
            }
        }
        self.response(context, me, frame, Kind::Ack, Duration::from_ps(0));
    }

    pub(crate) fn on_rts(&mut self, context: &mut MediumContext<'_>, me: usize, frame: &Frame) {
        let now = context.now();
        if self.radios[me].nav_busy(now) {
            return;
        }
        let control = self.params.control_mode(frame.mode);
        let used = self
            .params
            .sifs
            .saturating_add(self.params.response_airtime(control));
        self.response(
            context,
            me,
            frame,
            Kind::Cts,
            frame.duration.saturating_sub(used),
        );
    }

    fn response(
        &mut self,
        context: &mut MediumContext<'_>,
        me: usize,
        frame: &Frame,
        kind: Kind,
        duration: Duration,
    ) {
        match self.radios[me].phase {
            Phase::Contend => {}
            // Another frame in place of the response ends the wait for it.
            Phase::Await => self.fail(context, me),
            Phase::Transmit | Phase::Respond => return,
        }
        let response = Response {
            kind,
            to: frame.from,
            link: frame.link,
            mode: self.params.control_mode(frame.mode),
            duration,
        };
        let now = context.now();
        self.radios[me].respond(me, now, response, &self.params, &mut self.deadlines);
    }

    fn awaits(&self, me: usize, kind: Kind, from: u32) -> bool {
        let sent = &self.frames[me];
        self.radios[me].phase == Phase::Await && sent.kind == kind && sent.to == from
    }

    pub(crate) fn on_cts(&mut self, context: &mut MediumContext<'_>, me: usize, frame: &Frame) {
        if !self.awaits(me, Kind::Rts, frame.from) {
            return;
        }
        let Some(mpdu) = &mut self.radios[me].mpdu else {
            return;
        };
        mpdu.short_retries = 0;
        let mpdu = *mpdu;
        let duration = self
            .params
            .data_duration(self.params.control_mode(mpdu.mode));
        let data = Response {
            kind: Kind::Data,
            to: mpdu.to,
            link: mpdu.link,
            mode: mpdu.mode,
            duration,
        };
        let now = context.now();
        self.radios[me].respond(me, now, data, &self.params, &mut self.deadlines);
    }

    pub(crate) fn on_ack(&mut self, context: &mut MediumContext<'_>, me: usize, frame: &Frame) {
        if !self.awaits(me, Kind::Data, frame.from) {
            return;
        }
        if let Some(mpdu) = self.radios[me].mpdu {
            let link = self.links[mpdu.link as usize].id;
            context.tx_status(link, mpdu.attempts, true, mpdu.mode.rate());
        }
        self.deadlines.clear(me);
        self.radios[me].phase = Phase::Contend;
        self.done(context, me);
    }

    /// Counts a failed attempt. The caller changes the radio's phase.
    fn fail(&mut self, context: &mut MediumContext<'_>, me: usize) {
        let radio = &mut self.radios[me];
        let Some(mpdu) = &mut radio.mpdu else {
            return;
        };
        radio.counters.failures += 1;
        let short = self.frames[me].kind == Kind::Rts || !self.params.needs_rts(mpdu.bytes);
        let last = if short {
            mpdu.short_retries += 1;
            mpdu.short_retries >= self.params.short_retry
        } else {
            mpdu.long_retries += 1;
            mpdu.long_retries >= self.params.long_retry
        };
        if !last {
            radio.back_off_after_failure(&self.params);
            return;
        }
        let mpdu = *mpdu;
        radio.counters.given_up += 1;
        let link = &mut self.links[mpdu.link as usize];
        link.counters.given_up += 1;
        if !mpdu.arrived {
            self.held -= 1;
            context.tx_failed(link.id, mpdu.packet);
        }
        context.tx_status(link.id, mpdu.attempts, false, mpdu.mode.rate());
        self.done(context, me);
    }

    pub(crate) fn broadcast_done(&mut self, context: &mut MediumContext<'_>, me: usize) {
        if let Some(mpdu) = self.radios[me].mpdu {
            self.held -= 1;
            context.broadcast_sent(mpdu.packet);
        }
        self.done(context, me);
    }

    /// The MPDU in service is finished. The next one contends when the channel is idle.
    fn done(&mut self, context: &mut MediumContext<'_>, me: usize) {
        self.radios[me].mpdu = None;
        self.radios[me].back_off_after_frame(&self.params);
        self.serve(context, me);
        self.report_backlog(context, me);
    }

    /// Takes the next packet from the queue, if the radio has none.
    fn serve(&mut self, context: &mut MediumContext<'_>, me: usize) {
        let now = context.now();
        let radio = &mut self.radios[me];
        if radio.mpdu.is_some() {
            return;
        }
        radio.integrate_queue(now);
        let next = loop {
            let next = radio
                .queue
                .dequeue(now, context.packets_mut(), &mut self.dropped);
            match next {
                Some(id) if self.params.is_expired(context.packet(id).queued_at, now) => {
                    self.held -= 1;
                    radio.counters.queue_drops += 1;
                    context.drop(id, DropCause::Queue);
                    let link = self.links.get(self.link_of_packet[id.index()] as usize);
                    if let Some(link) = link
                        && self.params.report_expiry
                    {
                        context.tx_status(link.id, 0, false, link.mode.rate());
                    }
                }
                _ => break next,
            }
        };
        if let Some(packet) = next {
            let link = self.link_of_packet[packet.index()];
            let (to, mode) = match self.links.get(link as usize) {
                Some(direction) => (direction.to, direction.mode),
                None => (NONE, self.params.broadcast_mode),
            };
            let queued = context.packet(packet);
            radio.mpdu = Some(TxMpdu {
                packet,
                queued_at: queued.queued_at,
                link,
                to,
                bytes: queued.size_bytes + self.params.overhead_bytes,
                mode,
                attempts: 0,
                short_retries: 0,
                long_retries: 0,
                arrived: false,
            });
        }
        self.drop_refused(context, me);
    }

    /// Drops the packets that the queue discipline discarded.
    fn drop_refused(&mut self, context: &mut MediumContext<'_>, me: usize) {
        while let Some(id) = self.dropped.pop() {
            self.held -= 1;
            self.radios[me].counters.queue_drops += 1;
            context.drop(id, DropCause::Queue);
        }
    }

    fn report_backlog(&self, context: &mut MediumContext<'_>, me: usize) {
        let radio = &self.radios[me];
        let waiting = radio.queue.backlog_pkts() as u32;
        context.set_backlog(radio.node, radio.number, waiting, radio.mpdu.is_some());
    }

    /// A router passes a packet to a radio; `link` is [`NONE`] for a broadcast.
    fn enqueue(&mut self, context: &mut MediumContext<'_>, me: usize, link: u32, id: PacketId) {
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
        radio.integrate_queue(now);
        radio
            .queue
            .enqueue(now, id, context.packets_mut(), &mut self.dropped);
        self.drop_refused(context, me);
        if self.radios[me].mpdu.is_none() {
            self.part(me);
            self.serve(context, me);
            if self.radios[me].mpdu.is_some() {
                self.radios[me].request_access(me, now, &self.params, &mut self.deadlines);
            }
        }
        let radio = &mut self.radios[me];
        let waiting = radio.queue.backlog_pkts() as u32;
        radio.counters.queue_max_pkts = radio.counters.queue_max_pkts.max(waiting);
        self.report_backlog(context, me);
        // Only this radio's deadline can have changed, and it had none before.
        let at = self.deadlines.at(me);
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
        let first = self.deadlines.first();
        self.arm(context, first);
    }

    /// No host is attached to the medium.
    fn on_packet(&mut self, context: &mut MediumContext<'_>, _node: NodeId, id: PacketId) {
        context.drop(id, DropCause::NoRoute);
    }

    fn on_frame(&mut self, context: &mut MediumContext<'_>, link: LinkId, id: PacketId) {
        let direction = self.direction_of(link);
        match self.links.get(direction) {
            Some(found) => self.enqueue(context, found.from as usize, direction as u32, id),
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
            Some(radio) => self.enqueue(context, radio, NONE, id),
            None => context.drop(id, DropCause::NoRoute),
        }
    }

    fn on_timer(&mut self, context: &mut MediumContext<'_>, token: u32) {
        self.armed = SimTime::MAX;
        loop {
            let first = self.deadlines.first();
            match first {
                Some((at, radio)) if at <= context.now() || context.try_advance(token, at) => {
                    self.deadlines.clear(radio);
                    self.on_deadline(context, radio);
                }
                _ => return self.arm(context, first),
            }
        }
    }

    /// While a link is down, neither end decodes frames of the other; they are sensed and interfere
    /// as before. A sender detects it by missing responses.
    fn set_link_up(&mut self, _context: &mut MediumContext<'_>, link: LinkId, up: bool) {
        let direction = self.direction_of(link);
        if let Some(link) = self.links.get_mut(direction)
            && link.up != up
        {
            link.up = up;
            let radio = link.from as usize;
            self.give_up_domain_of(radio);
        }
    }

    /// A frame that is on the air stays there to its end.
    fn set_node_up(&mut self, context: &mut MediumContext<'_>, node: NodeId, up: bool) {
        let now = context.now();
        let mut number = 0;
        while let Some(me) = self.radio_of(node, number) {
            number += 1;
            if self.radios[me].up != up {
                self.give_up_domain_of(me);
            }
            self.radios[me].up = up;
            if up {
                continue;
            }
            if let Some(mpdu) = self.radios[me].mpdu.take()
                && !mpdu.arrived
            {
                self.held -= 1;
                context.drop(mpdu.packet, DropCause::LinkDown);
            }
            let radio = &mut self.radios[me];
            radio.integrate_queue(now);
            while let Some(id) = radio
                .queue
                .dequeue(now, context.packets_mut(), &mut self.dropped)
            {
                self.held -= 1;
                context.drop(id, DropCause::LinkDown);
            }
            self.drop_refused(context, me);
            let frame = &mut self.frames[me];
            self.radios[me].switch_off(me, frame, &mut self.deadlines);
            self.report_backlog(context, me);
        }
        let first = self.deadlines.first();
        self.arm(context, first);
    }

    fn held_pkts(&self) -> usize {
        self.held
    }
}
