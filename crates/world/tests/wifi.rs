//! Meshes of 802.11 radios, from the file to the results.

mod common;

use backlane_param::params;
use backlane_record::Table;
use backlane_world::controls::Control;
use backlane_world::tcp::congestion::{Ack, CongestionControl, Window};
use backlane_world::units::SimTime;
use backlane_world::{Ended, Models, Outcome, World, remarks};
use common::{floats, integers, resolve, run, texts};

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
    /// The same over this many hops that share the channel, for frames with this mean wait in
    /// slots.
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

/// The mean wait of a frame, in slots, if one packet goes back and forth over this many hops. A
/// sender draws a back-off at once, which counts down while others wait for theirs. If it has
/// expired when its next frame is due, another is drawn, since the channel was just busy.
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

params! {
    /// One packet in flight.
    #[derive(Clone, Copy, Debug)]
    pub struct OnePacket {}
}

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
    let control = Control::new("one", |one: &OnePacket, _seed| Box::new(*one));
    let models = Models::builder()
        .congestion_control(control)
        .build()
        .unwrap();
    for hops in [1, 2] {
        let wait_slots = mean_wait_slots(hops);
        for way in WAYS {
            let flow = endless("enb1", &format!("enb{}", hops + 1));
            let tcp = format!("{TCP}congestion_control = \"one\"\ninitial_window_pkts = 1\n");
            let text = chain(hops + 1, way.wifi, &(tcp + &flow));
            let scenario = models.catalogue().from_resolved(&text).unwrap();
            let outcome = models.run(&scenario, 1).unwrap();
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

/// A graph of routers with these places, links and radios.
fn graph(nodes: &str, links: &str, more: &str) -> String {
    format!(
        "duration = \"20 s\"\n[topology]\nkind = \"graph\"\nnode = [{nodes}]\nlink = [{links}]\n{more}"
    )
}

fn node(id: &str, x_m: u32, more: &str) -> String {
    format!("{{ id = \"{id}\", kind = \"router\", x = \"{x_m} m\", y = \"0 m\"{more} }},")
}

fn udp(from: &str, to: &str, rate: &str) -> String {
    format!("[[flow]]\nkind = \"udp\"\nfrom = \"{from}\"\nto = \"{to}\"\nrate = \"{rate}\"\n")
}

fn further<'a>(outcome: &'a Outcome, name: &str) -> &'a Table {
    let found = outcome.more.iter().find(|(table, _)| *table == name);
    &found.unwrap_or_else(|| panic!("no table {name}")).1
}

#[test]
fn a_given_loss_is_that_of_each_attempt_however_long_the_link_is() {
    let nodes = node("a", 0, "") + &node("b", 5000, "");
    let links = "{ a = \"a\", b = \"b\", medium = \"wifi\" }";
    let wifi = "[wifi]\nprofile = \"ns2\"\nloss = 0.3\n";
    let outcome = run(
        &graph(
            &nodes,
            links,
            &(wifi.to_owned() + &udp("a", "b", "400 kbit/s")),
        ),
        1,
        None,
    );
    let radios = further(&outcome, "wifi");
    let [attempts, failures, given_up] =
        ["attempts", "failures", "given_up"].map(|name| integers(radios, name)[0].unwrap() as f64);
    // 1000 packets in 20 s, an attempt in three more; three standard deviations.
    assert!(
        (failures / attempts - 0.3).abs() < 0.037,
        "{failures} of {attempts}"
    );
    // Long frames are tried four times: one in 123 is given up.
    assert!((1.0..=17.0).contains(&given_up), "{given_up}");
    let received = integers(&outcome.flows, "packets_received")[0].unwrap() as f64;
    assert!((received + given_up - 1000.0).abs() <= 1.0, "{received}");
}

