//! One frame after another: times on the air, acknowledgments, retries, broadcasts.

mod common;

use backlane_engine::{Streams, Watch};
use backlane_net::{DropCause, NodeId, QueueConfig, QueueLimit};
use backlane_param::OrStandard;
use backlane_radio::FrameFading;
use backlane_units::Power;
use backlane_wifi::phy::Standard;
use backlane_wifi::{DataRate, Wifi, WifiConfig, WifiLinkConfig};
use common::{RTS_NEVER, Setting, Source, Told, link, mbps, rts_above};

/// 1028 bytes of IP and 36 of headers at 2 Mbit/s: 192 + 4256 µs; ACK at 2 Mbit/s: 192 + 56.
const DATA_US: u64 = 4448;
const ACK_US: u64 = 248;
const SIFS_US: u64 = 10;
const DIFS_US: u64 = 50;

fn b_at_2() -> WifiConfig {
    WifiConfig::new(Standard::B, mbps(2.0))
}

#[test]
fn the_first_packet_over_an_idle_channel_is_sent_at_once() {
    let mut setting = Setting::line(b_at_2(), &[0.0, 10.0]);
    setting.sources = vec![Source::at(0, 1, &[1000])];
    let mut world = setting.build();
    world.run_until(1_000_000);
    assert_eq!(world.arrivals_us(), [1000 + DATA_US]);
    assert_eq!(
        world.told(),
        [(
            0,
            1000 + DATA_US + SIFS_US + ACK_US,
            Told::Attempts(1, true)
        )]
    );
}

#[test]
fn the_next_packet_waits_difs_and_a_whole_number_of_slots_up_to_31() {
    let mut setting = Setting::line(b_at_2(), &[0.0, 10.0]);
    setting.sources = vec![Source::at(0, 1, &[0; 200])];
    setting.queue = QueueConfig::DropTail(QueueLimit::Packets(300));
    let mut world = setting.build();
    world.run_until(3_000_000);
    let arrivals = world.arrivals_us();
    assert_eq!(arrivals.len(), 200);
    let mut seen = [false; 32];
    for pair in arrivals.windows(2) {
        let back_off_us = pair[1] - pair[0] - SIFS_US - ACK_US - DIFS_US - DATA_US;
        assert_eq!(back_off_us % 20, 0);
        seen[(back_off_us / 20) as usize] = true;
    }
    // Each of 32 values is missed by 199 draws with a probability of 0.2 %.
    assert!(seen.iter().filter(|seen| **seen).count() >= 30);
}

/// Stations out of each other's earshot sense each other to the left of a receiver and beyond:
/// frames are decoded to 250 m and sensed to 550 m.
fn ns2_without_rts() -> WifiConfig {
    WifiConfig {
        rts_threshold: rts_above(RTS_NEVER),
        ..WifiConfig::ns2(mbps(2.0))
    }
}

/// 1028 bytes of IP and 28 of headers at 2 Mbit/s.
const NS2_DATA_US: u64 = 192 + 4224;
/// ACK and CTS at 1 Mbit/s, as an RTS of 20 bytes.
const NS2_ACK_US: u64 = 304;
const NS2_RTS_US: u64 = 352;

#[test]
fn a_frame_that_is_sensed_and_not_decoded_is_followed_by_eifs() {
    // Node 2 is 400 m from node 0 and sends to node 3.
    let begin_us = |eifs| {
        let mut setting = Setting::line(ns2_without_rts(), &[0.0, -200.0, 400.0, 600.0]);
        setting.config.eifs = eifs;
        setting.config.cw_min = OrStandard::Value(0);
        setting.sources = vec![Source::at(0, 1, &[1000]), Source::at(2, 3, &[2000])];
        let mut world = setting.build();
        let arrivals = world.run_until(100_000).arrivals_us();
        // Node 2 does not sense the ACK of node 1, 600 m away.
        assert_eq!(arrivals[0], 1000 + NS2_DATA_US);
        arrivals[1] - NS2_DATA_US
    };
    let end_us = 1000 + NS2_DATA_US;
    assert_eq!(begin_us(true), end_us + SIFS_US + NS2_ACK_US + DIFS_US);
    assert_eq!(begin_us(false), end_us + DIFS_US);
}

