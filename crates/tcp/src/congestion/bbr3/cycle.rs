//! The state of the cycle in which bandwidth is probed for.

/// The bound grows by at most 2³⁰ packets in a round.
pub(super) const MAX_GROWTH_BITS: u32 = 30;

/// What acknowledgments show of the last probe.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Feedback {
    /// Nothing: they are for segments sent while not probing.
    #[default]
    None,
    Refilling,
    /// Probing began; they are still for what was sent before.
    Starting,
    Probing,
    /// Probing is over; they are still for what was sent by it.
    Stopping,
}

#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Cycle {
    pub(super) start_us: u64,
    pub(super) wait_us: u64,
    pub(super) rounds: u32,
    pub(super) feedback: Feedback,
    /// Losses are those of the last probe, which has not been found too high yet.
    pub(super) awaits_verdict: bool,
    /// The last probe was found too high.
    pub(super) was_too_high: bool,
    /// The last probe ended at the bound where the one before had been too high.
    pub(super) stopped_at_bound: bool,
    pub(super) has_loss: bool,
    pub(super) has_marks: bool,
    /// Packets acknowledged for a growth of the bound by 1; halved in each round.
    pub(super) growth_bits: u32,
    pub(super) pkts_per_growth: u32,
    pub(super) growth_credit_pkts: u32,
}

impl Cycle {
    pub(super) fn on_round(&mut self) {
        self.rounds = (self.rounds + 1).min(255);
    }

    pub(super) fn raise_growth(&mut self, cwnd_pkts: u32) {
        self.pkts_per_growth = (cwnd_pkts >> self.growth_bits).max(1);
        self.growth_bits = (self.growth_bits + 1).min(MAX_GROWTH_BITS);
    }
}
