//! What each congestion control does over one bottleneck, alone and with its like, on record.
//!
//! `tests/golden/tcp/<name>.txt` shows every control over five queues with one, two and eight
//! flows. When a line of a control changes, the difference of these files is what it does to
//! flows. They say what is, not what is right: that is for the equations (`tcp_truths.rs`,
//! `crates/tcp/tests/laws.rs`) and the recorded kernel (`crates/tcp/tests/linux_family.rs`).

use std::fmt::Write;
use std::path::PathBuf;

use backlane_net::queue::CoDelConfig;
use backlane_net::{QueueConfig, QueueLimit};
use backlane_tcp::{Config, CongestionControlConfig, Connection, Ecn, Seed};
use backlane_testkit::Dumbbell;
use backlane_traffic::{Flow, Transport};
use backlane_units::{Duration, Rate, SimTime};

const SECONDS: u64 = 20;
/// Goodput, shares and queue are measured from here on.
const FROM_SECOND: u64 = 5;

const LEGEND: &str = "
10 Mbit/s, 40 ms, 20 s; each flow starts 100 ms after the one before. From 5 s on: kbit/s is the
goodput of all flows (the link carries 9653), fair Jain's index in thousandths, queue the mean
backlog in packets, sampled every 10 ms. Over the whole run: rtt is the mean of all samples in
ms; drops, retransmits, timeouts and undos are counted. The line below is the window of the first
flow, in packets, at 0.2, 0.5, 1, 2, 3, ... 20 s.

";

