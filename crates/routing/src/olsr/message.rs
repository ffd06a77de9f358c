//! The bytes of OLSR: packets, messages, HELLO, TC and MID (RFC 3626 §3.3, §5.1, §6.1, §9.1, §18).
//!
//! All fields are big endian. Decoding yields the complete messages up to the first malformed one,
//! for any sequence of bytes.

use backlane_net::NodeId;

pub use super::link_code::{LinkCode, LinkType, NeighbourType};
pub use super::report::{Airtime, LinkReport};
pub use super::time_code::TimeCode;
pub use crate::etx::Quality;

/// Bytes of a packet's header: length and sequence number (RFC 3626 §3.3).
pub const PACKET_HEADER_BYTES: usize = 4;
/// Bytes of a message's header.
pub const MESSAGE_HEADER_BYTES: usize = 12;
/// The message type of a HELLO (RFC 3626 §18.4).
pub const HELLO: u8 = 1;
/// The message type of a TC.
pub const TC: u8 = 2;
/// The message type of a MID: the addresses of a node's interfaces (RFC 3626 §5.1).
pub const MID: u8 = 3;
/// The message type of a HELLO with link qualities, in olsrd's link quality extension: like a
/// HELLO, with four more bytes after each address.
pub const LQ_HELLO: u8 = 201;
/// The message type of a TC with link qualities.
pub const LQ_TC: u8 = 202;
/// The message type of a HELLO with airtimes: like an [`LQ_HELLO`], with other four bytes
/// ([`Airtime`]). The number is of the range for private use (RFC 3626 §18.4).
pub const AIRTIME_HELLO: u8 = 203;
/// The message type of a TC with airtimes, likewise.
pub const AIRTIME_TC: u8 = 204;
/// The willingness of a node that never relays for others (RFC 3626 §18.8).
pub const WILL_NEVER: u8 = 0;
/// The default willingness.
pub const WILL_DEFAULT: u8 = 3;
/// The willingness of a node that always relays for others.
pub const WILL_ALWAYS: u8 = 7;

/// Nodes have the addresses 10.0.0.0 + number.
const NETWORK: u32 = 10 << 24;
/// A message's size is a 16-bit field; entries beyond it are left out. A node would need eight
/// thousand wires for that.
const LIST_MAX: usize = (u16::MAX as usize - MESSAGE_HEADER_BYTES - 8) / 8;

/// The main address of a node, 10.0.0.0 + its number. Numbers beyond 24 bits do not occur: the
/// event queue has fewer timers.
pub fn address(node: NodeId) -> u32 {
    NETWORK | (node.0 & 0x00ff_ffff)
}

fn node(bytes: [u8; 4]) -> Option<NodeId> {
    let address = u32::from_be_bytes(bytes);
    (address >> 24 == NETWORK >> 24).then_some(NodeId(address & 0x00ff_ffff))
}

/// The entries of a list: an address each, and four bytes if the message has link qualities. Entries
/// with an address outside 10.0.0.0/8 are skipped.
fn entries(bytes: &[u8], kind: u8) -> impl Iterator<Item = (NodeId, LinkReport)> + '_ {
    let size = 4 + LinkReport::bytes(kind);
    bytes.chunks_exact(size).filter_map(move |entry| {
        let (address, report) = entry.split_first_chunk()?;
        Some((node(*address)?, LinkReport::decode(kind, report)))
    })
}

/// One message of a packet, its body still as bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Message<'a> {
    /// [`HELLO`], [`TC`] or an unknown type, which is forwarded.
    pub kind: u8,
    /// The validity time.
    pub validity: TimeCode,
    /// The originator.
    pub originator: NodeId,
    /// The time to live, in hops.
    pub ttl: u8,
    /// The hop count.
    pub hops: u8,
    /// The originator's message sequence number.
    pub sequence: u16,
    /// The body after the header.
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

/// The messages of a packet, up to the first that is malformed. A message whose originator is
/// outside 10.0.0.0/8 is skipped.
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
    /// The originator's HELLO interval on this interface.
    pub interval: TimeCode,
    /// Its willingness to relay for others, 0 to 7.
    pub willingness: u8,
    links: &'a [u8],
    kind: u8,
}

impl<'a> Hello<'a> {
    /// Decodes the body of a [`HELLO`], [`LQ_HELLO`] or [`AIRTIME_HELLO`]; `None` if it is too
    /// short.
    pub fn decode(kind: u8, body: &'a [u8]) -> Option<Self> {
        let (&[_, _, htime, willingness], links) = body.split_first_chunk()?;
        Some(Self {
            interval: TimeCode(htime),
            willingness,
            links,
            kind,
        })
    }

