//! What passes at chosen nodes, for whoever writes it down.
//!
//! A capture is told of every packet that a node sends or receives: over a wire when it enters
//! the queue and when it arrives, over a medium when it is handed over and when it comes out. A
//! medium whose frames are known tells of the frames instead, each when it begins or has been
//! decoded ([`crate::MediumContext::capture_frame`]). Telling changes nothing in the run. Where nobody
//! asked, it costs one comparison.

use backlane_engine::EventQueue;
use backlane_units::{Duration, SimTime};

use crate::application::Application;
use crate::medium::MediumContext;
use crate::network::Network;
use crate::packet::{FlowId, LinkId, NodeId, Packet, PacketId};
use crate::simulation::Event;

/// Where a node sends and receives.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Port {
    /// A wire to a node; a shared pipe has [`NodeId::NONE`] at its far end.
    Wire(NodeId),
    /// A radio, by number.
    Radio(u8),
    /// A medium whose frames are not told of.
    Medium,
}

/// When and where something was seen.
#[derive(Clone, Copy, Debug)]
pub struct CapturePoint {
    /// The simulated time.
    pub at: SimTime,
    /// The node.
    pub node: NodeId,
    /// Which of its ports.
    pub port: Port,
    /// It was sent there, not received.
    pub sent: bool,
}

/// The kinds of frames of 802.11 that are told of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FrameKind {
    /// Data, or a broadcast.
    Data,
    /// Request to send.
    Rts,
    /// Clear to send.
    Cts,
    /// Acknowledgment.
    Ack,
}

/// A frame on the air.
#[derive(Clone, Copy, Debug)]
pub struct AirFrame {
    /// What it is.
    pub kind: FrameKind,
    /// Node and radio that sent it.
    pub from: (NodeId, u8),
    /// Node and radio that it is for; `None`: all.
    pub to: Option<(NodeId, u8)>,
    /// How long it reserves the channel after its end.
    pub reserves: Duration,
    /// It was sent before.
    pub retry: bool,
}

/// What is seen goes here.
pub trait Capture {
    /// A packet on a wire, or in a medium whose frames are not told of. `transport` are the IP
    /// protocol number of what the packet carries and the transport header's bytes, as far as
    /// they are known ([`Application::transport_header`]).
    fn on_packet(&mut self, seen: &CapturePoint, packet: &Packet, transport: &TransportHeader);

    /// A frame on the air; `packet` is what a data frame carries, where it is still known.
    fn on_frame(
        &mut self,
        seen: &CapturePoint,
        frame: &AirFrame,
        packet: Option<(&Packet, &TransportHeader)>,
    );
}

/// The transport header of a packet.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TransportHeader {
    /// The number in the IP header; 0: not known.
    pub protocol: u8,
    /// The header, options included; the checksum is left at zero.
    pub header: Vec<u8>,
}

/// Something that was seen and not told yet.
pub(crate) struct Note {
    seen: CapturePoint,
    packet: Option<(PacketId, Packet)>,
    frame: Option<AirFrame>,
}

/// CaptureQueue of a network, on their way to the capture.
#[derive(Default)]
pub(crate) struct CaptureQueue {
    /// By node; empty: nobody asked.
    nodes: Vec<bool>,
    pub(crate) pending: Vec<Note>,
    capture: Option<Box<dyn Capture>>,
}

impl CaptureQueue {
    /// Whether any node is captured.
    #[inline]
    pub(crate) fn is_on(&self) -> bool {
        !self.nodes.is_empty()
    }

    #[inline]
    pub(crate) fn is_captured(&self, node: NodeId) -> bool {
        !self.nodes.is_empty() && self.nodes.get(node.index()).is_some_and(|asked| *asked)
    }
}

impl Network {
    /// Tells `capture` of what passes at these nodes from now on.
    pub fn set_capture(&mut self, nodes: &[NodeId], capture: Box<dyn Capture>) {
        let mut asked = vec![false; self.node_count()];
        for node in nodes {
            asked[node.index()] = true;
        }
        self.captured.nodes = asked;
        self.captured.capture = Some(capture);
    }

    #[cold]
    pub(crate) fn note_packet(&mut self, seen: CapturePoint, id: PacketId) {
        if self.captured.is_captured(seen.node) {
            let packet = self.packets[id].clone();
            self.captured.pending.push(Note {
                seen,
                packet: Some((id, packet)),
                frame: None,
            });
        }
    }

    /// A packet has entered the queue of a wire, and some nodes are captured.
    #[cold]
    pub(crate) fn note_sent(&mut self, events: &EventQueue<Event>, link: LinkId, id: PacketId) {
        let link = &self.links[link.index()];
        let (from, to) = (link.from, link.to);
        let node = if from == NodeId::NONE {
            self.packets[id].source
        } else {
            from
        };
        let seen = CapturePoint {
            at: events.now(),
            node,
            port: Port::Wire(to),
            sent: true,
        };
        self.note_packet(seen, id);
    }

    /// Tells of what was seen since the last time. The transport headers of packets that are
    /// gone by now, and whose place another has, are not known any more.
    #[cold]
    pub(crate) fn tell_capture(&mut self, application: &impl Application) {
        let mut captured = std::mem::take(&mut self.captured.pending);
        for note in captured.drain(..) {
            let Some(capture) = &mut self.captured.capture else {
                break;
            };
            let packet = note.packet.as_ref().map(|(id, packet)| {
                let here = &self.packets[*id];
                let same = (here.flow_key(), here.sequence) == (packet.flow_key(), packet.sequence);
                let transport = if same && packet.flow != FlowId::NONE {
                    application.transport_header(*id, packet)
                } else {
                    TransportHeader::default()
                };
                (packet, transport)
            });
            match (&note.frame, &packet) {
                (Some(frame), packet) => {
                    let packet = packet
                        .as_ref()
                        .map(|(packet, transport)| (*packet, transport));
                    capture.on_frame(&note.seen, frame, packet);
                }
                (None, Some((packet, transport))) => {
                    capture.on_packet(&note.seen, packet, transport);
                }
                (None, None) => {}
            }
        }
        self.captured.pending = captured;
    }
}

impl MediumContext<'_> {
    /// Whether frames that pass at a node are to be told of.
    #[inline]
    pub fn is_captured(&self, node: NodeId) -> bool {
        self.network().captured.is_captured(node)
    }

    /// Whether frames are to be told of at any node.
    #[inline]
    pub fn is_capturing(&self) -> bool {
        self.network().captured.is_on()
    }

    /// A radio of a node sends a frame, or has decoded one; `packet` is what a data frame
    /// carries, if the medium or its far end still has it. Worth calling only where
    /// [`MediumContext::is_captured`].
    pub fn capture_frame(
        &mut self,
        node: NodeId,
        radio: u8,
        sent: bool,
        frame: AirFrame,
        packet: Option<PacketId>,
    ) {
        let at = self.now();
        let network = self.network_mut();
        let packet = packet.map(|id| (id, network.packets[id].clone()));
        network.captured.pending.push(Note {
            seen: CapturePoint {
                at,
                node,
                port: Port::Radio(radio),
                sent,
            },
            packet,
            frame: Some(frame),
        });
    }
}
