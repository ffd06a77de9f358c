//! The scenario's `[tcp]` as the configuration of TCP.

use backlane_scenario::model;
use backlane_tcp::congestion::{Custom, Value};
use backlane_tcp::{
    CongestionControlConfig, DelayedAck, Ecn, PrConfig, Reordering, RrConfig, RtoLaw,
};

use crate::build::BuildError;

/// A congestion control with the parameters that `tcp` has for it; `controls` are those that the
/// simulator does not have.
pub(crate) fn congestion_control(
    tcp: &model::Tcp,
    control: &model::CongestionControl,
    controls: &[Custom],
) -> Result<CongestionControlConfig, BuildError> {
    let name = match control {
        model::CongestionControl::Known(name) => name,
        model::CongestionControl::Custom(name) => {
            let Some(custom) = controls.iter().find(|custom| custom.name() == &**name) else {
                let message = format!("there is no congestion control \"{name}\" in this program");
                return Err(BuildError(message));
            };
            return Ok(CongestionControlConfig::Custom(custom.clone()));
        }
    };
    let mut config: CongestionControlConfig = name.parse().map_err(refused)?;
    for model::Parameter { name, value, .. } in tcp.parameters_of(name) {
        let value = match value {
            model::Value::Switch(switch) => Value::Switch(*switch),
            model::Value::Count(count) => Value::Count(*count),
            model::Value::Number(number) => Value::Number(*number),
            model::Value::Time(time) => Value::Time(*time),
            model::Value::Word(word) => Value::Word(word),
        };
        config.set(name, value).map_err(refused)?;
    }
    Ok(config)
}

/// What the checks of a scenario should have found.
fn refused(error: impl std::fmt::Display) -> BuildError {
    BuildError(error.to_string())
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
        paws,
        timestamp_tick,
        limited_transmit,
        duplicate_threshold,
        receive_buffer_bytes,
        send_buffer_bytes,
        slow_start_after_idle,
        reordering,
        rr,
        pr,
        tail_loss_probe,
        frto,
        ecn,
        receive_autotuning_max_bytes,
        initial_receive_window_bytes,
        parameters: _,
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
        paws,
        timestamp_tick,
        limited_transmit,
        duplicate_threshold,
        reordering: match reordering {
            model::Reordering::Fixed => Reordering::Fixed,
            model::Reordering::LinuxLegacy => Reordering::LinuxLegacy,
            model::Reordering::Rack => Reordering::Rack,
            model::Reordering::NcrCareful => Reordering::NcrCareful,
            model::Reordering::NcrAggressive => Reordering::NcrAggressive,
            model::Reordering::Rr => Reordering::Rr,
            model::Reordering::Pr => Reordering::Pr,
        },
        rr: rr.map_or_else(
            RrConfig::default,
            |model::RrParameters { avoided, step }| RrConfig { avoided, step },
        ),
        pr: pr.map_or_else(PrConfig::default, |model::PrParameters { alpha, beta }| {
            PrConfig { alpha, beta }
        }),
        tail_loss_probe,
        frto,
        ecn: match ecn {
            model::Ecn::Off => Ecn::Off,
            model::Ecn::Classic => Ecn::Classic,
            model::Ecn::Exact => Ecn::Exact,
        },
        receive_buffer_bytes,
        receive_autotuning_max_bytes,
        initial_receive_window_bytes,
        send_buffer_bytes,
        slow_start_after_idle,
        random_seed,
        congestion_control,
    }
}

#[cfg(test)]
mod tests {
    use backlane_tcp::Config;
    use backlane_tcp::congestion::{Parameter, Slot};

    use super::*;

    /// What a scenario with this `[tcp]` and one flow gives, or its errors.
    fn read(tcp: &str) -> Result<model::Tcp, String> {
        let text = format!(
            "duration = \"1 s\"\n[topology]\nkind = \"chain\"\nnodes = 2\n\
             link = {{ rate = \"1 Mbit/s\", delay = \"1 ms\" }}\n[tcp]\n{tcp}\n\
             [[flow]]\nkind = \"transfer\"\nfrom = \"enb1\"\nto = \"enb2\"\nsize = \"1 MB\"\n"
        );
        match crate::catalogue().from_resolved(&text) {
            Ok(scenario) => Ok(scenario.tcp),
            Err(report) => Err(report.to_string()),
        }
    }

