//! The scenario's parameters as the configurations of the models.

use backlane_net::queue::{CoDelConfig, FqCoDelConfig};
use backlane_net::{NodeId, QueueConfig, QueueLimit};
use backlane_routing::{backpressure, olsr, shortest_path};
use backlane_scenario::model;
use backlane_tcp::congestion::{
    Custom, HyStart, bbr, cdg, cubic, highspeed, htcp, hybla, illinois, reno, scalable, vegas,
    veno, westwood, yeah,
};
use backlane_tcp::{CongestionControlConfig, DelayedAck, RtoLaw};

use crate::build::BuildError;

fn queue_limit(limit: model::QueueLimit) -> QueueLimit {
    match limit {
        model::QueueLimit::Bytes(bytes) => QueueLimit::Bytes(bytes.get()),
        model::QueueLimit::Packets(packets) => {
            QueueLimit::Packets(u32::try_from(packets).unwrap_or(u32::MAX))
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
    BpMr(backpressure::Config),
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
        } => Routing::Olsr(olsr::Config {
            hello_interval,
            tc_interval,
            jitter,
            neighbour_hold,
            topology_hold,
        }),
        model::Routing::BpMr(bp) => Routing::BpMr(bp_mr(bp)),
    }
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
        queue_info: match queue_info {
            model::QueueInfo::Hello => backpressure::QueueInfo::Hello,
            model::QueueInfo::Oracle => backpressure::QueueInfo::Oracle,
        },
        hello_interval,
        v: fixed_v.map_or(backpressure::V::Variable, backpressure::V::Fixed),
        device_queue_pkts,
        flow_idle,
        flow_max_age,
        ttl_rule,
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

/// `controls` are those that the simulator does not have.
pub(crate) fn congestion_control(
    control: &model::CongestionControl,
    hystart: model::HyStart,
    controls: &[Custom],
) -> Result<CongestionControlConfig, BuildError> {
    Ok(match control {
        model::CongestionControl::Reno => CongestionControlConfig::Reno(reno::Config::default()),
        model::CongestionControl::Cubic => CongestionControlConfig::Cubic(cubic::Config {
            hystart: match hystart {
                model::HyStart::Linux => HyStart::LinuxCurrent,
                model::HyStart::LinuxLegacy => HyStart::LinuxLegacy,
                model::HyStart::Off => HyStart::Off,
            },
            ..cubic::Config::default()
        }),
        model::CongestionControl::Westwood => {
            CongestionControlConfig::Westwood(westwood::Config::default())
        }
        model::CongestionControl::Illinois => {
            CongestionControlConfig::Illinois(illinois::Config::default())
        }
        model::CongestionControl::HighSpeed => {
            CongestionControlConfig::HighSpeed(highspeed::Config::default())
        }
        model::CongestionControl::Hybla => CongestionControlConfig::Hybla(hybla::Config::default()),
        model::CongestionControl::Scalable => {
            CongestionControlConfig::Scalable(scalable::Config::default())
        }
        model::CongestionControl::Vegas => CongestionControlConfig::Vegas(vegas::Config::default()),
        model::CongestionControl::Veno => CongestionControlConfig::Veno(veno::Config::default()),
        model::CongestionControl::Htcp => CongestionControlConfig::Htcp(htcp::Config::default()),
        model::CongestionControl::Yeah => CongestionControlConfig::Yeah(yeah::Config::default()),
        model::CongestionControl::Bbr => CongestionControlConfig::Bbr(bbr::Config::default()),
        model::CongestionControl::Cdg => CongestionControlConfig::Cdg(cdg::Config::default()),
        model::CongestionControl::Custom(name) => {
            let Some(custom) = controls.iter().find(|custom| custom.name() == &**name) else {
                let message = format!("there is no congestion control \"{name}\" in this program");
                return Err(BuildError(message));
            };
            CongestionControlConfig::Custom(custom.clone())
        }
    })
}

/// Every key is named, so that a new one cannot be forgotten.
pub(crate) fn tcp(
    tcp: &model::Tcp,
    congestion_control: CongestionControlConfig,
    random_seed: u64,
) -> backlane_tcp::Config {
    let model::Tcp {
        congestion_control: _,
        mss_bytes,
        initial_window_pkts,
        initial_ssthresh_pkts,
        min_rto,
        initial_rto,
        max_rto,
        rto_rule,
        syn_retries,
        retries,
        delayed_ack_segments,
        delayed_ack_min,
        delayed_ack_max,
        quick_ack,
        sack,
        sack_compression,
        timestamps,
        limited_transmit,
        duplicate_threshold,
        receive_buffer_bytes,
        send_buffer_bytes,
        slow_start_after_idle,
        hystart: _,
    } = *tcp;
    backlane_tcp::Config {
        mss_bytes,
        initial_window_pkts,
        initial_ssthresh_pkts,
        rto: match rto_rule {
            model::RtoRule::Linux => RtoLaw::Linux,
            model::RtoRule::Rfc6298 => RtoLaw::Rfc6298,
        },
        min_rto,
        initial_rto,
        max_rto,
        syn_retries,
        retries,
        delayed_ack: DelayedAck {
            segments: delayed_ack_segments,
            min_timeout: delayed_ack_min,
            max_timeout: delayed_ack_max,
            quick_ack,
        },
        sack,
        sack_compression,
        timestamps,
        limited_transmit,
        duplicate_threshold,
        receive_buffer_bytes: u32::try_from(receive_buffer_bytes).unwrap_or(u32::MAX),
        send_buffer_bytes,
        slow_start_after_idle,
        random_seed,
        congestion_control,
        ..backlane_tcp::Config::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_name_in_the_file_means_the_algorithm_of_that_name() {
        let converted: Vec<String> = model::CongestionControl::ALL
            .iter()
            .map(|control| {
                congestion_control(control, model::HyStart::Linux, &[])
                    .unwrap()
                    .name()
                    .to_owned()
            })
            .collect();
        assert_eq!(converted, model::CongestionControl::NAMES);
        assert_eq!(converted, CongestionControlConfig::NAMES);
    }
}
