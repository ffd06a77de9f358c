//! Captures: the packets that pass a node as bytes of a real link, in one pcapng file per node.
//!
//! Packets have no bytes in the simulation; their headers are written here from their fields. A
//! file has headers and complete routing messages; payload is omitted and its size recorded. Node
//! number n has the address 10.0.0.0 + n, as in the messages of routing protocols.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use backlane_engine::Interrupt;
use backlane_net::packet::{IPV4_HEADER_BYTES, IPV6_HEADER_BYTES, UDP_HEADER_BYTES};
use backlane_net::{
    AirFrame, Capture, CapturePoint, Ecn, FlowId, Network, NodeId, Packet, Port, TransportHeader,
};
use backlane_record::pcapng::{LinkType, Pcapng};
use backlane_traffic::address;

use crate::sink::{CAPTURE_BYTES, CAPTURES_BYTES, Sink};

const UDP: u8 = 17;
const OSPF: u8 = 89;
/// For experiments (RFC 3692): the protocol of messages that have no IP header of their own.
const BARE: u8 = 253;
const BROADCAST: u32 = u32::MAX;

/// The UDP port of routing messages: those of OLSR (RFC 3626 §18), AODV (RFC 3561 §5) and Babel
/// (RFC 8966 §5) are assigned; other protocols use a reserved one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum MessagePort {
    Olsr = 698,
    Aodv = 654,
    /// OSPF has no port: its packets are IP datagrams of protocol 89. The port is that of BFD
    /// (RFC 5881 §4).
    Ospf = 3784,
    Babel = 6696,
    Other = 49_151,
}

/// Files by node, shared with the network that fills them.
#[derive(Clone)]
pub(crate) struct Captures(Arc<Mutex<Files>>);

struct Files {
    names: Vec<String>,
    message_port: u16,
    /// Bytes of all files not yet passed to the sink.
    held_bytes: usize,
    /// By node: the file, and the numbers of the ports in it.
    by_node: BTreeMap<NodeId, (Pcapng, BTreeMap<Port, u32>)>,
}

impl Captures {
    /// Captures at these nodes; `names` are those of all nodes.
    pub(crate) fn set(
        network: &mut Network,
        nodes: &[NodeId],
        names: Vec<String>,
        port: MessagePort,
    ) -> Self {
        let files: BTreeMap<_, _> = nodes
            .iter()
            .map(|&node| {
                let name = &names[node.index()];
                let comment = format!(
                    "What passed at {name}. Node n of the scenario is 10.0.0.0 + n; sizes are \
                     those on the link, payload is not kept."
                );
                let application = concat!("backlane ", env!("CARGO_PKG_VERSION"));
                let mut file = Pcapng::new(application, &comment);
                let named = names.iter().enumerate();
                file.names(named.map(|(node, name)| (address(NodeId(node as u32)), name.as_str())));
                (node, (file, BTreeMap::new()))
            })
            .collect();
        let captures = Self(Arc::new(Mutex::new(Files {
            names,
            message_port: port as u16,
            held_bytes: files.values().map(|(file, _)| file.held_bytes()).sum(),
            by_node: files,
        })));
        network.set_capture(nodes, Box::new(captures.clone()));
        captures
    }

    fn files(&self) -> MutexGuard<'_, Files> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The files, by the node's name; those without bytes were passed to the sink before.
    pub(crate) fn take(&self) -> Vec<(String, Vec<u8>)> {
        let files = &mut *self.files();
        files
            .by_node
            .iter_mut()
            .filter(|(_, (file, _))| file.held_bytes() > 0)
            .map(|(node, (file, _))| (files.names[node.index()].clone(), file.take()))
            .collect()
    }

    /// How much of a file is handed over together, so that all of them together do not hold too
    /// much.
    pub(crate) fn piece_bytes(&self) -> usize {
        let files = self.files().by_node.len();
        CAPTURE_BYTES.min(CAPTURES_BYTES / files.max(1))
    }

    /// Hands over what files hold more than `least_bytes`.
    pub(crate) fn hand_over(
        &self,
        sink: &mut dyn Sink,
        least_bytes: usize,
    ) -> Result<(), Interrupt> {
        let files = &mut *self.files();
        if files.held_bytes <= least_bytes {
            return Ok(());
        }
        for (node, (file, _)) in &mut files.by_node {
            if file.held_bytes() > least_bytes {
                files.held_bytes -= file.held_bytes();
                sink.capture(&files.names[node.index()], file.take())?;
            }
        }
        Ok(())
    }
}

impl Capture for Captures {
    fn on_packet(&mut self, point: &CapturePoint, packet: &Packet, transport: &TransportHeader) {
        let mut files = self.files();
        let (bytes, size) = ip_bytes(packet, transport, files.message_port);
        files.write(point, LinkType::RAW, &bytes, size);
    }

