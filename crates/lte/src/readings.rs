//! What a network tells of itself: counters since the start, for each UE and direction.

use backlane_units::Duration;

/// MCS indices that a transport block can have.
pub const MCS_COUNT: usize = 29;

/// The last readings of a UE and its counters.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct UeReadings {
    /// The cell that serves it, an index among the cells.
    pub serving: usize,
    /// Wideband SINR of the primary carrier's downlink at the last report, implementation loss
    /// included.
    pub sinr_db: f64,
    /// The last wideband CQI of the primary carrier.
    pub cqi: u8,
    /// The MCS of the last downlink transport block.
    pub mcs: u8,
    /// Reports of the primary carrier.
    pub reports: u64,
    /// Sum of `sinr_db` over reports.
    pub sinr_db_sum: f64,
    /// Sum of `cqi` over reports.
    pub cqi_sum: u64,
    /// Handovers.
    pub handovers: u32,
    /// Failures of the radio link.
    pub radio_link_failures: u32,
    /// From eNodeB to UE.
    pub downlink: DirectionReadings,
    /// From UE to eNodeB.
    pub uplink: DirectionReadings,
}

/// What the MAC of one UE has done in one direction, on all carriers.
#[derive(Clone, Debug, PartialEq)]
pub struct DirectionReadings {
    /// Transport blocks sent for the first time.
    pub transport_blocks: u64,
    /// Their bytes.
    pub granted_bytes: u64,
    /// Bytes of RLC in them.
    pub used_bytes: u64,
    /// Bytes of RLC that arrived, each transport block once.
    pub arrived_bytes: u64,
    /// Transport blocks whose first transmission was not decoded.
    pub first_losses: u64,
    /// Second, third and fourth transmissions of transport blocks.
    pub retransmissions: [u64; 3],
    /// Transport blocks that HARQ gave up, or took for arrived when they were not.
    pub lost_blocks: u64,
    /// Sum of the MCS over `transport_blocks`.
    pub mcs_sum: u64,
    /// From a packet's arrival at PDCP to its delivery by PDCP at the other end.
    pub delays: Delays,
    /// First transmissions by MCS.
    pub by_mcs: [McsReadings; MCS_COUNT],
}

/// First transmissions with one MCS.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct McsReadings {
    /// TTIs with such a transmission, on any carrier.
    pub ttis: u64,
    /// Bytes of the transport blocks.
    pub granted_bytes: u64,
    /// Bytes of RLC in them.
    pub used_bytes: u64,
}

/// What a cell has done on one carrier.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CellReadings {
    /// Subframes with a downlink transmission.
    pub downlink_ttis: u64,
    /// Resource blocks sent in the downlink, retransmissions included.
    pub downlink_prbs: u64,
    /// Resource blocks granted in the uplink, retransmissions included.
    pub uplink_prbs: u64,
    /// Sum of the control region's symbols over `downlink_ttis`.
    pub cfi_sum: u64,
}

impl Default for DirectionReadings {
    fn default() -> Self {
        Self {
            transport_blocks: 0,
            granted_bytes: 0,
            used_bytes: 0,
            arrived_bytes: 0,
            first_losses: 0,
            retransmissions: [0; 3],
            lost_blocks: 0,
            mcs_sum: 0,
            delays: Delays::default(),
            by_mcs: [McsReadings::default(); MCS_COUNT],
        }
    }
}

impl UeReadings {
    /// Counts a report.
    pub(crate) fn report(&mut self, sinr: &[f32], cqi: u8) {
        let mean = sinr.iter().sum::<f32>() / sinr.len() as f32;
        self.sinr_db = 10.0 * libm::log10(f64::from(mean));
        self.cqi = cqi;
        self.reports += 1;
        self.sinr_db_sum += self.sinr_db;
        self.cqi_sum += u64::from(cqi);
    }
}

impl DirectionReadings {
    /// Counts the first transmission of a transport block.
    #[inline]
    pub(crate) fn first(&mut self, mcs: u8, granted_bytes: u32, used_bytes: u32) {
        self.transport_blocks += 1;
        self.granted_bytes += u64::from(granted_bytes);
        self.used_bytes += u64::from(used_bytes);
        self.mcs_sum += u64::from(mcs);
        let mcs = &mut self.by_mcs[usize::from(mcs)];
        mcs.ttis += 1;
        mcs.granted_bytes += u64::from(granted_bytes);
        mcs.used_bytes += u64::from(used_bytes);
    }

    /// All retransmissions of transport blocks.
    pub fn retransmitted_blocks(&self) -> u64 {
        self.retransmissions.iter().sum()
    }
}

/// Buckets of a histogram in each doubling of the delay: a quantile is within 1.6 %.
const BUCKETS: u32 = 32;

/// How long packets took.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Delays {
    /// Packets.
    pub count: u64,
    /// Sum of their delays, in seconds.
    pub sum_s: f64,
    /// The longest, in seconds.
    pub max_s: f64,
    /// By microseconds: the first 32 buckets are a microsecond wide, and each further 32 twice as
    /// wide as those before.
    buckets: Vec<u32>,
}

impl Delays {
    /// Counts a packet.
    #[inline]
    pub(crate) fn count(&mut self, delay: Duration) {
        let seconds = delay.as_secs_f64();
        self.count += 1;
        self.sum_s += seconds;
        self.max_s = self.max_s.max(seconds);
        let us = delay.as_micros();
        let doublings = (us / u64::from(BUCKETS))
            .checked_ilog2()
            .map_or(0, |n| n + 1);
        let bucket = if doublings == 0 {
            us as usize
        } else {
            (BUCKETS * doublings) as usize + (us >> (doublings - 1)) as usize - BUCKETS as usize
        };
        if bucket >= self.buckets.len() {
            self.buckets.resize(bucket + 1, 0);
        }
        self.buckets[bucket] += 1;
    }

    /// The mean, in seconds; `None` without packets.
    pub fn mean_s(&self) -> Option<f64> {
        (self.count != 0).then(|| self.sum_s / self.count as f64)
    }

    /// The delay in seconds that a share `p` of the packets does not exceed; `None` without
    /// packets.
    pub fn quantile_s(&self, p: f64) -> Option<f64> {
        let rank = (p * self.count as f64).max(1.0);
        let mut seen = 0.0;
        for (bucket, &n) in self.buckets.iter().enumerate() {
            seen += f64::from(n);
            if seen >= rank {
                let (doublings, place) = (bucket as u32 / BUCKETS, bucket as u32 % BUCKETS);
                let us = if doublings == 0 {
                    f64::from(place) + 0.5
                } else {
                    let width = f64::from(1 << (doublings - 1));
                    (f64::from(BUCKETS + place) + 0.5) * width
                };
                return Some((us * 1e-6).min(self.max_s));
            }
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_of_delays_are_within_a_bucket() {
        let mut delays = Delays::default();
        assert_eq!(delays.quantile_s(0.5), None);
        for us in 1..=100_000 {
            delays.count(Duration::from_micros(us));
        }
        for p in [0.0001, 0.05, 0.5, 0.95, 0.999] {
            let quantile = delays.quantile_s(p).expect("packets");
            assert!((quantile / (p * 0.1) - 1.0).abs() < 0.06, "{p}: {quantile}");
            assert!((quantile - p * 0.1).abs() < 0.016 * p * 0.1 + 1e-6);
        }
        assert_eq!(delays.max_s, 0.1);
        assert!((delays.mean_s().expect("packets") - 0.050_000_5).abs() < 1e-9);
    }
}
