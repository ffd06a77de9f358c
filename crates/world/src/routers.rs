//! Routing protocols by name: the values of `routing.protocol`, and the construction of routers.

use std::collections::BTreeMap;
use std::sync::Arc;

use backlane_engine::Interrupt;
use backlane_net::{NodeId, Router};
use backlane_param::{Params, Values};
use backlane_routing::aodv::{self, Aodv};
use backlane_routing::babel::{self, Babel};
use backlane_routing::backpressure::tcp_aware::{self, FlowLinks, TcpAware, TcpAwareConfig};
use backlane_routing::backpressure::{
    self, BpConfig, BpMr, Classic, ClassicConfig, Distance, PenaltyRule, QueueInfo, SingleQueue,
    SingleQueueConfig,
};
use backlane_routing::batman::{self, Batman};
use backlane_routing::explicit_paths::ExplicitPaths;
use backlane_routing::multipath::{self, L25r, Reach};
use backlane_routing::olsr::{self, Olsr};
use backlane_routing::ospf::{self, Ospf};
use backlane_routing::shortest_path::{self, ShortestPath, Tables};
use backlane_scenario::Declared;
use backlane_scenario::model::NodeKind;

use crate::capture::MessagePort;
use crate::error::{BuildError, Unbuilt};
use crate::guard::Guarded;
use crate::python_router::PythonRouting;
use crate::registry::{Registry, registered};
pub use crate::site::Site;
use crate::site::{NODES_PER_STEP, while_watched};

/// Makes the router of a node.
pub type MakeRouter<'a> = Box<dyn Fn(NodeId) -> Box<dyn Router> + 'a>;

type Make =
    dyn for<'a> Fn(&Values, Site<'a, '_, '_>) -> Result<MakeRouter<'a>, Unbuilt> + Send + Sync;

/// A routing protocol: its name, its keys and its routers.
pub struct Protocol {
    declared: Declared,
    name: &'static str,
    make: Box<Make>,
    /// Packets that its routers hand to a device ahead of the link, if they keep queues themselves.
    device_queue_pkts: fn(&Values) -> Option<u32>,
    port: MessagePort,
    /// Whether its routers learn of others only by messages and packets.
    is_local: fn(&Values) -> bool,
}

impl Protocol {
    /// The protocol `name`, whose keys are those of `C`. `make` is called once for each network.
    pub fn new<C: Params>(
        name: &'static str,
        make: impl for<'a> Fn(C, Site<'a, '_, '_>) -> Result<MakeRouter<'a>, Interrupt>
        + Send
        + Sync
        + 'static,
    ) -> Self {
        Self {
            declared: Declared::Word {
                section: "routing",
                variant: C::spec().variant(name),
            },
            name,
            make: Box::new(move |values, site| {
                let config = C::read(values).map_err(BuildError::from)?;
                Ok(make(config, site)?)
            }),
            device_queue_pkts: |_| None,
            port: MessagePort::Other,
            is_local: |_| true,
        }
    }

    /// Its routers keep their own queues and hand this many packets to a device ahead of the link.
    #[must_use]
    pub fn with_device_queue(mut self, pkts: fn(&Values) -> Option<u32>) -> Self {
        self.device_queue_pkts = pkts;
        self
    }

    /// A panic of its routers names the protocol and the simulated time.
    pub(crate) fn guarded(mut self) -> Self {
        let (name, make) = (self.name, self.make);
        self.make = Box::new(move |values, site| {
            let nodes = site.nodes;
            let make = make(values, site)?;
            Ok(Box::new(move |node| {
                let place = format!("router of {}", nodes[node.index()].id);
                Box::new(Guarded::new(name, place, || make(node)))
            }))
        });
        self
    }

    /// A protocol whose routers the program supplies for each run.
    fn supplied<C: Params>(name: &'static str) -> Self {
        let mut protocol = Self::new(name, |_: C, _| Err(Interrupt));
        protocol.make = Box::new(move |_, _| {
            let message = format!("the routers of protocol \"{name}\" are not in this program");
            Err(Unbuilt::Error(BuildError(message)))
        });
        protocol
    }

    fn local_if(mut self, is_local: fn(&Values) -> bool) -> Self {
        self.is_local = is_local;
        self
    }

    fn with_port(mut self, port: MessagePort) -> Self {
        self.port = port;
        self
    }
}

registered!(Protocol, "routing protocol");

/// The protocols of this program.
pub(crate) fn standard() -> Registry<Protocol> {
    Registry::from_iter([
        shortest_path(),
        olsr(),
        ospf(),
        babel(),
        batman(),
        aodv(),
        bp(),
        bs(),
        classic(),
        bp_mr(),
        tcp_aware(),
        l2_5r(),
        python(),
    ])
}

