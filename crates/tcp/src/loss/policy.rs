//! The trait of loss-detection policies.

use backlane_units::SimTime;

use super::profile::Profile;
use crate::recovery::Recovery;
use crate::scoreboard::{Delivery, Outgoing, Scoreboard};
use crate::segment::{SackBlock, Segment};

/// An acknowledgment that the scoreboard has processed.
#[derive(Clone, Copy, Debug)]
pub(crate) struct AckEvent<'a> {
    pub(crate) segment: &'a Segment,
    pub(crate) delivery: &'a Delivery,
    /// SND.UNA before it.
    pub(crate) prior_una: u64,
    /// The end of the highest SACKed segment before it.
    pub(crate) prior_highest_sacked_end: u64,
    /// It acknowledges nothing new and carries neither data nor a window update (RFC 5681 §2).
    pub(crate) is_duplicate: bool,
    /// It reports a duplicate (D-SACK).
    pub(crate) has_dsack: bool,
    /// It echoes a congestion mark.
    pub(crate) has_ece: bool,
}

impl AckEvent<'_> {
    pub(crate) fn advanced(&self) -> bool {
        self.segment.ack > self.prior_una
    }
}

/// A policy of loss detection.
///
/// For one acknowledgment the hooks come in this order: [`before_delivery`] for each range that
/// the scoreboard is about to take, [`on_dsack`] and [`on_rtt_sample`]; the scoreboard and the RTT
/// are then up to date, and [`on_delivery`] follows. Then the [`StateMachine`] runs, which calls the
/// remaining hooks. The default of every optional hook is RFC 6675 with the state machine of Linux
/// 6.1.
///
/// [`before_delivery`]: Self::before_delivery
/// [`on_dsack`]: Self::on_dsack
/// [`on_rtt_sample`]: Self::on_rtt_sample
/// [`on_delivery`]: Self::on_delivery
/// [`StateMachine`]: super::machine::StateMachine
pub(super) trait LossPolicy: Sized {
    const PROFILE: Profile = Profile::PLAIN;

    /// The present threshold or degree of reordering, in packets.
    fn threshold_pkts(&self) -> u32;

    /// Marks lost segments in the scoreboard.
    fn detect_losses(&mut self, r: &mut Recovery, now: SimTime, ack: &AckEvent);

    // What arrived.

    /// The segments of `start..end` are about to be acknowledged or SACKed.
    fn before_delivery(&mut self, _scoreboard: &Scoreboard, _start: u64, _end: u64) {}

    /// A D-SACK arrived that a retransmission other than the tail loss probe can have caused.
    fn on_dsack(&mut self) {}

    /// `duplicate` arrived twice; the scoreboard has taken all blocks of the acknowledgment.
    fn on_duplicate(&mut self, _duplicate: SackBlock) {}

    /// An RTT was measured when `delivered_pkts` were delivered from a window of `cwnd_pkts`.
    fn on_rtt_sample(&mut self, _rtt_us: u64, _delivered_pkts: u32, _cwnd_pkts: u32) {}

    /// The acknowledgment has updated the scoreboard and the RTT. Only with SACK.
    fn on_delivery(&mut self, _r: &Recovery, _now: SimTime, _ack: &AckEvent) {}

    // The state machine.

    /// Counts a duplicate acknowledgment as a delivered segment, where there is no SACK.
    fn count_duplicate_acks(&mut self, _r: &mut Recovery, _ack: &AckEvent) {}

    /// Everything outstanding at the start of Disorder is acknowledged.
    fn leave_disorder(&mut self, _r: &mut Recovery, _now: SimTime) {}

    /// Everything outstanding at the start of Recovery or Loss is acknowledged. Returns whether
    /// the episode ends now.
    fn ends_episode(&mut self, _r: &mut Recovery) -> bool {
        true
    }

    /// Whether the state is Disorder and not Open.
    fn is_disordered(&self, r: &Recovery) -> bool {
        let scoreboard = &r.scoreboard;
        scoreboard.sacked_out() + scoreboard.lost_out() > 0 || scoreboard.is_head_retransmitted()
    }

    /// Whether the next retransmission is the first of its episode.
    fn has_no_retransmission_out(&self, r: &Recovery) -> bool {
        r.scoreboard.retrans_out() == 0 && !r.scoreboard.is_head_retransmitted()
    }

    /// The state returns to Open, or CWR begins.
    fn on_disorder_end(&mut self) {}

    /// Begins the reduction for a loss.
    fn reduce_for_loss(&mut self, r: &mut Recovery, now: SimTime) {
        r.start_reduction(now);
    }

    /// Ends CWR or Recovery: the window becomes the threshold.
    fn end_reduction(&self, r: &mut Recovery, now: SimTime) {
        r.end_reduction(now);
    }

    // Undo.

    /// Whether the reduction has proved spurious.
    fn may_undo(&self, r: &Recovery, now: SimTime, segment: &Segment) -> bool {
        r.undo.is_allowed()
            && r.undo.is_possible()
            && (r.undo.is_all_duplicate() || r.undo.is_delayed_original(segment, now))
    }

    /// A segment was delivered `span_bytes` behind the highest one.
    fn on_reordered(&mut self, _span_bytes: u64) {}

    /// D-SACKs proved a recovery spurious.
    fn on_undo(&mut self) {}

    /// A recovery ended that was not spurious.
    fn on_recovery_end(&mut self) {}

    // Timers.

    /// The retransmission timer expired: before segments are marked lost.
    fn before_timeout(&mut self, _r: &mut Recovery) {}

    /// The retransmission timer expired: state, window and F-RTO are set.
    fn after_timeout(&mut self, _r: &mut Recovery) {}

    /// A timeout spares segments that left less than this ago (RFC 8985 §6.3), in microseconds.
    fn timeout_spares_us(&self, r: &Recovery) -> u64 {
        r.scoreboard.rtt_us()
    }

    fn arm_timer(&mut self, r: &mut Recovery, now: SimTime) {
        r.arm_retransmission_timer(now);
    }

    fn on_reordering_timeout(&mut self, _r: &mut Recovery, _now: SimTime) {}

    /// Whether the acknowledgment restarts the retransmission timer. `before_head`: it SACKed a
    /// segment sent before the last transmission of the first outstanding one; otherwise the
    /// timeout of that one could be put off without limit.
    fn restarts_timer(&self, delivery: &Delivery, before_head: bool) -> bool {
        delivery.covered_pkts > 0 || before_head
    }

    // The window.

    /// Whether the control must not grow the window for an acknowledgment. Asked before the state
    /// machine runs.
    fn holds_window(&self, _r: &Recovery) -> bool {
        false
    }

    /// Whether the state machine has ended the hold.
    fn releases_window(&self) -> bool {
        false
    }

    /// Whether the control sees a SACK as progress.
    fn counts_sacks_as_progress(&self) -> bool {
        false
    }

    /// Limits the burst that the window allows after an acknowledgment or an undo.
    fn limit_burst(&self, _r: &mut Recovery) {}

    // Transmission.

    /// How many packets may be in flight for new data to be sent; `None`: a window's worth.
    fn new_data_limit_pkts(&self, _r: &Recovery) -> Option<u32> {
        None
    }

    /// New data is about to leave.
    fn on_new_data(&mut self) {}

    /// `outgoing` left; the scoreboard has it.
    fn on_sent(&mut self, _r: &mut Recovery, _now: SimTime, _outgoing: Outgoing) {}
}
