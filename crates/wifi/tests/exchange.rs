//! One frame after another: times on the air, acknowledgments, retries, broadcasts.

mod common;

use backlane_wifi::WifiConfig;
use backlane_wifi::phy::Standard;
use common::{Setting, Source, Told, mbps};

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
    setting.config.queue =
        backlane_net::QueueConfig::DropTail(backlane_net::QueueLimit::Packets(300));
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