fn queues() -> [(&'static str, QueueConfig); 5] {
    let bdp = QueueLimit::BandwidthDelayProduct;
    [
        ("drop-tail 0.5 bdp", QueueConfig::DropTail(bdp(0.5))),
        ("drop-tail 1 bdp", QueueConfig::DropTail(bdp(1.0))),
        ("drop-tail 4 bdp", QueueConfig::DropTail(bdp(4.0))),
        ("codel", QueueConfig::new(bdp(4.0), CoDelConfig::default())),
        (
            "marks at 0.5 bdp",
            QueueConfig::Marking {
                limit: bdp(4.0),
                mark_above: bdp(0.5),
            },
        ),
    ]
}

fn sender(flow: &Flow) -> Option<&Connection> {
    match &flow.transport {
        Some(Transport::Tcp(tcp)) => Some(tcp.sender()),
        _ => None,
    }
}

/// Two lines: the figures, and the window of the first flow.
fn run(name: &str, label: &str, queue: QueueConfig, flows: u64) -> String {
    let ecn = match (&queue, name) {
        (QueueConfig::Marking { .. }, "dctcp") => Ecn::Exact,
        (QueueConfig::Marking { .. }, _) => Ecn::Classic,
        _ => Ecn::Off,
    };
    let dumbbell = Dumbbell {
        rate: Rate::from_bps(10_000_000),
        queue,
        flows: (0..flows)
            .map(|index| Config {
                congestion_control: name.parse().unwrap(),
                random_seed: Seed(index + 1),
                ecn,
                ..Config::default()
            })
            .collect(),
        stagger: Duration::from_millis(100),
        ..Dumbbell::default()
    };
    let mut simulation = dumbbell.build(None);
    let mut windows = String::new();
    let mut backlog_pkts = 0;
    let mut early_bytes: Vec<u64> = Vec::new();
    for hundredths in 1..=SECONDS * 100 {
        let now = SimTime::ZERO + Duration::from_millis(hundredths * 10);
        simulation.run(now, |_, _| false);
        let all = simulation.application.flows();
        if hundredths.is_multiple_of(100) || hundredths == 20 || hundredths == 50 {
            let cwnd_pkts = sender(&all[0]).unwrap().readings().cwnd_pkts;
            write!(windows, " {cwnd_pkts}").unwrap();
        }
        if hundredths == FROM_SECOND * 100 {
            early_bytes = all.iter().map(Flow::delivered_bytes).collect();
        }
        if hundredths > FROM_SECOND * 100 {
            let link = simulation.network.link_mut(Dumbbell::BOTTLENECK);
            backlog_pkts += link.backlog_pkts(now) as u64;
        }
    }
    let drops = simulation.network.links()[Dumbbell::BOTTLENECK.0 as usize]
        .counters()
        .drops;
    let all = simulation.application.flows();
    let bytes: Vec<u128> = all
        .iter()
        .zip(&early_bytes)
        .map(|(flow, early)| u128::from(flow.delivered_bytes() - early))
        .collect();
    let total: u128 = bytes.iter().sum();
    let squares: u128 = bytes.iter().map(|b| b * b).sum();
    let kbps = total * 8 / 1000 / u128::from(SECONDS - FROM_SECOND);
    let fair = (1000 * total * total)
        .checked_div(u128::from(flows) * squares)
        .unwrap_or(0);
    let counted = |what: fn(&backlane_tcp::Statistics) -> u64| -> u64 {
        all.iter()
            .filter_map(sender)
            .map(|s| what(s.statistics()))
            .sum()
    };
    let rtt_us = counted(|s| s.rtt_sum.as_micros()) / counted(|s| s.rtt_samples).max(1);
    let queue_tenths = backlog_pkts * 10 / ((SECONDS - FROM_SECOND) * 100);
    let tenths = |value: u64| format!("{}.{}", value / 10, value % 10);
    format!(
        "{label:<18}{flows:>5}{kbps:>8}{fair:>6}{:>8}{:>8}{drops:>7}{:>13}{:>10}{:>7}\n {windows}\n",
        tenths(rtt_us / 100),
        tenths(queue_tenths),
        counted(|s| s.retransmits),
        counted(|s| s.rtos),
        counted(|s| s.undos),
    )
}

fn snapshot(name: &str) -> String {
    let mut text = format!("{name}{LEGEND}");
    writeln!(
        text,
        "{:<18}{:>5}{:>8}{:>6}{:>8}{:>8}{:>7}{:>13}{:>10}{:>7}",
        "queue",
        "flows",
        "kbit/s",
        "fair",
        "rtt",
        "queue",
        "drops",
        "retransmits",
        "timeouts",
        "undos"
    )
    .unwrap();
    for (label, queue) in queues() {
        for flows in [1, 2, 8] {
            text += &run(name, label, queue.clone(), flows);
        }
    }
    text
}

#[test]
fn every_congestion_control_does_what_is_on_record() {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../tests/golden/tcp");
    let names = CongestionControlConfig::NAMES;
    let next = std::sync::atomic::AtomicUsize::new(0);
    let work = || {
        let mut done = Vec::new();
        while let Some(name) = names.get(next.fetch_add(1, std::sync::atomic::Ordering::Relaxed)) {
            done.push((*name, snapshot(name)));
        }
        done
    };
    let mut found: Vec<(&str, String)> = std::thread::scope(|scope| {
        let workers = [(); 4].map(|()| scope.spawn(work));
        workers
            .into_iter()
            .flat_map(|w| w.join().unwrap())
            .collect()
    });
    found.sort_unstable();
    let mut moved = String::new();
    for (name, text) in &found {
        let path = folder.join(format!("{name}.txt"));
        if std::env::var_os("BLESS").is_some() {
            std::fs::create_dir_all(&folder).unwrap();
            std::fs::write(&path, text).unwrap();
        }
        let on_record = std::fs::read_to_string(&path).unwrap_or_default();
        for (line, (was, is)) in (1..).zip(on_record.lines().zip(text.lines())) {
            if was != is {
                writeln!(moved, "{name}.txt:{line}\n  was {was}\n  is  {is}").unwrap();
            }
        }
        if on_record.lines().count() != text.lines().count() {
            writeln!(moved, "{name}.txt is missing or of another length").unwrap();
        }
    }
    assert!(
        moved.is_empty(),
        "{moved}\nIf that is meant, say in the changelog what moved, and renew the files with\n  \
         BLESS=1 cargo test -p backlane-testkit --test tcp_snapshots\n"
    );
}
