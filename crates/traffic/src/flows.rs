//! All flows of a run behind one [`Application`].

use std::collections::BTreeMap;

use backlane_engine::{EventQueue, Streams, TimerId, prefetch, prefetch_start};
use backlane_net::packet::{IPV4_HEADER_BYTES, UDP_HEADER_BYTES};
use backlane_net::{
    Application, Divisible, Event, FlowId, HostContext, NodeId, Packet, PacketId, TransportHeader,
};
use backlane_tcp::Segment;
use backlane_units::{Duration, SimTime};

use crate::addresses::{address, client_port};
use crate::delivery::Delivery;
use crate::external::{Datagram, Datagrams, Ends, ExternalFlow, Reported, arrive};
use crate::reordering::Reordering;
use crate::spec::{FlowSpec, Start, TransportSpec};
use crate::tcp_flow::{Segments, TcpFlow};
use crate::udp::UdpFlow;
use crate::utility::price;

/// The endpoint of events at which hosts outside the simulation send.
pub const OUTSIDE: u32 = u32::MAX;

const START: u32 = 0;
const SOURCE: u32 = 1;
const SINK: u32 = 2;
const STOP: u32 = 3;

/// A flow, before, while and after it runs.
#[derive(Debug)]
pub struct Flow {
    /// Its specification.
    pub spec: FlowSpec,
    /// Its start time; `None` while it waits for another flow.
    pub start: Option<SimTime>,
    /// Its transport; `None` before it starts.
    pub transport: Option<Transport>,
    /// Measurements at its destination.
    pub delivery: Delivery,
    /// Reordering measurements, if enabled.
    pub reordering: Option<Box<Reordering>>,
    /// When its first data arrived.
    pub first_byte: Option<SimTime>,
    /// When its last byte arrived; `None` while it is unfinished, and for endless flows.
    pub finished: Option<SimTime>,
    /// Whether its source gave up: TCP timed out, or it stopped before it had sent everything.
    pub failed: bool,
    /// Whether it has finished or failed.
    ended: bool,
    timers: [TimerId; 2],
}

/// A running transport.
#[derive(Debug)]
pub enum Transport {
    /// TCP.
    Tcp(Box<TcpFlow>),
    /// UDP.
    Udp(Box<UdpFlow>),
    /// Packets between hosts outside the simulation.
    External(Box<ExternalFlow>),
}

impl Flow {
    /// Application bytes that have arrived, in order where the transport promises order.
    pub fn delivered_bytes(&self) -> u64 {
        match &self.spec.transport {
            TransportSpec::Tcp(_) | TransportSpec::CodedTcp(..) => match &self.transport {
                Some(Transport::Tcp(tcp)) => tcp.receiver().received_bytes(),
                _ => 0,
            },
            TransportSpec::Udp(_) | TransportSpec::Source(_) => {
                let headers = u64::from(UDP_HEADER_BYTES + IPV4_HEADER_BYTES);
                self.delivery.bytes - self.delivery.packets * headers
            }
            TransportSpec::External => match &self.transport {
                Some(Transport::External(flow)) => flow.delivered_bytes,
                _ => 0,
            },
        }
    }

    /// The receiving endpoint of a transfer that another simulation has started.
    #[cold]
    fn receiving(&self, now: SimTime) -> Option<Transport> {
        let TransportSpec::Tcp(config) = &self.spec.transport else {
            return None;
        };
        let tcp = TcpFlow::open(config, self.spec.size_bytes, now, self.timers);
        Some(Transport::Tcp(Box::new(tcp)))
    }

    /// The flow whose source one simulation has run, and whose destination another.
    fn joined(source: Self, destination: Self) -> Self {
        let transport = match (source.transport, destination.transport) {
            (Some(Transport::Tcp(mut tcp)), Some(Transport::Tcp(other))) => {
                tcp.take_receiver(*other);
                Some(Transport::Tcp(tcp))
            }
            (source, destination) => source.or(destination),
        };
        Self {
            transport,
            delivery: destination.delivery,
            reordering: destination.reordering,
            first_byte: destination.first_byte,
            finished: destination.finished,
            ..source
        }
    }