    fn on_frame(
        &mut self,
        point: &CapturePoint,
        frame: &AirFrame,
        packet: Option<(&Packet, &TransportHeader)>,
    ) {
        let mut files = self.files();
        let mut bytes = frame.header.clone();
        let mut size = bytes.len() as u32;
        if let Some((packet, transport)) = packet {
            let (ip, ip_size) = ip_bytes(packet, transport, files.message_port);
            bytes.extend_from_slice(&ip);
            size += ip_size;
        }
        files.write(point, LinkType(frame.link_type), &bytes, size);
    }
}

impl Files {
    fn write(&mut self, point: &CapturePoint, link: LinkType, bytes: &[u8], size: u32) {
        let Some((file, ports)) = self.by_node.get_mut(&point.node) else {
            return;
        };
        let before = file.held_bytes();
        let port = *ports.entry(point.port).or_insert_with(|| {
            let name = match point.port {
                Port::Wire(NodeId::NONE) => "cell".to_owned(),
                Port::Wire(peer) => format!("to {}", self.names[peer.index()]),
                Port::Radio(radio) => format!("radio {radio}"),
                Port::Medium => "radio access".to_owned(),
            };
            file.interface(&name, link)
        });
        let nanoseconds = point.at.as_ps() / 1000;
        file.packet(port, nanoseconds, point.sent, bytes, size);
        self.held_bytes += file.held_bytes() - before;
    }
}

/// IP and transport headers, a routing message whole, and the packet's size. A message on a data
/// packet does not count in the packet's own length; it is written after a packet without payload.
/// A message that is the payload of a frame, without IP, is written as an IP packet of protocol 253.
fn ip_bytes(packet: &Packet, transport: &TransportHeader, message_port: u16) -> (Vec<u8>, u32) {
    let message = packet.message.as_deref().unwrap_or_default();
    let is_message = packet.flow == FlowId::NONE;
    let riding = if is_message { 0 } else { message.len() as u32 };
    let over_ipv6 = IPV6_HEADER_BYTES + UDP_HEADER_BYTES + message.len() as u32;
    if is_message && packet.size_bytes == over_ipv6 {
        return (ipv6_bytes(packet, message, message_port), packet.size_bytes);
    }
    let is_frame = is_message && packet.size_bytes == message.len() as u32;
    let size = packet.size_bytes + if is_frame { IPV4_HEADER_BYTES } else { 0 };
    let length = size - riding;
    let bare = size == IPV4_HEADER_BYTES + message.len() as u32;
    let (protocol, mut header) = if is_frame {
        (BARE, Vec::new())
    } else if is_message && bare {
        (OSPF, Vec::new())
    } else if is_message {
        (UDP, message_header(message_port, message.len()))
    } else {
        (transport.protocol, transport.header.clone())
    };
    let destination = if packet.destination == NodeId::NONE {
        BROADCAST
    } else {
        address(packet.destination)
    };
    let source = address(packet.source);

    let ecn = match packet.ecn {
        Ecn::NotCapable => 0,
        Ecn::Capable => 2,
        Ecn::Marked => 3,
    };
    let mut bytes = vec![0x45, ecn];
    bytes.extend_from_slice(&u16::try_from(length).unwrap_or(u16::MAX).to_be_bytes());
    bytes.extend_from_slice(&(packet.sequence as u16).to_be_bytes());
    // Don't Fragment is set: there is no fragmentation here.
    bytes.extend_from_slice(&[0x40, 0, packet.ttl, protocol, 0, 0]);
    bytes.extend_from_slice(&source.to_be_bytes());
    bytes.extend_from_slice(&destination.to_be_bytes());
    let sum = checksum(&[&bytes]);
    bytes[10..12].copy_from_slice(&sum.to_be_bytes());

    let own_message: &[u8] = if is_message { message } else { &[] };
    let place = match protocol {
        6 => Some(16),
        UDP => Some(6),
        _ => None,
    };
    if let Some(place) = place.filter(|place| header.len() >= place + 2) {
        // The payload is zeros, which add nothing to the sum.
        let transport_bytes = (length - IPV4_HEADER_BYTES) as u16;
        let [hi, lo] = transport_bytes.to_be_bytes();
        let pseudo = [0, protocol, hi, lo];
        let parts: [&[u8]; 4] = [&bytes[12..20], &pseudo, &header, own_message];
        let sum = match checksum(&parts) {
            // Zero would say that there is none (RFC 768).
            0 if protocol == UDP => u16::MAX,
            sum => sum,
        };
        header[place..place + 2].copy_from_slice(&sum.to_be_bytes());
    }
    bytes.append(&mut header);
    // Bytes after omitted payload would be decoded as payload.
    if is_message || bytes.len() == length as usize {
        bytes.extend_from_slice(message);
    }
    (bytes, size)
}

