//! The effects that take place after a hook: requests to media, indications to routers, and
//! notices to the application.

use super::Simulation;
use crate::capture::Port;
use crate::host::Application;
use crate::link::RadioLink;
use crate::medium::mailbox::{Deferred, MediumIndication, MediumRequest};
use crate::packet::{FlowId, LinkId, NodeId, PacketId};
use crate::router::{Context, Router};

impl<A: Application> Simulation<A> {
    /// Works off the mailbox, in order; each effect may add more.
    pub(super) fn dispatch_deferred(&mut self) {
        while let Some(deferred) = self.network.mailbox.pop() {
            self.flush_capture();
            match deferred {
                Deferred::Request(request) => self.dispatch_request(request),
                Deferred::Indication(indication) => self.dispatch_indication(indication),
                Deferred::SourceDrop => {
                    if let Some(packet) = self.network.mailbox.pop_source_drop() {
                        let (application, mut context) = self.host();
                        application.on_source_drop(&mut context, &packet);
                        self.flush_outbox();
                    }
                }
            }
        }
        self.flush_capture();
    }

    fn dispatch_request(&mut self, request: MediumRequest) {
        match request {
            MediumRequest::Transmit(link, id) => {
                let Some(ends) = self.radio_link(link) else {
                    return;
                };
                let (node, radio) = (ends.near.0, ends.radio);
                self.network.packets[id].queued_at = self.events.now();
                self.network.mailbox.hand_over(node, radio);
                self.with_medium(ends.medium, |medium, context| {
                    medium.on_frame(context, link, id);
                });
                self.network.mailbox.indicate_room(node, radio);
            }
            MediumRequest::Broadcast(node, radio, id) => {
                let Some(medium) = self.network.mailbox.medium_of(node, radio) else {
                    return;
                };
                self.network.packets[id].queued_at = self.events.now();
                self.network.mailbox.hand_over(node, radio);
                self.with_medium(medium, |medium, context| {
                    medium.on_broadcast(context, node, radio, id);
                });
                self.network.mailbox.indicate_room(node, radio);
            }
            MediumRequest::Withdraw(link) => {
                if let Some(ends) = self.radio_link(link) {
                    self.with_medium(ends.medium, |medium, context| {
                        medium.withdraw(context, link);
                    });
                }
            }
            MediumRequest::SetLinkUp(link, up) => {
                if let Some(ends) = self.radio_link(link) {
                    self.with_medium(ends.medium, |medium, context| {
                        medium.set_link_up(context, link, up);
                    });
                }
            }
        }
    }

    fn dispatch_indication(&mut self, indication: MediumIndication) {
        match indication {
            MediumIndication::Delivered(node, id) => {
                self.capture_received(node, Port::Medium, id);
                self.arrive_at(node, id);
            }
            MediumIndication::Received(link, id) => {
                let Some(ends) = self.radio_link(link) else {
                    return;
                };
                let (node, interface) = ends.far;
                if !self.take_message(node, Some(usize::from(interface)), id) {
                    self.arrive_at(node, id);
                }
            }
            MediumIndication::Overheard(link, ttl, message) => {
                self.with_router_of(
                    link,
                    |ends| ends.far,
                    |router, context, interface| {
                        router.on_message(context, interface, ttl, &message);
                    },
                );
            }
            MediumIndication::TxFailed(link, id) => {
                self.take_off_message(id);
                self.with_router_of(
                    link,
                    |ends| ends.near,
                    |router, context, interface| {
                        router.on_tx_failed(context, interface, id);
                    },
                );
            }
            MediumIndication::Withdrawn(link, id) => {
                self.take_off_message(id);
                self.with_router_of(
                    link,
                    |ends| ends.near,
                    |router, context, interface| {
                        router.on_withdrawn(context, interface, id);
                    },
                );
            }
            MediumIndication::TxStatus {
                link,
                attempts,
                delivered,
                rate,
            } => self.with_router_of(
                link,
                |ends| ends.near,
                |router, context, interface| {
                    router.on_tx_status(context, interface, attempts, delivered, rate);
                },
            ),
            MediumIndication::RadioReady(node, radio) => {
                if let Some(interface) = self.network.mailbox.take_ready(node, radio) {
                    self.with_router(node, |router, context| {
                        router.on_interface_ready(context, interface);
                    });
                }
            }
        }
    }

    /// Takes the message off a packet of data that its router gets back.
    fn take_off_message(&mut self, id: PacketId) {
        let packet = &mut self.network.packets[id];
        if packet.flow != FlowId::NONE
            && let Some(message) = packet.message.take()
        {
            packet.size_bytes -= message.len() as u32;
        }
    }

    fn radio_link(&self, link: LinkId) -> Option<RadioLink> {
        self.network.links()[link.index()].radio_link()
    }

    /// Calls the router at one end of a link over a medium.
    fn with_router_of(
        &mut self,
        link: LinkId,
        end: impl FnOnce(RadioLink) -> (NodeId, u16),
        hook: impl FnOnce(&mut dyn Router, &mut Context<'_>, usize),
    ) {
        if let Some(ends) = self.radio_link(link) {
            let (node, interface) = end(ends);
            self.with_router(node, |router, context| {
                hook(router, context, usize::from(interface));
            });
        }
    }
}
