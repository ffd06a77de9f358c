//! Impairments of wires against the equations of their models.
//!
//! Tolerances are five standard errors. Equations of the Gilbert-Elliott model are those of Salsano,
//! Ludovici, Ordine and Giannuzzi, "Definition of a general and intuitive loss model for packet
//! networks and its implementation in the Netem module in the Linux kernel" (2012), §3.

use backlane_engine::{EventQueue, Streams};
use backlane_net::testing::{Load, Script};
use backlane_net::{
    FlowId, GilbertElliott, ImpairmentConfig, Jitter, JitterLaw, LinkConfig, LinkId, Network,
    Packet, QueueConfig, QueueLimit, Simulation,
};
use backlane_units::{Duration, Rate, SimTime};
use proptest::prelude::*;

/// The wire under test.
const WIRE: LinkId = LinkId(3);
const N: u64 = 40_000;
const DELAY: Duration = Duration::from_millis(5);

/// Packets from one host to another through a router; the second wire is the one under test.
fn started(
    config: &ImpairmentConfig,
    limit: QueueLimit,
    sends: impl Iterator<Item = (u64, u32)>,
) -> Simulation<Script> {
    let mut events = EventQueue::new();
    let mut network = Network::new();
    let source = network.add_host();
    let router = network.add_router();
    let destination = network.add_host();
    let wire = |bps, delay, limit| LinkConfig {
        rate: Rate::from_bps(bps),
        delay,
        queue: QueueConfig::DropTail(limit),
    };
    // 1 byte takes 1 ps on the first wire and 1 µs on the second.
    let instant = wire(
        8_000_000_000_000,
        Duration::ZERO,
        QueueLimit::Packets(u32::MAX),
    );
    network.attach(&mut events, source, router, &instant);
    let (_, down) = network.attach(
        &mut events,
        destination,
        router,
        &wire(8_000_000, DELAY, limit),
    );
    assert_eq!(down, WIRE);
    let streams = Streams::new(1);
    network.set_impairments(WIRE, config, |purpose| streams.stream("wire", purpose));
    let loads = sends.zip(0..).map(|((at_us, size), sequence)| {
        let packet = Packet {
            sequence,
            ..Packet::new(FlowId(0), source, destination, size)
        };
        Load::once(SimTime::ZERO + Duration::from_micros(at_us), packet)
    });
    let script = Script::new(&mut events, loads.collect());
    Simulation::new(network, events, script, vec![None, None, None], Vec::new())
}

/// Packets of 100 bytes, one each `gap_us`, until all have arrived.
fn run(config: &ImpairmentConfig, gap_us: u64) -> Simulation<Script> {
    let sends = (0..N).map(|n| (n * gap_us, 100));
    let mut simulation = started(config, QueueLimit::Packets(u32::MAX), sends);
    finish(&mut simulation);
    simulation
}

fn finish(simulation: &mut Simulation<Script>) {
    simulation.run(SimTime::MAX, |_, _| false);
    let balance = simulation.network.balance();
    assert!(balance.holds(), "{balance:?}");
    assert_eq!((balance.in_flight, simulation.held_pkts()), (0, 0));
}

/// The numbers of the packets and their arrivals, in their order.
fn arrivals(simulation: &Simulation<Script>) -> Vec<(u64, SimTime)> {
    let arrivals = simulation.application.arrivals.iter();
    let arrivals = arrivals.map(|arrival| (arrival.packet.sequence, arrival.at));
    arrivals.collect()
}

/// Which packets the wire lost.
fn losses(simulation: &Simulation<Script>) -> Vec<bool> {
    let mut lost = vec![true; N as usize];
    for (number, _) in arrivals(simulation) {
        lost[number as usize] = false;
    }
    let dropped = simulation.network.balance().dropped[1];
    assert_eq!(lost.iter().filter(|lost| **lost).count() as u64, dropped);
    assert_eq!(
        simulation.network.links()[WIRE.index()].counters().drops,
        dropped
    );
    lost
}

fn assert_near(name: &str, value: f64, expected: f64, standard_error: f64) {
    let off = (value - expected) / standard_error;
    println!("{name}: {value:.6}, expected {expected:.6}, {off:+.2} standard errors");
    assert!(off.abs() < 5.0, "{name}: {value}, expected {expected}");
}

