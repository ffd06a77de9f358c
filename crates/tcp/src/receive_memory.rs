//! The memory of the receive buffer, and the window that it allows, as Linux 6.1 counts them.
//!
//! A buffer takes more memory than the data in it (`truesize`), and half of the memory is window
//! (`tcp_win_from_space` with `tcp_adv_win_scale` 1). The offered window grows by two segments for
//! each that arrives, while what is held beyond a hole leaves room (`tcp_grow_window`). The
//! application reads at once, so that data in order takes memory only while it arrives.
//!
//! Left out: memory pressure of the host (`tcp_mem`), and that data held reduces the window that is
//! offered already (`__tcp_select_window`): it only keeps it from growing. A buffer here has the
//! memory of one from a virtual Ethernet; drivers that receive into whole pages take more.

use std::collections::VecDeque;

use crate::segment::SackBlock;

/// What a buffer takes beside its data, in bytes: the head of a sender's packet (`MAX_TCP_HEADER`,
/// 192), `struct sk_buff` (256) and `struct skb_shared_info` (320), each in whole cache lines.
pub(crate) const OVERHEAD_BYTES: u32 = 768;
/// Segments that one buffer can take (`MAX_SKB_FRAGS`).
const MOST_SEGMENTS: u32 = 17;
/// Segments in order with less data than this do not open the window.
const SMALL_BYTES: u32 = 128;
/// Steps in which the tuner raises its guess of a segment's memory (`tcp_rcv_space_adjust`).
const MEMORY_STEP_BYTES: u32 = 128;

/// The window that fits into memory (`tcp_win_from_space`).
const fn window_of(memory_bytes: u64) -> u64 {
    memory_bytes - (memory_bytes >> 1)
}

/// What a buffer with this much data takes (`truesize`).
const fn memory_of(payload_bytes: u32) -> u64 {
    payload_bytes as u64 + OVERHEAD_BYTES as u64
}

/// How a segment came.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Placed {
    /// In order.
    InOrder,
    /// Beyond a hole, in a buffer of its own.
    Alone,
    /// Beyond a hole, at the end of a buffer (`tcp_ooo_try_coalesce`).
    Appended,
    /// All of it was in one buffer already.
    Known,
}

/// Data beyond a hole, in one buffer.
#[derive(Clone, Copy, Debug)]
struct Buffer {
    start: u64,
    end: u64,
    segments: u32,
    memory_bytes: u64,
}

/// The receive buffer of one connection.
#[derive(Clone, Debug)]
pub(crate) struct ReceiveMemory {
    mss_bytes: u32,
    /// Memory in all (`sk_rcvbuf`), and what tuning may make of it (`tcp_rmem[2]`).
    limit_bytes: u64,
    most_bytes: u64,
    /// The window offered at most (`window_clamp`).
    clamp_bytes: u32,
    /// By their starts.
    buffers: VecDeque<Buffer>,
    held_bytes: u64,
}

impl ReceiveMemory {
    /// Memory for a window of `window_bytes`; `most_bytes`: what tuning may make of the window,
    /// `None`: nothing. A window that is tuned starts a segment below (`tcp_init_buffer_space`).
    pub(crate) fn new(mss_bytes: u32, window_bytes: u32, most_bytes: Option<u32>) -> Self {
        let reserved_bytes = match most_bytes {
            Some(_) if window_bytes > 2 * mss_bytes => mss_bytes,
            _ => 0,
        };
        Self {
            mss_bytes: mss_bytes.max(1),
            limit_bytes: 2 * u64::from(window_bytes),
            most_bytes: 2 * u64::from(most_bytes.unwrap_or(window_bytes)),
            clamp_bytes: window_bytes - reserved_bytes,
            buffers: VecDeque::new(),
            held_bytes: 0,
        }
    }

    /// The window offered at most.
    pub(crate) fn clamp_bytes(&self) -> u32 {
        self.clamp_bytes
    }

    /// Holds `block`, which lies beyond a hole and has `payload_bytes` of data
    /// (`tcp_data_queue_ofo`).
    pub(crate) fn hold(&mut self, block: SackBlock, payload_bytes: u32) -> Placed {
        let mut at = match self.buffers.back() {
            Some(last) if block.start < last.end => {
                self.buffers.partition_point(|b| b.start <= block.start)
            }
            _ => self.buffers.len(),
        };
        if let Some(before) = at.checked_sub(1).map(|i| &mut self.buffers[i]) {
            if before.end == block.start && before.segments < MOST_SEGMENTS {
                before.end = block.end;
                before.segments += 1;
                before.memory_bytes += u64::from(payload_bytes);
                self.held_bytes += u64::from(payload_bytes);
                return Placed::Appended;
            }
            if block.end <= before.end {
                return Placed::Known;
            }
            if block.start == before.start {
                at -= 1;
            }
        }
        while let Some(covered) = self.buffers.get(at).filter(|b| b.end <= block.end) {
            self.held_bytes -= covered.memory_bytes;
            self.buffers.remove(at);
        }
        let memory_bytes = memory_of(payload_bytes);
        self.buffers.insert(
            at,
            Buffer {
                start: block.start,
                end: block.end,
                segments: 1,
                memory_bytes,
            },
        );
        self.held_bytes += memory_bytes;
        Placed::Alone
    }

