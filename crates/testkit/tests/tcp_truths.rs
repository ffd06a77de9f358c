//! What equations say of flows over one bottleneck, one test for each truth.
//!
//! Rows about a window law alone are in `crates/tcp/tests/laws.rs`.

use backlane_net::queue::{CoDelConfig, FqCoDelConfig};
use backlane_net::{QueueConfig, QueueLimit, Simulation};
use backlane_tcp::{Config, CongestionControlConfig, Connection};
use backlane_testkit::Dumbbell;
use backlane_traffic::{Flow, Flows, Transport};
use backlane_units::{Duration, Rate, SimTime};

fn tcp(name: &str) -> Config {
    let congestion_control: CongestionControlConfig = name.parse().unwrap();
    Config {
        congestion_control,
        ..Config::default()
    }
}

/// 50 Mb/s less 52 bytes of header in 1500.
const CEILING_BPS: f64 = 50e6 * 1448.0 / 1500.0;

#[test]
fn one_reno_flow_fills_the_pipe_and_its_window_swings_between_half_and_full() {
    let dumbbell = Dumbbell {
        flows: vec![tcp("reno")],
        ..Dumbbell::default()
    };
    let mut simulation = dumbbell.build(None);
    let at = |s: f64| SimTime::ZERO + Duration::from_secs_f64(s);
    simulation.run(at(10.0), |_, _| false);
    let before = simulation.application.flows()[0].delivered_bytes();
    let mut windows = Vec::new();
    for step in 1..=5000 {
        simulation.run(at(10.0 + f64::from(step) / 100.0), |_, _| false);
        let Some(Transport::Tcp(flow)) = &simulation.application.flows()[0].transport else {
            panic!("the flow runs");
        };
        windows.push(f64::from(flow.sender().readings().cwnd_pkts));
    }
    let after = simulation.application.flows()[0].delivered_bytes();
    let goodput = (after - before) as f64 * 8.0 / 50.0;
    assert!((goodput / CEILING_BPS - 1.0).abs() < 1e-3, "{goodput} b/s");
    // The pipe holds rate × RTT = 166.7 packets (and one in transmission), the queue 173.
    let full = 50e6 * 0.040 / 8.0 / 1500.0 + 173.0 + 1.0;
    let (low, high) = windows
        .iter()
        .fold((f64::MAX, f64::MIN), |(low, high), &w| {
            (f64::min(low, w), f64::max(high, w))
        });
    assert!(
        (high - full).abs() <= 2.0,
        "highest window {high}, pipe and queue {full}"
    );
    assert!(
        (low - full / 2.0).abs() <= 2.0,
        "lowest window {low}, half of {full}"
    );
    // Growth is a packet an RTT and the RTT grows with the window, so more time is spent at
    // large windows: with w from m/2 to m and dt ∝ w dw, the mean is ∫w²/∫w = 7m/9.
    let mean = windows.iter().sum::<f64>() / windows.len() as f64;
    assert!(
        (mean / (full * 7.0 / 9.0) - 1.0).abs() < 0.02,
        "mean window {mean}"
    );
}

/// Mathis, Semke, Mahdavi and Ott 1997: √(3/2p)/R with every packet counted.
fn mathis(p: f64, rtt_s: f64) -> f64 {
    (1.5 / p).sqrt() / rtt_s
}

/// Padhye, Firoiu, Towsley and Kurose 1998, equation 30: packets a second with b packets per
/// acknowledgment and a timeout of T0.
fn pftk(p: f64, rtt_s: f64, b: f64, t0_s: f64) -> f64 {
    let timeouts = 1.0f64.min(3.0 * (3.0 * b * p / 8.0).sqrt()) * p * (1.0 + 32.0 * p * p);
    1.0 / (rtt_s * (2.0 * b * p / 3.0).sqrt() + t0_s * timeouts)
}

