//! Dynamic right-sizing of the receive window, as Linux 6.1 does it (`tcp_rcv_space_adjust`;
//! Fisk and Feng, "Dynamic Right-Sizing in TCP", LANL 2001): whenever the application has read
//! more in one round trip than in any before, the window may grow to twice that and a cushion,
//! and to more while the rate rises. The memory for it is [`crate::receive_memory`]'s.

use backlane_units::SimTime;

use crate::segment::Segment;

/// The kernel assumes that this much was read per round trip at first (`TCP_INIT_CWND`).
const FIRST_ROUND_PKTS: u32 = 10;
/// Cushion over twice the bytes of the last round trip.
const CUSHION_PKTS: u64 = 16;

/// The tuner of one connection.
#[derive(Clone, Debug)]
pub(crate) struct Autotuning {
    mss_bytes: u32,
    /// What a timestamp counts, in microseconds.
    tick_us: u64,
    /// The receiver's estimate of the RTT, in eighths of a microsecond; 0: none yet.
    rtt_us8: u64,
    /// The echoed timestamp the last sample was taken from, in ticks; `None`: no sample yet.
    last_echo_tick: Option<u64>,
    /// When the present window was offered, and the sequence number that fills it.
    filling: Option<(u64, u64)>,
    /// When the present round began, and where.
    round_us: u64,
    round_seq: u64,
    /// Bytes read in the largest round so far.
    round_bytes: u64,
}

impl Autotuning {
    /// A tuner for a window that starts at `window_bytes`; timestamps count `tick_us`
    /// microseconds.
    pub(crate) fn new(mss_bytes: u32, window_bytes: u32, tick_us: u32) -> Self {
        let mss_bytes = mss_bytes.max(1);
        let round_bytes = window_bytes.min(FIRST_ROUND_PKTS.saturating_mul(mss_bytes));
        Self {
            mss_bytes,
            tick_us: u64::from(tick_us.max(1)),
            rtt_us8: 0,
            last_echo_tick: None,
            filling: None,
            round_us: 0,
            round_seq: 0,
            round_bytes: u64::from(round_bytes.max(1)),
        }
    }

    /// The handshake is done.
    pub(crate) fn on_established(&mut self, now: SimTime, rcv_nxt: u64) {
        self.round_us = now.as_micros();
        self.round_seq = rcv_nxt;
    }

    /// Data in order arrived, up to `rcv_nxt`, while the window was `window_bytes`
    /// (`tcp_rcv_rtt_measure`).
    #[inline]
    pub(crate) fn on_in_order(&mut self, now: SimTime, rcv_nxt: u64, window_bytes: u32) {
        let now_us = now.as_micros();
        match self.filling {
            Some((_, full_seq)) if rcv_nxt < full_seq => {}
            filling => {
                if let Some((since_us, _)) = filling {
                    self.on_filled((now_us - since_us).max(1));
                }
                self.filling = Some((now_us, rcv_nxt + u64::from(window_bytes)));
            }
        }
    }

    /// A segment with data arrived, in order or not; `full_bytes`: the payload of a full segment
    /// of the peer. Each timestamp that is echoed is a sample, once, in whole ticks
    /// (`tcp_rcv_rtt_measure_ts`).
    #[inline]
    pub(crate) fn on_data(&mut self, now: SimTime, segment: &Segment, full_bytes: u32) {
        if segment.ts_ecr == 0 {
            return;
        }
        let now_us = now.as_micros();
        let age_us = u64::from((now_us as u32).wrapping_sub(segment.ts_ecr));
        let echo_tick = now_us.saturating_sub(age_us) / self.tick_us;
        if self.last_echo_tick == Some(echo_tick) {
            return;
        }
        self.last_echo_tick = Some(echo_tick);
        if segment.payload_bytes >= full_bytes {
            let ticks = now_us / self.tick_us - echo_tick;
            self.on_echo(ticks.max(1) * self.tick_us);
        }
    }

    /// A round trip by timestamps: a smaller one counts at once, a larger one with an eighth
    /// (`tcp_rcv_rtt_update`; before 2025 Linux smoothed either).
    fn on_echo(&mut self, rtt_us: u64) {
        self.rtt_us8 = match self.rtt_us8 {
            rtt_us8 if rtt_us8 == 0 || rtt_us << 3 < rtt_us8 => rtt_us << 3,
            rtt_us8 => rtt_us8 - (rtt_us8 >> 3) + rtt_us,
        };
    }

    /// A window was filled in `time_us`, which is never less than the round trip.
    fn on_filled(&mut self, time_us: u64) {
        self.rtt_us8 = match self.rtt_us8 {
            0 => time_us << 3,
            rtt_us8 => rtt_us8.min(time_us << 3),
        };
    }

