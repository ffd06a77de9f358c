//! The scenario's LTE access as the configuration of a radio network.

use std::sync::Arc;

use backlane_lte::config::{
    AdaptationConfig, CarrierConfig, Cfi, Counts, CqiConfig, HarqConfig, Interference,
    OuterLoopConfig, PowerControlConfig, RanConfig, ScheduledUplink, SchedulerConfig,
    SchedulerKind, UeChannel, UplinkConfig, UplinkRequests, UplinkScheduler,
};
use backlane_lte::pdcp::{PdcpConfig, PdcpSequenceNumber};
use backlane_lte::phy::error_model::{CodeRate, Combining};
use backlane_lte::phy::link_adaptation::Adaptation;
use backlane_lte::rlc::{
    AmConfig, BufferConfig, BufferLimit, CoDelTargets, PollRetransmission, RlcConfig, UmConfig,
    UmSequenceNumber,
};
use backlane_lte::rrc::measurement::A3Config;
use backlane_lte::rrc::radio_link::RadioLinkConfig;
use backlane_lte::rrc::{AttachConfig, HandoverConfig, RrcConfig};
use backlane_radio::path_loss::{
    City, Cost231Hata, Environment, Friis, Kun2600, LogDistance, OkumuraHata, UrbanMacro,
    UrbanMicro,
};
use backlane_radio::{FadingProfile, Line, Mobility, PathLoss, Position, Shadowing, Waypoints};
use backlane_scenario::model::lte::{self, Lte, Motion};
use backlane_scenario::model::{ChannelQuantity, ChannelTrace};
use backlane_units::{Frequency, Length, SimTime};

use crate::convert;

/// Every field is named, so that a new one cannot be forgotten.
pub(crate) fn ran(lte: &Lte) -> RanConfig {
    RanConfig {
        carriers: lte
            .carriers
            .iter()
            .map(|carrier| self::carrier(lte, carrier))
            .collect(),
        layers: lte.layers,
        ports: lte.antenna_ports,
        qam256: lte.qam256,
        cfi: lte.control_symbols.map_or(Cfi::Auto, Cfi::Fixed),
        code_rate: if lte.real_code_rate {
            CodeRate::Real
        } else {
            CodeRate::Nominal
        },
        code_rate_limit: lte.code_rate_limit,
        cce_limit: lte.cce_limit,
        control_errors: lte.control_errors,
        enodeb_power: lte.enodeb_power,
        ue_power: lte.ue_power,
        enodeb_noise_figure_db: lte.enodeb_noise_figure.as_db_f64(),
        ue_noise_figure_db: lte.ue_noise_figure.as_db_f64(),
        implementation_loss_db: lte.implementation_loss.as_db_f64(),
        shadowing: shadowing(lte.shadowing),
        fading: lte.fading.map(|profile| match profile {
            lte::Fading::Epa => FadingProfile::Epa,
            lte::Fading::Eva => FadingProfile::Eva,
            lte::Fading::Etu => FadingProfile::Etu,
        }),
        interference: match lte.interference {
            lte::Interference::Off => Interference::Off,
            lte::Interference::LoadCoupled => Interference::LoadCoupled,
            lte::Interference::Full => Interference::Full,
        },
        scheduler: scheduler(lte.scheduler),
        decision_to_air_ttis: lte.decision_to_air_ms,
        decoding_ttis: lte.decoding_ms,
        mac_headers: lte.mac_headers,
        cqi: CqiConfig {
            period_ttis: lte.cqi.period_ms,
            delay_ttis: lte.cqi.delay_ms,
            sub_band: lte.cqi.sub_band,
        },
        adaptation: adaptation(lte.adaptation),
        harq: HarqConfig {
            round_trip_ttis: lte.harq.round_trip_ms,
            max_transmissions: lte.harq.max_transmissions,
            combining: match lte.harq.combining {
                lte::Combining::IncrementalRedundancy => Combining::IncrementalRedundancy,
                lte::Combining::Chase => Combining::Chase,
                lte::Combining::Lena { sixteen_bits } => Combining::Lena { sixteen_bits },
            },
            nack_to_ack: lte.harq.nack_to_ack,
        },
        uplink: uplink(lte.uplink),
        rlc: rlc(lte.rlc),
        buffer: BufferConfig {
            limit: match lte.buffer {
                lte::BufferLimit::Packets(packets) => BufferLimit::Packets(packets),
                lte::BufferLimit::Bytes(bytes) => BufferLimit::Bytes(bytes.get()),
                lte::BufferLimit::Time(time) => BufferLimit::Delay(time),
            },
            codel: lte
                .codel
                .map(|(target, interval)| CoDelTargets { target, interval }),
        },
        pdcp: PdcpConfig {
            sequence_number: if lte.pdcp.long_sequence_number {
                PdcpSequenceNumber::Bits12
            } else {
                PdcpSequenceNumber::Bits7
            },
            discard_timer: lte.pdcp.discard_timer,
        },
        rrc: rrc(lte),
    }
}

