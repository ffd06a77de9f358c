//! The two examples of Seferoglu and Modiano (2014, §III), slot by slot.

mod common;

use backlane_engine::Streams;
use backlane_slotted::{Arrivals, Config, Growth, Model, Rule, Ties, Window};
use common::{downlink, finished};

fn window(initial_pkts: u32, growth: Growth) -> Arrivals {
    let window = Window {
        window_pkts: initial_pkts,
        growth,
        most_window_pkts: 1000,
        ack_delay_slots: 0,
    };
    Arrivals::Window(window)
}

/// Example 1: W1 = 1 and W2 = 3, buffer 100.
fn example_1(k_pkts: u32, slots: u64) -> Config {
    let windows = [1, 3].map(|initial| window(initial, Growth::Additive));
    Config {
        k_pkts,
        buffer_pkts: Some(100),
        ..downlink([1.0, 1.0], windows, slots)
    }
}

#[test]
fn a_window_of_one_is_never_served_by_classical_backpressure() {
    let model = finished(&example_1(0, 20_000), 1);
    let [first, second] = model.statistics() else {
        panic!()
    };
    assert_eq!((first.served_slots, second.served_slots), (0, 20_000));
    assert_eq!(first.single_slots, 20_000, "one packet waits all the time");
    assert_eq!(model.window_pkts(0), Some(1.0));
    assert!(model.window_pkts(1).unwrap() > 40.0);
}

#[test]
fn with_k_of_half_the_buffer_both_windows_are_served() {
    for k_pkts in [50, 100] {
        let model = finished(&example_1(k_pkts, 20_000), 1);
        for flow in model.statistics() {
            let share = flow.served_slots as f64 / 20_000.0;
            assert!(share > 0.4, "K {k_pkts}: {share}");
        }
    }
}

/// Example 2: two queues shorter than K are equals.
#[test]
fn queues_below_k_take_turns_or_win_by_chance() {
    let windows = [1, 3].map(|initial| window(initial, Growth::Fixed));
    let config = Config {
        k_pkts: 10,
        ..downlink([1.0, 1.0], windows, 10_000)
    };
    let mut model = Model::new(&config, &Streams::new(1)).unwrap();
    let mut before = None;
    for _ in 0..10_000 {
        assert_eq!((model.queue_pkts(0, 0), model.queue_pkts(0, 1)), (1, 3));
        model.run(1);
        assert_ne!(Some(model.chosen().to_vec()), before, "strictly in turn");
        before = Some(model.chosen().to_vec());
    }
    let config = Config {
        ties: Ties::Random,
        ..config
    };
    let model = finished(&config, 1);
    let served = model.statistics()[0].served_slots as f64;
    // Four standard errors of 10⁴ fair coins.
    assert!((served / 10_000.0 - 0.5).abs() < 0.02, "{served}");
}

/// Example 2, continued: K = 10, U = (7, 12), B = 20. The second is served, and when the buffer
/// overflows, it loses a packet.
#[test]
fn the_longer_queue_is_served_and_loses_what_is_too_much() {
    let config = Config {
        k_pkts: 10,
        buffer_pkts: Some(20),
        ..downlink([1.0, 1.0], [Arrivals::Constant { rate: 1.0 }; 2], 10)
    };
    let mut config = config;
    config.flow[0].backlog_pkts = 7;
    config.flow[1].backlog_pkts = 12;
    let mut model = Model::new(&config, &Streams::new(1)).unwrap();
    let state = |model: &Model| {
        let dropped = |flow: usize| model.statistics()[flow].dropped_at_source_pkts;
        [
            model.queue_pkts(0, 0),
            model.queue_pkts(0, 1),
            dropped(0),
            dropped(1),
        ]
    };
    assert_eq!(state(&model), [7, 12, 0, 0]);
    model.run(1);
    assert_eq!((model.chosen(), state(&model)), (&[1][..], [8, 12, 0, 0]));
    model.run(1);
    assert_eq!((model.chosen(), state(&model)), (&[1][..], [9, 11, 0, 1]));
}

/// Equations (2) to (4) as printed let an empty queue win: its slots are wasted.
#[test]
fn an_empty_queue_wastes_slots_under_the_literal_rule_alone() {
    let arrivals = [
        Arrivals::Constant { rate: 0.0 },
        Arrivals::Constant { rate: 0.9 },
    ];
    let config = Config {
        k_pkts: 10,
        ..downlink([1.0, 1.0], arrivals, 10_000)
    };
    let backlog = |rule| {
        let config = Config {
            rule,
            ..config.clone()
        };
        finished(&config, 1).backlog_pkts(1)
    };
    assert!(backlog(Rule::WorkConserving) <= 1);
    // Above K the second queue wins against K of the first: there it settles.
    assert!((10..=12).contains(&backlog(Rule::Literal)));
}