    /// A segment in order has arrived, up to `end`: what follows it without a hole is no longer
    /// held (`tcp_ofo_queue`). Returns the end of the buffer that the application reads first.
    pub(crate) fn release(&mut self, end: u64) -> u64 {
        let (mut first_end, mut first_segments, mut next) = (end, 1, end);
        while let Some(&buffer) = self.buffers.front()
            && buffer.start <= next
        {
            self.buffers.pop_front();
            self.held_bytes -= buffer.memory_bytes;
            if buffer.end <= next {
                continue;
            }
            let segments = first_segments + buffer.segments;
            if first_end == buffer.start && segments <= MOST_SEGMENTS {
                (first_end, first_segments) = (buffer.end, segments);
            }
            next = buffer.end;
        }
        first_end
    }

    /// By how much a window of `window_bytes` grows for a segment with `payload_bytes` of data, in
    /// bytes (`tcp_grow_window`); 0: not at all. A segment in order is charged for already, and
    /// what it follows is still held; one in a buffer of its own is held already.
    pub(crate) fn growth_bytes(
        &self,
        window_bytes: u32,
        payload_bytes: u32,
        placed: Placed,
    ) -> u32 {
        // The memory in use, and what the segment's buffer takes for good: appended to another
        // buffer, no more than the data.
        let (used_bytes, memory_bytes) = match placed {
            Placed::InOrder if payload_bytes < SMALL_BYTES => return 0,
            Placed::Known => return 0,
            Placed::InOrder => (
                self.held_bytes + memory_of(payload_bytes),
                u64::from(payload_bytes),
            ),
            Placed::Appended => (self.held_bytes, u64::from(payload_bytes)),
            Placed::Alone => (
                self.held_bytes - memory_of(payload_bytes),
                memory_of(payload_bytes),
            ),
        };
        let space_bytes = window_of(self.limit_bytes.saturating_sub(used_bytes));
        let most_bytes = u64::from(self.clamp_bytes).min(space_bytes);
        let room_bytes = most_bytes.saturating_sub(u64::from(window_bytes));
        let fits = window_of(memory_bytes) <= u64::from(payload_bytes);
        let step_bytes = if fits || self.would_fit(window_bytes, payload_bytes, memory_bytes) {
            2 * u64::from(self.mss_bytes)
        } else {
            0
        };
        step_bytes.min(room_bytes) as u32
    }

    /// Whether a buffer of much memory for little data still opens a window that is small beside
    /// the largest (`__tcp_grow_window`).
    fn would_fit(&self, window_bytes: u32, payload_bytes: u32, memory_bytes: u64) -> bool {
        let mut need_bytes = window_of(memory_bytes) >> 1;
        let mut small_bytes = window_of(self.most_bytes) >> 1;
        while u64::from(window_bytes) <= small_bytes {
            if need_bytes <= u64::from(payload_bytes) {
                return true;
            }
            need_bytes >>= 1;
            small_bytes >>= 1;
        }
        false
    }

