//! The bytes of AODV: RREQ, RREP, RERR and RREP-ACK (RFC 3561 §5), carried by UDP port 654.
//!
//! All fields are big endian. Any sequence of bytes decodes to a message or to `None`.
//!
//! A path's ETX has no field in the RFC's formats. With that metric, it follows an RREQ or an RREP
//! as an extension (type, length, value), which the RFC permits.

use backlane_net::NodeId;

/// The UDP port of AODV.
pub const PORT: u16 = 654;

const RREQ: u8 = 1;
const RREP: u8 = 2;
const RERR: u8 = 3;
const RREP_ACK: u8 = 4;

const RREQ_BYTES: usize = 24;
const RREP_BYTES: usize = 20;
const RERR_HEADER_BYTES: usize = 4;
const UNREACHABLE_BYTES: usize = 8;
/// `DestCount` is a field of 8 bits.
const UNREACHABLE_MAX: usize = u8::MAX as usize;

/// The extension with a path's metric: 32 bits, in 1/1024 of a transmission. The type number is not
/// assigned; 1 and 2 are taken.
const METRIC_EXTENSION: u8 = 10;
const METRIC_BYTES: usize = 6;

const JOIN: u8 = 0x80;
const REPAIR: u8 = 0x40;
const GRATUITOUS: u8 = 0x20;
const DESTINATION_ONLY: u8 = 0x10;
const UNKNOWN_SEQUENCE: u8 = 0x08;
const RREP_REPAIR: u8 = 0x80;
const ACK_REQUIRED: u8 = 0x40;
const NO_DELETE: u8 = 0x80;

/// Nodes have the addresses 10.0.0.0 + number.
const NETWORK: u32 = 10 << 24;

/// The address of a node, 10.0.0.0 + its number. Numbers beyond 24 bits do not occur: the event
/// queue has fewer timers.
pub fn address(node: NodeId) -> u32 {
    NETWORK | (node.0 & 0x00ff_ffff)
}

/// A route request. `J` and `R`, which are for multicast, are read and written like the others
/// and mean nothing here.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RouteRequest {
    /// The flag `J`.
    pub join: bool,
    /// The flag `R`.
    pub repair: bool,
    /// The flag `G`: a node that answers for the destination also sends it a reply.
    pub gratuitous: bool,
    /// The flag `D`: only the destination may answer.
    pub destination_only: bool,
    /// Hops from the originator to the node that sends this.
    pub hops: u8,
    /// Identifies the request, together with the originator.
    pub id: u32,
    /// The destination of the wanted route.
    pub destination: NodeId,
    /// The greatest known sequence number of the destination; `None` is the flag `U`.
    pub destination_sequence: Option<u32>,
    /// The node that wants it.
    pub originator: NodeId,
    /// The originator's own sequence number.
    pub originator_sequence: u32,
    /// The metric of the path travelled, where one is in use.
    pub metric: Option<u32>,
}

/// A route reply; also a HELLO, in which originator and destination are the same node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RouteReply {
    /// The flag `R`, for multicast.
    pub repair: bool,
    /// The flag `A`: the next node shall acknowledge it.
    pub ack_required: bool,
    /// Zero here: routes are to single nodes.
    pub prefix: u8,
    /// Hops from the destination to the node that sends this.
    pub hops: u8,
    /// The destination of the route.
    pub destination: NodeId,
    /// The destination's sequence number.
    pub destination_sequence: u32,
    /// The originator of the request.
    pub originator: NodeId,
    /// The lifetime of the route, in milliseconds.
    pub lifetime_ms: u32,
    /// The metric of the path to the destination, where one is in use.
    pub metric: Option<u32>,
}

/// A route error.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RouteError {
    /// The flag `N`: the link was repaired locally; the route need not be deleted.
    pub no_delete: bool,
    /// The unreachable destinations, each with its sequence number; at most 255 fit.
    pub unreachable: Vec<(NodeId, u32)>,
}

/// Any message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Message {
    /// RREQ.
    Request(RouteRequest),
    /// RREP.
    Reply(RouteReply),
    /// RERR.
    Error(RouteError),
    /// RREP-ACK.
    ReplyAck,
}

