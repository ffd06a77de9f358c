//! What both daemons have: ports, sequence numbers, and what they want done.

use std::collections::BTreeMap;
use std::sync::Arc;

use backlane_engine::Stream;
use backlane_net::NodeId;
use backlane_units::{Duration, SimTime};

use super::message::{self, MOST_BYTES, Tlv};

/// A daemon without I/O: it is called when something arrives and when something is due, and collects
/// what it wants done.
pub(super) trait Daemon: Send {
    /// It starts. `carriers`: which ports have a carrier.
    fn start(&mut self, now: SimTime, carriers: &[bool]);

    /// A packet from the neighbour on an interface.
    fn receive(&mut self, now: SimTime, interface: usize, tlvs: &[Tlv]);

    /// The daemon sees the carrier of a port come or go.
    fn carrier(&mut self, now: SimTime, port: usize, present: bool);

    /// Does what is due. Returns when the next thing is.
    fn poll(&mut self, now: SimTime) -> SimTime;

    /// What has been wanted since the last call.
    fn take(&mut self) -> Output;

    /// It ends, and gives its draws back.
    fn stop(self: Box<Self>) -> Stream;
}

/// Where a packet goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Target {
    /// To all neighbours on a port.
    Port(usize),
    /// To the neighbour on an interface.
    Neighbour(usize),
}

/// A route in the forwarding table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Way {
    /// By an interface.
    Via(usize),
    /// None, but an entry that says so is kept for a while, so that no less specific route takes the
    /// packets (§2.8).
    Unreachable,
}

impl Way {
    pub(super) fn interface(self) -> Option<usize> {
        match self {
            Self::Via(interface) => Some(interface),
            Self::Unreachable => None,
        }
    }
}

/// What a daemon wants done.
#[derive(Debug, Default)]
pub(super) struct Output {
    pub(super) packets: Vec<(Target, Arc<[u8]>)>,
    /// The route to a router from now on, or that there is none.
    pub(super) routes: Vec<(NodeId, Option<Way>)>,
    /// Neighbours that were lost.
    pub(super) lost: u64,
}

impl Output {
    /// The route to a router is now this one; what is already in use is not wanted again.
    pub(super) fn follow(
        &mut self,
        in_use: &mut BTreeMap<NodeId, Way>,
        exit: NodeId,
        new: Option<Way>,
    ) {
        let old = match new {
            Some(way) => in_use.insert(exit, way),
            None => in_use.remove(&exit),
        };
        if old != new {
            self.routes.push((exit, new));
        }
    }
}

/// A wire, or a radio with all neighbours in its range.
#[derive(Clone, Debug)]
pub(super) struct Port {
    pub(super) radio: Option<u8>,
    /// The router's interfaces of this port: one for each neighbour.
    pub(super) interfaces: Vec<usize>,
    pub(super) is_wireless: bool,
    pub(super) rxcost: u16,
}

/// The router at the other end of each interface, and the port of each.
#[derive(Clone, Debug, Default)]
pub(super) struct Links {
    pub(super) peers: Vec<NodeId>,
    pub(super) ports: Vec<usize>,
}

/// TLVs that wait to be sent in one packet. The origin and the next hop of updates are written once
/// (§4.5).
#[derive(Debug, Default)]
pub(super) struct Packer {
    tlvs: Vec<Tlv>,
    bytes: usize,
    id: Option<u64>,
    has_next_hop: bool,
    full: Vec<Arc<[u8]>>,
}

impl Packer {
    pub(super) fn is_empty(&self) -> bool {
        self.tlvs.is_empty() && self.full.is_empty()
    }

    pub(super) fn has_hello(&self) -> bool {
        self.tlvs.iter().any(|tlv| matches!(tlv, Tlv::Hello { .. }))
    }

    pub(super) fn push(&mut self, tlv: Tlv) {
        if self.bytes + tlv.bytes() > MOST_BYTES {
            self.close();
        }
        if matches!(tlv, Tlv::RetractAll { .. }) {
            self.id = None;
        }
        self.bytes += tlv.bytes();
        self.tlvs.push(tlv);
    }

    /// Appends an update of a route that comes from `id`, by the router `node`.
    pub(super) fn push_update(&mut self, node: NodeId, id: u64, update: Tlv) {
        let next_hop = Tlv::NextHop(node);
        let most = next_hop.bytes() + Tlv::RouterId(id).bytes() + update.bytes();
        if self.bytes + most > MOST_BYTES {
            self.close();
        }
        if !self.has_next_hop {
            self.push(next_hop);
            self.has_next_hop = true;
        }
        if self.id != Some(id) {
            self.push(Tlv::RouterId(id));
            self.id = Some(id);
        }
        self.push(update);
    }

    fn close(&mut self) {
        let tlvs = std::mem::take(&mut self.tlvs);
        if !tlvs.is_empty() {
            self.full.push(message::encode(&tlvs));
        }
        (self.bytes, self.id, self.has_next_hop) = (0, None, false);
    }

    /// All packets; timestamps of HELLOs are set to `now`.
    pub(super) fn take(&mut self, now: SimTime) -> Vec<Arc<[u8]>> {
        for tlv in &mut self.tlvs {
            if let Tlv::Hello { sent_us, .. } = tlv {
                *sent_us = sent_us.map(|_| micros(now));
            }
        }
        self.close();
        std::mem::take(&mut self.full)
    }

    pub(super) fn clear(&mut self) {
        *self = Self::default();
    }
}

/// Whether a sequence number is newer than another (§3.2.1).
pub(super) fn is_newer(a: u16, b: u16) -> bool {
    (a.wrapping_sub(b) as i16) > 0
}

/// The clock of timestamps.
pub(super) fn micros(now: SimTime) -> u32 {
    (now.as_ps() / 1_000_000) as u32
}

/// An interval as it is announced: in hundredths of a second, rounded up.
pub(super) fn centiseconds(interval: Duration) -> u16 {
    interval.as_ps().div_ceil(10_000_000_000).min(0xffff) as u16
}

/// An announced interval.
pub(super) fn interval(centiseconds: u16) -> Duration {
    Duration::from_millis(u64::from(centiseconds) * 10)
}
