//! A transfer over TCP: two endpoints, and the packets between them.

use backlane_engine::{Histogram, TimerId};
use backlane_net::packet::IPV4_HEADER_BYTES;
use backlane_net::{Ecn, FlowId, HostContext, Packet, PacketId};
use backlane_tcp::{Config, Connection, EcnField, Segment};
use backlane_units::SimTime;

use crate::coded::{Coding, CodingConfig, CodingReadings, Content};
use crate::spec::FlowSpec;

/// Headers of the TCP packets in flight, by [`PacketId`].
#[derive(Debug, Default)]
pub struct Segments {
    headers: Vec<Segment>,
    /// The contents of coded flows' packets, with their symbols.
    contents: Vec<(Content, Vec<u8>)>,
}

impl Segments {
    /// The segment of a packet in flight; `None` if the packet belongs to the coding layer.
    pub(crate) fn plain(&self, id: PacketId, coded: bool) -> Option<&Segment> {
        let content = self.contents.get(id.index()).filter(|_| coded);
        match content {
            None | Some((Content::Plain, _)) => self.headers.get(id.index()),
            Some(_) => None,
        }
    }

    /// The segment under a handle, if one was stored; coded flows never leave a simulation.
    pub(crate) fn get(&self, id: PacketId) -> Option<Segment> {
        self.headers.get(id.index()).copied()
    }

    #[inline]
    pub(crate) fn store(&mut self, id: PacketId, segment: Segment) {
        let index = id.index();
        if index >= self.headers.len() {
            self.headers.resize(index + 1, segment);
        }
        self.headers[index] = segment;
    }

    /// Stores what is kept of a packet for its copy too.
    pub(crate) fn copy(&mut self, id: PacketId, copy: PacketId) {
        if let Some(segment) = self.get(id) {
            self.store(copy, segment);
        }
        if let Some((content, mut symbol)) = self.contents.get(id.index()).cloned() {
            self.store_content(copy, content, &mut symbol);
        }
    }

    /// `symbol` is swapped with the stored one, so that its memory is reused.
    fn store_content(&mut self, id: PacketId, content: Content, symbol: &mut Vec<u8>) {
        let index = id.index();
        if index >= self.contents.len() {
            self.contents.resize_with(index + 1, Default::default);
        }
        self.contents[index].0 = content;
        std::mem::swap(&mut self.contents[index].1, symbol);
    }
}

/// One side of a transfer.
#[derive(Debug)]
struct Side {
    connection: Connection,
    packets_sent: u64,
    timer: TimerId,
    reverse: bool,
}

impl Side {
    /// Sends a packet with this many bytes after its IP header.
    #[inline]
    fn send(
        &mut self,
        context: &mut HostContext<'_>,
        flow: FlowId,
        spec: &FlowSpec,
        ecn: EcnField,
        bytes: u32,
    ) -> PacketId {
        let (source, destination) = if self.reverse {
            (spec.destination, spec.source)
        } else {
            (spec.source, spec.destination)
        };
        let packet = Packet {
            reverse: self.reverse,
            ecn: match ecn {
                EcnField::NotCapable => Ecn::NotCapable,
                EcnField::Capable | EcnField::Marked => Ecn::Capable,
            },
            sequence: self.packets_sent,
            ..Packet::new(flow, source, destination, IPV4_HEADER_BYTES + bytes)
        };
        self.packets_sent += 1;
        context.send(packet)
    }
}

/// A running transfer.
#[derive(Debug)]
pub struct TcpFlow {
    sender: Side,
    receiver: Side,
    coding: Option<Box<Coding>>,
    /// RTT samples of the sender.
    pub rtt: Histogram,
}

impl TcpFlow {
    /// Opens the connection now and asks it to send; `size_bytes` of `None` is endless. The
    /// timers are those of the sender and of the receiver.
    pub fn open(
        config: &Config,
        size_bytes: Option<u64>,
        now: SimTime,
        timers: [TimerId; 2],
    ) -> Self {
        let mut connection = Connection::connect(config, now);
        match size_bytes {
            Some(bytes) => {
                connection.write(bytes);
                connection.close();
            }
            None => connection.write(u64::MAX / 4),
        }
        let side = |connection, timer, reverse| Side {
            connection,
            packets_sent: 0,
            timer,
            reverse,
        };
        Self {
            sender: side(connection, timers[0], false),
            receiver: side(Connection::listen(config), timers[1], true),
            coding: None,
            rtt: Histogram::default(),
        }
    }

    /// Takes the receiving endpoint of the same transfer from another simulation.
    pub(crate) fn take_receiver(&mut self, other: Self) {
        self.receiver = other.receiver;
    }

