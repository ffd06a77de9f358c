//! The ports of a node: a wire, or a radio with all neighbours in its range. Linux calls them hard
//! interfaces.

use std::sync::Arc;

use backlane_net::{Context, Interface, NodeId};
use backlane_units::Rate;

use super::message::Address;

/// One wire, or one radio.
#[derive(Debug)]
pub(super) struct Port {
    pub(super) address: Address,
    pub(super) radio: Option<u8>,
    /// The rate of a wire.
    pub(super) rate: Rate,
    /// The router's interfaces of this port: one for each neighbour.
    interfaces: Vec<usize>,
}

/// A frame to be sent.
#[derive(Debug)]
pub(super) struct Frame {
    pub(super) port: usize,
    /// The neighbour; `None` for all of them.
    pub(super) to: Option<Address>,
    pub(super) bytes: Vec<u8>,
}

/// The ports of a node. The first is the primary one: its address is the node's.
#[derive(Debug, Default)]
pub(super) struct Ports {
    pub(super) all: Vec<Port>,
    /// By interface.
    of: Vec<usize>,
    /// By interface: the address of the far end.
    peers: Vec<Address>,
}

impl Ports {
    pub(super) fn new(node: NodeId, interfaces: &[Interface]) -> Self {
        let mut ports = Self::default();
        for (number, interface) in interfaces.iter().enumerate() {
            let address = Address::here(node, number, interface);
            let mut known = ports.all.iter();
            let port = known
                .position(|port| port.address == address)
                .unwrap_or(ports.all.len());
            if port == ports.all.len() {
                ports.all.push(Port {
                    address,
                    radio: interface.radio,
                    rate: interface.rate,
                    interfaces: Vec::new(),
                });
            }
            ports.all[port].interfaces.push(number);
            ports.of.push(port);
            ports.peers.push(Address::there(interface));
        }
        ports
    }

    pub(super) fn len(&self) -> usize {
        self.all.len()
    }

    /// The port of an interface, and the address of the neighbour on it.
    pub(super) fn end(&self, interface: usize) -> (usize, Address) {
        (self.of[interface], self.peers[interface])
    }

    /// The interface to a neighbour on a port.
    pub(super) fn interface(&self, port: usize, to: Address) -> Option<usize> {
        let mut interfaces = self.all.get(port)?.interfaces.iter();
        interfaces
            .find(|interface| self.peers[**interface] == to)
            .copied()
    }

    /// The first interface to a node.
    pub(super) fn towards(&self, node: NodeId) -> Option<usize> {
        self.peers.iter().position(|peer| peer.node == node)
    }

    pub(super) fn send(&self, context: &mut Context<'_>, frame: Frame) {
        let bytes = Arc::from(frame.bytes);
        let Some(port) = self.all.get(frame.port) else {
            return;
        };
        if let Some(to) = frame.to {
            if let Some(interface) = self.interface(frame.port, to) {
                context.send_frame(interface, bytes);
            }
        } else if let Some(radio) = port.radio {
            context.broadcast_frame(radio, bytes);
        } else {
            context.send_frame(port.interfaces[0], bytes);
        }
    }
}
