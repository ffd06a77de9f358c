//! Interfaces in OLSR's sense: a wire, or a radio with all the neighbours in its range.

use std::sync::Arc;

use backlane_net::{Context, Interface};

/// HELLOs and flooded messages travel one hop at a time (RFC 3626 §3.4 has a TTL in the message).
const IP_TTL: u8 = 1;

/// One wire, or one radio.
#[derive(Debug)]
pub(super) struct Port {
    radio: Option<u8>,
    /// The router's interfaces of this port: one for each neighbour.
    pub(super) interfaces: Vec<usize>,
    /// The packet sequence number (RFC 3626 §3.3).
    sequence: u16,
}

impl Port {
    /// The number for the next packet.
    pub(super) fn next_sequence(&mut self) -> u16 {
        let sequence = self.sequence;
        self.sequence = sequence.wrapping_add(1);
        sequence
    }

    /// Sends a packet to all neighbours on the port.
    pub(super) fn send(&self, context: &mut Context<'_>, packet: Vec<u8>) {
        let packet = Arc::from(packet);
        match self.radio {
            Some(radio) => context.broadcast_over(radio, IP_TTL, packet),
            None => context.send_message(self.interfaces[0], packet),
        }
    }
}

/// The ports of a router's interfaces, in the order of the first of each; and the port of each
/// interface.
pub(super) fn of(interfaces: &[Interface]) -> (Vec<Port>, Vec<usize>) {
    let mut ports: Vec<Port> = Vec::new();
    let mut by_interface = Vec::with_capacity(interfaces.len());
    for (interface, Interface { radio, .. }) in interfaces.iter().enumerate() {
        let mut known = ports.iter();
        let port = known
            .position(|port| radio.is_some() && port.radio == *radio)
            .unwrap_or_else(|| {
                ports.push(Port {
                    radio: *radio,
                    interfaces: Vec::new(),
                    sequence: 0,
                });
                ports.len() - 1
            });
        ports[port].interfaces.push(interface);
        by_interface.push(port);
    }
    (ports, by_interface)
}
