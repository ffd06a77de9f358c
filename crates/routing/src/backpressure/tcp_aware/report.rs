//! A node's report of its queues, on a data packet or in its own message.
//!
//! ```text
//!  0                   1                   2                   3
//!  0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1
//! +---------------+---------------+-------------------------------+
//! |   type = 81   |C|  reserved   |        number of entries      |
//! +---------------+---------------+-------------------------------+
//! |          flow and direction           |        packets        |
//! +---------------------------------------+-----------------------+   for each entry
//! ```
//!
//! C: complete, a flow that has no entry has no packet here. The paper gives no format; this one
//! has four bytes for a flow.

use std::sync::Arc;

/// Distinguishes a report from other routing messages.
const REPORT: u8 = 81;
const COMPLETE: u8 = 0x80;
const HEADER_BYTES: usize = 4;
pub(super) const ENTRY_BYTES: usize = 4;
const KEY_BITS: u32 = 20;
const PACKETS_BITS: u32 = 12;
/// The longest queue that can be reported, in packets; longer ones are reported as this.
const MOST_PACKETS: u32 = (1 << PACKETS_BITS) - 1;

/// The backlog of a flow and direction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Entry {
    /// [`backlane_net::Packet::flow_key`]; flows beyond 2¹⁹ cannot be reported.
    pub key: u32,
    /// Packets that wait.
    pub pkts: u32,
}

impl Entry {
    /// Whether a report can carry a flow's number.
    pub(super) fn can_report(key: u64) -> bool {
        key < 1 << KEY_BITS
    }

    /// The entry as bytes.
    #[inline]
    pub(super) fn encode(self) -> [u8; ENTRY_BYTES] {
        let key = self.key & ((1 << KEY_BITS) - 1);
        (key << PACKETS_BITS | self.pkts.min(MOST_PACKETS)).to_be_bytes()
    }
}

/// A node's report of its queues to its neighbours.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Report {
    /// Flows that are not in `entries` have no packet.
    pub complete: bool,
    /// Backlogs by flow.
    pub entries: Vec<Entry>,
}

impl Report {
    /// The report as bytes: 4, and 4 for each entry.
    pub fn encode(&self) -> Arc<[u8]> {
        let count = self.entries.len().min(usize::from(u16::MAX));
        let entries = self.entries[..count].iter().map(|entry| entry.encode());
        let entries: Vec<_> = entries.collect();
        message(self.complete, [&entries, &[]], &mut Vec::new())
    }

    /// Whether the report is complete, and its entries; `None` if the bytes are not a whole report.
    pub fn read(bytes: &[u8]) -> Option<(bool, impl Iterator<Item = Entry>)> {
        let (header, entries) = bytes.split_first_chunk::<HEADER_BYTES>()?;
        let [kind, flags, high, low] = *header;
        let (entries, rest) = entries.as_chunks::<ENTRY_BYTES>();
        let count = usize::from(u16::from_be_bytes([high, low]));
        if kind != REPORT || !rest.is_empty() || entries.len() != count {
            return None;
        }
        let entries = entries.iter().map(|&entry| {
            let word = u32::from_be_bytes(entry);
            Entry {
                key: word >> PACKETS_BITS,
                pkts: word & MOST_PACKETS,
            }
        });
        Some((flags & COMPLETE != 0, entries))
    }

    /// Decodes a message; `None` if it is not a whole report.
    pub fn decode(bytes: &[u8]) -> Option<Self> {
        let (complete, entries) = Self::read(bytes)?;
        Some(Self {
            complete,
            entries: entries.collect(),
        })
    }
}

/// A report of entries in two pieces, at most 2¹⁶ − 1. `buffer` saves allocations.
pub(super) fn message(
    complete: bool,
    entries: [&[[u8; ENTRY_BYTES]]; 2],
    buffer: &mut Vec<u8>,
) -> Arc<[u8]> {
    let count = entries[0].len() + entries[1].len();
    let [high, low] = (count as u16).to_be_bytes();
    buffer.clear();
    buffer.extend_from_slice(&[REPORT, if complete { COMPLETE } else { 0 }, high, low]);
    for piece in entries {
        buffer.extend_from_slice(piece.as_flattened());
    }
    Arc::from(buffer.as_slice())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_report_of_two_flows_is_twelve_bytes_in_network_order() {
        let report = Report {
            complete: true,
            entries: vec![Entry { key: 2, pkts: 7 }, Entry { key: 5, pkts: 100 }],
        };
        let bytes = [81, 0x80, 0, 2, 0, 0, 0x20, 7, 0, 0, 0x50, 100];
        assert_eq!(*report.encode(), bytes);
    }

    #[test]
    fn a_queue_too_long_to_report_is_reported_as_the_longest() {
        let report = Report {
            complete: false,
            entries: vec![Entry {
                key: 1,
                pkts: 5_000,
            }],
        };
        let read = Report::decode(&report.encode());
        assert_eq!(read.map(|report| report.entries[0].pkts), Some(4095));
    }

    #[test]
    fn a_truncated_report_is_none() {
        let entries = vec![Entry { key: 1, pkts: 1 }; 3];
        let complete = true;
        let bytes = Report { complete, entries }.encode();
        for length in 0..bytes.len() {
            assert_eq!(Report::decode(&bytes[..length]), None, "{length} bytes");
        }
    }

    proptest! {
        #[test]
        fn decoding_inverts_encoding(
            complete in any::<bool>(),
            entries in prop::collection::vec((0u32..1 << 20, 0u32..4096), 0..40),
        ) {
            let entries = entries.into_iter().map(|(key, pkts)| Entry { key, pkts }).collect();
            let report = Report { complete, entries };
            prop_assert_eq!(Report::decode(&report.encode()), Some(report));
        }

        #[test]
        fn no_bytes_cause_a_panic_in_the_decoder(bytes in prop::collection::vec(any::<u8>(), 0..80)) {
            let _ = Report::decode(&bytes);
        }
    }
}
