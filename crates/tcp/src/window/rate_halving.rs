//! Rate halving: in a reduction the window falls by one segment for every second
//! acknowledgment, as in Linux before proportional rate reduction (3.2).

/// A reduction by rate halving.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct RateHalving {
    /// An odd number of acknowledgments has arrived.
    is_odd: bool,
}

impl RateHalving {
    /// The window after an acknowledgment that delivered something. It does not fall below half
    /// of the threshold by itself (`tcp_reno_min_cwnd`), and is never more than one segment above
    /// the packets in flight.
    pub(crate) fn cwnd_pkts(
        &mut self,
        cwnd_pkts: u32,
        in_flight_pkts: u32,
        ssthresh_pkts: u32,
    ) -> u32 {
        let falls = self.is_odd && cwnd_pkts > (ssthresh_pkts / 2).max(1);
        self.is_odd = !self.is_odd;
        (cwnd_pkts - u32::from(falls)).min(in_flight_pkts + 1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_window_of_acknowledgments_halves_the_window() {
        let mut halving = RateHalving::default();
        let mut cwnd_pkts = 20;
        for _ in 0..20 {
            cwnd_pkts = halving.cwnd_pkts(cwnd_pkts, 100, 10);
        }
        assert_eq!(cwnd_pkts, 10);
        // It continues down to half of the threshold.
        for _ in 0..20 {
            cwnd_pkts = halving.cwnd_pkts(cwnd_pkts, 100, 10);
        }
        assert_eq!(cwnd_pkts, 5);
    }

    #[test]
    fn the_window_leaves_room_for_one_segment() {
        let mut halving = RateHalving::default();
        assert_eq!(halving.cwnd_pkts(20, 12, 10), 13);
        assert_eq!(halving.cwnd_pkts(20, 0, 10), 1);
    }
}
