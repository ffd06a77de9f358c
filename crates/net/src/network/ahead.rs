//! How far a host may run ahead of its network.

use super::Network;
use crate::packet::NodeId;
use backlane_units::SimTime;

impl Network {
    /// The earliest time at which a packet can reach `host`, if nothing happens in the network and
    /// nothing enters it before `next`: that of the first packet on a wire to it, or `next` and the
    /// delay of such a wire. Over a medium, and over wires that do not keep the time of packets, it is
    /// `next`.
    pub fn earliest_delivery(&self, host: NodeId, next: SimTime) -> SimTime {
        if self.medium_of(host).is_some() {
            return next;
        }
        let interfaces = self.mesh_interfaces(host).iter();
        let incoming = interfaces.map(|interface| interface.incoming);
        let incoming = incoming.chain(self.downlink(host));
        incoming
            .map(|link| {
                let link = self.link(link);
                if link.is_over_medium() || !link.keeps_time() {
                    return next;
                }
                let entering = next.saturating_add(link.delay());
                link.first_arrival()
                    .map_or(entering, |first| first.min(entering))
            })
            .min()
            .unwrap_or(SimTime::MAX)
    }
}
