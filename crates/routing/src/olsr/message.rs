//! The bytes of OLSR: packets, messages, HELLO and TC (RFC 3626 §3.3, §6.1, §9.1, §18).
//!
//! All fields are big endian. Reading is total: whatever the bytes, it yields the messages that
//! are whole and ends at the first that is not.

use backlane_net::NodeId;

pub use super::link_code::{LinkCode, LinkType, NeighbourType};
pub use super::time_code::TimeCode;

/// Bytes of a packet's header: length and sequence number (RFC 3626 §3.3).
pub const PACKET_HEADER_BYTES: usize = 4;
/// Bytes of a message's header.
pub const MESSAGE_HEADER_BYTES: usize = 12;
/// The message type of a HELLO (RFC 3626 §18.4).
pub const HELLO: u8 = 1;
/// The message type of a TC.
pub const TC: u8 = 2;
/// The willingness of a node that never relays for others (RFC 3626 §18.8).
pub const WILL_NEVER: u8 = 0;
/// The willingness of a node that was told nothing about it.
pub const WILL_DEFAULT: u8 = 3;
/// The willingness of a node that always relays for others.
pub const WILL_ALWAYS: u8 = 7;

/// Nodes have the addresses 10.0.0.0 + number.
const NETWORK: u32 = 10 << 24;
/// A message's size is a 16-bit field; what does not fit is left out of a list. A node would
/// need sixteen thousand wires for that.
const LIST_MAX: usize = (u16::MAX as usize - MESSAGE_HEADER_BYTES - 8) / 4;

/// The main address of a node, 10.0.0.0 + its number. Numbers beyond 24 bits do not occur: the
/// event queue has fewer timers.
pub fn address(node: NodeId) -> u32 {
    NETWORK | (node.0 & 0x00ff_ffff)
}

fn node(bytes: [u8; 4]) -> Option<NodeId> {
    let address = u32::from_be_bytes(bytes);
    (address >> 24 == NETWORK >> 24).then_some(NodeId(address & 0x00ff_ffff))
}

fn nodes(bytes: &[u8]) -> impl Iterator<Item = NodeId> + '_ {
    bytes
        .chunks_exact(4)
        .filter_map(|chunk| node(chunk.try_into().ok()?))
}

/// One message of a packet, its body still as bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Message<'a> {
    /// [`HELLO`], [`TC`] or something that we do not know but pass on.
    pub kind: u8,
    /// How long the receiver may believe it.
    pub validity: TimeCode,
    /// Who made it.
    pub originator: NodeId,
    /// How many more hops it may travel.
    pub ttl: u8,
    /// How many hops it has travelled.
    pub hops: u8,
    /// Its number among the originator's messages.
    pub sequence: u16,
    /// What follows the header.
    pub body: &'a [u8],
}

impl Message<'_> {
    /// Appends the message to a packet.
    pub fn encode(&self, out: &mut Vec<u8>) {
        let size = (MESSAGE_HEADER_BYTES + self.body.len()) as u16;
        out.extend_from_slice(&[self.kind, self.validity.0]);
        out.extend_from_slice(&size.to_be_bytes());
        out.extend_from_slice(&address(self.originator).to_be_bytes());
        out.extend_from_slice(&[self.ttl, self.hops]);
        out.extend_from_slice(&self.sequence.to_be_bytes());
        out.extend_from_slice(self.body);
    }
}

/// A packet's header and messages.
pub fn encode_packet(sequence: u16, messages: &[&[u8]]) -> Vec<u8> {
    let size = PACKET_HEADER_BYTES + messages.iter().map(|m| m.len()).sum::<usize>();
    let mut out = Vec::with_capacity(size);
    out.extend_from_slice(&(size as u16).to_be_bytes());
    out.extend_from_slice(&sequence.to_be_bytes());
    for message in messages {
        out.extend_from_slice(message);
    }
    out
}

/// The messages of a packet, up to the first that is malformed. A message whose originator has
/// no address of ours is passed over.
pub fn messages(packet: &[u8]) -> impl Iterator<Item = Message<'_>> {
    let length = packet
        .first_chunk::<2>()
        .map_or(0, |length| usize::from(u16::from_be_bytes(*length)));
    let mut rest = packet.get(PACKET_HEADER_BYTES..length).unwrap_or_default();
    std::iter::from_fn(move || {
        let header = rest.first_chunk::<MESSAGE_HEADER_BYTES>()?;
        let [kind, vtime, s0, s1, a0, a1, a2, a3, ttl, hops, q0, q1] = *header;
        let size = usize::from(u16::from_be_bytes([s0, s1]));
        let body = rest.get(MESSAGE_HEADER_BYTES..size)?;
        rest = &rest[size..];
        Some(node([a0, a1, a2, a3]).map(|originator| Message {
            kind,
            validity: TimeCode(vtime),
            originator,
            ttl,
            hops,
            sequence: u16::from_be_bytes([q0, q1]),
            body,
        }))
    })
    .flatten()
}