/// The share of lost packets, and its standard error by the covariance of the chain: the states of
/// packets k apart have the correlation (1 − p − r)^k.
fn share_of(model: GilbertElliott) -> (f64, f64) {
    let GilbertElliott {
        p,
        r,
        loss_good,
        loss_bad,
    } = model;
    let bad = p / (p + r);
    let share = loss_good * (1.0 - bad) + loss_bad * bad;
    let step = 1.0 - p - r;
    let between = (loss_bad - loss_good).powi(2) * bad * (1.0 - bad) * step / (1.0 - step);
    let variance = share * (1.0 - share) + 2.0 * between;
    (share, (variance / N as f64).sqrt())
}

#[test]
fn losses_in_bursts_have_the_share_and_the_lengths_of_the_model() {
    let (p, r) = (0.02, 0.25);
    let model = GilbertElliott {
        p,
        r,
        loss_good: 0.0,
        loss_bad: 1.0,
    };
    let config = ImpairmentConfig {
        bursts: Some(model),
        ..ImpairmentConfig::default()
    };
    let lost = losses(&run(&config, 200));
    let (expected, error) = share_of(model);
    assert!((expected - p / (p + r)).abs() < 1e-12);
    let share = lost.iter().filter(|lost| **lost).count() as f64 / N as f64;
    assert_near("share", share, expected, error);
    // All packets of the bad state are lost, so that a burst is a stay: geometric, with mean 1 / r.
    let lengths = |of: bool| -> Vec<f64> {
        let runs = lost.chunk_by(|a, b| a == b).filter(|run| run[0] == of);
        runs.map(|run| run.len() as f64).collect()
    };
    for (name, of, leave) in [("burst", true, r), ("gap", false, p)] {
        let lengths = lengths(of);
        let count = lengths.len() as f64;
        let mean = lengths.iter().sum::<f64>() / count;
        let deviation = (1.0 - leave).sqrt() / leave;
        assert_near(name, mean, 1.0 / leave, deviation / count.sqrt());
        let single = lengths.iter().filter(|length| **length == 1.0).count() as f64 / count;
        let error = (leave * (1.0 - leave) / count).sqrt();
        assert_near(&format!("{name} of one packet"), single, leave, error);
    }
}

#[test]
fn both_states_of_the_chain_lose_their_share() {
    for (loss_good, loss_bad) in [(0.01, 0.6), (0.3, 0.1), (0.2, 0.2)] {
        let model = GilbertElliott {
            p: 0.05,
            r: 0.2,
            loss_good,
            loss_bad,
        };
        let config = ImpairmentConfig {
            bursts: Some(model),
            ..ImpairmentConfig::default()
        };
        let lost = losses(&run(&config, 200));
        let share = lost.iter().filter(|lost| **lost).count() as f64 / N as f64;
        let (expected, error) = share_of(model);
        assert_near("share", share, expected, error);
        // Neighbours are both lost with share² + (h − k)² · π (1 − π) · (1 − p − r).
        let both = lost.windows(2).filter(|pair| pair[0] && pair[1]).count() as f64 / N as f64;
        let bad = 0.05 / 0.25;
        let covariance = (loss_bad - loss_good).powi(2) * bad * (1.0 - bad) * 0.75;
        let expected = expected * expected + covariance;
        // Pairs overlap; their indicators depend on each other as the states do, or less.
        let error = (expected * (1.0 - expected) / N as f64 * (1.0 + 0.75) / 0.25).sqrt();
        assert_near("two in a row", both, expected, error);
    }
}

fn jittered(amplitude: Duration, law: JitterLaw, in_order: bool) -> ImpairmentConfig {
    ImpairmentConfig {
        jitter: Some(Jitter {
            amplitude,
            law,
            in_order,
        }),
        ..ImpairmentConfig::default()
    }
}

