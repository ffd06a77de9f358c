//! When to acknowledge: at once, with the next segment, or when a timer runs out.
//!
//! RFC 5681 §4.2 with Linux's additions: the first segments of a connection (and those after a
//! long pause or a duplicate, and those that made the window grow) are acknowledged at once; the
//! delay follows the spacing of arrivals; duplicate acknowledgments beyond the third of a hole are
//! merged for up to 1.1 ms.

use backlane_units::{Duration, SimTime};

use crate::config::Config;

/// Segments acknowledged at once in quick mode (Linux: `TCP_MAX_QUICKACKS`).
const QUICK_ACKS: u32 = 16;
/// Duplicate acknowledgments of one hole that are never merged.
const UNMERGED_DUPLICATES: u32 = 3;
/// The most acknowledgments that are merged into one (`tcp_comp_sack_nr`).
const MERGED_MAX: u32 = 44;
/// The longest a merged acknowledgment waits (`tcp_comp_sack_delay_ns`).
const MERGED_WAIT: Duration = Duration::from_millis(1);
/// How much later its timer may fire (`tcp_comp_sack_slack_ns`): the clock is set to the end of the
/// range. On a busy host the interrupt of another timer may end the wait within it.
const MERGED_SLACK: Duration = Duration::from_micros(100);

#[derive(Clone, Debug)]
pub(crate) struct AckSchedule {
    segments: u32,
    min_timeout: Duration,
    max_timeout: Duration,
    quick_ack: bool,
    acks_first_at_once: bool,
    merging: bool,
    /// Acknowledged so far (Linux: rcv_wup).
    acknowledged: u64,
    due_now: bool,
    /// When an acknowledgment held back is due; [`SimTime::MAX`]: none is.
    delayed_until: SimTime,
    merged_until: SimTime,
    merged: u32,
    hole_seq: u64,
    hole_duplicates: u32,
    quick_left: u32,
    /// The delay in use; `None` before the first data.
    timeout: Option<Duration>,
    last_data: SimTime,
    /// The largest payload seen: what counts as a full segment.
    full_bytes: u32,
    window_bytes: u32,
    /// The RTT that the receiver measured, and the peer's likely timeout.
    rtt: Duration,
    rto: Duration,
}

impl AckSchedule {
    pub(crate) fn new(config: &Config) -> Self {
        /// Linux's first guess at the peer's segment size.
        const FIRST_GUESS_BYTES: u32 = 536;
        Self {
            segments: config.delayed_ack_segments,
            min_timeout: config.delayed_ack_min,
            max_timeout: config.delayed_ack_max,
            quick_ack: config.quick_ack,
            acks_first_at_once: config.acks_first_at_once,
            merging: config.sack && config.sack_compression,
            acknowledged: 0,
            due_now: false,
            delayed_until: SimTime::MAX,
            merged_until: SimTime::MAX,
            merged: 0,
            hole_seq: 0,
            hole_duplicates: 0,
            quick_left: 0,
            timeout: None,
            last_data: SimTime::ZERO,
            full_bytes: FIRST_GUESS_BYTES.min(config.mss_bytes()),
            window_bytes: config.receive_buffer_bytes(),
            rtt: Duration::ZERO,
            rto: config.initial_rto,
        }
    }

    /// The handshake measured the round trip.
    pub(crate) fn on_rtt(&mut self, rtt: Duration, rto: Duration) {
        self.rtt = rtt;
        self.rto = rto;
    }

    pub(crate) fn acknowledged(&self) -> u64 {
        self.acknowledged
    }

    /// The largest payload seen: what the peer's full segments carry.
    pub(crate) fn full_bytes(&self) -> u32 {
        self.full_bytes
    }

    /// Whether an acknowledgment is held back.
    pub(crate) fn is_delaying(&self) -> bool {
        self.delayed_until != SimTime::MAX
    }

    /// Whether duplicate acknowledgments are held back to be merged.
    pub(crate) fn is_merging(&self) -> bool {
        self.merged > 0
    }

    pub(crate) fn is_due(&self) -> bool {
        self.due_now
    }

    pub(crate) fn ack_now(&mut self) {
        self.due_now = true;
    }

    fn enter_quick_mode(&mut self) {
        if self.quick_ack {
            let by_window = self.window_bytes / (2 * self.full_bytes.max(1));
            self.quick_left = self.quick_left.max(by_window.clamp(2, QUICK_ACKS));
        }
    }

