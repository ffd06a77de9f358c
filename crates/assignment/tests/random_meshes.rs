//! Any mesh gets an assignment that the checker accepts, or is refused with a reason that holds.

mod common;

use backlane_assignment::{
    Channels, Demand, Error, FlowRates, Interference, Link, Mesh, Node, Violation, assign,
    by_paths, check, equal, throughput,
};
use proptest::collection::vec;
use proptest::prelude::*;

/// A connected mesh of 2 to 9 nodes with 1 to 3 radios, 3 to 5 channels, some of 802.11a's rates,
/// and one of the three interference models.
fn meshes() -> impl Strategy<Value = Mesh> {
    (2usize..10).prop_flat_map(|count| {
        let radios = vec(1u8..4, count);
        let places = vec((0.0..300.0_f64, 0.0..300.0_f64), count);
        // The parent of each further node, and which other pairs are joined.
        let tree = vec(any::<prop::sample::Index>(), count - 1);
        let more = vec(prop::bool::weighted(0.25), count * (count - 1) / 2);
        let interference = prop_oneof![
            Just(Interference::All),
            (1u8..4).prop_map(|hops| Interference::Hops { hops }),
            (
                2.0..4.0_f64,
                prop_oneof![Just(f64::INFINITY), 80.0..120.0_f64]
            )
                .prop_map(|(exponent, snr_at_1_m_db)| Interference::Sinr {
                    exponent,
                    snr_at_1_m_db,
                    thresholds_db: vec![25.0, 19.0, 9.0],
                }),
        ];
        (radios, places, tree, more, 3u8..6, interference).prop_map(
            |(radios, places, tree, more, channels, interference)| {
                let mut pairs: Vec<(usize, usize)> = Vec::new();
                for (child, parent) in tree.iter().enumerate() {
                    pairs.push((parent.index(child + 1), child + 1));
                }
                let all = (0..radios.len()).flat_map(|b| (0..b).map(move |a| (a, b)));
                for (pair, _) in all.zip(&more).filter(|(_, more)| **more) {
                    if !pairs.contains(&pair) {
                        pairs.push(pair);
                    }
                }
                Mesh {
                    nodes: (radios.iter().zip(places))
                        .map(|(&radios, at)| Node {
                            radios,
                            position_m: Some(at),
                        })
                        .collect(),
                    // Each fourth has a highest rate of its own.
                    links: (pairs.into_iter().enumerate())
                        .map(|(index, (a, b))| Link {
                            top_rate_bps: (index % 4 == 3).then_some(36_000_000),
                            ..Link::new(a, b)
                        })
                        .collect(),
                    rates_bps: vec![54_000_000, 36_000_000, 12_000_000],
                    channels: Channels::Available((1..=channels).collect()),
                    interference,
                }
            },
        )
    })
}

/// Flow rates for a mesh: from nothing to more than a link can carry.
fn loaded() -> impl Strategy<Value = (Mesh, FlowRates)> {
    meshes().prop_flat_map(|mesh| {
        let rate = || prop_oneof![1 => Just(0.0), 3 => 0.0..60e6_f64];
        let flows = vec(
            (rate(), rate()).prop_map(|(there, back)| [there, back]),
            mesh.links.len(),
        );
        (Just(mesh), flows.prop_map(FlowRates))
    })
}

/// Demands between nodes of a mesh, some of which name a rate.
fn demanding() -> impl Strategy<Value = (Mesh, Vec<Demand>, u8)> {
    meshes().prop_flat_map(|mesh| {
        let nodes = mesh.nodes.len();
        let one = (
            0..nodes,
            1..nodes,
            prop::option::of(1e6..40e6_f64),
            0.0..0.2_f64,
        )
            .prop_map(move |(from, step, rate_bps, reverse_share)| Demand {
                from,
                to: (from + step) % nodes,
                rate_bps,
                reverse_share,
            });
        (Just(mesh), vec(one, 1..4), 0u8..3)
    })
}

