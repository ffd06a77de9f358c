//! Parts compared with values computed by hand, and properties of any scenario.

use proptest::prelude::*;
use proptest::test_runner::RngSeed;

use super::{Estimate, estimate};

fn of(text: &str) -> Estimate {
    let plan = crate::catalogue()
        .plan(text, "s.toml", &[], None)
        .unwrap_or_else(|report| panic!("{report}"));
    estimate(
        &crate::catalogue()
            .described(&plan.cells[0].resolved)
            .unwrap(),
    )
}

fn count(estimate: &Estimate, name: &str) -> f64 {
    let parts = estimate.parts.iter().filter(|part| part.name == name);
    parts.map(|part| part.count).sum()
}

/// Three routers in a row, 10 Mbit/s and 5 ms each.
fn row(flow: &str, more: &str) -> String {
    format!(
        "duration = \"10 s\"\n[topology]\nkind = \"graph\"\n\
         node = [{{ id = \"a\" }}, {{ id = \"b\" }}, {{ id = \"c\" }}]\n\
         link = [{{ a = \"a\", b = \"b\", rate = \"10 Mbit/s\", delay = \"5 ms\" }},\n\
         {{ a = \"b\", b = \"c\", rate = \"10 Mbit/s\", delay = \"5 ms\" }}]\n\
         [routing]\nprotocol = \"shortest-path\"\n\
         [[flow]]\nfrom = \"a\"\nto = \"c\"\n{flow}\n{more}"
    )
}

const LOAD: &str = "kind = \"udp\"\nrate = \"1 Mbit/s\"\npacket_size = \"1000 B\"";
const ENDLESS: &str = "kind = \"transfer\"\nsize = \"endless\"";

#[test]
fn a_load_takes_rate_times_duration_packets_over_each_link() {
    let load = of(&row(LOAD, ""));
    // 10 s × 1 Mbit/s / 8000 bit, over two links, and no acknowledgments.
    assert_eq!(count(&load, "data packets"), 1250.0);
    assert_eq!(count(&load, "hops over FIFOs"), 2500.0);
    assert_eq!(count(&load, "acknowledgments"), 0.0);
    assert_eq!(load.simulated_s, 10.0);
}

#[test]
fn a_load_that_does_not_fit_is_sent_and_not_carried() {
    let load = of(&row(&LOAD.replace("1 Mbit/s", "100 Mbit/s"), ""));
    // The first link sees all 125 000 packets, the second what fits: 10 s × 10 Mbit/s in packets
    // of 1028 bytes.
    let fits = 10.0 * 10e6 / (1028.0 * 8.0);
    let hops = count(&load, "hops over FIFOs");
    assert!((hops / (125_000.0 + fits) - 1.0).abs() < 0.01, "{hops}");
}

#[test]
fn an_endless_transfer_fills_its_link_and_two_share_it() {
    let one = of(&row(ENDLESS, ""));
    // 9.98 s after the handshake at 10 Mbit/s in packets of 1500 bytes, one of them a SYN; half as
    // many acknowledgments, 8 more at the beginning.
    let packets = 9.98 * 10e6 / 12_000.0;
    let data = count(&one, "data packets");
    assert!((data / packets - 1.0).abs() < 0.02, "{data}");
    let hops = count(&one, "hops over FIFOs");
    assert!((hops / (packets * 3.0) - 1.0).abs() < 0.02, "{hops}");
    let two = of(&row(&format!("{ENDLESS}\ncount = 2"), ""));
    let both = count(&two, "data packets");
    assert!((both / data - 1.0).abs() < 0.01, "{both}");
}

#[test]
fn a_small_window_carries_itself_once_in_a_round_trip() {
    let window = "[tcp]\nreceive_buffer = \"14480 B\"";
    // Ten packets in 20 ms.
    let data = count(&of(&row(ENDLESS, window)), "data packets");
    assert!((data / (9.98 * 500.0) - 1.0).abs() < 0.02, "{data}");
}

