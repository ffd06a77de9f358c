//! Properties of a routing protocol for the estimate.

use backlane_param::Params;
use backlane_routing::aodv;
use backlane_routing::backpressure::tcp_aware::TcpAwareConfig;
use backlane_routing::backpressure::{self, BpConfig, ClassicConfig, SingleQueueConfig};
use backlane_routing::{babel, batman, multipath, olsr, ospf};
use backlane_scenario::Scenario;

/// The protocols that the estimate knows.
pub(super) enum Routing {
    ShortestPath,
    Olsr(olsr::Config),
    Ospf(ospf::Config),
    Babel(babel::Config),
    Batman(batman::Config),
    Aodv(aodv::Settings),
    SingleQueue(SingleQueueConfig),
    Classic(ClassicConfig),
    BpMr(backpressure::Config),
    TcpAware(TcpAwareConfig),
    L25r(multipath::Config),
    /// A protocol of the program: decides for each packet and sends no messages.
    Other,
}

impl Routing {
    pub(super) fn of(scenario: &Scenario) -> Self {
        Self::read(scenario).unwrap_or(Self::Other)
    }

    /// Whether the packets between two nodes take several paths.
    pub(super) fn spreads(&self) -> bool {
        match self {
            Self::L25r(_) => true,
            Self::Ospf(ospf) => ospf.paths > 1,
            _ => false,
        }
    }

    fn read(scenario: &Scenario) -> Option<Self> {
        let values = &scenario.routing.values;
        Some(match scenario.routing.protocol.as_str() {
            "shortest-path" => Self::ShortestPath,
            "olsr" => Self::Olsr(Params::read(values).ok()?),
            "ospf" => Self::Ospf(Params::read(values).ok()?),
            "babel" => Self::Babel(Params::read(values).ok()?),
            "batman" => Self::Batman(Params::read(values).ok()?),
            "aodv" => Self::Aodv(Params::read(values).ok()?),
            "bp" => Self::SingleQueue(BpConfig::read(values).ok()?.node),
            "bs" => Self::SingleQueue(Params::read(values).ok()?),
            "bp-classic" => Self::Classic(Params::read(values).ok()?),
            "bp-mr" => Self::BpMr(Params::read(values).ok()?),
            "tcp-aware-bp" => Self::TcpAware(Params::read(values).ok()?),
            "l2.5r" => Self::L25r(Params::read(values).ok()?),
            _ => return None,
        })
    }
}
