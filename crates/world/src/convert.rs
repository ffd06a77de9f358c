//! The scenario's parameters as the configurations of the models.

use backlane_net::queue::{CoDelConfig, FqCoDelConfig};
use backlane_net::{QueueConfig, QueueLimit};
use backlane_routing::{backpressure, olsr, shortest_path};
use backlane_scenario::model;
use backlane_tcp::congestion::{HyStart, cubic, reno, vegas};
use backlane_tcp::{CongestionControlConfig, DelayedAck, RtoLaw};

pub(crate) fn queue(queue: model::QueueConfig) -> QueueConfig {
    let limit = match queue.limit {
        model::QueueLimit::Bytes(bytes) => QueueLimit::Bytes(bytes.get()),
        model::QueueLimit::Packets(packets) => {
            QueueLimit::Packets(u32::try_from(packets).unwrap_or(u32::MAX))
        }
    };
    let codel = |codel: model::CodelLimits| CoDelConfig {
        target: codel.target,
        interval: codel.interval,
    };
    match queue.discipline {
        model::QueueDiscipline::DropTail => QueueConfig::DropTail(limit),
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
#[derive(Clone, Copy)]
pub(crate) enum Routing {
    ShortestPath(shortest_path::Config),
    Olsr(olsr::Config),
    BpMr(backpressure::Config),
}

pub(crate) fn routing(routing: model::Routing) -> Routing {
    match routing {
        model::Routing::ShortestPath { metric } => Routing::ShortestPath(shortest_path::Config {
            metric: match metric {
                model::Metric::Hops => shortest_path::Metric::Hops,
                model::Metric::Delay => shortest_path::Metric::Delay,
                model::Metric::InverseRate => shortest_path::Metric::InverseRate,
            },
        }),
        model::Routing::Olsr {
            hello_interval,
            tc_interval,
            jitter,
            neighbour_hold,
            topology_hold,
        } => Routing::Olsr(olsr::Config {
            hello_interval,
            tc_interval,
            jitter,
            neighbour_hold,
            topology_hold,
        }),
        model::Routing::BpMr(bp) => Routing::BpMr(backpressure::Config {
            granularity: match bp.granularity {
                model::Granularity::Packet => backpressure::Granularity::Packet,
                model::Granularity::Flow => backpressure::Granularity::Flow,
            },
            queue_limit_pkts: bp.queue_limit_pkts,
            gateway_queue_limit_pkts: bp.gateway_queue_limit_pkts,
            queue_info: match bp.queue_info {
                model::QueueInfo::Hello => backpressure::QueueInfo::Hello,
                model::QueueInfo::Oracle => backpressure::QueueInfo::Oracle,
            },
            hello_interval: bp.hello_interval,
            v: bp
                .fixed_v
                .map_or(backpressure::V::Variable, backpressure::V::Fixed),
            device_queue_pkts: bp.device_queue_pkts,
            flow_idle: bp.flow_idle,
            flow_max_age: bp.flow_max_age,
            ttl_rule: bp.ttl_rule,
        }),
    }
}

pub(crate) fn congestion_control(
    control: model::CongestionControl,
    hystart: model::HyStart,
) -> CongestionControlConfig {
    match control {
        model::CongestionControl::Reno => CongestionControlConfig::Reno(reno::Config::default()),
        model::CongestionControl::Cubic => CongestionControlConfig::Cubic(cubic::Config {
            hystart: match hystart {
                model::HyStart::Linux => HyStart::LinuxCurrent,
                model::HyStart::LinuxLegacy => HyStart::LinuxLegacy,
                model::HyStart::Off => HyStart::Off,
            },
            ..cubic::Config::default()
        }),
        model::CongestionControl::Vegas => CongestionControlConfig::Vegas(vegas::Config::default()),
    }
}

pub(crate) fn tcp(tcp: &model::Tcp) -> backlane_tcp::Config {
    backlane_tcp::Config {
        mss_bytes: tcp.mss_bytes,
        initial_window_pkts: tcp.initial_window_pkts,
        initial_ssthresh_pkts: tcp.initial_ssthresh_pkts,
        rto: match tcp.rto_rule {
            model::RtoRule::Linux => RtoLaw::Linux,
            model::RtoRule::Rfc6298 => RtoLaw::Rfc6298,
        },
        min_rto: tcp.min_rto,
        initial_rto: tcp.initial_rto,
        max_rto: tcp.max_rto,
        syn_retries: tcp.syn_retries,
        retries: tcp.retries,
        delayed_ack: DelayedAck {
            segments: tcp.delayed_ack_segments,
            min_timeout: tcp.delayed_ack_min,
            max_timeout: tcp.delayed_ack_max,
            quick_ack: tcp.quick_ack,
        },
        sack: tcp.sack,
        sack_compression: tcp.sack_compression,
        timestamps: tcp.timestamps,
        limited_transmit: tcp.limited_transmit,
        duplicate_threshold: tcp.duplicate_threshold,
        receive_buffer_bytes: u32::try_from(tcp.receive_buffer_bytes).unwrap_or(u32::MAX),
        send_buffer_bytes: tcp.send_buffer_bytes,
        slow_start_after_idle: tcp.slow_start_after_idle,
        congestion_control: congestion_control(tcp.congestion_control, tcp.hystart),
        ..backlane_tcp::Config::default()
    }
}
