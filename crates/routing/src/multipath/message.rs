//! The messages of discovery: HELLOs and link states, in one UDP datagram.
//!
//! ```text
//! 0: number of neighbours heard (2 bytes)    2: their node numbers (4 bytes each)
//! then, for each link state: originator (4), sequence number (2), number of neighbours (2),
//! their node numbers (4 each)
//! ```
//!
//! All numbers are big-endian. The format is ours.

use std::sync::Arc;

use backlane_net::NodeId;

/// The links of one node.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LinkState {
    /// The node.
    pub originator: NodeId,
    /// Its count of link states, modulo 2¹⁶.
    pub sequence: u16,
    /// The neighbours that it may send to, in ascending order.
    pub neighbours: Vec<NodeId>,
}

/// What a node broadcasts.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Message {
    /// The neighbours that the sender hears; `None`: no HELLO.
    pub heard: Option<Vec<NodeId>>,
    /// Link states, its own and those that it passes on.
    pub states: Vec<LinkState>,
}

/// Stands for the number of neighbours in a message that is no HELLO.
const NO_HELLO: u16 = u16::MAX;

impl LinkState {
    /// Its length in a message, in bytes.
    pub fn encoded_len(&self) -> usize {
        8 + 4 * self.neighbours.len()
    }

    /// Whether it replaces one of this sequence number: numbers are compared as signed differences.
    pub fn is_newer_than(&self, sequence: u16) -> bool {
        self.sequence.wrapping_sub(sequence) as i16 > 0
    }
}

impl Message {
    /// The message as bytes. No node has 65 535 neighbours.
    pub fn encode(&self) -> Arc<[u8]> {
        let mut bytes = Vec::new();
        let heard = self.heard.as_deref();
        let count = heard.map_or(NO_HELLO, |heard| {
            heard.len().min(usize::from(NO_HELLO) - 1) as u16
        });
        bytes.extend(count.to_be_bytes());
        put(&mut bytes, heard.unwrap_or_default());
        for state in &self.states {
            bytes.extend(state.originator.0.to_be_bytes());
            bytes.extend(state.sequence.to_be_bytes());
            bytes.extend((state.neighbours.len() as u16).to_be_bytes());
            put(&mut bytes, &state.neighbours);
        }
        bytes.into()
    }

    /// Decodes a message; `None` if it is not complete, or names a node from `nodes` on.
    pub fn decode(bytes: &[u8], nodes: usize) -> Option<Self> {
        let mut rest = bytes;
        let count = u16::from_be_bytes(take(&mut rest)?);
        let heard = match count {
            NO_HELLO => None,
            count => Some(node_list(&mut rest, count, nodes)?),
        };
        let mut states = Vec::new();
        while !rest.is_empty() {
            let originator = node(&mut rest, nodes)?;
            let sequence = u16::from_be_bytes(take(&mut rest)?);
            let count = u16::from_be_bytes(take(&mut rest)?);
            states.push(LinkState {
                originator,
                sequence,
                neighbours: node_list(&mut rest, count, nodes)?,
            });
        }
        Some(Self { heard, states })
    }
}

fn put(bytes: &mut Vec<u8>, nodes: &[NodeId]) {
    for node in nodes.iter().take(usize::from(NO_HELLO) - 1) {
        bytes.extend(node.0.to_be_bytes());
    }
}

fn take<const N: usize>(rest: &mut &[u8]) -> Option<[u8; N]> {
    let (first, more) = rest.split_first_chunk::<N>()?;
    *rest = more;
    Some(*first)
}

fn node(rest: &mut &[u8], nodes: usize) -> Option<NodeId> {
    let node = NodeId(u32::from_be_bytes(take(rest)?));
    (node.index() < nodes).then_some(node)
}

fn node_list(rest: &mut &[u8], count: u16, nodes: usize) -> Option<Vec<NodeId>> {
    // A list longer than the message is refused before it is allocated.
    if rest.len() < 4 * usize::from(count) {
        return None;
    }
    (0..count).map(|_| node(rest, nodes)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_hello_with_two_neighbours_and_one_link_state_takes_twenty_six_bytes() {
        let message = Message {
            heard: Some(vec![NodeId(1), NodeId(2)]),
            states: vec![LinkState {
                originator: NodeId(3),
                sequence: 258,
                neighbours: vec![NodeId(4), NodeId(5)],
            }],
        };
        let bytes = message.encode();
        assert_eq!(
            bytes[..],
            [
                0, 2, 0, 0, 0, 1, 0, 0, 0, 2, 0, 0, 0, 3, 1, 2, 0, 2, 0, 0, 0, 4, 0, 0, 0, 5
            ]
        );
        assert_eq!(message.states[0].encoded_len(), 16);
        assert_eq!(Message::decode(&bytes, 6), Some(message));
        assert_eq!(Message::decode(&bytes, 5), None, "there is no node 5");
    }

    #[test]
    fn sequence_numbers_wrap() {
        let state = |sequence| LinkState {
            originator: NodeId(0),
            sequence,
            neighbours: Vec::new(),
        };
        assert!(state(1).is_newer_than(u16::MAX));
        assert!(!state(u16::MAX).is_newer_than(1));
        assert!(!state(7).is_newer_than(7));
    }

    fn lists() -> impl Strategy<Value = Vec<NodeId>> {
        prop::collection::vec((0u32..50).prop_map(NodeId), 0..6)
    }

    proptest! {
        #[test]
        fn decoding_inverts_encoding(
            heard in prop::option::of(lists()),
            states in prop::collection::vec((0u32..50, any::<u16>(), lists()), 0..5),
        ) {
            let states = states.into_iter().map(|(originator, sequence, neighbours)| LinkState {
                originator: NodeId(originator),
                sequence,
                neighbours,
            });
            let message = Message { heard, states: states.collect() };
            prop_assert_eq!(Message::decode(&message.encode(), 50), Some(message));
        }

        #[test]
        fn no_bytes_cause_a_panic_in_the_decoder(bytes in prop::collection::vec(any::<u8>(), 0..80)) {
            let _ = Message::decode(&bytes, 10);
        }
    }
}
