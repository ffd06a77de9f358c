//! One component carrier: its formats, its control region, and the choice of an MCS.

use std::sync::Arc;

use crate::config::{RanConfig, SchedulerRule};
use crate::mac::report::Report;
use crate::phy::coding::Grid;
use crate::phy::control::ControlRegion;
use crate::phy::error_model::{ErrorModel, ErrorModelConfig};
use crate::phy::link_adaptation::{Adaptation, LinkAdaptation};
use crate::phy::mutual_information::MutualInformation;
use crate::phy::tables::{CqiTable, McsTable, Modulation, rbg_count, rbg_size};

/// The downlink of one component carrier.
#[derive(Clone, Debug)]
pub(crate) struct DownlinkCarrier {
    pub(crate) n_rb: u16,
    groups: u16,
    pub(crate) all_groups: u32,
    group_size: u16,
    last_group_size: u16,
    pub(crate) codewords: usize,
    pub(crate) control: ControlRegion,
    cfi: Option<u8>,
    most_cces: u16,
    /// Bits of all codewords on the whole carrier, by MCS.
    whole_bits: Vec<u32>,
    rule: Adaptation,
    worst_rbg_mcs: bool,
    pub(crate) adaptation: Arc<LinkAdaptation>,
    pub(crate) model: Arc<ErrorModel>,
}

impl DownlinkCarrier {
    /// The carriers of a network; those of one width share their tables.
    pub(crate) fn all(config: &RanConfig) -> Vec<Self> {
        let mut carriers: Vec<Self> = Vec::new();
        for carrier in &config.carrier {
            let alike = carriers.iter().find(|other| other.n_rb == carrier.n_rb());
            let carrier = alike
                .cloned()
                .unwrap_or_else(|| Self::new(config, carrier.n_rb()));
            carriers.push(carrier);
        }
        carriers
    }

    fn new(config: &RanConfig, n_rb: u16) -> Self {
        let (mcs_table, cqi_table) = if config.qam256 {
            (McsTable::Qam256, CqiTable::Qam256)
        } else {
            (McsTable::Qam64, CqiTable::Qam64)
        };
        let codewords = if config.layers() > 1 { 2 } else { 1 };
        let layers = config.layers() / codewords;
        let groups = rbg_count(n_rb);
        let group_size = rbg_size(n_rb);
        let model = ErrorModel::new(ErrorModelConfig {
            table: mcs_table,
            grid: Grid::Downlink {
                ports: config.ports(),
            },
            n_rb,
            layers,
            code_rate: config.code_rate,
            code_rate_limit: config.code_rate_limit.value(),
            combining: config.harq.combining,
            target_error: config.adaptation.target_bler,
        });
        let control = ControlRegion::new(n_rb, config.ports());
        Self {
            n_rb,
            groups,
            all_groups: (1 << groups) - 1,
            group_size,
            last_group_size: n_rb - (groups - 1) * group_size,
            codewords: usize::from(codewords),
            control,
            cfi: config.cfi(),
            most_cces: control.cces(config.cfi().unwrap_or(3)),
            rule: config.adaptation.rule,
            worst_rbg_mcs: config.scheduler.worst_rbg_mcs
                && config.scheduler.rule != SchedulerRule::RoundRobin,
            adaptation: Arc::new(LinkAdaptation::new(
                config.adaptation.rule,
                cqi_table,
                n_rb,
                config.ports(),
                layers,
                config.adaptation.target_bler,
            )),
            whole_bits: (0..=mcs_table.highest())
                .map(|mcs| model.bits(mcs, n_rb) * u32::from(codewords))
                .collect(),
            model: Arc::new(model),
        }
    }

    /// The number of resource block groups.
    #[inline]
    pub(crate) fn groups(&self) -> usize {
        usize::from(self.groups)
    }

    /// How many of these SINRs, of a channel that is not flat, belong to a group.
    #[inline]
    pub(crate) fn per_group(&self, sinr: &[f32]) -> usize {
        if sinr.len() <= self.groups() {
            1
        } else {
            usize::from(self.group_size)
        }
    }

    /// Resource blocks in these groups.
    #[inline]
    pub(crate) fn prbs(&self, groups: u32) -> u16 {
        let last = groups & !(self.all_groups >> 1) != 0;
        groups.count_ones() as u16 * self.group_size
            - u16::from(last) * (self.group_size - self.last_group_size)
    }

