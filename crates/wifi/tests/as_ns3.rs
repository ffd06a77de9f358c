//! Medium access as ns-3 has it: arrival at an idle station, waits for answers, lifetime.

mod common;

use backlane_net::{QueueConfig, QueueLimit};
use backlane_param::{OrOff, OrStandard};
use backlane_units::Duration;
use backlane_wifi::phy::Standard;
use backlane_wifi::{AnswerWait, Arrival, WifiConfig, WifiLinkConfig};
use common::{Setting, Source, Told, link, mbps};

/// An IP packet of 1500 bytes and 36 of headers at 6 Mbit/s.
const DATA_US: u64 = 2072;
const ACK_US: u64 = 44;
const SIFS_US: u64 = 16;
const DIFS_US: u64 = 34;

fn a_at_6() -> WifiConfig {
    WifiConfig::ns3(Standard::A, mbps(6.0))
}

/// Neighbours 30 m apart decode each other, and sense two hops.
fn chain(config: WifiConfig, hops: usize) -> Setting {
    let metres: Vec<f64> = (0..=hops).map(|hop| 30.0 * hop as f64).collect();
    let mut setting = Setting::line(config, &metres);
    setting.links.retain(|link| link.b == link.a + 1);
    setting
}

/// ns-3.37 recorded 2.1061, 4.2722, 6.4383 and 8.6044 ms over 1 to 4 hops with a route in place
/// (`validation/ns3/truth/wifi_routes.csv`, OLSR), where 0.1 µs of each hop is propagation.
#[test]
fn a_first_packet_takes_as_long_over_a_chain_as_recorded_in_ns3() {
    let recorded_us = [2106.1, 4272.2, 6438.3, 8604.4];
    for (hops, recorded_us) in (1..).zip(recorded_us) {
        let mut setting = chain(a_at_6(), hops);
        setting.sources = vec![Source {
            bytes: 1500,
            ..Source::at(0, hops, &[1000])
        }];
        let arrivals = setting.build().run_until(100_000).arrivals_us();
        let ours_us = (arrivals[0] - 1000) as f64;
        let propagation_us = 0.1 * hops as f64;
        assert!(
            (ours_us + propagation_us - recorded_us).abs() < 0.05,
            "{hops} hops: {ours_us}"
        );
    }
}

#[test]
fn by_the_standard_a_relay_backs_off_after_its_acknowledgment() {
    let waits = |arrival| {
        let mut config = a_at_6();
        config.arrival = arrival;
        let mut setting = chain(config, 2);
        let times: Vec<u64> = (0..200).map(|packet| 20_000 * packet).collect();
        setting.sources = vec![Source {
            bytes: 1500,
            ..Source::at(0, 2, &times)
        }];
        let arrivals = setting.build().run_until(5_000_000).arrivals_us();
        let first_us = DATA_US + SIFS_US + ACK_US + DIFS_US + DATA_US;
        let late = arrivals.iter().zip(times);
        late.map(|(at_us, from_us)| at_us - from_us - first_us)
            .collect::<Vec<u64>>()
    };
    assert!(waits(Arrival::Ns3).iter().all(|&us| us == DIFS_US));
    let drawn = waits(Arrival::Standard);
    assert!(drawn.iter().all(|us| us % 9 == 0));
    // Uniform over 0 to 15 slots: 67.5 µs, with a standard error of 2.9 µs.
    let mean_us = drawn.iter().sum::<u64>() as f64 / drawn.len() as f64;
    assert!((mean_us - 67.5).abs() < 12.0, "{mean_us}");
}

#[test]
fn an_attempt_follows_the_wait_for_the_preamble_of_an_answer() {
    for (answer_wait, wait_us) in [(AnswerWait::Preamble, 45), (AnswerWait::Response, 60)] {
        let mut config = a_at_6();
        config.answer_wait = answer_wait;
        config.cw_min = OrStandard::Value(0);
        config.cw_max = OrStandard::Value(0);
        let mut setting = Setting::line(config, &[0.0, 30.0]);
        setting.links = vec![WifiLinkConfig {
            loss: Some(1.0),
            ..link(0, 1)
        }];
        setting.sources = vec![Source {
            bytes: 1500,
            ..Source::at(0, 1, &[1000])
        }];
        let mut world = setting.build();
        world.run_until(100_000);
        // Seven attempts, each with its wait, and DIFS between them.
        let given_up_us = 1000 + DIFS_US + 7 * (DATA_US + wait_us) + 6 * DIFS_US;
        assert_eq!(
            world.told(),
            [
                (0, given_up_us, Told::Back(0)),
                (0, given_up_us, Told::Attempts(7, false))
            ]
        );
    }
}

/// An ACK at 6 Mbit/s ends 60 µs after the frame, later than the wait of 45 µs.
#[test]
fn an_answer_whose_payload_has_begun_is_waited_for() {
    let mut setting = Setting::line(a_at_6(), &[0.0, 30.0]);
    setting.sources = vec![Source {
        bytes: 1500,
        ..Source::at(0, 1, &[1000])
    }];
    let mut world = setting.build();
    world.run_until(100_000);
    let done_us = 1000 + DIFS_US + DATA_US + SIFS_US + ACK_US;
    assert_eq!(world.told(), [(0, done_us, Told::Attempts(1, true))]);
}

/// 200 packets at once over a link that carries none: seven attempts take 15 ms and more, and what
/// has waited for 100 ms is dropped, in the queue or between two attempts.
#[test]
fn packets_that_wait_longer_than_their_lifetime_are_dropped() {
    let reports = |lifetime, report_expiry| {
        let mut config = a_at_6();
        config.lifetime = lifetime;
        config.report_expiry = report_expiry;
        let mut setting = Setting::line(config, &[0.0, 30.0]);
        setting.queue = QueueConfig::DropTail(QueueLimit::Packets(500));
        setting.links = vec![WifiLinkConfig {
            loss: Some(1.0),
            ..link(0, 1)
        }];
        setting.sources = vec![Source {
            bytes: 1500,
            ..Source::at(0, 1, &[0; 200])
        }];
        let mut world = setting.build();
        world.run_until(60_000_000);
        let told = world.told();
        let back = told
            .iter()
            .filter(|(_, _, told)| matches!(told, Told::Back(_)));
        let last_us = told.iter().map(|&(_, at_us, _)| at_us).max();
        let counters = world.readings(0);
        let failures = (told.iter())
            .filter(|(_, _, told)| matches!(told, Told::Attempts(_, false)))
            .count() as u64;
        (back.count() as u64, counters.queue_drops, failures, last_us)
    };
    let (back, dropped, failures, _) = reports(OrOff::Off, true);
    assert_eq!((back, dropped, failures), (200, 0, 200));
    let lifetime = Duration::from_millis(100);
    let (_, _, failures, _) = reports(OrOff::Value(lifetime), true);
    assert_eq!(
        failures, 200,
        "as ns-3 has it, each is reported as a failure"
    );
    let (back, dropped, failures, last_us) = reports(OrOff::Value(lifetime), false);
    assert_eq!((back + dropped, failures), (200, back));
    // Of seven attempts a packet's least time is 7 · 2.1 ms; the mean with back-off is 22 ms.
    assert!((3..=7).contains(&back), "{back}");
    // The last to be reported had its last attempt within the lifetime.
    assert!(last_us.is_some_and(|us| us < 100_000 + DATA_US + 60));
}
