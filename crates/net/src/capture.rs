//! Captures: the packets and frames that pass at chosen nodes.
//!
//! A capture gets every packet that a node sends or receives: over a wire when it enters the
//! queue and when it arrives, over a medium when it is handed over and when it leaves. A medium
//! that knows its frames reports the frames instead, each when it begins or was decoded
//! ([`crate::MediumContext::capture_frame`]). A capture does not change the run. Without one,
//! the cost is one comparison.

use backlane_units::SimTime;

use crate::packet::{FlowId, NodeId, Packet, PacketId, PacketStore};

/// Where a node sends and receives.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Port {
    /// A wire to a node; a shared pipe has [`NodeId::NONE`] at its far end.
    Wire(NodeId),
    /// A radio, by number.
    Radio(u8),
    /// A medium that does not report its frames.
    Medium,
}

/// When and where something was captured.
#[derive(Clone, Copy, Debug)]
pub struct CapturePoint {
    /// The simulated time.
    pub at: SimTime,
    /// The node.
    pub node: NodeId,
    /// Which of its ports.
    pub port: Port,
    /// Sent there, not received.
    pub sent: bool,
}

/// A frame on the air, as its medium encodes it.
#[derive(Clone, Debug)]
pub struct AirFrame {
    /// The format of the header: a `LINKTYPE_` number of the pcap registry.
    pub link_type: u16,
    /// The bytes before the packet.
    pub header: Vec<u8>,
}

/// A receiver of what is captured.
pub trait Capture: Send {
    /// A packet on a wire, or in a medium that does not report its frames. `transport` has the
    /// IP protocol number and the transport header's bytes, as far as they are known
    /// ([`crate::Application::transport_header`]).
    fn on_packet(&mut self, point: &CapturePoint, packet: &Packet, transport: &TransportHeader);

    /// A frame on the air; `packet` follows its header, where it is still known.
    fn on_frame(
        &mut self,
        point: &CapturePoint,
        frame: &AirFrame,
        packet: Option<(&Packet, &TransportHeader)>,
    );
}

/// The transport header of a packet.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TransportHeader {
    /// The number in the IP header; 0 if unknown.
    pub protocol: u8,
    /// The header, options included; the checksum is left at zero.
    pub header: Vec<u8>,
}

/// A captured packet or frame that was not passed on yet.
struct Record {
    point: CapturePoint,
    packet: Option<(PacketId, Packet)>,
    frame: Option<AirFrame>,
}

/// The records of a network on their way to the capture.
#[derive(Default)]
pub(crate) struct CaptureQueue {
    /// Whether a node is captured, by node; empty without a capture.
    nodes: Vec<bool>,
    pending: Vec<Record>,
    capture: Option<Box<dyn Capture>>,
}

impl CaptureQueue {
    /// Captures at these nodes, out of `node_count`.
    pub(crate) fn set(&mut self, nodes: &[NodeId], node_count: usize, capture: Box<dyn Capture>) {
        self.nodes = vec![false; node_count];
        for node in nodes {
            self.nodes[node.index()] = true;
        }
        self.capture = Some(capture);
    }

    /// Whether any node is captured.
    #[inline]
    pub(crate) fn is_on(&self) -> bool {
        !self.nodes.is_empty()
    }

    /// Whether all records have been passed on.
    #[inline]
    pub(crate) fn is_flushed(&self) -> bool {
        self.pending.is_empty()
    }

    #[inline]
    pub(crate) fn is_captured(&self, node: NodeId) -> bool {
        !self.nodes.is_empty() && self.nodes.get(node.index()).is_some_and(|on| *on)
    }

    /// Records a packet if its node is captured.
    #[cold]
    pub(crate) fn push_packet(&mut self, point: CapturePoint, id: PacketId, packets: &PacketStore) {
        if self.is_captured(point.node) {
            self.pending.push(Record {
                point,
                packet: Some((id, packets[id].clone())),
                frame: None,
            });
        }
    }

    /// Records a frame at a radio.
    pub(crate) fn push_frame(
        &mut self,
        at: SimTime,
        (node, radio): (NodeId, u8),
        sent: bool,
        frame: AirFrame,
        packet: Option<(PacketId, Packet)>,
    ) {
        self.pending.push(Record {
            point: CapturePoint {
                at,
                node,
                port: Port::Radio(radio),
                sent,
            },
            packet,
            frame: Some(frame),
        });
    }

    /// Passes the records on. The transport header of a packet that was freed, and whose handle
    /// names another packet now, is not known any more.
    #[cold]
    pub(crate) fn flush(
        &mut self,
        packets: &PacketStore,
        transport_header: impl Fn(PacketId, &Packet) -> TransportHeader,
    ) {
        let Some(capture) = &mut self.capture else {
            return;
        };
        for record in self.pending.drain(..) {
            let packet = record.packet.as_ref().map(|(id, packet)| {
                let here = &packets[*id];
                let same = (here.flow_key(), here.sequence) == (packet.flow_key(), packet.sequence);
                let transport = if same && packet.flow != FlowId::NONE {
                    transport_header(*id, packet)
                } else {
                    TransportHeader::default()
                };
                (packet, transport)
            });
            match (&record.frame, &packet) {
                (Some(frame), packet) => {
                    let packet = packet
                        .as_ref()
                        .map(|(packet, transport)| (*packet, transport));
                    capture.on_frame(&record.point, frame, packet);
                }
                (None, Some((packet, transport))) => {
                    capture.on_packet(&record.point, packet, transport);
                }
                (None, None) => {}
            }
        }
    }
}
