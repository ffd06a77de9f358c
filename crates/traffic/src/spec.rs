//! What a flow is asked to do.

use std::rc::Rc;

use backlane_engine::Stream;
use backlane_net::NodeId;
use backlane_units::{Duration, Rate, SimTime};

use crate::coded::CodingConfig;
use crate::source::{Constant, Emission, Source, SourceFactory};
use crate::utility::{Demand, Utility};

/// A flow before it runs.
#[derive(Clone, Debug)]
pub struct FlowSpec {
    /// Where the data comes from.
    pub source: NodeId,
    /// Where it goes.
    pub destination: NodeId,
    /// Bytes of application data; `None` is endless.
    pub size_bytes: Option<u64>,
    /// When it starts.
    pub start: Start,
    /// When the source falls silent; `None` is never. A TCP source closes: what it has sent is
    /// still brought over, what it has not is not sent any more.
    pub stop: Option<SimTime>,
    /// What carries it.
    pub transport: TransportSpec,
}

/// When a flow starts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Start {
    /// At this time.
    At(SimTime),
    /// So long after the flow before it in the list has ended: finished, or given up. It does
    /// not start at or after its `stop`, and then neither do those that follow it.
    AfterPrevious(Duration),
}

/// What carries a flow.
#[derive(Clone, Debug)]
pub enum TransportSpec {
    /// TCP; the source of the data opens the connection, as ns-3's `BulkSendApplication` does.
    Tcp(backlane_tcp::Config),
    /// TCP over network coding, from the first router of the source on.
    CodedTcp(backlane_tcp::Config, CodingConfig),
    /// UDP at a constant rate, on and off, or controlled.
    Udp(UdpConfig),
    /// UDP from a source that the program brings.
    Source(Rc<dyn SourceFactory>),
}

/// A load over UDP.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct UdpConfig {
    /// Rate of the payload while the source is on; with `control`, the most that all controlled
    /// loads of a node send together (of different ones, the largest counts).
    pub rate: Rate,
    /// Payload of a packet, in bytes.
    pub packet_bytes: u32,
    /// Means of the exponential times on and off; `None` is always on.
    pub on_off: Option<(Duration, Duration)>,
    /// Flow control; `None` listens to nobody.
    pub control: Option<Utility>,
}

impl UdpConfig {
    /// Its source; `periods` draws the times on and off.
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

    /// What it asks for in its source's choice, while so much of it waits.
    pub(crate) fn demand(&self, backlog_pkts: u32) -> Option<Demand> {
        let control = self.control?;
        Some(Demand {
            m: control.m,
            backlog_pkts,
            unit_bps: f64::from(8 * self.packet_bytes) / control.slot.as_secs_f64(),
        })
    }
}
