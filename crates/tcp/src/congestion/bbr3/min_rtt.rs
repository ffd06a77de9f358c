//! The smallest RTT, and the rest at half the pipe that measures it (§5.3.4).

use super::phase::Phase;
use super::{Ack, Bbr3, Window};

/// How long the smallest RTT is valid; …
const WINDOW_MS: u64 = 10_000;
/// … a rest begins when it was not seen again for this long, …
const INTERVAL_MS: u64 = 5_000;
/// … and lasts this long.
const LENGTH_MS: u64 = 200;

impl Bbr3 {
    pub(super) fn update_min_rtt(&mut self, now_us: u64, ack: &Ack, window: &mut Window) {
        let now_ms = now_us / 1000;
        let rest = &mut self.rest;
        let is_due = now_ms > rest.rtt_at_ms + INTERVAL_MS;
        if let Some(rtt_us) = ack.rtt_us
            && (rtt_us < rest.rtt_us || is_due)
        {
            rest.rtt_us = rtt_us;
            rest.rtt_at_ms = now_ms;
        }
        let has_expired = now_ms > rest.min_rtt_at_ms + WINDOW_MS;
        if rest.rtt_us <= self.min_rtt_us || has_expired {
            self.min_rtt_us = rest.rtt_us;
            rest.min_rtt_at_ms = rest.rtt_at_ms;
        }
        if is_due && !self.is_restarting && self.phase != Phase::ProbeRtt {
            self.phase = Phase::ProbeRtt;
            self.remember_window(window);
            self.rest.until_ms = None;
            self.rest.has_had_round = false;
            self.stop_probing(ack.delivered_pkts);
        }
        self.holds_back = self.phase == Phase::ProbeRtt;
        if self.phase == Phase::ProbeRtt {
            self.continue_rest(now_us, ack, window);
        }
        if ack.rate.delivered_pkts > 0 {
            self.is_restarting = false;
        }
    }

    fn continue_rest(&mut self, now_us: u64, ack: &Ack, window: &mut Window) {
        if self.rest.until_ms.is_some() {
            self.rest.has_had_round |= self.starts_round;
            if self.rest.has_had_round {
                self.look_for_end_of_rest(now_us, ack.delivered_pkts, window);
            }
        } else if ack.in_flight_pkts <= self.rest_pkts() {
            self.rest.until_ms = Some(now_us / 1000 + LENGTH_MS);
            self.start_round(ack.delivered_pkts);
        }
    }

    pub(super) fn look_for_end_of_rest(
        &mut self,
        now_us: u64,
        delivered_pkts: u64,
        window: &mut Window,
    ) {
        let now_ms = now_us / 1000;
        if self.rest.until_ms.is_none_or(|until_ms| now_ms <= until_ms) {
            return;
        }
        self.rest.rtt_at_ms = now_ms;
        window.cwnd_pkts = window.cwnd_pkts.max(self.prior_cwnd_pkts);
        self.bounds.reset_lo();
        if self.full_pipe.is_reached {
            // What is in flight is below the pipe: nothing to drain before cruising.
            self.start_down(now_us, delivered_pkts);
            self.start_cruise();
        } else {
            self.phase = Phase::Startup;
        }
    }
}
