//! HELLOs as the probes of ETX: a sequence number and the delivery ratio from each neighbour, in an
//! extension that follows the HELLO (RFC 3561 permits extensions).

use backlane_net::NodeId;

use super::message::{self, address};

/// The extension: a number of 16 bits; then for each neighbour its address and the share of its
/// probes that arrived, 255 for all. The type is not assigned.
const EXTENSION: u8 = 11;
const NEIGHBOUR_BYTES: usize = 5;
/// The length of an extension is a field of 8 bits; longer lists take several.
const NEIGHBOURS_MAX: usize = (u8::MAX as usize - 2) / NEIGHBOUR_BYTES;

/// The content of a probe.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Probe {
    pub number: u16,
    pub heard: Vec<(NodeId, u8)>,
}

impl Probe {
    /// Appends the extension to a HELLO.
    pub(super) fn encode(&self, out: &mut Vec<u8>) {
        let mut lists: Vec<&[(NodeId, u8)]> = self.heard.chunks(NEIGHBOURS_MAX).collect();
        if lists.is_empty() {
            lists.push(&[]);
        }
        for list in lists {
            let length = 2 + NEIGHBOUR_BYTES * list.len();
            out.extend_from_slice(&[EXTENSION, length as u8]);
            out.extend_from_slice(&self.number.to_be_bytes());
            for (node, share) in list {
                out.extend_from_slice(&address(*node).to_be_bytes());
                out.push(*share);
            }
        }
    }

    /// Decodes what follows a HELLO; `None` if there is no such extension.
    pub(super) fn decode(hello: &[u8]) -> Option<Self> {
        let mut probe = None;
        for (kind, value) in message::extensions_of_reply(hello) {
            if kind == EXTENSION
                && let Some((number, list)) = value.split_first_chunk()
            {
                let probe = probe.get_or_insert_with(Self::default);
                probe.number = u16::from_be_bytes(*number);
                let entries = list.chunks_exact(NEIGHBOUR_BYTES);
                probe.heard.extend(
                    entries.filter_map(|entry| Some((message::node(entry, 0)?, *entry.last()?))),
                );
            }
        }
        probe
    }
}

#[cfg(test)]
mod tests {
    use super::super::message::{Message, RouteReply};
    use super::*;

    fn hello() -> Vec<u8> {
        Message::Reply(RouteReply {
            repair: false,
            ack_required: false,
            prefix: 0,
            hops: 0,
            destination: NodeId(1),
            destination_sequence: 1,
            originator: NodeId(1),
            lifetime_ms: 2000,
            metric: None,
        })
        .encode()
    }

    #[test]
    fn a_probe_follows_a_hello_in_these_bytes() {
        let probe = Probe {
            number: 0x0102,
            heard: vec![(NodeId(2), 255), (NodeId(3), 127)],
        };
        let mut bytes = hello();
        assert_eq!(Probe::decode(&bytes), None);
        probe.encode(&mut bytes);
        #[rustfmt::skip]
        let expected = [
            11, 12, 1, 2,
            10, 0, 0, 2, 255,
            10, 0, 0, 3, 127,
        ];
        assert_eq!(bytes[20..], expected);
        assert_eq!(Probe::decode(&bytes), Some(probe));
        assert!(matches!(Message::decode(&bytes), Some(Message::Reply(hello)) if hello.is_hello()));
    }

    #[test]
    fn many_neighbours_take_several_extensions_and_truncated_bytes_are_none() {
        let probe = Probe {
            number: 7,
            heard: (0..120).map(|node| (NodeId(node), node as u8)).collect(),
        };
        let mut bytes = hello();
        probe.encode(&mut bytes);
        assert_eq!(Probe::decode(&bytes), Some(probe));
        for length in 0..bytes.len() {
            let read = Probe::decode(&bytes[..length]);
            assert!(read.is_none_or(|probe| probe.heard.len() <= 100));
        }
    }
}
