//! Babel packets (RFC 8966 §4): a header and TLVs, for IPv4 prefixes of single routers.
//!
//! A router has the address 10.0.0.0 + its number and announces it as a prefix of 32 bits, as in
//! captures. Link-local addresses in IHUs are made of the same number.

use std::sync::Arc;

use backlane_net::NodeId;

/// The metric and the cost of what cannot be reached.
pub const INFINITY: u16 = 0xffff;

/// Bytes of TLVs in one packet: an MTU of 1500 less the headers of IPv6, UDP and Babel.
pub const MOST_BYTES: usize = 1500 - 48 - HEADER_BYTES;

const HEADER_BYTES: usize = 4;
const MAGIC: u8 = 42;
const VERSION: u8 = 2;

const PAD1: u8 = 0;
const HELLO: u8 = 4;
const IHU: u8 = 5;
const ROUTER_ID: u8 = 6;
const NEXT_HOP: u8 = 7;
const UPDATE: u8 = 8;
const ROUTE_REQUEST: u8 = 9;
const SEQNO_REQUEST: u8 = 10;

/// The sub-TLV with timestamps (draft-ietf-babel-rtt-extension §3).
const TIMESTAMP: u8 = 3;

/// Address encodings (§4.1.4).
const WILDCARD: u8 = 0;
const IPV4: u8 = 1;
const LINK_LOCAL: u8 = 3;

/// One TLV. Intervals are in hundredths of a second, timestamps in microseconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tlv {
    /// The sender is there.
    Hello {
        /// Grows by one with each.
        seqno: u16,
        /// The time to the next.
        interval_cs: u16,
        /// When it is sent, where round-trip times are measured.
        sent_us: Option<u32>,
    },
    /// "I heard you": what it costs to send to the sender.
    Ihu {
        /// The neighbour that it is for.
        to: NodeId,
        /// The cost of receiving from it.
        rxcost: u16,
        /// The time to the next.
        interval_cs: u16,
        /// The timestamp of the neighbour's last HELLO, and when that was received.
        echo: Option<(u32, u32)>,
    },
    /// The router that the next updates originate from.
    RouterId(u64),
    /// The next hop of the next updates.
    NextHop(NodeId),
    /// A route to a prefix; infinity retracts it.
    Update {
        /// The router whose address it is.
        prefix: NodeId,
        /// The sequence number of its origin.
        seqno: u16,
        /// The sender's metric.
        metric: u16,
        /// The time to the next.
        interval_cs: u16,
    },
    /// The sender retracts all its routes.
    RetractAll {
        /// The sender's sequence number.
        seqno: u16,
    },
    /// The neighbour is to send an update, for one prefix or for all.
    RouteRequest(Option<NodeId>),
    /// The origin is to increase its sequence number.
    SeqnoRequest {
        /// The router whose address it is.
        prefix: NodeId,
        /// The least number wanted.
        seqno: u16,
        /// The number of hops that it may still be forwarded.
        hops: u8,
        /// The origin.
        id: u64,
    },
}

impl Tlv {
    /// Its size.
    pub fn bytes(&self) -> usize {
        let body = match self {
            Self::Hello { sent_us, .. } => 6 + sent_us.map_or(0, |_| 6),
            Self::Ihu { echo, .. } => 14 + echo.map_or(0, |_| 10),
            Self::RouterId(_) | Self::RetractAll { .. } => 10,
            Self::Update { .. } => 14,
            Self::RouteRequest(None) => 2,
            Self::NextHop(_) | Self::RouteRequest(Some(_)) => 6,
            Self::SeqnoRequest { .. } => 18,
        };
        2 + body
    }