#[test]
fn links_out_of_range_and_cut_off_nodes_are_reported_and_the_run_measures_the_rest() {
    let nodes =
        node("a", 0, "") + &node("b", 200, "") + &node("c", 9000, "") + &node("d", 9100, "");
    let links =
        "{ a = \"a\", b = \"b\", medium = \"wifi\" }, { a = \"c\", b = \"d\", medium = \"wifi\" }";
    let wifi = "[wifi]\nprofile = \"ns2\"\nneighbours = \"in-range\"\n";
    let flows = endless("a", "b") + &endless("a", "d");
    let text = graph(&nodes, links, &(wifi.to_owned() + &flows));
    let found = remarks(&resolve(&text), 1, "mesh.toml").unwrap();
    let found: Vec<_> = found
        .iter()
        .map(|remark| (remark.code, remark.message.as_str()))
        .collect();
    let cut_off =
        "there is no way from \"a\" to \"c\", and one other; 1 of 2 flows get nothing through";
    assert_eq!(found, [("S115", cut_off)]);
    let outcome = run(&text, 1, None);
    assert_eq!(outcome.summary.ended, Ended::TimeLimit);
    let delivered = integers(&outcome.flows, "delivered_bytes");
    assert!(delivered[0].unwrap() > 1_000_000, "{delivered:?}");
    assert_eq!(delivered[1], Some(0));

    let long = text
        .replace("200 m", "300 m")
        .replace("neighbours = \"in-range\"\n", "");
    let found = remarks(&resolve(&long), 1, "mesh.toml").unwrap();
    assert_eq!(found[0].code, "S114");
    assert_eq!(found[0].message, "the radio link a-b is out of range");
}

#[test]
fn neighbours_in_range_are_those_that_decode_each_other() {
    let nodes: String = (0..6)
        .map(|i| node(&format!("n{i}"), 100 * i, ""))
        .collect();
    let wifi = "[wifi]\nprofile = \"ns2\"\nneighbours = \"in-range\"\n";
    let text = graph(
        &nodes,
        "",
        &(wifi.to_owned() + &udp("n0", "n5", "100 kbit/s")),
    );
    let outcome = run(&text, 1, None);
    // 250 m: five links over one step and four over two, each in two directions.
    assert_eq!(outcome.links.rows(), 18);
    assert_eq!(floats(&outcome.flows, "hops_mean"), [Some(3.0)]);
}

#[test]
fn two_channels_carry_twice_as_much_over_two_hops() {
    let on = |a: &str, b: &str, c: &str| {
        let channels = |list: &str| format!(", channels = [{list}]");
        let nodes = node("a", 0, &channels(a))
            + &node("b", 100, &channels(b))
            + &node("c", 200, &channels(c));
        let links = "{ a = \"a\", b = \"b\", medium = \"wifi\" }, { a = \"b\", b = \"c\", medium = \"wifi\" }";
        let wifi = format!("[wifi]\nprofile = \"ns2\"\n{}", udp("a", "c", "2 Mbit/s"));
        let outcome = run(&graph(&nodes, links, &wifi), 1, None);
        assert_eq!(
            further(&outcome, "wifi").rows(),
            a.split(',').count() + b.split(',').count() + c.split(',').count()
        );
        goodput_bps(&outcome)
    };
    // With one channel two stations share the air and each packet crosses it twice.
    let ratio = on("1", "1, 6", "6") / on("1", "1", "1");
    assert!((1.9..2.2).contains(&ratio), "{ratio}");
}

#[test]
fn every_protocol_brings_tcp_over_a_mesh_of_radios() {
    for protocol in [
        "shortest-path",
        "olsr",
        "bp",
        "bs",
        "bp-classic",
        "bp-mr",
        "aodv",
    ] {
        let text = format!(
            "duration = \"60 s\"\n[topology]\nkind = \"grid\"\nrows = 3\ncolumns = 3\nspacing = \"200 m\"\n\
             link = {{ medium = \"wifi\" }}\n[wifi]\nprofile = \"ns2\"\nrate = \"11 Mbit/s\"\n\
             [routing]\nprotocol = \"{protocol}\"\nwarm_up = \"15 s\"\n\
             [[flow]]\nkind = \"transfer\"\nfrom = \"enb1\"\nto = [\"enb9\", \"enb6\"]\nsize = \"300 kB\"\n"
        );
        let outcome = run(&text, 1, None);
        let delivered = integers(&outcome.flows, "delivered_bytes");
        assert_eq!(delivered, [Some(300_000); 2], "{protocol}");
        let again = run(&text, 1, None);
        assert_eq!(again.summary.digest, outcome.summary.digest, "{protocol}");
    }
}

