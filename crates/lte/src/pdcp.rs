//! The packet data convergence protocol (TS 36.323): a header, and a limit to how long a packet
//! may wait.
//!
//! Left out: ciphering, header compression (ROHC), and the sequence numbers themselves, since
//! RLC delivers in order.

use backlane_param::{OrInfinite, params, words};
use backlane_units::Duration;

use crate::rlc::TIMER;

params! {
    /// Packet data convergence (TS 36.323).
    ///
    /// That of a bearer, the same in both directions.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub struct PdcpConfig as "pdcp" {
        /// Its length: a header of one byte or of two.
        sequence_number: PdcpSequenceNumber = PdcpSequenceNumber::Bits12;
        /// A packet of which nothing was sent after this time is discarded.
        discard_timer: OrInfinite<Duration> = OrInfinite::Infinite, in TIMER;
    }
}

words! {
    /// The length of the PDCP sequence number of a data radio bearer, which sets the header's
    /// length.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum PdcpSequenceNumber {
        /// A header of one byte.
        Bits7 = "7 bits",
        /// A header of two bytes.
        Bits12 = "12 bits",
    }
}

impl PdcpConfig {
    /// The header of a data PDU.
    pub const fn header_bytes(&self) -> u32 {
        match self.sequence_number {
            PdcpSequenceNumber::Bits7 => 1,
            PdcpSequenceNumber::Bits12 => 2,
        }
    }
}