#[test]
fn a_run_of_finite_flows_ends_when_their_bytes_have_gone() {
    let finite = of(&row("kind = \"transfer\"\nsize = \"1 MB\"\ncount = 5", ""));
    // 5 MB with headers at 10 Mbit/s.
    let seconds = 5e6 * 8.0 * 1500.0 / 1448.0 / 10e6;
    assert!(
        (finite.simulated_s / seconds - 1.0).abs() < 0.05,
        "{}",
        finite.simulated_s
    );
    let data = count(&finite, "data packets");
    assert!((data / (5e6 / 1448.0) - 1.0).abs() < 0.01, "{data}");
}

#[test]
fn a_hundred_thousand_transfers_take_a_gigabyte() {
    let many = of(&row(
        "kind = \"transfer\"\ncount = 100_000\nsize = \"endless\"",
        "",
    ));
    // Measured: 0.97 GB.
    assert!(
        (0.7e9..1.5e9).contains(&(many.memory_bytes as f64)),
        "{}",
        many.memory_bytes
    );
    let largest = many
        .parts
        .iter()
        .max_by_key(|part| part.memory_bytes)
        .unwrap();
    assert_eq!(largest.name, "TCP connections");
}

#[test]
fn a_capture_takes_a_record_for_each_packet_in_and_out() {
    let captured = of(&row(LOAD, "[record]\ncapture = [\"b\", \"a\"]"));
    assert_eq!(count(&captured, "capture at b"), 2500.0);
    assert_eq!(count(&captured, "capture at a"), 1250.0);
    let disk: u64 = captured.parts.iter().map(|part| part.disk_bytes).sum();
    assert_eq!(disk, captured.disk_bytes);
    assert!(captured.disk_bytes > 3750 * 90);
}

#[test]
fn a_long_series_takes_disk_and_only_its_last_part_memory() {
    let series = |interval: &str| {
        let more = format!("[record]\nseries = [\"queue\"]\ninterval = \"{interval}\"");
        of(&row(LOAD, &more))
    };
    // Two links, both ways.
    let (coarse, fine) = (series("1 ms"), series("10 us"));
    assert_eq!(count(&coarse, "series of queues"), 40_000.0);
    assert_eq!(count(&fine, "series of queues").round(), 4e6);
    assert!(fine.disk_bytes > 50 * (coarse.disk_bytes - 30_000));
    assert!(fine.memory_bytes - coarse.memory_bytes < 20_000_000);
}

#[test]
fn a_cell_of_lte_works_each_millisecond_and_rests_without_flows() {
    let cell = |flow: &str| {
        of(&format!(
            "duration = \"10 s\"\n[topology]\nkind = \"chain\"\nnodes = 1\n\
             link = {{ rate = \"1 Gbit/s\", delay = \"1 ms\" }}\n\
             [[server]]\nattach = \"enb1\"\nlink = {{ rate = \"1 Gbit/s\", delay = \"1 ms\" }}\n\
             [access]\nkind = \"lte\"\nues = 5\nplacement = \"round-robin\"\n{flow}"
        ))
    };
    let busy = cell("[[flow]]\nkind = \"download\"\nsize = \"endless\"");
    let ttis = count(&busy, "TTIs of cells");
    assert!((9_900.0..=10_000.0).contains(&ttis), "{ttis}");
    let of_ues = count(&busy, "TTIs of active UEs");
    assert!((of_ues / (5.0 * ttis) - 1.0).abs() < 0.01, "{of_ues}");
    assert_eq!(count(&cell(""), "TTIs of cells"), 0.0);
}

#[test]
fn frames_are_heard_by_all_that_sense_them() {
    // Four in a row, 100 m apart, and a fifth 100 km away, out of range.
    let node = |n: usize, x: usize| format!("{{ id = \"n{n}\", x = \"{x} m\", y = \"0 m\" }}");
    let nodes = [
        node(0, 0),
        node(1, 100),
        node(2, 200),
        node(3, 300),
        node(4, 100_000),
    ];
    let text = format!(
        "duration = \"10 s\"\n[topology]\nkind = \"graph\"\nnode = [{}]\n\
         link = [{{ a = \"n0\", b = \"n1\", medium = \"wifi\" }}]\n\
         [wifi]\nprofile = \"ns2\"\n[routing]\nprotocol = \"shortest-path\"\n\
         [[flow]]\nfrom = \"n0\"\nto = \"n1\"\n{}",
        nodes.join(", "),
        LOAD.replace("1 Mbit/s", "100 kbit/s")
    );
    let mesh = of(&text);
    assert_eq!(count(&mesh, "frames on the air"), 125.0);
    assert_eq!(count(&mesh, "radios that hear frames"), 4.0 * 125.0);
}