impl Message {
    /// The message's bytes: 24, 20, 4 + 8 for each destination, or 2, and 6 more with a metric.
    pub fn encode(&self) -> Vec<u8> {
        match self {
            Self::Request(request) => request.encode(),
            Self::Reply(reply) => reply.encode(),
            Self::Error(error) => error.encode(),
            Self::ReplyAck => vec![RREP_ACK, 0],
        }
    }

    /// Decodes a message. `None` if its type is unknown, if it is too short, or if an address is
    /// outside 10.0.0.0/8. Unknown extensions are skipped.
    pub fn decode(bytes: &[u8]) -> Option<Self> {
        match *bytes.first()? {
            RREQ => RouteRequest::decode(bytes).map(Self::Request),
            RREP => RouteReply::decode(bytes).map(Self::Reply),
            RERR => RouteError::decode(bytes).map(Self::Error),
            RREP_ACK if bytes.len() >= 2 => Some(Self::ReplyAck),
            _ => None,
        }
    }
}

impl RouteRequest {
    fn encode(&self) -> Vec<u8> {
        let unknown = self.destination_sequence.is_none();
        let flags = flag(self.join, JOIN)
            | flag(self.repair, REPAIR)
            | flag(self.gratuitous, GRATUITOUS)
            | flag(self.destination_only, DESTINATION_ONLY)
            | flag(unknown, UNKNOWN_SEQUENCE);
        let mut out = Vec::with_capacity(RREQ_BYTES + METRIC_BYTES);
        out.extend_from_slice(&[RREQ, flags, 0, self.hops]);
        put(&mut out, self.id);
        put(&mut out, address(self.destination));
        put(&mut out, self.destination_sequence.unwrap_or(0));
        put(&mut out, address(self.originator));
        put(&mut out, self.originator_sequence);
        put_metric(&mut out, self.metric);
        out
    }

    fn decode(bytes: &[u8]) -> Option<Self> {
        let (fixed, extensions) = bytes.split_at_checked(RREQ_BYTES)?;
        let (flags, hops) = (fixed[1], fixed[3]);
        let known = flags & UNKNOWN_SEQUENCE == 0;
        Some(Self {
            join: flags & JOIN != 0,
            repair: flags & REPAIR != 0,
            gratuitous: flags & GRATUITOUS != 0,
            destination_only: flags & DESTINATION_ONLY != 0,
            hops,
            id: word(fixed, 4)?,
            destination: node(fixed, 8)?,
            destination_sequence: word(fixed, 12).filter(|_| known),
            originator: node(fixed, 16)?,
            originator_sequence: word(fixed, 20)?,
            metric: metric(extensions),
        })
    }
}

impl RouteReply {
    /// Whether it is a HELLO.
    pub fn is_hello(&self) -> bool {
        self.originator == self.destination
    }

    fn encode(&self) -> Vec<u8> {
        let flags = flag(self.repair, RREP_REPAIR) | flag(self.ack_required, ACK_REQUIRED);
        let mut out = Vec::with_capacity(RREP_BYTES + METRIC_BYTES);
        out.extend_from_slice(&[RREP, flags, self.prefix & 0x1f, self.hops]);
        put(&mut out, address(self.destination));
        put(&mut out, self.destination_sequence);
        put(&mut out, address(self.originator));
        put(&mut out, self.lifetime_ms);
        put_metric(&mut out, self.metric);
        out
    }

    fn decode(bytes: &[u8]) -> Option<Self> {
        let (fixed, extensions) = bytes.split_at_checked(RREP_BYTES)?;
        Some(Self {
            repair: fixed[1] & RREP_REPAIR != 0,
            ack_required: fixed[1] & ACK_REQUIRED != 0,
            prefix: fixed[2] & 0x1f,
            hops: fixed[3],
            destination: node(fixed, 4)?,
            destination_sequence: word(fixed, 8)?,
            originator: node(fixed, 12)?,
            lifetime_ms: word(fixed, 16)?,
            metric: metric(extensions),
        })
    }
}

impl RouteError {
    fn encode(&self) -> Vec<u8> {
        let listed = &self.unreachable[..self.unreachable.len().min(UNREACHABLE_MAX)];
        let mut out = Vec::with_capacity(RERR_HEADER_BYTES + UNREACHABLE_BYTES * listed.len());
        let flags = flag(self.no_delete, NO_DELETE);
        out.extend_from_slice(&[RERR, flags, 0, listed.len() as u8]);
        for &(destination, sequence) in listed {
            put(&mut out, address(destination));
            put(&mut out, sequence);
        }
        out
    }

