//! Router-LSAs (RFC 2328 §12.4.1 and appendix A.4).

use std::cmp::Ordering;
use std::sync::Arc;

use backlane_net::NodeId;

/// The age at which an LSA is no longer used (appendix B: MaxAge), in seconds.
pub const MAX_AGE_S: u16 = 3600;
/// LSAs whose ages differ by more are different (appendix B: MaxAgeDiff).
const MAX_AGE_DIFFERENCE_S: u16 = 900;
/// The sequence number of a router's first LSA (§12.1.6).
pub const INITIAL_SEQUENCE: i32 = i32::MIN + 1;

/// Bytes of a header.
pub const HEADER_BYTES: usize = 20;
const ENTRY_BYTES: usize = 12;
const ROUTER_LSA: u8 = 1;
const POINT_TO_POINT: u8 = 1;
const STUB: u8 = 3;
/// The E bit: external routes are understood.
pub(super) const OPTIONS: u8 = 2;

/// The address of a node, which is its router ID: that of captures.
pub fn address(node: NodeId) -> u32 {
    (10 << 24) | (node.0 & 0x00ff_ffff)
}

/// The node of a router ID.
pub fn node(address: u32) -> NodeId {
    NodeId(address & 0x00ff_ffff)
}

/// What names an instance of an LSA.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Header {
    /// Seconds since its origination.
    pub age_s: u16,
    /// The router that describes its links.
    pub origin: NodeId,
    /// Grows with each instance.
    pub sequence: i32,
    /// Fletcher's checksum over all but the age.
    pub checksum: u16,
    /// Bytes of the LSA.
    pub length: u16,
}

impl Header {
    /// Which of two instances of an LSA is newer (§13.1).
    pub fn compare(&self, other: &Self) -> Ordering {
        let by_age = || {
            let old = |age_s| age_s >= MAX_AGE_S;
            if old(self.age_s) != old(other.age_s) {
                return old(self.age_s).cmp(&old(other.age_s));
            }
            if self.age_s.abs_diff(other.age_s) > MAX_AGE_DIFFERENCE_S {
                return other.age_s.cmp(&self.age_s);
            }
            Ordering::Equal
        };
        (self.sequence, self.checksum)
            .cmp(&(other.sequence, other.checksum))
            .then_with(by_age)
    }

    /// Appends the header.
    pub fn encode(&self, bytes: &mut Vec<u8>) {
        bytes.extend(self.age_s.to_be_bytes());
        bytes.extend([OPTIONS, ROUTER_LSA]);
        bytes.extend(address(self.origin).to_be_bytes());
        bytes.extend(address(self.origin).to_be_bytes());
        bytes.extend(self.sequence.to_be_bytes());
        bytes.extend(self.checksum.to_be_bytes());
        bytes.extend(self.length.to_be_bytes());
    }

    /// The header at the start of `bytes`; `None` if it is cut short or of another type.
    pub fn decode(bytes: &[u8]) -> Option<Self> {
        let bytes: &[u8; HEADER_BYTES] = bytes.get(..HEADER_BYTES)?.try_into().ok()?;
        let pair = |at: usize| u16::from_be_bytes([bytes[at], bytes[at + 1]]);
        let word = |at: usize| {
            u32::from_be_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]])
        };
        (bytes[3] == ROUTER_LSA).then(|| Self {
            age_s: pair(0),
            origin: node(word(8)),
            sequence: word(12).cast_signed(),
            checksum: pair(16),
            length: pair(18),
        })
    }
}

/// A link to a router with which the origin has a full adjacency.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Link {
    /// The router at the other end.
    pub neighbour: NodeId,
    /// The origin's interface: it distinguishes unnumbered links (§12.4.1.1).
    pub interface: u16,
    /// The cost of the origin's direction.
    pub cost: u16,
}

/// A part of a router-LSA (§12.4.1.1).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Entry {
    /// A link to a router.
    Link(Link),
    /// A network without further routers: the router's own address, or that of a link.
    Stub {
        /// Its address.
        address: u32,
        /// Its mask.
        mask: u32,
        /// Its cost.
        cost: u16,
    },
}

/// A router-LSA: the links of a router.
#[derive(Clone, Debug)]
pub struct Lsa {
    header: Header,
    entries: Arc<[Entry]>,
}

