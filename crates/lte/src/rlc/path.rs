//! A direction of a bearer, with both of its ends.

use backlane_units::SimTime;

use super::config::{AmConfig, RlcConfig, RlcMode, UmConfig};
use super::pdu::{Counters, Outcome};
use super::stream::Stream;
use super::{am, um};
use crate::pdcp::PdcpConfig;

/// Both ends of a mode, for one direction.
#[derive(Debug)]
pub(super) enum Mode {
    Um {
        config: UmConfig,
        sender: um::Sender,
        receiver: um::Receiver,
    },
    Am {
        config: AmConfig,
        sender: am::Sender,
        receiver: am::Receiver,
    },
}

impl Mode {
    pub(super) fn new(mode: RlcMode) -> Self {
        match mode {
            RlcMode::Um(config) => Self::Um {
                config,
                sender: um::Sender::default(),
                receiver: um::Receiver::default(),
            },
            RlcMode::Am(config) => Self::Am {
                config,
                sender: am::Sender::default(),
                receiver: am::Receiver::default(),
            },
        }
    }
}

/// A direction: its stream of bytes, and both ends of its mode.
#[derive(Debug)]
pub(super) struct Path {
    pub(super) stream: Stream,
    pub(super) mode: Mode,
    pub(super) counters: Counters,
}

impl Path {
    pub(super) fn new(rlc: &RlcConfig, pdcp: &PdcpConfig) -> Self {
        Self {
            stream: Stream::new(rlc, pdcp.discard_timer.value()),
            mode: Mode::new(rlc.mode),
            counters: Counters::default(),
        }
    }

    /// Counts what a call has dropped and lost.
    pub(super) fn count(&mut self, outcome: &Outcome, before: (usize, usize)) {
        self.counters.drops += (outcome.dropped.len() - before.0) as u64;
        self.counters.losses += (outcome.lost.len() - before.1) as u64;
    }

    /// PDCP's discard timer.
    pub(super) fn discard(&mut self, now: SimTime, outcome: &mut Outcome) {
        self.stream.buffer.discard(now, outcome);
        self.ensure_poll(now);
    }

    pub(super) fn ensure_poll(&mut self, now: SimTime) {
        if let Mode::Am { config, sender, .. } = &mut self.mode {
            sender.ensure_poll(config, now, &self.stream);
        }
    }
}

/// How many packets an outcome has dropped and lost.
pub(super) fn sizes(outcome: &Outcome) -> (usize, usize) {
    (outcome.dropped.len(), outcome.lost.len())
}