/// B = 1/(R√(2bp/3) + T0·min(1, 3√(3bp/8))·p(1+32p²)), Padhye et al. 1998, and Mathis et al. 1997
/// under random loss. T0 is RTT + 200 ms, the timeout of a path whose RTT does not vary.
///
/// Mathis leaves timeouts out and so promises too much from 2 % on (their figure 3); PFTK counts
/// them for a Reno without SACK, so ours does better than it at 5 %. Both know an error of about
/// 10 % where their assumptions hold.
#[test]
fn row_2_reno_under_random_loss_follows_mathis_and_pftk() {
    assert!((pftk(0.01, 0.1, 2.0, 0.4) - 79.4).abs() < 0.05);
    assert!((pftk(0.001, 0.1, 1.0, 0.4) - 383.8).abs() < 0.1);
    let (rtt_s, seconds) = (0.100_012, 2000);
    for (p, mathis_error, pftk_error) in [
        (0.001, 0.07, 0.08),
        (0.005, 0.03, 0.04),
        (0.01, 0.06, 0.04),
        (0.02, 0.12, 0.05),
        (0.05, 0.20, 0.15),
    ] {
        let dumbbell = Dumbbell {
            rate: Rate::from_bps(1_000_000_000),
            delay: Duration::from_millis(50),
            queue: QueueConfig::DropTail(QueueLimit::Packets(10_000)),
            loss: p,
            flows: vec![tcp("reno")],
            ..Dumbbell::default()
        };
        let simulation = dumbbell.run(Duration::from_secs(seconds));
        let bytes = simulation.application.flows()[0].delivered_bytes();
        let got = bytes as f64 / 1448.0 / seconds as f64;
        let mathis = got / mathis(p, rtt_s) - 1.0;
        let pftk = got / pftk(p, rtt_s, 1.0, rtt_s + 0.2) - 1.0;
        println!("p {p}: {got:.1} packets/s, Mathis {mathis:+.3}, PFTK {pftk:+.3}");
        assert!(
            mathis.abs() < mathis_error,
            "p {p}: {mathis:+.3} off Mathis"
        );
        assert!(pftk.abs() < pftk_error, "p {p}: {pftk:+.3} off PFTK");
    }
}

fn sender(flow: &Flow) -> &Connection {
    match &flow.transport {
        Some(Transport::Tcp(tcp)) => tcp.sender(),
        _ => panic!("the flow runs"),
    }
}

fn at(seconds: f64) -> SimTime {
    SimTime::ZERO + Duration::from_secs_f64(seconds)
}

