//! The state of loss recovery that every loss-detection policy shares.
//!
//! [`Recovery`] holds what is outstanding, the congestion window and the congestion state. The
//! policies in [`loss`](crate::loss) read and change it. Its parts have a file each:
//!
//! - [`state`]: the congestion state.
//! - [`space`]: the send sequence space and the peer's window.
//! - [`timer`]: the retransmission timer and its back-off; [`probe`]: the tail loss probe;
//!   [`schedule`] arms both.
//! - [`undo`]: what is needed to undo a reduction; [`reduction`] begins, ends and undoes one.
//! - [`frto`]: the detection of spurious timeouts.
//! - [`slow_start`]: the record of the first slow start's end.

pub(crate) mod frto;
pub(crate) mod probe;
mod reduction;
mod schedule;
pub(crate) mod slow_start;
pub(crate) mod space;
mod state;
pub(crate) mod timer;
pub(crate) mod undo;

use backlane_units::SimTime;

use crate::choices::{RateReduction, ThresholdFrom, TimeoutMarks};
use crate::config::Config;
use crate::congestion::{CongestionControl, INFINITE_SSTHRESH_PKTS, LostPacket, Window};
use crate::loss::Profile;
use crate::readings::Statistics;
use crate::rtt::RttEstimator;
use crate::scoreboard::Scoreboard;
use crate::scoreboard::rate::RateMeter;
use crate::window::{Reduction, ReductionLaw};
use frto::Frto;
use probe::TailLossProbe;
use space::SendSpace;
use timer::Timers;
use undo::Undo;

pub use state::CongestionState;

/// What is outstanding, the window, and the congestion state.
#[derive(Debug)]
pub(crate) struct Recovery {
    pub(crate) space: SendSpace,
    pub(crate) scoreboard: Scoreboard,
    pub(crate) rtt: RttEstimator,
    pub(crate) control: Box<dyn CongestionControl>,
    /// The control sets the window in CWR and Recovery too.
    pub(crate) owns_window: bool,
    pub(crate) window: Window,
    pub(crate) initial_ssthresh_pkts: u32,
    pub(crate) state: CongestionState,
    /// Recovery ends when this is acknowledged.
    pub(crate) high_seq: u64,
    pub(crate) reduction: Reduction,
    threshold_from: ThresholdFrom,
    pub(crate) timeout_marks: TimeoutMarks,
    /// A timeout within a recovery reduces the threshold once more.
    pub(crate) timeout_cuts_again: bool,
    /// The window falls step by step in Recovery, and does not grow there.
    reduces_gradually: bool,
    /// A partial acknowledgment has arrived in this recovery.
    pub(crate) had_partial_ack: bool,
    pub(crate) undo: Undo,
    pub(crate) frto: Frto,
    pub(crate) probe: TailLossProbe,
    pub(crate) timers: Timers,
    pub(crate) delivered_pkts: u64,
    pub(crate) delivered_ce_pkts: u64,
    /// The next new segment carries CWR (RFC 3168 §6.1.2).
    pub(crate) cwr_due: bool,
    pub(crate) statistics: Statistics,
}

impl Recovery {
    pub(crate) fn new(config: &Config, profile: Profile) -> Self {
        let control = config.congestion_control.build(config.random_seed.0);
        let law = match (profile.reduction, config.rate_reduction) {
            (ReductionLaw::Proportional, RateReduction::Ns3) => ReductionLaw::ProportionalOfNs3,
            (law, _) => law,
        };
        let ssthresh_pkts = config
            .initial_ssthresh_pkts
            .value()
            .unwrap_or(INFINITE_SSTHRESH_PKTS);
        Self {
            space: SendSpace::new(config.mss_bytes(), config.send_memory_bytes()),
            scoreboard: Scoreboard::new(
                config.mss_bytes(),
                RateMeter::new(control.needs_rate_samples()),
            )
            .counting(config.sacked_retransmissions)
            .examining_once(profile.searches_after_undo),
            rtt: RttEstimator::new(
                config.rto,
                config.initial_rto,
                config.min_rto,
                config.max_rto,
            ),
            owns_window: control.owns_window(),
            control,
            window: Window::new(config.initial_window_pkts.max(1), ssthresh_pkts)
                .growing_by(config.growth),
            initial_ssthresh_pkts: ssthresh_pkts,
            state: CongestionState::Open,
            high_seq: 0,
            reduction: Reduction::new(law, config.mss_bytes()),
            threshold_from: config.threshold_from,
            timeout_marks: config.timeout_marks,
            timeout_cuts_again: config.timeout_cuts_again,
            reduces_gradually: profile.reduces_gradually,
            had_partial_ack: false,
            undo: Undo::new(profile.undo, config.timestamp_tick_us()),
            frto: Frto::new(config.frto && profile.undo.is_allowed()),
            probe: TailLossProbe::new(
                config.tail_loss_probe && config.sack && profile.probes_tail,
                config.min_rto,
            ),
            timers: Timers::new(config.retries),
            delivered_pkts: 0,
            delivered_ce_pkts: 0,
            cwr_due: false,
            statistics: Statistics::default(),
        }
    }

    /// Whether the window is being reduced step by step; the control does not grow it meanwhile.
    #[inline]
    pub(crate) fn is_reducing(&self) -> bool {
        self.state == CongestionState::Cwr
            || (self.state == CongestionState::Recovery && self.reduces_gradually)
    }

    /// Whether everything that was outstanding at the reduction or timeout is acknowledged.
    #[inline]
    pub(crate) fn is_recovered(&self) -> bool {
        self.space.snd_una >= self.high_seq
    }

    pub(crate) fn set_state(&mut self, now: SimTime, state: CongestionState) {
        if self.state != state {
            self.control.on_state_change(now, state, self.space.snd_nxt);
            self.state = state;
        }
    }

    /// Reports each packet marked lost to a control that takes rate samples.
    pub(crate) fn report_losses(&mut self, now: SimTime) {
        for lost in self.scoreboard.rate.drain_lost() {
            let lost = LostPacket {
                delivered_pkts: self.delivered_pkts,
                ..lost
            };
            self.control.on_packet_lost(now, &lost, &self.window);
        }
    }
}