impl Registry<Protocol> {
    /// The protocol `name`: `supplied`, if it has this name.
    pub(crate) fn protocol<'a>(
        &'a self,
        name: &str,
        supplied: Option<&'a Protocol>,
    ) -> Result<&'a Protocol, BuildError> {
        let supplied = supplied.filter(|protocol| protocol.name == name);
        supplied.map_or_else(|| self.find(name), Ok)
    }
}

impl Protocol {
    pub(crate) fn make<'a>(
        &self,
        values: &Values,
        site: Site<'a, '_, '_>,
    ) -> Result<MakeRouter<'a>, Unbuilt> {
        (self.make)(values, site)
    }

    pub(crate) fn device_queue_pkts(&self, values: &Values) -> Option<u32> {
        (self.device_queue_pkts)(values)
    }

    pub(crate) fn is_local(&self, values: &Values) -> bool {
        (self.is_local)(values)
    }

    pub(crate) fn port(&self) -> MessagePort {
        self.port
    }
}

fn shortest_path() -> Protocol {
    Protocol::new("shortest-path", |config: shortest_path::Config, site| {
        let spray = config.spray.iter().filter_map(|name| site.node(&name.0));
        let (metric, spray) = (config.metric, spray.collect());
        let tables = Tables::new(site.network(), metric, &spray, site.paths(), site.watch)?;
        let ids = site.names().zip((0..).map(NodeId));
        let ids: BTreeMap<&str, NodeId> = ids.collect();
        let paths = config.explicit_paths.iter().filter_map(|path| {
            let nodes: Option<Vec<_>> = (path.nodes.iter())
                .map(|name| ids.get(name.0.as_str()).copied())
                .collect();
            Some((nodes?, path.weight))
        });
        let draws = site.streams("explicit paths");
        let key = |entry| draws(entry).next_u64();
        let explicit = ExplicitPaths::new(site.network(), config.spread, paths, key);
        let (tables, explicit) = (Arc::new(tables), Arc::new(explicit));
        Ok(Box::new(move |node| {
            let router = ShortestPath::new(node, tables.clone());
            Box::new(router.with_explicit_paths(explicit.clone()))
        }))
    })
}

fn olsr() -> Protocol {
    Protocol::new("olsr", |config: olsr::Config, site| {
        let jitter = site.streams("olsr");
        Ok(Box::new(move |node| {
            Box::new(Olsr::new(node, config, jitter(node)))
        }))
    })
    .with_port(MessagePort::Olsr)
}

fn ospf() -> Protocol {
    Protocol::new("ospf", |config: ospf::Config, site| {
        let costs = ospf::Costs::new(config.costs.iter().flat_map(|row| {
            let back = row.cost_back.unwrap_or(row.cost);
            site.directions(&row.link).zip([row.cost, back])
        }));
        let initial = match config.start {
            ospf::config::Start::Converged => ospf::Initial::new(site.network(), &config, &costs),
            ospf::config::Start::Cold => ospf::Initial::default(),
        };
        let (draws, spread) = (site.streams("ospf"), site.streams("spread"));
        let config = Arc::new(config);
        Ok(Box::new(move |node| {
            let (config, costs, initial) = (config.clone(), costs.clone(), initial.clone());
            let [draws, spread] = [draws(node), spread(node)];
            Box::new(Ospf::new(node, config, costs, initial, draws, spread))
        }))
    })
    .with_port(MessagePort::Ospf)
}

fn babel() -> Protocol {
    Protocol::new("babel", |config: babel::Config, site| {
        let (starts, daemons) = (site.streams("babel start"), site.streams("babel"));
        let config = Arc::new(config);
        Ok(Box::new(move |node| {
            Box::new(Babel::new(
                node,
                config.clone(),
                starts(node),
                daemons(node),
            ))
        }))
    })
    .with_port(MessagePort::Babel)
}

fn batman() -> Protocol {
    Protocol::new("batman", |config: batman::Config, site| {
        let names = batman::Names::new(site.network());
        let draws = site.streams("batman");
        Ok(Box::new(move |node| {
            Box::new(Batman::new(node, config, names.clone(), draws(node)))
        }))
    })
}

fn aodv() -> Protocol {
    Protocol::new("aodv", |settings: aodv::Settings, site| {
        let network = site.network();
        let routers = (0..network.node_count() as u32).map(NodeId);
        let mut interfaces = routers.flat_map(|node| network.mesh_interfaces(node));
        let config = settings.config(interfaces.any(|interface| interface.radio.is_none()));
        let jitter = site.streams("aodv");
        Ok(Box::new(move |node| {
            Box::new(Aodv::new(node, config, jitter(node)))
        }))
    })
    .with_port(MessagePort::Aodv)
}

/// Whether backpressure learns of its neighbours' queues by HELLOs.
fn is_told(queue_info: QueueInfo) -> bool {
    queue_info != QueueInfo::Oracle
}

