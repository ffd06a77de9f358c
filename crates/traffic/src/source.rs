//! Sources over UDP: the times and sizes of a flow's packets.

use std::fmt;

use backlane_engine::Stream;
use backlane_net::FlowId;
use backlane_units::{Duration, SimTime};

/// A packet that a source sends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Emission {
    /// Time since the previous packet; since the start of the flow for the first.
    pub after: Duration,
    /// Payload in bytes.
    pub payload_bytes: u32,
}

/// A source over UDP.
pub trait Source: fmt::Debug + Send {
    /// The next packet; `None` ends the flow. It is called at the start of the flow and whenever a
    /// packet has been sent.
    fn next(&mut self, now: SimTime) -> Option<Emission>;
}

/// Makes the sources of a group of flows.
pub trait SourceFactory: fmt::Debug + Send + Sync {
    /// The source of a flow, with its own random stream.
    fn build(&self, flow: FlowId, stream: Stream) -> Box<dyn Source>;
}

/// Packets of one size at a constant rate, either always or during exponential on times, with
/// exponential off times between them.
#[derive(Debug)]
pub(crate) struct Constant {
    pub emission: Emission,
    /// Means of the on and off times, and their random stream.
    pub on_off: Option<((Duration, Duration), Stream)>,
    /// Time from the last packet to the end of the on time; `None` before the first packet.
    pub on_left: Option<Duration>,
}

fn period(stream: &mut Stream, mean: Duration) -> Duration {
    Duration::from_secs_f64(stream.exponential(mean.as_secs_f64()))
}

impl Source for Constant {
    fn next(&mut self, _now: SimTime) -> Option<Emission> {
        let gap = self.emission.after;
        let after = match (self.on_left, &mut self.on_off) {
            (None, on_off) => {
                let on = on_off.as_mut().map(|((on, _), stream)| period(stream, *on));
                self.on_left = Some(on.unwrap_or_default());
                Duration::ZERO
            }
            (Some(_), None) => gap,
            (Some(left), Some(((on, off), stream))) => {
                let silence = if gap < left {
                    None
                } else {
                    Some(period(stream, *off))
                };
                self.on_left = Some(match silence {
                    None => left.saturating_sub(gap),
                    Some(_) => period(stream, *on),
                });
                silence.map_or(gap, |off| left.saturating_add(off))
            }
        };
        Some(Emission {
            after,
            ..self.emission
        })
    }
}