    fn decode(bytes: &[u8]) -> Option<Self> {
        let (&[_, flags, _, count], list) = bytes.split_first_chunk()?;
        let list = list.get(..UNREACHABLE_BYTES * usize::from(count))?;
        let unreachable = list
            .chunks_exact(UNREACHABLE_BYTES)
            .map(|entry| Some((node(entry, 0)?, word(entry, 4)?)))
            .collect::<Option<_>>()?;
        Some(Self {
            no_delete: flags & NO_DELETE != 0,
            unreachable,
        })
    }
}

fn flag(set: bool, bit: u8) -> u8 {
    if set { bit } else { 0 }
}

fn put(out: &mut Vec<u8>, word: u32) {
    out.extend_from_slice(&word.to_be_bytes());
}

fn put_metric(out: &mut Vec<u8>, metric: Option<u32>) {
    if let Some(metric) = metric {
        out.extend_from_slice(&[METRIC_EXTENSION, (METRIC_BYTES - 2) as u8]);
        put(out, metric);
    }
}

fn word(bytes: &[u8], at: usize) -> Option<u32> {
    let word = bytes.get(at..)?.first_chunk()?;
    Some(u32::from_be_bytes(*word))
}

pub(super) fn node(bytes: &[u8], at: usize) -> Option<NodeId> {
    let address = word(bytes, at)?;
    (address >> 24 == NETWORK >> 24).then_some(NodeId(address & 0x00ff_ffff))
}

/// Type and value of each complete extension.
fn extensions(mut bytes: &[u8]) -> impl Iterator<Item = (u8, &[u8])> {
    std::iter::from_fn(move || {
        let (&[kind, length], rest) = bytes.split_first_chunk()?;
        let (value, following) = rest.split_at_checked(usize::from(length))?;
        bytes = following;
        Some((kind, value))
    })
}

/// The extensions that follow an RREP.
pub(super) fn extensions_of_reply(message: &[u8]) -> impl Iterator<Item = (u8, &[u8])> {
    extensions(message.get(RREP_BYTES..).unwrap_or_default())
}