fn single_queue<'a>(
    penalty: PenaltyRule,
    config: SingleQueueConfig,
    mut site: Site<'a, '_, '_>,
) -> Result<MakeRouter<'a>, Interrupt> {
    let shared = site.backpressure(config.distance, |_, _| 1)?;
    let streams = site.ties_and_hellos();
    Ok(Box::new(move |node| {
        let [ties, hellos] = streams(node);
        let shared = shared.clone();
        Box::new(SingleQueue::new(
            node, penalty, config, shared, ties, hellos,
        ))
    }))
}

fn bp() -> Protocol {
    Protocol::new("bp", |config: BpConfig, site| {
        single_queue(config.penalty.into(), config.node, site)
    })
    .with_device_queue(|values| Some(BpConfig::read(values).ok()?.node.device_queue_pkts))
    .local_if(|values| BpConfig::read(values).is_ok_and(|config| is_told(config.node.queue_info)))
}

fn bs() -> Protocol {
    Protocol::new("bs", |config: SingleQueueConfig, site| {
        single_queue(PenaltyRule::Sparse, config, site)
    })
    .with_device_queue(|values| Some(SingleQueueConfig::read(values).ok()?.device_queue_pkts))
    .local_if(|values| {
        SingleQueueConfig::read(values).is_ok_and(|config| is_told(config.queue_info))
    })
}

fn classic() -> Protocol {
    Protocol::new("bp-classic", |config: ClassicConfig, mut site| {
        let shared = site.backpressure(Distance::Hops, |_, destinations| destinations)?;
        let streams = site.ties_and_hellos();
        Ok(Box::new(move |node| {
            let [ties, hellos] = streams(node);
            Box::new(Classic::new(node, config, shared.clone(), ties, hellos))
        }))
    })
    .with_device_queue(|values| Some(ClassicConfig::read(values).ok()?.device_queue_pkts))
    .local_if(|values| ClassicConfig::read(values).is_ok_and(|config| is_told(config.queue_info)))
}

fn bp_mr() -> Protocol {
    Protocol::new("bp-mr", |config: backpressure::Config, mut site| {
        let network = site.network();
        let interfaces = |node, _| network.mesh_interfaces(node).len();
        let shared = site.backpressure(Distance::Hops, interfaces)?;
        let streams = site.ties_and_hellos();
        let nodes = &site.scenario.nodes;
        Ok(Box::new(move |node| {
            let [ties, hellos] = streams(node);
            let is_gateway = nodes[node.index()].kind == NodeKind::Epc;
            let shared = shared.clone();
            Box::new(BpMr::new(node, config, is_gateway, shared, ties, hellos))
        }))
    })
    .with_device_queue(|values| Some(backpressure::Config::read(values).ok()?.device_queue_pkts))
    .local_if(|values| {
        backpressure::Config::read(values).is_ok_and(|config| is_told(config.queue_info))
    })
}

fn tcp_aware() -> Protocol {
    Protocol::new("tcp-aware-bp", |config: TcpAwareConfig, site| {
        let network = site.network();
        let (gateways, ends) = (site.gateways(), site.flow_ends());
        let exits: Vec<_> = ends.iter().map(|(.., exit)| *exit).collect();
        let steps = 1 + network.node_count() as u64 / NODES_PER_STEP;
        let links = while_watched(site.watch, steps, exits, |exits| {
            FlowLinks::all(network, &gateways, exits)
        })?;
        let links = Arc::new(match config.links {
            tcp_aware::Links::All => links,
            tcp_aware::Links::Downhill => links.downhill(),
            tcp_aware::Links::SimplePaths => {
                // A search tries up to a thousand steps for each link.
                let steps = network.links().len() as u64;
                while_watched(site.watch, steps, ends, |ends| {
                    links.on_simple_paths(network, ends)
                })?
            }
        });
        let reports = site.streams("hello");
        Ok(Box::new(move |node| {
            Box::new(TcpAware::new(config, links.clone(), reports(node)))
        }))
    })
    .with_device_queue(|_| Some(1))
}

fn python() -> Protocol {
    Protocol::supplied::<PythonRouting>("python")
}

fn l2_5r() -> Protocol {
    Protocol::new("l2.5r", |config: multipath::Config, site| {
        let network = site.network();
        let exits = site.paths().map(|(_, exit)| exit);
        let flow_rates = site.flow_rates();
        let steps = 1 + network.node_count() as u64 / NODES_PER_STEP;
        let gateways = site.gateways();
        let reach = while_watched(site.watch, steps, exits, |exits| {
            Reach::new(network, flow_rates, exits, &gateways)
        })?;
        let reach = Arc::new(reach);
        let (ties, jitter) = (site.streams("ties"), site.streams("hello"));
        Ok(Box::new(move |node| {
            let [ties, jitter] = [ties(node), jitter(node)];
            Box::new(L25r::new(node, config, reach.clone(), ties, jitter))
        }))
    })
}
