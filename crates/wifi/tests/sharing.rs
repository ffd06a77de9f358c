//! Several stations on the air: hidden and exposed ones, capture, chains, channels.

mod common;

use backlane_engine::Streams;
use backlane_param::OrOff;
use backlane_radio::{FrameFading, Position, Sight};
use backlane_units::{Decibels, Power};
use backlane_wifi::phy::{ErrorRate, Mode, Standard};
use backlane_wifi::{BasicRate, Reception, WifiConfig, WifiLinkConfig};
use common::{PACKET_BYTES, RTS_NEVER, Setting, Source, World, link, mbps, rts_above};

const DATA_US: u64 = 192 + 4224;
const RTS_US: u64 = 352;

/// Frames are decoded to 250 m and sensed to 250 m.
fn near_sighted(rts_threshold_bytes: u32) -> WifiConfig {
    let mut config = WifiConfig::ns2(mbps(2.0));
    let Reception::Pairwise { sensitivity, .. } = config.reception else {
        unreachable!("ns-2's rule")
    };
    config.carrier_sense = sensitivity;
    config.rts_threshold = rts_above(rts_threshold_bytes);
    config
}

/// Times of a Poisson process, in microseconds.
fn poisson(name: &str, mean_us: f64, until_us: u64) -> Vec<u64> {
    let mut stream = Streams::new(5).stream(name, "arrivals");
    let mut times_us = Vec::new();
    let mut at_us = 0.0;
    loop {
        at_us += stream.exponential(mean_us);
        if at_us >= until_us as f64 {
            return times_us;
        }
        times_us.push(at_us as u64);
    }
}

fn delivered(world: &World) -> Vec<u64> {
    world.simulation.application.delivered.clone()
}

/// Two stations that do not hear each other send to the one between them, rarely and without
/// repeating: a frame is lost if the other begins one less than its length before or after, as in
/// ALOHA with its vulnerable period of 2 T (Abramson 1970), so that the share 1 − exp(−2 λ T) is
/// lost. Behind an RTS it is the length of the RTS that counts.
#[test]
fn hidden_stations_collide_within_twice_the_length_of_what_they_send_first() {
    let until_us = 12_000_000_000;
    for (threshold, bytes, vulnerable_us, mean_us) in [
        (RTS_NEVER, PACKET_BYTES, DATA_US, 400_000.0),
        (0, 28, RTS_US, 100_000.0),
    ] {
        let mut setting = Setting::line(near_sighted(threshold), &[0.0, 200.0, 400.0]);
        assert_eq!(setting.links, [link(0, 1), link(1, 2)]);
        setting.config.short_retry = 1;
        setting.config.long_retry = 1;
        setting.keep_arrivals = false;
        setting.sources = [(0, "a"), (2, "c")]
            .map(|(from, name)| Source {
                bytes,
                ..Source::at(from, 1, &poisson(name, mean_us, until_us))
            })
            .into();
        let mut world = setting.build();
        world.run_until(until_us);
        let (attempts, failures) = [0, 2]
            .map(|station| world.readings(station))
            .iter()
            .fold((0, 0), |(a, f), r| (a + r.attempts, f + r.failures));
        let found = failures as f64 / attempts as f64;
        let expected = 1.0 - (-2.0 * vulnerable_us as f64 / mean_us).exp();
        // A frame that comes while another is served waits for it, which a Poisson process does
        // not: the share of the time that frames take, 1 to 2 %, squared is what it adds.
        let error = 2e-4 + 4.0 * (expected / attempts as f64).sqrt();
        assert!(
            (found - expected).abs() < error,
            "{found} of {attempts}, expected {expected} ± {error}"
        );
        assert!(error < 0.2 * expected);
    }
}

#[test]
fn saturated_hidden_stations_lose_most_frames_without_rts_and_few_with_it() {
    let share = |threshold| {
        let mut setting = Setting::line(near_sighted(threshold), &[0.0, 200.0, 400.0]);
        setting.sources = vec![Source::endless(0, 1), Source::endless(2, 1)];
        setting.persistent = true;
        let mut world = setting.build();
        world.run_until(100_000_000);
        let readings = world.readings(0);
        let failed = readings.failures as f64 / readings.attempts as f64;
        (failed, delivered(&world).iter().sum::<u64>())
    };
    let (failed_basic, basic) = share(RTS_NEVER);
    let (failed_rts, rts) = share(0);
    // Most windows (31 slots at first, 620 µs) end before a frame of the other does (4416 µs), and
    // after those of an RTS (352 µs).
    assert!(failed_basic > 0.7, "{failed_basic}");
    assert!(failed_rts < 0.35, "{failed_rts}");
    assert!(rts > 3 * basic, "{rts} {basic}");
}