    /// The tuner wants a window of `window_bytes`: memory for its segments, each with twice its
    /// data at the least, if that is more than there is.
    pub(crate) fn raise(&mut self, window_bytes: u64) {
        let mss_bytes = u64::from(self.mss_bytes);
        let mut segment_bytes = memory_of(self.mss_bytes);
        while window_of(segment_bytes) < mss_bytes {
            segment_bytes += u64::from(MEMORY_STEP_BYTES);
        }
        let memory_bytes = (window_bytes / mss_bytes)
            .saturating_mul(segment_bytes)
            .min(self.most_bytes);
        if memory_bytes > self.limit_bytes {
            self.limit_bytes = memory_bytes;
            self.clamp_bytes = window_of(memory_bytes) as u32;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MSS: u32 = 1448;

    fn block(start: u64, segments: u64) -> SackBlock {
        let end = start + segments * u64::from(MSS);
        SackBlock { start, end }
    }

    /// A memory for `window_bytes` that is not tuned.
    fn fixed(window_bytes: u32) -> ReceiveMemory {
        ReceiveMemory::new(MSS, window_bytes, None)
    }

    /// Holds `count` segments from `start` on, one after the other.
    fn hold_run(memory: &mut ReceiveMemory, start: u64, count: u64) {
        for i in 0..count {
            memory.hold(block(start + i * u64::from(MSS), 1), MSS);
        }
    }

    #[test]
    fn segments_that_follow_each_other_share_a_buffer_up_to_seventeen() {
        let mut memory = fixed(1 << 20);
        assert_eq!(memory.hold(block(10_000, 1), MSS), Placed::Alone);
        assert_eq!(memory.hold(block(11_448, 1), MSS), Placed::Appended);
        hold_run(&mut memory, 12_896, 15);
        assert_eq!(memory.held_bytes, 17 * 1448 + 768);
        assert_eq!(memory.hold(block(34_616, 1), MSS), Placed::Alone);
        assert_eq!(memory.held_bytes, 18 * 1448 + 2 * 768);
        // Before the first buffer nothing can be appended to; inside one all is known.
        assert_eq!(memory.hold(block(8_552, 1), MSS), Placed::Alone);
        assert_eq!(memory.hold(block(12_896, 1), MSS), Placed::Known);
        assert_eq!(memory.held_bytes, 19 * 1448 + 3 * 768);
    }

    #[test]
    fn a_buffer_that_another_covers_is_freed() {
        let mut memory = fixed(1 << 20);
        for start in [10_000, 20_000, 30_000] {
            memory.hold(block(start, 1), MSS);
        }
        let longer = block(10_000, 10);
        assert_eq!(memory.hold(longer, 14_480), Placed::Alone);
        assert_eq!(memory.held_bytes, 14_480 + 1448 + 2 * 768);
        assert_eq!(memory.buffers.len(), 2);
    }

    /// A filled hole frees what lay behind it, up to the next hole. The application's first buffer
    /// is the segment, and the buffers behind it if they have no more than 16 segments.
    #[test]
    fn a_filled_hole_frees_memory_and_the_first_buffer_is_read_alone_if_the_next_is_full() {
        for (held, first_end) in [(16, 1 + 17 * 1448), (17, 1 + 1448)] {
            let mut memory = fixed(1 << 20);
            hold_run(&mut memory, 1449, held);
            memory.hold(block(100_000, 1), MSS);
            assert_eq!(memory.release(1449), first_end, "{held}");
            assert_eq!(memory.held_bytes, 1448 + 768);
        }
    }

    #[test]
    fn nothing_behind_a_segment_leaves_it_alone() {
        let mut memory = fixed(1 << 20);
        memory.hold(block(100_000, 1), MSS);
        assert_eq!(memory.release(1449), 1449);
        assert_eq!(memory.held_bytes, 2216);
    }

    /// (2·100 000 − 2216)/2 = 98 892 bytes are window while a segment in order is charged.
    #[test]
    fn the_window_grows_by_two_segments_to_what_the_memory_leaves() {
        let memory = fixed(100_000);
        assert_eq!(memory.growth_bytes(65_535, MSS, Placed::InOrder), 2896);
        assert_eq!(memory.growth_bytes(98_000, MSS, Placed::InOrder), 892);
        assert_eq!(memory.growth_bytes(98_892, MSS, Placed::InOrder), 0);
        assert_eq!(memory.growth_bytes(65_535, 127, Placed::InOrder), 0);
    }

    /// 17 segments held take 25 384 bytes, 12 692 of window.
    #[test]
    fn what_is_held_beyond_a_hole_keeps_the_window_from_growing() {
        let mut memory = fixed(100_000);
        hold_run(&mut memory, 10_000, 17);
        let grows = |window_bytes| memory.growth_bytes(window_bytes, MSS, Placed::InOrder);
        assert_eq!(grows(98_892 - 12_692 - 1), 1);
        assert_eq!(grows(98_892 - 12_692), 0);
        // Appended, the segment is among what is held; alone, it is not counted yet.
        assert_eq!(memory.growth_bytes(87_308, MSS, Placed::Appended), 0);
        assert_eq!(memory.growth_bytes(87_307, MSS, Placed::Appended), 1);
        memory.hold(block(90_000, 1), MSS);
        assert_eq!(memory.growth_bytes(87_307, MSS, Placed::Alone), 1);
    }

    /// 200 bytes in a buffer of 968: a window of 484, more than the data, is worth two segments as
    /// long as the window is at most a quarter of the largest, and 64 bytes in 832 up to an eighth.
    #[test]
    fn small_segments_beyond_a_hole_open_small_windows_only() {
        let mut memory = fixed(800_000);
        memory.hold(block(10_000, 0), 200);
        let grows = |window_bytes| memory.growth_bytes(window_bytes, 200, Placed::Alone);
        assert_eq!((grows(200_000), grows(200_001)), (2896, 0));
        let mut memory = fixed(800_000);
        memory.hold(block(10_000, 0), 64);
        let grows = |window_bytes| memory.growth_bytes(window_bytes, 64, Placed::Alone);
        assert_eq!((grows(100_000), grows(100_001)), (2896, 0));
    }

    /// A segment of 1448 bytes has 2216 + 6·128 = 2984 bytes of memory, the first of these that
    /// is twice its data. 100 segments have 298 400, half of it window.
    #[test]
    fn tuning_counts_memory_by_segments() {
        let mut memory = ReceiveMemory::new(MSS, 65_535, Some(160_000));
        assert_eq!(memory.clamp_bytes(), 65_535 - 1448);
        memory.raise(40_000);
        assert_eq!(memory.clamp_bytes(), 65_535 - 1448);
        memory.raise(100 * 1448 + 1447);
        assert_eq!(memory.clamp_bytes(), 149_200);
        memory.raise(1 << 40);
        assert_eq!(memory.clamp_bytes(), 160_000);
    }

    #[test]
    fn a_window_that_is_not_tuned_is_offered_in_full() {
        assert_eq!(fixed(131_072).clamp_bytes(), 131_072);
    }
}