#[test]
fn hellos_go_to_every_neighbour_once_in_an_interval() {
    let text = row(LOAD, "").replace(
        "protocol = \"shortest-path\"",
        "protocol = \"bp-mr\"\nhello_interval = \"100 ms\"\nqueue_info = \"hello\"",
    );
    // Four directions, 100 times.
    assert_eq!(count(&of(&text), "routing messages"), 400.0);
}

#[test]
fn a_slotted_model_takes_its_slots_and_those_of_its_map() {
    let text = |region: &str| {
        format!(
            "[slotted]\nslots = 900\nwarm_up_slots = 100\ninterference = \"primary\"\n\
             link = [{{ from = \"A\", to = \"B\" }}, {{ from = \"B\", to = \"C\" }}]\n\
             flow = [{{ name = \"x\", from = \"A\", to = \"C\", rate = 0.1 }},\n\
             {{ name = \"y\", from = \"B\", to = \"C\", rate = 0.1 }}]\n{region}"
        )
    };
    assert_eq!(of(&text("")).events, 1000);
    let map = "region = { flows = [\"x\", \"y\"], points = 3, most_rate = 1.0 }";
    assert_eq!(of(&text(map)).events, 10_000);
}

/// What a scenario of the property test is made of.
#[derive(Clone, Debug)]
struct Scene {
    topology: usize,
    routing: usize,
    access: usize,
    flow: usize,
    size: usize,
    start: usize,
    count: usize,
    duration_ms: u64,
    interval_us: u64,
    loss: f64,
}

fn scene() -> impl Strategy<Value = Scene> {
    let kinds = (
        0..4_usize,
        0..8_usize,
        0..3_usize,
        0..5_usize,
        0..4_usize,
        0..4_usize,
    );
    (
        kinds,
        1..40_usize,
        1..100_000_u64,
        100..1_000_000_u64,
        0.0..0.5_f64,
    )
        .prop_map(
            |(
                (topology, routing, access, flow, size, start),
                count,
                duration_ms,
                interval_us,
                loss,
            )| {
                Scene {
                    topology,
                    routing,
                    access,
                    flow,
                    size,
                    start,
                    count,
                    duration_ms,
                    interval_us,
                    loss,
                }
            },
        )
}

impl Scene {
    fn text(&self) -> String {
        let over_radios = self.topology == 3;
        let topology = [
            "kind = \"grid\"\nrows = 3\ncolumns = 4\nspacing = \"200 m\"",
            "kind = \"chain\"\nnodes = 5\nspacing = \"300 m\"",
            "kind = \"ring_tree\"\nspacing = \"300 m\"",
            "kind = \"grid\"\nrows = 3\ncolumns = 3\nspacing = \"100 m\"",
        ][self.topology];
        let routing = [
            "shortest-path",
            "olsr",
            "aodv",
            "bp-mr",
            "bp",
            "bp-classic",
            "tcp-aware-bp",
            "l2.5r",
        ][self.routing];
        let link = if over_radios {
            format!("link = {{ medium = \"wifi\", loss = {} }}", self.loss)
        } else {
            format!(
                "link = {{ rate = \"20 Mbit/s\", delay = \"3 ms\", loss = {} }}",
                self.loss
            )
        };
        let wifi = if over_radios {
            "[wifi]\nprofile = \"ns2\""
        } else {
            ""
        };
        let access = [
            "",
            "[access]\nkind = \"ideal\"\nrate = \"30 Mbit/s\"\nues = 7",
            "[access]\nkind = \"lte\"\nues = 7",
        ][self.access];
        let is_download = self.flow == 4 && self.access > 0;
        let size = [
            "\"endless\"",
            "\"1 kB\"",
            "\"3 MB\"",
            "\"exponential 90 kB\"",
        ][self.size];
        let start = [
            "\"0 s\"",
            "\"uniform 0 s 2 s\"",
            "\"every 30 ms\"",
            "\"staggered\"",
        ][self.start];
        let what = match self.flow {
            0 => "kind = \"udp\"\nrate = \"2 Mbit/s\"".to_owned(),
            1 => "kind = \"on-off\"\nrate = \"2 Mbit/s\"\non = \"1 s\"\noff = \"2 s\"".to_owned(),
            _ if is_download => format!("kind = \"download\"\nsize = {size}"),
            2 if self.size > 0 => format!("kind = \"transfer\"\nsize = {size}\ngap = \"10 ms\""),
            _ => format!("kind = \"transfer\"\nsize = {size}"),
        };
        let ends = if is_download {
            ""
        } else {
            "from = \"enb1\"\nto = [\"enb3\", \"enb5\"]"
        };
        let is_udp = self.flow < 2;
        let start = if what.contains("gap") {
            "\"1 s\""
        } else {
            start
        };
        format!(
            "duration = \"{} ms\"\n[topology]\n{topology}\n{link}\n{wifi}\n\
             [[server]]\nattach = \"enb1\"\nlink = {{ rate = \"1 Gbit/s\", delay = \"1 ms\" }}\n\
             [routing]\nprotocol = \"{routing}\"\n{access}\n\
             [[flow]]\n{what}\n{ends}\nstart = {start}\ncount = {}\n\
             [record]\nseries = [\"queue\", \"goodput\"{}]\ninterval = \"{} us\"\n",
            self.duration_ms,
            self.count,
            if is_udp { "" } else { ", \"cwnd\"" },
            self.interval_us
        )
    }