    /// Adds the coding layer below the connection, before the first packet. The keys draw
    /// coefficients and payload.
    pub fn code(&mut self, coding: &CodingConfig, config: &Config, keys: [u64; 2]) {
        self.coding = Some(Box::new(Coding::new(coding, config.mss_bytes(), keys)));
    }

    /// The counters of the coding layer; `None` for a flow without one.
    pub fn coding(&self, now: SimTime) -> Option<CodingReadings> {
        let coding = self.coding.as_ref()?;
        Some(coding.readings(now, &self.sender.connection))
    }

    /// The sending endpoint.
    pub fn sender(&self) -> &Connection {
        &self.sender.connection
    }

    /// Packets that left the sender, including those without data.
    pub fn packets_sent(&self) -> u64 {
        self.sender.packets_sent
    }

    /// The receiving endpoint.
    pub fn receiver(&self) -> &Connection {
        &self.receiver.connection
    }

    /// The source stops: it closes after the data already sent. Returns whether data was left; call
    /// [`TcpFlow::pump`] after it.
    pub fn stop(&mut self) -> bool {
        self.sender.connection.stop()
    }

    /// Sends an endpoint's pending segments, and arms its timer.
    #[inline]
    pub fn pump(
        &mut self,
        receiver: bool,
        context: &mut HostContext<'_>,
        segments: &mut Segments,
        id: u32,
        spec: &FlowSpec,
    ) {
        let side = if receiver {
            &mut self.receiver
        } else {
            &mut self.sender
        };
        let now = context.now();
        let flow = FlowId(id);
        while let Some(segment) = side.connection.poll_transmit(now) {
            if let Some(coding) = &mut self.coding
                && coding.takes(receiver, now, &segment, &side.connection)
            {
                continue;
            }
            let bytes = segment.header_bytes() + segment.payload_bytes;
            let packet = side.send(context, flow, spec, segment.ecn, bytes);
            segments.store(packet, segment);
            if self.coding.is_some() {
                segments.store_content(packet, Content::Plain, &mut Vec::new());
            }
        }
        let mut timeout = side.connection.next_timeout();
        if let Some(coding) = &mut self.coding {
            let next = side.packets_sent;
            coding.send_all(receiver, now, next, |content, header, bytes, symbol| {
                let packet = side.send(context, flow, spec, EcnField::NotCapable, bytes);
                segments.store(packet, header);
                segments.store_content(packet, content, symbol);
            });
            timeout = timeout
                .into_iter()
                .chain(coding.next_timeout(receiver))
                .min();
        }
        match timeout {
            Some(at) => context.set_timer(side.timer, at),
            None => context.cancel_timer(side.timer),
        }
    }

    /// A packet of the flow arrived at one of the endpoints, possibly ECN-marked; call
    /// [`TcpFlow::pump`] after it.
    #[inline]
    pub fn on_packet(
        &mut self,
        receiver: bool,
        now: SimTime,
        segments: &mut Segments,
        id: PacketId,
        ecn: Ecn,
    ) {
        let segment = &mut segments.headers[id.index()];
        if ecn == Ecn::Marked {
            segment.ecn = EcnField::Marked;
        }
        let side = if receiver {
            &mut self.receiver
        } else {
            &mut self.sender
        };
        match &mut self.coding {
            None => side.connection.on_segment(now, segment),
            Some(coding) => {
                let (content, symbol) = &segments.contents[id.index()];
                match content {
                    Content::Plain => side.connection.on_segment(now, segment),
                    Content::Coded(header) => {
                        coding.on_coded(now, header, symbol, &mut side.connection);
                    }
                    Content::Answer(answer) => {
                        coding.on_answer(now, answer, segment, &mut side.connection);
                    }
                }
            }
        }
        if !receiver {
            if let Some(coding) = &mut self.coding {
                coding.watch(now, &self.sender.connection);
            }
            if let Some(sample) = self.sender.connection.take_rtt_sample() {
                self.rtt.add(sample);
            }
        }
    }

    /// An endpoint's timer fired; call [`TcpFlow::pump`] after it.
    pub fn on_timer(&mut self, receiver: bool, now: SimTime) {
        let side = if receiver {
            &mut self.receiver
        } else {
            &mut self.sender
        };
        let Some(coding) = &mut self.coding else {
            side.connection.on_timer(now);
            return;
        };
        if side.connection.next_timeout().is_some_and(|at| at <= now) {
            side.connection.on_timer(now);
        }
        coding.on_timer(receiver, now);
        if !receiver {
            coding.watch(now, &side.connection);
        }
    }

    /// The queue of the source's own node dropped the packet with this number.
    pub fn on_source_drop(&mut self, now: SimTime, sequence: u64) {
        if let Some(coding) = &mut self.coding {
            coding.on_drop(now, sequence, &self.sender.connection);
        }
    }
}
