//! Packets: records in a slab, named by a handle.

use std::sync::Arc;

use backlane_engine::prefetch;
use backlane_units::SimTime;

macro_rules! id {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name(pub u32);

        impl Default for $name {
            fn default() -> Self {
                Self::NONE
            }
        }

        impl $name {
            /// No such thing.
            pub const NONE: Self = Self(u32::MAX);

            /// It, unless it is [`Self::NONE`].
            #[inline]
            pub fn some(self) -> Option<Self> {
                (self != Self::NONE).then_some(self)
            }

            /// The number as an index.
            #[inline]
            pub const fn index(self) -> usize {
                self.0 as usize
            }
        }
    };
}

id!(
    /// A node: a router, or a host at the edge.
    NodeId
);
id!(
    /// One direction of a wire, or one direction of a shared access pipe.
    LinkId
);
id!(
    /// A flow: both directions of one conversation. [`FlowId::NONE`] marks routing messages.
    FlowId
);
id!(
    /// A medium that hosts and routers share.
    MediumId
);
id!(
    /// A packet of a [`PacketStore`].
    PacketId
);

/// Size of an IPv4 header without options, in bytes (RFC 791 §3.1).
pub const IPV4_HEADER_BYTES: u32 = 20;
/// An IPv6 header without extensions.
pub const IPV6_HEADER_BYTES: u32 = 40;
/// Size of a UDP header, in bytes (RFC 768).
pub const UDP_HEADER_BYTES: u32 = 8;
/// Time to live of a packet as it leaves its source (RFC 1700; Linux and ns-3 agree).
pub const INITIAL_TTL: u8 = 64;

/// The congestion field of the IP header (RFC 3168 §5).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Ecn {
    /// Not-ECT: a queue may only drop it.
    #[default]
    NotCapable,
    /// ECT: a queue may mark it instead.
    Capable,
    /// CE: a queue has marked it.
    Marked,
}

/// A packet under way. The transport keeps its header under the same handle. A packet fills one
/// cache line: with thousands under way, the first access is the main cost of a hop.
#[derive(Clone, Debug)]
#[repr(align(64))]
pub struct Packet {
    /// Its flow.
    pub flow: FlowId,
    /// It travels from the flow's destination back to its source (an acknowledgement).
    pub reverse: bool,
    /// Time to live; a router drops the packet when it reaches zero.
    pub ttl: u8,
    /// Routers that have forwarded it.
    pub hops: u8,
    /// Whether queues may mark it, and whether one has marked it.
    pub ecn: Ecn,
    /// IP header included, link framing not.
    pub size_bytes: u32,
    /// The host or router that sent it.
    pub source: NodeId,
    /// The host or router that it is for.
    pub destination: NodeId,
    /// The last router: the destination itself, or where the destination host is attached.
    pub exit: NodeId,
    /// The node that it came from: the previous router, or the host at its first router.
    pub previous: NodeId,
    /// A hash of the routers passed, to count changes of path.
    pub path: u32,
    /// Its number among the packets of its flow and direction, from zero.
    pub sequence: u64,
    /// When it entered the queue in which it waits.
    pub queued_at: SimTime,
    /// The bytes of a routing message.
    pub message: Option<Arc<[u8]>>,
}

impl Packet {
    /// A data packet of a flow, from its source to its destination, as it leaves its source: with
    /// number 0, not capable of marks. Sending fills in `exit` and `queued_at`.
    #[inline]
    pub const fn new(flow: FlowId, source: NodeId, destination: NodeId, size_bytes: u32) -> Self {
        Self {
            flow,
            reverse: false,
            ttl: INITIAL_TTL,
            hops: 0,
            ecn: Ecn::NotCapable,
            size_bytes,
            source,
            destination,
            exit: destination,
            previous: source,
            path: 0,
            sequence: 0,
            queued_at: SimTime::ZERO,
            message: None,
        }
    }

    /// The flow and the direction in one number, the key of per-flow tables.
    #[inline]
    pub fn flow_key(&self) -> u64 {
        u64::from(self.flow.0) << 1 | u64::from(self.reverse)
    }

    /// Marks the packet if its transport understands marks; true if it is marked now.
    #[inline]
    pub(crate) fn mark(&mut self) -> bool {
        if self.ecn == Ecn::NotCapable {
            return false;
        }
        self.ecn = Ecn::Marked;
        true
    }
}

#[cfg(target_pointer_width = "64")]
const _: () = assert!(size_of::<Packet>() == 64);

/// All packets of a run.
#[derive(Debug, Default)]
pub struct PacketStore {
    packets: Vec<Packet>,
    free: Vec<u32>,
}

impl PacketStore {
    /// Adds a packet.
    #[inline]
    pub fn insert(&mut self, packet: Packet) -> PacketId {
        if let Some(index) = self.free.pop() {
            self.packets[index as usize] = packet;
            return PacketId(index);
        }
        let index = self.packets.len() as u32;
        self.packets.push(packet);
        PacketId(index)
    }

    /// Frees a packet. Its handle is invalid from now on.
    #[inline]
    pub fn remove(&mut self, id: PacketId) {
        let packet = &mut self.packets[id.index()];
        debug_assert!(packet.size_bytes != 0, "packet {id:?} freed twice");
        packet.size_bytes = 0;
        if packet.message.is_some() {
            packet.message = None;
        }
        self.free.push(id.0);
    }

    /// Prefetches a packet that will be needed soon, if there is one of this handle.
    #[inline]
    pub(crate) fn prefetch(&self, id: PacketId) {
        if let Some(packet) = self.packets.get(id.index()) {
            prefetch(packet);
        }
    }

    /// The number of packets under way.
    pub fn live(&self) -> usize {
        self.packets.len() - self.free.len()
    }
}

impl std::ops::Index<PacketId> for PacketStore {
    type Output = Packet;
    #[inline]
    fn index(&self, id: PacketId) -> &Packet {
        &self.packets[id.index()]
    }
}

impl std::ops::IndexMut<PacketId> for PacketStore {
    #[inline]
    fn index_mut(&mut self, id: PacketId) -> &mut Packet {
        &mut self.packets[id.index()]
    }
}

#[cfg(test)]
pub(crate) mod tests_support {
    use super::*;

    /// A packet of this size.
    pub(crate) fn packet(size_bytes: u32) -> Packet {
        Packet::new(FlowId(0), NodeId(0), NodeId(0), size_bytes)
    }
}
