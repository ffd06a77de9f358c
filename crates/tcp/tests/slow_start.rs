//! How the first slow start ends, and that the statistics tell.
//!
//! The path: 50 Mb/s, 40 ms, which is 173 packets, and a queue of 173: a window of 347 packets
//! overflows it.

mod dumbbell;

use backlane_tcp::congestion::{CongestionControlConfig, HyStart, cubic};
use backlane_tcp::{Config, OrInfinite, SlowStartEnd, SlowStartExit, Statistics};
use backlane_units::{Bytes, Duration, SimTime};
use dumbbell::{Dumbbell, Path};

fn statistics(config: &Config) -> Statistics {
    over(config, Path::clean())
}

fn over(config: &Config, path: Path) -> Statistics {
    let config = Config {
        receive_buffer: Bytes::new(4 << 20),
        ..config.clone()
    };
    let mut run = Dumbbell::new(&config, path);
    run.run_until(SimTime::ZERO + Duration::from_secs(5));
    run.sender.statistics().clone()
}

fn exit(congestion_control: CongestionControlConfig) -> Option<SlowStartExit> {
    let config = Config {
        congestion_control,
        ..Config::default()
    };
    statistics(&config).slow_start_exit
}

fn cubic(hystart: HyStart) -> CongestionControlConfig {
    CongestionControlConfig::Cubic(cubic::Config {
        hystart,
        ..cubic::Config::default()
    })
}

#[test]
fn without_a_detector_slow_start_ends_by_loss_beyond_what_the_path_holds() {
    for control in ["reno".parse().unwrap(), cubic(HyStart::Off)] {
        let exit = exit(control).unwrap();
        assert_eq!(exit.cause, SlowStartEnd::Loss);
        // The loss is seen a round after it happened, in which the window doubles.
        assert!((347..=700).contains(&exit.cwnd_pkts), "{exit:?}");
        // From ten packets, what was sent is what was acknowledged and one window: twice the
        // window less the first, but for what left after the losses.
        let expected = f64::from(2 * exit.cwnd_pkts - 10);
        assert!(
            (exit.segments_sent as f64 / expected - 1.0).abs() < 0.02,
            "{exit:?}"
        );
    }
}

#[test]
fn hystart_ends_it_before_the_queue_overflows_and_records_the_detector() {
    let by_train = exit(cubic(HyStart::LinuxCurrent)).unwrap();
    // Acknowledgments of the doubled window come back to back, as long as half the path.
    assert_eq!(by_train.cause, SlowStartEnd::AckTrain);
    assert!(by_train.cwnd_pkts < 347, "{by_train:?}");
    // Five conservative rounds of HyStart++ need room for three times the window.
    let config = Config {
        congestion_control: cubic(HyStart::Rfc9406),
        ..Config::default()
    };
    let deep = Path {
        queue_pkts: 2000,
        ..Path::clean()
    };
    let by_delay = over(&config, deep).slow_start_exit.unwrap();
    assert_eq!(by_delay.cause, SlowStartEnd::Delay);
    let gradient = exit("cdg".parse().unwrap()).unwrap();
    assert_ne!(gradient.cause, SlowStartEnd::Loss);
}

#[test]
fn a_threshold_set_in_advance_ends_it_there() {
    let config = Config {
        congestion_control: "reno".parse().unwrap(),
        initial_ssthresh_pkts: OrInfinite::Value(40),
        ..Config::default()
    };
    let exit = statistics(&config).slow_start_exit.unwrap();
    assert_eq!((exit.cause, exit.cwnd_pkts), (SlowStartEnd::Threshold, 40));
}

#[test]
fn a_control_that_owns_its_window_has_no_slow_start_to_end() {
    assert_eq!(exit("bbr".parse().unwrap()), None);
}

#[test]
fn duplicate_acknowledgments_are_counted_when_something_was_lost() {
    let config = Config {
        congestion_control: "reno".parse().unwrap(),
        sack_compression: false,
        ..Config::default()
    };
    let lossy = statistics(&config);
    // Slow start overshoots by about the queue and the path: as many arrive after the first hole.
    assert!(lossy.duplicate_acks > 173, "{}", lossy.duplicate_acks);
    let config = Config {
        initial_ssthresh_pkts: OrInfinite::Value(40),
        ..config
    };
    assert_eq!(statistics(&config).duplicate_acks, 0);
}
