//! A medium for tests of routing.

use backlane_engine::{EventQueue, Streams};
use backlane_net::testing::{Hub, HubConfig};
use backlane_net::{Event, MediumId, Network, QueueConfig, QueueLimit};
use backlane_units::{Duration, Rate};

pub const RATE: Rate = Rate::from_bps(10_000_000);
/// Preamble, interframe spaces, acknowledgment.
const OVERHEAD: Duration = Duration::from_micros(300);

/// Joins routers over the first medium. Links: two nodes, and the probabilities of delivery in
/// both directions.
pub fn hub(
    network: &mut Network,
    events: &mut EventQueue<Event>,
    links: &[(u32, u32, [f64; 2])],
    streams: &Streams,
) -> Hub {
    let config = HubConfig {
        rate: RATE,
        frame: |bytes| OVERHEAD + RATE.transmission_time(u64::from(bytes)),
        attempts: 7,
        queue: QueueConfig::DropTail(QueueLimit::Packets(50)),
    };
    let draws = streams.stream("ether", "loss");
    Hub::connect(network, events, MediumId(0), links, config, draws)
}
