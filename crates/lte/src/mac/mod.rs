//! Medium access: who sends what in which TTI, and again if it was lost.
//!
//! - [`scheduler`]: who gets which resource block groups of the downlink.

pub mod scheduler;
