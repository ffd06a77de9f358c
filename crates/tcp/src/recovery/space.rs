//! The send sequence space (RFC 9293 §3.3.1): what is written, sent and acknowledged, and the
//! peer's window.

use crate::receive_memory::OVERHEAD_BYTES;
use crate::segment::Segment;

#[derive(Debug)]
pub(crate) struct SendSpace {
    pub(crate) mss_bytes: u32,
    pub(crate) snd_una: u64,
    pub(crate) snd_nxt: u64,
    /// The sequence number after the last byte in the send buffer.
    write_end: u64,
    fin_queued: bool,
    /// The same of all that the application has to send. Beyond `write_end` is what the buffer
    /// refused; the application then waits until a third of it is free.
    offered_end: u64,
    is_closed: bool,
    /// The memory of the buffer in bytes.
    memory_bytes: u64,
    /// The end of the last segment below full size (Minshall's form of Nagle's rule).
    small_end: u64,
    /// The first sequence number beyond the peer's window.
    window_end: u64,
    window_bytes: u32,
    /// The largest window that the peer ever offered.
    max_window_bytes: u32,
    /// The segment that last updated the window (RFC 9293: SND.WL1).
    window_seq: u64,
}

impl SendSpace {
    /// `memory_bytes`: of the send buffer; `u64::MAX`: unlimited.
    pub(super) fn new(mss_bytes: u32, memory_bytes: u64) -> Self {
        Self {
            mss_bytes: mss_bytes.max(1),
            snd_una: 1,
            snd_nxt: 1,
            write_end: 1,
            fin_queued: false,
            offered_end: 1,
            is_closed: false,
            memory_bytes,
            small_end: 0,
            window_end: 1,
            window_bytes: 0,
            max_window_bytes: 0,
            window_seq: 0,
        }
    }

    /// The handshake is done; the peer offers `window_bytes`.
    pub(crate) fn on_established(&mut self, window_bytes: u32) {
        self.window_end = self.snd_una + u64::from(window_bytes);
        self.window_bytes = window_bytes;
        self.max_window_bytes = window_bytes;
    }

    /// Appends `bytes` to the stream; returns false after [`close`](Self::close).
    pub(crate) fn write(&mut self, bytes: u64) -> bool {
        if !self.is_closed {
            let waits = self.waits_for_memory();
            self.offered_end = self.offered_end.saturating_add(bytes);
            if !waits {
                self.fill();
            }
        }
        !self.is_closed
    }

    pub(crate) fn close(&mut self) {
        self.is_closed = true;
        self.fin_queued = !self.waits_for_memory();
    }

    /// Discards unsent data and closes. Returns whether data was discarded.
    pub(crate) fn stop(&mut self) -> bool {
        let cut_short = self.snd_nxt < self.offered_end;
        self.write_end = self.write_end.min(self.snd_nxt);
        self.offered_end = self.write_end;
        self.is_closed = true;
        self.fin_queued = true;
        cut_short
    }

    /// Everything below `ack` is acknowledged and leaves the buffer.
    #[inline]
    pub(crate) fn acknowledge(&mut self, ack: u64) {
        self.snd_una = ack;
        if self.waits_for_memory() {
            self.refill();
        }
    }

    /// Whether the buffer refused data (Linux: `SOCK_NOSPACE`).
    #[inline]
    pub(crate) fn waits_for_memory(&self) -> bool {
        self.offered_end > self.write_end
    }

    /// The application continues when no more than two thirds of the memory are in use (Linux:
    /// `sk_stream_is_writeable`).
    fn refill(&mut self) {
        let used_bytes = self.buffered_pkts() * self.memory_of_segment();
        if used_bytes <= self.memory_bytes - self.memory_bytes.div_ceil(3) {
            self.fill();
        }
    }

