//! Proportional rate reduction in the 32 bits of ns-3 3.37.
//!
//! RFC 6937 counted in bytes. Below the threshold an acknowledgment that does not advance releases
//! what it delivers, and one that advances the slow-start reduction bound: all that was delivered
//! and has not left, and a segment. Two operations wrap: the product of two numbers of bytes, from
//! some dozen segments on, so that above the threshold nothing leaves, and what was delivered minus
//! what left, if more has left. Later releases of ns-3 count in 64 bits.

/// Bytes since recovery started, and those outstanding at its start.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct PrrOfNs3 {
    mss: u32,
    outstanding: u32,
    delivered: u32,
    out: u32,
}

impl PrrOfNs3 {
    /// No recovery yet, of segments of `mss_bytes`.
    pub(crate) fn new(mss_bytes: u32) -> Self {
        Self {
            mss: mss_bytes,
            ..Self::default()
        }
    }

    /// Recovery starts with `outstanding_pkts` sent and not cumulatively acknowledged.
    pub(crate) fn started(self, outstanding_pkts: u32) -> Self {
        Self {
            outstanding: self.bytes(outstanding_pkts.max(1)),
            ..Self::new(self.mss)
        }
    }

    /// A segment left.
    #[inline]
    pub(crate) fn on_sent(&mut self) {
        self.out = self.out.wrapping_add(self.mss);
    }

    /// The window after an acknowledgment that delivered `delivered_pkts` and `advanced` the
    /// cumulative one, in whole segments.
    pub(crate) fn cwnd_pkts(
        &mut self,
        delivered_pkts: u32,
        in_flight_pkts: u32,
        ssthresh_pkts: u32,
        advanced: bool,
    ) -> u32 {
        let delivered_bytes = self.bytes(delivered_pkts);
        self.delivered = self.delivered.wrapping_add(delivered_bytes);
        let allowed_bytes = if in_flight_pkts > ssthresh_pkts {
            let product = self.delivered.wrapping_mul(self.bytes(ssthresh_pkts));
            i64::from(product.div_ceil(self.outstanding)) - i64::from(self.out)
        } else {
            let limit_bytes = if advanced {
                let owed_bytes = self.delivered.wrapping_sub(self.out);
                owed_bytes.max(delivered_bytes).wrapping_add(self.mss)
            } else {
                delivered_bytes
            };
            let room_bytes = self.bytes(ssthresh_pkts - in_flight_pkts);
            i64::from((limit_bytes as i32).min(room_bytes as i32))
        };
        // The fast retransmit itself is always sent.
        let least_bytes = if self.out > 0 { 0 } else { self.mss };
        let allowed_bytes = allowed_bytes.max(i64::from(least_bytes));
        in_flight_pkts + (allowed_bytes / i64::from(self.mss)) as u32
    }

    fn bytes(&self, packets: u32) -> u32 {
        packets.wrapping_mul(self.mss)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Recorded of ns-3 3.37: 1745 segments of 1340 bytes outstanding, a threshold of 1220 and one
    /// retransmission that has left. The 23rd to 31st acknowledgment leave room for 3, 40, 77, 114
    /// and 151 bytes, none of them a segment.
    #[test]
    fn above_the_threshold_the_product_wraps_and_nothing_leaves() {
        let mut prr = PrrOfNs3::new(1340).started(1745);
        assert_eq!(prr.cwnd_pkts(1, 1743, 1220, false), 1744);
        prr.on_sent();
        let mut in_flight_pkts = 1744;
        for _ in 0..200 {
            // Every other segment of the flight is lost.
            in_flight_pkts -= 2;
            let cwnd_pkts = prr.cwnd_pkts(1, in_flight_pkts, 1220, false);
            assert_eq!(cwnd_pkts, in_flight_pkts);
        }
    }

    #[test]
    fn a_small_window_does_not_wrap() {
        let mut prr = PrrOfNs3::new(1000).started(40);
        prr.on_sent();
        // 20 of 40 delivered: half of them may have left, of which one has.
        for _ in 0..19 {
            prr.cwnd_pkts(1, 30, 20, false);
        }
        assert_eq!(prr.cwnd_pkts(1, 30, 20, false), 30 + 9);
    }

    /// Recorded of ns-3 3.37: duplicates release one segment each although the flight is below the
    /// threshold, and the first acknowledgment that advances releases all that is missing.
    #[test]
    fn below_the_threshold_an_acknowledgment_that_advances_releases_what_is_missing() {
        let mut prr = PrrOfNs3::new(1340).started(1745);
        prr.on_sent();
        for _ in 0..400 {
            prr.cwnd_pkts(1, 1500, 1220, false);
        }
        assert_eq!(prr.cwnd_pkts(1, 861, 1220, false), 862);
        prr.on_sent();
        assert_eq!(prr.cwnd_pkts(2, 859, 1220, true), 1220);
    }

    #[test]
    fn below_the_threshold_nothing_leaves_once_more_has_left_than_was_delivered() {
        let mut prr = PrrOfNs3::new(1000).started(40);
        for _ in 0..3 {
            prr.on_sent();
        }
        assert_eq!(prr.cwnd_pkts(1, 10, 20, true), 10);
        // The duplicates that follow release what they deliver.
        assert_eq!(prr.cwnd_pkts(1, 9, 20, false), 10);
    }
}