    /// The CCEs of the longest control region in use.
    #[inline]
    pub(crate) fn most_cces(&self) -> u16 {
        self.most_cces
    }

    /// The CCEs of an assignment to a UE that reports this CQI: no more than there are.
    pub(crate) fn aggregation(&self, cqi: u8) -> u16 {
        ControlRegion::aggregation(cqi).min(self.most_cces())
    }

    /// The control format indicator of a subframe with this many CCEs in use.
    pub(crate) fn cfi_for(&self, cces: u16) -> u8 {
        self.cfi.unwrap_or_else(|| self.control.cfi_for(cces))
    }

    /// Bits of all codewords with this MCS.
    #[inline]
    pub(crate) fn block_bits(&self, mcs: u8, n_prb: u16) -> u32 {
        self.model.bits(mcs, n_prb) * self.codewords as u32
    }

    /// The same on the whole carrier.
    #[inline]
    pub(crate) fn whole_bits(&self, mcs: u8) -> u32 {
        self.whole_bits[usize::from(mcs).min(self.whole_bits.len() - 1)]
    }

    /// The fewest groups, none of them the last, whose blocks hold `bytes` bytes; all groups if
    /// not even these suffice.
    #[inline]
    pub(crate) fn groups_for(&self, mcs: u8, bytes: u64) -> u8 {
        // A MAC subheader for each codeword, and one for a report.
        let bits = 8 * (bytes + 6);
        if u64::from(self.whole_bits(mcs)) < bits {
            return self.groups as u8;
        }
        self.fewest_groups(mcs, bits)
    }

    fn fewest_groups(&self, mcs: u8, bits: u64) -> u8 {
        let holds = |groups: u16| {
            let n_prb = (groups * self.group_size).min(self.n_rb);
            u64::from(self.block_bits(mcs, n_prb)) >= bits
        };
        let (mut low, mut high) = (0, self.groups);
        while high - low > 1 {
            let middle = low.midpoint(high);
            if holds(middle) {
                high = middle;
            } else {
                low = middle;
            }
        }
        high as u8
    }

    /// The MCS of a block of new data on these groups.
    pub(crate) fn mcs(&self, report: &Report, factor: f32, groups: u32, symbols: u8) -> u8 {
        let n_prb = self.prbs(groups);
        if self.rule == Adaptation::EffectiveInformation {
            let sinr = self.expected_sinr(report, groups) * factor;
            return self.model.highest_mcs(sinr, n_prb, symbols);
        }
        let cqi = if self.worst_rbg_mcs {
            let cqis = report.groups.iter().enumerate();
            cqis.filter(|(group, _)| groups >> group & 1 == 1)
                .map(|(_, &cqi)| cqi)
                .min()
                .unwrap_or(report.cqi)
        } else {
            report.cqi
        };
        let mut mcs = LinkAdaptation::lena_mcs(cqi);
        while mcs > 0
            && self
                .model
                .format(mcs, n_prb, symbols)
                .required_sinr
                .is_infinite()
        {
            mcs -= 1;
        }
        mcs
    }

    /// The MCS of one group by its own CQI: what a scheduler compares.
    pub(crate) fn group_mcs(&self, cqi: u8, factor: f32, symbols: u8) -> u8 {
        if self.rule == Adaptation::EffectiveInformation {
            let sinr = self.adaptation.sinr(cqi) * factor;
            self.model.highest_mcs(sinr, self.n_rb, symbols)
        } else {
            LinkAdaptation::lena_mcs(cqi)
        }
    }

    /// The SINR of a flat channel as good as these groups are by the report.
    fn expected_sinr(&self, report: &Report, groups: u32) -> f32 {
        if !report.sub_band {
            return self.adaptation.sinr(report.cqi);
        }
        let curves = MutualInformation::curves();
        let (mut sum, mut n) = (0.0, 0.0);
        for group in 0..self.groups() {
            if groups >> group & 1 == 1 {
                let sinr = self.adaptation.sinr(report.groups[group]);
                sum += curves.information(Modulation::Qam64, sinr);
                n += 1.0;
            }
        }
        curves.sinr(Modulation::Qam64, sum / n)
    }
}
