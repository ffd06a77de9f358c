//! All flows of a run behind one [`Application`].

use backlane_engine::{EventQueue, Streams, TimerId};
use backlane_net::{Application, Event, Network, PacketId};
use backlane_units::SimTime;

use crate::delivery::Delivery;
use crate::spec::{FlowSpec, TransportSpec};
use crate::tcp_flow::{Segments, TcpFlow};
use crate::udp::UdpFlow;

const START: u32 = 0;
const SOURCE: u32 = 1;
const SINK: u32 = 2;

/// A flow, before, while and after it runs.
#[derive(Debug)]
pub struct Flow {
    /// What it was asked to do.
    pub spec: FlowSpec,
    /// What carries it; `None` before it starts.
    pub transport: Option<Transport>,
    /// What arrived at its destination.
    pub delivery: Delivery,
    /// When its last byte arrived; `None` while it is unfinished, and for endless flows.
    pub finished: Option<SimTime>,
    /// The connection was given up: nobody answered for too long.
    pub failed: bool,
    timers: [TimerId; 2],
}

/// A transport that runs.
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
    /// The flows, each started by an event of its own; a flow's number is its place in `specs`.
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
                events.once(spec.start, Event::Application { id, token: START });
                Flow {
                    spec,
                    transport: None,
                    delivery: Delivery::default(),
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

    /// Every flow, by number.
    pub fn flows(&self) -> &[Flow] {
        &self.all
    }

    /// Whether there were finite flows and none of them is still under way; a load without
    /// end does not keep a run going.
    #[inline]
    pub fn done(&self) -> bool {
        self.any_finite && self.unfinished == 0
    }
}

impl Application for Flows {
    #[inline]
    fn on_packet(&mut self, network: &mut Network, events: &mut EventQueue<Event>, id: PacketId) {
        let packet = &network.packets[id];
        let (number, ecn) = (packet.flow.0, packet.ecn);
        let Some(flow) = self.all.get_mut(packet.flow.index()) else {
            return;
        };
        let at_destination = !packet.reverse;
        if at_destination {
            flow.delivery.add(events.now(), packet);
        }
        match &mut flow.transport {
            Some(Transport::Tcp(tcp)) => {
                tcp.on_packet(at_destination, events, &mut self.segments, id, ecn);
                tcp.pump(
                    at_destination,
                    network,
                    events,
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
            flow.finished = Some(events.now());
            self.unfinished -= 1;
        }
    }

    fn on_event(
        &mut self,
        network: &mut Network,
        events: &mut EventQueue<Event>,
        id: u32,
        token: u32,
    ) {
        let Some(flow) = self.all.get_mut(id as usize) else {
            return;
        };
        let (segments, spec) = (&mut self.segments, &flow.spec);
        match (token, &mut flow.transport) {
            (START, _) => match &spec.transport {
                TransportSpec::Tcp(config) => {
                    let mut tcp =
                        Box::new(TcpFlow::open(config, spec.size_bytes, events, flow.timers));
                    tcp.pump(false, network, events, segments, id, spec);
                    flow.transport = Some(Transport::Tcp(tcp));
                }
                TransportSpec::Udp(config) => {
                    let periods = self.streams.stream(&format!("flow{id}"), "on-off");
                    let mut udp = Box::new(UdpFlow::new(*config, spec.size_bytes, periods));
                    udp.emit(network, events, flow.timers[0], id, spec);
                    flow.transport = Some(Transport::Udp(udp));
                }
            },
            (_, Some(Transport::Tcp(tcp))) => {
                let receiver = token == SINK;
                tcp.on_timer(receiver, events);
                tcp.pump(receiver, network, events, segments, id, spec);
                let gave_up = tcp.sender().is_failed() && flow.finished.is_none();
                if gave_up && !flow.failed {
                    flow.failed = true;
                    self.unfinished -= usize::from(spec.size_bytes.is_some());
                }
            }
            (_, Some(Transport::Udp(udp))) => {
                udp.emit(network, events, flow.timers[0], id, spec);
            }
            (_, None) => {}
        }
    }
}