#[test]
fn a_decoded_frame_reserves_the_channel_for_its_acknowledgment_even_if_that_is_not_heard() {
    // Node 2 decodes node 0, 200 m away, and does not sense node 1, 600 m away, whose link has no
    // loss at any distance.
    let mut setting = Setting::line(ns2_without_rts(), &[0.0, -400.0, 200.0, 400.0]);
    setting.config.cw_min = OrStandard::Value(0);
    setting.links.push(WifiLinkConfig {
        loss: Some(0.0),
        ..link(0, 1)
    });
    setting.sources = vec![Source::at(0, 1, &[1000]), Source::at(2, 3, &[2000])];
    let mut world = setting.build();
    let arrivals = world.run_until(100_000).arrivals_us();
    let end_us = 1000 + NS2_DATA_US;
    assert_eq!(arrivals[0], end_us);
    let begin_us = end_us + SIFS_US + NS2_ACK_US + DIFS_US;
    assert_eq!(arrivals[1], begin_us + NS2_DATA_US);
}

#[test]
fn rts_and_cts_come_before_data_above_the_threshold() {
    for (threshold, before_us) in [(1055, NS2_RTS_US + NS2_ACK_US + 2 * SIFS_US), (1056, 0)] {
        let mut setting = Setting::line(WifiConfig::ns2(mbps(2.0)), &[0.0, 200.0]);
        setting.config.rts_threshold = rts_above(threshold);
        setting.sources = vec![Source::at(0, 1, &[1000])];
        let mut world = setting.build();
        let arrivals = world.run_until(100_000).arrivals_us();
        assert_eq!(arrivals, [1000 + before_us + NS2_DATA_US]);
        assert_eq!(world.readings(0).attempts, 1);
        let frames = if before_us > 0 { 2 } else { 1 };
        assert_eq!(world.readings(0).frames_sent, frames);
        assert_eq!(world.readings(1).frames_sent, frames);
    }
}

#[test]
fn an_rts_without_an_answer_reserves_the_channel_only_until_a_cts_would_be_heard() {
    // Node 1 never hears node 0; node 2 does, and sends to node 3.
    let mut setting = Setting::line(WifiConfig::ns2(mbps(2.0)), &[0.0, -100.0, 200.0, 300.0]);
    setting.config.cw_min = OrStandard::Value(0);
    setting.config.short_retry = 1;
    setting.config.control_loss = true;
    setting.links = vec![
        WifiLinkConfig {
            loss: Some(1.0),
            ..link(0, 1)
        },
        link(2, 3),
    ];
    setting.sources = vec![Source::at(0, 1, &[1000]), Source::at(2, 3, &[1200])];
    let mut world = setting.build();
    let arrivals = world.run_until(100_000).arrivals_us();
    let lapses_us = 1000 + NS2_RTS_US + 2 * SIFS_US + NS2_ACK_US + 192 + 2 * 20;
    let before_us = NS2_RTS_US + NS2_ACK_US + 2 * SIFS_US;
    assert_eq!(arrivals, [lapses_us + DIFS_US + before_us + NS2_DATA_US]);
}

/// Packets of one station over a link that loses each data frame with this probability: how many
/// attempts each took, and whether it was delivered.
fn attempts_over_loss(config: WifiConfig, loss: f64, packets: usize) -> Vec<(u32, bool)> {
    let mut setting = Setting::line(config, &[0.0, 10.0]);
    setting.links = vec![WifiLinkConfig {
        loss: Some(loss),
        ..link(0, 1)
    }];
    let times_us: Vec<u64> = (0..packets as u64).map(|n| n * 100_000).collect();
    setting.sources = vec![Source::at(0, 1, &times_us)];
    let mut world = setting.build();
    world.run_until(100_000 * packets as u64);
    let told = world.told().into_iter();
    told.filter_map(|(_, _, told)| match told {
        Told::Attempts(attempts, delivered) => Some((attempts, delivered)),
        _ => None,
    })
    .collect()
}

/// Mean and five standard errors of a share.
fn assert_share(found: usize, of: usize, expected: f64) {
    let (found, of) = (found as f64, of as f64);
    let error = 5.0 * (expected * (1.0 - expected) / of).sqrt();
    assert!(
        (found / of - expected).abs() < error,
        "{} of {of}, expected {expected} ± {error}",
        found / of
    );
}

