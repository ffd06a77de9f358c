//! Counters of links, media, nodes and router queues, and the balance of packets.

/// Reasons to drop a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DropCause {
    /// A queue was full, or its discipline dropped the packet.
    Queue,
    /// The wire lost it.
    Loss,
    /// The link was down.
    LinkDown,
    /// The router knew no route.
    NoRoute,
    /// The time to live ran out.
    TtlExpired,
    /// The protocols of a radio link gave up.
    Radio,
}

impl DropCause {
    /// All causes, in the order of their counters.
    pub const ALL: [Self; 6] = [
        Self::Queue,
        Self::Loss,
        Self::LinkDown,
        Self::NoRoute,
        Self::TtlExpired,
        Self::Radio,
    ];

    /// The name in results.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Queue => "queue",
            Self::Loss => "loss",
            Self::LinkDown => "link_down",
            Self::NoRoute => "no_route",
            Self::TtlExpired => "ttl_expired",
            Self::Radio => "radio",
        }
    }
}

/// The balance of packets of a network.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Balance {
    /// Packets that applications and routers sent.
    pub injected: u64,
    /// Copies that wires made of packets.
    pub duplicated: u64,
    /// Packets that reached their destination.
    pub delivered: u64,
    /// Packets dropped, by [`DropCause`].
    pub dropped: [u64; DropCause::ALL.len()],
    /// Packets still under way.
    pub in_flight: u64,
}

impl Balance {
    /// Packets dropped for any cause.
    pub fn dropped_total(&self) -> u64 {
        self.dropped.iter().sum()
    }

    /// Injected + duplicated = delivered + dropped + in flight.
    pub fn holds(&self) -> bool {
        self.injected + self.duplicated == self.delivered + self.dropped_total() + self.in_flight
    }
}

/// Counters of a link direction.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LinkCounters {
    /// Bytes sent, IP headers included.
    pub bytes: u64,
    /// Packets sent.
    pub packets: u64,
    /// Packets that the queue dropped or the wire lost.
    pub drops: u64,
    /// The largest backlog, in bytes; the packet in transmission does not count.
    pub queue_max_bytes: u64,
    /// Time integral of the backlog, in byte-picoseconds.
    pub queue_area: u128,
}

/// Counters of the queue of a link direction. The fields mean what they mean in [`LinkCounters`].
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct QueueCounters {
    pub(crate) area: u128,
    pub(crate) max_bytes: u64,
    pub(crate) drops: u64,
}

/// Counters of a queue that a router keeps before an interface. The fields mean what they mean
/// in [`LinkCounters`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RouterQueue {
    /// Bytes that wait.
    pub backlog_bytes: u64,
    /// Packets that wait.
    pub backlog_pkts: u64,
    /// The largest backlog, in bytes.
    pub max_bytes: u64,
    /// Time integral of the backlog, in byte-picoseconds, of the packets that have left.
    pub area: u128,
    /// Packets dropped.
    pub drops: u64,
}

/// Counters of the media between one router and its hosts, in one direction.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct AccessCounters {
    /// Bytes that left the medium, IP headers included.
    pub bytes: u64,
    /// Packets that left the medium.
    pub packets: u64,
    /// Packets that the medium dropped.
    pub drops: u64,
    /// Sum over the packets that left of their size times their time inside, in
    /// byte-picoseconds: the time integral of the bytes inside.
    pub area: u128,
}

/// Counters of the routing messages that a node has sent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MessageCounters {
    /// Messages: separate datagrams, broadcasts (once for each radio and wire) and messages
    /// carried by a data packet.
    pub messages: u64,
    /// Their bytes, IP and UDP headers included where they had any.
    pub bytes: u64,
}
