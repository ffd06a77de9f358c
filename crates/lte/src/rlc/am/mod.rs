//! Acknowledged mode (TS 36.322 §5.1.3, §5.2): numbered PDUs, polls for reports, STATUS PDUs, and
//! retransmission whole or in segments.
//!
//! Sequence numbers do not wrap here; the windows of 512 are those of 10-bit numbers, within
//! which wrapped numbers say the same.

mod receiver;
mod sender;

pub(super) use receiver::Receiver;
pub(super) use sender::Sender;

/// AM_Window_Size for 10-bit sequence numbers (TS 36.322 §7.2).
const WINDOW_PDUS: u32 = 512;
/// The fixed part of an AMD PDU's header (TS 36.322 §6.2.1.4).
pub(super) const HEADER_BYTES: u32 = 2;
/// The fixed part of an AMD PDU segment's header (TS 36.322 §6.2.1.5).
const SEGMENT_HEADER_BYTES: u32 = 4;
/// D/C, CPT, ACK_SN and E1 of a STATUS PDU (TS 36.322 §6.2.1.6).
const STATUS_BITS: u32 = 15;
/// NACK_SN, E1 and E2.
const NACK_BITS: u32 = 12;
/// SOstart and SOend.
const PORTION_BITS: u32 = 30;
/// The largest data field: the segment offset has 15 bits (TS 36.322 §6.2.1.5).
const FIELD_BYTES_MAX: u32 = 1 << 15;
