//! What a network tells of itself.

/// What one radio has done and heard so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RadioReadings {
    /// Frames sent, of all kinds.
    pub frames_sent: u64,
    /// Attempts to bring a frame over to one neighbour: with RTS, the RTS and what follows.
    pub attempts: u64,
    /// Attempts without an answer, to the RTS or to the data.
    pub failures: u64,
    /// Frames given up after the last attempt.
    pub given_up: u64,
    /// Broadcasts sent.
    pub broadcasts: u64,
    /// Data frames received that were meant for this radio, each once.
    pub received: u64,
    /// The same, repeated since the sender heard no ACK.
    pub duplicates: u64,
    /// Frames sensed and not decoded: too weak, disturbed, or lost.
    pub undecoded: u64,
    /// Time that it sent, in picoseconds.
    pub sending_ps: u128,
    /// Time that it sent or sensed frames, in picoseconds, up to the last end of such a time.
    pub busy_ps: u128,
    /// Packets that its queue dropped.
    pub queue_drops: u64,
    /// The most packets that waited.
    pub queue_max_pkts: u32,
    /// Time integral of the packets that waited, in packet-picoseconds, up to the last change.
    pub queue_area: u128,
}

/// What has been sent over one direction of a link so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LinkReadings {
    /// Attempts.
    pub attempts: u64,
    /// Packets that came over.
    pub delivered: u64,
    /// Frames given up after the last attempt.
    pub given_up: u64,
    /// Time that its frames were on the air, with their RTS, CTS and ACK, in picoseconds.
    pub airtime_ps: u128,
}