    /// Whether its ends are outside the simulation.
    pub fn is_outside(&self) -> bool {
        matches!(self.spec.transport, TransportSpec::External)
    }

    /// Whether it begins when the flow before it ends.
    pub fn waits(spec: &FlowSpec) -> bool {
        matches!(spec.start, Start::AfterPrevious(_))
    }

    /// Whether its ends act on each other without a packet, so that one simulation must run both:
    /// coded flows, and those that wait for each other.
    pub fn is_one(spec: &FlowSpec, next: Option<&FlowSpec>) -> bool {
        let is_coded = matches!(spec.transport, TransportSpec::CodedTcp(..));
        is_coded || Self::waits(spec) || next.is_some_and(Self::waits)
    }
}

/// All flows of a run.
pub struct Flows {
    all: Vec<Flow>,
    segments: Segments,
    streams: Streams,
    /// Finite flows that have neither finished nor failed.
    unfinished: usize,
    any_finite: bool,
    /// Finite flows that have ended since the last [`Flows::take_ended`].
    ended: Vec<u32>,
    outside: Outside,
}

/// A host outside, and a datagram that it sends or receives.
type Sent = (NodeId, Box<[u8]>);

/// What flows between hosts outside need.
#[derive(Default)]
struct Outside {
    /// The bytes of packets under way.
    datagrams: Datagrams,
    /// What has reached hosts outside since the last [`Flows::take_arrived`].
    arrived: Vec<Sent>,
    /// The flow of each connection, by its ends in ascending order.
    flow_of: BTreeMap<Ends, u32>,
    /// Connections of each pair of hosts, in ascending order.
    connections: BTreeMap<[NodeId; 2], usize>,
    /// What hosts will send, by time and in the order in which they said so.
    to_send: BTreeMap<(SimTime, u64), Sent>,
    /// The number of datagrams in it so far.
    said: u64,
}

impl Flows {
    /// The flows, each started by its own event; a flow's number is its index in `specs`. If the
    /// first flow waits for a previous one, it never starts.
    pub fn new(events: &mut EventQueue<Event>, streams: Streams, specs: Vec<FlowSpec>) -> Self {
        Self::of_region(events, streams, specs, |_| true)
    }

    /// As [`Flows::new`], where this simulation runs the nodes that `has` tells. It starts the flows
    /// whose sources it runs.
    pub fn of_region(
        events: &mut EventQueue<Event>,
        streams: Streams,
        specs: Vec<FlowSpec>,
        has: impl Fn(NodeId) -> bool,
    ) -> Self {
        let unfinished = specs
            .iter()
            .filter(|spec| spec.size_bytes.is_some())
            .count();
        let flows = specs
            .into_iter()
            .enumerate()
            .map(|(id, spec)| {
                let id = id as u32;
                let start = match spec.start {
                    Start::At(at) => {
                        if has(spec.source) {
                            events.once(at, Event::Application { id, token: START });
                        }
                        Some(at)
                    }
                    Start::AfterPrevious(_) => None,
                };
                Flow {
                    spec,
                    start,
                    transport: None,
                    delivery: Delivery::default(),
                    reordering: None,
                    first_byte: None,
                    finished: None,
                    failed: false,
                    ended: false,
                    timers: [SOURCE, SINK]
                        .map(|token| events.timer(Event::Application { id, token })),
                }
            })
            .collect();
        Self {
            all: flows,
            segments: Segments::default(),
            streams,
            unfinished,
            any_finite: unfinished > 0,
            ended: Vec::new(),
            outside: Outside::default(),
        }
    }