/// The metric among the extensions, if it is present and complete.
fn metric(bytes: &[u8]) -> Option<u32> {
    let is_metric =
        |kind: u8, value: &[u8]| kind == METRIC_EXTENSION && value.len() == METRIC_BYTES - 2;
    let mut extensions = extensions(bytes);
    let (_, value) = extensions.find(|(kind, value)| is_metric(*kind, value))?;
    word(value, 0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn request() -> RouteRequest {
        RouteRequest {
            join: false,
            repair: false,
            gratuitous: true,
            destination_only: false,
            hops: 3,
            id: 0x0102_0304,
            destination: NodeId(5),
            destination_sequence: Some(0x0a0b_0c0d),
            originator: NodeId(0x0001_0203),
            originator_sequence: 7,
            metric: None,
        }
    }

    #[test]
    fn a_request_has_the_24_bytes_of_the_format() {
        let bytes = Message::Request(request()).encode();
        let expected = [
            1, 0x20, 0, 3, 1, 2, 3, 4, 10, 0, 0, 5, 0x0a, 0x0b, 0x0c, 0x0d, 10, 1, 2, 3, 0, 0, 0, 7,
        ];
        assert_eq!(bytes, expected);
        let unknown = RouteRequest {
            gratuitous: false,
            destination_sequence: None,
            ..request()
        };
        let bytes = Message::Request(unknown).encode();
        assert_eq!(bytes[1], 0x08);
        assert_eq!(bytes[12..16], [0; 4]);
    }

    #[test]
    fn a_reply_has_the_20_bytes_of_the_format() {
        let reply = RouteReply {
            repair: false,
            ack_required: true,
            prefix: 0,
            hops: 2,
            destination: NodeId(9),
            destination_sequence: 0x11,
            originator: NodeId(1),
            lifetime_ms: 6000,
            metric: None,
        };
        let expected = [
            2, 0x40, 0, 2, 10, 0, 0, 9, 0, 0, 0, 0x11, 10, 0, 0, 1, 0, 0, 0x17, 0x70,
        ];
        assert_eq!(Message::Reply(reply).encode(), expected);
        let with_metric = RouteReply {
            metric: Some(2048),
            ..reply
        };
        let bytes = Message::Reply(with_metric).encode();
        assert_eq!(bytes[..20], expected);
        assert_eq!(bytes[20..], [10, 4, 0, 0, 8, 0]);
    }

    #[test]
    fn an_error_lists_8_bytes_for_each_destination_and_at_most_255() {
        let error = RouteError {
            no_delete: true,
            unreachable: vec![(NodeId(1), 2), (NodeId(3), 4)],
        };
        let expected = [
            3, 0x80, 0, 2, 10, 0, 0, 1, 0, 0, 0, 2, 10, 0, 0, 3, 0, 0, 0, 4,
        ];
        assert_eq!(Message::Error(error).encode(), expected);
        let long = RouteError {
            no_delete: false,
            unreachable: vec![(NodeId(1), 2); 300],
        };
        assert_eq!(Message::Error(long).encode().len(), 4 + 8 * 255);
        assert_eq!(Message::ReplyAck.encode(), [4, 0]);
    }

    #[test]
    fn unknown_extensions_are_skipped() {
        let mut bytes = Message::Request(request()).encode();
        bytes.extend_from_slice(&[1, 4, 0, 0, 3, 232, 10, 4, 0, 0, 4, 0]);
        let with_metric = RouteRequest {
            metric: Some(1024),
            ..request()
        };
        assert_eq!(Message::decode(&bytes), Some(Message::Request(with_metric)));
        // A truncated extension is ignored; the request itself is complete.
        bytes.pop();
        assert_eq!(Message::decode(&bytes), Some(Message::Request(request())));
    }

    fn nodes() -> impl Strategy<Value = NodeId> {
        (0u32..1 << 24).prop_map(NodeId)
    }

    fn messages() -> impl Strategy<Value = Message> {
        let requests = (
            any::<[bool; 4]>(),
            any::<(u8, u32, Option<u32>, u32, Option<u32>)>(),
            nodes(),
            nodes(),
        )
            .prop_map(
                |([join, repair, gratuitous, destination_only], numbers, to, from)| {
                    let (hops, id, destination_sequence, originator_sequence, metric) = numbers;
                    Message::Request(RouteRequest {
                        join,
                        repair,
                        gratuitous,
                        destination_only,
                        hops,
                        id,
                        destination: to,
                        destination_sequence,
                        originator: from,
                        originator_sequence,
                        metric,
                    })
                },
            );
        let replies = (
            any::<(bool, bool, u8, u32, u32, Option<u32>)>(),
            0u8..32,
            nodes(),
            nodes(),
        )
            .prop_map(|(fields, prefix, to, from)| {
                let (repair, ack_required, hops, destination_sequence, lifetime_ms, metric) =
                    fields;
                Message::Reply(RouteReply {
                    repair,
                    ack_required,
                    prefix,
                    hops,
                    destination: to,
                    destination_sequence,
                    originator: from,
                    lifetime_ms,
                    metric,
                })
            });
        let listed = prop::collection::vec((nodes(), any::<u32>()), 0..256);
        let errors = (any::<bool>(), listed).prop_map(|(no_delete, unreachable)| {
            Message::Error(RouteError {
                no_delete,
                unreachable,
            })
        });
        prop_oneof![requests, replies, errors, Just(Message::ReplyAck)]
    }

    proptest! {
        #[test]
        fn decoding_a_message_inverts_encoding(message in messages()) {
            prop_assert_eq!(Message::decode(&message.encode()), Some(message));
        }

        #[test]
        fn no_bytes_cause_a_panic_in_decoding(bytes in prop::collection::vec(any::<u8>(), 0..64)) {
            Message::decode(&bytes);
        }

        #[test]
        fn a_message_decoded_from_changed_bytes_can_be_encoded(
            message in messages(),
            at in any::<prop::sample::Index>(),
            bits in 1u8..,
            keep in any::<prop::sample::Index>(),
        ) {
            let mut bytes = message.encode();
            let place = at.index(bytes.len());
            bytes[place] ^= bits;
            bytes.truncate(keep.index(bytes.len()) + 1);
            if let Some(read) = Message::decode(&bytes) {
                prop_assert_eq!(Message::decode(&read.encode()), Some(read));
            }
        }
    }
}