    /// The window offered has grown: update the peer at once.
    #[inline]
    pub(crate) fn on_window_growth(&mut self) {
        if self.quick_ack {
            self.quick_left |= 1;
        }
    }

    /// Duplicate data: the acknowledgment was probably lost, or the peer's timeout too short.
    pub(crate) fn on_duplicate(&mut self) {
        self.enter_quick_mode();
        self.timeout = Some(self.min_timeout);
        self.due_now = true;
    }

    /// Data arrived in order, up to `rcv_nxt`; `holes`: there is data beyond it.
    pub(crate) fn on_in_order(
        &mut self,
        now: SimTime,
        payload_bytes: u32,
        rcv_nxt: u64,
        holes: bool,
    ) {
        self.full_bytes = self.full_bytes.max(payload_bytes);
        self.adapt_timeout(now);
        let enough_bytes = u64::from(self.full_bytes) * u64::from(self.segments.max(1) - 1);
        if rcv_nxt - self.acknowledged > enough_bytes || self.quick_left > 0 || self.due_now {
            self.due_now = true;
        } else if holes {
            self.on_out_of_order(now, rcv_nxt);
        } else {
            self.delay(now);
        }
    }

    /// Linux's ATO: half of what it was and half of the spacing, never below the minimum; after a
    /// pause longer than the timeout, quick mode begins again.
    fn adapt_timeout(&mut self, now: SimTime) {
        let minimum = self.min_timeout;
        self.timeout = Some(match self.timeout {
            None => {
                self.enter_quick_mode();
                self.quick_left = self.quick_left.max(u32::from(self.acks_first_at_once));
                minimum
            }
            Some(timeout) => {
                let spacing = now.saturating_since(self.last_data);
                if spacing <= minimum / 2 {
                    timeout / 2 + minimum / 2
                } else if spacing < timeout {
                    (timeout / 2 + spacing).min(self.rto)
                } else {
                    if spacing > self.rto {
                        self.enter_quick_mode();
                    }
                    timeout
                }
            }
        });
        self.last_data = now;
    }

    fn delay(&mut self, now: SimTime) {
        let minimum = self.min_timeout;
        let mut timeout = self.timeout.unwrap_or(minimum);
        if timeout > minimum && self.rtt > Duration::ZERO {
            timeout = timeout.min(self.rtt.max(minimum));
        }
        let until = now + timeout.min(self.max_timeout);
        if self.delayed_until <= now + timeout / 4 {
            // Nearly due already: send it rather than start again.
            self.due_now = true;
        } else {
            self.delayed_until = self.delayed_until.min(until);
        }
    }

    /// Data arrived beyond a hole.
    pub(crate) fn on_out_of_order(&mut self, now: SimTime, rcv_nxt: u64) {
        if !self.merging || self.due_now || self.quick_left > 0 || self.merged >= MERGED_MAX {
            self.due_now = true;
            return;
        }
        if self.hole_seq != rcv_nxt {
            self.hole_seq = rcv_nxt;
            self.hole_duplicates = 0;
        }
        if self.hole_duplicates < UNMERGED_DUPLICATES {
            self.hole_duplicates += 1;
            self.due_now = true;
            return;
        }
        self.merged += 1;
        if self.merged_until == SimTime::MAX {
            self.merged_until = now + (self.rtt / 20).min(MERGED_WAIT) + MERGED_SLACK;
        }
    }

    /// An acknowledgment of everything up to `rcv_nxt` left, alone or with data.
    #[inline]
    pub(crate) fn on_ack_sent(&mut self, rcv_nxt: u64) {
        if self.quick_left > 0 {
            self.quick_left -= 1;
            if self.quick_left == 0 {
                self.timeout = Some(self.min_timeout);
            }
        }
        self.acknowledged = rcv_nxt;
        self.due_now = false;
        self.delayed_until = SimTime::MAX;
        self.merged_until = SimTime::MAX;
        self.merged = 0;
    }

    #[inline]
    pub(crate) fn next_timeout(&self) -> SimTime {
        self.delayed_until.min(self.merged_until)
    }

    pub(crate) fn on_timer(&mut self, now: SimTime) {
        if self.merged_until <= now {
            self.merged_until = SimTime::MAX;
            self.due_now = true;
        }
        if self.delayed_until <= now {
            // The peer did not send a second segment: wait longer the next time.
            let timeout = self.timeout.unwrap_or(self.min_timeout);
            self.timeout = Some((timeout * 2).min(self.rto));
            self.delayed_until = SimTime::MAX;
            self.due_now = true;
        }
    }
}
