//! Radio resource control: which cell serves a UE, from attaching over handover to failure.
//!
//! [`Connection`] is the state of one UE. It takes in what the UE measures and when its timers
//! expire, and says what changes: data stops, the UE goes to another cell, data may flow again.
//! Carrying that out (moving the host, forwarding its packets, throwing away what HARQ holds) is
//! the network's business.
//!
//! - [`measurement`]: layer 3's filter and event A3.
//! - [`radio_link`]: in-sync, out-of-sync, and the timer between them.
//! - [`connection`]: the states of a UE.
//!
//! RRC messages are not sent: what they take is a delay each. That of X2 and of the core network
//! is in the delay of a handover's preparation.

use backlane_param::{choice, params};
use backlane_units::Duration;

pub mod connection;
pub mod measurement;
pub mod radio_link;

pub use connection::{Cause, Change, Connection, Measurement};
use measurement::A3Config;
use radio_link::RadioLinkConfig;

use crate::time::RRC_TIME;

params! {
    /// How UEs get into cells, from one to another, and out of them.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub struct RrcConfig {
        /// What a UE goes through before its first data.
        attach: Attach = Attach::Off;
        /// When a UE that moves goes to another cell.
        handover: Handover = Handover::default();
        /// When the radio link of a UE that moves has failed.
        radio_link: RadioLinkConfig = RadioLinkConfig::default();
    }
}

choice! {
    /// What a UE goes through before its first data.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum Attach as "attach" {
        /// Whether it takes time.
        procedure = Off;

        /// UEs are connected at the start.
        Off = "none";
        /// UEs switch on at the start; packets for them wait.
        Standard = "standard" (config: AttachConfig = AttachConfig::default());
    }
}

impl Attach {
    /// What it takes, if it takes time.
    pub const fn config(&self) -> Option<AttachConfig> {
        match self {
            Self::Off => None,
            Self::Standard(config) => Some(*config),
        }
    }
}

params! {
    /// What a UE goes through between switching on and its first data.
    ///
    /// SIB 1 each 80 ms (TS 36.331); about 25 ms of random access and 10 ms each for connection and
    /// bearer, as ns-3's LENA has them. A UE that has to be authenticated takes 0.3 to 1 s more.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub struct AttachConfig {
        /// A UE waits for a share of this that is drawn uniformly.
        ///
        /// System information is broadcast once in each such period.
        system_information_period: Duration = Duration::from_millis(80), in RRC_TIME;
        /// Random access.
        ///
        /// From the preamble to the resolution of contention.
        random_access: Duration = Duration::from_millis(25), in RRC_TIME;
        /// Setting up the connection and the bearer.
        setup: Duration = Duration::from_millis(20), in RRC_TIME;
    }
}

choice! {
    /// When a UE that moves goes to another cell, and what it takes. Packets follow it over the
    /// backhaul.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum Handover as "handover" {
        /// What a UE reports for it.
        event = A3;

        /// A neighbour has become better than its own cell.
        A3 = "a3" (config: HandoverConfig = HandoverConfig::default());
        /// A UE stays in its cell until its radio link fails.
        Off = "none";
    }
}

impl Handover {
    /// The configuration of handovers, if there are any.
    pub const fn config(&self) -> Option<HandoverConfig> {
        match self {
            Self::Off => None,
            Self::A3(config) => Some(*config),
        }
    }
}

params! {
    /// When a UE is handed over, and what that takes.
    ///
    /// 15 ms of the interruption are the processing of the command (TS 36.331 §11.2), 20 ms
    /// retuning and 10 ms random access without contention. But for the 15 ms, and for
    /// [`A3Config`], the defaults are assumptions.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub struct HandoverConfig {
        /// What the UE reports.
        event: A3Config = A3Config::default();
        /// From the report to the command; data flows meanwhile.
        ///
        /// Report, request and answer over X2, command.
        preparation: Duration = Duration::from_millis(30), in RRC_TIME;
        /// From the command to data in the new cell.
        ///
        /// No data flows meanwhile.
        interruption: Duration = Duration::from_millis(45), in RRC_TIME;
    }
}
