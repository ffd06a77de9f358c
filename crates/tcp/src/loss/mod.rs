//! Loss detection: when a segment counts as lost.
//!
//! A policy is a type that implements [`LossPolicy`]. It has a file of its own, with its state and
//! everything in which it differs from the common state machine:
//!
//! - `rack`: RACK (RFC 8985) as in Linux 6.1.
//! - `count`: a fixed number of SACKed segments (RFC 6675).
//! - `newreno`: duplicate acknowledgments without SACK (RFC 6582).
//! - `fack`: Linux of 2008 to 2011, with forward acknowledgment.
//! - `ncr`: TCP-NCR (RFC 4653).
//! - `rr`: RR-TCP.
//! - `pr`: TCP-PR.
//!
//! `machine` is the state machine over Open, Disorder, CWR, Recovery and Loss, generic over the
//! policy; `timeout` is what the retransmission timer does. What all policies share is in
//! [`recovery`](crate::recovery). [`LossDetection`] selects the policy at run time, with one match
//! per hook.

mod count;
mod fack;
mod machine;
mod ncr;
mod newreno;
mod pr;
mod rack;
mod rr;
mod timeout;

use backlane_units::SimTime;

use crate::config::{Config, Reordering};
use crate::readings::SlowStartEnd;
use crate::recovery::Recovery;
use crate::recovery::undo::UndoEvidence;
use crate::scoreboard::{Delivery, Outgoing, Scoreboard};
use crate::segment::{SackBlock, Segment};
use crate::window::ReductionLaw;
use count::Count;
use fack::Fack;
use ncr::{Ncr, Variant};
use newreno::NewReno;
use pr::Pr;
use rack::Rack;
use rr::Rr;

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

/// Which RTT sample is preferred.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum RttSource {
    /// From segments acknowledged or SACKed that were sent once; else from the echoed timestamp.
    Segments,
    /// From the echoed timestamp; without one, from segments acknowledged. SACKs give no sample.
    Timestamps,
}

/// The fixed properties of a policy.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Profile {
    pub(crate) undo: UndoEvidence,
    pub(crate) reduction: ReductionLaw,
    /// Whether the window falls step by step in Recovery.
    pub(crate) reduces_gradually: bool,
    /// Whether tail loss probes may be used.
    pub(crate) probes_tail: bool,
    pub(crate) rtt_source: RttSource,
}

impl Profile {
    /// RFC 6675 with proportional rate reduction.
    const PLAIN: Self = Self {
        undo: UndoEvidence::None,
        reduction: ReductionLaw::Proportional,
        reduces_gradually: true,
        probes_tail: true,
        rtt_source: RttSource::Segments,
    };
}

/// A policy of loss detection.
///
/// For one acknowledgment the hooks come in this order: [`before_delivery`] for each range that
/// the scoreboard is about to take, [`on_dsack`] and [`on_rtt_sample`]; the scoreboard and the RTT
/// are then up to date, and [`on_delivery`] and [`on_ack`] follow. [`on_ack`] runs the state
/// machine, which calls the remaining hooks. The default of every optional hook is RFC 6675 with
/// the state machine of Linux 6.1.
///
/// [`before_delivery`]: Self::before_delivery
/// [`on_dsack`]: Self::on_dsack
/// [`on_rtt_sample`]: Self::on_rtt_sample
/// [`on_delivery`]: Self::on_delivery
/// [`on_ack`]: Self::on_ack
trait LossPolicy: Sized {
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

    /// An acknowledgment out of the ordinary arrived, or one in a state other than Open.
    fn on_ack(&mut self, r: &mut Recovery, now: SimTime, ack: &AckEvent) {
        machine::on_ack(self, r, now, ack);
    }

    /// The acknowledgment in state Open, Disorder or CWR.
    fn in_open(&mut self, r: &mut Recovery, now: SimTime, ack: &AckEvent) {
        machine::in_open(self, r, now, ack);
    }

    /// The acknowledgment in state Recovery.
    fn in_recovery(&mut self, r: &mut Recovery, now: SimTime, ack: &AckEvent) {
        machine::in_recovery(self, r, now, ack);
    }

    /// The acknowledgment in state Loss.
    fn in_loss(&mut self, r: &mut Recovery, now: SimTime, ack: &AckEvent) {
        machine::in_loss(self, r, now, ack);
    }

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

    fn on_retransmission_timeout(&mut self, r: &mut Recovery, now: SimTime) {
        timeout::on_retransmission_timeout(self, r, now);
    }

    fn on_reordering_timeout(&mut self, _r: &mut Recovery, _now: SimTime) {}

    /// Whether the acknowledgment restarts the retransmission timer. `before_head`: it SACKed a
    /// segment sent before the last transmission of the first outstanding one; otherwise the
    /// timeout of that one could be put off without limit.
    fn restarts_timer(&self, delivery: &Delivery, before_head: bool) -> bool {
        delivery.acked_pkts > 0 || before_head
    }

    // The window.

    /// Whether the control must not grow the window for an acknowledgment. Asked before
    /// [`on_ack`](Self::on_ack).
    fn holds_window(&self, _r: &Recovery) -> bool {
        false
    }