#[test]
fn a_frame_is_given_up_after_seven_attempts_or_four_behind_an_rts() {
    let packets = 20_000;
    for (rts, limit) in [(RTS_NEVER, 7), (0, 4)] {
        let config = WifiConfig {
            rts_threshold: rts_above(rts),
            ..b_at_2()
        };
        let attempts = attempts_over_loss(config, 0.5, packets);
        assert_eq!(attempts.len(), packets);
        assert!(
            attempts
                .iter()
                .all(|&(tried, _)| (1..=limit).contains(&tried))
        );
        let lost = attempts.iter().filter(|(_, delivered)| !delivered);
        assert_share(lost.count(), packets, 0.5f64.powi(limit as i32));
        let at_once = attempts.iter().filter(|(tried, _)| *tried == 1);
        assert_share(at_once.count(), packets, 0.5);
    }
}

#[test]
fn an_rts_without_an_answer_is_repeated_six_times() {
    let config = WifiConfig {
        rts_threshold: rts_above(0),
        control_loss: true,
        ..b_at_2()
    };
    assert_eq!(attempts_over_loss(config, 1.0, 3), [(7, false); 3]);
}

#[test]
fn what_is_given_up_comes_back_to_its_router_before_the_attempts_are_told() {
    let mut setting = Setting::line(b_at_2(), &[0.0, 10.0]);
    setting.links[0].loss = Some(1.0);
    setting.sources = vec![Source::at(0, 1, &[0])];
    let mut world = setting.build();
    let told = world.run_until(1_000_000).told();
    let what: Vec<_> = told.iter().map(|(_, _, told)| told.clone()).collect();
    assert_eq!(what, [Told::Back(0), Told::Attempts(7, false)]);
    assert!(world.arrivals_us().is_empty());
}

#[test]
fn a_packet_whose_acknowledgment_is_lost_comes_out_once_and_never_back() {
    let packets = 5000;
    let mut setting = Setting::line(b_at_2(), &[0.0, 10.0]);
    setting.config.control_loss = true;
    setting.links[0].loss = Some(0.5);
    let times_us: Vec<u64> = (0..packets).map(|n| n * 200_000).collect();
    setting.sources = vec![Source::at(0, 1, &times_us)];
    let mut world = setting.build();
    world.run_until(packets * 200_000);
    let mut numbers: Vec<u64> = world
        .simulation
        .application
        .arrivals
        .iter()
        .map(|&(_, number, _)| number)
        .collect();
    let came_out = numbers.len();
    numbers.dedup();
    assert_eq!(numbers.len(), came_out);
    // Data is lost in all seven attempts; the ACK of what came over may be.
    assert_share(
        packets as usize - came_out,
        packets as usize,
        0.5f64.powi(7),
    );
    let told = world.told();
    let back = told.iter().filter(|told| matches!(told.2, Told::Back(_)));
    assert_eq!(back.count(), packets as usize - came_out);
    let unacknowledged = told
        .iter()
        .filter(|told| matches!(told.2, Told::Attempts(_, false)));
    assert_share(unacknowledged.count(), packets as usize, 0.75f64.powi(7));
    assert!(world.readings(1).duplicates > packets / 4);
}

#[test]
fn a_broadcast_is_sent_once_and_each_neighbour_hears_it_or_not() {
    let mut setting = Setting::line(b_at_2(), &[0.0, 10.0, 20.0]);
    setting.links = vec![
        WifiLinkConfig {
            loss: Some(0.5),
            ..link(0, 1)
        },
        WifiLinkConfig {
            loss: Some(0.0),
            ..link(0, 2)
        },
    ];
    let sent = 2000;
    setting.broadcasts = (0..sent as u64).map(|n| (0, n * 50_000, 40)).collect();
    let mut world = setting.build();
    world.run_until(50_000 * sent as u64);
    let readings = world.readings(0);
    assert_eq!(readings.broadcasts, sent as u64);
    assert_eq!(readings.frames_sent, sent as u64);
    assert_eq!(readings.attempts, 0);
    let told = world.told();
    let heard = |node| told.iter().filter(|told| told.0 == node).count();
    assert_share(heard(1), sent, 0.5);
    assert_eq!(heard(2), sent);
    // 40 + 28 bytes of UDP and 36 of headers at 1 Mbit/s.
    assert_eq!(told[0].1, 192 + 8 * 104);
}