    /// The host `from` outside the simulation will send an IPv4 datagram at `at`. The caller arms an
    /// event of the application for then, with the endpoint [`OUTSIDE`].
    pub fn will_send(&mut self, at: SimTime, from: NodeId, bytes: &[u8]) {
        self.outside.said += 1;
        let key = (at, self.outside.said);
        self.outside.to_send.insert(key, (from, bytes.into()));
    }

    /// A host outside sends what is due first.
    fn send_due(&mut self, context: &mut HostContext<'_>) {
        if let Some(first) = self.outside.to_send.first_entry()
            && first.key().0 <= context.now()
        {
            let (from, bytes) = first.remove();
            self.inject(context, from, &bytes);
        }
    }

    /// The host `from` outside the simulation sends an IPv4 datagram, as Ethernet would carry it. It
    /// belongs to the external flow between its two hosts; of several, to the one that
    /// [`client_port`] names, or else each takes a connection in turn. False if it was refused: it
    /// is no complete datagram of IPv4, not from that host's address, or no external flow leads to
    /// its destination.
    pub fn inject(&mut self, context: &mut HostContext<'_>, from: NodeId, bytes: &[u8]) -> bool {
        let Some(datagram) = Datagram::read(bytes) else {
            return false;
        };
        if address(from) != datagram.addresses[0] {
            return false;
        }
        let Some(number) = self.flow_outside(from, &datagram) else {
            return false;
        };
        let flow = &mut self.all[number as usize];
        let reverse = flow.spec.source != from;
        let to = if reverse {
            flow.spec.source
        } else {
            flow.spec.destination
        };
        let Transport::External(external) = flow
            .transport
            .get_or_insert_with(|| Transport::External(Box::default()))
        else {
            return false;
        };
        let packet = Packet {
            reverse,
            ttl: datagram.ttl,
            ecn: datagram.ecn,
            sequence: external.send(reverse, &datagram, context.now()),
            ..Packet::new(FlowId(number), from, to, bytes.len() as u32)
        };
        let id = context.send(packet);
        self.outside.datagrams.store(id, bytes.into());
        true
    }

    /// The external flow of a datagram that the host `from` sends.
    fn flow_outside(&mut self, from: NodeId, datagram: &Datagram<'_>) -> Option<u32> {
        let mut ends = datagram.ends(false);
        ends.sort_unstable();
        if let Some(&flow) = self.outside.flow_of.get(&ends) {
            return Some(flow);
        }
        let leads = |flow: &Flow| {
            let [a, b] = [flow.spec.source, flow.spec.destination];
            let is_external = matches!(flow.spec.transport, TransportSpec::External);
            let peer = if a == from { b } else { a };
            let is_between = (a == from || b == from) && address(peer) == datagram.addresses[1];
            is_external && is_between
        };
        let numbered = (0..).zip(&self.all);
        let flows: Vec<u32> = numbered
            .filter(|(_, flow)| leads(flow))
            .map(|(number, _)| number)
            .collect();
        let named = |flow: &&u32| datagram.ports.contains(&client_port(**flow));
        let flow = match flows.iter().find(named) {
            Some(&flow) => flow,
            None => {
                let spec = &self.all[*flows.first()? as usize].spec;
                let mut pair = [spec.source, spec.destination];
                pair.sort_unstable();
                let before = self.outside.connections.entry(pair).or_default();
                *before += 1;
                flows[(*before - 1) % flows.len()]
            }
        };
        self.outside.flow_of.insert(ends, flow);
        Some(flow)
    }

    /// The datagrams that have reached hosts outside since the last call, in order.
    pub fn take_arrived(&mut self) -> Vec<(NodeId, Box<[u8]>)> {
        std::mem::take(&mut self.outside.arrived)
    }

    /// The sender of an external flow reports its state.
    pub fn report(&mut self, number: u32, reported: Reported) {
        if let Some(flow) = self.all.get_mut(number as usize)
            && let Some(Transport::External(external)) = &mut flow.transport
        {
            external.reported = Some(reported);
        }
    }

