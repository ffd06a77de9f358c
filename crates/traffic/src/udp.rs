//! Flows over UDP, timed by a source or by flow control.

use backlane_engine::TimerId;
use backlane_net::packet::{IPV4_HEADER_BYTES, UDP_HEADER_BYTES};
use backlane_net::{FlowId, HostContext, Packet};
use backlane_units::{Duration, SimTime};

use crate::source::{Emission, Source};
use crate::spec::FlowSpec;

/// A running UDP flow.
#[derive(Debug)]
pub struct UdpFlow {
    source: Box<dyn Source>,
    /// Payload of a packet that flow control grants, in bytes.
    granted_bytes: u32,
    /// The packet for which the timer is set; `None` before the start and after the source has
    /// ended.
    pending: Option<Emission>,
    /// Packets sent.
    pub packets_sent: u64,
    bytes_left: Option<u64>,
    has_ended: bool,
    /// Packets granted by flow control and not yet sent, including a fraction.
    credit_pkts: f64,
}

impl UdpFlow {
    /// A flow that starts when [`UdpFlow::start`] is called. `granted_bytes` is the payload of a
    /// packet under flow control.
    pub fn new(source: Box<dyn Source>, granted_bytes: u32, size_bytes: Option<u64>) -> Self {
        Self {
            source,
            granted_bytes,
            pending: None,
            packets_sent: 0,
            bytes_left: size_bytes,
            has_ended: false,
            credit_pkts: 0.0,
        }
    }

    /// Whether all bytes were sent.
    pub fn exhausted(&self) -> bool {
        self.has_ended || self.bytes_left == Some(0)
    }

    /// Whether its source has ended before the flow's bytes.
    pub(crate) fn is_cut_short(&self) -> bool {
        self.has_ended && self.bytes_left.is_some_and(|bytes| bytes > 0)
    }

    /// Whether it has sent all bytes or reached its stop time.
    pub(crate) fn is_over(&self, now: SimTime, spec: &FlowSpec) -> bool {
        self.exhausted() || spec.stop.is_some_and(|stop| now >= stop)
    }

    /// The timer fired at a new slot, in which flow control grants `pkts`: sends the granted whole
    /// packets and arms the timer for the next slot.
    pub(crate) fn emit_slot(
        &mut self,
        context: &mut HostContext<'_>,
        timer: TimerId,
        (id, spec): (u32, &FlowSpec),
        (pkts, slot): (f64, Duration),
    ) {
        self.credit_pkts += pkts;
        while self.credit_pkts >= 1.0 && !self.is_over(context.now(), spec) {
            self.credit_pkts -= 1.0;
            self.send(context, id, spec, self.granted_bytes);
        }
        if !self.is_over(context.now(), spec) {
            context.set_timer(timer, context.now() + slot);
        }
    }

    /// The flow starts: sends the first packet, or arms the timer for it.
    pub fn start(
        &mut self,
        context: &mut HostContext<'_>,
        timer: TimerId,
        id: u32,
        spec: &FlowSpec,
    ) {
        self.ask(context.now());
        match self.pending {
            Some(first) if first.after > Duration::ZERO => self.arm(context, timer),
            _ => self.emit(context, timer, id, spec),
        }
    }

    /// The timer fired: sends a packet and arms the timer for the next.
    pub fn emit(
        &mut self,
        context: &mut HostContext<'_>,
        timer: TimerId,
        id: u32,
        spec: &FlowSpec,
    ) {
        if self.is_over(context.now(), spec) {
            return;
        }
        if let Some(emission) = self.pending {
            self.send(context, id, spec, emission.payload_bytes);
            self.ask(context.now());
            self.arm(context, timer);
        }
    }

    /// Asks the source for the next packet.
    fn ask(&mut self, now: SimTime) {
        self.pending = self.source.next(now);
        self.has_ended = self.pending.is_none();
    }

    /// Arms the timer for the next packet.
    fn arm(&mut self, context: &mut HostContext<'_>, timer: TimerId) {
        if let Some(next) = self.pending {
            context.set_timer(timer, context.now().saturating_add(next.after));
        }
    }

    fn send(
        &mut self,
        context: &mut HostContext<'_>,
        id: u32,
        spec: &FlowSpec,
        payload_bytes: u32,
    ) {
        let payload = u64::from(payload_bytes).min(self.bytes_left.unwrap_or(u64::MAX));
        if let Some(left) = &mut self.bytes_left {
            *left -= payload;
        }
        let size_bytes = payload as u32 + UDP_HEADER_BYTES + IPV4_HEADER_BYTES;
        context.send(Packet {
            sequence: self.packets_sent,
            ..Packet::new(FlowId(id), spec.source, spec.destination, size_bytes)
        });
        self.packets_sent += 1;
    }
}