#[test]
fn a_message_on_a_packet_is_overheard_by_neighbours_of_its_sender() {
    for promiscuous in [true, false] {
        let mut setting = Setting::line(b_at_2(), &[0.0, 10.0, 20.0]);
        setting.config.promiscuous = promiscuous;
        setting.rides = Some(vec![7; 12].into());
        setting.sources = vec![Source::at(0, 1, &[0])];
        let mut world = setting.build();
        let told = world.run_until(100_000).told();
        let overheard = told.contains(&(2, DATA_US + 48, Told::Message(0, 12)));
        assert_eq!(overheard, promiscuous);
        assert!(told.contains(&(1, DATA_US + 48, Told::Message(0, 12))));
    }
}

#[test]
fn what_the_queue_does_not_hold_is_dropped() {
    let mut setting = Setting::line(b_at_2(), &[0.0, 10.0]);
    setting.queue = QueueConfig::DropTail(QueueLimit::Packets(5));
    setting.sources = vec![Source::at(0, 1, &[0; 20])];
    let mut world = setting.build();
    world.run_until(1_000_000);
    // One in service and five that wait.
    assert_eq!(world.arrivals_us().len(), 6);
    assert_eq!(world.readings(0).queue_drops, 14);
    assert_eq!(world.readings(0).queue_max_pkts, 5);
    let dropped = world.simulation.network.balance().dropped;
    assert_eq!(dropped[DropCause::Queue as usize], 14);
}

/// One packet is in service and five wait when the message comes.
#[test]
fn routing_messages_go_before_packets_that_wait_where_they_have_a_queue_of_their_own() {
    for (routing_first, before) in [(true, 1), (false, 6)] {
        let mut setting = Setting::line(b_at_2(), &[0.0, 10.0]);
        setting.config.routing_first = routing_first;
        setting.queue = QueueConfig::DropTail(QueueLimit::Packets(6));
        setting.sources = vec![Source::at(0, 1, &[0; 6])];
        setting.broadcasts = vec![(0, 10, 40)];
        let mut world = setting.build();
        let arrivals = world.run_until(200_000).arrivals_us();
        assert_eq!(arrivals.len(), 6);
        let told = world.told();
        let heard_us = told.iter().find(|told| told.0 == 1).unwrap().1;
        let earlier = arrivals.iter().filter(|&&us| us < heard_us).count();
        assert_eq!(earlier, before);
    }
}

#[test]
fn over_a_link_that_is_down_nothing_comes_and_a_dead_node_is_silent() {
    let mut setting = Setting::line(b_at_2(), &[0.0, 10.0, 20.0]);
    setting.sources = vec![
        Source::at(0, 1, &[200_000, 600_000]),
        Source::at(0, 2, &[1_100_000, 1_600_000]),
        Source::at(2, 1, &[1_300_000]),
    ];
    let mut world = setting.build();
    let link = world.simulation.network.mesh_interfaces(NodeId(0))[0].outgoing;
    world.run_until(100_000);
    world.simulation.set_link_up(link, false);
    world.run_until(500_000);
    world.simulation.set_link_up(link, true);
    world.run_until(1_000_000);
    world.simulation.set_node_up(NodeId(2), false);
    world.run_until(1_500_000);
    world.simulation.set_node_up(NodeId(2), true);
    world.run_until(2_000_000);
    assert_eq!(
        world.arrivals_us(),
        [600_000 + DATA_US, 1_600_000 + DATA_US]
    );
    assert_eq!(world.readings(0).given_up, 2);
    assert_eq!(world.readings(2).attempts, 0);
}

/// A frame that a node sends as it fails is received by no station, even if the node recovers before
/// the end of the frame.
#[test]
fn a_frame_of_a_node_that_dies_is_not_taken_for_the_next_one() {
    let mut setting = Setting::line(b_at_2(), &[0.0, 10.0]);
    setting.sources = vec![Source::at(0, 1, &[0, 3000])];
    let mut world = setting.build();
    world.run_until(1000);
    world.simulation.set_node_up(NodeId(0), false);
    world.run_until(2000);
    world.simulation.set_node_up(NodeId(0), true);
    world.run_until(100_000);
    let arrivals = world.simulation.application.arrivals.clone();
    assert_eq!(arrivals.len(), 1);
    let (_, number, us) = arrivals[0];
    assert_eq!(number, 1);
    assert!(us >= 2 * DATA_US, "{us}");
}

