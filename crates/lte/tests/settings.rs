//! Every valid combination of settings runs, and its packet counts add up.

mod common;

use backlane_lte::config::{
    Bandwidth, CarrierConfig, Counts, Interference, RanConfig, ScheduledUplink, SchedulerRule,
    UplinkRequests,
};
use backlane_lte::phy::error_model::{CodeRate, Combining};
use backlane_lte::phy::link_adaptation::Adaptation;
use backlane_lte::rlc::{RlcConfig, UmConfig};
use backlane_param::{Int, Milliseconds, OrAuto, OrNone};
use backlane_radio::{FadingProfile, Line, Mobility, Position};
use backlane_units::{Duration, SimTime};
use proptest::prelude::*;

use common::{Cells, Load, at, lena, saturating};

prop_compose! {
    fn radio()(
        widths in prop::collection::vec(prop::sample::select(Bandwidth::ALL.to_vec()), 1..4),
        (layers, ports) in prop::sample::select(vec![(1, 1), (1, 2), (1, 4), (2, 2), (2, 4), (4, 4)]),
        qam256: bool,
        cfi in prop::sample::select(vec![None, Some(1), Some(2), Some(3)]),
        nominal: bool,
        limit in prop::sample::select(vec![OrNone::None, OrNone::Value(0.5), OrNone::Value(0.931)]),
        interference in prop::sample::select(vec![Interference::Off, Interference::LoadCoupled, Interference::Full]),
        fading in prop::sample::select(vec![
            OrNone::None, OrNone::Value(FadingProfile::Epa), OrNone::Value(FadingProfile::Etu),
        ]),
        rule in prop::sample::select(vec![
            Adaptation::EffectiveInformation, Adaptation::LenaErrorModel, Adaptation::Piro,
        ]),
        combining in prop::sample::select(vec![
            Combining::IncrementalRedundancy, Combining::Chase, Combining::Lena16Bit,
        ]),
    ) -> RanConfig {
        let mut config = RanConfig::default();
        let one = CarrierConfig::band_7();
        let carrier = |&bandwidth: &Bandwidth| CarrierConfig { bandwidth, ..one };
        config.carrier = widths.iter().map(carrier).collect();
        config.layers = Int(layers);
        config.antenna_ports = OrAuto::Value(Int(ports));
        // The rules of LENA know 64QAM and one nominal rate for each of its MCS.
        config.qam256 = qam256 && rule == Adaptation::EffectiveInformation && !nominal;
        config.control_symbols = cfi.map_or(OrAuto::Auto, |symbols| OrAuto::Value(Int(symbols)));
        config.code_rate = if nominal { CodeRate::Nominal } else { CodeRate::Real };
        config.code_rate_limit = limit;
        config.interference = interference;
        config.fading = fading;
        config.adaptation.rule = rule;
        config.harq.combining = combining;
        config
    }
}

prop_compose! {
    fn any_config()(
        mut config in radio(),
        rule in prop::sample::select(vec![
            SchedulerRule::RoundRobin, SchedulerRule::ProportionalFair,
            SchedulerRule::MaxCqi, SchedulerRule::BlindEqualThroughput,
        ]),
        (max_ues, sent, worst, sub_band) in (1u8..20, any::<bool>(), any::<bool>(), any::<bool>()),
        (decision, decoding, period, delay) in (1u32..=3, 0u32..=3, 1u32..=20, 1u32..=12),
        (round_trip, transmissions, nack_to_ack) in (5u32..=20, 1u8..=4, 0.0..0.5),
        (mac_headers, cce_limit, control_errors) in (any::<bool>(), any::<bool>(), any::<bool>()),
        (ideal, sr_period, sr_to_grant) in (any::<bool>(), 1u32..=20, 1u32..=8),
        (sounding, min_prb, qam64) in (1u32..=40, 1u16..=6, any::<bool>()),
        (um, lena) in (any::<bool>(), any::<bool>()),
    ) -> RanConfig {
        config.scheduler.rule = rule;
        config.scheduler.max_ues = max_ues;
        config.scheduler.counts = if sent { Counts::Sent } else { Counts::Acknowledged };
        config.scheduler.worst_rbg_mcs = worst;
        config.decision_to_air = Milliseconds(decision);
        config.decoding = Milliseconds(decoding);
        config.cqi.period = Milliseconds(period);
        config.cqi.delay = Milliseconds(delay);
        config.cqi.sub_band = sub_band;
        config.harq.round_trip = Milliseconds(round_trip);
        config.harq.max_transmissions = transmissions;
        config.harq.nack_to_ack = nack_to_ack;
        config.mac_headers = mac_headers;
        config.cce_limit = cce_limit;
        config.control_errors = control_errors;
        config.uplink.requests = if ideal {
            UplinkRequests::Ideal
        } else {
            UplinkRequests::Scheduled(ScheduledUplink {
                sr_period: Milliseconds(sr_period),
                sr_to_grant: Milliseconds(sr_to_grant),
                ..ScheduledUplink::default()
            })
        };
        config.uplink.sounding_period = Milliseconds(sounding);
        config.uplink.min_prb = min_prb;
        config.uplink.qam64 = qam64;
        if um {
            config.rlc = RlcConfig::from(UmConfig::default());
        }
        if lena {
            config.rlc = config.as_lena().unwrap().rlc;
        }
        config
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    /// Packets are counted at the end of each run; here they are also in order, and none comes
    /// twice.
    #[test]
    fn any_setting_carries_packets_in_order(config in any_config(), seed in 0u64..1000) {
        let lena_mcs = config.adaptation.rule == Adaptation::LenaErrorModel;
        let stalls = config.rlc == lena().rlc
            || config.fading.value().is_some()
            || (lena_mcs && config.harq.max_transmissions == 1);
        let line = Mobility::Line(Line {
            from: Position::new(100.0, 0.0, 1.5),
            velocity_m_per_s: [30.0, 0.0, 0.0],
            begin: SimTime::ZERO,
            end: None,
        });
        let ues = [(at(60.0, 20.0), None), (line, None), (at(900.0, 0.0), None)];
        let up = |ue, bytes| Load { up: true, bytes, ..saturating(ue, 1, 1) };
        let short = |load: Load| Load { bursts: 150, ..load };
        let loads = [
            short(saturating(0, 6, 1)),
            short(saturating(1, 1, 1)),
            short(saturating(2, 1, 1)),
            short(up(0, 1400)),
            short(up(2, 52)),
            Load { first: Duration::from_millis(700), bursts: 1, ..saturating(0, 1, 1) },
        ];
        let sites = [(0.0, 0.0), (600.0, 0.0)];
        let mut cells = Cells::new(config, &sites, &ues, &loads, seed);
        cells.run(1.0);
        for load in 0..loads.len() {
            let sequences = &cells.sink(load).sequences;
            prop_assert!(sequences.windows(2).all(|pair| pair[0] < pair[1]), "{load}");
        }
        // LENA's acknowledged mode stalls for good when a retransmission outgrows the grants, and
        // a UE that stands in a deep fade stays there. LENA's MCS follows from the CQI alone: with a
        // long control region nearly all blocks of a narrow carrier are lost at first.
        prop_assert!(stalls || !cells.sink(0).sequences.is_empty());
    }
}
