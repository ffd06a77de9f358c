//! The counters of radios and links.

/// The counters of one radio.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RadioCounters {
    /// Frames sent, of all kinds.
    pub frames_sent: u64,
    /// Attempts of unicast MPDUs; with RTS, the RTS and what follows it are one attempt.
    pub attempts: u64,
    /// Attempts without a CTS or without an ACK.
    pub failures: u64,
    /// Frames given up after the last attempt.
    pub given_up: u64,
    /// Broadcasts sent.
    pub broadcasts: u64,
    /// Unicast data frames received, without duplicates.
    pub received: u64,
    /// Duplicates, sent because the ACK was lost.
    pub duplicates: u64,
    /// Frames sensed and not decoded: too weak, interfered with, or lost.
    pub undecoded: u64,
    /// Transmission time, in picoseconds.
    pub sending_ps: u128,
    /// Busy time (transmission or CCA busy), in picoseconds, up to the end of the last busy period.
    pub busy_ps: u128,
    /// Packets that its queue dropped, and that were dropped because they had waited too long.
    pub queue_drops: u64,
    /// The most packets that waited.
    pub queue_max_pkts: u32,
    /// Time integral of the packets that waited, in packet-picoseconds, up to the last change.
    pub queue_area: u128,
}

/// The counters of one direction of a link.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LinkCounters {
    /// Attempts.
    pub attempts: u64,
    /// Packets delivered.
    pub delivered: u64,
    /// Frames given up after the last attempt.
    pub given_up: u64,
    /// Airtime of its frames with their RTS, CTS and ACK, in picoseconds.
    pub airtime_ps: u128,
}
