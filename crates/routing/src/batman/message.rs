//! The bytes of batman-adv's packets, each the payload of an Ethernet frame of type 0x4305.
//!
//! The layouts are those of `include/uapi/linux/batadv_packet.h`, version 15.

use backlane_net::{Interface, NodeId};

/// `BATADV_COMPAT_VERSION`.
const VERSION: u8 = 15;
/// The first octets: OGM of batman IV, ELP and OGM of batman V, a unicast data packet.
const IV_OGM: u8 = 0x00;
const ELP: u8 = 0x03;
const OGM2: u8 = 0x04;
const UNICAST: u8 = 0x40;

/// An OGM of batman IV without its TVLVs.
pub const IV_OGM_BYTES: usize = 24;
/// An OGM of batman V without its TVLVs.
pub const OGM2_BYTES: usize = 20;
/// An ELP packet: 16 bytes, and four zero bytes that Linux appends for a later extension
/// (`tvlv_padding` in `bat_v_elp.c`).
pub const ELP_BYTES: usize = 20;
/// A unicast header (10 bytes) and the Ethernet header of the encapsulated frame (14 bytes).
pub const DATA_HEADER_BYTES: usize = 24;

/// The place of the flags in an OGM of batman IV.
pub(super) const FLAGS_AT: usize = 3;

/// The OGM does not come from the sender's best next hop.
pub const NOT_BEST_NEXT_HOP: u8 = 1;
/// The OGM is repeated on the interface on which its originator, a neighbour, sent it.
pub const DIRECT_LINK: u8 = 4;

/// The IPv4 type of the encapsulated frame.
const IPV4: [u8; 2] = [0x08, 0x00];
/// Distinguishes radios from wires in [`Address::port`].
const RADIO: u16 = 0x2000;
const PORTS: u16 = 0x3fff;

/// The address of a node's port, in place of an Ethernet address.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Address {
    /// The node.
    pub node: NodeId,
    /// The number of the wire's interface or, with a bit that marks it, of the radio.
    pub port: u16,
}

impl Address {
    /// The address of this end of an interface with this number.
    pub fn here(node: NodeId, number: usize, interface: &Interface) -> Self {
        Self::of(node, number as u16, interface.radio)
    }

    /// The address of the far end of an interface.
    pub fn there(interface: &Interface) -> Self {
        let number = interface.peer_interface;
        Self::of(interface.peer, number, interface.peer_radio)
    }

    fn of(node: NodeId, number: u16, radio: Option<u8>) -> Self {
        let port = radio.map_or(number, |radio| RADIO | u16::from(radio));
        Self {
            node,
            port: port & PORTS,
        }
    }

    /// A locally administered unicast address.
    fn octets(self) -> [u8; 6] {
        let [high, low] = self.port.to_be_bytes();
        let [a, b, c, d] = self.node.0.to_be_bytes();
        [0x02 | high << 2, low, a, b, c, d]
    }

    fn from_octets(octets: [u8; 6]) -> Self {
        let [high, low, a, b, c, d] = octets;
        Self {
            node: NodeId(u32::from_be_bytes([a, b, c, d])),
            port: u16::from_be_bytes([high >> 2, low]),
        }
    }
}

/// An OGM of batman IV.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct IvOgm<'a> {
    /// Hops that the OGM may still travel.
    pub ttl: u8,
    /// [`NOT_BEST_NEXT_HOP`], [`DIRECT_LINK`].
    pub flags: u8,
    /// The originator numbers its OGMs one by one.
    pub sequence: u32,
    /// The port that sent it first.
    pub originator: Address,
    /// The port from which the sender received it; the originator's own at first.
    pub previous: Address,
    /// The transmit quality of the path from the sender to the originator, of 255.
    pub tq: u8,
    /// TVLV containers.
    pub tvlv: &'a [u8],
}

impl<'a> IvOgm<'a> {
    /// Appends the bytes of the OGM.
    pub fn encode(&self, bytes: &mut Vec<u8>) {
        bytes.extend([IV_OGM, VERSION, self.ttl, self.flags]);
        bytes.extend(self.sequence.to_be_bytes());
        bytes.extend(self.originator.octets());
        bytes.extend(self.previous.octets());
        bytes.extend([0, self.tq]);
        bytes.extend((self.tvlv.len() as u16).to_be_bytes());
        bytes.extend(self.tvlv);
    }

    /// The OGM at the start of `bytes`, and what follows it.
    pub fn decode(bytes: &'a [u8]) -> Option<(Self, &'a [u8])> {
        let (head, rest) = bytes.split_first_chunk::<IV_OGM_BYTES>()?;
        if head[0] != IV_OGM || head[1] != VERSION {
            return None;
        }
        let (tvlv, rest) = rest.split_at_checked(u16_at(head, 22).into())?;
        let ogm = Self {
            ttl: head[2],
            flags: head[3],
            sequence: u32_at(head, 4),
            originator: address_at(head, 8),
            previous: address_at(head, 14),
            tq: head[21],
            tvlv,
        };
        Some((ogm, rest))
    }
}

/// An OGM of batman V.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ogm2<'a> {
    /// Hops that the OGM may still travel.
    pub ttl: u8,
    /// The originator numbers its OGMs one by one.
    pub sequence: u32,
    /// The originator's first port.
    pub originator: Address,
    /// The throughput of the path from the sender to the originator, in 100 kbit/s.
    pub throughput: u32,
    /// TVLV containers.
    pub tvlv: &'a [u8],
}