fn rrc(lte: &Lte) -> RrcConfig {
    let link = lte.radio_link;
    RrcConfig {
        attach: lte.attach.map(|attach| AttachConfig {
            system_information_period: attach.system_information_period,
            random_access: attach.random_access,
            setup: attach.setup,
        }),
        handover: lte.handover.map(|handover| HandoverConfig {
            event: A3Config {
                offset_db: handover.offset.as_db_f64(),
                hysteresis_db: handover.hysteresis.as_db_f64(),
                time_to_trigger: handover.time_to_trigger,
                filter_coefficient: handover.filter_coefficient,
            },
            preparation: handover.preparation,
            interruption: handover.interruption,
        }),
        radio_link: RadioLinkConfig {
            out_of_sync_db: link.out_of_sync.as_db_f64(),
            in_sync_db: link.in_sync.as_db_f64(),
            n310: link.n310,
            t310: link.t310,
            n311: link.n311,
            reestablishment: link.reestablishment,
        },
        measurement_period: link.measurement_period,
    }
}

fn carrier(lte: &Lte, carrier: &lte::Carrier) -> CarrierConfig {
    CarrierConfig {
        n_rb: carrier.resource_blocks,
        downlink: carrier.frequency,
        uplink: carrier.uplink_frequency,
        path_loss: path_loss(lte.path_loss, carrier.frequency),
    }
}

fn path_loss(law: lte::PathLoss, frequency: Frequency) -> PathLoss {
    match law {
        lte::PathLoss::Kun2600 => PathLoss::Kun2600(Kun2600 { frequency }),
        lte::PathLoss::OkumuraHata(environment) => PathLoss::OkumuraHata(OkumuraHata {
            frequency,
            environment: match environment {
                lte::Environment::LargeCity => Environment::LargeCity,
                lte::Environment::MediumCity => Environment::MediumCity,
                lte::Environment::Suburban => Environment::Suburban,
                lte::Environment::Open => Environment::Open,
            },
        }),
        lte::PathLoss::Cost231Hata { metropolitan } => PathLoss::Cost231Hata(Cost231Hata {
            frequency,
            city: if metropolitan {
                City::Metropolitan
            } else {
                City::Medium
            },
        }),
        lte::PathLoss::LogDistance {
            exponent,
            reference_distance,
            reference_loss,
        } => PathLoss::LogDistance(LogDistance {
            exponent,
            reference_m: reference_distance.as_m_f64(),
            reference_loss_db: reference_loss.as_db_f64(),
        }),
        lte::PathLoss::Friis => PathLoss::Friis(Friis { frequency }),
        lte::PathLoss::UrbanMacro => PathLoss::UrbanMacro(UrbanMacro { frequency }),
        lte::PathLoss::UrbanMicro => PathLoss::UrbanMicro(UrbanMicro { frequency }),
    }
}

fn shadowing(shadowing: lte::Shadowing) -> Shadowing {
    match shadowing {
        lte::Shadowing::Off => Shadowing::Off,
        lte::Shadowing::OfPathLoss => Shadowing::OfModel,
        lte::Shadowing::Fixed {
            deviation,
            correlation_distance,
        } => Shadowing::Fixed {
            deviation,
            correlation_distance,
        },
    }
}

