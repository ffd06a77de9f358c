//! How the two ends of a radio bearer are set up.

use std::ops::RangeInclusive;

use backlane_param::ranges::INTERVAL;
use backlane_param::{BufferLimit, OrInfinite, choice, params, words};
use backlane_units::{Bytes, Duration};

const MINUTE: Duration = Duration::from_secs(60);
/// Timers of RLC and PDCP.
pub(crate) const TIMER: RangeInclusive<Duration> = Duration::from_millis(1)..=MINUTE;

params! {
    /// Radio link control (TS 36.322).
    ///
    /// That of a radio bearer, in both directions.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub struct RlcConfig as "rlc" {
        /// The mode.
        mode: RlcMode = RlcMode::default();
        /// What may wait for its first transmission in one direction; what does not fit is dropped
        /// on arrival.
        ///
        /// The SDU that is partly sent does not count, nor does what is sent and not acknowledged.
        /// Bytes are those of SDUs, PDCP headers included. 750 packets of 1500 bytes take 257 ms
        /// at 35 Mbit/s.
        buffer: BufferLimit = BufferLimit::Packets(750);
        /// Active queue management of what waits.
        aqm: Aqm = Aqm::Off;
        /// At most one PDU in a transport block, or else as many as fit.
        ///
        /// With one, as in LENA, a STATUS PDU takes a whole transport block.
        one_pdu_per_block: bool = false;
    }
}

choice! {
    /// The mode of a radio bearer.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum RlcMode {
        /// Whether what HARQ lost is sent again.
        mode = Am;

        /// Acknowledged mode.
        Am = "am" (config: AmConfig = AmConfig::default());
        /// Unacknowledged mode.
        Um = "um" (config: UmConfig = UmConfig::default());
    }
}

params! {
    /// Acknowledged mode (TS 36.322 §7.3, §7.4), with 10-bit sequence numbers.
    ///
    /// The defaults are within the ranges that operators use. `t_reordering` is longer than HARQ
    /// takes, and `t_status_prohibit` than a retransmission takes to arrive, so that nothing is
    /// reported as missing while it is under way. 32 polls without an answer, the most that
    /// TS 36.331 has, take 1.5 s: in a crowded cell a report may wait for the scheduler for a
    /// second.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub struct AmConfig {
        /// New PDUs after which the next one polls.
        poll_pdus: OrInfinite<u32> = OrInfinite::Value(32), in 1..=1_000_000;
        /// New bytes after which the next PDU polls.
        poll_bytes: OrInfinite<Bytes> = OrInfinite::Value(Bytes::new(125_000)),
            in Bytes::new(1)..=Bytes::new(1_000_000_000);
        /// How long an answer to a poll is waited for.
        t_poll_retransmit: Duration = Duration::from_millis(45), in TIMER;
        /// What is sent then if nothing else waits: the newest PDU, or all that are not
        /// acknowledged.
        poll_retransmission: PollRetransmission = PollRetransmission::Newest;
        /// How long a missing PDU is waited for; HARQ with four transmissions spans 32 ms.
        t_reordering: Duration = Duration::from_millis(35), in TIMER;
        /// Shortest time from one status report to the next.
        t_status_prohibit: Duration = Duration::from_millis(20), in Duration::ZERO..=MINUTE;
        /// Retransmissions of a PDU before the radio link has failed.
        max_retransmissions: OrInfinite<u32> = OrInfinite::Value(32), in 1..=1000;
        /// A PDU that no longer fits is retransmitted in segments, or else waits for a larger
        /// grant.
        ///
        /// If it waits, so do all PDUs behind it.
        resegmentation: bool = true;
    }
}

words! {
    /// What is sent again when a poll was not answered and nothing else waits (TS 36.322 §5.2.2.3
    /// leaves the choice).
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum PollRetransmission {
        /// The newest PDU, SN = VT(S) − 1.
        Newest = "newest",
        /// All PDUs that are not acknowledged, as LENA has it.
        All = "all",
    }
}

params! {
    /// Unacknowledged mode.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub struct UmConfig {
        /// Its length, which sets the header and the window.
        sequence_number: UmSequenceNumber = UmSequenceNumber::Bits10;
        /// How long a missing PDU is waited for; HARQ with four transmissions spans 32 ms.
        t_reordering: Duration = Duration::from_millis(35), in TIMER;
    }
}

words! {
    /// The length of the sequence number in unacknowledged mode (TS 36.322 §6.2.2.3).
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum UmSequenceNumber {
        /// A fixed header of one byte, a window of 16.
        Bits5 = "5 bits",
        /// A fixed header of two bytes, a window of 512.
        Bits10 = "10 bits",
    }
}

choice! {
    /// Active queue management of an RLC buffer.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum Aqm as "aqm" {
        /// What it drops and when.
        discipline = Off;

        /// Nothing.
        Off = "none";
        /// Controlled delay (RFC 8289).
        ///
        /// The sojourn time is from arrival to the first byte sent. It drops and does not mark.
        CoDel = "codel" {
            /// Acceptable standing queue delay (RFC 8289 §4.4).
            target: Duration = Duration::from_millis(5), in INTERVAL;
            /// Time in which the delay must fall below the target (RFC 8289 §4.3).
            interval: Duration = Duration::from_millis(100), in INTERVAL;
        }
    }
}

impl From<AmConfig> for RlcConfig {
    fn from(config: AmConfig) -> Self {
        Self {
            mode: RlcMode::Am(config),
            ..Self::default()
        }
    }
}

impl From<UmConfig> for RlcConfig {
    fn from(config: UmConfig) -> Self {
        Self {
            mode: RlcMode::Um(config),
            ..Self::default()
        }
    }
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