/// The longest link is too long for the lowest rate; else no error.
fn in_range<T>(mesh: &Mesh, result: Result<T, Error>) -> Option<T> {
    match result {
        Ok(value) => Some(value),
        Err(Error::OutOfRange { link }) => {
            let Interference::Sinr {
                exponent,
                snr_at_1_m_db,
                ..
            } = mesh.interference
            else {
                panic!("only geometry has a range");
            };
            let at = |node: usize| mesh.nodes[node].position_m.expect("each node has a place");
            let (from, to) = (at(mesh.links[link].a), at(mesh.links[link].b));
            let metres = libm::hypot(from.0 - to.0, from.1 - to.1);
            assert!(snr_at_1_m_db - 10.0 * exponent * libm::log10(metres) < 9.0);
            None
        }
        Err(error) => panic!("{error:?}"),
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(4000))]

    #[test]
    fn every_assignment_is_feasible((mesh, flows) in loaded(), adjust in any::<bool>()) {
        if let Some(assignment) = in_range(&mesh, assign(&mesh, &flows, adjust)) {
            prop_assert_eq!(check(&mesh, &assignment), Ok(()));
            prop_assert!(assignment.scale > 0.0 && assignment.scale <= 1.0);
            // Links with a flow rate have a channel, and rates stay in proportion.
            for (link, asked) in flows.0.iter().enumerate() {
                prop_assert!(flows.of(link) == 0.0 || assignment.channels[link].is_some());
                prop_assert_eq!(assignment.flow_rates.0[link], asked.map(|f| f * assignment.scale));
            }
            // It is scaled only where it must be: the fullest domain is full.
            let fullest = assignment.utilisation.iter().copied().fold(0.0, f64::max);
            prop_assert!(assignment.scale == 1.0 || (fullest - 1.0).abs() < 1e-9);
            // The same channels, given, are the same assignment.
            let given = Mesh { channels: Channels::Given(assignment.channels.clone()), ..mesh };
            let again = assign(&given, &flows, adjust).expect("a feasible assignment");
            prop_assert_eq!(again, assignment);
        }
    }

    #[test]
    fn adjusting_rates_never_makes_the_scale_smaller((mesh, flows) in loaded()) {
        if let Some(fixed) = in_range(&mesh, assign(&mesh, &flows, false)) {
            let adjusted = assign(&mesh, &flows, true).expect("as feasible as before");
            prop_assert!(adjusted.scale >= fixed.scale - 1e-12);
        }
    }

    #[test]
    fn simple_rules_give_flow_rates_that_can_be_assigned((mesh, demands, extra) in demanding()) {
        if let Some(flows) = in_range(&mesh, equal(&mesh)) {
            let assignment = assign(&mesh, &flows, true).expect("feasible");
            prop_assert_eq!(check(&mesh, &assignment), Ok(()));
            let flows = by_paths(&mesh, &demands, extra).expect("few paths");
            let assignment = assign(&mesh, &flows, true).expect("feasible");
            prop_assert_eq!(check(&mesh, &assignment), Ok(()));
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1000))]

    #[test]
    fn flow_rates_meet_the_demands_or_say_by_what_factor_they_can(
        (mesh, demands, extra) in demanding(),
    ) {
        match throughput(&mesh, &demands, extra) {
            Ok(flows) => {
                prop_assert!(flows.0.iter().flatten().all(|rate| *rate >= 0.0));
                // What comes out of a node beyond what goes in is what the demands say. The rates
                // of demands that name none are free; without such ones all is known.
                if demands.iter().all(|demand| demand.rate_bps.is_some()) {
                    for node in 0..mesh.nodes.len() {
                        let out = |link: usize| {
                            let [there, back] = flows.0[link];
                            let ends = mesh.links[link];
                            let net = there - back;
                            f64::from(u8::from(ends.a == node)) * net
                                - f64::from(u8::from(ends.b == node)) * net
                        };
                        let net: f64 = (0..mesh.links.len()).map(out).sum();
                        let wanted: f64 = demands.iter().map(|demand| {
                            let rate = demand.rate_bps.unwrap_or(0.0) * (1.0 - demand.reverse_share);
                            f64::from(u8::from(demand.from == node)) * rate
                                - f64::from(u8::from(demand.to == node)) * rate
                        }).sum();
                        prop_assert!((net - wanted).abs() < 30.0, "{net} for {wanted}");
                    }
                }
                let assignment = assign(&mesh, &flows, true).expect("feasible");
                prop_assert_eq!(check(&mesh, &assignment), Ok(()));
            }
            Err(Error::Infeasible(infeasible)) => {
                prop_assert!(infeasible.factor > 0.0 && infeasible.factor < 1.0);
                prop_assert!(!infeasible.remedies.is_empty());
                for remedy in &infeasible.remedies {
                    prop_assert!(remedy.factor > infeasible.factor);
                }
                // The advice holds, and one per mille more does not.
                let lowered = |factor: f64| demands.iter().map(|demand| Demand {
                    rate_bps: demand.rate_bps.map(|rate| rate * factor), ..*demand
                }).collect::<Vec<Demand>>();
                let fits = throughput(&mesh, &lowered(infeasible.factor * 0.9999), extra);
                prop_assert!(fits.is_ok(), "{fits:?}");
                let more = throughput(&mesh, &lowered(infeasible.factor * 1.001), extra);
                prop_assert!(matches!(more, Err(Error::Infeasible(_))), "{more:?}");
            }
            Err(error) => { in_range::<()>(&mesh, Err(error)); }
        }
    }
}