/// Nodes 1 and 2 hear each other and send away from each other: both frames could come over, and
/// still they take turns.
#[test]
fn exposed_stations_take_turns() {
    let mut setting = Setting::line(near_sighted(RTS_NEVER), &[0.0, 200.0, 400.0, 600.0]);
    let alone = {
        setting.sources = vec![Source::endless(1, 0)];
        let mut world = setting.build();
        world.run_until(60_000_000);
        delivered(&world)[0] as f64
    };
    setting.sources = vec![Source::endless(1, 0), Source::endless(2, 3)];
    let mut world = setting.build();
    world.run_until(60_000_000);
    let both: Vec<f64> = delivered(&world).iter().map(|&n| n as f64).collect();
    assert!((both[0] / both[1] - 1.0).abs() < 0.05);
    // A second station fills half of the gaps that the first leaves, and what collides at the
    // slot comes over, for neither receiver hears the other sender.
    let sum = (both[0] + both[1]) / alone;
    assert!((1.0..1.15).contains(&sum), "{sum}");
}

/// Two stations that hear each other begin in the same slot now and then. A receiver that is
/// 12 dB nearer to one of them decodes that one.
#[test]
fn of_two_frames_at_once_the_one_that_is_strong_enough_is_decoded() {
    let failures = |capture_db: i64, reception: fn(&WifiConfig, Decibels) -> Reception| {
        let mut config = WifiConfig::ns2(mbps(2.0));
        config.rts_threshold = rts_above(RTS_NEVER);
        config.reception = reception(&config, Decibels::from_mdb(1000 * capture_db));
        let mut setting = Setting::line(config, &[0.0, 100.0, -200.0]);
        setting.sources = vec![Source::endless(1, 0), Source::endless(2, 0)];
        setting.persistent = true;
        let mut world = setting.build();
        world.run_until(100_000_000);
        [1, 2].map(|station| world.readings(station).failures)
    };
    let pairwise: fn(&WifiConfig, Decibels) -> Reception = |config, capture| match config.reception
    {
        Reception::Pairwise { sensitivity, .. } => Reception::Pairwise {
            sensitivity,
            capture,
        },
        other => other,
    };
    let threshold: fn(&WifiConfig, Decibels) -> Reception = |config, capture| {
        let Reception::Pairwise { sensitivity, .. } = config.reception else {
            return config.reception;
        };
        Reception::Threshold {
            sensitivity,
            capture: OrOff::Value(capture),
        }
    };
    for rule in [pairwise, threshold] {
        // Two-ray ground, (200/100)⁴: 12.04 dB.
        let [near, far] = failures(12, rule);
        assert!(near == 0 && far > 300, "{near} {far}");
        let [near, far] = failures(13, rule);
        assert!(near == far && near > 300, "{near} {far}");
    }
}

/// Three senders at the same distance from a receiver of another, 11 dB below its signal each: in
/// pairs they are weak enough, together they are not.
#[test]
fn interference_adds_up_but_not_by_the_rule_of_ns2() {
    let delivered_with = |sum: bool| {
        let mut config = near_sighted(RTS_NEVER);
        if let Reception::Pairwise {
            sensitivity,
            capture,
        } = config.reception
            && sum
        {
            config.reception = Reception::Threshold {
                sensitivity,
                capture: OrOff::Value(capture),
            };
        }
        let mut setting = Setting::line(config, &[0.0, 150.0, 438.0, 438.0, 438.0]);
        // Around the receiver at 150 m, out of each other's reach.
        let around = 288.0;
        for (station, degrees) in [(2, 0.0f64), (3, 90.0), (4, 270.0)] {
            let angle = degrees.to_radians();
            setting.positions[station] =
                Position::new(150.0 + around * angle.cos(), around * angle.sin(), 0.0);
        }
        setting.links = vec![link(0, 1)];
        // Each of the three broadcasts while node 0 sends.
        setting.sources = vec![Source::at(0, 1, &[10_000])];
        setting.config.short_retry = 1;
        setting.links.extend([link(2, 1), link(3, 1), link(4, 1)]);
        setting.broadcasts = vec![(2, 10_500, 20), (3, 10_600, 20), (4, 10_700, 20)];
        let mut world = setting.build();
        world.run_until(100_000);
        world.arrivals_us().len()
    };
    assert_eq!([true, false].map(delivered_with), [0, 1]);
}