impl Lsa {
    /// A new instance.
    pub fn new(origin: NodeId, sequence: i32, entries: Vec<Entry>) -> Self {
        let length = HEADER_BYTES + 4 + ENTRY_BYTES * entries.len();
        let header = Header {
            age_s: 0,
            origin,
            sequence,
            checksum: 0,
            length: length as u16,
        };
        let mut lsa = Self {
            header,
            entries: entries.into(),
        };
        let mut bytes = Vec::with_capacity(length);
        lsa.encode(&mut bytes, 0);
        lsa.header.checksum = checksum(&bytes[2..]);
        lsa
    }

    /// Its header with an age.
    pub fn header(&self, age_s: u16) -> Header {
        Header {
            age_s,
            ..self.header
        }
    }

    /// The parts.
    pub fn entries(&self) -> &[Entry] {
        &self.entries
    }

    /// The links of its origin to routers.
    pub fn links(&self) -> impl Iterator<Item = &Link> {
        self.entries.iter().filter_map(|entry| match entry {
            Entry::Link(link) => Some(link),
            Entry::Stub { .. } => None,
        })
    }

    /// Appends it with an age.
    pub fn encode(&self, bytes: &mut Vec<u8>, age_s: u16) {
        self.header(age_s).encode(bytes);
        bytes.extend([0, 0]);
        bytes.extend((self.entries.len() as u16).to_be_bytes());
        for entry in self.entries.iter() {
            let (id, data, kind, cost) = match *entry {
                Entry::Link(link) => {
                    let data = u32::from(link.interface) + 1;
                    (address(link.neighbour), data, POINT_TO_POINT, link.cost)
                }
                Entry::Stub {
                    address,
                    mask,
                    cost,
                } => (address, mask, STUB, cost),
            };
            bytes.extend(id.to_be_bytes());
            bytes.extend(data.to_be_bytes());
            bytes.extend([kind, 0]);
            bytes.extend(cost.to_be_bytes());
        }
    }

    /// The LSA at the start of `bytes`, and its age; `None` if it is cut short or damaged.
    pub fn decode(bytes: &[u8]) -> Option<(Self, u16)> {
        let header = Header::decode(bytes)?;
        let bytes = bytes.get(..usize::from(header.length))?;
        if bytes.len() < HEADER_BYTES + 4 || checksum(&bytes[2..]) != header.checksum {
            return None;
        }
        let (entries, _) = bytes[HEADER_BYTES + 4..].as_chunks::<ENTRY_BYTES>();
        let entries = entries.iter().filter_map(|entry| {
            let word = |at: usize| {
                u32::from_be_bytes([entry[at], entry[at + 1], entry[at + 2], entry[at + 3]])
            };
            let cost = u16::from_be_bytes([entry[10], entry[11]]);
            match entry[8] {
                POINT_TO_POINT => Some(Entry::Link(Link {
                    neighbour: node(word(0)),
                    interface: (word(4) as u16).wrapping_sub(1),
                    cost,
                })),
                STUB => Some(Entry::Stub {
                    address: word(0),
                    mask: word(4),
                    cost,
                }),
                _ => None,
            }
        });
        let age_s = header.age_s;
        let lsa = Self {
            entries: entries.collect(),
            header: Header { age_s: 0, ..header },
        };
        Some((lsa, age_s))
    }
}

/// Where the checksum is in an LSA without its age.
const CHECKSUM_AT: usize = 14;

