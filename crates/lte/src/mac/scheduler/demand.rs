//! What a scheduler shares in a TTI, and the throughput averages that it goes by.

/// Most resource block groups of a carrier: 100 blocks in groups of 4 (TS 36.213 §7.1.6.1).
pub const MAX_GROUPS: usize = 25;
/// Time constant of the throughput averages, in TTIs: the time window of LENA's proportional
/// fair scheduler.
const WINDOW_TTIS: f32 = 99.0;
/// A throughput average that no UE falls below, in bytes per second, so that the ratio to it is
/// finite.
const LEAST_AVERAGE: f32 = 1.0;
/// The owner of a group that is assigned to no UE.
pub const NOBODY: u8 = u8::MAX;

/// A UE with new data, as a scheduler sees it.
#[derive(Clone, Copy, Debug)]
pub struct Candidate {
    /// Its index among the UEs of the network.
    pub ue: u32,
    /// Bits that one group carries at the wideband MCS.
    pub group_bits: f32,
    /// Groups that its backlog fills.
    pub wanted: u8,
    /// Average throughput in bytes per second.
    pub average: f32,
    /// Groups given to it in this TTI.
    pub given: u8,
}

/// What is to be shared in a TTI.
#[derive(Debug)]
pub struct Demand<'a> {
    /// Free groups, a bit for each.
    pub free: u32,
    /// The group from which free ones are looked for, upwards and around.
    pub first: u32,
    /// Most candidates that can be served.
    pub max_ues: usize,
    /// The candidates, in the order of UEs.
    pub candidates: &'a mut [Candidate],
    /// Bits that a group carries at its own MCS: for each candidate a run of
    /// [`MAX_GROUPS`] values. Empty without sub-band reports.
    pub sub_band_bits: &'a [f32],
    /// For each group, the index of the candidate that owns it.
    pub owners: &'a mut [u8; MAX_GROUPS],
}

impl Demand<'_> {
    /// Gives a group to a candidate.
    #[inline]
    pub(super) fn give(&mut self, group: usize, candidate: usize) {
        self.free &= !(1 << group);
        self.owners[group] = candidate as u8;
        self.candidates[candidate].given += 1;
    }

    /// The next free group.
    #[inline]
    pub(super) fn next_free(&self) -> Option<usize> {
        let above = self.free >> self.first << self.first;
        let from = if above == 0 { self.free } else { above };
        (from != 0).then(|| from.trailing_zeros() as usize)
    }

    /// Gives each group to whom values it most, the first of equals. `value(candidate, bits)` is
    /// the value of a group that carries `bits` bits.
    pub(super) fn highest_bidder(&mut self, value: impl Fn(&Candidate, f32) -> f32) {
        let mut served = 0;
        while let Some(group) = self.next_free() {
            let mut best: Option<(f32, usize)> = None;
            for (index, candidate) in self.candidates.iter().enumerate() {
                if candidate.given == candidate.wanted
                    || candidate.given == 0 && served == self.max_ues
                {
                    continue;
                }
                let bits = match self.sub_band_bits.get(index * MAX_GROUPS + group) {
                    Some(&bits) => bits,
                    None => candidate.group_bits,
                };
                let value = value(candidate, bits);
                if best.is_none_or(|(most, _)| value > most) {
                    best = Some((value, index));
                }
            }
            let Some((_, index)) = best else { return };
            served += usize::from(self.candidates[index].given == 0);
            self.give(group, index);
            if self.sub_band_bits.is_empty() {
                // Nothing that the others bid changes while this one is not satisfied.
                while self.candidates[index].given < self.candidates[index].wanted {
                    let Some(group) = self.next_free() else {
                        return;
                    };
                    self.give(group, index);
                }
            }
        }
    }
}

/// A throughput that forgets: `T ← (1 − 1/99) T + (1/99) · bytes of the TTI / 1 ms`, brought up
/// to date when it is asked for.
#[derive(Clone, Copy, Debug)]
pub struct Average {
    bytes_per_s: f32,
    tti: u64,
}

impl Default for Average {
    fn default() -> Self {
        Self {
            bytes_per_s: LEAST_AVERAGE,
            tti: 0,
        }
    }
}

impl Average {
    /// Bytes per second, as of this TTI.
    #[inline]
    pub fn at(&mut self, tti: u64) -> f32 {
        let passed = tti.saturating_sub(self.tti);
        if passed != 0 {
            let kept = 1.0 - 1.0 / WINDOW_TTIS;
            let kept = if passed == 1 {
                kept
            } else {
                libm::powf(kept, passed as f32)
            };
            self.bytes_per_s = (self.bytes_per_s * kept).max(LEAST_AVERAGE);
            self.tti = tti;
        }
        self.bytes_per_s
    }

    /// Counts bytes of this TTI.
    #[inline]
    pub fn count(&mut self, tti: u64, bytes: u32) {
        self.bytes_per_s = self.at(tti) + share_of_window(bytes as f32);
    }
}

/// What bytes in one TTI add to an average, in bytes per second.
#[inline]
pub(super) fn share_of_window(bytes: f32) -> f32 {
    bytes * 1000.0 / WINDOW_TTIS
}
