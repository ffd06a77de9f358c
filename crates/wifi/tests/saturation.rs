//! Saturated stations that all sense each other, against Bianchi's model and its refinement.
//!
//! The model's variant: seven attempts, EIFS after collisions (by those who collided too, who wait
//! as long for an ACK or a CTS that does not come), a back-off after every frame, frames that
//! overlap are lost.

mod common;

use backlane_engine::Streams;
use backlane_param::OrOff;
use backlane_wifi::phy::Standard;
use backlane_wifi::{Reception, WifiConfig};
use common::bianchi::{Outcome, Times, Windows, bianchi, played, standard};
use common::{PACKET_BYTES, Setting, Source, mbps, rts_above};

const ATTEMPTS: i32 = 7;

/// A standard at a rate in Mbit/s, basic access or RTS.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Case {
    standard: Standard,
    rate: f64,
    rts: bool,
}

const fn case(standard: Standard, rate: f64, rts: bool) -> Case {
    Case {
        standard,
        rate,
        rts,
    }
}

const CASES: [Case; 8] = [
    case(Standard::B, 11.0, false),
    case(Standard::B, 11.0, true),
    case(Standard::B, 2.0, false),
    case(Standard::B, 2.0, true),
    case(Standard::A, 54.0, false),
    case(Standard::A, 54.0, true),
    case(Standard::A, 6.0, false),
    case(Standard::A, 6.0, true),
];

impl Case {
    fn windows(self) -> Windows {
        let (first, doublings) = match self.standard {
            Standard::A => (16.0, 6),
            _ => (32.0, 5),
        };
        Windows {
            first,
            doublings,
            attempts: Some(ATTEMPTS),
        }
    }

    /// Written out once more, apart from the crate's own airtimes.
    fn times(self) -> Times {
        let ofdm = self.standard == Standard::A;
        let (slot, sifs) = if ofdm { (9.0, 16.0) } else { (20.0, 10.0) };
        let difs = sifs + 2.0 * slot;
        let frame = |bytes: u32, rate: f64| {
            let bits = 8.0 * f64::from(bytes);
            if ofdm {
                20.0 + 4.0 * ((22.0 + bits) / (4.0 * rate)).ceil()
            } else {
                192.0 + (bits / rate).ceil()
            }
        };
        let (control, lowest) = if ofdm {
            (self.rate.min(24.0), 6.0)
        } else {
            (self.rate, 1.0)
        };
        let data = frame(PACKET_BYTES + 36, self.rate);
        let (ack, rts) = (frame(14, control), frame(20, control));
        let before = if self.rts {
            rts + ack + 2.0 * sifs
        } else {
            0.0
        };
        let eifs = sifs + frame(14, lowest) + difs;
        Times {
            slot,
            success: before + data + sifs + ack + difs,
            collision: if self.rts { rts } else { data } + eifs,
        }
    }

    /// The medium with this many senders and one receiver, until this many attempts were made.
    fn simulated(self, stations: usize, attempts: u64) -> Outcome {
        let mut config = WifiConfig::new(self.standard, mbps(self.rate));
        config.rts_threshold = rts_above(if self.rts { 0 } else { u32::MAX });
        config.reception = Reception::Threshold {
            sensitivity: config.carrier_sense,
            capture: OrOff::Off,
        };
        let metres: Vec<f64> = (0..=stations).map(|at| at as f64 * 0.1).collect();
        let mut setting = Setting::line(config, &metres);
        setting.sources = (1..=stations)
            .map(|from| Source::endless(from, 0))
            .collect();
        setting.persistent = true;
        setting.keep_arrivals = false;
        let mut world = setting.build();
        let mut until_us = 0;
        let mut count_until = |least_attempts: u64| {
            loop {
                until_us += 1_000_000;
                world.run_until(until_us);
                let (mut tried, mut failed) = (0, 0);
                for station in 1..=stations {
                    let readings = world.readings(station);
                    tried += readings.attempts;
                    failed += readings.failures;
                }
                if tried >= least_attempts {
                    let delivered: u64 = world.simulation.application.delivered.iter().sum();
                    return (until_us, tried, failed, delivered);
                }
            }
        };
        let before = count_until(1);
        let after = count_until(attempts);
        Outcome {
            collides: (after.2 - before.2) as f64 / (after.1 - before.1) as f64,
            successes: (after.3 - before.3) as f64 / (after.0 - before.0) as f64,
        }
    }
}

/// The attempts for which the standard error of the collision probability is half a percent of it.
fn attempts_for(case: Case, stations: usize) -> u64 {
    let p = bianchi(stations as i32, case.windows(), case.times())
        .1
        .collides;
    if stations == 1 {
        return 20_000;
    }
    ((1.0 - p) / p / (0.005 * 0.005)) as u64
}

