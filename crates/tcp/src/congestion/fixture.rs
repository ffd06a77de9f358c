//! Acknowledgments and samples for the tests of the congestion controls.

use super::{Ack, CongestionControl, RttSample, Window};
use backlane_units::{Duration, SimTime};

pub(super) fn at_ms(ms: u64) -> SimTime {
    SimTime::ZERO + Duration::from_millis(ms)
}

pub(super) fn ack(acked_pkts: u32) -> Ack {
    Ack {
        acked_pkts,
        covered_pkts: acked_pkts,
        is_cwnd_limited: true,
        mss_bytes: 1000,
        ..Ack::default()
    }
}

pub(super) fn sample(rtt_us: u32, covered_pkts: u32) -> RttSample {
    RttSample {
        rtt_us,
        srtt_us: rtt_us,
        covered_pkts,
        mss_bytes: 1000,
        ..RttSample::default()
    }
}

/// A path of constant RTT on which every packet is acknowledged on its own.
pub(super) struct Rounds {
    pub(super) now: SimTime,
    pub(super) snd_una: u64,
    pub(super) window: Window,
}

impl Rounds {
    pub(super) fn new(cwnd_pkts: u32, ssthresh_pkts: u32) -> Self {
        Self {
            now: SimTime::ZERO,
            snd_una: 1,
            window: Window::new(cwnd_pkts, ssthresh_pkts),
        }
    }

    /// One round: as many acknowledgments as the window had packets at its start.
    pub(super) fn run(&mut self, control: &mut dyn CongestionControl, rtt_us: u32) {
        let flight_pkts = self.window.cwnd_pkts;
        let end = self.now + Duration::from_micros(u64::from(rtt_us));
        let gap = Duration::from_micros(u64::from(rtt_us / flight_pkts.max(1)));
        for i in 0..flight_pkts {
            self.now = self.now + gap;
            self.snd_una += 1;
            // What is sent for this acknowledgment ends a window later.
            let snd_nxt = self.snd_una + u64::from(flight_pkts);
            let sample = RttSample {
                snd_una: self.snd_una,
                snd_nxt,
                packets_out_pkts: flight_pkts,
                ..sample(rtt_us, 1)
            };
            control.on_rtt_sample(self.now, &sample, &mut self.window);
            let ack = Ack {
                snd_una: self.snd_una,
                snd_nxt,
                in_flight_pkts: flight_pkts - i,
                rtt_us: Some(rtt_us),
                srtt_us: rtt_us,
                ..ack(1)
            };
            control.on_ack(self.now, &ack, &mut self.window);
        }
        self.now = end;
    }
}
