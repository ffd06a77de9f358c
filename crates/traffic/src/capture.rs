//! Transport headers as bytes, for captures.

use backlane_net::packet::{IPV4_HEADER_BYTES, UDP_HEADER_BYTES};
use backlane_net::{Packet, PacketId, TransportHeader};
use backlane_tcp::{Flags, Segment};

use crate::addresses::{SERVER_PORT, client_port};
use crate::flows::Flows;
use crate::spec::TransportSpec;

const TCP: u8 = 6;
const UDP: u8 = 17;
/// RFC 3692: reserved for experiments. The coding layer's packets are not an Internet protocol.
const EXPERIMENT: u8 = 253;
/// The shift that SYNs announce, Linux's for a receive buffer of 6 MB (RFC 7323 §2.2).
const WINDOW_SHIFT: u8 = 7;

impl Flows {
    /// The transport header of a flow's packet.
    pub(crate) fn header_of(&self, id: PacketId, packet: &Packet) -> TransportHeader {
        let Some(flow) = self.flows().get(packet.flow.index()) else {
            return TransportHeader::default();
        };
        let client = client_port(packet.flow.0);
        let ports = if packet.reverse {
            [SERVER_PORT, client]
        } else {
            [client, SERVER_PORT]
        };
        let (config, segment) = match &flow.spec.transport {
            TransportSpec::Udp(config) => {
                return TransportHeader {
                    protocol: UDP,
                    header: udp_header(ports, config.packet_bytes + UDP_HEADER_BYTES),
                };
            }
            // Within the mesh a packet may be larger than its source sent it.
            TransportSpec::Source(_) => {
                return TransportHeader {
                    protocol: UDP,
                    header: udp_header(ports, packet.size_bytes - IPV4_HEADER_BYTES),
                };
            }
            TransportSpec::External => return self.header_outside(id),
            TransportSpec::Tcp(config) => (config, self.segments().plain(id, false)),
            TransportSpec::CodedTcp(config, _) => (config, self.segments().plain(id, true)),
        };
        match segment {
            Some(segment) => TransportHeader {
                protocol: TCP,
                header: tcp_header(ports, segment, config.mss_bytes()),
            },
            None => TransportHeader {
                protocol: EXPERIMENT,
                header: Vec::new(),
            },
        }
    }
}

/// RFC 768; the checksum is left at zero.
fn udp_header(ports: [u16; 2], length: u32) -> Vec<u8> {
    let mut header = Vec::with_capacity(8);
    for port in ports {
        header.extend_from_slice(&port.to_be_bytes());
    }
    let length = u16::try_from(length).unwrap_or(u16::MAX);
    header.extend_from_slice(&length.to_be_bytes());
    header.extend_from_slice(&[0, 0]);
    header
}

/// RFC 9293 §3.1 with the options that Linux sends, in Linux's layout; the checksum is left at
/// zero. Sequence numbers begin at zero.
fn tcp_header(ports: [u16; 2], segment: &Segment, mss_bytes: u32) -> Vec<u8> {
    let has_timestamps = segment.ts_val != 0;
    let mut options: Vec<u8> = Vec::new();
    let timestamps = |options: &mut Vec<u8>| {
        options.extend_from_slice(&[8, 10]);
        options.extend_from_slice(&segment.ts_val.to_be_bytes());
        options.extend_from_slice(&segment.ts_ecr.to_be_bytes());
    };
    let syn = segment.flags.contains(Flags::SYN);
    if syn {
        // The value in the option excludes the space for options (RFC 6691 §2).
        let room = if has_timestamps { 12 } else { 0 };
        let mss = u16::try_from(mss_bytes + room).unwrap_or(u16::MAX);
        options.extend_from_slice(&[2, 4]);
        options.extend_from_slice(&mss.to_be_bytes());
        if has_timestamps {
            options.extend_from_slice(&[4, 2]);
            timestamps(&mut options);
        } else {
            options.extend_from_slice(&[1, 1, 4, 2]);
        }
        options.extend_from_slice(&[1, 3, 3, WINDOW_SHIFT]);
    } else {
        if has_timestamps {
            options.extend_from_slice(&[1, 1]);
            timestamps(&mut options);
        }
        if !segment.sack.is_empty() {
            options.extend_from_slice(&[1, 1, 5, 2 + 8 * segment.sack.len() as u8]);
            for block in segment.sack.iter(segment.ack) {
                options.extend_from_slice(&(block.start as u32).to_be_bytes());
                options.extend_from_slice(&(block.end as u32).to_be_bytes());
            }
        }
    }
    let mut header = Vec::with_capacity(20 + options.len());
    for port in ports {
        header.extend_from_slice(&port.to_be_bytes());
    }
    header.extend_from_slice(&(segment.seq as u32).to_be_bytes());
    let ack = if segment.flags.contains(Flags::ACK) {
        segment.ack as u32
    } else {
        0
    };
    header.extend_from_slice(&ack.to_be_bytes());
    let words = (20 + options.len()) / 4;
    header.extend_from_slice(&[(words as u8) << 4, segment.flags.bits()]);
    let shift = if syn { 0 } else { WINDOW_SHIFT };
    let window = u16::try_from(segment.window_bytes >> shift).unwrap_or(u16::MAX);
    header.extend_from_slice(&window.to_be_bytes());
    header.extend_from_slice(&[0, 0, 0, 0]);
    header.append(&mut options);
    header
}