/// A routing message in a UDP datagram over IPv6 between link-local addresses.
fn ipv6_bytes(packet: &Packet, message: &[u8], message_port: u16) -> Vec<u8> {
    let mut header = message_header(message_port, message.len());
    let mut bytes = vec![0x60, 0, 0, 0];
    let length = (header.len() + message.len()) as u16;
    bytes.extend(length.to_be_bytes());
    // These datagrams do not leave their link.
    bytes.extend([UDP, 1]);
    bytes.extend(link_local(packet.source));
    bytes.extend(match packet.destination {
        NodeId::NONE => ALL_BABEL_ROUTERS,
        destination => link_local(destination),
    });
    let [high, low] = length.to_be_bytes();
    let pseudo = [0, 0, high, low, 0, 0, 0, UDP];
    let sum = match checksum(&[&bytes[8..40], &pseudo, &header, message]) {
        0 => u16::MAX,
        sum => sum,
    };
    header[6..8].copy_from_slice(&sum.to_be_bytes());
    bytes.append(&mut header);
    bytes.extend_from_slice(message);
    bytes
}

/// ff02::1:6 (RFC 8966 §5).
const ALL_BABEL_ROUTERS: [u8; 16] = [0xff, 2, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 6];

/// The address that IHUs name: fe80::200:ff:fe00:0 + n.
fn link_local(node: NodeId) -> [u8; 16] {
    let [_, a, b, c] = node.0.to_be_bytes();
    [0xfe, 0x80, 0, 0, 0, 0, 0, 0, 2, 0, 0, 0xff, 0xfe, a, b, c]
}

fn message_header(port: u16, message_bytes: usize) -> Vec<u8> {
    let length = (UDP_HEADER_BYTES as usize + message_bytes) as u16;
    let fields = [port, port, length, 0];
    fields
        .iter()
        .flat_map(|field| field.to_be_bytes())
        .collect()
}

/// The Internet checksum over parts of even length, but for the last (RFC 1071).
fn checksum(parts: &[&[u8]]) -> u16 {
    let mut sum = 0u32;
    for part in parts {
        for pair in part.chunks(2) {
            let low = pair.get(1).copied().unwrap_or(0);
            sum += u32::from(u16::from_be_bytes([pair[0], low]));
        }
    }
    while sum > 0xffff {
        sum = (sum & 0xffff) + (sum >> 16);
    }
    !(sum as u16)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn packet() -> Packet {
        Packet {
            hops: 1,
            sequence: 7,
            ..Packet::new(FlowId(0), NodeId(1), NodeId(2), 48)
        }
    }

    #[test]
    fn the_checksum_is_that_of_rfc_1071() {
        // The example of its §3: the sum is ddf2.
        let bytes = [0x00, 0x01, 0xf2, 0x03, 0xf4, 0xf5, 0xf6, 0xf7];
        assert_eq!(checksum(&[&bytes]), !0xddf2);
        assert_eq!(checksum(&[&bytes[..4], &bytes[4..]]), !0xddf2);
    }

    #[test]
    fn headers_sum_to_zero_and_tell_the_size() {
        let transport = TransportHeader {
            protocol: UDP,
            header: vec![0xc0, 0, 0x13, 0x89, 0, 28, 0, 0],
        };
        let (bytes, size) = ip_bytes(&packet(), &transport, 654);
        assert_eq!((bytes.len(), size), (28, 48));
        assert_eq!(bytes[2..4], [0, 48]);
        assert_eq!(checksum(&[&bytes[..20]]), 0);
        let pseudo = [0, UDP, 0, 28];
        assert_eq!(checksum(&[&bytes[12..20], &pseudo, &bytes[20..]]), 0);
    }

    #[test]
    fn a_message_over_ipv6_has_its_header_and_checksum() {
        let packet = Packet {
            flow: FlowId::NONE,
            size_bytes: 53,
            message: Some([1u8, 2, 3, 4, 5].as_slice().into()),
            ..packet()
        };
        let transport = TransportHeader {
            protocol: UDP,
            header: Vec::new(),
        };
        let (bytes, size) = ip_bytes(&packet, &transport, 6696);
        assert_eq!((bytes.len(), size), (53, 53));
        assert_eq!(bytes[..8], [0x60, 0, 0, 0, 0, 13, UDP, 1]);
        let pseudo = [0, 0, 0, 13, 0, 0, 0, UDP];
        assert_eq!(checksum(&[&bytes[8..40], &pseudo, &bytes[40..]]), 0);
    }

    #[test]
    fn a_message_on_a_packet_is_not_of_its_length() {
        let mut packet = packet();
        packet.size_bytes += 5;
        packet.message = Some([1u8, 2, 3, 4, 5].as_slice().into());
        let transport = TransportHeader {
            protocol: UDP,
            header: vec![0xc0, 0, 0x13, 0x89, 0, 28, 0, 0],
        };
        let (bytes, size) = ip_bytes(&packet, &transport, 654);
        assert_eq!(
            (bytes.len(), size),
            (28, 53),
            "the payload is left out before it"
        );
        assert_eq!(bytes[2..4], [0, 48]);
        packet.size_bytes -= 20;
        let (bytes, size) = ip_bytes(&packet, &transport, 654);
        assert_eq!((bytes.len(), size), (33, 33));
        assert_eq!(bytes[2..4], [0, 28]);
        assert_eq!(bytes[28..], [1, 2, 3, 4, 5]);
    }
}