/// Fletcher's checksum of an LSA without its age, for its place there (RFC 905 annex B; RFC 2328
/// §12.1.7).
pub fn checksum(bytes: &[u8]) -> u16 {
    let (mut low, mut high) = (0u32, 0u32);
    for (at, &byte) in bytes.iter().enumerate() {
        let byte = if at / 2 == CHECKSUM_AT / 2 { 0 } else { byte };
        low = (low + u32::from(byte)) % 255;
        high = (high + low) % 255;
    }
    let after = (bytes.len() - CHECKSUM_AT - 1) as u32 % 255;
    let mut first = (after * low + 2 * 255 - high) % 255;
    let mut second = (2 * 255 - low - first) % 255;
    if first == 0 {
        first = 255;
    }
    if second == 0 {
        second = 255;
    }
    (first << 8 | second) as u16
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bytes(hex: &str) -> Vec<u8> {
        let digits: Vec<u8> = hex
            .bytes()
            .filter(|byte| !byte.is_ascii_whitespace())
            .collect();
        let (pairs, _) = digits.as_chunks::<2>();
        let pair = |pair: &[u8; 2]| u8::from_str_radix(std::str::from_utf8(pair).unwrap(), 16);
        pairs.iter().map(|digits| pair(digits).unwrap()).collect()
    }

    #[test]
    fn an_lsa_survives_the_wire() {
        let entries = vec![
            Entry::Link(Link {
                neighbour: NodeId(7),
                interface: 3,
                cost: 10,
            }),
            Entry::Link(Link {
                neighbour: NodeId(9),
                interface: 0,
                cost: 65_535,
            }),
            Entry::Stub {
                address: address(NodeId(2)),
                mask: u32::MAX,
                cost: 0,
            },
        ];
        let lsa = Lsa::new(NodeId(2), INITIAL_SEQUENCE + 5, entries.clone());
        let mut wire = Vec::new();
        lsa.encode(&mut wire, 17);
        let (back, age_s) = Lsa::decode(&wire).unwrap();
        assert_eq!((back.entries(), age_s), (&entries[..], 17));
        assert_eq!(back.header(0), lsa.header(0));
        wire[30] ^= 1;
        assert!(Lsa::decode(&wire).is_none(), "damaged");
        assert!(Lsa::decode(&wire[..40]).is_none(), "cut short");
    }

    /// The sum over the whole LSA with its checksum is zero (RFC 905 annex B).
    #[test]
    fn the_checksum_makes_both_sums_zero() {
        for links in 0..20u32 {
            let links = (0..links).map(|n| {
                Entry::Link(Link {
                    neighbour: NodeId(n * n),
                    interface: n as u16,
                    cost: 10,
                })
            });
            let mut wire = Vec::new();
            Lsa::new(NodeId(77), INITIAL_SEQUENCE, links.collect()).encode(&mut wire, 5);
            let (mut low, mut high) = (0u32, 0u32);
            for &byte in &wire[2..] {
                low = (low + u32::from(byte)) % 255;
                high = (high + low) % 255;
            }
            assert_eq!((low, high), (0, 0));
        }
    }

    /// A router-LSA of FRR 8.4.4, from a capture.
    #[test]
    fn a_recorded_lsa_has_the_checksum_that_is_computed() {
        let wire = bytes(RECORDED);
        let (lsa, age_s) = Lsa::decode(&wire).unwrap();
        assert_eq!(age_s, RECORDED_AGE_S);
        assert_eq!(lsa.links().count(), RECORDED_LINKS);
        let mut again = Vec::new();
        lsa.encode(&mut again, age_s);
        // The interfaces of the recorded links have addresses, of which 16 bits are kept.
        assert_eq!(again.len(), wire.len());
    }

    const RECORDED: &str = "\
        000102010aff00010aff00018000000524560054000000050aff00020a0100010100000a0a010000 \
        fffffffc0300000a0aff00060a0105020100000a0a010500fffffffc0300000a0aff0001ffffffff \
        03000000";
    const RECORDED_AGE_S: u16 = 1;
    const RECORDED_LINKS: usize = 2;

    #[test]
    fn the_newer_instance_has_the_larger_sequence_then_checksum_then_is_old_then_young() {
        let header = |sequence, checksum, age_s| Header {
            age_s,
            origin: NodeId(1),
            sequence,
            checksum,
            length: 36,
        };
        let newer = |a: Header, b: Header| {
            assert_eq!(a.compare(&b), Ordering::Greater);
            assert_eq!(b.compare(&a), Ordering::Less);
        };
        newer(header(2, 0, 0), header(1, 9, 3600));
        newer(
            header(INITIAL_SEQUENCE + 1, 0, 0),
            header(INITIAL_SEQUENCE, 9, 0),
        );
        newer(header(1, 9, 0), header(1, 8, 0));
        newer(header(1, 9, MAX_AGE_S), header(1, 9, 10));
        newer(header(1, 9, 10), header(1, 9, 911));
        assert_eq!(
            header(1, 9, 10).compare(&header(1, 9, 910)),
            Ordering::Equal
        );
    }
}