    fn config(text: &str) -> Config {
        let read = read(text).unwrap_or_else(|errors| panic!("{errors}"));
        let control = congestion_control(&read, &read.congestion_control, &[]).unwrap();
        tcp(&read, control, 0)
    }

    fn of_tcp(name: &str) -> CongestionControlConfig {
        name.parse().unwrap()
    }

    #[test]
    fn every_name_in_the_file_means_the_algorithm_of_that_name() {
        assert_eq!(
            model::CongestionControl::NAMES,
            CongestionControlConfig::NAMES
        );
        for name in model::CongestionControl::NAMES {
            let config = config(&format!("congestion_control = \"{name}\""));
            assert_eq!(config.congestion_control.name(), *name);
        }
    }

    #[test]
    fn the_defaults_of_the_profiles_are_those_of_tcp() {
        assert_eq!(config(""), Config::linux());
        assert_eq!(config("profile = \"linux\""), Config::linux());
        assert_eq!(config("profile = \"ns3\""), Config::ns3());
        // The tables of the policies have their defaults when they are empty.
        assert_eq!(config("[tcp.rr]\n[tcp.pr]"), Config::linux());
        for name in CongestionControlConfig::NAMES {
            let of = |profile: &str| {
                let text = format!("profile = \"{profile}\"\ncongestion_control = \"{name}\"");
                config(&text).congestion_control
            };
            assert_eq!(of("linux"), of_tcp(name));
            assert_eq!(of("ns3"), of_tcp(name).ns3(), "{name}");
        }
    }

    #[test]
    fn a_key_that_is_given_wins_over_the_profile() {
        let given = config("profile = \"ns3\"\nmin_rto = \"200 ms\"\nfrto = true");
        let expected = Config {
            min_rto: Config::linux().min_rto,
            frto: true,
            ..Config::ns3()
        };
        assert_eq!(given, expected);
    }

    #[test]
    fn every_key_reaches_the_model() {
        let linux = Config::linux;
        let cases: Vec<(&str, Config)> = vec![
            (
                "reordering = \"fixed\"",
                Config {
                    reordering: Reordering::Fixed,
                    ..linux()
                },
            ),
            (
                "reordering = \"linux-legacy\"",
                Config {
                    reordering: Reordering::LinuxLegacy,
                    ..linux()
                },
            ),
            (
                "reordering = \"ncr-careful\"",
                Config {
                    reordering: Reordering::NcrCareful,
                    ..linux()
                },
            ),
            (
                "reordering = \"ncr-aggressive\"",
                Config {
                    reordering: Reordering::NcrAggressive,
                    ..linux()
                },
            ),
            (
                "reordering = \"rr\"",
                Config {
                    reordering: Reordering::Rr,
                    ..linux()
                },
            ),
            (
                "reordering = \"rr\"\n[tcp.rr]\navoided = 0.5\nstep = 0.0",
                Config {
                    reordering: Reordering::Rr,
                    rr: RrConfig {
                        avoided: 0.5,
                        step: 0.0,
                    },
                    ..linux()
                },
            ),
            (
                "reordering = \"pr\"",
                Config {
                    reordering: Reordering::Pr,
                    ..linux()
                },
            ),
            (
                "reordering = \"pr\"\n[tcp.pr]\nalpha = 0.99\nbeta = 2.0",
                Config {
                    reordering: Reordering::Pr,
                    pr: PrConfig {
                        alpha: 0.99,
                        beta: 2.0,
                    },
                    ..linux()
                },
            ),
            (
                "tail_loss_probe = false",
                Config {
                    tail_loss_probe: false,
                    ..linux()
                },
            ),
            (
                "frto = false",
                Config {
                    frto: false,
                    ..linux()
                },
            ),
            (
                "ecn = \"classic\"",
                Config {
                    ecn: Ecn::Classic,
                    ..linux()
                },
            ),
            (
                "ecn = \"exact\"",
                Config {
                    ecn: Ecn::Exact,
                    ..linux()
                },
            ),
            (
                "receive_autotuning_max = \"16 MiB\"",
                Config {
                    receive_autotuning_max_bytes: Some(16 << 20),
                    ..linux()
                },
            ),
            (
                "initial_receive_window = \"20 kB\"",
                Config {
                    initial_receive_window_bytes: 20_000,
                    ..linux()
                },
            ),
        ];
        for (text, expected) in cases {
            assert_eq!(config(text), expected, "{text}");
        }
    }

