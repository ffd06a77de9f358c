//! The scenario's parameters as the configurations of the models.

use backlane_coding::Coefficients;
use backlane_net::queue::{CoDelConfig, FqCoDelConfig};
use backlane_net::{
    AtEnd, Capacity, NodeId, Opportunities, OpportunityTrace, QueueConfig, QueueLimit, RateStep,
    RateTrace,
};
use backlane_routing::backpressure::tcp_aware::{Counted, TcpAwareConfig, Threshold};
use backlane_routing::{aodv, backpressure, etx, multipath, olsr, shortest_path};
use backlane_scenario::model;
use backlane_traffic::CodingConfig;

pub(crate) fn coding(coding: &model::Coding) -> CodingConfig {
    CodingConfig {
        layer: backlane_coding::Config {
            max_generation: coding.max_generation,
            request_timer: coding.request_timer,
            coefficients: if coding.explicit_coefficients {
                Coefficients::Explicit
            } else {
                Coefficients::Seed
            },
        },
        payload: coding.payload,
    }
}

fn queue_limit(limit: model::QueueLimit) -> QueueLimit {
    match limit {
        model::QueueLimit::Bytes(bytes) => QueueLimit::Bytes(bytes.get()),
        model::QueueLimit::Packets(packets) => {
            QueueLimit::Packets(u32::try_from(packets).unwrap_or(u32::MAX))
        }
    }
}

pub(crate) fn at_end(at_end: model::AtEnd) -> AtEnd {
    match at_end {
        model::AtEnd::Repeat => AtEnd::Repeat,
        model::AtEnd::Hold => AtEnd::Hold,
        model::AtEnd::Stop => AtEnd::Stop,
    }
}

/// `None` where the trace has no order or no length, which the checks of a file exclude.
pub(crate) fn capacity(trace: &model::Capacity, at_end: model::AtEnd) -> Option<Capacity> {
    let at_end = self::at_end(at_end);
    match trace {
        model::Capacity::Opportunities(times) => {
            let times = times
                .iter()
                .map(|&(at_ms, count)| Opportunities { at_ms, count });
            OpportunityTrace::new(times.collect(), at_end).map(Capacity::Opportunities)
        }
        model::Capacity::Rates { steps, period } => {
            let steps = steps.iter().map(|&(from, bps)| RateStep { from, bps });
            RateTrace::new(steps.collect(), *period, at_end).map(Capacity::Rates)
        }
    }
}

pub(crate) fn queue(queue: model::QueueConfig) -> QueueConfig {
    let limit = queue_limit(queue.limit);
    let codel = |codel: model::CodelLimits| CoDelConfig {
        target: codel.target,
        interval: codel.interval,
        ecn: codel.ecn,
    };
    match queue.discipline {
        model::QueueDiscipline::DropTail => match queue.mark_above {
            None => QueueConfig::DropTail(limit),
            Some(threshold) => QueueConfig::Marking {
                limit,
                mark_above: queue_limit(threshold),
            },
        },
        model::QueueDiscipline::Codel(limits) => QueueConfig::CoDel(limit, codel(limits)),
        model::QueueDiscipline::FqCodel {
            codel: limits,
            quantum,
            flows,
        } => QueueConfig::FqCoDel(
            limit,
            FqCoDelConfig {
                codel: codel(limits),
                quantum_bytes: u32::try_from(quantum.get()).unwrap_or(u32::MAX),
                flows,
            },
        ),
    }
}

/// The configuration of a routing protocol.
pub(crate) enum Routing {
    ShortestPath(shortest_path::Config),
    Olsr(olsr::Config),
    /// With HELLOs or without; `None` does as the links need.
    Aodv(aodv::Config, Option<bool>),
    SingleQueue {
        config: backpressure::SingleQueueConfig,
        euclidean: bool,
    },
    Classic(backpressure::ClassicConfig),
    BpMr(backpressure::Config),
    TcpAware {
        config: TcpAwareConfig,
        /// Flows keep to the links on their simple paths.
        simple_paths: bool,
    },
    L25r(multipath::Config),
}

