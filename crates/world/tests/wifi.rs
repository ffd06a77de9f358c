//! Meshes of 802.11 radios, from the file to the results.

mod common;

use backlane_world::tcp::congestion::{Ack, CongestionControl, Custom, Window};
use backlane_world::units::SimTime;
use backlane_world::{Outcome, World};
use common::{floats, resolve, run};

/// A chain of routers 100 m apart that all hear each other, up to three of them, under ns-2's radio.
fn chain(nodes: usize, wifi: &str, more: &str) -> String {
    format!(
        r#"
name = "chain"
duration = "60 s"
[topology]
kind = "chain"
nodes = {nodes}
spacing = "100 m"
link = {{ medium = "wifi" }}
[wifi]
profile = "ns2"
{wifi}
{more}
"#
    )
}

/// TCP as ns-2 has it: segments of 1000 bytes under headers of 40, all acknowledged at once.
const TCP: &str = r#"
[tcp]
mss = "1000 B"
timestamps = false
delayed_ack_segments = 1
"#;

fn endless(from: &str, to: &str) -> String {
    format!("[[flow]]\nkind = \"transfer\"\nfrom = \"{from}\"\nto = \"{to}\"\nsize = \"endless\"\n")
}

fn goodput_bps(outcome: &Outcome) -> f64 {
    floats(&outcome.flows, "goodput_bps")[0].unwrap()
}

/// The four ways of ns-2's radio at 2 Mbit/s.
const WAYS: [Way; 4] = [
    Way {
        rts: true,
        control_mbps: 1.0,
        wifi: "",
        kbps: 1049.0,
    },
    Way {
        rts: true,
        control_mbps: 2.0,
        wifi: "control_rate = \"2 Mbit/s\"",
        kbps: 1104.0,
    },
    Way {
        rts: false,
        control_mbps: 1.0,
        wifi: "rts_threshold = \"off\"",
        kbps: 1275.0,
    },
    Way {
        rts: false,
        control_mbps: 2.0,
        wifi: "rts_threshold = \"off\"\ncontrol_rate = \"2 Mbit/s\"",
        kbps: 1298.0,
    },
];

struct Way {
    rts: bool,
    control_mbps: f64,
    wifi: &'static str,
    /// What one TCP flow can have over one hop if every frame waits for a back-off of 15.5 slots.
    kbps: f64,
}

impl Way {
    /// The same over so many hops that share the air, for frames that wait for so many slots.
    fn kbps_with(&self, wait_slots: f64, hops: usize) -> f64 {
        let control_us = |bytes: f64| 192.0 + 8.0 * bytes / self.control_mbps;
        let (sifs, difs, slot) = (10.0, 50.0, 20.0);
        let announced = if self.rts {
            control_us(20.0) + sifs + control_us(14.0) + sifs
        } else {
            0.0
        };
        let exchange_us = |ip_bytes: f64| {
            let data_us = 192.0 + 8.0 * (ip_bytes + 28.0) / 2.0;
            difs + wait_slots * slot + announced + data_us + sifs + control_us(14.0)
        };
        8e6 / (exchange_us(1040.0) + exchange_us(40.0)) / hops as f64
    }
}

/// How long a frame waits on average, in slots, where one packet goes to and fro over so many
/// hops. Who has sent draws a back-off at once, and it runs while others wait for theirs; if it
/// has run out when its turn comes, another is drawn, since the air was just busy.
fn mean_wait_slots(hops: usize) -> f64 {
    let mut state = 1_u64;
    let mut draw = move || {
        // The high bits of a linear congruential generator (Knuth's MMIX).
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        state >> 59
    };
    let mut left = vec![0_u64; hops + 1];
    let (mut waited, mut frames) = (0, 0);
    let turns: Vec<usize> = (0..hops).chain((1..=hops).rev()).collect();
    for _ in 0..200_000 {
        for &turn in &turns {
            if left[turn] == 0 {
                left[turn] = draw();
            }
            let wait = left[turn];
            for left in &mut left {
                *left = left.saturating_sub(wait);
            }
            left[turn] = draw();
            (waited, frames) = (waited + wait, frames + 1);
        }
    }
    waited as f64 / f64::from(frames)
}

/// One packet in flight, whatever happens.
#[derive(Debug)]
struct OnePacket;

impl CongestionControl for OnePacket {
    fn on_ack(&mut self, _now: SimTime, _ack: &Ack, window: &mut Window) {
        window.cwnd_pkts = 1;
    }

    fn ssthresh(&mut self, _now: SimTime, _window: &Window, _in_flight_pkts: u32) -> u32 {
        2
    }
}

#[test]
fn the_air_allows_what_its_times_say() {
    for way in WAYS {
        let kbps = way.kbps_with(15.5, 1);
        assert!((kbps / way.kbps - 1.0).abs() < 5e-4, "{}: {kbps}", way.wifi);
    }
}

#[test]
fn one_segment_at_a_time_takes_exactly_the_air_of_its_frames() {
    let control = Custom::new("one", |_seed| Box::new(OnePacket));
    for hops in [1, 2] {
        let wait_slots = mean_wait_slots(hops);
        for way in WAYS {
            let flow = endless("enb1", &format!("enb{}", hops + 1));
            let tcp =
                format!("{TCP}congestion_control = \"custom:one\"\ninitial_window_pkts = 1\n");
            let scenario = resolve(&chain(hops + 1, way.wifi, &(tcp + &flow)));
            let world = World::with_controls(&scenario, 1, None, std::slice::from_ref(&control));
            let outcome = world.unwrap().run(|_, _| Ok(())).unwrap();
            let ratio = goodput_bps(&outcome) / 1e3 / way.kbps_with(wait_slots, hops);
            // Five standard deviations of the back-offs in 60 s.
            assert!((ratio - 1.0).abs() < 1e-3, "{} {hops}: {ratio}", way.wifi);
        }
    }
}

/// With a full window both ends have something to send: their back-offs run at the same time, and
/// now and then they collide. That costs little if it is an RTS, and a segment if it is not.
#[test]
fn one_tcp_flow_fills_the_air() {
    for hops in [1, 2] {
        for way in WAYS {
            let flow = endless("enb1", &format!("enb{}", hops + 1));
            let outcome = run(
                &chain(hops + 1, way.wifi, &(TCP.to_owned() + &flow)),
                1,
                None,
            );
            let ratio = goodput_bps(&outcome) / 1e3 / (way.kbps / hops as f64);
            let allowed = if way.rts { 0.98..1.035 } else { 0.98..1.02 };
            assert!(allowed.contains(&ratio), "{} {hops}: {ratio}", way.wifi);
        }
    }
}
