//! Protocol parameters out of the normal form.

use backlane_units::{Bytes, Duration};

use super::{
    BpMr, Burst, CongestionControl, Granularity, HyStart, Metric, QueueInfo, Reaction, Routing,
    RtoRule, Tcp,
};
use crate::custom;
use crate::tree::Table;

/// A congestion control as the file states it.
pub(crate) fn congestion_control(text: &str) -> Option<CongestionControl> {
    match custom::Stated::of(text) {
        Some(stated) => Some(CongestionControl::Custom(stated.ok()?.name().into())),
        None => CongestionControl::ALL
            .iter()
            .find(|known| known.name() == text)
            .cloned(),
    }
}

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
            })
        }
        "bp-mr" => Some(Routing::BpMr(bp_mr(table)?)),
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

fn bp_mr(table: &Table) -> Option<BpMr> {
    Some(BpMr {
        granularity: match table.text("granularity")? {
            "packet" => Granularity::Packet,
            "burst" => Granularity::Burst(burst(table.table("burst")?)?),
            _ => Granularity::Flow,
        },
        queue_limit_pkts: table.integer("queue_limit_pkts")?,
        gateway_queue_limit_pkts: table.integer("gateway_queue_limit_pkts")?,
        queue_info: match table.text("queue_info")? {
            "oracle" => QueueInfo::Oracle,
            _ => QueueInfo::Hello,
        },
        hello_interval: table.quantity("hello_interval")?,
        fixed_v: table.number("v"),
        device_queue_pkts: table.integer("device_queue_pkts")?,
        flow_idle: table.quantity("flow_idle")?,
        flow_max_age: table.quantity("flow_max_age")?,
        ttl_rule: table.boolean("ttl_rule")?,
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

/// The TCP section.
pub(crate) fn read_tcp(table: &Table) -> Option<Tcp> {
    let bytes = |key: &str| table.quantity::<Bytes>(key).map(Bytes::get);
    Some(Tcp {
        congestion_control: congestion_control(table.text("congestion_control")?)?,
        mss_bytes: u32::try_from(bytes("mss")?).ok()?,
        initial_window_pkts: table.integer("initial_window_pkts")?,
        initial_ssthresh_pkts: table.integer("initial_ssthresh_pkts"),
        min_rto: table.quantity("min_rto")?,
        initial_rto: table.quantity("initial_rto")?,
        max_rto: table.quantity("max_rto")?,
        rto_rule: match table.text("rto")? {
            "rfc6298" => RtoRule::Rfc6298,
            _ => RtoRule::Linux,
        },
        syn_retries: table.integer("syn_retries")?,
        retries: table.integer("retries")?,
        delayed_ack_segments: table.integer("delayed_ack_segments")?,
        delayed_ack_min: table.quantity("delayed_ack_min")?,
        delayed_ack_max: table.quantity("delayed_ack_max")?,
        quick_ack: table.boolean("quick_ack")?,
        sack: table.boolean("sack")?,
        sack_compression: table.boolean("sack_compression")?,
        timestamps: table.boolean("timestamps")?,
        limited_transmit: table.boolean("limited_transmit")?,
        duplicate_threshold: table.integer("duplicate_threshold")?,
        receive_buffer_bytes: bytes("receive_buffer")?,
        send_buffer_bytes: bytes("send_buffer").unwrap_or(u64::MAX),
        slow_start_after_idle: table.boolean("slow_start_after_idle")?,
        hystart: match table.text("hystart")? {
            "linux-legacy" => HyStart::LinuxLegacy,
            "off" => HyStart::Off,
            _ => HyStart::Linux,
        },
    })
}
