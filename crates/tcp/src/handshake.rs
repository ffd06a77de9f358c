//! Opening a connection: SYN, SYN-ACK, their retransmission (RFC 9293 §3.5, RFC 6298 §5).

use backlane_units::SimTime;

use crate::config::Config;
use crate::rtt::RttEstimator;

/// The state of the handshake.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Phase {
    /// Waiting for a SYN.
    Listen,
    /// Our SYN is out.
    SynSent,
    /// Our SYN-ACK is out.
    SynReceived,
    /// Done.
    Established,
    /// Given up.
    Failed,
}

#[derive(Clone, Debug)]
pub(crate) struct Handshake {
    pub(crate) phase: Phase,
    /// The SYN (or SYN-ACK) is to be sent.
    pub(crate) syn_due: bool,
    pub(crate) sent_at: SimTime,
    pub(crate) retransmits: u32,
    retries: u32,
    /// When the SYN is sent again; [`SimTime::MAX`]: never.
    deadline: SimTime,
}

impl Handshake {
    pub(crate) fn new(phase: Phase, config: &Config) -> Self {
        Self {
            phase,
            syn_due: phase == Phase::SynSent,
            sent_at: SimTime::ZERO,
            retransmits: 0,
            retries: config.syn_retries,
            deadline: SimTime::MAX,
        }
    }

    /// The SYN or SYN-ACK leaves.
    pub(crate) fn on_syn_sent(&mut self, now: SimTime, rtt: &RttEstimator) {
        self.syn_due = false;
        self.sent_at = now;
        // A repeated SYN of the peer is answered without touching the timer.
        if self.deadline == SimTime::MAX {
            self.deadline = now.saturating_add(rtt.backed_off_rto(self.retransmits));
        }
    }

    pub(crate) fn on_established(&mut self) {
        self.phase = Phase::Established;
        self.syn_due = false;
        self.deadline = SimTime::MAX;
    }

    #[inline]
    pub(crate) fn next_timeout(&self) -> SimTime {
        self.deadline
    }

    pub(crate) fn on_timer(&mut self, now: SimTime) {
        if self.deadline <= now {
            self.deadline = SimTime::MAX;
            if self.retransmits >= self.retries {
                self.phase = Phase::Failed;
            } else {
                self.retransmits += 1;
                self.syn_due = true;
            }
        }
    }
}
