//! The RTT sample of an acknowledgment.

use backlane_units::{Duration, SimTime};

use super::Sender;
use crate::choices::{ControlRtt, RttSamples};
use crate::congestion::RttSample;
use crate::scoreboard::Delivery;
use crate::segment::Segment;

impl Sender {
    /// Takes a sample into the estimator. `path_rtt_us`: the RTT of the newest segment.
    pub(super) fn take_rtt(&mut self, now: SimTime, rtt_us: u64, path_rtt_us: u64) {
        let r = &mut self.recovery;
        r.rtt.on_path_sample(now.as_micros(), path_rtt_us);
        r.rtt.on_sample(rtt_us, r.space.snd_una, r.space.snd_nxt);
        r.timers.backoff = 0;
        let rtt = Duration::from_micros(rtt_us);
        r.statistics.on_rtt(rtt);
        self.last_rtt = Some(rtt);
    }

    /// Measures the RTT from a segment sent once (Karn), acknowledged before SACKed; else from the
    /// timestamp. Returns the RTT of the newest segment, in microseconds.
    #[inline]
    pub(super) fn measure_rtt(
        &mut self,
        now: SimTime,
        segment: &Segment,
        now_ts: u32,
        delivery: &Delivery,
    ) -> Option<u32> {
        let now_us = now.as_micros();
        if let Some((first_us, _)) = delivery.acked_sent_us
            && !delivery.retransmitted_acked
            && !delivery.sacked_acked
        {
            let rtt = Duration::from_micros(now_us - first_us);
            self.recovery.statistics.on_rtt_in_order(rtt);
        }
        let prefers_timestamps = self.rtt_samples != RttSamples::Segments;
        let repeated = if self.rtt_samples == RttSamples::Advancing {
            delivery.repeated_head_acked
        } else {
            delivery.retransmitted_acked
        };
        let acked = delivery
            .acked_sent_us
            .filter(|_| !(repeated || (prefers_timestamps && segment.ts_ecr != 0)));
        let sacked = delivery.sacked_sent_us.filter(|_| !prefers_timestamps);
        let has_timestamp = segment.ts_ecr != 0
            && delivery.covered_pkts > 0
            && !(self.rtt_samples == RttSamples::Advancing && repeated);
        let (rtt_us, path_rtt_us) = if let Some((first_us, last_us)) = acked {
            // SACKed segments are newer than acknowledged ones and hold the path's RTT.
            let newest_us = sacked.map_or(last_us, |(_, us)| us);
            (now_us - first_us, now_us - newest_us)
        } else if let Some((first_us, last_us)) = sacked {
            (now_us - first_us, now_us - last_us)
        } else if has_timestamp {
            // The sample is a whole number of ticks of the timestamp clock.
            let rtt_us = u64::from(now_ts.wrapping_sub(segment.ts_ecr));
            let rtt_us = self.whole_ticks_us(now, rtt_us);
            (rtt_us, rtt_us)
        } else {
            self.repeat_smoothed_rtt(now, delivery);
            return None;
        };
        self.take_rtt(now, rtt_us, path_rtt_us);
        let r = &mut self.recovery;
        self.loss
            .on_rtt_sample(rtt_us, delivery.delivered_pkts, r.window.cwnd_pkts);
        let shown_us = match self.control_rtt {
            ControlRtt::Sample => path_rtt_us,
            ControlRtt::Smoothed => r.rtt.srtt_us(),
        };
        self.show_rtt(now, shown_us as u32, delivery);
        Some(path_rtt_us as u32)
    }

    /// ns-3 gives a control the smoothed RTT again where an acknowledgment that advances is no
    /// sample.
    fn repeat_smoothed_rtt(&mut self, now: SimTime, delivery: &Delivery) {
        let srtt_us = self.recovery.rtt.srtt_us() as u32;
        if self.control_rtt == ControlRtt::Smoothed && delivery.covered_pkts > 0 && srtt_us > 0 {
            self.show_rtt(now, srtt_us, delivery);
        }
    }

    #[inline]
    fn show_rtt(&mut self, now: SimTime, rtt_us: u32, delivery: &Delivery) {
        let r = &mut self.recovery;
        let sample = RttSample {
            rtt_us,
            srtt_us: r.rtt.srtt_us() as u32,
            covered_pkts: delivery.covered_pkts,
            sacked_pkts: r.scoreboard.sacked_out(),
            packets_out_pkts: r.scoreboard.packets_out(),
            snd_una: r.space.snd_una,
            snd_nxt: r.space.snd_nxt,
            mss_bytes: r.space.mss_bytes,
        };
        r.control.on_rtt_sample(now, &sample, &mut r.window);
    }
}