impl Routing {
    /// Packets handed to the device ahead of the link, where the protocol keeps its queues
    /// itself.
    pub(crate) fn device_queue_pkts(&self) -> Option<u32> {
        match self {
            Self::SingleQueue { config, .. } => Some(config.device_queue_pkts),
            Self::Classic(config) => Some(config.device_queue_pkts),
            Self::BpMr(config) => Some(config.device_queue_pkts),
            Self::TcpAware { .. } => Some(1),
            _ => None,
        }
    }
}

pub(crate) fn routing(routing: &model::Routing) -> Routing {
    match *routing {
        model::Routing::ShortestPath { metric, ref spray } => {
            Routing::ShortestPath(shortest_path::Config {
                metric: match metric {
                    model::Metric::Hops => shortest_path::Metric::Hops,
                    model::Metric::Delay => shortest_path::Metric::Delay,
                    model::Metric::InverseRate => shortest_path::Metric::InverseRate,
                },
                spray: spray.iter().map(|&node| NodeId(node as u32)).collect(),
            })
        }
        model::Routing::Olsr {
            hello_interval,
            tc_interval,
            jitter,
            neighbour_hold,
            topology_hold,
            etx,
            quality_window,
        } => Routing::Olsr(olsr::Config {
            hello_interval,
            tc_interval,
            jitter,
            neighbour_hold,
            topology_hold,
            metric: metric(etx),
            quality_window,
        }),
        model::Routing::Aodv(model) => Routing::Aodv(aodv(model), model.hello),
        model::Routing::SingleQueue(bp) => single_queue(bp),
        model::Routing::Classic(bp) => {
            let model::Classic {
                queue_limit_pkts,
                queue_info: info,
                hello_interval,
                slot,
                device_queue_pkts,
            } = bp;
            Routing::Classic(backpressure::ClassicConfig {
                queue_limit_pkts,
                queue_info: queue_info(info),
                hello_interval,
                slot,
                device_queue_pkts,
            })
        }
        model::Routing::BpMr(bp) => Routing::BpMr(bp_mr(bp)),
        model::Routing::TcpAware(bp) => tcp_aware(bp),
        model::Routing::L25r(model) => Routing::L25r(l25r(model)),
    }
}

fn metric(etx: bool) -> etx::Metric {
    if etx {
        etx::Metric::Etx
    } else {
        etx::Metric::Hops
    }
}

fn aodv(model: model::Aodv) -> aodv::Config {
    let model::Aodv {
        profile,
        hello: _,
        local_repair,
        buffer_pkts,
        etx,
        quality_window,
    } = model;
    let mut config = match profile {
        model::AodvProfile::Rfc => aodv::Config::rfc(),
        model::AodvProfile::Ns2 => aodv::Config::ns2(),
    };
    if !local_repair {
        config.local_repair = aodv::LocalRepair::Never;
    }
    config.buffer_pkts = buffer_pkts as usize;
    config.metric = metric(etx);
    config.quality_window = quality_window;
    config
}

fn queue_info(info: model::QueueInfo) -> backpressure::QueueInfo {
    match info {
        model::QueueInfo::Hello => backpressure::QueueInfo::Hello,
        model::QueueInfo::Oracle => backpressure::QueueInfo::Oracle,
    }
}