/// The body of a HELLO (RFC 3626 §6.1).
#[derive(Clone, Copy, Debug)]
pub struct Hello<'a> {
    /// How often the originator sends one on this interface.
    pub interval: TimeCode,
    /// How gladly it relays for others, 0 to 7.
    pub willingness: u8,
    links: &'a [u8],
}

impl<'a> Hello<'a> {
    /// Reads a body; nothing if it is too short.
    pub fn decode(body: &'a [u8]) -> Option<Self> {
        let (&[_, _, htime, willingness], links) = body.split_first_chunk()?;
        Some(Self {
            interval: TimeCode(htime),
            willingness,
            links,
        })
    }

    /// Every neighbour listed, with what is said about it.
    pub fn neighbours(&self) -> impl Iterator<Item = (LinkCode, NodeId)> + use<'a> {
        let mut rest = self.links;
        std::iter::from_fn(move || {
            let &[code, _, s0, s1] = rest.first_chunk()?;
            let size = usize::from(u16::from_be_bytes([s0, s1]));
            let list = rest.get(4..size)?;
            rest = &rest[size..];
            Some((code, list))
        })
        .filter_map(|(code, list)| Some((LinkCode::decode(code)?, list)))
        .flat_map(|(code, list)| nodes(list).map(move |node| (code, node)))
    }

    /// Writes a body. `neighbours` with the same code should stand together: each run of them
    /// shares a header.
    pub fn encode(
        interval: TimeCode,
        willingness: u8,
        neighbours: &[(LinkCode, NodeId)],
    ) -> Vec<u8> {
        let mut out = vec![0, 0, interval.0, willingness];
        let neighbours = &neighbours[..neighbours.len().min(LIST_MAX / 2)];
        for run in neighbours.chunk_by(|a, b| a.0 == b.0) {
            let size = (4 + 4 * run.len()) as u16;
            out.extend_from_slice(&[run[0].0.encode(), 0]);
            out.extend_from_slice(&size.to_be_bytes());
            for (_, node) in run {
                out.extend_from_slice(&address(*node).to_be_bytes());
            }
        }
        out
    }
}

/// The body of a TC (RFC 3626 §9.1).
#[derive(Clone, Copy, Debug)]
pub struct TopologyControl<'a> {
    /// The advertised neighbour sequence number.
    pub sequence: u16,
    list: &'a [u8],
}

impl<'a> TopologyControl<'a> {
    /// Reads a body; nothing if it is too short.
    pub fn decode(body: &'a [u8]) -> Option<Self> {
        let (&[s0, s1, _, _], list) = body.split_first_chunk()?;
        Some(Self {
            sequence: u16::from_be_bytes([s0, s1]),
            list,
        })
    }

    /// The neighbours of the originator that it advertises.
    pub fn neighbours(&self) -> impl Iterator<Item = NodeId> + use<'a> {
        nodes(self.list)
    }

    /// Writes a body.
    pub fn encode(sequence: u16, neighbours: impl Iterator<Item = NodeId>) -> Vec<u8> {
        let [s0, s1] = sequence.to_be_bytes();
        let mut out = vec![s0, s1, 0, 0];
        for node in neighbours.take(LIST_MAX) {
            out.extend_from_slice(&address(node).to_be_bytes());
        }
        out
    }
}

/// Whether sequence number `a` is newer than `b`, the numbers going round (RFC 3626 §19).
pub fn newer(a: u16, b: u16) -> bool {
    a != b && a.wrapping_sub(b) <= u16::MAX / 2
}

#[cfg(test)]
mod tests {
    use super::*;
    use backlane_units::Duration;
    use proptest::prelude::*;

    #[test]
    fn sequence_numbers_go_round() {
        assert!(newer(1, 0) && newer(0, u16::MAX) && newer(0x7fff, 0));
        assert!(!newer(0, 1) && !newer(7, 7) && !newer(u16::MAX, 0));
    }

