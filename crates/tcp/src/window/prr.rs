//! Proportional rate reduction: how many segments an acknowledgment releases in recovery.
//!
//! RFC 6937 with the slow-start reduction bound of RFC 9937, as in Linux 6.1: while more is in
//! flight than the threshold, segments leave in proportion to those delivered; below it, the
//! flight is rebuilt as fast as in slow start after safe acknowledgments, and no faster than
//! deliveries otherwise.

/// Counts in packets since recovery started, and the window at its start.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Prr {
    prior_cwnd: u32,
    delivered: u32,
    out: u32,
}

impl Prr {
    /// Recovery starts with a window of `cwnd_pkts`.
    pub(crate) fn start(cwnd_pkts: u32) -> Self {
        Self {
            prior_cwnd: cwnd_pkts.max(1),
            delivered: 0,
            out: 0,
        }
    }

    /// A segment left.
    #[inline]
    pub(crate) fn on_sent(&mut self) {
        self.out += 1;
    }

    /// The window after an acknowledgment that delivered `delivered_pkts`. `is_safe_ack`
    /// (RFC 9937): it advanced the cumulative acknowledgment and revealed no further loss.
    pub(crate) fn cwnd_pkts(
        &mut self,
        delivered_pkts: u32,
        in_flight_pkts: u32,
        ssthresh_pkts: u32,
        is_safe_ack: bool,
    ) -> u32 {
        self.delivered += delivered_pkts;
        let allowance = if in_flight_pkts > ssthresh_pkts {
            let proportion = (u64::from(ssthresh_pkts) * u64::from(self.delivered))
                .div_ceil(u64::from(self.prior_cwnd));
            (proportion as u32).saturating_sub(self.out)
        } else {
            let owed = self.delivered.saturating_sub(self.out);
            let allowance = owed.max(delivered_pkts) + u32::from(is_safe_ack);
            allowance.min(ssthresh_pkts - in_flight_pkts)
        };
        // The fast retransmit itself is always sent.
        let allowance = allowance.max(u32::from(self.out == 0));
        in_flight_pkts + allowance
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn half_the_deliveries_leave_while_the_window_halves() {
        let mut prr = Prr::start(100);
        let mut in_flight_pkts = 96;
        let mut sent = 0;
        while in_flight_pkts > 50 {
            in_flight_pkts -= 1;
            let cwnd_pkts = prr.cwnd_pkts(1, in_flight_pkts, 50, false);
            for _ in in_flight_pkts..cwnd_pkts {
                prr.on_sent();
                sent += 1;
            }
            in_flight_pkts = cwnd_pkts;
        }
        // 91 deliveries take 96 to 50 when every second one is answered.
        assert_eq!((sent, prr.delivered), (45, 91));
    }

    #[test]
    fn below_the_threshold_a_safe_ack_allows_one_more_than_was_delivered() {
        let mut prr = Prr::start(100);
        prr.out = 10;
        prr.delivered = 10;
        assert_eq!(prr.cwnd_pkts(2, 20, 50, true), 23);
        assert_eq!(Prr::start(100).cwnd_pkts(2, 20, 50, false), 22);
    }

    #[test]
    fn the_first_retransmission_is_always_sent() {
        assert_eq!(Prr::start(4).cwnd_pkts(0, 3, 2, false), 4);
    }
}
