//! The scenario's `[tcp]` as the configuration of TCP.

use backlane_scenario::model;
use backlane_tcp::{
    CongestionControlConfig, DelayedAck, Ecn, PrConfig, Reordering, RrConfig, RtoLaw,
};

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
        values: _,
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
        let name = read.congestion_control.name();
        let control = crate::Models::standard().controls.read(name, &read.values);
        tcp(&read, control.unwrap(), 0)
    }

    fn of_tcp(name: &str) -> CongestionControlConfig {
        name.parse().unwrap()
    }

    #[test]
    fn every_name_in_the_file_means_the_algorithm_of_that_name() {
        for name in CongestionControlConfig::NAMES {
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
}
