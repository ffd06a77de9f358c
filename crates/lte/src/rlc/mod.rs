//! Radio link control (TS 36.322): packets into PDUs of whatever size the MAC grants, and back.

pub mod config;

pub use config::{
    AmConfig, BufferConfig, BufferLimit, CoDelTargets, PollRetransmission, RlcConfig, UmConfig,
    UmSequenceNumber,
};

/// A direction of a bearer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    /// From the eNodeB to the UE.
    Down,
    /// From the UE to the eNodeB.
    Up,
}
