//! Radio resource control: which cell serves a UE, from attaching over handover to failure.
//!
//! [`Connection`] is the state of one UE. It is told what the UE measures and when its timers have
//! run out, and says what changes: data stops, the UE goes to another cell, data may flow again.
//! Carrying that out (moving the host, forwarding its packets, throwing away what HARQ holds) is
//! the network's business.
//!
//! - [`measurement`]: layer 3's filter and event A3.
//! - [`radio_link`]: in-sync, out-of-sync, and the timer between them.
//! - [`connection`]: the states of a UE.
//!
//! RRC messages are not sent: what they take is a delay each. That of X2 and of the core network
//! is in the delay of a handover's preparation.

use backlane_units::Duration;

pub mod connection;
pub mod measurement;
pub mod radio_link;

pub use connection::{Cause, Change, Connection, Measurement};
use measurement::A3Config;
use radio_link::RadioLinkConfig;

/// How UEs get into cells, from one to another, and out of them.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RrcConfig {
    /// How long it takes until a UE's first data may flow; [`None`]: UEs are connected at the
    /// start.
    pub attach: Option<AttachConfig>,
    /// Handover; [`None`]: a UE stays where it is until its radio link fails.
    pub handover: Option<HandoverConfig>,
    /// When a radio link has failed, and how long it takes to have another.
    pub radio_link: RadioLinkConfig,
    /// Between two measurements of a UE that moves. 200 ms is the measurement period of TS 36.133,
    /// over which fading is averaged out.
    pub measurement_period: Duration,
}

impl Default for RrcConfig {
    fn default() -> Self {
        Self {
            attach: None,
            handover: Some(HandoverConfig::default()),
            radio_link: RadioLinkConfig::default(),
            measurement_period: Duration::from_millis(200),
        }
    }
}

/// What a UE goes through between switching on and its first data.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct AttachConfig {
    /// System information comes once in each such period; a UE waits for a share of it that is
    /// drawn uniformly.
    pub system_information_period: Duration,
    /// Random access, from the preamble to the resolution of contention.
    pub random_access: Duration,
    /// Setting up the connection and its bearer.
    pub setup: Duration,
}

impl Default for AttachConfig {
    /// SIB 1 each 80 ms (TS 36.331); about 25 ms of random access and 10 ms each for
    /// connection and bearer, as ns-3's LENA has them. A UE that has to be authenticated takes 0.3
    /// to 1 s more.
    fn default() -> Self {
        Self {
            system_information_period: Duration::from_millis(80),
            random_access: Duration::from_millis(25),
            setup: Duration::from_millis(20),
        }
    }
}

/// When a UE is handed over, and what that takes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct HandoverConfig {
    /// What the UE reports.
    pub event: A3Config,
    /// From the report to the UE's receiving the command: report, request and answer over X2,
    /// command. Data flows meanwhile.
    pub preparation: Duration,
    /// From the command to data in the new cell. Nothing flows meanwhile.
    pub interruption: Duration,
}

impl Default for HandoverConfig {
    /// 30 ms of preparation; 15 ms for processing the command (TS 36.331 §11.2), 20 ms for
    /// retuning and 10 ms for random access without contention. But for the 15 ms these are
    /// assumptions.
    fn default() -> Self {
        Self {
            event: A3Config::default(),
            preparation: Duration::from_millis(30),
            interruption: Duration::from_millis(45),
        }
    }
}