#[test]
fn jitter_has_the_mean_and_the_variance_of_its_law() {
    let amplitude = Duration::from_millis(1);
    // A normal law cut at ± 4 has the variance 1 − 8 φ(4) / (2 Φ(4) − 1); its fourth moment is near 3.
    let density = (-8.0f64).exp() / (2.0 * std::f64::consts::PI).sqrt();
    let cut = 1.0 - 8.0 * density / (1.0 - 2.0 * 3.167_124_183e-5);
    for (law, variance, fourth) in [
        (JitterLaw::Uniform, 1.0 / 3.0, 1.0 / 5.0),
        (JitterLaw::Normal, cut, 3.0),
    ] {
        let simulation = run(&jittered(amplitude, law, false), 200);
        let nominal_us = |number: u64| (number * 200 + 5100) as f64 + 1e-4;
        let deviations: Vec<f64> = arrivals(&simulation)
            .iter()
            .map(|&(number, at)| (at.as_ps() as f64 / 1e6 - nominal_us(number)) / 1000.0)
            .collect();
        let count = N as f64;
        assert_eq!(deviations.len() as u64, N);
        let mean = deviations.iter().sum::<f64>() / count;
        assert_near("mean", mean, 0.0, (variance / count).sqrt());
        let second = deviations.iter().map(|d| d * d).sum::<f64>() / count;
        let error = ((fourth - variance * variance) / count).sqrt();
        assert_near("variance", second, variance, error);
        let largest = deviations.iter().fold(0.0f64, |most, d| most.max(d.abs()));
        let bound = if law == JitterLaw::Uniform { 1.0 } else { 4.0 };
        assert!(largest <= bound && largest > 0.9 * bound, "{largest}");
    }
}

#[test]
fn packets_in_order_wait_for_the_latest_of_those_before() {
    let amplitude = Duration::from_millis(2);
    let free = run(&jittered(amplitude, JitterLaw::Uniform, false), 100);
    let mut free = arrivals(&free);
    assert!(!free.is_sorted_by_key(|arrival| arrival.0), "they overtake");
    assert!(free.is_sorted_by_key(|arrival| arrival.1));
    free.sort_unstable();
    let mut latest = SimTime::ZERO;
    let expected = free.iter().map(|&(number, at)| {
        latest = latest.max(at);
        (number, latest)
    });
    let in_order = run(&jittered(amplitude, JitterLaw::Uniform, true), 100);
    assert!(arrivals(&in_order).into_iter().eq(expected));
}

/// A packet that skips a delay of D overtakes those of the last D that do not: with a packet each
/// T, n = ⌈D / T⌉ − 1 may be overtaken.
#[test]
fn a_share_of_packets_skips_the_delay_and_overtakes_those_on_the_wire() {
    let (q, gap_us) = (0.05, 900);
    let n = 5.0;
    let config = ImpairmentConfig {
        reorder: q,
        ..ImpairmentConfig::default()
    };
    let arrivals = arrivals(&run(&config, gap_us));
    let mut place = vec![0; N as usize];
    let mut skips = vec![false; N as usize];
    for (index, &(number, at)) in arrivals.iter().enumerate() {
        place[number as usize] = index;
        let under_way_us = at.as_ps() / 1_000_000 - number * gap_us;
        skips[number as usize] = match under_way_us {
            100 => true,
            5100 => false,
            other => panic!("{other} µs"),
        };
    }
    let count = N as f64;
    let skipping = skips.iter().filter(|skips| **skips).count() as f64;
    let error = (q * (1.0 - q) / count).sqrt();
    assert_near("skipping", skipping / count, q, error);
    // RFC 4737 §3.3: a packet that arrives after one with a larger number. Those that do not skip
    // are, unless none of the n behind them does. Indicators n apart or less depend on each other.
    let mut highest = 0;
    let late = arrivals.iter().filter(|&&(number, _)| {
        highest = highest.max(number);
        number < highest
    });
    let late = late.count() as f64 / count;
    let expected = (1.0 - q) * (1.0 - (1.0 - q).powf(n));
    let error = (expected * (1.0 - expected) / count * (2.0 * n + 1.0)).sqrt();
    assert_near("reordered", late, expected, error);
    // Packets that one overtakes: of the n before it, those that do not skip.
    let overtaken: usize = (0..N as usize)
        .filter(|&number| skips[number])
        .map(|number| {
            let before = number.saturating_sub(20)..number;
            before.filter(|&other| place[other] > place[number]).count()
        })
        .sum();
    let error = (n * q * (1.0 - q) * (2.0 * n + 1.0) / skipping).sqrt();
    let mean = overtaken as f64 / skipping;
    assert_near("overtaken by one", mean, n * (1.0 - q), error);
}

