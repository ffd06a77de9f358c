//! The send sequence space (RFC 9293 §3.3.1): what is written, sent and acknowledged, and the
//! peer's window.

use crate::segment::Segment;

#[derive(Debug)]
pub(crate) struct SendSpace {
    pub(crate) mss_bytes: u32,
    pub(crate) snd_una: u64,
    pub(crate) snd_nxt: u64,
    /// The sequence number after the last byte written.
    write_end: u64,
    fin_queued: bool,
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
    pub(super) fn new(mss_bytes: u32) -> Self {
        Self {
            mss_bytes: mss_bytes.max(1),
            snd_una: 1,
            snd_nxt: 1,
            write_end: 1,
            fin_queued: false,
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
        if !self.fin_queued {
            self.write_end = self.write_end.saturating_add(bytes);
        }
        !self.fin_queued
    }

    pub(crate) fn close(&mut self) {
        self.fin_queued = true;
    }

    /// Discards unsent data and closes. Returns whether data was discarded.
    pub(crate) fn stop(&mut self) -> bool {
        let cut_short = self.snd_nxt < self.write_end;
        self.write_end = self.write_end.min(self.snd_nxt);
        self.fin_queued = true;
        cut_short
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