#[test]
fn a_chain_within_one_carrier_sense_range_carries_its_share_of_one_hop() {
    let carried = |hops: usize| {
        let metres: Vec<f64> = (0..=hops).map(|hop| 120.0 * hop as f64).collect();
        let mut config = WifiConfig::ns2(mbps(2.0));
        config.rts_threshold = rts_above(RTS_NEVER);
        let mut setting = Setting::line(config, &metres);
        setting.links = (0..hops).map(|hop| link(hop, hop + 1)).collect();
        setting.sources = vec![Source::endless(0, hops)];
        // A window of packets that keeps every hop supplied and no queue full.
        setting.sources[0].supply = common::Supply::Endless(20);
        let mut world = setting.build();
        world.run_until(5_000_000);
        let before = delivered(&world)[0];
        world.run_until(105_000_000);
        (delivered(&world)[0] - before) as f64
    };
    let one = carried(1);
    for hops in 2..=4 {
        let share = carried(hops) / one * hops as f64;
        // Two to four stations waste less of the time in back-off than one, and some in
        // collisions.
        assert!((0.93..1.07).contains(&share), "{hops} hops: {share}");
    }
}

#[test]
fn channels_do_not_disturb_each_other_and_a_station_may_have_several() {
    let carried = |channels: [u8; 2]| {
        let mut setting =
            Setting::line(WifiConfig::new(Standard::A, mbps(54.0)), &[0.0, 5.0, 10.0]);
        setting.channels = vec![vec![channels[0]], channels.to_vec(), vec![channels[1]]];
        setting.channels[1].dedup();
        setting.links = [(0, 1), (1, 2)]
            .into_iter()
            .zip(channels)
            .map(|((a, b), channel)| WifiLinkConfig {
                channel,
                ..link(a, b)
            })
            .collect();
        setting.sources = vec![Source::endless(0, 1), Source::endless(1, 2)];
        let mut world = setting.build();
        world.run_until(20_000_000);
        delivered(&world).iter().sum::<u64>() as f64
    };
    let (shared, apart) = (carried([36, 36]), carried([36, 40]));
    assert!((1.9..2.05).contains(&(apart / shared)), "{shared} {apart}");
}

/// Rayleigh fading at a mean m times the sensitivity: a frame is decoded with exp(−1/m).
#[test]
fn a_fading_frame_is_decoded_as_often_as_it_is_strong_enough() {
    let mut config = WifiConfig::ns2(mbps(2.0));
    config.fading = FrameFading::Rayleigh;
    let metres = 200.0;
    let mut setting = Setting::line(config, &[0.0, metres]);
    setting.broadcasts = (0..20_000).map(|n| (0, n * 20_000, 100)).collect();
    let mut world = setting.build();
    world.run_until(400_000_000);
    let heard = world.told().len() as f64 / 20_000.0;
    let expected = (-(metres / 250.0f64).powi(4)).exp();
    let error = 4.0 * (expected * (1.0 - expected) / 20_000.0).sqrt();
    assert!((heard - expected).abs() < error, "{heard} {expected}");
}

/// Rayleigh at 250 m decodes exp(−1) = 37 % and 1 % at 250 · ln(100)^¼ = 366 m.
#[test]
fn neighbours_are_those_of_whom_one_frame_in_a_hundred_is_decoded() {
    let mut config = WifiConfig::ns2(mbps(2.0));
    let neighbours = |config: &WifiConfig, metres: f64| {
        !Setting::line(config.clone(), &[0.0, metres])
            .links
            .is_empty()
    };
    assert!(neighbours(&config, 250.0) && !neighbours(&config, 250.1));
    config.fading = FrameFading::Rayleigh;
    assert!(neighbours(&config, 360.0) && !neighbours(&config, 372.0));
}

#[test]
fn a_later_and_stronger_frame_is_taken_up_only_where_receivers_do_that() {
    let heard = |recapture: Option<i64>| {
        let mut config = near_sighted(RTS_NEVER);
        config.reception = Reception::Threshold {
            sensitivity: config.carrier_sense,
            capture: OrOff::Value(Decibels::from_mdb(10_000)),
        };
        config.recapture =
            recapture.map_or(OrOff::Off, |db| OrOff::Value(Decibels::from_mdb(1000 * db)));
        // Nodes 0 and 2 do not hear each other; node 1 is near to node 2.
        let mut setting = Setting::line(config, &[0.0, 200.0, 280.0]);
        setting.broadcasts = vec![(0, 1000, 200), (2, 1500, 20)];
        let mut world = setting.build();
        world.run_until(100_000);
        let told = world.told();
        told.iter().map(|told| told.2.clone()).collect::<Vec<_>>()
    };
    assert_eq!(heard(None), []);
    assert_eq!(heard(Some(10)), [common::Told::Message(2, 20)]);
    assert_eq!(heard(Some(20)), []);
}