/// The most paths between two nodes that have no link in common, by augmenting (Ford and
/// Fulkerson 1956); independent of any linear program.
fn disjoint_paths(mesh: &Mesh, from: usize, to: usize) -> usize {
    // What each link can still take, there and back.
    let mut left = vec![[1i32; 2]; mesh.links.len()];
    let mut found = 0;
    loop {
        let mut by: Vec<Option<(usize, usize)>> = vec![None; mesh.nodes.len()];
        let mut waiting = vec![from];
        while let Some(node) = waiting.pop() {
            for (link, ends) in mesh.links.iter().enumerate() {
                let (next, direction) = match node {
                    node if node == ends.a => (ends.b, 0),
                    node if node == ends.b => (ends.a, 1),
                    _ => continue,
                };
                if left[link][direction] > 0 && next != from && by[next].is_none() {
                    by[next] = Some((link, direction));
                    waiting.push(next);
                }
            }
        }
        let mut node = to;
        while let Some((link, direction)) = by[node] {
            left[link][direction] -= 1;
            left[link][1 - direction] += 1;
            node = if direction == 0 {
                mesh.links[link].a
            } else {
                mesh.links[link].b
            };
        }
        if node == to {
            return found;
        }
        found += 1;
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(500))]

    #[test]
    fn where_no_link_disturbs_another_the_throughput_is_that_of_the_smallest_cut(
        mut mesh in meshes(), pair in any::<[prop::sample::Index; 2]>(),
    ) {
        let [from, to] = pair.map(|index| index.index(mesh.nodes.len()));
        prop_assume!(from != to);
        mesh.interference = Interference::All;
        mesh.links.iter_mut().for_each(|link| link.top_rate_bps = None);
        mesh.nodes.iter_mut().for_each(|node| node.radios = 8);
        mesh.channels = Channels::Given((0..mesh.links.len()).map(|link| Some(link as u8)).collect());
        let flows = throughput(&mesh, &[common::demand(from, to)], 8).expect("few paths");
        let out = |link: usize| match mesh.links[link] {
            ends if ends.a == from => flows.0[link][0] - flows.0[link][1],
            ends if ends.b == from => flows.0[link][1] - flows.0[link][0],
            _ => 0.0,
        };
        let total: f64 = (0..mesh.links.len()).map(out).sum();
        prop_assert_eq!(total, 54e6 * disjoint_paths(&mesh, from, to) as f64);
    }
}

#[test]
fn the_checker_finds_each_kind_of_mistake() {
    let mesh = common::mesh(4, 1, &[(0, 1), (1, 2), (2, 3)], &[1, 2]);
    let flows = FlowRates(vec![[10e6, 0.0]; 3]);
    let right = assign(&mesh, &flows, false).expect("feasible");
    assert_eq!(check(&mesh, &right), Ok(()));
    let found = |change: &dyn Fn(&mut backlane_assignment::Assignment)| {
        let mut wrong = right.clone();
        change(&mut wrong);
        check(&mesh, &wrong).expect_err("a mistake")
    };
    assert!(
        found(&|it| it.channels[0] = Some(2)).contains(&Violation::Radios {
            node: 1,
            channels: 2
        })
    );
    assert!(found(&|it| it.channels = vec![Some(9); 3]).contains(&Violation::Channel { link: 2 }));
    assert!(found(&|it| it.rates_bps[1] = 6_000_000).contains(&Violation::Rate { link: 1 }));
    let cut = found(&|it| it.channels[1] = None);
    assert!(cut.contains(&Violation::Unused { link: 1 }));
    assert!(cut.contains(&Violation::Split { link: 1 }));
    let full = found(&|it| it.flow_rates.0[2] = [40e6, 0.0]);
    assert!(
        full.iter()
            .any(|one| matches!(one, Violation::Overload { link: 1, .. }))
    );
    assert!(
        full.iter()
            .any(|one| matches!(one, Violation::NoTime { .. }))
    );
    let lie = found(&|it| it.utilisation[1] = 0.1);
    assert!(
        lie.iter()
            .any(|one| matches!(one, Violation::Stated { link: 1, .. }))
    );
    assert!(matches!(
        found(&|it| it.scale = f64::NAN)[..],
        [Violation::Shape(_)]
    ));
}