    /// Puts into the buffer what it takes: segments, as long as any memory is left.
    fn fill(&mut self) {
        if self.memory_bytes == u64::MAX {
            self.write_end = self.offered_end;
        } else {
            let most_pkts = self.memory_bytes.div_ceil(self.memory_of_segment()).max(1);
            let more_pkts = most_pkts.saturating_sub(self.buffered_pkts());
            let more_bytes = more_pkts * u64::from(self.mss_bytes);
            self.write_end = self
                .offered_end
                .min(self.write_end.saturating_add(more_bytes));
        }
        self.fin_queued = self.is_closed && !self.waits_for_memory();
    }

    /// Segments in the buffer, sent or not.
    fn buffered_pkts(&self) -> u64 {
        let buffered_bytes = self.write_end.saturating_sub(self.snd_una);
        buffered_bytes.div_ceil(u64::from(self.mss_bytes))
    }

    fn memory_of_segment(&self) -> u64 {
        u64::from(self.mss_bytes + OVERHEAD_BYTES)
    }

    #[inline]
    pub(crate) fn has_unsent(&self) -> bool {
        self.snd_nxt < self.write_end || (self.fin_queued && self.snd_nxt == self.write_end)
    }

    /// Bytes written and not sent.
    #[inline]
    pub(crate) fn unsent_bytes(&self) -> u64 {
        self.write_end - self.snd_nxt.min(self.write_end)
    }

    /// Whether the FIN has been sent and acknowledged.
    pub(crate) fn has_finished(&self) -> bool {
        self.fin_queued && self.snd_una > self.write_end
    }

    pub(crate) fn acked_bytes(&self) -> u64 {
        self.snd_una - 1 - u64::from(self.has_finished())
    }

    /// Payload of the next full segment, as far as there is data, in bytes.
    fn next_payload_bytes(&self) -> u64 {
        self.unsent_bytes().min(u64::from(self.mss_bytes))
    }

    /// Whether the next segment of unsent data fits into the peer's window.
    pub(crate) fn fits_window(&self) -> bool {
        self.snd_nxt + self.next_payload_bytes() <= self.window_end
    }

    /// Whether there is unsent data that fits into the peer's window.
    pub(crate) fn can_send_new(&self) -> bool {
        self.has_unsent() && self.fits_window()
    }

    /// Whether the peer's window is open beyond SND.NXT.
    pub(crate) fn is_window_open(&self) -> bool {
        self.window_end > self.snd_nxt
    }

    /// The next new segment, with `packets_out` outstanding and at most `buffer_bytes` of
    /// unacknowledged data allowed. `None`: the peer's window, the send buffer or Nagle's rule
    /// holds it back.
    #[inline]
    pub(crate) fn next_segment(
        &mut self,
        packets_out: u32,
        buffer_bytes: u64,
    ) -> Option<NewSegment> {
        let mut payload_bytes = (self.write_end - self.snd_nxt).min(u64::from(self.mss_bytes));
        let room_bytes = self.window_end.saturating_sub(self.snd_nxt);
        if payload_bytes > room_bytes {
            // RFC 9293 §3.8.6.2.1: half of the largest window is worth a segment.
            if packets_out > 0 || room_bytes == 0 || self.max_window_bytes / 2 > room_bytes as u32 {
                return None;
            }
            payload_bytes = room_bytes;
        }
        let end = self.snd_nxt + payload_bytes;
        if payload_bytes > 0 && packets_out > 0 && end - self.snd_una > buffer_bytes {
            return None;
        }
        let fin = self.fin_queued && end == self.write_end;
        if payload_bytes < u64::from(self.mss_bytes) && !fin {
            if self.small_end > self.snd_una {
                return None;
            }
            self.small_end = end;
        }
        Some(NewSegment {
            payload_bytes: payload_bytes as u32,
            fin,
        })
    }

    /// The segment of a tail loss probe, which the congestion window does not limit.
    pub(crate) fn probe_segment(&self) -> NewSegment {
        let left_bytes = self.write_end - self.snd_nxt;
        let payload_bytes = left_bytes.min(u64::from(self.mss_bytes));
        NewSegment {
            payload_bytes: payload_bytes as u32,
            fin: self.fin_queued && self.snd_nxt + payload_bytes == self.write_end,
        }
    }