    #[test]
    fn a_packet_of_a_hello_and_a_tc_has_these_bytes() {
        let symmetric = LinkCode {
            link: LinkType::Symmetric,
            neighbour: NeighbourType::Mpr,
        };
        let elsewhere = LinkCode {
            link: LinkType::Unspecified,
            neighbour: NeighbourType::Symmetric,
        };
        let list = [
            (elsewhere, NodeId(2)),
            (elsewhere, NodeId(3)),
            (symmetric, NodeId(256)),
        ];
        let mut hello = Vec::new();
        Message {
            kind: HELLO,
            validity: TimeCode::encode(Duration::from_secs(6)),
            originator: NodeId(1),
            ttl: 1,
            hops: 0,
            sequence: 0x0102,
            body: &Hello::encode(TimeCode(0x05), WILL_DEFAULT, &list),
        }
        .encode(&mut hello);
        let mut tc = Vec::new();
        Message {
            kind: TC,
            validity: TimeCode::encode(Duration::from_secs(15)),
            originator: NodeId(9),
            ttl: 254,
            hops: 1,
            sequence: 0xfffe,
            body: &TopologyControl::encode(0x1234, [NodeId(7)].into_iter()),
        }
        .encode(&mut tc);
        let packet = encode_packet(0xabcd, &[&hello, &tc]);
        #[rustfmt::skip]
        let expected = [
            0, 60, 0xab, 0xcd,
            1, 0x86, 0, 36, 10, 0, 0, 1, 1, 0, 1, 2,
            0, 0, 0x05, 3,
            0b0100, 0, 0, 12, 10, 0, 0, 2, 10, 0, 0, 3,
            0b1010, 0, 0, 8, 10, 0, 1, 0,
            2, 0xe7, 0, 20, 10, 0, 0, 9, 254, 1, 0xff, 0xfe,
            0x12, 0x34, 0, 0, 10, 0, 0, 7,
        ];
        assert_eq!(packet, expected);

        let read: Vec<_> = messages(&packet).collect();
        assert_eq!(read.len(), 2);
        let hello = Hello::decode(read[0].body).unwrap();
        assert_eq!(hello.neighbours().collect::<Vec<_>>(), list);
        assert_eq!((hello.interval, hello.willingness), (TimeCode(0x05), 3));
    }

    #[test]
    fn a_cut_packet_yields_the_messages_that_are_whole() {
        let mut message = Vec::new();
        Message {
            kind: TC,
            validity: TimeCode(0),
            originator: NodeId(0),
            ttl: 1,
            hops: 0,
            sequence: 0,
            body: &[0; 4],
        }
        .encode(&mut message);
        let packet = encode_packet(0, &[&message, &message[..15]]);
        assert_eq!(messages(&packet).count(), 1);
        assert_eq!(messages(&packet[..packet.len() - 1]).count(), 0);
    }

    proptest! {
        #[test]
        fn no_bytes_make_reading_fail(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
            let mut framed = encode_packet(0, &[&bytes]);
            for packet in [&bytes, &framed] {
                for message in messages(packet) {
                    prop_assert!(message.body.len() + MESSAGE_HEADER_BYTES <= packet.len());
                }
            }
            // A plausible size and originator, so that the bodies are reached.
            if framed.len() >= PACKET_HEADER_BYTES + MESSAGE_HEADER_BYTES {
                let size = (framed.len() - PACKET_HEADER_BYTES) as u16;
                framed[6..8].copy_from_slice(&size.to_be_bytes());
                framed[8] = 10;
                prop_assert_eq!(messages(&framed).count(), 1);
            }
            let most = bytes.len() / 4;
            prop_assert!(Hello::decode(&bytes).map_or(0, |h| h.neighbours().count()) <= most);
            let tc = TopologyControl::decode(&bytes);
            prop_assert!(tc.map_or(0, |tc| tc.neighbours().count()) <= most);
        }

        #[test]
        fn what_is_written_is_read_again(
            header in any::<(u8, u8, u8, u8, u16)>(),
            originator in 0u32..1 << 24,
            body in prop::collection::vec(any::<u8>(), 0..100),
            list in prop::collection::vec((0u8..16, 0u32..1 << 24), 0..30),
            ansn in any::<u16>(),
        ) {
            let message = Message {
                kind: header.0,
                validity: TimeCode(header.1),
                originator: NodeId(originator),
                ttl: header.2,
                hops: header.3,
                sequence: header.4,
                body: &body,
            };
            let mut bytes = Vec::new();
            message.encode(&mut bytes);
            let packet = encode_packet(7, &[&bytes, &bytes]);
            prop_assert_eq!(messages(&packet).collect::<Vec<_>>(), vec![message; 2]);

            let list: Vec<_> = list
                .into_iter()
                .filter_map(|(code, node)| Some((LinkCode::decode(code)?, NodeId(node))))
                .collect();
            let body = Hello::encode(TimeCode(1), 6, &list);
            let read: Vec<_> = Hello::decode(&body).unwrap().neighbours().collect();
            prop_assert_eq!(&read, &list);

            let nodes = || list.iter().map(|(_, node)| *node);
            let body = TopologyControl::encode(ansn, nodes());
            let read = TopologyControl::decode(&body).unwrap();
            prop_assert_eq!(read.sequence, ansn);
            prop_assert!(read.neighbours().eq(nodes()));
        }
    }
}
