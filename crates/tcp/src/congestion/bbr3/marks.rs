//! The share of packets that came with a congestion mark, smoothed over rounds as DCTCP does
//! (RFC 8257 §3.3), and what follows from it. The draft leaves marks to others (§3.7); this is
//! what Google's kernel does on paths whose marks mean a short queue.

use backlane_units::Duration;

use crate::congestion::bbr::bandwidth::GAIN_UNIT;

/// Weight of a round in the smoothed share.
const GAIN: u64 = GAIN_UNIT / 16;
/// The short-term bound is cut by this part of the share: a third.
const FACTOR: u64 = GAIN_UNIT / 3;
/// More marks than this in a round and probing has gone too far: a half.
const TOO_MANY: u64 = GAIN_UNIT / 2;
/// Rounds in a row of too many marks that end startup.
const STARTUP_ROUNDS: u32 = 2;

#[derive(Clone, Copy, Debug)]
pub(super) struct Marks {
    /// 0: any.
    max_rtt_us: u64,
    /// The path was once short enough for its marks to mean a short queue.
    pub(super) are_heeded: bool,
    /// In 256ths; 1 at first, so that the first marks are answered fully.
    share: u64,
    last_delivered_pkts: u64,
    last_delivered_ce_pkts: u64,
    pub(super) in_round: bool,
    rounds_of_too_many: u32,
}

impl Marks {
    pub(super) fn new(max_rtt: Duration) -> Self {
        Self {
            max_rtt_us: max_rtt.as_micros(),
            are_heeded: false,
            share: GAIN_UNIT,
            last_delivered_pkts: 0,
            last_delivered_ce_pkts: 0,
            in_round: false,
            rounds_of_too_many: 0,
        }
    }

    /// A round starts: marks are heeded from now on if the path is short enough
    /// (`bbr_update_ecn_alpha`).
    pub(super) fn look_at_path(&mut self, min_rtt_us: u32) {
        self.are_heeded |= self.max_rtt_us == 0 || u64::from(min_rtt_us) <= self.max_rtt_us;
    }

    pub(super) fn share(&self) -> f64 {
        self.share as f64 / GAIN_UNIT as f64
    }

    /// What marks leave of the short-term bound, in 256ths.
    pub(super) fn remaining_share(&self) -> u64 {
        GAIN_UNIT - self.share * FACTOR / GAIN_UNIT
    }

    /// A round is over, with these totals of packets delivered and marked. Returns whether enough
    /// rounds had too many marks for startup to end.
    pub(super) fn on_round(&mut self, delivered_pkts: u64, delivered_ce_pkts: u64) -> bool {
        let round_pkts = delivered_pkts - self.last_delivered_pkts;
        if round_pkts == 0 {
            return false;
        }
        let ratio = (delivered_ce_pkts - self.last_delivered_ce_pkts) * GAIN_UNIT / round_pkts;
        let old = (GAIN_UNIT - GAIN) * self.share / GAIN_UNIT;
        self.share = (old + GAIN * ratio / GAIN_UNIT).min(GAIN_UNIT);
        self.last_delivered_pkts = delivered_pkts;
        self.last_delivered_ce_pkts = delivered_ce_pkts;
        if ratio >= TOO_MANY {
            self.rounds_of_too_many += 1;
        } else {
            self.rounds_of_too_many = 0;
        }
        self.rounds_of_too_many >= STARTUP_ROUNDS
    }

    /// Whether a sample of delivered packets, some of them marked, shows that too much is in flight.
    pub(super) fn are_too_many(pkts: u32, marked_pkts: u32) -> bool {
        marked_pkts > 0 && u64::from(marked_pkts) > u64::from(pkts) * TOO_MANY / GAIN_UNIT
    }
}