    /// The application has read all below `read_seq`. Returns the window in bytes that the rate
    /// asks for, if a round ended that brought more than any before.
    #[inline]
    pub(crate) fn on_read(&mut self, now: SimTime, read_seq: u64) -> Option<u64> {
        let now_us = now.as_micros();
        if self.rtt_us8 == 0 || now_us - self.round_us < self.rtt_us8 >> 3 {
            return None;
        }
        let read_bytes = read_seq - self.round_seq;
        self.round_us = now_us;
        self.round_seq = read_seq;
        if read_bytes <= self.round_bytes {
            return None;
        }
        let cushion_bytes = CUSHION_PKTS * u64::from(self.mss_bytes);
        let steady_bytes = 2 * read_bytes + cushion_bytes;
        // Twice as fast as the last round: the sender is in slow start and doubles again.
        let growth = u128::from(steady_bytes) * u128::from(read_bytes - self.round_bytes)
            / u128::from(self.round_bytes);
        self.round_bytes = read_bytes;
        let window_bytes = u128::from(steady_bytes) + 2 * growth;
        Some(u64::try_from(window_bytes).unwrap_or(u64::MAX))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MSS: u32 = 1000;

    fn at(ms: u64) -> SimTime {
        SimTime::ZERO + backlane_units::Duration::from_millis(ms)
    }

    fn data(echo_ms: u32) -> Segment {
        echoing(echo_ms * 1000)
    }

    fn echoing(echo_us: u32) -> Segment {
        Segment {
            payload_bytes: MSS,
            ts_ecr: echo_us,
            ..Segment::default()
        }
    }

    #[test]
    fn nothing_is_tuned_before_a_round_trip_is_known() {
        let mut tuner = Autotuning::new(MSS, 65_535, 1000);
        tuner.on_established(at(0), 1);
        assert_eq!(tuner.on_read(at(100), 50_001), None);
    }

    #[test]
    fn a_round_that_doubles_asks_for_three_times_its_steady_window() {
        let mut tuner = Autotuning::new(MSS, 65_535, 1000);
        tuner.on_established(at(0), 1);
        tuner.on_data(at(60), &data(20), MSS);
        // Round trip 40 ms. 20 kB read against the 10 kB assumed: growth 1, so that
        // (2·20 + 16) kB · (1 + 2) may be offered.
        assert_eq!(tuner.on_read(at(60), 20_001), Some(168_000));
        assert_eq!(tuner.on_read(at(99), 60_001), None);
        // As much again is no reason to grow.
        assert_eq!(tuner.on_read(at(100), 40_001), None);
        // A tenth more: 2·22 + 16 = 60 kB and a fifth.
        assert_eq!(tuner.on_read(at(140), 62_001), Some(72_000));
    }

    #[test]
    fn without_timestamps_the_time_to_fill_a_window_stands_for_the_round_trip() {
        let mut tuner = Autotuning::new(MSS, 4_000, 1000);
        tuner.on_established(at(0), 1);
        for (ms, rcv_nxt) in [(10, 1), (20, 1_001), (30, 2_001), (40, 3_001)] {
            tuner.on_in_order(at(ms), rcv_nxt, 4_000);
        }
        assert_eq!(tuner.rtt_us8, 0);
        tuner.on_in_order(at(50), 4_001, 4_000);
        assert_eq!(tuner.rtt_us8 >> 3, 40_000);
    }

    #[test]
    fn timestamps_are_smoothed_and_each_echo_counts_once() {
        let mut tuner = Autotuning::new(MSS, 65_535, 1000);
        tuner.on_data(at(60), &data(20), MSS);
        tuner.on_data(at(70), &data(20), MSS);
        assert_eq!(tuner.rtt_us8 >> 3, 40_000);
        tuner.on_data(at(108), &data(60), MSS);
        assert_eq!(tuner.rtt_us8 >> 3, 41_000);
        // A smaller one counts at once.
        tuner.on_data(at(130), &data(90), MSS);
        assert_eq!(tuner.rtt_us8 >> 3, 40_000);
    }

    /// Four segments of a millisecond echo one timestamp: one sample. With a tick of 4 ms, 41 ms
    /// from 23 ms on are 16 ticks less 5.
    #[test]
    fn a_sample_is_taken_once_per_tick_and_in_whole_ticks() {
        let mut tuner = Autotuning::new(MSS, 65_535, 1000);
        for (at_ms, echo_us) in [(60, 20_000), (100, 20_250), (100, 20_500), (100, 20_999)] {
            tuner.on_data(at(at_ms), &echoing(echo_us), MSS);
        }
        assert_eq!(tuner.rtt_us8 >> 3, 40_000);
        tuner.on_data(at(101), &echoing(21_000), MSS);
        assert_eq!(tuner.rtt_us8 >> 3, 45_000);
        let mut tuner = Autotuning::new(MSS, 65_535, 4000);
        tuner.on_data(at(64), &echoing(23_000), MSS);
        assert_eq!(tuner.rtt_us8 >> 3, 44_000);
    }
}