    /// The sender of an external flow has given up.
    pub fn give_up(&mut self, number: u32) {
        let index = number as usize;
        if let Some(flow) = self.all.get_mut(index)
            && flow.finished.is_none()
        {
            flow.failed = true;
            if flow.spec.size_bytes.is_some() {
                self.note_end(index);
            }
        }
    }

    /// The transport header of a packet of an external flow.
    pub(crate) fn header_outside(&self, id: PacketId) -> TransportHeader {
        let datagram = self.outside.datagrams.get(id).and_then(Datagram::read);
        datagram.map_or_else(TransportHeader::default, |datagram| datagram.header())
    }

    /// The finite flows that have finished or failed since the last call, or that never start. In a
    /// divided network a flow may be among those of both its ends.
    pub fn take_ended(&mut self) -> Vec<u32> {
        std::mem::take(&mut self.ended)
    }

    /// Finite flows that have neither finished nor failed.
    pub fn unfinished(&self) -> usize {
        self.unfinished
    }

    fn note_end(&mut self, number: usize) -> bool {
        let first = !std::mem::replace(&mut self.all[number].ended, true);
        if first {
            self.unfinished -= 1;
            self.ended.push(number as u32);
        }
        first
    }

    /// Enables reordering measurements of all flows; packets displaced by more than
    /// `threshold_pkts` count as lost.
    pub fn measure_reordering(&mut self, threshold_pkts: usize) {
        for flow in &mut self.all {
            flow.reordering = Some(Box::new(Reordering::new(threshold_pkts)));
        }
    }

    pub(crate) fn segments(&self) -> &Segments {
        &self.segments
    }

    /// Every flow, by number.
    pub fn flows(&self) -> &[Flow] {
        &self.all
    }

    /// Whether there were finite flows and all of them have ended. An endless load does not keep a
    /// run going.
    #[inline]
    pub fn done(&self) -> bool {
        self.any_finite && self.unfinished == 0
    }

    /// The packets that flow control grants a controlled load over UDP in a slot, and the length of
    /// the slot; `None` for others. All running controlled loads of its source take part.
    fn grant(&self, context: &HostContext<'_>, number: u32) -> Option<(f64, Duration)> {
        let TransportSpec::Udp(own) = &self.all[number as usize].spec.transport else {
            return None;
        };
        let slot = own.control?.slot;
        let source = self.all[number as usize].spec.source;
        let now = context.now();
        let backlog = |number: u32| context.first_hop_backlog_pkts(source, FlowId(number));
        let mut most_bps = 0.0_f64;
        let mut demands = Vec::new();
        for (other, flow) in (0..).zip(&self.all) {
            let over = |udp: &UdpFlow| udp.is_over(now, &flow.spec);
            let runs = match &flow.transport {
                Some(Transport::Udp(udp)) => !over(udp),
                _ => other == number,
            };
            if flow.spec.source == source
                && runs
                && let TransportSpec::Udp(config) = &flow.spec.transport
                && let Some(demand) = config.demand(backlog(other))
            {
                most_bps = most_bps.max(config.rate.as_bps() as f64);
                demands.push(demand);
            }
        }
        let price = price(&demands, most_bps);
        Some((own.demand(backlog(number))?.pkts_per_slot(price), slot))
    }

    /// A finite flow finished or failed: starts the flow that waits for it.
    fn end(&mut self, context: &mut HostContext<'_>, number: usize) {
        if !self.note_end(number) {
            return;
        }
        let mut next = number + 1;
        let Some(Start::AfterPrevious(gap)) = self.all.get(next).map(|flow| flow.spec.start) else {
            return;
        };
        let at = context.now().saturating_add(gap);
        if self.all[next].spec.stop.is_none_or(|stop| at < stop) {
            context.call_at(at, next as u32, START);
            return;
        }
        while let Some(flow) = self.all.get(next)
            && matches!(flow.spec.start, Start::AfterPrevious(_))
        {
            if flow.spec.size_bytes.is_some() {
                self.note_end(next);
            }
            next += 1;
        }
    }
}