    /// The listed neighbours with their link codes.
    pub fn neighbours(&self) -> impl Iterator<Item = (LinkCode, NodeId)> + use<'a> {
        self.entries().map(|(code, node, _)| (code, node))
    }

    /// The quality of the link to each of [`Hello::neighbours`].
    pub fn qualities(&self) -> impl Iterator<Item = LinkReport> + use<'a> {
        self.entries().map(|(_, _, report)| report)
    }

    fn entries(&self) -> impl Iterator<Item = (LinkCode, NodeId, LinkReport)> + use<'a> {
        let kind = self.kind;
        let mut rest = self.links;
        std::iter::from_fn(move || {
            let &[code, _, s0, s1] = rest.first_chunk()?;
            let size = usize::from(u16::from_be_bytes([s0, s1]));
            let list = rest.get(4..size)?;
            rest = &rest[size..];
            Some((code, list))
        })
        .filter_map(|(code, list)| Some((LinkCode::decode(code)?, list)))
        .flat_map(move |(code, list)| {
            entries(list, kind).map(move |(node, report)| (code, node, report))
        })
    }

    /// Writes a body. `neighbours` with the same code should stand together: each run of them
    /// shares a header.
    pub fn encode(
        interval: TimeCode,
        willingness: u8,
        neighbours: &[(LinkCode, NodeId)],
    ) -> Vec<u8> {
        let list = neighbours.iter();
        let list = list.map(|&(code, node)| (code, node, LinkReport::None));
        Self::encode_with_quality(interval, willingness, &list.collect::<Vec<_>>())
    }

    /// Writes the body of a HELLO with the qualities of links, likewise: all of one kind.
    pub fn encode_with_quality(
        interval: TimeCode,
        willingness: u8,
        entries: &[(LinkCode, NodeId, LinkReport)],
    ) -> Vec<u8> {
        let mut out = vec![0, 0, interval.0, willingness];
        let entries = &entries[..entries.len().min(LIST_MAX / 2)];
        for run in entries.chunk_by(|a, b| a.0 == b.0) {
            out.extend_from_slice(&[run[0].0.encode(), 0]);
            let size_at = out.len();
            out.extend_from_slice(&[0; 2]);
            for (_, node, report) in run {
                out.extend_from_slice(&address(*node).to_be_bytes());
                report.encode(&mut out);
            }
            let size = (out.len() - size_at + 2) as u16;
            out[size_at..size_at + 2].copy_from_slice(&size.to_be_bytes());
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
    kind: u8,
}

impl<'a> TopologyControl<'a> {
    /// Decodes the body of a [`TC`], [`LQ_TC`] or [`AIRTIME_TC`]; `None` if it is too short.
    pub fn decode(kind: u8, body: &'a [u8]) -> Option<Self> {
        let (&[s0, s1, _, _], list) = body.split_first_chunk()?;
        Some(Self {
            sequence: u16::from_be_bytes([s0, s1]),
            list,
            kind,
        })
    }

    /// The neighbours of the originator that it advertises.
    pub fn neighbours(&self) -> impl Iterator<Item = NodeId> + use<'a> {
        self.links().map(|(node, _)| node)
    }

    /// The same with the quality of the link to each.
    pub fn links(&self) -> impl Iterator<Item = (NodeId, LinkReport)> + use<'a> {
        entries(self.list, self.kind)
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

    /// Writes the body of a TC with the qualities of links: all of one kind.
    pub fn encode_with_quality(
        sequence: u16,
        links: impl Iterator<Item = (NodeId, LinkReport)>,
    ) -> Vec<u8> {
        let mut out = Self::encode(sequence, std::iter::empty());
        for (node, report) in links.take(LIST_MAX) {
            out.extend_from_slice(&address(node).to_be_bytes());
            report.encode(&mut out);
        }
        out
    }
}

/// The addresses in the body of a [`MID`]: interfaces of the originator but for its main address.
pub fn interface_addresses(body: &[u8]) -> impl Iterator<Item = NodeId> + '_ {
    entries(body, MID).map(|(address, _)| address)
}

/// Writes the body of a [`MID`].
pub fn encode_mid(addresses: impl Iterator<Item = NodeId>) -> Vec<u8> {
    let addresses = addresses.take(LIST_MAX);
    addresses
        .flat_map(|one| address(one).to_be_bytes())
        .collect()
}

/// Whether these are bytes of a probe, which no one reads: the length of a packet is not zero.
pub fn is_probe(packet: &[u8]) -> bool {
    packet.starts_with(&[0, 0])
}

/// The sequence number of a packet; `None` if it is too short.
pub fn packet_sequence(packet: &[u8]) -> Option<u16> {
    let [_, _, s0, s1] = *packet.first_chunk()?;
    Some(u16::from_be_bytes([s0, s1]))
}

