//! The HELLO of BP-MR: OLSR's packet and message header (RFC 3626 §3.3) around the queue
//! lengths of the sender's interfaces.

use std::sync::Arc;

/// Message type of a HELLO (RFC 3626 §18.4).
const HELLO_MESSAGE: u8 = 1;
/// Length of packet header, message header and the fixed part of the body, in bytes.
const FIXED_BYTES: usize = 4 + 12 + 9;
/// An interface whose neighbour is silent.
const DOWN: u16 = u16::MAX;

/// What a node tells its neighbours about its queues.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hello {
    /// The sender's node number.
    pub originator: u32,
    /// The sender's count of HELLOs, modulo 2¹⁶.
    pub sequence: u16,
    /// Queue length of each of the sender's interfaces, in full packets; `None`: the neighbour on it
    /// is silent.
    pub queues_pkts: Vec<Option<u16>>,
}

impl Hello {
    /// The message as bytes. At most 255 interfaces are told of.
    pub fn encode(&self) -> Arc<[u8]> {
        let interfaces = self.queues_pkts.len().min(255);
        let length = FIXED_BYTES + 2 * interfaces;
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
        debug_assert_eq!(bytes.len(), length);
        bytes.into()
    }

    /// Reads a message; `None` if it is not a whole HELLO.
    pub fn decode(bytes: &[u8]) -> Option<Self> {
        let u16_at = |at: usize| Some(u16::from_be_bytes(bytes.get(at..at + 2)?.try_into().ok()?));
        if *bytes.get(4)? != HELLO_MESSAGE {
            return None;
        }
        let interfaces = usize::from(*bytes.get(FIXED_BYTES - 1)?);
        if usize::from(u16_at(0)?) != bytes.len() || bytes.len() != FIXED_BYTES + 2 * interfaces {
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
        };
        assert_eq!(hello.encode().len() + 28, 61);
    }

    proptest! {
        #[test]
        fn what_is_encoded_is_decoded(
            originator in any::<u32>(),
            sequence in any::<u16>(),
            queues_pkts in prop::collection::vec(prop::option::of(0..u16::MAX), 0..20),
        ) {
            let hello = Hello { originator, sequence, queues_pkts };
            prop_assert_eq!(Hello::decode(&hello.encode()), Some(hello));
        }

        #[test]
        fn no_bytes_bring_the_decoder_down(bytes in prop::collection::vec(any::<u8>(), 0..80)) {
            let _ = Hello::decode(&bytes);
        }
    }
}