    /// Whether [`on_ack`](Self::on_ack) has ended the hold.
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

/// The policy of a connection.
#[derive(Debug)]
pub(crate) enum LossDetection {
    Rack(Rack),
    Count(Count),
    NewReno(NewReno),
    Fack(Fack),
    Ncr(Ncr),
    Rr(Rr),
    Pr(Pr),
}

/// Evaluates `$call` with the policy as `$policy`.
macro_rules! dispatch {
    ($loss:expr, $policy:ident => $call:expr) => {
        match $loss {
            LossDetection::Rack($policy) => $call,
            LossDetection::Count($policy) => $call,
            LossDetection::NewReno($policy) => $call,
            LossDetection::Fack($policy) => $call,
            LossDetection::Ncr($policy) => $call,
            LossDetection::Rr($policy) => $call,
            LossDetection::Pr($policy) => $call,
        }
    };
}

impl LossDetection {
    /// The policy that `config` names; all but NewReno need SACK.
    pub(crate) fn new(config: &Config) -> Self {
        if !config.sack {
            return Self::NewReno(NewReno::new(config));
        }
        match config.reordering {
            Reordering::Fixed => Self::Count(Count::new(config)),
            Reordering::LinuxLegacy => Self::Fack(Fack::new(config)),
            Reordering::Rack => Self::Rack(Rack::new(config)),
            Reordering::NcrCareful => Self::Ncr(Ncr::new(config, Variant::Careful)),
            Reordering::NcrAggressive => Self::Ncr(Ncr::new(config, Variant::Aggressive)),
            Reordering::Pr => Self::Pr(Pr::new(config.pr.unwrap_or_default(), config)),
            Reordering::Rr => Self::Rr(Rr::new(config.rr.unwrap_or_default(), config)),
        }
    }

    pub(crate) fn profile(&self) -> Profile {
        fn profile<L: LossPolicy>(_: &L) -> Profile {
            L::PROFILE
        }
        dispatch!(self, policy => profile(policy))
    }

    #[inline]
    pub(crate) fn threshold_pkts(&self) -> u32 {
        dispatch!(self, policy => policy.threshold_pkts())
    }

    #[inline]
    pub(crate) fn before_delivery(&mut self, scoreboard: &Scoreboard, start: u64, end: u64) {
        dispatch!(self, policy => policy.before_delivery(scoreboard, start, end));
    }

    pub(crate) fn on_dsack(&mut self) {
        dispatch!(self, policy => policy.on_dsack());
    }

    pub(crate) fn on_duplicate(&mut self, duplicate: SackBlock) {
        dispatch!(self, policy => policy.on_duplicate(duplicate));
    }

    #[inline]
    pub(crate) fn on_rtt_sample(&mut self, rtt_us: u64, delivered_pkts: u32, cwnd_pkts: u32) {
        dispatch!(self, policy => policy.on_rtt_sample(rtt_us, delivered_pkts, cwnd_pkts));
    }

    #[inline]
    pub(crate) fn on_delivery(&mut self, r: &Recovery, now: SimTime, ack: &AckEvent) {
        dispatch!(self, policy => policy.on_delivery(r, now, ack));
    }

    pub(crate) fn on_ack(&mut self, r: &mut Recovery, now: SimTime, ack: &AckEvent) {
        dispatch!(self, policy => policy.on_ack(r, now, ack));
    }

    /// The acknowledgment may answer the tail loss probe.
    pub(crate) fn on_probe_answer(&mut self, r: &mut Recovery, now: SimTime, ack: &AckEvent) {
        dispatch!(self, policy => machine::on_probe_answer(policy, r, now, ack));
    }

    /// Reduces the window once without a loss, for `cause`.
    pub(crate) fn enter_cwr(&mut self, r: &mut Recovery, now: SimTime, cause: SlowStartEnd) {
        dispatch!(self, policy => machine::enter_cwr(policy, r, now, cause));
    }

    #[inline]
    pub(crate) fn arm_timer(&mut self, r: &mut Recovery, now: SimTime) {
        dispatch!(self, policy => policy.arm_timer(r, now));
    }

    pub(crate) fn on_retransmission_timeout(&mut self, r: &mut Recovery, now: SimTime) {
        dispatch!(self, policy => policy.on_retransmission_timeout(r, now));
    }

    pub(crate) fn on_reordering_timeout(&mut self, r: &mut Recovery, now: SimTime) {
        dispatch!(self, policy => policy.on_reordering_timeout(r, now));
    }

    #[inline]
    pub(crate) fn restarts_timer(&self, delivery: &Delivery, before_head: bool) -> bool {
        dispatch!(self, policy => policy.restarts_timer(delivery, before_head))
    }

    #[inline]
    pub(crate) fn holds_window(&self, r: &Recovery) -> bool {
        dispatch!(self, policy => policy.holds_window(r))
    }

    #[inline]
    pub(crate) fn releases_window(&self) -> bool {
        dispatch!(self, policy => policy.releases_window())
    }

    pub(crate) fn counts_sacks_as_progress(&self) -> bool {
        dispatch!(self, policy => policy.counts_sacks_as_progress())
    }

    pub(crate) fn limit_burst(&self, r: &mut Recovery) {
        dispatch!(self, policy => policy.limit_burst(r));
    }

    #[inline]
    pub(crate) fn new_data_limit_pkts(&self, r: &Recovery) -> Option<u32> {
        dispatch!(self, policy => policy.new_data_limit_pkts(r))
    }

    #[inline]
    pub(crate) fn on_new_data(&mut self) {
        dispatch!(self, policy => policy.on_new_data());
    }

    #[inline]
    pub(crate) fn on_sent(&mut self, r: &mut Recovery, now: SimTime, outgoing: Outgoing) {
        dispatch!(self, policy => policy.on_sent(r, now, outgoing));
    }
}