impl<'a> Ogm2<'a> {
    /// Appends the bytes of the OGM.
    pub fn encode(&self, bytes: &mut Vec<u8>) {
        bytes.extend([OGM2, VERSION, self.ttl, 0]);
        bytes.extend(self.sequence.to_be_bytes());
        bytes.extend(self.originator.octets());
        bytes.extend((self.tvlv.len() as u16).to_be_bytes());
        bytes.extend(self.throughput.to_be_bytes());
        bytes.extend(self.tvlv);
    }

    /// The OGM at the start of `bytes`, and what follows it.
    pub fn decode(bytes: &'a [u8]) -> Option<(Self, &'a [u8])> {
        let (head, rest) = bytes.split_first_chunk::<OGM2_BYTES>()?;
        if head[0] != OGM2 || head[1] != VERSION {
            return None;
        }
        let (tvlv, rest) = rest.split_at_checked(u16_at(head, 14).into())?;
        let ogm = Self {
            ttl: head[2],
            sequence: u32_at(head, 4),
            originator: address_at(head, 8),
            throughput: u32_at(head, 16),
            tvlv,
        };
        Some((ogm, rest))
    }
}

/// An ELP packet of batman V: a neighbour is there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Elp {
    /// The sender's first port.
    pub originator: Address,
    /// The sender numbers the ELPs of a port one by one.
    pub sequence: u32,
    /// Time between two of them, in ms.
    pub interval_ms: u32,
}

impl Elp {
    /// The bytes, filled with zeros up to `size`.
    pub fn encode(&self, size: usize) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(size);
        bytes.extend([ELP, VERSION]);
        bytes.extend(self.originator.octets());
        bytes.extend(self.sequence.to_be_bytes());
        bytes.extend(self.interval_ms.to_be_bytes());
        bytes.resize(size, 0);
        bytes
    }

    /// The ELP packet, if it is one.
    pub fn decode(bytes: &[u8]) -> Option<Self> {
        let (head, _) = bytes.split_first_chunk::<16>()?;
        (head[0] == ELP && head[1] == VERSION).then(|| Self {
            originator: address_at(head, 2),
            sequence: u32_at(head, 8),
            interval_ms: u32_at(head, 12),
        })
    }
}

/// The headers of a data packet from `source` to `destination`: that of the unicast packet, and
/// the Ethernet header inside.
pub fn data_header(source: Address, destination: Address) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(DATA_HEADER_BYTES);
    bytes.extend([UNICAST, VERSION, super::TTL, 0]);
    bytes.extend(destination.octets());
    bytes.extend(destination.octets());
    bytes.extend(source.octets());
    bytes.extend(IPV4);
    bytes
}

fn u16_at(bytes: &[u8], at: usize) -> u16 {
    u16::from_be_bytes([bytes[at], bytes[at + 1]])
}

fn u32_at(bytes: &[u8], at: usize) -> u32 {
    u32::from(u16_at(bytes, at)) << 16 | u32::from(u16_at(bytes, at + 2))
}

fn address_at(bytes: &[u8], at: usize) -> Address {
    let mut octets = [0; 6];
    octets.copy_from_slice(&bytes[at..at + 6]);
    Address::from_octets(octets)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn address() -> impl Strategy<Value = Address> {
        (any::<u32>(), 0..=PORTS).prop_map(|(node, port)| Address {
            node: NodeId(node),
            port,
        })
    }

    proptest! {
        #[test]
        fn ogms_of_version_iv_survive_encoding(
            (ttl, flags, tq) in any::<(u8, u8, u8)>(), sequence: u32,
            originator in address(), previous in address(), tvlv: Vec<u8>,
        ) {
            let ogm = IvOgm { ttl, flags, sequence, originator, previous, tq, tvlv: &tvlv };
            let mut bytes = Vec::new();
            ogm.encode(&mut bytes);
            prop_assert_eq!(bytes.len(), 24 + tvlv.len());
            bytes.push(7);
            prop_assert_eq!(IvOgm::decode(&bytes), Some((ogm, &[7][..])));
        }

        #[test]
        fn ogms_of_version_v_survive_encoding(
            ttl: u8, (sequence, throughput) in any::<(u32, u32)>(), originator in address(),
            tvlv: Vec<u8>,
        ) {
            let ogm = Ogm2 { ttl, sequence, originator, throughput, tvlv: &tvlv };
            let mut bytes = Vec::new();
            ogm.encode(&mut bytes);
            prop_assert_eq!(bytes.len(), 20 + tvlv.len());
            bytes.push(7);
            prop_assert_eq!(Ogm2::decode(&bytes), Some((ogm, &[7][..])));
        }

        #[test]
        fn elps_survive_encoding_at_any_size(
            originator in address(), (sequence, interval_ms) in any::<(u32, u32)>(),
            size in 16usize..300,
        ) {
            let elp = Elp { originator, sequence, interval_ms };
            let bytes = elp.encode(size);
            prop_assert_eq!(bytes.len(), size);
            prop_assert_eq!(Elp::decode(&bytes), Some(elp));
        }

        #[test]
        fn any_bytes_are_decoded_or_refused(bytes: Vec<u8>) {
            let _ = (IvOgm::decode(&bytes), Ogm2::decode(&bytes), Elp::decode(&bytes));
        }
    }

    #[test]
    fn a_data_header_has_24_bytes() {
        let [a, b] = [1, 2].map(|node| Address {
            node: NodeId(node),
            port: 0,
        });
        assert_eq!(data_header(a, b).len(), DATA_HEADER_BYTES);
    }
}