    fn encode(&self, bytes: &mut Vec<u8>) {
        let kind = match self {
            Self::Hello { .. } => HELLO,
            Self::Ihu { .. } => IHU,
            Self::RouterId(_) => ROUTER_ID,
            Self::NextHop(_) => NEXT_HOP,
            Self::Update { .. } | Self::RetractAll { .. } => UPDATE,
            Self::RouteRequest(_) => ROUTE_REQUEST,
            Self::SeqnoRequest { .. } => SEQNO_REQUEST,
        };
        bytes.extend([kind, (self.bytes() - 2) as u8]);
        match *self {
            Self::Hello {
                seqno,
                interval_cs,
                sent_us,
            } => {
                bytes.extend([0, 0]);
                bytes.extend(seqno.to_be_bytes());
                bytes.extend(interval_cs.to_be_bytes());
                if let Some(sent_us) = sent_us {
                    bytes.extend([TIMESTAMP, 4]);
                    bytes.extend(sent_us.to_be_bytes());
                }
            }
            Self::Ihu {
                to,
                rxcost,
                interval_cs,
                echo,
            } => {
                bytes.extend([LINK_LOCAL, 0]);
                bytes.extend(rxcost.to_be_bytes());
                bytes.extend(interval_cs.to_be_bytes());
                bytes.extend(interface_identifier(to));
                if let Some((sent_us, received_us)) = echo {
                    bytes.extend([TIMESTAMP, 8]);
                    bytes.extend(sent_us.to_be_bytes());
                    bytes.extend(received_us.to_be_bytes());
                }
            }
            Self::RouterId(id) => {
                bytes.extend([0, 0]);
                bytes.extend(id.to_be_bytes());
            }
            Self::NextHop(node) => {
                bytes.extend([IPV4, 0]);
                bytes.extend(address(node));
            }
            Self::Update {
                prefix,
                seqno,
                metric,
                interval_cs,
            } => {
                bytes.extend([IPV4, 0, 32, 0]);
                bytes.extend(interval_cs.to_be_bytes());
                bytes.extend(seqno.to_be_bytes());
                bytes.extend(metric.to_be_bytes());
                bytes.extend(address(prefix));
            }
            Self::RetractAll { seqno } => {
                bytes.extend([WILDCARD, 0, 0, 0]);
                bytes.extend(INFINITY.to_be_bytes());
                bytes.extend(seqno.to_be_bytes());
                bytes.extend(INFINITY.to_be_bytes());
            }
            Self::RouteRequest(None) => bytes.extend([WILDCARD, 0]),
            Self::RouteRequest(Some(prefix)) => {
                bytes.extend([IPV4, 32]);
                bytes.extend(address(prefix));
            }
            Self::SeqnoRequest {
                prefix,
                seqno,
                hops,
                id,
            } => {
                bytes.extend([IPV4, 32]);
                bytes.extend(seqno.to_be_bytes());
                bytes.extend([hops, 0]);
                bytes.extend(id.to_be_bytes());
                bytes.extend(address(prefix));
            }
        }
    }

    /// `None` for what is damaged, or not spoken here.
    fn decode(kind: u8, body: &[u8]) -> Option<Self> {
        match kind {
            HELLO => {
                let (head, rest) = body.split_first_chunk::<6>()?;
                Some(Self::Hello {
                    seqno: short(head, 2),
                    interval_cs: short(head, 4),
                    sent_us: timestamps(rest).map(|[sent, _]| sent),
                })
            }
            IHU => {
                let (head, rest) = body.split_first_chunk::<14>()?;
                if head[0] != LINK_LOCAL {
                    return None;
                }
                Some(Self::Ihu {
                    to: node(&head[11..14]),
                    rxcost: short(head, 2),
                    interval_cs: short(head, 4),
                    echo: timestamps(rest).map(|[sent, received]| (sent, received)),
                })
            }
            ROUTER_ID => {
                let (head, _) = body.split_first_chunk::<10>()?;
                Some(Self::RouterId(long(&head[2..])))
            }
            NEXT_HOP => {
                let (head, _) = body.split_first_chunk::<6>()?;
                (head[0] == IPV4).then(|| Self::NextHop(node(&head[3..])))
            }
            UPDATE => {
                let (head, rest) = body.split_first_chunk::<10>()?;
                let (seqno, metric) = (short(head, 6), short(head, 8));
                if head[0] == WILDCARD {
                    return (metric == INFINITY).then_some(Self::RetractAll { seqno });
                }
                if head[0] != IPV4 || head[2..4] != [32, 0] {
                    return None;
                }
                Some(Self::Update {
                    prefix: node(rest.get(1..4)?),
                    seqno,
                    metric,
                    interval_cs: short(head, 4),
                })
            }
            ROUTE_REQUEST => match body {
                [WILDCARD, 0, ..] => Some(Self::RouteRequest(None)),
                [IPV4, 32, _, rest @ ..] => Some(Self::RouteRequest(Some(node(rest.get(..3)?)))),
                _ => None,
            },
            SEQNO_REQUEST => {
                let (head, _) = body.split_first_chunk::<18>()?;
                (head[..2] == [IPV4, 32]).then(|| Self::SeqnoRequest {
                    prefix: node(&head[15..]),
                    seqno: short(head, 2),
                    hops: head[4],
                    id: long(&head[6..14]),
                })
            }
            _ => None,
        }
    }
}

/// The bytes of a packet.
pub fn encode(tlvs: &[Tlv]) -> Arc<[u8]> {
    let length: usize = tlvs.iter().map(Tlv::bytes).sum();
    let mut bytes = Vec::with_capacity(HEADER_BYTES + length);
    bytes.extend([MAGIC, VERSION]);
    bytes.extend((length as u16).to_be_bytes());
    for tlv in tlvs {
        tlv.encode(&mut bytes);
    }
    bytes.into()
}

/// The TLVs of a packet; what is damaged or unknown is left out (§4.2, §4.3).
pub fn decode(bytes: &[u8]) -> Vec<Tlv> {
    let mut tlvs = Vec::new();
    let Some((&[MAGIC, VERSION, high, low], body)) = bytes.split_first_chunk::<HEADER_BYTES>()
    else {
        return tlvs;
    };
    let length = usize::from(u16::from_be_bytes([high, low]));
    let mut rest = body.get(..length).unwrap_or_default();
    while let [kind, tail @ ..] = rest {
        if *kind == PAD1 {
            rest = tail;
            continue;
        }
        let Some((&length, tail)) = tail.split_first() else {
            break;
        };
        let Some((body, others)) = tail.split_at_checked(usize::from(length)) else {
            break;
        };
        tlvs.extend(Tlv::decode(*kind, body));
        rest = others;
    }
    tlvs
}

