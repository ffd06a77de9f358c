//! OSPF packets (RFC 2328 appendix A.3).

use std::sync::Arc;

use backlane_net::NodeId;
use backlane_units::Duration;

use super::lsa::{self, HEADER_BYTES, Header, Lsa, OPTIONS, address, node};

/// Bytes of the header of all packets.
const PACKET_HEADER_BYTES: usize = 24;
const VERSION: u8 = 2;
/// Bytes that an IP datagram of 1500 B has for an OSPF packet.
const PACKET_BYTES: usize = 1480;
/// LSA headers in one packet.
pub const HEADERS_PER_PACKET: usize = (PACKET_BYTES - PACKET_HEADER_BYTES - 8) / HEADER_BYTES;
/// Bytes of LSAs in one update.
pub const UPDATE_BYTES: usize = PACKET_BYTES - PACKET_HEADER_BYTES - 4;

const HELLO: u8 = 1;
const DESCRIPTION: u8 = 2;
const REQUEST: u8 = 3;
const UPDATE: u8 = 4;
const ACKNOWLEDGMENT: u8 = 5;

/// Bits of database descriptions (appendix A.3.3).
const INITIAL: u8 = 4;
const MORE: u8 = 2;
const MASTER: u8 = 1;

/// What a packet says.
#[derive(Clone, Debug)]
pub enum Packet {
    /// The neighbour is there, and sees these routers on the link.
    Hello(Vec<NodeId>),
    /// Part of the contents of the neighbour's database.
    Description(Description),
    /// LSAs that the neighbour wants, by their origin.
    Request(Vec<NodeId>),
    /// LSAs with their ages.
    Update(Vec<(Lsa, u16)>),
    /// LSAs that the neighbour has received.
    Acknowledgment(Vec<Header>),
}

/// A database description (§10.8).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Description {
    /// Whether it begins the exchange.
    pub initial: bool,
    /// Whether more of them follow.
    pub more: bool,
    /// Whether the sender is the master.
    pub master: bool,
    /// The number of the master's packet.
    pub sequence: u32,
    /// LSAs that the sender has.
    pub headers: Vec<Header>,
}

impl Description {
    fn flags(&self) -> u8 {
        let bit = |set, bit| if set { bit } else { 0 };
        bit(self.initial, INITIAL) | bit(self.more, MORE) | bit(self.master, MASTER)
    }
}

impl Packet {
    /// Its bytes. LSAs are sent a second older than they are (`InfTransDelay`, §13.3).
    pub fn encode(&self, router: NodeId, hello: Duration, dead: Duration) -> Arc<[u8]> {
        let mut bytes = vec![0; PACKET_HEADER_BYTES];
        let kind = match self {
            Self::Hello(neighbours) => {
                // A point-to-point link has no mask and no designated router.
                bytes.extend([0; 4]);
                bytes.extend((seconds(hello) as u16).to_be_bytes());
                bytes.extend([OPTIONS, 1]);
                bytes.extend(seconds(dead).to_be_bytes());
                bytes.extend([0; 8]);
                for &neighbour in neighbours {
                    bytes.extend(address(neighbour).to_be_bytes());
                }
                HELLO
            }
            Self::Description(description) => {
                bytes.extend(1500u16.to_be_bytes());
                bytes.extend([OPTIONS, description.flags()]);
                bytes.extend(description.sequence.to_be_bytes());
                for header in &description.headers {
                    header.encode(&mut bytes);
                }
                DESCRIPTION
            }
            Self::Request(origins) => {
                for &origin in origins {
                    bytes.extend(1u32.to_be_bytes());
                    bytes.extend(address(origin).to_be_bytes());
                    bytes.extend(address(origin).to_be_bytes());
                }
                REQUEST
            }
            Self::Update(lsas) => {
                bytes.extend((lsas.len() as u32).to_be_bytes());
                for (lsa, age_s) in lsas {
                    lsa.encode(&mut bytes, (age_s + 1).min(lsa::MAX_AGE_S));
                }
                UPDATE
            }
            Self::Acknowledgment(headers) => {
                for header in headers {
                    header.encode(&mut bytes);
                }
                ACKNOWLEDGMENT
            }
        };
        let length = bytes.len() as u16;
        bytes[..2].copy_from_slice(&[VERSION, kind]);
        bytes[2..4].copy_from_slice(&length.to_be_bytes());
        bytes[4..8].copy_from_slice(&address(router).to_be_bytes());
        let sum = checksum(&bytes);
        bytes[12..14].copy_from_slice(&sum.to_be_bytes());
        bytes.into()
    }

