//! What an eNodeB knows of a UE's downlink on one carrier: its reports, and the outer loop's
//! correction of them.

use std::collections::VecDeque;

use crate::mac::carrier::DownlinkCarrier;
use crate::mac::report::Report;
use crate::phy::control::MOST_SYMBOLS;
use crate::phy::link_adaptation::OuterLoop;

/// The state of one UE's downlink on one carrier.
#[derive(Debug)]
pub(crate) struct DownlinkLink {
    /// What the scheduler has.
    known: Option<Report>,
    /// Reports that it does not have yet, oldest first.
    reports: VecDeque<Report>,
    /// When it has the next of them; `u64::MAX` if there is none.
    next_known_at: u64,
    /// The SINRs of the last measurement, and what was reported of them.
    measured: Vec<f32>,
    newest: Report,
    /// Mean information of 256QAM over the last measurement.
    information: f32,
    outer_loop: Option<OuterLoop>,
    factor: f32,
    /// The MCS on all groups by control symbols, as far as it was asked for since the scheduler
    /// has the report and the outer loop its factor.
    whole_mcs: [Option<u8>; MOST_SYMBOLS],
}

impl DownlinkLink {
    pub(crate) fn new(outer_loop: Option<OuterLoop>) -> Self {
        Self {
            known: None,
            reports: VecDeque::new(),
            next_known_at: u64::MAX,
            measured: Vec::new(),
            newest: Report::default(),
            information: 0.0,
            outer_loop,
            factor: 1.0,
            whole_mcs: [None; MOST_SYMBOLS],
        }
    }

    /// A measurement with these SINRs, which the scheduler has from `known_at` on. Gives the
    /// wideband CQI and, if any of the SINRs has changed since the last measurement, the mean
    /// information of 256QAM over them.
    pub(crate) fn report(
        &mut self,
        known_at: u64,
        sinr: &[f32],
        phy: &DownlinkCarrier,
        sub_band: bool,
    ) -> (u8, Option<f32>) {
        let has_changed = !are_same(&self.measured, sinr);
        if has_changed {
            self.measured.clear();
            self.measured.extend_from_slice(sinr);
            (self.newest, self.information) =
                Report::of(sinr, phy.per_group(sinr), &phy.adaptation, sub_band);
        }
        self.newest.known_at = known_at;
        self.reports.push_back(self.newest);
        self.next_known_at = self.next_known_at.min(known_at);
        (self.newest.cqi, has_changed.then_some(self.information))
    }

    /// What the scheduler knows in a TTI.
    #[inline]
    pub(crate) fn known(&mut self, tti: u64) -> Option<&Report> {
        if self.next_known_at <= tti {
            self.take_in(tti);
        }
        self.known.as_ref()
    }

    fn take_in(&mut self, tti: u64) {
        self.next_known_at = u64::MAX;
        while let Some(next) = self.reports.front() {
            if next.known_at > tti {
                self.next_known_at = next.known_at;
                break;
            }
            self.known = self.reports.pop_front();
        }
        self.whole_mcs = [None; MOST_SYMBOLS];
    }

    /// The same, with the MCS of a block of new data on these groups.
    #[inline]
    pub(crate) fn expected(
        &mut self,
        tti: u64,
        phy: &DownlinkCarrier,
        groups: u32,
        symbols: u8,
    ) -> Option<(&Report, u8)> {
        self.known(tti)?;
        let (report, factor) = (self.known.as_ref()?, self.factor);
        let mcs = || phy.mcs(report, factor, groups, symbols);
        let mcs = if groups == phy.all_groups {
            *self.whole_mcs[usize::from(symbols) - 1].get_or_insert_with(mcs)
        } else {
            mcs()
        };
        Some((report, mcs))
    }

    /// The factor on the SINR that a report stands for.
    #[inline]
    pub(crate) fn factor(&self) -> f32 {
        self.factor
    }

    /// A first transmission was acknowledged, or not.
    #[inline]
    pub(crate) fn on_feedback(&mut self, decoded: bool) {
        if let Some(outer_loop) = &mut self.outer_loop {
            outer_loop.on_first_transmission(decoded);
            self.factor = outer_loop.factor();
            self.whole_mcs = [None; MOST_SYMBOLS];
        }
    }

    /// Forgets what was reported to another cell.
    pub(crate) fn reset(&mut self) {
        self.known = None;
        self.reports.clear();
        self.next_known_at = u64::MAX;
        self.whole_mcs = [None; MOST_SYMBOLS];
    }
}

/// Whether all SINRs are the same to the bit. One test at the end and none for each, so that
/// compilers make vector code of it.
fn are_same(a: &[f32], b: &[f32]) -> bool {
    let differences = a.iter().zip(b).map(|(a, b)| a.to_bits() ^ b.to_bits());
    a.len() == b.len() && differences.fold(0, |all, bits| all | bits) == 0
}
