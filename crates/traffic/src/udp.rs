//! Loads over UDP: constant rate, and on/off.

use backlane_engine::{EventQueue, Stream, TimerId};
use backlane_net::packet::{INITIAL_TTL, IPV4_HEADER_BYTES, UDP_HEADER_BYTES};
use backlane_net::{Ecn, Event, FlowId, Network, Packet};
use backlane_units::{Duration, Rate, SimTime};

use crate::spec::FlowSpec;

/// A load over UDP.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UdpConfig {
    /// Rate of the payload while the source is on.
    pub rate: Rate,
    /// Payload of a packet, in bytes.
    pub packet_bytes: u32,
    /// Means of the exponential times on and off; `None` is always on.
    pub on_off: Option<(Duration, Duration)>,
}

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
        }
    }

    /// Whether everything was sent.
    pub fn exhausted(&self) -> bool {
        self.bytes_left == Some(0)
    }

    /// The timer fired: sends one packet and arms the timer for the next.
    pub fn emit(
        &mut self,
        network: &mut Network,
        events: &mut EventQueue<Event>,
        timer: TimerId,
        id: u32,
        spec: &FlowSpec,
    ) {
        let now = events.now();
        if spec.stop.is_some_and(|stop| now >= stop) || self.exhausted() {
            return;
        }
        if let Some((on, _)) = self.config.on_off
            && self.packets_sent == 0
        {
            self.on_until = now + self.period(on);
        }
        let payload = u64::from(self.config.packet_bytes).min(self.bytes_left.unwrap_or(u64::MAX));
        if let Some(left) = &mut self.bytes_left {
            *left -= payload;
        }
        network.send(
            events,
            Packet {
                flow: FlowId(id),
                reverse: false,
                ttl: INITIAL_TTL,
                hops: 0,
                ecn: Ecn::NotCapable,
                size_bytes: payload as u32 + UDP_HEADER_BYTES + IPV4_HEADER_BYTES,
                source: spec.source,
                destination: spec.destination,
                exit: network.exit_of(spec.destination),
                previous: spec.source,
                path: 0,
                sequence: self.packets_sent,
                queued_at: now,
                message: None,
            },
        );
        self.packets_sent += 1;
        let mut next = now + self.gap;
        if let Some((on, off)) = self.config.on_off
            && next >= self.on_until
        {
            next = self.on_until.max(now) + self.period(off);
            self.on_until = next + self.period(on);
        }
        events.set(timer, next);
    }

    fn period(&mut self, mean: Duration) -> Duration {
        Duration::from_secs_f64(self.periods.exponential(mean.as_secs_f64()))
    }
}