fn scheduler(scheduler: lte::Scheduler) -> SchedulerConfig {
    let lte::Scheduler {
        rule,
        max_ues,
        counts_acknowledged,
        worst_rbg_mcs,
    } = scheduler;
    SchedulerConfig {
        kind: match rule {
            lte::SchedulerRule::ProportionalFair => SchedulerKind::ProportionalFair,
            lte::SchedulerRule::RoundRobin => SchedulerKind::RoundRobin,
            lte::SchedulerRule::MaxCqi => SchedulerKind::MaxCqi,
            lte::SchedulerRule::BlindEqualThroughput => SchedulerKind::BlindEqualThroughput,
        },
        max_ues,
        counts: if counts_acknowledged {
            Counts::Acknowledged
        } else {
            Counts::Sent
        },
        worst_rbg_mcs,
    }
}

fn adaptation(adaptation: lte::Adaptation) -> AdaptationConfig {
    AdaptationConfig {
        rule: match adaptation.rule {
            lte::AdaptationRule::EffectiveInformation => Adaptation::EffectiveInformation,
            lte::AdaptationRule::LenaMi => Adaptation::LenaErrorModel,
            lte::AdaptationRule::LenaPiro => Adaptation::Piro,
        },
        target_bler: adaptation.target_bler,
        outer_loop: adaptation.outer_loop.map(|(step, limit)| OuterLoopConfig {
            step_up_db: step.as_db_f64(),
            limit_db: limit.as_db_f64(),
        }),
    }
}

fn uplink(uplink: lte::Uplink) -> UplinkConfig {
    UplinkConfig {
        requests: match uplink.requests {
            None => UplinkRequests::Ideal,
            Some(requests) => UplinkRequests::Scheduled(ScheduledUplink {
                sr_period_ttis: requests.sr_period_ms,
                sr_to_grant_ttis: requests.sr_to_grant_ms,
                scheduler: if requests.is_proportional_fair {
                    UplinkScheduler::ProportionalFair
                } else {
                    UplinkScheduler::RoundRobin
                },
                first_grant_bytes: requests.first_grant_bytes,
                periodic_bsr_ttis: requests.periodic_bsr_ms,
                retransmit_bsr_ttis: requests.retransmit_bsr_ms,
            }),
        },
        power_control: uplink
            .power_control
            .map(|(p0, alpha)| PowerControlConfig { p0, alpha }),
        sounding_period_ttis: uplink.sounding_period_ms,
        min_prb: uplink.min_prb,
        qam64: uplink.qam64,
    }
}

fn rlc(rlc: lte::Rlc) -> RlcConfig {
    match rlc {
        lte::Rlc::Am(am) => RlcConfig::Am(AmConfig {
            poll_pdus: am.poll_pdus,
            poll_bytes: am.poll_bytes,
            t_poll_retransmit: am.t_poll_retransmit,
            poll_retransmission: if am.poll_retransmits_all {
                PollRetransmission::All
            } else {
                PollRetransmission::Newest
            },
            t_reordering: am.t_reordering,
            t_status_prohibit: am.t_status_prohibit,
            max_retransmissions: am.max_retransmissions,
            resegmentation: am.resegmentation,
            one_pdu_per_block: am.one_pdu_per_block,
        }),
        lte::Rlc::Um(um) => RlcConfig::Um(UmConfig {
            sequence_number: if um.long_sequence_number {
                UmSequenceNumber::Bits10
            } else {
                UmSequenceNumber::Bits5
            },
            t_reordering: um.t_reordering,
            one_pdu_per_block: um.one_pdu_per_block,
        }),
    }
}

/// A place at a height.
pub(crate) fn position((x_m, y_m): (f64, f64), height: Length) -> Position {
    Position::new(x_m, y_m, height.as_m_f64())
}

/// The way of a UE that goes by a trace; its times count from `clock`.
pub(crate) fn way(lte: &Lte, ue: usize, clock: SimTime) -> Option<Mobility> {
    let way = lte.ways.get(lte.ues.get(ue)?.way?)?;
    let places: Vec<(SimTime, Position)> = way
        .iter()
        .map(|place| {
            let at = clock.saturating_add(place.at);
            (at, position(place.position_m, lte.ue_height))
        })
        .collect();
    Waypoints::new(&places).ok().map(Mobility::Waypoints)
}

