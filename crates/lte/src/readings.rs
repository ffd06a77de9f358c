//! What a network reports: counters since the start, for each UE and direction.

use backlane_engine::Histogram;
use backlane_units::Duration;

use crate::phy::mutual_information::MutualInformation;
use crate::phy::tables::Modulation;

/// MCS indices that a transport block can have.
pub const MCS_COUNT: usize = 29;

/// The last readings of a UE and its counters.
#[derive(Clone, Debug, Default)]
pub struct UeReadings {
    /// The cell that serves it, an index among the cells.
    pub serving: usize,
    /// Wideband SINR of the primary carrier's downlink at the last report: that of a flat channel
    /// with as much mutual information, implementation loss included.
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
#[derive(Clone, Debug, Default)]
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
    pub delays: Histogram,
    /// Sum of these delays, in seconds.
    pub delay_sum_s: f64,
    /// The longest of these delays since it was taken last, in seconds.
    pub longest_s: f64,
    /// First transmissions by MCS; empty before the first one.
    pub by_mcs: Vec<McsReadings>,
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

impl UeReadings {
    /// Counts a report; `information` is the mean of 256QAM over `sinr`, if that has changed since
    /// the last one.
    pub(crate) fn report(&mut self, sinr: &[f32], information: Option<f32>, cqi: u8) {
        if let Some(information) = information {
            self.sinr_db = 10.0 * libm::log10(f64::from(effective(sinr, information)));
        }
        self.cqi = cqi;
        self.reports += 1;
        self.sinr_db_sum += self.sinr_db;
        self.cqi_sum += u64::from(cqi);
    }
}

/// The SINR of a flat channel that carries as much information as these groups or blocks, by the
/// widest modulation; their mean where even that has all its bits.
fn effective(sinr: &[f32], information: f32) -> f32 {
    const ALL_BITS: f32 = 0.995;
    if let [flat] = sinr {
        return *flat;
    }
    if information < ALL_BITS {
        MutualInformation::curves().sinr(Modulation::Qam256, information)
    } else {
        sinr.iter().sum::<f32>() / sinr.len() as f32
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
        if self.by_mcs.is_empty() {
            self.by_mcs = vec![McsReadings::default(); MCS_COUNT];
        }
        let mcs = &mut self.by_mcs[usize::from(mcs)];
        mcs.ttis += 1;
        mcs.granted_bytes += u64::from(granted_bytes);
        mcs.used_bytes += u64::from(used_bytes);
    }

    /// Counts a packet's delay from PDCP to PDCP.
    #[inline]
    pub(crate) fn delay(&mut self, delay: Duration) {
        let delay_s = delay.as_secs_f64();
        self.delays.add(delay);
        self.delay_sum_s += delay_s;
        self.longest_s = self.longest_s.max(delay_s);
    }

    /// All retransmissions of transport blocks.
    pub fn retransmitted_blocks(&self) -> u64 {
        self.retransmissions.iter().sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_uneven_channel_reads_below_its_mean_signal_and_a_flat_one_at_it() {
        let effective = |sinr: &[f32]| {
            let curves = MutualInformation::curves();
            effective(sinr, curves.mean(Modulation::Qam256, sinr))
        };
        assert_eq!(effective(&[7.0]), 7.0);
        let even = effective(&[7.0; 25]);
        assert!((even / 7.0 - 1.0).abs() < 0.01, "{even}");
        // 0 and 20 dB: 256QAM has 0.1036 and 0.7805 there (mutual_information.csv), whose mean it has
        // at 11.74 dB; the powers have theirs at 17 dB.
        let uneven = effective(&[1.0, 100.0]);
        assert!((uneven / 14.94 - 1.0).abs() < 0.01, "{uneven}");
        assert_eq!(effective(&[1e5, 3e5]), 2e5);
    }
}