#[test]
fn the_same_seed_gives_the_same_run_and_another_seed_another() {
    let run = |seed| {
        let mut config = WifiConfig::ns2(mbps(2.0));
        config.fading = FrameFading::Nakagami { m: 3.0 };
        let mut setting = Setting::line(config, &[0.0, 150.0, 300.0, 450.0]);
        setting.links = (0..3).map(|hop| link(hop, hop + 1)).collect();
        setting.sources = vec![Source::endless(0, 3), Source::endless(3, 0)];
        setting.persistent = true;
        setting.seed = seed;
        let mut world = setting.build();
        world.run_until(20_000_000);
        assert!(delivered(&world).iter().sum::<u64>() > 100);
        world.simulation.digest()
    };
    assert_eq!(run(1), run(1));
    assert_ne!(run(1), run(2));
}

/// Noise is −174 dBm/Hz over 20 MHz and the noise figure, 7 dB: −94 dBm. Frames that arrive 22 dB
/// above it come through as often as their bits and those of the header do at that ratio.
#[test]
fn a_lone_frame_is_lost_as_often_as_the_noise_of_the_receiver_says() {
    let mut config = WifiConfig::new(Standard::A, mbps(54.0));
    config.basic_rate = BasicRate::Fixed(mbps(54.0));
    let noise_dbm = -174.0 + 10.0 * 20e6_f64.log10() + 7.0;
    let places = [0.0, 50.0].map(|x_m| Position::new(x_m, 0.0, 0.0));
    let loss_db = config
        .propagation()
        .loss_db(places[0], places[1], Sight::Clear);
    let gains_db = 2.0 * config.antenna_gain.as_db_f64();
    let power_dbm = noise_dbm + 22.0 - gains_db + loss_db;
    config.power = Power::from_mdbm((power_dbm * 1e3).round() as i64);
    let frame_bits = 8.0 * (1000 + 28 + config.overhead.get()) as f64;
    let mut setting = Setting::line(config, &[0.0, 50.0]);
    setting.links = vec![link(0, 1)];
    setting.broadcasts = (0..5000).map(|n| (0, n * 2000, 1000)).collect();
    let mut world = setting.build();
    world.run_until(10_000_000);
    let heard = world.told().len() as f64 / 5000.0;
    let sinr = 10.0f64.powf(2.2);
    let rates = ErrorRate::new(Standard::A);
    let expected =
        rates.success(Mode::Ofdm54, sinr, frame_bits) * rates.success(Mode::Ofdm6, sinr, 24.0);
    assert!((0.1..0.9).contains(&expected), "{expected}");
    let error = 4.0 * (expected * (1.0 - expected) / 5000.0).sqrt();
    assert!((heard - expected).abs() < error, "{heard} {expected}");
}

/// IEEE 802.11-2016 §10.3.2.4: a reservation is taken over only if it ends later than the present
/// one. Station 2 hears the CTS with which 1 answers 0, and then a short exchange of 3 and 4, who
/// hear nothing of that. It may not send before the first exchange is over.
#[test]
fn a_shorter_reservation_does_not_end_a_longer_one() {
    let mut setting = Setting::line(near_sighted(500), &[-400.0, -200.0, 0.0, 200.0, 400.0]);
    let short = |from, to, at_us| Source {
        bytes: 100,
        ..Source::at(from, to, &[at_us])
    };
    setting.sources = vec![
        Source::at(0, 1, &[1000]),
        short(3, 4, 2000),
        short(2, 3, 3500),
    ];
    let mut world = setting.build();
    world.run_until(1_000_000);
    // RTS, CTS, data and ACK with a SIFS after each but the last.
    let (cts_us, ack_us) = (304, 304);
    let end_us = 1000 + RTS_US + 10 + cts_us + 10 + DATA_US + 10 + ack_us;
    let arrivals = &world.simulation.application.arrivals;
    let order: Vec<usize> = arrivals.iter().map(|arrival| arrival.0).collect();
    assert_eq!(order, [1, 0, 2]);
    let short_us = 192 + 4 * (100 + 28);
    // The first exchange, DIFS, and a back-off of 0 to 31 slots.
    let begun_us = arrivals[2].2 - short_us;
    let mut possible_us = (0..=31).map(|slots| end_us + 50 + 20 * slots);
    assert!(possible_us.any(|at_us| at_us == begun_us), "{begun_us}");
}