#[test]
fn a_failed_radio_link_is_silent_until_it_is_repaired() {
    let nodes = node("a", 0, "") + &node("b", 100, "");
    let links = "{ a = \"a\", b = \"b\", medium = \"wifi\" }";
    let more = format!(
        "[wifi]\nprofile = \"ns2\"\n{}[[failure]]\nlink = \"a-b\"\nat = \"5 s\"\nuntil = \"10 s\"\n\
         [record]\nseries = [\"goodput\"]\ninterval = \"1 s\"\n",
        udp("a", "b", "400 kbit/s")
    );
    let outcome = run(&graph(&nodes, links, &more), 1, None);
    let (_, series) = outcome
        .series
        .iter()
        .find(|(name, _)| *name == "goodput")
        .unwrap();
    let bytes: Vec<u64> = integers(series, "delivered_bytes")
        .into_iter()
        .flatten()
        .collect();
    assert_eq!(bytes.len(), 19);
    let grown = |second: usize| bytes[second] - bytes[second - 1];
    // 50 packets of 1000 bytes a second.
    assert!((49_000..=51_000).contains(&grown(3)), "{bytes:?}");
    assert_eq!(grown(8), 0);
    assert!((49_000..=51_000).contains(&grown(15)), "{bytes:?}");
}

#[test]
fn a_mesh_of_a_hundred_routers_brings_its_packets_across() {
    let flows: String = (0..10)
        .map(|row| {
            udp(
                &format!("enb{}", 10 * row + 1),
                &format!("enb{}", 10 * row + 10),
                "50 kbit/s",
            )
        })
        .collect();
    let text = format!(
        "duration = \"20 s\"\n[topology]\nkind = \"grid\"\nrows = 10\ncolumns = 10\nspacing = \"200 m\"\n\
         link = {{ medium = \"wifi\" }}\n[wifi]\nprofile = \"ns2\"\nrate = \"11 Mbit/s\"\n\
         [routing]\nprotocol = \"olsr\"\nwarm_up = \"30 s\"\n{flows}"
    );
    let outcome = run(&text, 1, None);
    assert_eq!(further(&outcome, "wifi").rows(), 100);
    let sent: u64 = integers(&outcome.flows, "packets_sent")
        .into_iter()
        .flatten()
        .sum();
    let received: u64 = integers(&outcome.flows, "packets_received")
        .into_iter()
        .flatten()
        .sum();
    let share = received as f64 / sent as f64;
    assert!((0.5..=1.0).contains(&share), "{received} of {sent}");
    // Nine steps to the right; OLSR may go around.
    for hops in floats(&outcome.flows, "hops_mean") {
        assert!((9.0..16.0).contains(&hops.unwrap()), "{hops:?}");
    }
}

#[test]
fn ues_may_be_behind_a_backhaul_of_radios() {
    let text =
        "duration = \"30 s\"\n[topology]\nkind = \"chain\"\nnodes = 3\nspacing = \"100 m\"\n\
                link = { medium = \"wifi\" }\n[wifi]\n\
                [[gateway]]\nattach = \"enb1\"\nlink = { rate = \"1 Gbit/s\", delay = \"1 ms\" }\n\
                [[server]]\nattach = \"epc\"\nlink = { rate = \"1 Gbit/s\", delay = \"5 ms\" }\n\
                [access]\nkind = \"ideal\"\nues = 6\n\
                [[flow]]\nkind = \"download\"\nsize = \"200 kB\"\n"
            .replace("[wifi]", "[wifi]\nprofile = \"ns2\"\nrate = \"11 Mbit/s\"");
    let outcome = run(&text, 1, None);
    assert_eq!(outcome.summary.ended, Ended::FlowsFinished);
    let [from, to] = ["from", "to"].map(|end| texts(&outcome.links, end));
    let ends: Vec<_> = from.iter().flatten().zip(to.iter().flatten()).collect();
    let channels = integers(&outcome.links, "channel");
    let over_radios = |(index, _): &(usize, _)| channels[*index].is_some();
    let over_radios: Vec<_> = ends.iter().enumerate().filter(over_radios).collect();
    assert_eq!(over_radios.len(), 4);
    assert!(
        over_radios
            .iter()
            .all(|(_, (from, to))| from.starts_with("enb") && to.starts_with("enb"))
    );
    let bytes = integers(&outcome.links, "bytes");
    let carried = |from: &str, to: &str| {
        let index = ends
            .iter()
            .position(|ends| *ends == (&from.to_owned(), &to.to_owned()));
        bytes[index.unwrap()].unwrap()
    };
    // Four of the six UEs are behind the first hop, two behind the second.
    assert!((800_000..1_000_000).contains(&carried("enb1", "enb2")));
    assert!((400_000..500_000).contains(&carried("enb2", "enb3")));
    assert!((400_000..500_000).contains(&carried("enb2", "enb2:ues")));
}