impl Divisible for Flows {
    type Carried = Option<Segment>;

    fn carried(&self, id: PacketId) -> Self::Carried {
        self.segments.get(id)
    }

    fn carry(&mut self, id: PacketId, carried: Self::Carried) {
        if let Some(segment) = carried {
            self.segments.store(id, segment);
        }
    }

    fn absorb(&mut self, other: Self, has: impl Fn(NodeId) -> bool) {
        let own = std::mem::take(&mut self.all);
        let both = own.into_iter().zip(other.all);
        self.all = both
            .map(|(own, other)| {
                let [sends, receives] = [own.spec.source, own.spec.destination].map(&has);
                match (sends, receives) {
                    (true, true) => other,
                    (true, false) => Flow::joined(other, own),
                    (false, true) => Flow::joined(own, other),
                    (false, false) => own,
                }
            })
            .collect();
    }
}

impl Application for Flows {
    fn transport_header(&self, id: PacketId, packet: &Packet) -> TransportHeader {
        self.header_of(id, packet)
    }

    #[inline]
    fn on_packet(&mut self, context: &mut HostContext<'_>, id: PacketId) {
        let packet = context.packet(id);
        let (number, ecn) = (packet.flow.0, packet.ecn);
        let Some(flow) = self.all.get_mut(packet.flow.index()) else {
            return;
        };
        let at_destination = !packet.reverse;
        if at_destination {
            flow.delivery.add(context.now(), packet);
            if let Some(reordering) = &mut flow.reordering {
                reordering.add(context.now(), packet.sequence);
            }
        }
        if flow.transport.is_none() {
            flow.transport = flow.receiving(context.now());
        }
        match &mut flow.transport {
            Some(Transport::Tcp(tcp)) => {
                tcp.on_packet(at_destination, context.now(), &mut self.segments, id, ecn);
                tcp.pump(
                    at_destination,
                    context,
                    &mut self.segments,
                    number,
                    &flow.spec,
                );
            }
            Some(Transport::External(external)) => {
                if let Some(mut bytes) = self.outside.datagrams.take(id) {
                    let packet = context.packet(id);
                    if let Some(datagram) = Datagram::read(&bytes) {
                        external.arrive(packet.reverse, &datagram, context.now());
                    }
                    arrive(&mut bytes, packet);
                    self.outside.arrived.push((packet.destination, bytes));
                }
            }
            Some(Transport::Udp(_)) | None => {}
        }
        if at_destination && flow.first_byte.is_none() && flow.delivered_bytes() > 0 {
            flow.first_byte = Some(context.now());
        }
        if at_destination
            && flow.finished.is_none()
            && let Some(size) = flow.spec.size_bytes
            && flow.delivered_bytes() >= size
        {
            flow.finished = Some(context.now());
            self.end(context, number as usize);
        }
    }

    fn on_duplicate(&mut self, id: PacketId, copy: PacketId) {
        self.segments.copy(id, copy);
        if let Some(datagram) = self.outside.datagrams.get(id) {
            let datagram = datagram.into();
            self.outside.datagrams.store(copy, datagram);
        }
    }

    fn on_source_drop(&mut self, context: &mut HostContext<'_>, packet: &Packet) {
        if !packet.reverse
            && let Some(flow) = self.all.get_mut(packet.flow.index())
            && let Some(Transport::Tcp(tcp)) = &mut flow.transport
        {
            tcp.on_source_drop(context.now(), packet.sequence);
        }
    }

    #[inline]
    fn prefetch(&self, id: u32, step: u8) -> Option<(NodeId, NodeId)> {
        let flow = self.all.get(id as usize)?;
        match (step, &flow.transport) {
            (0, _) => {
                prefetch_start(&flow.spec.transport);
                prefetch(&flow.spec.source);
                prefetch(&flow.transport);
                prefetch(&flow.timers);
                return None;
            }
            (1, Some(Transport::Udp(udp))) => prefetch(&**udp),
            (1, Some(Transport::Tcp(tcp))) => prefetch(&**tcp),
            _ => {}
        }
        Some((flow.spec.source, flow.spec.destination))
    }

