//! What passes between the ends of a bearer, and what a call of a bearer reports.

use backlane_net::PacketId;
use backlane_units::{Duration, SimTime};

/// A direction of a bearer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    /// From the eNodeB to the UE.
    Down,
    /// From the UE to the eNodeB.
    Up,
}

impl Direction {
    pub(super) const fn index(self) -> usize {
        match self {
            Self::Down => 0,
            Self::Up => 1,
        }
    }

    pub(super) const fn opposite(self) -> Self {
        match self {
            Self::Down => Self::Up,
            Self::Up => Self::Down,
        }
    }
}

/// What one end of a bearer sends to the other in a transport block.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Pdu {
    /// Data in either mode, whole or a segment.
    Data(DataPdu),
    /// A report of acknowledged mode.
    Status(StatusPdu),
}

impl Pdu {
    /// Its size, header and data.
    pub fn bytes(&self) -> u32 {
        match self {
            Self::Data(pdu) => pdu.bytes,
            Self::Status(pdu) => pdu.bytes,
        }
    }
}

/// A UMD PDU, AMD PDU or AMD PDU segment. Bytes are counted along the stream of its direction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DataPdu {
    pub(super) sn: u32,
    /// The data field of the PDU with this number.
    pub(super) field_start: u64,
    pub(super) field_end: u64,
    /// What of it is in here.
    pub(super) start: u64,
    pub(super) end: u64,
    pub(super) bytes: u32,
    pub(super) poll: bool,
}

/// A STATUS PDU.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StatusPdu {
    pub(super) ack_sn: u32,
    pub(super) nacks: Vec<Nack>,
    pub(super) bytes: u32,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Nack {
    pub(super) sn: u32,
    /// SOstart and SOend; `None`: all of it.
    pub(super) portion: Option<(u32, u32)>,
}

/// A packet that has come out at the other end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Delivered {
    /// The packet.
    pub packet: PacketId,
    /// When it came to PDCP at the sending end.
    pub pushed_at: SimTime,
}

/// Packets delivered, dropped or lost during a call. Calls add to it; the caller empties it.
#[derive(Clone, Debug, Default)]
pub struct Outcome {
    /// They have arrived, in order.
    pub delivered: Vec<Delivered>,
    /// They were dropped before their first byte was sent: the buffer was full, CoDel chose them,
    /// or PDCP's discard timer ran out.
    pub dropped: Vec<PacketId>,
    /// They were lost on the air.
    pub lost: Vec<PacketId>,
}

/// What waits to be sent in one direction.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct BufferStatus {
    /// The STATUS PDU that is due.
    pub status_bytes: u64,
    /// PDUs and segments to be retransmitted, with headers.
    pub retransmit_bytes: u64,
    /// What was never sent and may be sent now, without headers.
    pub new_bytes: u64,
    /// The header that all of it would have in one PDU.
    pub header_bytes: u64,
    /// How long the oldest packet of which no byte was sent has waited.
    pub head_delay: Duration,
}

impl BufferStatus {
    /// What a transport block must have room for to take everything, MAC subheaders aside.
    pub fn total_bytes(&self) -> u64 {
        self.status_bytes + self.retransmit_bytes + self.new_bytes + self.header_bytes
    }

    /// Nothing may be sent.
    pub fn is_empty(&self) -> bool {
        self.status_bytes + self.retransmit_bytes + self.new_bytes == 0
    }
}

/// What a direction of a bearer has done so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counters {
    /// Packets dropped before their first byte was sent.
    pub drops: u64,
    /// Packets lost on the air.
    pub losses: u64,
    /// PDUs and segments retransmitted.
    pub retransmitted_pdus: u64,
    /// Their bytes, headers included.
    pub retransmitted_bytes: u64,
    /// STATUS PDUs about this direction's data, sent in the other direction.
    pub status_pdus: u64,
}