/// Between two times: the goodput as a share of what the link can carry, and the windows of the
/// first flow and the backlog in packets, sampled every 10 ms.
fn observe(dumbbell: &Dumbbell, from_s: u32, to_s: u32) -> (f64, Vec<f64>, Vec<f64>) {
    let mut simulation = dumbbell.build(None);
    let delivered = |simulation: &Simulation<Flows>| -> u64 {
        let flows = simulation.application.flows();
        flows.iter().map(Flow::delivered_bytes).sum()
    };
    simulation.run(at(f64::from(from_s)), |_, _| false);
    let before = delivered(&simulation);
    let (mut windows, mut backlogs) = (Vec::new(), Vec::new());
    for step in 1..=(to_s - from_s) * 100 {
        let now = at(f64::from(from_s) + f64::from(step) / 100.0);
        simulation.run(now, |_, _| false);
        let flow = &simulation.application.flows()[0];
        windows.push(f64::from(sender(flow).readings().cwnd_pkts));
        let link = simulation.network.link_mut(Dumbbell::BOTTLENECK);
        backlogs.push(link.backlog_pkts(now) as f64);
    }
    let bits = (delivered(&simulation) - before) as f64 * 8.0;
    let ceiling_bps = dumbbell.rate.as_bps() as f64 * 1448.0 / 1500.0;
    (
        bits / f64::from(to_s - from_s) / ceiling_bps,
        windows,
        backlogs,
    )
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

/// Brakmo and Peterson 1995: each Vegas flow keeps α = 2 to β = 4 packets queued. Linux takes the
/// excess over the base RTT, w (RTT − base)/base, whose sum over N flows is Q (1 + Q/BDP) for Q
/// packets queued, and in whole packets cut off, so that from above it ends below 5.
#[test]
fn row_8_vegas_keeps_two_to_four_packets_of_each_flow_queued() {
    for flows in [1, 4] {
        let dumbbell = Dumbbell {
            flows: vec![tcp("vegas"); flows],
            ..Dumbbell::default()
        };
        let (used, _, backlogs) = observe(&dumbbell, 20, 60);
        let queued = mean(&backlogs);
        let per_flow = queued * (1.0 + queued / BDP_PKTS) / flows as f64;
        println!("{flows} flows: {used:.4} used, {per_flow:.3} packets each");
        assert!(used > 0.999, "{used}");
        assert!((2.0..5.0).contains(&per_flow), "{per_flow}");
    }
}

/// Mascolo, Grieco et al. 2004: after a loss the window is bandwidth × smallest RTT, so that the
/// queue runs empty and the link does not.
#[test]
fn row_11_westwood_falls_to_what_the_pipe_holds() {
    // So long a queue that Reno's half would be far above.
    let dumbbell = Dumbbell {
        queue: QueueConfig::DropTail(QueueLimit::Packets(400)),
        flows: vec![tcp("westwood")],
        ..Dumbbell::default()
    };
    let (used, windows, _) = observe(&dumbbell, 20, 120);
    let low = windows.iter().copied().fold(f64::MAX, f64::min);
    // And the packet in transmission.
    let pipe = BDP_PKTS + 1.0;
    println!("lowest window {low}, pipe {pipe:.1}, {used:.4} used");
    assert!((low / pipe - 1.0).abs() <= 0.02, "{low}, {pipe}");
    assert!(used > 0.9995, "{used}");
}

/// A full queue of 750 packets of 1500 bytes at 35 Mbit/s holds 257 ms.
#[test]
fn row_18_a_full_queue_adds_its_length_to_the_rtt() {
    let dumbbell = Dumbbell {
        rate: Rate::from_bps(35_000_000),
        queue: QueueConfig::DropTail(QueueLimit::Packets(750)),
        flows: vec![tcp("reno")],
        ..Dumbbell::default()
    };
    let simulation = dumbbell.run(Duration::from_secs(30));
    let statistics = sender(&simulation.application.flows()[0]).statistics();
    let queueing_s = statistics.rtt_max.as_secs_f64() - 0.040;
    println!("{queueing_s}");
    // One packet more is in transmission, and the last is transmitted itself. Duplicate
    // acknowledgments wait for up to a millisecond.
    let full_s = 752.0 * 1500.0 * 8.0 / 35e6;
    assert!(
        (full_s..full_s + 0.001).contains(&queueing_s),
        "{queueing_s}"
    );
}

fn jain(values: &[f64]) -> f64 {
    let sum: f64 = values.iter().sum();
    sum * sum / (values.len() as f64 * values.iter().map(|v| v * v).sum::<f64>())
}

/// Chiu and Jain 1989: additive increase and multiplicative decrease lead like flows to like
/// shares: Jain's index is 1. At a drop-tail queue without noise, which flow loses depends on the
/// phase of the other (Floyd and Jacobson 1992), so that one run says little: shares are those of
/// ten starts together.
#[test]
fn row_19_two_like_flows_share_the_bottleneck() {
    const STARTS: u64 = 10;
    for name in ["reno", "cubic"] {
        let mut sums = [0.0; 2];
        for start in 0..STARTS {
            let dumbbell = Dumbbell {
                flows: vec![tcp(name); 2],
                stagger: Duration::from_millis(500 + 100 * start),
                ..Dumbbell::default()
            };
            let simulation = dumbbell.run(Duration::from_secs(300));
            let flows = simulation.application.flows().iter();
            for (sum, flow) in sums.iter_mut().zip(flows) {
                *sum += flow.delivered_bytes() as f64;
            }
        }
        let index = jain(&sums);
        println!("{name}: {index}");
        assert!(index > 0.995, "{name}: {index} {sums:?}");
        let total_bps = sums.iter().sum::<f64>() * 8.0 / 300.0 / STARTS as f64;
        assert!(total_bps / CEILING_BPS > 0.98, "{name}: {total_bps}");
    }
}

/// Lakshman and Madhow 1997: with twice the RTT a Reno flow gets less by a factor between 2
/// (losses apart) and 4 (losses together): the ratio of the RTTs, as a window brings more the
/// sooner it comes around, times that of the windows. Losses together leave each flow the growth
/// of one cycle, a packet for each RTT of it but that of its recovery, and halving to whole packets
/// takes a quarter of one more in the mean. RTTs are means over time of 1/RTT, by which windows
/// grow; over acknowledgments, of which there are more in a long queue, their ratio is smaller.
/// Here nearly all losses are together.
#[test]
fn row_19_half_the_rtt_gives_two_to_four_times_the_rate() {
    const BASE_MS: [f64; 2] = [80.0, 160.0];
    const WITHOUT_GROWTH_PKTS: f64 = 1.25;
    let dumbbell = Dumbbell {
        delay: Duration::from_millis(40),
        flows: vec![tcp("reno"); 2],
        source_delays: vec![Duration::ZERO, Duration::from_millis(40)],
        queue: QueueConfig::DropTail(QueueLimit::Packets(100)),
        ..Dumbbell::default()
    };
    let mut simulation = dumbbell.build(None);
    let packet_ms = 1500.0 * 8.0 / dumbbell.rate.as_bps() as f64 * 1e3;
    let mut rounds = [0.0; 2];
    for step in 1..=60_000 {
        let now = at(f64::from(step) / 100.0);
        simulation.run(now, |_, _| false);
        let link = simulation.network.link_mut(Dumbbell::BOTTLENECK);
        let wait_ms = link.backlog_pkts(now) as f64 * packet_ms;
        for (rounds, base_ms) in rounds.iter_mut().zip(BASE_MS) {
            *rounds += 10.0 / (base_ms + wait_ms);
        }
    }
    let flows = simulation.application.flows();
    let ratio = flows[0].delivered_bytes() as f64 / flows[1].delivered_bytes() as f64;
    let rtts = rounds[0] / rounds[1];
    let cycles = sender(&flows[1]).statistics().fast_retransmits as f64;
    let growth_pkts = rounds.map(|rounds| rounds / cycles - WITHOUT_GROWTH_PKTS);
    let together = rtts * growth_pkts[0] / growth_pkts[1];
    println!("ratio of rates {ratio}, of RTTs {rtts}; losses together {together}");
    // As far from the law as row 1 allows.
    assert!(
        (rtts..=1.008 * together).contains(&ratio),
        "{ratio} for {rtts}, {together}"
    );
}

/// Rate × RTT of the default path, in packets.
const BDP_PKTS: f64 = 50e6 * 0.040 / 8.0 / 1500.0;

/// The use of a link by one flow whose queue holds `buffer` BDP, with windows in BDP and times in
/// round trips without a queue: the window grows by `growth(w)` for each round trip, which
/// lasts max(1, w), from `kept` times its largest to that.
fn use_of_link(buffer: f64, kept: f64, growth: impl Fn(f64) -> f64) -> f64 {
    const STEPS: u32 = 10_000;
    let step = (1.0 + buffer) * (1.0 - kept) / f64::from(STEPS);
    let (mut sent, mut time) = (0.0, 0.0);
    for i in 0..STEPS {
        let w = (1.0 + buffer) * kept + (f64::from(i) + 0.5) * step;
        let rounds = step / growth(w);
        sent += w * rounds;
        time += w.max(1.0) * rounds;
    }
    sent / time
}

/// Villamizar and Song 1994: one Reno flow needs a queue of one bandwidth-delay product to keep
/// the link busy, since it halves; a law that keeps β needs (1−β)/β: 0.43 for CUBIC, 1/7 for
/// Scalable. With less the link idles as the law integrated says.
#[test]
fn row_20_a_law_that_keeps_beta_needs_a_queue_of_the_rest() {
    let growth_of_cubic = |buffer: f64| {
        let peak = (1.0 + buffer) * BDP_PKTS;
        // By time: dw/dt = 3 C^⅓ (W_max − w)^⅔ a second, and a second has 25 round trips.
        move |w: f64| {
            let below = (peak - w * BDP_PKTS).max(1.0);
            3.0 * 0.4f64.cbrt() * below.powf(2.0 / 3.0) * 0.04 * w.max(1.0) / BDP_PKTS
        }
    };
    for (name, rule, kept) in [
        ("reno", 1.0, 0.5),
        ("cubic", 0.3 / 0.7, 0.7),
        ("scalable", 1.0 / 7.0, 0.875),
    ] {
        for part in [0.25, 0.5, 1.0] {
            let buffer = rule * part;
            let dumbbell = Dumbbell {
                flows: vec![tcp(name)],
                queue: QueueConfig::DropTail(QueueLimit::BandwidthDelayProduct(buffer)),
                ..Dumbbell::default()
            };
            let (used, ..) = observe(&dumbbell, 30, 150);
            let truth = match name {
                "reno" => use_of_link(buffer, kept, |_| 1.0),
                "cubic" => use_of_link(buffer, kept, growth_of_cubic(buffer)),
                _ => use_of_link(buffer, kept, |w| 0.01 * w),
            };
            println!("{name}, {buffer:.3} bdp: {used:.4} used, {truth:.4} integrated");
            assert!(
                (used - truth).abs() < 0.01,
                "{name} {buffer}: {used}, {truth}"
            );
        }
    }
}

/// A standing queue is what CoDel is against: with drop-tail of two bandwidth-delay products the
/// RTT of Reno is far above the path's 40 ms, under CoDel within twice its target of 5 ms.
#[test]
fn codel_holds_the_queue_near_its_target() {
    let mean_rtt_ms = |queue| {
        let dumbbell = Dumbbell {
            queue,
            flows: vec![tcp("reno"); 4],
            ..Dumbbell::default()
        };
        let simulation = dumbbell.run(Duration::from_secs(120));
        let total: u64 = simulation
            .application
            .flows()
            .iter()
            .map(Flow::delivered_bytes)
            .sum();
        let utilisation = total as f64 * 8.0 / 120.0 / CEILING_BPS;
        let rtts: Vec<f64> = simulation
            .application
            .flows()
            .iter()
            .map(|flow| match &flow.transport {
                Some(Transport::Tcp(tcp)) => 1e3 * tcp.rtt.mean_s().unwrap(),
                _ => panic!("the flow runs"),
            })
            .collect();
        (rtts.iter().sum::<f64>() / 4.0, utilisation)
    };
    let limit = QueueLimit::BandwidthDelayProduct(2.0);
    let (drop_tail, full) = mean_rtt_ms(QueueConfig::DropTail(limit));
    let (codel, used) = mean_rtt_ms(QueueConfig::new(limit, CoDelConfig::default()));
    let (fq_codel, fq_used) = mean_rtt_ms(QueueConfig::new(limit, FqCoDelConfig::default()));
    println!("drop-tail {drop_tail} {full}, CoDel {codel} {used}, FQ-CoDel {fq_codel} {fq_used}");
    assert!(drop_tail > 80.0 && full > 0.98, "{drop_tail} ms, {full}");
    assert!(
        (40.0..50.0).contains(&codel) && used > 0.9,
        "{codel} ms, {used}"
    );
    assert!(
        (40.0..50.0).contains(&fq_codel) && fq_used > 0.9,
        "{fq_codel} ms, {fq_used}"
    );
}