    /// As much as the peer's window takes (window probe); `None`: nothing.
    pub(crate) fn window_probe_segment(&self) -> Option<NewSegment> {
        let room_bytes = self.window_end.saturating_sub(self.snd_nxt);
        let left_bytes = self.write_end.saturating_sub(self.snd_nxt);
        let payload_bytes = room_bytes.min(left_bytes).min(u64::from(self.mss_bytes));
        (payload_bytes > 0).then_some(NewSegment {
            payload_bytes: payload_bytes as u32,
            fin: self.fin_queued && payload_bytes == left_bytes,
        })
    }

    /// Updates the window from the newest acknowledgment (RFC 9293 §3.10.7.4), not from an older
    /// one. Returns whether the offered window changed.
    #[inline]
    pub(crate) fn update_window(&mut self, segment: &Segment) -> bool {
        if segment.ack < self.snd_una || segment.seq < self.window_seq {
            return false;
        }
        let changed = segment.window_bytes != self.window_bytes;
        self.window_seq = segment.seq;
        self.window_bytes = segment.window_bytes;
        self.max_window_bytes = self.max_window_bytes.max(segment.window_bytes);
        self.window_end = segment.ack + u64::from(segment.window_bytes);
        changed
    }

    /// Whether `segment` acknowledges nothing new and carries no newer window (the third
    /// condition of Linux's `tcp_disordered_ack`).
    #[inline]
    pub(crate) fn is_repeated(&self, segment: &Segment) -> bool {
        segment.ack == self.snd_una
            && (segment.seq < self.window_seq
                || (segment.seq == self.window_seq && segment.window_bytes <= self.window_bytes))
    }
}

/// A segment to be sent for the first time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct NewSegment {
    pub(crate) payload_bytes: u32,
    pub(crate) fin: bool,
}

#[cfg(test)]
mod tests {
    use super::*;

    const MSS: u64 = 1448;

    /// Linux 6.1.192 with 4 MiB (`tcp_wmem`), a path of 1 Gbit/s and 1 s, and an endless transfer:
    /// by its capture 1893 segments are outstanding at most, and the application writes again with
    /// the acknowledgment that leaves 1261.
    #[test]
    fn a_full_buffer_takes_data_again_when_a_third_of_it_is_free_as_in_linux() {
        let mut space = SendSpace::new(MSS as u32, 4 << 20);
        assert!(space.write(u64::MAX / 2));
        for _ in 0..3 {
            assert_eq!(space.buffered_pkts(), 1893);
            space.snd_nxt = space.write_end;
            let mut left_pkts = 0;
            while !space.has_unsent() {
                left_pkts = space.buffered_pkts() - 1;
                space.acknowledge(space.snd_una + MSS);
            }
            assert_eq!(left_pkts, 1261);
        }
    }

    #[test]
    fn what_fits_is_written_at_once_and_the_end_follows_the_last_byte() {
        let mut space = SendSpace::new(MSS as u32, 10_000);
        assert!(space.write(3 * MSS) && space.write(MSS));
        assert_eq!(space.buffered_pkts(), 4);
        assert!(space.write(2 * MSS));
        // The fifth segment begins below 10 000 bytes of memory, and a sixth does not.
        assert_eq!((space.buffered_pkts(), space.waits_for_memory()), (5, true));
        space.close();
        assert!(!space.fin_queued && !space.write(1));
        space.snd_nxt = space.write_end;
        space.acknowledge(1 + MSS);
        assert!(space.waits_for_memory());
        space.acknowledge(1 + 2 * MSS);
        assert_eq!((space.buffered_pkts(), space.fin_queued), (4, true));
    }

    #[test]
    fn data_that_the_buffer_refused_is_cut_when_the_application_stops() {
        let mut space = SendSpace::new(MSS as u32, 10_000);
        space.write(9 * MSS);
        space.snd_nxt = space.write_end;
        assert!(space.stop());
        assert!(!space.waits_for_memory() && space.unsent_bytes() == 0);
    }
}
