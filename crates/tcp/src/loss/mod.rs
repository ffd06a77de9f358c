//! Loss detection: when a segment counts as lost.
//!
//! A policy is a type that implements [`LossPolicy`] and [`StateMachine`]. It has a file of its own,
//! with its state and everything in which it differs from the common state machine:
//!
//! - `rack`: RACK (RFC 8985) as in Linux 6.1.
//! - `count`: a fixed number of SACKed segments (RFC 6675).
//! - `newreno`: duplicate acknowledgments without SACK (RFC 6582).
//! - `fack`: Linux of 2008 to 2011, with forward acknowledgment; `fack_rack`: Linux 4.4, which has
//!   both.
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
mod fack_rack;
mod machine;
mod ncr;
mod newreno;
mod policy;
mod pr;
mod profile;
mod rack;
mod rr;
mod timeout;

use backlane_units::SimTime;

use crate::config::{Config, Reordering};
use crate::readings::SlowStartEnd;
use crate::recovery::Recovery;
use crate::scoreboard::{Delivery, Outgoing, Scoreboard};
use crate::segment::SackBlock;
use count::Count;
use fack::Fack;
use fack_rack::FackRack;
use machine::StateMachine;
use ncr::{Ncr, Variant};
use newreno::NewReno;
use policy::LossPolicy;
use pr::Pr;
use rack::Rack;
use rr::Rr;

pub(crate) use policy::AckEvent;
pub(crate) use profile::Profile;

/// The policy of a connection.
#[derive(Debug)]
pub(crate) enum LossDetection {
    Rack(Rack),
    Count(Count),
    NewReno(NewReno),
    Fack(Fack),
    FackRack(FackRack),
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
            LossDetection::FackRack($policy) => $call,
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
            Reordering::LinuxUnprotected => Self::Fack(Fack::unprotected(config)),
            Reordering::Linux44 => Self::FackRack(FackRack::new(config)),
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
        match self {
            Self::Fack(fack) => fack.profile(),
            other => dispatch!(other, policy => profile(policy)),
        }
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

    /// The state is Open, or Disorder if something was SACKed.
    pub(crate) fn keep_open(&mut self, r: &mut Recovery, now: SimTime) {
        dispatch!(self, policy => machine::set_open_or_disorder(policy, r, now));
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
