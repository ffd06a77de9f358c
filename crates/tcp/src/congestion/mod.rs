//! Congestion controls: one file each, behind a small trait, [`CongestionControl`].
//!
//! The endpoint owns the [`Window`] and lends it to the hooks; recovery (which segment is lost,
//! how fast the window shrinks) is not the congestion control's business. Windows are counted
//! in packets, as Linux counts them. A control's `Config` declares its parameters and is its
//! factory: add the file, its module here and a line of `registry.rs`. A control from outside this
//! crate comes in as [`Custom`].

pub mod bbr;
pub mod bbr3;
pub mod cdg;
mod control;
mod cube_root;
pub mod cubic;
mod custom;
pub mod dctcp;
mod draws;
pub mod external;
mod factory;
#[cfg(test)]
mod fixture;
pub mod highspeed;
pub mod htcp;
pub mod hybla;
mod hystart;
mod hystart_plus_plus;
pub mod illinois;
pub mod ledbat;
pub mod lp;
mod registry;
pub mod reno;
pub mod scalable;
pub mod vegas;
pub mod veno;
pub mod westwood;
pub mod yeah;

pub use control::{
    Ack, Arrival, CongestionControl, INFINITE_SSTHRESH_PKTS, LostPacket, RateSample, RttSample,
    Window,
};
pub use custom::Custom;
pub use hystart::HyStart;
pub use registry::{CongestionControlConfig, UnknownCongestionControl};
