//! A source and sink of given packets.

use backlane_engine::EventQueue;
use backlane_units::{Duration, SimTime};

use crate::event::Event;
use crate::host::{Application, HostContext};
use crate::packet::{Packet, PacketId};

/// Packets that are sent at a constant interval.
#[derive(Clone, Debug)]
pub struct Load {
    /// The first packet. Each packet after it has the next `sequence`.
    pub packet: Packet,
    /// When the first packet is sent.
    pub start: SimTime,
    /// The time between two packets.
    pub every: Duration,
    /// The number of packets.
    pub count: u64,
}

impl Load {
    /// One packet.
    pub fn once(start: SimTime, packet: Packet) -> Self {
        Self {
            packet,
            start,
            every: Duration::ZERO,
            count: 1,
        }
    }
}

/// A packet that reached its destination.
#[derive(Clone, Debug)]
pub struct Arrival {
    /// When it arrived.
    pub at: SimTime,
    /// The packet at that time.
    pub packet: Packet,
}

/// Sends loads and records arrivals and source drops.
#[derive(Debug, Default)]
pub struct Script {
    loads: Vec<Load>,
    reply: Option<fn(&Packet) -> Option<Packet>>,
    /// Packets sent, without replies.
    pub sent: u64,
    /// What arrived, in order.
    pub arrivals: Vec<Arrival>,
    /// What the node of its source dropped.
    pub source_drops: Vec<Packet>,
}

impl Script {
    /// A script that schedules these loads; load i is the endpoint i of the application.
    pub fn new(events: &mut EventQueue<Event>, loads: Vec<Load>) -> Self {
        for (id, load) in loads.iter().enumerate() {
            let id = id as u32;
            events.once(load.start, Event::Application { id, token: 0 });
        }
        Self {
            loads,
            ..Self::default()
        }
    }

    /// Sends the packet that `reply` returns, if any, when a packet arrives.
    #[must_use]
    pub fn with_reply(mut self, reply: fn(&Packet) -> Option<Packet>) -> Self {
        self.reply = Some(reply);
        self
    }

    /// The arrivals of a flow in both directions.
    pub fn arrivals_of(&self, flow: u32) -> impl Iterator<Item = &Arrival> {
        let arrivals = self.arrivals.iter();
        arrivals.filter(move |arrival| arrival.packet.flow.0 == flow)
    }
}

impl Application for Script {
    fn on_packet(&mut self, context: &mut HostContext<'_>, id: PacketId) {
        let packet = context.packet(id).clone();
        if let Some(reply) = self.reply.and_then(|reply| reply(&packet)) {
            context.send(reply);
        }
        self.arrivals.push(Arrival {
            at: context.now(),
            packet,
        });
    }

    fn on_timer(&mut self, context: &mut HostContext<'_>, id: u32, token: u32) {
        let load = &mut self.loads[id as usize];
        if load.count == 0 {
            return;
        }
        load.count -= 1;
        context.send(load.packet.clone());
        load.packet.sequence += 1;
        self.sent += 1;
        if load.count > 0 {
            context.call_at(context.now() + load.every, id, token);
        }
    }

    fn on_source_drop(&mut self, _: &mut HostContext<'_>, packet: &Packet) {
        self.source_drops.push(packet.clone());
    }
}
