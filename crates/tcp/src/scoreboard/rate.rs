//! Delivery-rate samples, as Linux takes them (`tcp_rate.c`; draft-cheng-iccrg-delivery-rate-
//! estimation): each segment stores how much had been delivered when it left; when it is
//! delivered, the difference over the elapsed time is a sample of the path's rate.

use crate::congestion::{LostPacket, RateSample};

/// The state when a segment left.
#[derive(Clone, Copy, Debug, Default)]
struct Stamp {
    delivered_pkts: u64,
    delivered_ce_pkts: u64,
    lost_pkts: u64,
    delivered_us: u64,
    first_sent_us: u64,
    in_flight_pkts: u32,
    is_app_limited: bool,
}

/// The meter; it does nothing unless the congestion control needs samples.
#[derive(Clone, Debug, Default)]
pub(crate) struct RateMeter {
    enabled: bool,
    /// A ring, one stamp per segment; the length is a power of two.
    stamps: Vec<Stamp>,
    delivered_pkts: u64,
    delivered_ce_pkts: u64,
    lost_pkts: u64,
    delivered_us: u64,
    first_sent_us: u64,
    /// Packets marked lost and not yet reported to the control.
    lost: Vec<LostPacket>,
    /// The flow is limited by the application until this much has been delivered; 0: it is not.
    app_limited_until_pkts: u64,
    /// The newest segment delivered by the present acknowledgment.
    newest: Option<Newest>,
}

#[derive(Clone, Copy, Debug)]
struct Newest {
    stamp: Stamp,
    sent_us: u64,
    end_seq: u64,
    is_retransmitted: bool,
}

impl RateMeter {
    pub(crate) fn new(enabled: bool) -> Self {
        Self {
            enabled,
            ..Self::default()
        }
    }

    #[inline]
    pub(crate) fn is_enabled(&self) -> bool {
        self.enabled
    }

    /// The ring of segments `first..next` now has room for `capacity`.
    pub(crate) fn resize(&mut self, capacity: usize, first: u64, next: u64) {
        if !self.enabled {
            return;
        }
        let mut stamps = vec![Stamp::default(); capacity];
        for index in first..next {
            if let Some(stamp) = self
                .stamps
                .get(index as usize & self.stamps.len().wrapping_sub(1))
            {
                stamps[index as usize & (capacity - 1)] = *stamp;
            }
        }
        self.stamps = stamps;
    }

    /// Segment `index` leaves; `in_flight_pkts` includes it, `was_empty`: nothing was out.
    pub(crate) fn on_sent(
        &mut self,
        index: u64,
        now_us: u64,
        in_flight_pkts: u32,
        was_empty: bool,
    ) {
        if was_empty {
            self.first_sent_us = now_us;
            self.delivered_us = now_us;
        }
        let slot = index as usize & (self.stamps.len() - 1);
        self.stamps[slot] = Stamp {
            delivered_pkts: self.delivered_pkts,
            delivered_ce_pkts: self.delivered_ce_pkts,
            lost_pkts: self.lost_pkts,
            delivered_us: self.delivered_us,
            first_sent_us: self.first_sent_us,
            in_flight_pkts,
            is_app_limited: self.is_app_limited(),
        };
    }

    /// Segment `index` was delivered.
    pub(crate) fn on_delivered(
        &mut self,
        index: u64,
        sent_us: u64,
        end_seq: u64,
        is_retransmitted: bool,
    ) {
        if self
            .newest
            .is_none_or(|newest| (sent_us, end_seq) > (newest.sent_us, newest.end_seq))
        {
            let slot = index as usize & (self.stamps.len() - 1);
            self.newest = Some(Newest {
                stamp: self.stamps[slot],
                sent_us,
                end_seq,
                is_retransmitted,
            });
        }
    }

    /// Segment `index` was marked lost, the `lost_pkts`th that ever was.
    pub(crate) fn on_lost(&mut self, index: u64, lost_pkts: u64) {
        let stamp = self.stamps[index as usize & (self.stamps.len() - 1)];
        self.lost_pkts = lost_pkts;
        self.lost.push(LostPacket {
            tx_in_flight_pkts: stamp.in_flight_pkts,
            lost_since_sent_pkts: lost_pkts - stamp.lost_pkts,
            is_app_limited: stamp.is_app_limited,
            delivered_pkts: 0,
        });
    }