    #[inline]
    fn prefetch_delivery(&self, flow: FlowId) {
        if let Some(flow) = self.all.get(flow.index()) {
            prefetch(&flow.delivery);
            prefetch(&flow.transport);
            prefetch(&flow.finished);
            prefetch(&flow.spec.size_bytes);
        }
    }

    fn on_timer(&mut self, context: &mut HostContext<'_>, id: u32, token: u32) {
        if id == OUTSIDE {
            return self.send_due(context);
        }
        let grant = match self.all.get(id as usize) {
            Some(_) => self.grant(context, id),
            None => return,
        };
        let flow = &mut self.all[id as usize];
        if token == START {
            flow.start = Some(context.now());
        }
        let (segments, spec) = (&mut self.segments, &flow.spec);
        let ended = match (token, &mut flow.transport) {
            (START, _) => match &spec.transport {
                TransportSpec::Tcp(config) | TransportSpec::CodedTcp(config, _) => {
                    let mut tcp = Box::new(TcpFlow::open(
                        config,
                        spec.size_bytes,
                        context.now(),
                        flow.timers,
                    ));
                    if let TransportSpec::CodedTcp(_, coding) = &spec.transport {
                        let mut keys = self.streams.stream(&format!("flow{id}"), "coding");
                        tcp.code(coding, config, [keys.next_u64(), keys.next_u64()]);
                    }
                    tcp.pump(false, context, segments, id, spec);
                    flow.transport = Some(Transport::Tcp(tcp));
                    if let Some(stop) = spec.stop {
                        context.call_at(stop, id, STOP);
                    }
                    false
                }
                TransportSpec::Udp(config) => {
                    let periods = self.streams.stream(&format!("flow{id}"), "on-off");
                    let source = config.source(periods);
                    let udp = UdpFlow::new(source, config.packet_bytes, spec.size_bytes);
                    let mut udp = Box::new(udp);
                    match grant {
                        Some(grant) => {
                            udp.emit_slot(context, flow.timers[0], (id, spec), grant);
                        }
                        None => udp.start(context, flow.timers[0], id, spec),
                    }
                    flow.transport = Some(Transport::Udp(udp));
                    false
                }
                TransportSpec::Source(factory) => {
                    let stream = self.streams.stream(&format!("flow{id}"), "source");
                    let source = factory.build(FlowId(id), stream);
                    let mut udp = Box::new(UdpFlow::new(source, 0, spec.size_bytes));
                    udp.start(context, flow.timers[0], id, spec);
                    let is_cut_short = udp.is_cut_short();
                    flow.transport = Some(Transport::Udp(udp));
                    is_cut_short
                }
                // Its packets come from outside, and may have begun to.
                TransportSpec::External => {
                    flow.transport
                        .get_or_insert_with(|| Transport::External(Box::default()));
                    false
                }
            },
            (STOP, Some(Transport::Tcp(tcp))) => {
                let cut_short = tcp.stop();
                tcp.pump(false, context, segments, id, spec);
                cut_short
            }
            (_, Some(Transport::Tcp(tcp))) => {
                let receiver = token == SINK;
                tcp.on_timer(receiver, context.now());
                tcp.pump(receiver, context, segments, id, spec);
                !receiver && tcp.sender().is_failed()
            }
            (_, Some(Transport::Udp(udp))) => {
                match grant {
                    Some(grant) => {
                        udp.emit_slot(context, flow.timers[0], (id, spec), grant);
                    }
                    None => udp.emit(context, flow.timers[0], id, spec),
                }
                udp.is_cut_short()
            }
            (_, Some(Transport::External(_)) | None) => false,
        };
        if ended && !flow.failed {
            flow.failed = true;
            if spec.size_bytes.is_some() {
                self.end(context, id as usize);
            }
        }
    }
}