    fn estimate(&self) -> Option<Estimate> {
        // Not every combination is a valid scenario.
        let plan = crate::catalogue()
            .plan(&self.text(), "s.toml", &[], None)
            .ok()?;
        Some(estimate(
            &crate::catalogue()
                .described(&plan.cells[0].resolved)
                .unwrap(),
        ))
    }
}

/// Whether no cost of `more` is below that of `less`. Unfinished sequential flows are counted as
/// fractions, which is accurate to some per cent.
fn is_no_less(more: &Estimate, less: &Estimate) -> Result<(), TestCaseError> {
    let pairs = [
        ("cpu", more.cpu_s, less.cpu_s),
        ("memory", more.memory_bytes as f64, less.memory_bytes as f64),
        ("disk", more.disk_bytes as f64, less.disk_bytes as f64),
        ("events", more.events as f64, less.events as f64),
    ];
    for (name, more, less) in pairs {
        prop_assert!(more >= less * 0.95, "{name}: {more} < {less}");
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, rng_seed: RngSeed::Fixed(1), ..ProptestConfig::with_cases(300) })]

    #[test]
    fn longer_runs_of_more_flows_with_more_samples_never_cost_less(scene in scene()) {
        let Some(first) = scene.estimate() else { return Ok(()) };
        prop_assert!(first.cpu_s.is_finite() && first.cpu_s > 0.0);
        prop_assert!(first.memory_bytes > 0 && first.memory_bytes < u64::MAX / 2);
        let longer = Scene { duration_ms: 2 * scene.duration_ms, ..scene.clone() };
        let more = Scene { count: 2 * scene.count, ..scene.clone() };
        let finer = Scene { interval_us: scene.interval_us / 2, ..scene.clone() };
        for other in [longer, more, finer] {
            if let Some(other) = other.estimate() {
                is_no_less(&other, &first)?;
            }
        }
    }
}

/// Two hosts, and the packets of a transfer at both of them.
#[test]
fn kernels_cost_their_packets_and_their_memory() {
    let model = of(&row("kind = \"transfer\"\nsize = \"10 MB\"", ""));
    let kernels = of(&row(
        "kind = \"transfer\"\nsize = \"10 MB\"\nstack = \"linux\"",
        "",
    ));
    assert_eq!(count(&kernels, "kernels"), 2.0);
    let packets = count(&kernels, "packets of kernels");
    let own = count(&model, "data packets") + count(&model, "acknowledgments");
    assert_eq!(packets, own);
    assert!(packets > 10e6 / 1448.0);
    assert!(kernels.cpu_s > 10.0 * model.cpu_s);
    assert!(kernels.memory_bytes > model.memory_bytes + 2 * 30_000_000);
    assert!(!kernels.divides);
}