/// Whether sequence number `a` is newer than `b`, with wrap-around (RFC 3626 §19).
pub fn newer(a: u16, b: u16) -> bool {
    a != b && a.wrapping_sub(b) <= u16::MAX / 2
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::airtime::LinkMetric;
    use backlane_units::Duration;
    use proptest::prelude::*;

    #[test]
    fn sequence_numbers_wrap_around() {
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
        let hello = Hello::decode(HELLO, read[0].body).unwrap();
        assert_eq!(hello.neighbours().collect::<Vec<_>>(), list);
        assert_eq!((hello.interval, hello.willingness), (TimeCode(0x05), 3));
    }

    #[test]
    fn an_lq_hello_and_an_lq_tc_have_four_more_bytes_after_each_address() {
        let code = LinkCode {
            link: LinkType::Symmetric,
            neighbour: NeighbourType::Symmetric,
        };
        let quality = LinkReport::Etx(Quality {
            heard: 200,
            reached: 100,
        });
        let list = [(code, NodeId(2), quality), (code, NodeId(3), quality)];
        let hello = Hello::encode_with_quality(TimeCode(0x05), WILL_DEFAULT, &list);
        #[rustfmt::skip]
        let expected = [
            0, 0, 0x05, 3,
            0b0110, 0, 0, 20,
            10, 0, 0, 2, 200, 100, 0, 0,
            10, 0, 0, 3, 200, 100, 0, 0,
        ];
        assert_eq!(hello, expected);
        let tc = TopologyControl::encode_with_quality(1, [(NodeId(2), quality)].into_iter());
        assert_eq!(tc, [0, 1, 0, 0, 10, 0, 0, 2, 200, 100, 0, 0]);
    }

    /// Shares of 65535 in two bytes, then the twelve bits of a metric (RFC 7181 §6.2): 350 is
    /// (257 + 46) · 2 − 256.
    #[test]
    fn entries_with_airtimes_have_a_share_and_a_metric() {
        let code = LinkCode {
            link: LinkType::Symmetric,
            neighbour: NeighbourType::Symmetric,
        };
        let report = LinkReport::Airtime(Airtime {
            heard: Airtime::of_share(0.5),
            outgoing: LinkMetric::at_least(349.5),
        });
        let hello =
            Hello::encode_with_quality(TimeCode(0x05), WILL_DEFAULT, &[(code, NodeId(2), report)]);
        #[rustfmt::skip]
        let expected = [
            0, 0, 0x05, 3,
            0b0110, 0, 0, 12,
            10, 0, 0, 2, 0x7f, 0xff, 0x01, 46,
        ];
        assert_eq!(hello, expected);
        let read = Hello::decode(AIRTIME_HELLO, &hello).unwrap();
        assert!(read.qualities().eq([report]));
        assert_eq!(report.cost(), Some(350));
        let tc = TopologyControl::encode_with_quality(1, [(NodeId(2), report)].into_iter());
        assert_eq!(tc, [0, 1, 0, 0, 10, 0, 0, 2, 0x7f, 0xff, 0x01, 46]);
        let read = TopologyControl::decode(AIRTIME_TC, &tc).unwrap();
        assert!(read.links().eq([(NodeId(2), report)]));
    }

    /// RFC 3626 §5.1: a list of addresses without a header. Interfaces are in 10.128.0.0/9.
    #[test]
    fn a_mid_is_a_list_of_interface_addresses() {
        let body = encode_mid([NodeId(0x0080_0102)].into_iter());
        assert_eq!(body, [10, 0x80, 1, 2]);
    }

    #[test]
    fn a_truncated_packet_yields_its_complete_messages() {
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
        fn no_bytes_cause_a_panic_in_decoding(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
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
            for (hello, tc) in [(HELLO, TC), (LQ_HELLO, LQ_TC)] {
                let hello = Hello::decode(hello, &bytes);
                prop_assert!(hello.map_or(0, |h| h.neighbours().count()) <= most);
                let tc = TopologyControl::decode(tc, &bytes);
                prop_assert!(tc.map_or(0, |tc| tc.neighbours().count()) <= most);
            }
            prop_assert!(interface_addresses(&bytes).count() <= most);
        }

        #[test]
        fn decoding_a_packet_inverts_encoding(
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
            let hello = Hello::decode(HELLO, &body).unwrap();
            prop_assert_eq!(&hello.neighbours().collect::<Vec<_>>(), &list);
            prop_assert!(hello.qualities().all(|quality| quality == LinkReport::None));

            let quality = |node: NodeId| LinkReport::Etx(Quality {
                heard: node.0 as u8,
                reached: header.0,
            });
            let links: Vec<_> = list.iter().map(|&(code, node)| (code, node, quality(node))).collect();
            let body = Hello::encode_with_quality(TimeCode(1), 6, &links);
            let hello = Hello::decode(LQ_HELLO, &body).unwrap();
            let read = hello.neighbours().zip(hello.qualities());
            let read: Vec<_> = read.map(|((code, node), quality)| (code, node, quality)).collect();
            prop_assert_eq!(&read, &links);

            let nodes = || list.iter().map(|(_, node)| *node);
            let body = TopologyControl::encode(ansn, nodes());
            let read = TopologyControl::decode(TC, &body).unwrap();
            prop_assert_eq!(read.sequence, ansn);
            prop_assert!(read.neighbours().eq(nodes()));
            let body = encode_mid(nodes());
            prop_assert!(interface_addresses(&body).eq(nodes()));
            let links = || nodes().map(|node| (node, quality(node)));
            let body = TopologyControl::encode_with_quality(ansn, links());
            let read = TopologyControl::decode(LQ_TC, &body).unwrap();
            prop_assert!(read.links().eq(links()));
        }
    }
}
