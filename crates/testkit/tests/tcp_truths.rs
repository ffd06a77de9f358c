//! TCP on a dumbbell against what equations say.

use backlane_net::queue::{CoDelConfig, FqCoDelConfig};
use backlane_net::{QueueConfig, QueueLimit};
use backlane_tcp::{Config, CongestionControlConfig};
use backlane_testkit::Dumbbell;
use backlane_traffic::Transport;
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

fn jain(values: &[f64]) -> f64 {
    let sum: f64 = values.iter().sum();
    sum * sum / (values.len() as f64 * values.iter().map(|v| v * v).sum::<f64>())
}

#[test]
fn two_like_flows_share_the_bottleneck() {
    for name in ["reno", "cubic"] {
        let dumbbell = Dumbbell {
            flows: vec![tcp(name); 2],
            stagger: Duration::from_secs(1),
            ..Dumbbell::default()
        };
        let simulation = dumbbell.run(Duration::from_secs(300));
        let goodputs: Vec<f64> = simulation
            .application
            .flows()
            .iter()
            .map(|f| f.delivered_bytes() as f64)
            .collect();
        let index = jain(&goodputs);
        assert!(index > 0.95, "{name}: {index} {goodputs:?}");
        let total = goodputs.iter().sum::<f64>() * 8.0 / 300.0;
        assert!(total / CEILING_BPS > 0.98, "{name}: {total}");
    }
}

/// Packets a second of a Reno flow on a fast, long path that loses packets at random.
fn reno_under_loss(p: f64) -> f64 {
    let dumbbell = Dumbbell {
        rate: Rate::from_bps(1_000_000_000),
        delay: Duration::from_millis(50),
        queue: QueueConfig::DropTail(QueueLimit::Packets(10_000)),
        loss: p,
        flows: vec![tcp("reno")],
        ..Dumbbell::default()
    };
    let seconds = 2000;
    let simulation = dumbbell.run(Duration::from_secs(seconds));
    simulation.application.flows()[0].delivered_bytes() as f64 / 1448.0 / seconds as f64
}

const RTT_S: f64 = 0.100_012;

/// Mathis, Semke, Mahdavi and Ott 1997: √(3/2p)/R with every packet counted.
fn mathis(p: f64) -> f64 {
    (1.5 / p).sqrt() / RTT_S
}

/// Padhye, Firoiu, Towsley and Kurose 1998, equation 30, with b = 1 and T0 = RTT + 200 ms, the
/// timeout of a path whose RTT does not vary.
fn pftk(p: f64) -> f64 {
    let timeouts = 1.0f64.min(3.0 * (3.0 * p / 8.0).sqrt()) * p * (1.0 + 32.0 * p * p);
    1.0 / (RTT_S * (2.0 * p / 3.0).sqrt() + (RTT_S + 0.2) * timeouts)
}

/// Mathis leaves timeouts out and so promises too much from 2 % on (their figure 3); PFTK counts
/// them for a Reno without SACK, so ours does better than it at 5 %. Both know an error of about
/// 10 % where their assumptions hold.
#[test]
fn reno_under_random_loss_follows_mathis_and_pftk() {
    for (p, mathis_error, pftk_error) in [
        (0.001, 0.08, 0.08),
        (0.005, 0.08, 0.08),
        (0.01, 0.08, 0.08),
        (0.02, 0.12, 0.08),
        (0.05, 0.20, 0.15),
    ] {
        let got = reno_under_loss(p);
        let (mathis, pftk) = (got / mathis(p) - 1.0, got / pftk(p) - 1.0);
        println!("p {p}: {got:.1} packets/s, Mathis {mathis:+.3}, PFTK {pftk:+.3}");
        assert!(
            mathis.abs() < mathis_error,
            "p {p}: {mathis:+.3} off Mathis"
        );
        assert!(pftk.abs() < pftk_error, "p {p}: {pftk:+.3} off PFTK");
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
            .map(backlane_traffic::Flow::delivered_bytes)
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
    let (codel, used) = mean_rtt_ms(QueueConfig::CoDel(limit, CoDelConfig::default()));
    let (fq_codel, fq_used) = mean_rtt_ms(QueueConfig::FqCoDel(limit, FqCoDelConfig::default()));
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