/// Up to two timestamps of the sub-TLVs.
fn timestamps(mut rest: &[u8]) -> Option<[u32; 2]> {
    while let [kind, tail @ ..] = rest {
        if *kind == PAD1 {
            rest = tail;
            continue;
        }
        let (&length, tail) = tail.split_first()?;
        let (body, others) = tail.split_at_checked(usize::from(length))?;
        if *kind == TIMESTAMP {
            let number = |at: usize| {
                let bytes = body.get(at..at + 4)?;
                Some(u32::from_be_bytes(bytes.try_into().ok()?))
            };
            return Some([number(0)?, number(4).unwrap_or(0)]);
        }
        rest = others;
    }
    None
}

fn short(bytes: &[u8], at: usize) -> u16 {
    u16::from_be_bytes([bytes[at], bytes[at + 1]])
}

fn long(bytes: &[u8]) -> u64 {
    bytes
        .iter()
        .take(8)
        .fold(0, |sum, byte| sum << 8 | u64::from(*byte))
}

fn address(node: NodeId) -> [u8; 4] {
    let [_, a, b, c] = node.0.to_be_bytes();
    [10, a, b, c]
}

fn interface_identifier(node: NodeId) -> [u8; 8] {
    let [_, a, b, c] = node.0.to_be_bytes();
    [2, 0, 0, 0xff, 0xfe, a, b, c]
}

fn node(bytes: &[u8]) -> NodeId {
    NodeId(u32::from_be_bytes([0, bytes[0], bytes[1], bytes[2]]))
}

/// The router ID of a router that does not change it, as BIRD's: its address.
pub fn id_of(node: NodeId) -> u64 {
    u64::from(u32::from_be_bytes(address(node)))
}

#[cfg(test)]
mod tests {
    use super::*;

    const HELLO: Tlv = Tlv::Hello {
        seqno: 9,
        interval_cs: 400,
        sent_us: None,
    };
    const IHU: Tlv = Tlv::Ihu {
        to: NodeId(70_000),
        rxcost: 96,
        interval_cs: 1200,
        echo: None,
    };

    fn all() -> Vec<Tlv> {
        vec![
            HELLO,
            Tlv::Hello {
                seqno: 10,
                interval_cs: 400,
                sent_us: Some(77),
            },
            IHU,
            Tlv::Ihu {
                to: NodeId(1),
                rxcost: INFINITY,
                interval_cs: 1200,
                echo: Some((5, 6)),
            },
            Tlv::RouterId(0x0102_0304_0506_0708),
            Tlv::NextHop(NodeId(3)),
            Tlv::Update {
                prefix: NodeId(4),
                seqno: 2,
                metric: 192,
                interval_cs: 1600,
            },
            Tlv::RetractAll { seqno: 3 },
            Tlv::RouteRequest(None),
            Tlv::RouteRequest(Some(NodeId(66_000))),
            Tlv::SeqnoRequest {
                prefix: NodeId(4),
                seqno: 3,
                hops: 127,
                id: 99,
            },
        ]
    }

    #[test]
    fn tlvs_survive_the_wire() {
        assert_eq!(decode(&encode(&all())), all());
    }

    /// On Ethernet with the headers of IPv6 and UDP: 74 B for a HELLO, 90 with an IHU, and 250 for one
    /// with an update of six routers, as babeld was recorded.
    #[test]
    fn packets_have_the_recorded_sizes() {
        let frame = |tlvs: &[Tlv]| 14 + 40 + 8 + encode(tlvs).len();
        assert_eq!(frame(&[HELLO]), 74);
        assert_eq!(frame(&[HELLO, IHU]), 90);
        let mut update = vec![HELLO, Tlv::NextHop(NodeId(0))];
        for node in 0..6 {
            update.push(Tlv::RouterId(node));
            update.push(Tlv::Update {
                prefix: NodeId(node as u32),
                seqno: 1,
                metric: 96,
                interval_cs: 1600,
            });
        }
        assert_eq!(frame(&update), 250);
    }

    #[test]
    fn damaged_packets_lose_what_is_damaged() {
        let good = encode(&all());
        for at in 0..good.len() {
            assert!(
                decode(&good[..at]).is_empty(),
                "shorter than its header says"
            );
            let mut bad = good.to_vec();
            bad[at] ^= 0xff;
            decode(&bad);
        }
        let mut padded = vec![MAGIC, VERSION, 0, 0];
        padded.extend([PAD1, 1, 2, 0, 0, 200, 1, 7]);
        HELLO.encode(&mut padded);
        let length = (padded.len() - HEADER_BYTES) as u16;
        padded[2..4].copy_from_slice(&length.to_be_bytes());
        assert_eq!(decode(&padded), [HELLO]);
    }
}