#[test]
fn airtime_is_counted_by_link_and_by_radio() {
    let mut setting = Setting::line(b_at_2(), &[0.0, 10.0, 20.0]);
    setting.sources = vec![Source::at(0, 1, &[0, 50_000])];
    let mut world = setting.build();
    world.run_until(100_000);
    let us = |ps: u128| (ps / 1_000_000) as u64;
    let link = world.simulation.network.mesh_interfaces(NodeId(0))[0].outgoing;
    let reading = world.wifi().link_counters(link).unwrap();
    assert_eq!(us(reading.airtime_ps), 2 * (DATA_US + ACK_US));
    assert_eq!((reading.attempts, reading.delivered), (2, 2));
    assert_eq!(us(world.readings(0).sending_ps), 2 * DATA_US);
    assert_eq!(us(world.readings(1).sending_ps), 2 * ACK_US);
    for station in 0..3 {
        let busy_us = us(world.readings(station).busy_ps);
        assert_eq!(busy_us, 2 * (DATA_US + ACK_US), "{station}");
    }
}

#[test]
fn an_idle_station_changes_nothing_for_the_others() {
    let arrivals = |metres: &[f64]| {
        let mut setting = Setting::line(WifiConfig::new(Standard::A, mbps(54.0)), metres);
        setting.sources = vec![
            Source::endless(0, 1),
            Source::endless(1, 2),
            Source::endless(2, 0),
        ];
        let mut world = setting.build();
        world.run_until(1_000_000);
        (
            world.simulation.application.arrivals.clone(),
            world.simulation.digest(),
        )
    };
    let alone = arrivals(&[0.0, 3.0, 6.0]);
    assert!(alone.0.len() > 2000);
    assert_eq!(arrivals(&[0.0, 3.0, 6.0, 9.0, 40.0]), alone);
}

#[test]
fn a_network_that_cannot_be_is_refused() {
    let stations = |setting: &Setting| setting.stations();
    let refused = |change: &dyn Fn(&mut Setting)| {
        let mut setting = Setting::line(b_at_2(), &[0.0, 10.0]);
        change(&mut setting);
        let stations = stations(&setting);
        Wifi::new(
            &setting.config,
            &setting.queue,
            &stations,
            &setting.links,
            &Streams::new(1),
            &mut Watch::new(&mut |_, _| Ok(())),
        )
        .err()
        .unwrap()
        .to_string()
    };
    assert_eq!(
        refused(&|setting| setting.config.rate = DataRate::Fixed(mbps(54.0))),
        "802.11 B has no rate of 54 Mbit/s; it has 1 Mbit/s, 2 Mbit/s, 5500 kbit/s, 11 Mbit/s"
    );
    assert_eq!(
        refused(&|setting| setting.channels[1] = vec![6]),
        "n1 has no radio on channel 1"
    );
    assert_eq!(
        refused(&|setting| setting.channels[0] = vec![1, 6, 1]),
        "n0 has two radios on channel 1"
    );
    assert_eq!(
        refused(&|setting| setting.links[0].loss = Some(1.5)),
        "a loss of 1.5 is not between 0 and 1"
    );
    assert_eq!(
        refused(&|setting| setting.links[0].b = 0),
        "a link between stations 0 and 0 cannot be"
    );
    for change in [
        (|setting: &mut Setting| setting.config.short_retry = 0) as fn(&mut Setting),
        |setting| setting.config.cw_min = OrStandard::Value(2000),
        |setting| setting.config.carrier_sense = Power::from_mdbm(-60_000),
        |setting| setting.config.fading = FrameFading::Nakagami { m: 0.2 },
        |setting| {
            setting.queue = QueueConfig::DropTail(QueueLimit::BandwidthDelayProduct(1.0));
        },
    ] {
        assert!(!refused(&change).is_empty());
    }
}
