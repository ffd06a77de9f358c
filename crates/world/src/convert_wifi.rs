//! The scenario's 802.11 radios as the configuration of the model.

use backlane_net::QueueConfig;
use backlane_radio::path_loss::{Friis, LogDistance, TwoRay};
use backlane_radio::{FrameFading, PathLoss, Position, Sight};
use backlane_scenario::model::wifi;
use backlane_units::Length;
use backlane_wifi::config::RTS_NEVER;
use backlane_wifi::phy::{Preamble, Standard};
use backlane_wifi::{Reception, WifiConfig};

pub(crate) fn wifi(wifi: &wifi::Wifi, queue: QueueConfig) -> WifiConfig {
    let standard = match wifi.standard {
        wifi::Standard::A => Standard::A,
        wifi::Standard::B => Standard::B,
        wifi::Standard::G => Standard::G,
        wifi::Standard::Dsss => Standard::Dsss,
    };
    let band = WifiConfig::new(standard, wifi.rate).frequency;
    let frequency = wifi.frequency.unwrap_or(band);
    WifiConfig {
        standard,
        preamble: if wifi.short_preamble {
            Preamble::Short
        } else {
            Preamble::Long
        },
        data_rate: wifi.rate,
        basic_rate: wifi.basic_rate,
        control_rate: wifi.control_rate,
        overhead_bytes: wifi.overhead_bytes,
        rts_threshold_bytes: wifi.rts_threshold_bytes.unwrap_or(RTS_NEVER),
        short_retry: wifi.short_retry,
        long_retry: wifi.long_retry,
        slot: wifi.slot,
        sifs: wifi.sifs,
        cw_min: wifi.cw_min,
        cw_max: wifi.cw_max,
        eifs: wifi.eifs,
        sensing_delay: wifi.sensing_delay,
        frequency,
        power: wifi.power,
        antenna_gain: wifi.antenna_gain,
        path_loss: match wifi.path_loss {
            wifi::PathLoss::TwoRay => PathLoss::TwoRay(TwoRay {
                frequency,
                antenna_height_m: wifi.antenna_height.as_m_f64(),
            }),
            wifi::PathLoss::Friis => PathLoss::Friis(Friis { frequency }),
            wifi::PathLoss::LogDistance {
                exponent,
                reference_distance,
                reference_loss,
            } => PathLoss::LogDistance(LogDistance {
                exponent,
                reference_m: reference_distance.as_m_f64(),
                reference_loss_db: match reference_loss {
                    Some(loss) => loss.as_db_f64(),
                    None => free_space_db(Friis { frequency }, reference_distance),
                },
            }),
        },
        fading: match wifi.fading {
            wifi::FrameFading::Off => FrameFading::None,
            wifi::FrameFading::Rayleigh => FrameFading::Rayleigh,
            wifi::FrameFading::Nakagami(m) => FrameFading::Nakagami { m },
        },
        carrier_sense: wifi.carrier_sense,
        reception: match wifi.reception {
            wifi::Reception::ErrorRate {
                sensitivity,
                noise_figure,
            } => Reception::ErrorRate {
                sensitivity,
                noise_figure,
            },
            wifi::Reception::Threshold {
                sensitivity,
                capture,
            } => Reception::Threshold {
                sensitivity,
                capture,
            },
            wifi::Reception::Pairwise {
                sensitivity,
                capture,
            } => Reception::Pairwise {
                sensitivity,
                capture,
            },
        },
        recapture: wifi.recapture,
        control_loss: wifi.control_loss,
        promiscuous: wifi.promiscuous,
        queue,
        routing_first: wifi.routing_first,
    }
}

fn free_space_db(law: Friis, distance: Length) -> f64 {
    let there = Position {
        x_m: distance.as_m_f64(),
        ..Position::default()
    };
    PathLoss::Friis(law).loss_db(Position::default(), there, Sight::Clear)
}

#[cfg(test)]
mod tests {
    use backlane_engine::Streams;
    use backlane_units::Rate;
    use backlane_wifi::phy::Mode;

    use super::*;

    fn config(keys: &str) -> WifiConfig {
        let text = format!(
            "duration = \"1 s\"\n[topology]\nkind = \"chain\"\nnodes = 2\n\
             link = {{ medium = \"wifi\" }}\n[wifi]\n{keys}"
        );
        let scenario = crate::catalogue()
            .parse(&text, "s.toml")
            .unwrap_or_else(|report| panic!("{report}"));
        let described = scenario.wifi.unwrap();
        let queues = &crate::Models::standard().queues;
        let queue = queues.config(&described.queue, &Streams::default());
        wifi(&described, queue.unwrap())
    }

    /// The same but for the loss at the reference distance, which the file reckons with more
    /// digits.
    fn alike(a: &WifiConfig, b: &WifiConfig) {
        let (PathLoss::LogDistance(of_a), PathLoss::LogDistance(of_b)) = (a.path_loss, b.path_loss)
        else {
            panic!("{a:?}")
        };
        assert!((of_a.reference_loss_db - of_b.reference_loss_db).abs() < 0.01);
        let path_loss = b.path_loss;
        let a = WifiConfig {
            path_loss,
            ..a.clone()
        };
        assert_eq!(format!("{a:?}"), format!("{b:?}"));
    }

    #[test]
    fn the_defaults_of_the_standards_are_those_of_the_model() {
        for (name, standard) in [
            ("802.11a", Standard::A),
            ("802.11b", Standard::B),
            ("802.11g", Standard::G),
            ("802.11-dsss", Standard::Dsss),
        ] {
            let highest = standard.modes().last().unwrap().rate();
            let read = config(&format!("standard = \"{name}\""));
            alike(&read, &WifiConfig::new(standard, highest));
        }
    }

    #[test]
    fn the_profile_of_ns_2_is_that_of_the_model() {
        let ns2 = WifiConfig::ns2(Rate::from_bps(2_000_000));
        let read = config("profile = \"ns2\"");
        assert_eq!(format!("{read:?}"), format!("{ns2:?}"));
    }

    #[test]
    fn the_rates_of_the_file_are_those_of_the_standards() {
        for (of_file, standard) in [
            (wifi::Standard::A, Standard::A),
            (wifi::Standard::B, Standard::B),
            (wifi::Standard::G, Standard::G),
            (wifi::Standard::Dsss, Standard::Dsss),
        ] {
            let modes = standard.modes().iter().copied();
            let rates: Vec<u64> = modes.map(Mode::rate).map(Rate::as_bps).collect();
            assert_eq!(rates, of_file.rates_bps());
        }
    }
}
