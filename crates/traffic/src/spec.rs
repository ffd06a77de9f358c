//! The specification of a flow.

use std::sync::Arc;

use backlane_engine::Stream;
use backlane_net::NodeId;
use backlane_units::{Duration, Rate, SimTime};

use crate::coded::CodingConfig;
use crate::source::{Constant, Emission, Source, SourceFactory};
use crate::utility::{Demand, Utility};

/// A flow before it runs.
#[derive(Clone, Debug)]
pub struct FlowSpec {
    /// The source of the data.
    pub source: NodeId,
    /// The destination of the data.
    pub destination: NodeId,
    /// Bytes of application data; `None` is endless.
    pub size_bytes: Option<u64>,
    /// When it starts.
    pub start: Start,
    /// When the source stops; `None` is never. A TCP source closes the connection: data already
    /// sent is still delivered, and no further data is sent.
    pub stop: Option<SimTime>,
    /// What carries it.
    pub transport: TransportSpec,
}

/// When a flow starts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Start {
    /// At this time.
    At(SimTime),
    /// At this delay after the previous flow in the list has finished or failed. It does not start
    /// at or after its `stop`, and then its successors do not start either.
    AfterPrevious(Duration),
}

/// The transport of a flow.
#[derive(Clone, Debug)]
pub enum TransportSpec {
    /// TCP; the source of the data opens the connection, as ns-3's `BulkSendApplication` does.
    Tcp(backlane_tcp::Config),
    /// TCP over network coding, from the first router of the source on.
    CodedTcp(backlane_tcp::Config, CodingConfig),
    /// UDP at a constant rate, on and off, or controlled.
    Udp(UdpConfig),
    /// UDP from a source that the program provides.
    Source(Arc<dyn SourceFactory>),
    /// What the two hosts send each other from outside the simulation ([`Flows::inject`]).
    ///
    /// [`Flows::inject`]: crate::Flows::inject
    External,
}

/// A load over UDP.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct UdpConfig {
    /// Rate of the payload while the source is on; with `control`, the maximum total rate of all
    /// controlled loads of a node (the largest of their values).
    pub rate: Rate,
    /// Payload of a packet, in bytes.
    pub packet_bytes: u32,
    /// Means of the exponential on and off times; `None` is always on.
    pub on_off: Option<(Duration, Duration)>,
    /// Flow control, if any.
    pub control: Option<Utility>,
}

impl UdpConfig {
    /// Its source; `periods` draws the on and off times.
    pub(crate) fn source(&self, periods: Stream) -> Box<dyn Source> {
        let after = self.rate.transmission_time(u64::from(self.packet_bytes));
        Box::new(Constant {
            emission: Emission {
                after,
                payload_bytes: self.packet_bytes,
            },
            on_off: self.on_off.map(|means| (means, periods)),
            on_left: None,
        })
    }

    /// Its term in the source's choice of rates, for this backlog.
    pub(crate) fn demand(&self, backlog_pkts: u32) -> Option<Demand> {
        let control = self.control?;
        Some(Demand {
            m: control.m,
            backlog_pkts,
            unit_bps: f64::from(8 * self.packet_bytes) / control.slot.as_secs_f64(),
        })
    }
}
