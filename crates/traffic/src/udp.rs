//! Loads over UDP: constant rate, on/off, and controlled by what waits at the source.

use backlane_engine::{Stream, TimerId};
use backlane_net::packet::{IPV4_HEADER_BYTES, UDP_HEADER_BYTES};
use backlane_net::{FlowId, HostContext, Packet};
use backlane_units::{Duration, SimTime};

use crate::spec::{FlowSpec, UdpConfig};

/// A UDP source that runs.
#[derive(Debug)]
pub struct UdpFlow {
    config: UdpConfig,
    /// Packets sent.
    pub packets_sent: u64,
    bytes_left: Option<u64>,
    gap: Duration,
    periods: Stream,
    on_until: SimTime,
    /// Packets, and parts of one, that flow control has granted and that were not sent yet.
    credit_pkts: f64,
}

impl UdpFlow {
    /// A source that starts when [`UdpFlow::emit`] is first called; `periods` draws the times
    /// on and off.
    pub fn new(config: UdpConfig, size_bytes: Option<u64>, periods: Stream) -> Self {
        let gap = config
            .rate
            .transmission_time(u64::from(config.packet_bytes));
        Self {
            config,
            packets_sent: 0,
            bytes_left: size_bytes,
            gap,
            periods,
            on_until: SimTime::ZERO,
            credit_pkts: 0.0,
        }
    }

    /// Whether everything was sent.
    pub fn exhausted(&self) -> bool {
        self.bytes_left == Some(0)
    }

    /// Whether it has sent everything, or was told to fall silent by now.
    pub(crate) fn is_over(&self, now: SimTime, spec: &FlowSpec) -> bool {
        self.exhausted() || spec.stop.is_some_and(|stop| now >= stop)
    }

    /// The timer fired at a new slot, in which flow control grants `pkts`: sends what is granted
    /// in whole packets and arms the timer for the next slot.
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
            self.send(context, id, spec);
        }
        if !self.is_over(context.now(), spec) {
            context.set_timer(timer, context.now() + slot);
        }
    }

    /// The timer fired: sends one packet and arms the timer for the next.
    pub fn emit(
        &mut self,
        context: &mut HostContext<'_>,
        timer: TimerId,
        id: u32,
        spec: &FlowSpec,
    ) {
        let now = context.now();
        if self.is_over(now, spec) {
            return;
        }
        if let Some((on, _)) = self.config.on_off
            && self.packets_sent == 0
        {
            self.on_until = now + self.period(on);
        }
        self.send(context, id, spec);
        let mut next = now + self.gap;
        if let Some((on, off)) = self.config.on_off
            && next >= self.on_until
        {
            next = self.on_until.max(now) + self.period(off);
            self.on_until = next + self.period(on);
        }
        context.set_timer(timer, next);
    }

    fn send(&mut self, context: &mut HostContext<'_>, id: u32, spec: &FlowSpec) {
        let payload = u64::from(self.config.packet_bytes).min(self.bytes_left.unwrap_or(u64::MAX));
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

    fn period(&mut self, mean: Duration) -> Duration {
        Duration::from_secs_f64(self.periods.exponential(mean.as_secs_f64()))
    }
}
