//! A transfer over TCP: two endpoints, and the packets between them.

use backlane_engine::{EventQueue, Histogram, TimerId};
use backlane_net::packet::{INITIAL_TTL, IPV4_HEADER_BYTES};
use backlane_net::{Ecn, Event, FlowId, Network, Packet, PacketId};
use backlane_tcp::{Config, Connection, EcnField, Segment};

use crate::spec::FlowSpec;

/// Headers of the TCP packets under way, by [`PacketId`].
#[derive(Debug, Default)]
pub struct Segments(Vec<Segment>);

impl Segments {
    #[inline]
    fn store(&mut self, id: PacketId, segment: Segment) {
        let index = id.index();
        if index >= self.0.len() {
            self.0.resize(index + 1, segment);
        }
        self.0[index] = segment;
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

/// A transfer that runs.
#[derive(Debug)]
pub struct TcpFlow {
    sender: Side,
    receiver: Side,
    /// RTT samples of the sender.
    pub rtt: Histogram,
}

impl TcpFlow {
    /// Opens the connection now and asks it to send; `size_bytes` of `None` is endless. The
    /// timers are those of the sender and of the receiver.
    pub fn open(
        config: &Config,
        size_bytes: Option<u64>,
        events: &EventQueue<Event>,
        timers: [TimerId; 2],
    ) -> Self {
        let mut connection = Connection::connect(config, events.now());
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
            rtt: Histogram::default(),
        }
    }

    /// The sending endpoint.
    pub fn sender(&self) -> &Connection {
        &self.sender.connection
    }

    /// Packets that left the sender, without data too.
    pub fn packets_sent(&self) -> u64 {
        self.sender.packets_sent
    }

    /// The receiving endpoint.
    pub fn receiver(&self) -> &Connection {
        &self.receiver.connection
    }

    /// The source falls silent: it closes after what it has sent. Whether there was more; call
    /// [`TcpFlow::pump`] after it.
    pub fn stop(&mut self) -> bool {
        self.sender.connection.stop()
    }

    /// Sends what an endpoint has to send, and arms its timer.
    #[inline]
    pub fn pump(
        &mut self,
        receiver: bool,
        network: &mut Network,
        events: &mut EventQueue<Event>,
        segments: &mut Segments,
        id: u32,
        spec: &FlowSpec,
    ) {
        let side = if receiver {
            &mut self.receiver
        } else {
            &mut self.sender
        };
        let now = events.now();
        while let Some(segment) = side.connection.poll_transmit(now) {
            let (source, destination) = if receiver {
                (spec.destination, spec.source)
            } else {
                (spec.source, spec.destination)
            };
            let packet = Packet {
                flow: FlowId(id),
                reverse: side.reverse,
                ttl: INITIAL_TTL,
                hops: 0,
                ecn: match segment.ecn {
                    EcnField::NotCapable => Ecn::NotCapable,
                    EcnField::Capable | EcnField::Marked => Ecn::Capable,
                },
                size_bytes: IPV4_HEADER_BYTES + segment.header_bytes() + segment.payload_bytes,
                source,
                destination,
                exit: network.exit_of(destination),
                previous: source,
                path: 0,
                sequence: side.packets_sent,
                queued_at: now,
                message: None,
            };
            side.packets_sent += 1;
            let packet = network.send(events, packet);
            segments.store(packet, segment);
        }
        match side.connection.next_timeout() {
            Some(at) => events.set(side.timer, at),
            None => events.cancel(side.timer),
        }
    }

    /// A packet of the flow arrived at one of the endpoints, perhaps marked on its way; call [`TcpFlow::pump`] after it.
    #[inline]
    pub fn on_packet(
        &mut self,
        receiver: bool,
        events: &EventQueue<Event>,
        segments: &mut Segments,
        id: PacketId,
        ecn: Ecn,
    ) {
        let segment = &mut segments.0[id.index()];
        if ecn == Ecn::Marked {
            segment.ecn = EcnField::Marked;
        }
        let now = events.now();
        if receiver {
            self.receiver.connection.on_segment(now, segment);
        } else {
            self.sender.connection.on_segment(now, segment);
            if let Some(sample) = self.sender.connection.take_rtt_sample() {
                self.rtt.add(sample);
            }
        }
    }

    /// An endpoint's timer fired; call [`TcpFlow::pump`] after it.
    pub fn on_timer(&mut self, receiver: bool, events: &EventQueue<Event>) {
        let side = if receiver {
            &mut self.receiver
        } else {
            &mut self.sender
        };
        side.connection.on_timer(events.now());
    }
}