fn off(found: f64, expected: f64) -> f64 {
    found / expected - 1.0
}

/// Bianchi 2000, 1 Mbit/s: the parameters of his table II with his windows; τ, p and S of a
/// solution of his equations made apart from this one.
#[test]
fn the_solver_has_the_values_of_bianchis_own_network() {
    let (payload, header, ack, rts, cts) = (8184.0, 400.0, 240.0, 288.0, 240.0);
    let (sifs, difs, delta) = (28.0, 128.0, 1.0);
    let basic = Times {
        slot: 50.0,
        success: header + payload + sifs + delta + ack + difs + delta,
        collision: header + payload + difs + delta,
    };
    let with_rts = Times {
        success: rts + sifs + delta + cts + sifs + delta + basic.success,
        collision: rts + difs + delta,
        ..basic
    };
    for (stations, tau, p, basic_5, basic_3, rts_3) in [
        (5, 0.0478, 0.1781, 0.8102, 0.8097, 0.8342),
        (10, 0.0373, 0.2898, 0.7579, 0.7532, 0.8371),
        (20, 0.0264, 0.3988, 0.6975, 0.6788, 0.8356),
        (50, 0.0154, 0.5324, 0.6109, 0.5529, 0.8270),
    ] {
        let windows = |doublings| Windows {
            first: 32.0,
            doublings,
            attempts: None,
        };
        let (found_tau, found) = bianchi(stations, windows(5), basic);
        assert!((found_tau - tau).abs() < 5.1e-5, "{stations}: {found_tau}");
        assert!((found.collides - p).abs() < 5.1e-5, "{stations}: {found:?}");
        for (doublings, times, share) in [
            (5, basic, basic_5),
            (3, basic, basic_3),
            (3, with_rts, rts_3),
        ] {
            let found = bianchi(stations, windows(doublings), times).1.successes * payload;
            assert!((found - share).abs() < 5.1e-5, "{stations}: {found}");
        }
    }
}

const STATIONS: [usize; 7] = [1, 2, 3, 5, 10, 20, 50];

/// Where Bianchi's chain itself is further off, by 2 to 3.5 %, all with 802.11a: one success in
/// sixteen is followed by another frame of the same station in a slot that no other station may use.
/// The chain does not know that slot: few stations lose by it, many win a success without a
/// collision.
const BEYOND: [(Case, usize); 3] = [(CASES[4], 3), (CASES[4], 5), (CASES[6], 50)];

#[test]
fn saturation_throughput_is_within_2_percent_of_bianchis() {
    for case in CASES {
        for stations in STATIONS {
            let model = bianchi(stations as i32, case.windows(), case.times()).1;
            let attempts = attempts_for(case, stations).min(200_000);
            let found = case.simulated(stations, attempts);
            let off = off(found.successes, model.successes).abs();
            let allowed = if BEYOND.contains(&(case, stations)) {
                0.02..0.035
            } else {
                0.0..0.02
            };
            assert!(allowed.contains(&off), "{case:?}, {stations}: {off}");
        }
    }
}

/// The chain takes stations to be independent, which two or three are not: there it is up to 6 %
/// below the process that it stands for, and the medium is with the process.
#[test]
fn throughput_and_collisions_are_those_of_the_standards_back_off() {
    for case in [CASES[0], CASES[1], CASES[4], CASES[5]] {
        for stations in STATIONS {
            let (windows, times) = (case.windows(), case.times());
            let attempts = attempts_for(case, stations);
            let found = case.simulated(stations, attempts);
            let check = |model: Outcome, what: &str| {
                let off_by = off(found.successes, model.successes);
                assert!(
                    off_by.abs() < 0.01,
                    "{case:?}, {stations}, {what}: {off_by}"
                );
                if stations == 1 {
                    assert_eq!(found.collides, 0.0);
                    return;
                }
                let off_by = off(found.collides, model.collides);
                assert!(
                    off_by.abs() < 0.02,
                    "{case:?}, {stations}, {what}: p {off_by}"
                );
            };
            let mut draws = Streams::new(3).stream("slots", "back-off");
            let transmissions = attempts.max(400_000) as u32;
            let slots = played(stations, windows, times, transmissions, &mut draws);
            check(slots, "slot by slot");
            if stations >= 5 {
                check(standard(stations as i32, windows, times), "as a chain");
            }
        }
    }
}

#[test]
fn two_hundred_saturated_stations_share_what_fifty_share() {
    let case = CASES[4];
    let found = case.simulated(200, 100_000);
    let model = standard(200, case.windows(), case.times());
    assert!(
        off(found.successes, model.successes).abs() < 0.02,
        "{found:?} {model:?}"
    );
    assert!(
        off(found.collides, model.collides).abs() < 0.02,
        "{found:?} {model:?}"
    );
}