    /// The packet and the router that sent it; `None` if it is damaged or no such packet.
    pub fn decode(bytes: &[u8]) -> Option<(NodeId, Self)> {
        let (header, _) = bytes.split_first_chunk::<PACKET_HEADER_BYTES>()?;
        let length = u16::from_be_bytes([header[2], header[3]]);
        let bytes = bytes.get(..usize::from(length))?;
        if header[0] != VERSION || bytes.len() < PACKET_HEADER_BYTES || checksum(bytes) != 0 {
            return None;
        }
        let router = node(u32::from_be_bytes([
            header[4], header[5], header[6], header[7],
        ]));
        let body = &bytes[PACKET_HEADER_BYTES..];
        let packet = match header[1] {
            HELLO => {
                let (neighbours, _) = body.get(20..)?.as_chunks::<4>();
                let address = |bytes: &[u8; 4]| node(u32::from_be_bytes(*bytes));
                Self::Hello(neighbours.iter().map(address).collect())
            }
            DESCRIPTION => {
                let (head, rest) = body.split_first_chunk::<8>()?;
                let flags = head[3];
                Self::Description(Description {
                    initial: flags & INITIAL != 0,
                    more: flags & MORE != 0,
                    master: flags & MASTER != 0,
                    sequence: u32::from_be_bytes([head[4], head[5], head[6], head[7]]),
                    headers: headers(rest),
                })
            }
            REQUEST => {
                let (entries, _) = body.as_chunks::<12>();
                let origin = |entry: &[u8; 12]| {
                    node(u32::from_be_bytes([
                        entry[8], entry[9], entry[10], entry[11],
                    ]))
                };
                Self::Request(entries.iter().map(origin).collect())
            }
            UPDATE => {
                let mut rest = body.get(4..)?;
                let mut lsas = Vec::new();
                // A damaged LSA is left out (§13, step 1).
                while let Some(header) = Header::decode(rest)
                    && rest.len() >= usize::from(header.length)
                    && usize::from(header.length) >= HEADER_BYTES
                {
                    let (one, others) = rest.split_at(usize::from(header.length));
                    lsas.extend(Lsa::decode(one));
                    rest = others;
                }
                Self::Update(lsas)
            }
            ACKNOWLEDGMENT => Self::Acknowledgment(headers(body)),
            _ => return None,
        };
        Some((router, packet))
    }
}

fn seconds(duration: Duration) -> u32 {
    (duration.as_ps() / 1_000_000_000_000).max(1) as u32
}

fn headers(bytes: &[u8]) -> Vec<Header> {
    let (headers, _) = bytes.as_chunks::<HEADER_BYTES>();
    headers
        .iter()
        .filter_map(|bytes| Header::decode(bytes))
        .collect()
}

/// The Internet checksum (RFC 1071); the authentication field is zero.
fn checksum(bytes: &[u8]) -> u16 {
    let mut sum = 0u32;
    for pair in bytes.chunks(2) {
        sum += u32::from(u16::from_be_bytes([
            pair[0],
            pair.get(1).copied().unwrap_or(0),
        ]));
    }
    while sum > 0xffff {
        sum = (sum & 0xffff) + (sum >> 16);
    }
    !(sum as u16)
}

#[cfg(test)]
mod tests {
    use super::*;

    const HELLO: Duration = Duration::from_secs(10);
    const DEAD: Duration = Duration::from_secs(40);

    fn bytes(packet: &Packet) -> Arc<[u8]> {
        packet.encode(NodeId(3), HELLO, DEAD)
    }

    /// A HELLO with one neighbour is 48 bytes, 82 on Ethernet with the IP header, as recorded of BIRD
    /// and FRR.
    #[test]
    fn a_hello_has_the_recorded_size() {
        let hello = bytes(&Packet::Hello(vec![NodeId(4)]));
        assert_eq!(14 + 20 + hello.len(), 82);
        let Some((NodeId(3), Packet::Hello(neighbours))) = Packet::decode(&hello) else {
            panic!("not a HELLO");
        };
        assert_eq!(neighbours, [NodeId(4)]);
    }

    #[test]
    fn packets_survive_the_wire() {
        let lsas: Vec<_> = (0..3u32)
            .map(|n| {
                let links = (0..n).map(|link| {
                    lsa::Entry::Link(lsa::Link {
                        neighbour: NodeId(link),
                        interface: link as u16,
                        cost: 7,
                    })
                });
                let lsa = Lsa::new(NodeId(n), lsa::INITIAL_SEQUENCE, links.collect());
                (lsa, n as u16)
            })
            .collect();
        let headers: Vec<_> = lsas.iter().map(|(lsa, age_s)| lsa.header(*age_s)).collect();
        let description = Description {
            initial: false,
            more: true,
            master: true,
            sequence: 77,
            headers: headers.clone(),
        };
        match Packet::decode(&bytes(&Packet::Description(description.clone()))) {
            Some((NodeId(3), Packet::Description(back))) => assert_eq!(back, description),
            other => panic!("{other:?}"),
        }
        match Packet::decode(&bytes(&Packet::Update(lsas))) {
            Some((_, Packet::Update(back))) => {
                let back: Vec<_> = back
                    .iter()
                    .map(|(lsa, age_s)| lsa.header(age_s - 1))
                    .collect();
                assert_eq!(back, headers, "a second older");
            }
            other => panic!("{other:?}"),
        }
        match Packet::decode(&bytes(&Packet::Request(vec![NodeId(1), NodeId(2)]))) {
            Some((_, Packet::Request(back))) => assert_eq!(back, [NodeId(1), NodeId(2)]),
            other => panic!("{other:?}"),
        }
        match Packet::decode(&bytes(&Packet::Acknowledgment(headers.clone()))) {
            Some((_, Packet::Acknowledgment(back))) => assert_eq!(back, headers),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn damaged_packets_are_refused() {
        let good = bytes(&Packet::Hello(vec![NodeId(4)]));
        for at in 0..good.len() {
            let mut bad = good.to_vec();
            bad[at] ^= 0x10;
            assert!(Packet::decode(&bad).is_none(), "byte {at}");
            assert!(Packet::decode(&good[..at]).is_none(), "{at} bytes");
        }
    }
}
