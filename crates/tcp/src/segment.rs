//! A TCP segment as plain data: the fields that matter, the payload as a length.

use std::ops::{BitOr, BitOrAssign};

/// The control bits of a segment (RFC 9293 §3.1).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Flags(u8);

impl Flags {
    /// No bit set.
    pub const NONE: Self = Self(0);
    /// The sender has no more data.
    pub const FIN: Self = Self(1);
    /// Opens a connection; carries the options of the handshake.
    pub const SYN: Self = Self(2);
    /// The acknowledgment field counts.
    pub const ACK: Self = Self(16);
    /// A congestion mark is echoed (RFC 3168 §6.1).
    pub const ECE: Self = Self(64);
    /// The window was reduced for an echo (RFC 3168 §6.1).
    pub const CWR: Self = Self(128);

    /// Whether every bit of `other` is set.
    #[inline]
    pub const fn contains(self, other: Self) -> bool {
        self.0 & other.0 == other.0
    }

    /// The bits as on the wire.
    #[inline]
    pub const fn bits(self) -> u8 {
        self.0
    }
}

impl BitOr for Flags {
    type Output = Self;
    #[inline]
    fn bitor(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }
}

impl BitOrAssign for Flags {
    #[inline]
    fn bitor_assign(&mut self, other: Self) {
        self.0 |= other.0;
    }
}

/// Bytes `start..end` of the sequence space.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SackBlock {
    /// The first sequence number of the block.
    pub start: u64,
    /// The sequence number after the block.
    pub end: u64,
}

/// The SACK option (RFC 2018, RFC 2883): up to four blocks, newest first.
///
/// Blocks are kept as distances from the acknowledgment number, which a window of 2³⁰ bytes
/// (RFC 7323 §2.3) always allows, so that a segment stays small.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SackBlocks {
    blocks: [(i32, u32); 4],
    count: u8,
}

impl SackBlocks {
    /// No block.
    pub const EMPTY: Self = Self {
        blocks: [(0, 0); 4],
        count: 0,
    };
    /// The most blocks an option can carry.
    pub const CAPACITY: usize = 4;

    /// Adds `block`, seen from acknowledgment number `ack`. A fifth block, or one further than
    /// a window away, is left out.
    #[inline]
    pub fn push(&mut self, ack: u64, block: SackBlock) {
        let Ok(offset) = i32::try_from(block.start.wrapping_sub(ack) as i64) else {
            return;
        };
        let Ok(length) = u32::try_from(block.end.saturating_sub(block.start)) else {
            return;
        };
        if let Some(slot) = self.blocks.get_mut(self.count as usize) {
            *slot = (offset, length);
            self.count += 1;
        }
    }

    /// The number of blocks.
    #[inline]
    pub const fn len(&self) -> usize {
        self.count as usize
    }

    /// Whether there is no block.
    #[inline]
    pub const fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// The blocks, newest first, seen from acknowledgment number `ack`.
    #[inline]
    pub fn iter(&self, ack: u64) -> impl Iterator<Item = SackBlock> + '_ {
        self.blocks[..self.count as usize]
            .iter()
            .map(move |&(offset, length)| {
                let start = ack.saturating_add_signed(i64::from(offset));
                SackBlock {
                    start,
                    end: start + u64::from(length),
                }
            })
    }
}

/// The congestion field of the IP header that carries a segment (RFC 3168 §5).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum EcnField {
    /// Not-ECT: a router may only drop it.
    #[default]
    NotCapable,
    /// ECT(0): a router may mark it.
    Capable,
    /// CE: a router has marked it.
    Marked,
}

/// One TCP segment.
///
/// Sequence numbers are 64 bits wide and start at 0, so they never wrap; SYN and FIN take one
/// number each, as on the wire.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Segment {
    /// The sequence number of the first byte (or of the SYN).
    pub seq: u64,
    /// The next sequence number expected, if [`Flags::ACK`] is set.
    pub ack: u64,
    /// Application bytes carried.
    pub payload_bytes: u32,
    /// The receive window, in bytes, window scaling already undone.
    pub window_bytes: u32,
    /// The timestamp value (RFC 7323 §3), in microseconds; 0: the option is absent.
    pub ts_val: u32,
    /// The echoed timestamp, in microseconds; 0: none.
    pub ts_ecr: u32,
    /// The control bits.
    pub flags: Flags,
    /// The congestion field of the IP header.
    pub ecn: EcnField,
    /// The SACK option.
    pub sack: SackBlocks,
}

impl Segment {
    /// The bytes of the TCP header with the options this segment would have on the wire.
    ///
    /// As Linux lays them out: a SYN carries MSS, SACK-permitted, timestamps and window scale
    /// (20 bytes of options, 8 of them without timestamps); every other segment carries
    /// timestamps (12 bytes with padding) and SACK blocks (4 + 8 per block).
    #[inline]
    pub fn header_bytes(&self) -> u32 {
        const HEADER_BYTES: u32 = 20;
        if self.flags.contains(Flags::SYN) {
            return HEADER_BYTES + if self.ts_val == 0 { 12 } else { 20 };
        }
        let timestamps = if self.ts_val == 0 { 0 } else { 12 };
        let sack = match self.sack.count {
            0 => 0,
            count => 4 + 8 * u32::from(count),
        };
        HEADER_BYTES + timestamps + sack
    }

    /// The sequence number after this segment; SYN and FIN count one each.
    #[inline]
    pub fn end_seq(&self) -> u64 {
        self.seq
            + u64::from(self.payload_bytes)
            + u64::from(self.flags.contains(Flags::SYN))
            + u64::from(self.flags.contains(Flags::FIN))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_full_data_segment_has_32_bytes_of_header() {
        let segment = Segment {
            payload_bytes: 1448,
            ts_val: 1,
            flags: Flags::ACK,
            ..Segment::default()
        };
        assert_eq!(segment.header_bytes() + segment.payload_bytes, 1480);
    }

    #[test]
    fn three_sack_blocks_beside_timestamps_fill_the_option_space() {
        let mut segment = Segment {
            ack: 1000,
            ts_val: 1,
            flags: Flags::ACK,
            ..Segment::default()
        };
        for i in 0..3 {
            segment.sack.push(
                segment.ack,
                SackBlock {
                    start: 2000 + i,
                    end: 2001 + i,
                },
            );
        }
        assert_eq!(segment.header_bytes(), 60);
    }

    #[test]
    fn a_duplicate_block_may_lie_below_the_acknowledgment() {
        let mut sack = SackBlocks::EMPTY;
        let block = SackBlock { start: 10, end: 20 };
        sack.push(100, block);
        assert_eq!(sack.iter(100).next(), Some(block));
    }

    #[test]
    fn a_segment_is_no_larger_than_72_bytes() {
        assert!(size_of::<Segment>() <= 72);
    }
}
