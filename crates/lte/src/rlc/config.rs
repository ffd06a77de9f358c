//! How the two ends of a radio bearer are set up.

use backlane_units::Duration;

/// The mode of a radio bearer; both of its directions have the same.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum RlcConfig {
    /// Unacknowledged mode: in order, and what HARQ lost is lost.
    Um(UmConfig),
    /// Acknowledged mode: what HARQ lost is sent again.
    Am(AmConfig),
}

impl Default for RlcConfig {
    fn default() -> Self {
        Self::Am(AmConfig::default())
    }
}

impl RlcConfig {
    /// Acknowledged mode as LENA has it.
    pub fn lena() -> Self {
        Self::Am(AmConfig::lena())
    }
}

/// The length of the sequence number in unacknowledged mode (TS 36.322 §6.2.2.3).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UmSequenceNumber {
    /// 5 bits: a fixed header of one byte, a window of 16.
    Bits5,
    /// 10 bits: a fixed header of two bytes, a window of 512.
    Bits10,
}

impl UmSequenceNumber {
    /// The fixed part of the header (TS 36.322 §6.2.1.3).
    pub const fn header_bytes(self) -> u32 {
        match self {
            Self::Bits5 => 1,
            Self::Bits10 => 2,
        }
    }

    /// UM_Window_Size (TS 36.322 §7.2).
    pub const fn window(self) -> u32 {
        match self {
            Self::Bits5 => 16,
            Self::Bits10 => 512,
        }
    }
}

/// Unacknowledged mode.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct UmConfig {
    /// The length of the sequence number.
    pub sequence_number: UmSequenceNumber,
    /// How long a missing PDU is waited for. HARQ with four transmissions spans 4 · 8 ms.
    pub t_reordering: Duration,
    /// At most one PDU in a transport block, as LENA has it; otherwise as many as fit.
    pub one_pdu_per_block: bool,
}

impl Default for UmConfig {
    fn default() -> Self {
        Self {
            sequence_number: UmSequenceNumber::Bits10,
            t_reordering: Duration::from_millis(35),
            one_pdu_per_block: false,
        }
    }
}

impl UmConfig {
    /// As LENA has it.
    pub fn lena() -> Self {
        Self {
            sequence_number: UmSequenceNumber::Bits10,
            t_reordering: Duration::from_millis(100),
            one_pdu_per_block: true,
        }
    }
}

/// What is sent again when a poll was not answered and nothing else waits (TS 36.322 §5.2.2.3
/// leaves the choice).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PollRetransmission {
    /// The newest PDU, SN = VT(S) − 1.
    Newest,
    /// All PDUs that are not acknowledged, as LENA has it.
    All,
}

/// Acknowledged mode (TS 36.322 §7.3, §7.4), with 10-bit sequence numbers.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct AmConfig {
    /// After this many new PDUs without a poll the next one polls; `None`: never for this reason.
    pub poll_pdus: Option<u32>,
    /// After this many new bytes without a poll the next PDU polls; `None`: never for this reason.
    pub poll_bytes: Option<u64>,
    /// How long an answer to a poll is waited for.
    pub t_poll_retransmit: Duration,
    /// What is sent then.
    pub poll_retransmission: PollRetransmission,
    /// How long a missing PDU is waited for before it is reported as missing. HARQ with four
    /// transmissions spans 4 · 8 ms.
    pub t_reordering: Duration,
    /// The shortest time from one STATUS PDU to the next; zero: none.
    pub t_status_prohibit: Duration,
    /// A PDU that has to be retransmitted once more after this many retransmissions is a failure
    /// of the radio link; `None`: it is retransmitted for ever.
    pub max_retransmissions: Option<u32>,
    /// A PDU that does not fit is retransmitted in segments. Otherwise it waits for a transport
    /// block that is large enough, and so does all behind it.
    pub resegmentation: bool,
    /// At most one PDU in a transport block, as LENA has it: a STATUS PDU takes a whole one.
    /// Otherwise as many as fit.
    pub one_pdu_per_block: bool,
}

impl Default for AmConfig {
    /// Within the ranges that operators use. `t_reordering` is longer than HARQ takes, and
    /// `t_status_prohibit` than a retransmission takes to arrive, so that nothing is reported as
    /// missing while it is under way. 32 polls without an answer, the most that TS 36.331 has,
    /// take 1.5 s: in a crowded cell a report may wait for the scheduler for a second.
    fn default() -> Self {
        Self {
            poll_pdus: Some(32),
            poll_bytes: Some(125_000),
            t_poll_retransmit: Duration::from_millis(45),
            poll_retransmission: PollRetransmission::Newest,
            t_reordering: Duration::from_millis(35),
            t_status_prohibit: Duration::from_millis(20),
            max_retransmissions: Some(32),
            resegmentation: true,
            one_pdu_per_block: false,
        }
    }
}

impl AmConfig {
    /// As LENA has it: every PDU polls, PDUs are reported as missing before HARQ has had its
    /// chance, nothing is cut in retransmission, and nothing is ever given up.
    pub fn lena() -> Self {
        Self {
            poll_pdus: Some(1),
            poll_bytes: Some(50),
            t_poll_retransmit: Duration::from_millis(20),
            poll_retransmission: PollRetransmission::All,
            t_reordering: Duration::from_millis(10),
            t_status_prohibit: Duration::from_millis(10),
            max_retransmissions: None,
            resegmentation: false,
            one_pdu_per_block: true,
        }
    }
}

/// What may wait for its first transmission in one direction of a bearer. The SDU that is partly
/// sent does not count, nor does what is sent and not acknowledged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BufferLimit {
    /// This many SDUs.
    Packets(u32),
    /// This many bytes of SDUs, PDCP headers included.
    Bytes(u64),
    /// SDUs are taken in as long as the oldest one has not waited for longer than this.
    Delay(Duration),
}

/// CoDel on the transmission buffer (RFC 8289); the sojourn time is from arrival to the first
/// byte sent. It drops and does not mark.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CoDelTargets {
    /// TARGET (RFC 8289 §4.4: 5 ms, on links whose packets take less than that).
    pub target: Duration,
    /// INTERVAL (RFC 8289 §4.3: 100 ms).
    pub interval: Duration,
}

impl Default for CoDelTargets {
    fn default() -> Self {
        Self {
            target: Duration::from_millis(5),
            interval: Duration::from_millis(100),
        }
    }
}

/// The transmission buffer of one direction of a bearer; what does not fit is dropped on arrival.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BufferConfig {
    /// What it holds.
    pub limit: BufferLimit,
    /// CoDel on what waits.
    pub codel: Option<CoDelTargets>,
}

impl Default for BufferConfig {
    /// 750 packets: of 1500 bytes, 257 ms at 35 Mbit/s.
    fn default() -> Self {
        Self {
            limit: BufferLimit::Packets(750),
            codel: None,
        }
    }
}

impl BufferConfig {
    /// As LENA has it: 10 240 bytes, which do not hold an initial window of TCP.
    pub fn lena() -> Self {
        Self {
            limit: BufferLimit::Bytes(10_240),
            codel: None,
        }
    }
}
