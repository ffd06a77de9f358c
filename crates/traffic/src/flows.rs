//! All flows of a run behind one [`Application`].

use backlane_engine::{EventQueue, Streams, TimerId, prefetch, prefetch_start};
use backlane_net::{
    Application, Event, FlowId, HostContext, NodeId, Packet, PacketId, TransportHeader,
};
use backlane_units::{Duration, SimTime};

use crate::delivery::Delivery;
use crate::reordering::Reordering;
use crate::spec::{FlowSpec, Start, TransportSpec};
use crate::tcp_flow::{Segments, TcpFlow};
use crate::udp::UdpFlow;
use crate::utility::price;

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
    /// When its last byte arrived; `None` while it is unfinished, and for endless flows.
    pub finished: Option<SimTime>,
    /// Whether it cannot finish: TCP timed out, or its source stopped before it had sent
    /// everything.
    pub failed: bool,
    timers: [TimerId; 2],
}

/// A running transport.
#[derive(Debug)]
pub enum Transport {
    /// TCP.
    Tcp(Box<TcpFlow>),
    /// UDP.
    Udp(Box<UdpFlow>),
}

impl Flow {
    /// Application bytes that have arrived, in order where the transport promises order.
    pub fn delivered_bytes(&self) -> u64 {
        match &self.transport {
            None => 0,
            Some(Transport::Tcp(tcp)) => tcp.receiver().received_bytes(),
            Some(Transport::Udp(_)) => self.delivery.bytes - self.delivery.packets * 28,
        }
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
}

impl Flows {
    /// The flows, each started by its own event; a flow's number is its index in `specs`. If the
    /// first flow waits for a previous one, it never starts.
    pub fn new(events: &mut EventQueue<Event>, streams: Streams, specs: Vec<FlowSpec>) -> Self {
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
                        events.once(at, Event::Application { id, token: START });
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
                    finished: None,
                    failed: false,
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
        }
    }

    /// Enables reordering measurements of all flows.
    pub fn measure_reordering(&mut self) {
        for flow in &mut self.all {
            flow.reordering = Some(Box::default());
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
        self.unfinished -= 1;
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
            self.unfinished -= usize::from(flow.spec.size_bytes.is_some());
            next += 1;
        }
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
            Some(Transport::Udp(_)) | None => {}
        }
        if at_destination
            && flow.finished.is_none()
            && !flow.failed
            && let Some(size) = flow.spec.size_bytes
            && flow.delivered_bytes() >= size
        {
            flow.finished = Some(context.now());
            self.end(context, number as usize);
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
                tcp.sender().is_failed()
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
            (_, None) => false,
        };
        if ended && flow.finished.is_none() && !flow.failed {
            flow.failed = true;
            if spec.size_bytes.is_some() {
                self.end(context, id as usize);
            }
        }
    }
}
