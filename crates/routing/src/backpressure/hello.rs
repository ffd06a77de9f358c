//! The HELLO of backpressure: OLSR's packet and message header (RFC 3626 §3.3) around the queue
//! lengths of the sender's interfaces or destinations.

use std::sync::Arc;

/// Message type of a HELLO (RFC 3626 §18.4).
const HELLO_MESSAGE: u8 = 1;
/// Length of packet header, message header and the fixed part of the body, in bytes.
const FIXED_BYTES: usize = 4 + 12 + 9;
/// Length of a destination and its backlog, in bytes.
const DESTINATION_BYTES: usize = 6;
/// The number of destinations that fit into a datagram.
const MOST_DESTINATIONS: usize = 10_000;
/// An interface whose neighbour is silent.
const DOWN: u16 = u16::MAX;

/// A node's report of its queues to its neighbours.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hello {
    /// The sender's node number.
    pub originator: u32,
    /// The sender's count of HELLOs, modulo 2¹⁶.
    pub sequence: u16,
    /// Queue length of each of the sender's interfaces, in full packets; `None`: the neighbour on it
    /// is silent.
    pub queues_pkts: Vec<Option<u16>>,
    /// Destination and backlog in packets, where a protocol keeps queues for destinations.
    pub by_destination: Vec<(u32, u16)>,
}

impl Hello {
    /// The message as bytes, with at most 255 interfaces and 10 000 destinations.
    pub fn encode(&self) -> Arc<[u8]> {
        let interfaces = self.queues_pkts.len().min(255);
        let destinations = self.by_destination.len().min(MOST_DESTINATIONS);
        let length = FIXED_BYTES + 2 * interfaces + DESTINATION_BYTES * destinations;
        let total: u32 = self
            .queues_pkts
            .iter()
            .flatten()
            .map(|&pkts| u32::from(pkts))
            .sum();
        let mut bytes = Vec::with_capacity(length);
        bytes.extend((length as u16).to_be_bytes());
        bytes.extend(self.sequence.to_be_bytes());
        bytes.push(HELLO_MESSAGE);
        bytes.push(0);
        bytes.extend(((length - 4) as u16).to_be_bytes());
        bytes.extend(self.originator.to_be_bytes());
        bytes.extend([1, 0]);
        bytes.extend(self.sequence.to_be_bytes());
        bytes.extend([0, 0, 0, 0]);
        bytes.extend(total.to_be_bytes());
        bytes.push(interfaces as u8);
        for queue in &self.queues_pkts[..interfaces] {
            bytes.extend(queue.map_or(DOWN, |pkts| pkts.min(DOWN - 1)).to_be_bytes());
        }
        for (destination, pkts) in &self.by_destination[..destinations] {
            bytes.extend(destination.to_be_bytes());
            bytes.extend(pkts.to_be_bytes());
        }
        debug_assert_eq!(bytes.len(), length);
        bytes.into()
    }

    /// Decodes a message; `None` if it is not a complete HELLO.
    pub fn decode(bytes: &[u8]) -> Option<Self> {
        let u16_at = |at: usize| Some(u16::from_be_bytes(bytes.get(at..at + 2)?.try_into().ok()?));
        if *bytes.get(4)? != HELLO_MESSAGE {
            return None;
        }
        let interfaces = usize::from(*bytes.get(FIXED_BYTES - 1)?);
        let (destinations, rest) = bytes
            .get(FIXED_BYTES + 2 * interfaces..)?
            .as_chunks::<DESTINATION_BYTES>();
        if usize::from(u16_at(0)?) != bytes.len() || !rest.is_empty() {
            return None;
        }
        Some(Self {
            originator: u32::from_be_bytes(bytes.get(8..12)?.try_into().ok()?),
            sequence: u16_at(2)?,
            queues_pkts: (0..interfaces)
                .map(|interface| {
                    let pkts = u16_at(FIXED_BYTES + 2 * interface)?;
                    Some((pkts != DOWN).then_some(pkts))
                })
                .collect::<Option<_>>()?,
            by_destination: destinations
                .iter()
                .map(|&[a, b, c, d, high, low]| {
                    (
                        u32::from_be_bytes([a, b, c, d]),
                        u16::from_be_bytes([high, low]),
                    )
                })
                .collect(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn four_interfaces_take_sixty_one_bytes_on_the_link() {
        let hello = Hello {
            originator: 7,
            sequence: 1,
            queues_pkts: vec![Some(0); 4],
            by_destination: Vec::new(),
        };
        assert_eq!(hello.encode().len() + 28, 61);
    }

    proptest! {
        #[test]
        fn decoding_inverts_encoding(
            originator in any::<u32>(),
            sequence in any::<u16>(),
            queues_pkts in prop::collection::vec(prop::option::of(0..u16::MAX), 0..20),
            by_destination in prop::collection::vec(any::<(u32, u16)>(), 0..20),
        ) {
            let hello = Hello { originator, sequence, queues_pkts, by_destination };
            prop_assert_eq!(Hello::decode(&hello.encode()), Some(hello));
        }

        #[test]
        fn no_bytes_cause_a_panic_in_the_decoder(bytes in prop::collection::vec(any::<u8>(), 0..80)) {
            let _ = Hello::decode(&bytes);
        }
    }
}