#[test]
fn a_share_of_packets_arrives_twice_at_the_same_instant() {
    let config = ImpairmentConfig {
        bursts: Some(GilbertElliott {
            p: 0.1,
            r: 0.4,
            loss_good: 0.0,
            loss_bad: 1.0,
        }),
        duplicate: 0.07,
        ..ImpairmentConfig::default()
    };
    let simulation = run(&config, 200);
    let balance = simulation.network.balance();
    let arrivals = arrivals(&simulation);
    let twice = arrivals.chunk_by(|a, b| a == b);
    assert!(twice.clone().all(|copies| copies.len() <= 2));
    let twice = twice.filter(|copies| copies.len() == 2).count() as u64;
    assert_eq!(balance.duplicated, twice);
    assert_eq!(balance.injected, N);
    assert_eq!(balance.delivered, N - balance.dropped[1] + twice);
    // A packet that is lost is not duplicated.
    let kept = (N - balance.dropped[1]) as f64;
    let error = (0.07 * 0.93 / kept).sqrt();
    assert_near("duplicated", twice as f64 / kept, 0.07, error);
}

#[test]
fn an_impairment_does_not_change_the_draws_of_another() {
    let bursts = ImpairmentConfig {
        bursts: Some(GilbertElliott {
            p: 0.1,
            r: 0.4,
            loss_good: 0.0,
            loss_bad: 0.5,
        }),
        ..ImpairmentConfig::default()
    };
    let all = ImpairmentConfig {
        reorder: 0.1,
        duplicate: 0.1,
        ..bursts
    };
    assert_eq!(losses(&run(&bursts, 200)), losses(&run(&all, 200)));
}

proptest! {
    /// What happens on the wire changes nothing before it: at any instant the queue is that of a
    /// wire without impairments. A wire that goes down loses what it has.
    #[test]
    fn the_queue_before_an_impaired_wire_is_that_before_a_plain_one(
        gaps in prop::collection::vec((0u64..1500, 40u32..1500), 1..60),
        looks in prop::collection::vec(0u64..40_000, 1..20),
        cut_us in 0u64..40_000,
    ) {
        let mut at = 0;
        let sends: Vec<(u64, u32)> = gaps
            .iter()
            .map(|&(gap, size)| {
                at += gap;
                (at, size)
            })
            .collect();
        let impaired = ImpairmentConfig {
            reorder: 0.2,
            duplicate: 0.2,
            ..jittered(Duration::from_millis(5), JitterLaw::Uniform, false)
        };
        let limit = QueueLimit::Bytes(4000);
        let [mut plain, mut other] = [ImpairmentConfig::default(), impaired]
            .map(|config| started(&config, limit, sends.iter().copied()));
        let mut looks = looks;
        looks.sort_unstable();
        for look in looks {
            let now = SimTime::ZERO + Duration::from_micros(look);
            let [plain, other] = [&mut plain, &mut other].map(|simulation| {
                simulation.run(now, |_, _| false);
                assert_eq!(
                    simulation.network.balance().in_flight,
                    simulation.held_pkts() as u64
                );
                let link = simulation.network.link_mut(WIRE);
                (link.backlog_pkts(now), link.backlog_bytes(now))
            });
            prop_assert_eq!(plain, other);
        }
        let counters = [&mut plain, &mut other].map(|simulation| {
            finish(simulation);
            simulation.network.links()[WIRE.index()].counters()
        });
        prop_assert_eq!(counters[0], counters[1]);
        let mut cut = started(&impaired, limit, sends.iter().copied());
        cut.run(SimTime::ZERO + Duration::from_micros(cut_us), |_, _| false);
        cut.set_link_up(WIRE, false);
        prop_assert_eq!(cut.network.links()[WIRE.index()].held_pkts(), 0);
        cut.set_link_up(WIRE, true);
        finish(&mut cut);
    }
}