fn single_queue(bp: model::SingleQueue) -> Routing {
    let model::SingleQueue {
        penalty,
        euclidean,
        queue_limit_pkts,
        queue_info: info,
        hello_interval,
        fixed_v,
        anticipate,
        device_queue_pkts,
        ttl_rule,
    } = bp;
    let config = backpressure::SingleQueueConfig {
        penalty: match penalty {
            model::PenaltyRule::Plain => backpressure::PenaltyRule::Plain,
            model::PenaltyRule::Shadow => backpressure::PenaltyRule::Shadow,
            model::PenaltyRule::Sparse => backpressure::PenaltyRule::Sparse,
        },
        v: match (fixed_v, anticipate) {
            (Some(v), _) => backpressure::NodeV::Fixed(v),
            (None, true) => backpressure::NodeV::Anticipating,
            (None, false) => backpressure::NodeV::Variable,
        },
        queue_limit_pkts,
        queue_info: queue_info(info),
        hello_interval,
        device_queue_pkts,
        ttl_rule,
    };
    Routing::SingleQueue { config, euclidean }
}

fn bp_mr(bp: model::BpMr) -> backpressure::Config {
    let model::BpMr {
        granularity,
        queue_limit_pkts,
        gateway_queue_limit_pkts,
        queue_info,
        hello_interval,
        fixed_v,
        device_queue_pkts,
        flow_idle,
        flow_max_age,
        ttl_rule,
    } = bp;
    backpressure::Config {
        granularity: match granularity {
            model::Granularity::Packet => backpressure::Granularity::Packet,
            model::Granularity::Flow => backpressure::Granularity::Flow,
            model::Granularity::Burst(b) => backpressure::Granularity::Burst(burst(b)),
        },
        queue_limit_pkts,
        gateway_queue_limit_pkts,
        queue_info: self::queue_info(queue_info),
        hello_interval,
        v: fixed_v.map_or(backpressure::V::Variable, backpressure::V::Fixed),
        device_queue_pkts,
        flow_idle,
        flow_max_age,
        ttl_rule,
    }
}

fn tcp_aware(bp: model::TcpAware) -> Routing {
    let model::TcpAware {
        buffer_pkts,
        k_pkts,
        flow_idle,
        quality_window,
        report_idle,
        report_interval,
        neighbour_hold,
        retry,
        ack_priority,
        empty_flows_compete,
        simple_paths,
        count_attempts,
    } = bp;
    let config = TcpAwareConfig {
        buffer_pkts,
        threshold: k_pkts.map_or(Threshold::Share, Threshold::Fixed),
        flow_idle,
        counted: if count_attempts {
            Counted::Attempts
        } else {
            Counted::Packets
        },
        window: quality_window,
        report_idle,
        report_interval,
        neighbour_hold,
        retry,
        ack_priority,
        empty_flows_compete,
    };
    Routing::TcpAware {
        config,
        simple_paths,
    }
}

fn l25r(model: model::L25r) -> multipath::Config {
    let model::L25r {
        allocation,
        burst_gap,
        repin_period,
        extra_hops,
        deliver_directly,
        failure_threshold,
        blacklist,
        aging,
        flow_idle,
    } = model;
    multipath::Config {
        allocation: match allocation {
            model::Allocation::Packet => multipath::Allocation::Packet,
            model::Allocation::DataAck => multipath::Allocation::DataAck,
            model::Allocation::Data => multipath::Allocation::Data,
            model::Allocation::Ack => multipath::Allocation::Ack,
        },
        burst_gap,
        repin_period,
        extra_hops,
        deliver_directly,
        failure_threshold,
        blacklist,
        aging,
        flow_idle,
    }
}

fn burst(burst: model::Burst) -> backpressure::Burst {
    let reaction = |reaction| {
        let model::Reaction {
            queue_share,
            advantage,
            hold,
        } = reaction;
        backpressure::Reaction {
            queue_share,
            advantage,
            hold,
        }
    };
    match burst {
        model::Burst::Periodic { period } => backpressure::Burst::Periodic { period },
        model::Burst::Reactive(r) => backpressure::Burst::Reactive(reaction(r)),
        model::Burst::Hybrid {
            period,
            min_age,
            reaction: r,
        } => backpressure::Burst::Hybrid {
            period,
            min_age,
            reaction: reaction(r),
        },
        model::Burst::Flowlet { gap } => backpressure::Burst::Flowlet { gap },
    }
}