#[test]
fn two_hundred_saturated_stations_end_by_the_time_limit() {
    let mut nodes = node("ap", 0, "");
    let mut links = String::new();
    let mut flows = String::new();
    for number in 0..200 {
        nodes += &node(&format!("s{number}"), 1 + number % 50, "");
        links += &format!("{{ a = \"ap\", b = \"s{number}\", medium = \"wifi\" }},");
        flows += &udp(&format!("s{number}"), "ap", "1 Mbit/s");
    }
    let text = graph(
        &nodes,
        &links,
        &format!("[wifi]\nstandard = \"802.11a\"\nrate = \"24 Mbit/s\"\n{flows}"),
    );
    let outcome = run(&text.replace("20 s", "5 s"), 1, None);
    assert_eq!(outcome.summary.ended, Ended::TimeLimit);
    let delivered: u64 = integers(&outcome.flows, "delivered_bytes")
        .into_iter()
        .flatten()
        .sum();
    // Most of the air goes to collisions; what is left is far from nothing and below the rate.
    assert!((1_000_000..15_000_000).contains(&delivered), "{delivered}");
    let drops: u64 = integers(further(&outcome, "wifi"), "drops")
        .into_iter()
        .flatten()
        .sum();
    assert!(drops > 0);
}

#[test]
fn cells_of_ues_beside_radios_are_in_the_piece_of_their_enodeb() {
    let mesh = |more: &str| {
        resolve(&format!(
            "duration = \"1 s\"\n[topology]\nkind = \"graph\"\nnode = [\n\
             {{ id = \"a\", kind = \"enodeb\", x = \"0 m\", y = \"0 m\" }},\n\
             {{ id = \"b\", kind = \"router\", x = \"50 m\", y = \"0 m\" }} ]\n\
             link = [ {{ a = \"a\", b = \"b\", medium = \"wifi\" }} ]\n[wifi]\n{more}\
             [[flow]]\nkind = \"transfer\"\nfrom = \"a\"\nto = \"b\"\nsize = \"1 kB\"\n"
        ))
    };
    let bare = remarks(&mesh(""), 1, "mesh.toml").unwrap();
    let cells = remarks(
        &mesh("[access]\nkind = \"ideal\"\nues = 3\n"),
        1,
        "mesh.toml",
    )
    .unwrap();
    assert_eq!(cells, bare, "the UEs add no piece of their own");
}

#[test]
fn a_network_that_each_run_draws_is_built_for_the_seed_that_it_was_read_for() {
    let text = "duration = \"1 s\"\n[topology]\nkind = \"cells\"\nrows = 2\ncolumns = 2\n\
                placement_seed = \"run\"\nlink = { medium = \"wifi\" }\n[wifi]\n";
    let catalogue = backlane_world::catalogue();
    let scenario = catalogue.parse_for(text, "cells.toml", 7).unwrap();
    assert!(World::new(&scenario, 7, None).is_ok());
    let refused = World::new(&scenario, 8, None).map(drop).unwrap_err();
    assert!(refused.to_string().contains("for seed 8"), "{refused}");
}
