//! Protocol parameters out of the normal form.

use backlane_units::Duration;

use super::{
    Allocation, Aodv, AodvProfile, BpMr, Burst, Classic, Granularity, L25r, Metric, PenaltyRule,
    QueueInfo, Reaction, Routing, SingleQueue, TcpAware,
};
use crate::tree::Table;

/// The times of OLSR that follow from its intervals.
pub(crate) struct OlsrTimes {
    pub(crate) jitter: Duration,
    pub(crate) neighbour_hold: Duration,
    pub(crate) topology_hold: Duration,
}

/// RFC 3626 §18.3.
pub(crate) fn usual_olsr_times(hello_interval: Duration, tc_interval: Duration) -> OlsrTimes {
    OlsrTimes {
        jitter: hello_interval / 4,
        neighbour_hold: hello_interval.saturating_mul(3),
        topology_hold: tc_interval.saturating_mul(3),
    }
}

/// The routing section; `spray` are the nodes that it names.
pub(crate) fn read_routing(table: &Table, spray: Vec<usize>) -> Option<Routing> {
    match table.text("protocol")? {
        "olsr" => {
            let hello_interval = table.quantity("hello_interval")?;
            let tc_interval = table.quantity("tc_interval")?;
            let usual = usual_olsr_times(hello_interval, tc_interval);
            Some(Routing::Olsr {
                hello_interval,
                tc_interval,
                jitter: table.quantity("jitter").unwrap_or(usual.jitter),
                neighbour_hold: table
                    .quantity("neighbour_hold")
                    .unwrap_or(usual.neighbour_hold),
                topology_hold: table
                    .quantity("topology_hold")
                    .unwrap_or(usual.topology_hold),
                etx: table.text("metric")? == "etx",
                quality_window: table.quantity("quality_window")?,
            })
        }
        "aodv" => Some(Routing::Aodv(Aodv {
            profile: match table.text("profile")? {
                "ns2" => AodvProfile::Ns2,
                _ => AodvProfile::Rfc,
            },
            hello: match table.text("hello")? {
                "on" => Some(true),
                "off" => Some(false),
                _ => None,
            },
            local_repair: table.boolean("local_repair")?,
            buffer_pkts: table.integer("buffer_pkts")?,
            etx: table.text("metric")? == "etx",
            quality_window: table.quantity("quality_window")?,
        })),
        "bp" => {
            let penalty = match table.text("penalty")? {
                "shadow" => PenaltyRule::Shadow,
                _ => PenaltyRule::Plain,
            };
            Some(Routing::SingleQueue(single_queue(table, penalty)?))
        }
        "bs" => {
            let penalty = PenaltyRule::Sparse;
            Some(Routing::SingleQueue(single_queue(table, penalty)?))
        }
        "bp-classic" => Some(Routing::Classic(Classic {
            queue_limit_pkts: table.integer("queue_limit_pkts")?,
            queue_info: queue_info(table)?,
            hello_interval: table.quantity("hello_interval")?,
            slot: table.quantity("slot")?,
            device_queue_pkts: table.integer("device_queue_pkts")?,
        })),
        "bp-mr" => Some(Routing::BpMr(bp_mr(table)?)),
        "tcp-aware-bp" => Some(Routing::TcpAware(tcp_aware(table)?)),
        "l2.5r" => Some(Routing::L25r(l25r(table)?)),
        _ => Some(Routing::ShortestPath {
            metric: match table.text("metric")? {
                "delay" => Metric::Delay,
                "inverse-rate" => Metric::InverseRate,
                _ => Metric::Hops,
            },
            spray,
        }),
    }
}

fn queue_info(table: &Table) -> Option<QueueInfo> {
    Some(match table.text("queue_info")? {
        "oracle" => QueueInfo::Oracle,
        _ => QueueInfo::Hello,
    })
}

fn single_queue(table: &Table, penalty: PenaltyRule) -> Option<SingleQueue> {
    Some(SingleQueue {
        penalty,
        euclidean: table.text("distance")? == "euclidean",
        queue_limit_pkts: table.integer("queue_limit_pkts")?,
        queue_info: queue_info(table)?,
        hello_interval: table.quantity("hello_interval")?,
        fixed_v: table.number("v"),
        anticipate: table.boolean("anticipate")?,
        device_queue_pkts: table.integer("device_queue_pkts")?,
        ttl_rule: table.boolean("ttl_rule")?,
    })
}

fn bp_mr(table: &Table) -> Option<BpMr> {
    Some(BpMr {
        granularity: match table.text("granularity")? {
            "packet" => Granularity::Packet,
            "burst" => Granularity::Burst(burst(table.table("burst")?)?),
            _ => Granularity::Flow,
        },
        queue_limit_pkts: table.integer("queue_limit_pkts")?,
        gateway_queue_limit_pkts: table.integer("gateway_queue_limit_pkts")?,
        queue_info: queue_info(table)?,
        hello_interval: table.quantity("hello_interval")?,
        fixed_v: table.number("v"),
        device_queue_pkts: table.integer("device_queue_pkts")?,
        flow_idle: table.quantity("flow_idle")?,
        flow_max_age: table.quantity("flow_max_age")?,
        ttl_rule: table.boolean("ttl_rule")?,
    })
}

fn tcp_aware(table: &Table) -> Option<TcpAware> {
    Some(TcpAware {
        buffer_pkts: table.integer("buffer_pkts")?,
        k_pkts: table.integer("k"),
        flow_idle: table.quantity("flow_idle")?,
        quality_window: table.quantity("quality_window")?,
        report_idle: table.quantity("report_idle")?,
        report_interval: table.quantity("report_interval")?,
        neighbour_hold: table.quantity("neighbour_hold")?,
        retry: table.quantity("retry")?,
        ack_priority: table.boolean("ack_priority")?,
        empty_flows_compete: table.boolean("empty_flows_compete")?,
        simple_paths: table.text("links")? == "simple-paths",
        count_attempts: table.text("quality")? == "attempts",
    })
}

fn l25r(table: &Table) -> Option<L25r> {
    Some(L25r {
        allocation: match table.text("allocation")? {
            "data+ack" => Allocation::DataAck,
            "data" => Allocation::Data,
            "ack" => Allocation::Ack,
            _ => Allocation::Packet,
        },
        burst_gap: table.quantity("burst_gap"),
        repin_period: table.quantity("repin_period"),
        extra_hops: table.integer("extra_hops")?,
        deliver_directly: table.boolean("deliver_directly")?,
        failure_threshold: table.integer("failure_threshold")?,
        blacklist: table.quantity("blacklist")?,
        aging: table.quantity("aging"),
        flow_idle: table.quantity("flow_idle")?,
    })
}

fn burst(table: &Table) -> Option<Burst> {
    let reaction = || {
        Some(Reaction {
            queue_share: table.number("queue_share")?,
            advantage: table.number("advantage")?,
            hold: table.quantity("hold")?,
        })
    };
    Some(match table.text("kind")? {
        "periodic" => Burst::Periodic {
            period: table.quantity("period")?,
        },
        "reactive" => Burst::Reactive(reaction()?),
        "hybrid" => Burst::Hybrid {
            period: table.quantity("period")?,
            min_age: table.quantity("min_age")?,
            reaction: reaction()?,
        },
        _ => Burst::Flowlet {
            gap: table.quantity("gap")?,
        },
    })
}