    /// A value as it stands in a file.
    fn written(value: &Value<'_>) -> String {
        match value {
            Value::Switch(switch) => switch.to_string(),
            Value::Count(count) => count.to_string(),
            Value::Number(number) => format!("{number:?}"),
            Value::Time(time) => format!("\"{time}\""),
            Value::Word(word) => format!("\"{word}\""),
        }
    }

    /// Values that the slot takes, and some that it does not.
    fn probes(parameter: &Parameter<'_>) -> (Vec<Value<'static>>, Vec<Value<'static>>) {
        let time = |ps: Option<u64>| Some(Value::Time(backlane_units::Duration::from_ps(ps?)));
        match &parameter.slot {
            Slot::Switch(_) => (vec![Value::Switch(false), Value::Switch(true)], vec![]),
            Slot::Word(choice) => (
                choice.words().into_iter().map(Value::Word).collect(),
                vec![Value::Word("?")],
            ),
            Slot::Count(_, (min, max)) => (
                vec![Value::Count(*min), Value::Count(*max)],
                [min.checked_sub(1), max.checked_add(1)]
                    .into_iter()
                    .flatten()
                    .map(Value::Count)
                    .collect(),
            ),
            Slot::Number(_, (min, max)) => (
                vec![Value::Number(*min), Value::Number(*max)],
                vec![Value::Number(min.next_down()), Value::Number(max.next_up())],
            ),
            Slot::Time(_, (min, max)) => (
                vec![Value::Time(*min), Value::Time(*max)],
                [
                    time(min.as_ps().checked_sub(1)),
                    time(max.as_ps().checked_add(1)),
                ]
                .into_iter()
                .flatten()
                .collect(),
            ),
        }
    }

    #[test]
    fn every_parameter_can_be_set_within_its_range_and_no_further() {
        for name in CongestionControlConfig::NAMES {
            let count = of_tcp(name).parameters().len();
            let read_all = read(&format!("congestion_control = \"{name}\"")).unwrap();
            let names: Vec<_> = read_all
                .parameters
                .iter()
                .map(|p| p.name.as_str())
                .collect();
            let mut known = of_tcp(name);
            let known: Vec<_> = known.parameters().iter().map(|p| p.name).collect();
            assert_eq!(names, known, "{name}");
            for index in 0..count {
                let mut control = of_tcp(name);
                let parameter = &control.parameters()[index];
                let key = parameter.name;
                let (good, bad) = probes(parameter);
                let text = |value: &Value<'_>| {
                    // Vegas's thresholds must keep their order.
                    let order = match (*name, key) {
                        ("vegas", "alpha_pkts") => "beta_pkts = 1000\n",
                        ("vegas", "beta_pkts") => "alpha_pkts = 1\n",
                        _ => "",
                    };
                    format!(
                        "congestion_control = \"{name}\"\n[tcp.{name}]\n{order}{key} = {}",
                        written(value)
                    )
                };
                for value in good {
                    let mut set = config(&text(&value)).congestion_control;
                    let read = set.parameters()[index].value();
                    assert_eq!(read, value, "{name}.{key}");
                }
                for value in bad {
                    let errors = read(&text(&value)).expect_err("a value out of range");
                    assert!(errors.contains(key), "{errors}");
                }
            }
        }
    }

    #[test]
    fn the_parameters_of_a_control_that_only_a_flow_uses_reach_it() {
        let tcp = read("congestion_control = \"reno\"\n[tcp.vegas]\nalpha_pkts = 1").unwrap();
        let vegas = model::CongestionControl::named("vegas").unwrap();
        let mut expected = of_tcp("vegas");
        expected.set("alpha_pkts", Value::Count(1)).unwrap();
        assert_eq!(congestion_control(&tcp, &vegas, &[]).unwrap(), expected);
    }
}