/// A UE that begins at `from`; times of its way count from `clock`.
pub(crate) fn mobility(from: Position, motion: Option<Motion>, clock: SimTime) -> Mobility {
    let Some(motion) = motion else {
        return Mobility::Static(from);
    };
    let begin = clock.saturating_add(motion.start);
    let (east, north) = motion.velocity_m_per_s;
    Mobility::Line(Line {
        from,
        velocity_m_per_s: [east, north, 0.0],
        begin,
        end: motion.time.map(|time| begin.saturating_add(time)),
    })
}

/// What a UE hears from the end of the warm-up on; `None` where the trace has no order or no
/// length, which the checks of a file exclude.
pub(crate) fn channel(trace: &ChannelTrace, clock: SimTime) -> Option<UeChannel> {
    let (times, values) = (trace.times.clone(), trace.values.clone());
    let at_end = convert::at_end(trace.at_end);
    let values = backlane_lte::ChannelTrace::new(times, values, trace.period, at_end, clock)?;
    Some(match trace.quantity {
        ChannelQuantity::Sinr => UeChannel::Sinr(Arc::new(values)),
        ChannelQuantity::Cqi => UeChannel::Cqi(Arc::new(values)),
    })
}

#[cfg(test)]
mod tests {
    use backlane_scenario::model::AccessKind;
    use backlane_units::Duration;

    use super::*;

    fn lte(access: &str) -> Lte {
        let text = format!(
            "duration = \"1 s\"\n[topology]\nkind = \"chain\"\nnodes = 1\n\
             link = {{ rate = \"1 Gbit/s\", delay = \"4 ms\" }}\n\
             [access]\nkind = \"lte\"\nues = 1\n{access}"
        );
        let scenario = crate::catalogue()
            .parse(&text, "s.toml")
            .unwrap_or_else(|report| panic!("{report}"));
        match scenario.access.unwrap().kind {
            AccessKind::Lte(lte) => *lte,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn the_defaults_of_the_profiles_are_those_of_the_model() {
        assert_eq!(ran(&lte("")), RanConfig::default());
        assert_eq!(ran(&lte("profile = \"lena\"")), RanConfig::lena());
        let um = |profile: &str| {
            ran(&lte(&format!(
                "profile = \"{profile}\"\nrlc = {{ mode = \"um\" }}"
            )))
            .rlc
        };
        assert_eq!(um("standard"), RlcConfig::Um(UmConfig::default()));
        assert_eq!(um("lena"), RlcConfig::Um(UmConfig::lena()));
        let codel = ran(&lte("rlc = { aqm = \"codel\" }")).buffer.codel;
        assert_eq!(codel, Some(CoDelTargets::default()));
        let rrc = ran(&lte("attach = \"standard\"\nhandover = \"none\"")).rrc;
        assert_eq!(rrc.attach, Some(AttachConfig::default()));
        assert_eq!(rrc.handover, None);
        // What LENA leaves out has the standard's defaults where it is asked for.
        let requests = "profile = \"lena\"\nuplink = { requests = \"scheduled\" }";
        assert_eq!(
            ran(&lte(requests)).uplink.requests,
            UplinkRequests::Scheduled(ScheduledUplink::default())
        );
        assert_eq!(
            ran(&lte(
                "profile = \"lena\"\nadaptation = { outer_loop = true }"
            ))
            .adaptation
            .outer_loop,
            RanConfig::default().adaptation.outer_loop
        );
    }

    #[test]
    fn the_clock_of_a_way_begins_after_the_warm_up() {
        let motion = Motion {
            velocity_m_per_s: (3.0, 4.0),
            start: Duration::from_secs(1),
            time: Some(Duration::from_secs(2)),
        };
        let clock = SimTime::ZERO + Duration::from_secs(10);
        let from = position((0.0, 0.0), "1.5 m".parse().unwrap());
        let way = mobility(from, Some(motion), clock);
        let at = |s| way.position(SimTime::ZERO + Duration::from_secs(s));
        assert_eq!(at(11), Position::new(0.0, 0.0, 1.5));
        assert_eq!(at(12), Position::new(3.0, 4.0, 1.5));
        assert_eq!(at(20), Position::new(6.0, 8.0, 1.5));
    }
}