#[test]
fn an_acknowledgment_takes_its_delay() {
    let window = Window {
        window_pkts: 2,
        growth: Growth::Fixed,
        most_window_pkts: 2,
        ack_delay_slots: 3,
    };
    let delayed = Arrivals::Window(window);
    let config = downlink(
        [1.0, 1.0],
        [delayed, Arrivals::Constant { rate: 0.0 }],
        1000,
    );
    let model = finished(&config, 1);
    // Two packets leave in slots 0 and 1; each is replaced three slots after the next slot.
    assert_eq!(model.statistics()[0].delivered_pkts, 500);
}

#[test]
fn a_drop_halves_the_window_once() {
    let config = Config {
        buffer_pkts: Some(10),
        ..downlink(
            [1.0, 0.0],
            [
                window(40, Growth::Additive),
                Arrivals::Constant { rate: 0.0 },
            ],
            1,
        )
    };
    let mut model = Model::new(&config, &Streams::new(1)).unwrap();
    assert_eq!(model.queue_pkts(0, 0), 10);
    model.run(1);
    // One acknowledgment and thirty drops.
    let window = model.window_pkts(0).unwrap();
    assert!((window - 20.0125).abs() < 1e-9, "{window}");
}

/// Equation (1), counted in every slot of networks that drop, draw and forward.
#[test]
fn packets_are_conserved_in_every_slot() {
    for rule in [Rule::Literal, Rule::WorkConserving] {
        for ties in [Ties::RoundRobin, Ties::Random] {
            let base = common::diamond(
                backlane_slotted::Interference::Primary,
                window(3, Growth::Additive),
                2_000,
            );
            let mut config = Config {
                k_pkts: 5,
                buffer_pkts: Some(12),
                rule,
                ties,
                ..base
            };
            config.link.iter_mut().for_each(|link| link.on = 0.7);
            config
                .flow
                .push(common::flow(0, 1, Arrivals::Bernoulli { rate: 1.3 }));
            config.flow.push(common::flow(1, 3, Arrivals::Utility));
            let mut model = Model::new(&config, &Streams::new(9)).unwrap();
            while model.run(1) > 0 {
                assert!(model.balance().holds(), "{:?}", model.balance());
                for node in 0..4 {
                    let held: u64 = (0..3).map(|flow| model.queue_pkts(node, flow)).sum();
                    assert!(held <= 12);
                }
            }
            let dropped = model.balance().dropped_pkts;
            assert!(dropped > 100 && model.balance().delivered_pkts > 100);
        }
    }
}

#[test]
fn a_run_in_pieces_is_the_run_in_one() {
    let arrivals = [
        Arrivals::Bernoulli { rate: 0.3 },
        window(1, Growth::Additive),
    ];
    let config = downlink([0.6, 0.7], arrivals, 5_000);
    let mut model = Model::new(&config, &Streams::new(4)).unwrap();
    while model.run(7) > 0 {}
    let whole = finished(&config, 4);
    assert_eq!(model.statistics(), whole.statistics());
    assert_eq!(model.slope(), whole.slope());
    assert!(whole.slope().is_some());
}

/// Ten packets over a link that carries three in a slot: 3, 6, 9 and then what is left.
#[test]
fn a_link_carries_its_rate_in_a_slot_and_no_more_than_there_is() {
    let mut config = common::config(
        vec![common::link(0, 1, 1.0)],
        vec![common::flow(0, 1, Arrivals::Constant { rate: 0.0 })],
        4,
    );
    config.link[0].rate_pkts = 3;
    config.flow[0].backlog_pkts = 10;
    let mut model = Model::new(&config, &Streams::new(1)).unwrap();
    let delivered = [(); 4].map(|()| {
        model.run(1);
        (model.carried_pkts()[0], model.balance().delivered_pkts)
    });
    assert_eq!(delivered, [(3, 3), (6, 6), (9, 9), (10, 10)]);
}

/// Nothing is sent. The other flow brings a packet in each slot, for which the longer queue, that
/// of the window of ten, loses one: all of these were outstanding when the window was halved, so
/// they are one loss (as in RFC 6582).
#[test]
fn drops_of_one_window_in_several_slots_halve_it_once() {
    let config = Config {
        buffer_pkts: Some(10),
        ..downlink(
            [0.0, 0.0],
            [
                window(10, Growth::Additive),
                Arrivals::Constant { rate: 1.0 },
            ],
            4,
        )
    };
    let model = finished(&config, 1);
    assert!(model.balance().dropped_pkts >= 4, "{:?}", model.balance());
    assert_eq!(model.window_pkts(0), Some(5.0));
}
