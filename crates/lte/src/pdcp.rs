//! The packet data convergence protocol (TS 36.323): a header, and a limit to how long a packet
//! may wait.
//!
//! Left out: ciphering, header compression (ROHC), and the sequence numbers themselves, since
//! RLC delivers in order.

use backlane_units::Duration;

/// The length of the PDCP sequence number of a data radio bearer, which sets the header's length.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PdcpSequenceNumber {
    /// 7 bits: a header of one byte.
    Bits7,
    /// 12 bits: a header of two bytes.
    Bits12,
}

/// PDCP of a bearer, the same in both directions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PdcpConfig {
    /// The length of the sequence number.
    pub sequence_number: PdcpSequenceNumber,
    /// A packet no byte of which was sent after this time is discarded; `None`: it waits for ever.
    pub discard_timer: Option<Duration>,
}

impl Default for PdcpConfig {
    fn default() -> Self {
        Self {
            sequence_number: PdcpSequenceNumber::Bits12,
            discard_timer: None,
        }
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