    /// The packets marked lost since the last call.
    pub(crate) fn drain_lost(&mut self) -> std::vec::Drain<'_, LostPacket> {
        self.lost.drain(..)
    }

    /// The application has nothing more to send for now, or the control holds back, with
    /// `in_flight_pkts` in flight.
    pub(crate) fn on_app_limited(&mut self, in_flight_pkts: u32) {
        self.app_limited_until_pkts = (self.delivered_pkts + u64::from(in_flight_pkts)).max(1);
    }

    /// Whether what leaves now is marked as limited by the application.
    #[inline]
    pub(crate) fn is_app_limited(&self) -> bool {
        self.app_limited_until_pkts != 0
    }

    /// The acknowledgment is processed: totals of packets delivered and of those with a mark,
    /// and the smallest RTT, which no sample may be shorter than.
    pub(crate) fn take_sample(
        &mut self,
        now_us: u64,
        delivered_pkts: u64,
        delivered_ce_pkts: u64,
        min_rtt_us: u64,
    ) -> RateSample {
        self.delivered_ce_pkts = delivered_ce_pkts;
        if delivered_pkts > self.delivered_pkts {
            self.delivered_pkts = delivered_pkts;
            self.delivered_us = now_us;
        }
        if delivered_pkts > self.app_limited_until_pkts {
            self.app_limited_until_pkts = 0;
        }
        let Some(newest) = self.newest.take() else {
            return RateSample::default();
        };
        self.first_sent_us = newest.sent_us;
        let stamp = newest.stamp;
        let sending_us = newest.sent_us.saturating_sub(stamp.first_sent_us);
        let acking_us = now_us.saturating_sub(stamp.delivered_us);
        let interval_us = sending_us.max(acking_us);
        // An interval shorter than the path's RTT results from a spurious retransmission.
        let is_valid = interval_us >= min_rtt_us;
        RateSample {
            delivered_pkts: (delivered_pkts - stamp.delivered_pkts) as u32,
            interval_us: if is_valid { interval_us as u32 } else { 0 },
            delivered_ce_pkts: (delivered_ce_pkts - stamp.delivered_ce_pkts) as u32,
            prior_delivered_pkts: stamp.delivered_pkts,
            prior_lost_pkts: stamp.lost_pkts,
            tx_in_flight_pkts: stamp.in_flight_pkts,
            is_app_limited: stamp.is_app_limited,
            is_retransmitted: newest.is_retransmitted,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn meter() -> RateMeter {
        let mut meter = RateMeter::new(true);
        meter.resize(64, 0, 0);
        meter
    }

    #[test]
    fn ten_packets_a_millisecond_apart_give_one_packet_per_millisecond() {
        let mut meter = meter();
        for index in 0..10 {
            meter.on_sent(index, index * 1000, index as u32 + 1, index == 0);
        }
        for index in 0..10 {
            let now_us = 40_000 + index * 1000;
            meter.on_delivered(index, index * 1000, (index + 1) * 100, false);
            let sample = meter.take_sample(now_us, index + 1, 0, 40_000);
            // All ten left before anything was delivered.
            assert_eq!(u64::from(sample.delivered_pkts), index + 1);
            assert_eq!(u64::from(sample.interval_us), now_us);
        }
        meter.on_sent(10, 50_000, 1, false);
        meter.on_delivered(10, 50_000, 1100, false);
        let sample = meter.take_sample(90_000, 11, 0, 40_000);
        assert_eq!((sample.delivered_pkts, sample.interval_us), (1, 41_000));
    }

    #[test]
    fn a_sample_shorter_than_the_smallest_rtt_is_not_valid() {
        let mut meter = meter();
        meter.on_sent(0, 0, 1, true);
        meter.on_delivered(0, 0, 100, true);
        assert_eq!(meter.take_sample(30_000, 1, 0, 40_000).interval_us, 0);
    }

    #[test]
    fn what_was_sent_while_the_application_paused_is_marked() {
        let mut meter = meter();
        meter.on_sent(0, 0, 1, true);
        meter.on_app_limited(1);
        meter.on_sent(1, 10_000, 2, false);
        meter.on_delivered(0, 0, 100, false);
        assert!(!meter.take_sample(40_000, 1, 0, 40_000).is_app_limited);
        meter.on_delivered(1, 10_000, 200, false);
        assert!(meter.take_sample(50_000, 2, 0, 40_000).is_app_limited);
        meter.on_sent(2, 60_000, 1, true);
        meter.on_delivered(2, 60_000, 300, false);
        assert!(!meter.take_sample(100_000, 3, 0, 40_000).is_app_limited);
    }
}
