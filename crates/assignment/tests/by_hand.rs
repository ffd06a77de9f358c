//! Small meshes whose flow rates and channels follow by hand.

mod common;

use backlane_assignment::{
    Channels, Constraint, Demand, Error, FlowRates, Interference, Mesh, Node, Violation, assign,
    by_paths, check, equal, throughput, utilisation,
};
use common::{A, B, C, D, chaska, chaska_to_assign, demand, mesh};

const MBPS: f64 = 1e6;

fn name(node: usize) -> String {
    ["A", "B", "C", "D", "E", "F"]
        .get(node)
        .map_or_else(|| format!("n{}", node - 3), ToString::to_string)
}

/// What happened and what to do.
fn text(error: &Error, mesh: &Mesh) -> String {
    let (what, mend) = error.describe(mesh, name);
    format!("{what}: {mend}")
}

/// Mbit/s of each direction of each link.
fn mbps(flows: &FlowRates) -> Vec<[f64; 2]> {
    flows
        .0
        .iter()
        .map(|both| both.map(|rate| rate / MBPS))
        .collect()
}

#[test]
fn a_chain_of_two_on_one_channel_carries_half_a_link() {
    let mut chain = mesh(3, 1, &[(0, 1), (1, 2)], &[1]);
    chain.channels = Channels::Given(vec![Some(1); 2]);
    let flows = throughput(&chain, &[demand(0, 2)], 0).unwrap();
    assert_eq!(mbps(&flows), [[27.0, 0.0], [27.0, 0.0]]);
    let assignment = assign(&chain, &flows, false).unwrap();
    assert_eq!(assignment.scale, 1.0);
    assert_eq!(assignment.utilisation, [1.0, 1.0]);
    assert_eq!(check(&chain, &assignment), Ok(()));
}

#[test]
fn a_chain_of_two_with_two_radios_and_channels_carries_a_whole_link() {
    let chain = mesh(3, 2, &[(0, 1), (1, 2)], &[1, 2]);
    let flows = throughput(&chain, &[demand(0, 2)], 0).unwrap();
    assert_eq!(mbps(&flows), [[54.0, 0.0], [54.0, 0.0]]);
    let assignment = assign(&chain, &flows, false).unwrap();
    assert_eq!(assignment.channels, [Some(1), Some(2)]);
    assert_eq!(assignment.scale, 1.0);
    assert_eq!(check(&chain, &assignment), Ok(()));
}

#[test]
fn what_flows_back_takes_its_share_of_the_time() {
    let mut chain = mesh(2, 1, &[(0, 1)], &[1]);
    let mut both = demand(0, 1);
    both.reverse_share = 0.25;
    // x + x/4 = 54.
    let flows = throughput(&chain, &[both], 0).unwrap();
    assert_eq!(mbps(&flows), [[43.2, 10.8]]);
    chain.channels = Channels::Given(vec![Some(9)]);
    assert_eq!(throughput(&chain, &[both], 0).unwrap(), flows);
}

#[test]
fn a_star_shares_the_radio_of_its_middle() {
    // Three leaves send to the middle, which has one radio: a third of the time each.
    let star = mesh(4, 1, &[(0, 1), (0, 2), (0, 3)], &[1]);
    let demands = [demand(1, 0), demand(2, 0), demand(3, 0)];
    let flows = throughput(&star, &demands, 0).unwrap();
    assert_eq!(mbps(&flows), [[0.0, 18.0]; 3]);
    let assignment = assign(&star, &flows, false).unwrap();
    assert_eq!(assignment.channels, [Some(1); 3]);
    assert_eq!(check(&star, &assignment), Ok(()));
}

#[test]
fn two_links_of_a_star_with_two_channels_are_scaled_to_share_one() {
    // Three links, two channels: two of the links share one, and all are scaled with them.
    let star = mesh(4, 2, &[(0, 1), (0, 2), (0, 3)], &[1, 2]);
    let full = FlowRates(vec![
        [30.0 * MBPS, 0.0],
        [30.0 * MBPS, 0.0],
        [54.0 * MBPS, 0.0],
    ]);
    let assignment = assign(&star, &full, false).unwrap();
    // The heaviest first, alone on channel 1; the others together on 2.
    assert_eq!(assignment.channels, [Some(2), Some(2), Some(1)]);
    assert!((assignment.scale - 54.0 / 60.0).abs() < 1e-12);
    let expected = [1.0, 1.0, 0.9];
    for (busy, expected) in assignment.utilisation.iter().zip(expected) {
        assert!((busy - expected).abs() < 1e-12, "{busy} {expected}");
    }
    assert_eq!(check(&star, &assignment), Ok(()));
}

#[test]
fn the_links_of_a_triangle_have_three_channels_and_need_no_turns() {
    let triangle = mesh(3, 2, &[(0, 1), (1, 2), (2, 0)], &[1, 2, 3]);
    let full = FlowRates(vec![[54.0 * MBPS, 0.0]; 3]);
    let assignment = assign(&triangle, &full, false).unwrap();
    assert_eq!(assignment.scale, 1.0);
    assert_eq!(assignment.channels, [Some(1), Some(2), Some(3)]);
    // With one radio each there is but one channel for all.
    let poor = Mesh {
        nodes: vec![
            Node {
                radios: 1,
                position_m: None
            };
            3
        ],
        ..triangle
    };
    let assignment = assign(&poor, &full, false).unwrap();
    assert_eq!(assignment.channels, [Some(1); 3]);
    assert!((assignment.scale - 1.0 / 3.0).abs() < 1e-12);
    assert_eq!(check(&poor, &assignment), Ok(()));
}

#[test]
fn two_full_ends_without_a_common_channel_are_merged_and_the_lighter_channel_moves() {
    // Two pairs on their own channels, then a link that joins them; each node has one radio.
    let pairs = mesh(4, 1, &[(0, 1), (2, 3), (1, 2)], &[1, 2]);
    let flows = FlowRates(vec![
        [20.0 * MBPS, 0.0],
        [10.0 * MBPS, 0.0],
        [1.0 * MBPS, 0.0],
    ]);
    let assignment = assign(&pairs, &flows, false).unwrap();
    assert_eq!(assignment.channels, [Some(1); 3]);
    assert_eq!(check(&pairs, &assignment), Ok(()));
}

#[test]
fn a_mesh_without_flows_on_some_links_stays_whole() {
    // The link in the middle carries nothing; without it the pairs would fall apart.
    let pairs = mesh(4, 1, &[(0, 1), (2, 3), (1, 2)], &[1, 2]);
    let flows = FlowRates(vec![[20.0 * MBPS, 0.0], [10.0 * MBPS, 0.0], [0.0, 0.0]]);
    let assignment = assign(&pairs, &flows, false).unwrap();
    assert_eq!(assignment.channels, [Some(1); 3]);
    // A link that closes a ring and has no channel for it is left out; with radios it has one.
    let mut ring = mesh(4, 2, &[(0, 1), (1, 2), (2, 3), (3, 0)], &[1, 2, 3, 4]);
    let mut idle = FlowRates(vec![[20.0 * MBPS, 0.0]; 4]);
    idle.0[3] = [0.0, 0.0];
    let assignment = assign(&ring, &idle, false).unwrap();
    assert_eq!(assignment.channels, [1, 2, 3, 4].map(Some));
    ring.nodes[0].radios = 1;
    ring.nodes[3].radios = 1;
    let assignment = assign(&ring, &idle, false).unwrap();
    assert_eq!(assignment.channels, [Some(1), Some(2), Some(3), None]);
    assert_eq!(check(&ring, &assignment), Ok(()));
}

#[test]
fn two_cliques_out_of_each_others_reach_use_one_channel_at_once() {
    // Triangles three hops apart.
    let links = [
        (0, 1),
        (1, 2),
        (2, 0),
        (2, 6),
        (6, 7),
        (7, 3),
        (3, 4),
        (4, 5),
        (5, 3),
    ];
    let mut cliques = mesh(8, 1, &links, &[1]);
    cliques.channels = Channels::Given(vec![Some(1); 9]);
    let mut flows = FlowRates(vec![[0.0; 2]; 9]);
    for link in [0, 1, 2, 6, 7, 8] {
        flows.0[link] = [18.0 * MBPS, 0.0];
    }
    let assignment = assign(&cliques, &flows, false).unwrap();
    assert_eq!(assignment.scale, 1.0);
    assert_eq!(check(&cliques, &assignment), Ok(()));
    // In one domain they are six.
    cliques.interference = Interference::All;
    let assignment = assign(&cliques, &flows, false).unwrap();
    assert!((assignment.scale - 0.5).abs() < 1e-12);
}

/// Two links of some lengths in a row and some distance apart, at 54 Mbit/s from 25 dB on and at
/// 12 Mbit/s from 9 dB on; signals fall with the square of the distance.
fn in_a_row(first_m: f64, between_m: f64, second_m: f64) -> Mesh {
    let at = |x: f64| Node {
        radios: 1,
        position_m: Some((x, 0.0)),
    };
    let far = first_m + between_m;
    Mesh {
        nodes: vec![at(0.0), at(first_m), at(far), at(far + second_m)],
        rates_bps: vec![54_000_000, 12_000_000],
        interference: Interference::Sinr {
            exponent: 2.0,
            snr_at_1_m_db: 100.0,
            thresholds_db: vec![25.0, 9.0],
        },
        ..mesh(4, 1, &[(0, 1), (2, 3)], &[1])
    }
}

#[test]
fn a_slower_rate_bears_the_interference_that_a_faster_one_does_not() {
    // 20 log(100/20) = 14 dB at the long link, 20 log(100/5) = 26 dB at the short one: only the
    // long one is disturbed, and not when it is slow.
    let pairs = in_a_row(20.0, 100.0, 5.0);
    let flows = FlowRates(vec![[6.0 * MBPS, 0.0], [50.0 * MBPS, 0.0]]);
    let fixed = assign(&pairs, &flows, false).unwrap();
    assert!((fixed.scale - 54.0 / 56.0).abs() < 1e-12);
    let adjusted = assign(&pairs, &flows, true).unwrap();
    assert_eq!(adjusted.rates_bps, [12_000_000, 54_000_000]);
    assert_eq!(adjusted.scale, 1.0);
    assert_eq!(adjusted.utilisation, [6.0 / 12.0, 50.0 / 54.0]);
    for assignment in [fixed, adjusted] {
        assert_eq!(check(&pairs, &assignment), Ok(()));
    }
}

/// As above, 14 dB at the long link: at 54 Mbit/s, which needs 25 dB, it waits for the other, at
/// 12 Mbit/s it does not. A rate between the two bears what 12 Mbit/s does.
#[test]
fn the_load_of_a_channel_counts_what_disturbs_at_the_rates_in_use() {
    let pairs = in_a_row(20.0, 100.0, 5.0);
    let flows = FlowRates(vec![[6.0 * MBPS, 0.0], [27.0 * MBPS, 0.0]]);
    let busy = |rate| {
        let rates = [rate, 54_000_000];
        utilisation(&pairs, &[Some(1), Some(1)], &rates, &flows)[0]
    };
    assert!((busy(54_000_000) - (6.0 / 54.0 + 27.0 / 54.0)).abs() < 1e-12);
    assert!((busy(24_000_000) - 6.0 / 24.0).abs() < 1e-12);
    assert!((busy(12_000_000) - 6.0 / 12.0).abs() < 1e-12);
}

#[test]
fn rates_stay_where_one_slower_link_alone_does_not_help() {
    // 15.6 dB at both: they would have to be slow both, and then neither has time for 50.
    let pairs = in_a_row(10.0, 60.0, 10.0);
    let flows = FlowRates(vec![[6.0 * MBPS, 0.0], [50.0 * MBPS, 0.0]]);
    let assignment = assign(&pairs, &flows, true).unwrap();
    assert_eq!(assignment.rates_bps, [54_000_000; 2]);
    assert!((assignment.scale - 54.0 / 56.0).abs() < 1e-12);
    assert_eq!(check(&pairs, &assignment), Ok(()));
}

#[test]
fn a_long_link_begins_with_the_rate_that_its_length_allows() {
    // 100 - 20 log(6000) = 24.4 dB: too little for 54 Mbit/s.
    let pairs = in_a_row(6000.0, 1e6, 5.0);
    let flows = equal(&pairs).unwrap();
    assert_eq!(flows.0, [[6.0 * MBPS; 2]; 2]);
    assert_eq!(
        assign(&pairs, &flows, false).unwrap().rates_bps,
        [12_000_000, 54_000_000]
    );
    // 100 - 20 log(40 000) = 8 dB: too little for any.
    let error = equal(&in_a_row(40_000.0, 1.0, 5.0)).unwrap_err();
    assert_eq!(error, Error::OutOfRange { link: 0 });
}

#[test]
fn equal_flow_rates_fill_a_lone_link_and_paths_count() {
    let square = mesh(4, 2, &[(0, 1), (1, 2), (2, 3), (3, 0), (0, 2)], &[1, 2, 3]);
    assert_eq!(mbps(&equal(&square).unwrap()), [[27.0; 2]; 5]);
    // 0 to 2: directly, over 1, over 3.
    let flows = by_paths(&square, &[demand(0, 2)], 1).unwrap();
    assert_eq!(
        mbps(&flows),
        [
            [27.0, 0.0],
            [27.0, 0.0],
            [0.0, 27.0],
            [0.0, 27.0],
            [27.0, 0.0]
        ]
    );
}

#[test]
fn a_link_has_no_more_than_its_highest_rate() {
    let mut chain = mesh(3, 2, &[(0, 1), (1, 2)], &[1, 2]);
    chain.rates_bps = vec![54_000_000, 12_000_000];
    chain.links[1].top_rate_bps = Some(12_000_000);
    let flows = throughput(&chain, &[demand(0, 2)], 0).unwrap();
    assert_eq!(mbps(&flows), [[12.0, 0.0]; 2]);
    let mut assignment = assign(&chain, &flows, false).unwrap();
    assert_eq!(assignment.rates_bps, [54_000_000, 12_000_000]);
    assert_eq!(check(&chain, &assignment), Ok(()));
    let busy = utilisation(&chain, &assignment.channels, &assignment.rates_bps, &flows);
    assert_eq!((busy[0], busy[1]), (12.0 / 54.0, 1.0));
    assignment.rates_bps[1] = 54_000_000;
    assert_eq!(
        check(&chain, &assignment),
        Err(vec![Violation::Rate { link: 1 }])
    );
    chain.links[0].top_rate_bps = Some(11_000_000);
    assert!(matches!(chain.validate(), Err(Error::Malformed(_))));
}

#[test]
fn demands_that_name_rates_get_them_and_load_all_paths_alike() {
    // Two disjoint paths of two hops, each link on its own channel.
    let mut square = mesh(4, 2, &[(0, 1), (1, 3), (0, 2), (2, 3)], &[]);
    square.channels = Channels::Given([1, 2, 3, 4].map(Some).into());
    let mut named = demand(0, 3);
    named.rate_bps = Some(60.0 * MBPS);
    let flows = throughput(&square, &[named], 0).unwrap();
    assert_eq!(mbps(&flows), [[30.0, 0.0]; 4]);
    // What is left goes to the demand that names none.
    let flows = throughput(&square, &[named, demand(0, 3)], 0).unwrap();
    assert_eq!(mbps(&flows), [[54.0, 0.0]; 4]);
}

#[test]
fn demands_that_cannot_be_met_name_the_radio_and_what_one_more_would_do() {
    // One radio at B between A and C: 27 Mbit/s at most, and with a second one 54.
    let chain = mesh(3, 2, &[(0, 1), (1, 2)], &[1, 2]);
    let mut poor = chain.clone();
    poor.nodes[1].radios = 1;
    let mut named = demand(0, 2);
    named.rate_bps = Some(40.0 * MBPS);
    let error = throughput(&poor, &[named], 0).unwrap_err();
    let Error::Infeasible(infeasible) = &error else {
        panic!("{error:?}")
    };
    assert!((infeasible.factor - 27.0 / 40.0).abs() < 1e-9);
    assert!(!infeasible.together);
    assert_eq!(infeasible.remedies.len(), 1);
    assert_eq!(
        infeasible.remedies[0].constraint,
        Constraint::Radios { node: 1, radios: 1 }
    );
    assert!((infeasible.remedies[0].factor - 54.0 / 40.0).abs() < 1e-9);
    assert_eq!(
        text(&error, &poor),
        "the demands can be met to 67.5 % of their rates at most, since the only radio of B is \
         always busy: lower each to 67.5 % of its rate, or have one more radio at B (then 135 %)",
    );
    // The advice holds.
    assert!(throughput(&chain, &[named], 0).is_ok());
    named.rate_bps = Some(40.0 * MBPS * 0.675);
    assert!(throughput(&poor, &[named], 0).is_ok());
}

#[test]
fn two_bottlenecks_in_a_row_are_named_together() {
    // Both relays have one radio: a second one at either alone changes nothing.
    let mut chain = mesh(4, 2, &[(0, 1), (1, 2), (2, 3)], &[1, 2, 3]);
    chain.nodes[1].radios = 1;
    chain.nodes[2].radios = 1;
    let mut named = demand(0, 3);
    named.rate_bps = Some(54.0 * MBPS);
    let Error::Infeasible(infeasible) = throughput(&chain, &[named], 0).unwrap_err() else {
        panic!("27 Mbit/s fit through one radio");
    };
    assert!((infeasible.factor - 0.5).abs() < 1e-9);
    assert!(infeasible.together);
    let constraints: Vec<Constraint> = infeasible
        .remedies
        .iter()
        .map(|one| one.constraint)
        .collect();
    let expected = [1, 2].map(|node| Constraint::Radios { node, radios: 1 });
    assert_eq!(constraints, expected);
    assert!((infeasible.remedies[0].factor - 1.0).abs() < 1e-9);
}

#[test]
fn a_lone_link_that_is_too_slow_needs_rate_and_no_radios() {
    let pair = mesh(2, 1, &[(0, 1)], &[1, 2]);
    let mut named = demand(0, 1);
    named.rate_bps = Some(60.0 * MBPS);
    let error = throughput(&pair, &[named], 0).unwrap_err();
    assert_eq!(
        text(&error, &pair),
        "the demands can be met to 90 % of their rates at most, since the link A-B is always busy: \
         lower each to 90 % of its rate, or have twice the rate on A-B (then 180 %)",
    );
}

#[test]
fn a_full_channel_is_named_with_the_factor_of_one_more() {
    let chain = mesh(3, 2, &[(0, 1), (1, 2)], &[1, 2]);
    let Channels::Available(_) = chain.channels else {
        panic!("to be assigned")
    };
    let mut named = demand(0, 2);
    named.rate_bps = Some(54.0 * MBPS);
    // One channel of 54 Mbit/s for two hops. One radio each, as for one channel.
    let mut poor = mesh(3, 1, &[(0, 1), (1, 2)], &[1]);
    poor.nodes[1].radios = 1;
    poor.channels = Channels::Given(vec![Some(6); 2]);
    let Error::Infeasible(infeasible) = throughput(&poor, &[named], 0).unwrap_err() else {
        panic!("half of it fits");
    };
    assert!((infeasible.factor - 0.5).abs() < 1e-9);
    assert!(matches!(
        infeasible.remedies[0].constraint,
        Constraint::Domain { channel: 6, .. }
    ));
}

#[test]
fn a_mesh_that_makes_no_sense_is_refused_with_what_to_do() {
    let chain = mesh(3, 2, &[(0, 1), (1, 2)], &[1]);
    let error = throughput(&chain, &[demand(0, 2)], 0).unwrap_err();
    assert_eq!(
        text(&error, &chain),
        "A has 2 radios for 1 channel, and two radios of a node on one channel disturb each other: \
         give it at most 1, or make more channels available",
    );
    let mut none = chain.clone();
    none.nodes[1].radios = 0;
    let error = equal(&none).unwrap_err();
    assert_eq!(
        text(&error, &none),
        "B has links but no radio: give it one, or take its links away",
    );
    let mut given = mesh(3, 1, &[(0, 1), (1, 2)], &[]);
    given.channels = Channels::Given(vec![Some(1), Some(2)]);
    let error = equal(&given).unwrap_err();
    assert_eq!(
        text(&error, &given),
        "the links of B are on 2 channels (1, 2), but it has 1 radio: give it 2 radios, or put its \
         links on fewer channels",
    );
    given.channels = Channels::Given(vec![Some(1), None]);
    let error = assign(&given, &equal(&given).unwrap(), false).unwrap_err();
    assert_eq!(
        text(&error, &given),
        "with these channels the mesh falls apart into {A, B} and {C}: give a link between them a \
         channel that both its ends have",
    );
    let error = throughput(&given, &[demand(0, 2)], 0).unwrap_err();
    assert_eq!(
        text(&error, &given),
        "no links with a channel lead from A to C: join them, or take the demand away",
    );
}

#[test]
fn more_paths_than_can_be_gone_through_are_an_error() {
    // A complete graph of ten nodes has over 100 000 paths between two of them.
    let links: Vec<(usize, usize)> = (0..10)
        .flat_map(|a| (a + 1..10).map(move |b| (a, b)))
        .collect();
    let full = mesh(10, 1, &links, &[1]);
    assert!(throughput(&full, &[demand(0, 9)], 2).is_ok());
    let error = by_paths(&full, &[demand(0, 9)], 9).unwrap_err();
    assert!(matches!(
        error,
        Error::TooManyPaths {
            demand: 0,
            from: 0,
            to: 9,
            ..
        }
    ));
}

#[test]
fn the_graph_of_chaska_is_the_one_that_was_checked_by_script() {
    let mesh = chaska();
    assert_eq!((mesh.nodes.len(), mesh.links.len()), (13, 23));
    assert_eq!(mesh.validate(), Ok(()));
    // Over one channel a link's flow is in proportion to the paths of one demand over it; the
    // paths of at most two hops more than the shortest from A to C are 10, all over n6-C.
    let flows = by_paths(&mesh, &[demand(A, C)], 2).unwrap();
    let last = mesh.links.iter().position(|link| link.b == C).unwrap();
    assert_eq!(flows.of(last), 27.0 * MBPS);
    let from_a: f64 = (0..23)
        .filter(|&l| mesh.links[l].a == A)
        .map(|l| flows.of(l))
        .sum();
    assert!((from_a - 27.0 * MBPS).abs() <= 2.0);
    assert!(flows.0[0][0] % 2.7e6 == 0.0, "tenths: {}", flows.0[0][0]);
}

#[test]
fn the_flow_rates_of_chaska_are_those_of_its_cuts() {
    let mesh = chaska();
    let last = mesh.links.iter().position(|link| link.b == C).unwrap();
    // To C alone: all of n6-C's time, since A-n1-n6-C has three channels.
    let flows = throughput(&mesh, &[demand(A, C)], 2).unwrap();
    assert_eq!(mbps(&flows)[last], [54.0, 0.0]);
    // From A to B, C and D. What goes to B and to C ends in a hop on channel 7, so these two are
    // at most 54 Mbit/s together. D has two channels, each of which is one of two hops at least.
    let demands = [demand(A, B), demand(A, C), demand(A, D)];
    let flows = throughput(&mesh, &demands, 2).unwrap();
    assert_eq!(mbps(&flows)[last], [27.0, 0.0]);
    let into = |node: usize| -> f64 {
        let links = mesh.links.iter().zip(mbps(&flows));
        links
            .map(|(link, [there, back])| match node {
                node if node == link.b => there - back,
                node if node == link.a => back - there,
                _ => 0.0,
            })
            .sum()
    };
    assert_eq!([B, C, D].map(into), [27.0, 27.0, 54.0]);
    let assignment = assign(&mesh, &flows, false).unwrap();
    assert_eq!(assignment.scale, 1.0);
    assert_eq!(check(&mesh, &assignment), Ok(()));
}

/// The numbers of the page of the model.
#[test]
fn fcra_beside_the_given_channels_of_chaska() {
    let (given, free) = (chaska(), chaska_to_assign());
    let pairs = [(A, C), (B, D), (C, B), (D, B)];
    let demands = pairs.map(|(from, to)| Demand {
        reverse_share: 0.05,
        ..demand(from, to)
    });
    let scales = |flows: &FlowRates| {
        [&free, &given].map(|mesh| {
            let assignment = assign(mesh, flows, false).unwrap();
            assert_eq!(check(mesh, &assignment), Ok(()));
            (assignment.scale * 1e4).round() / 1e4
        })
    };
    assert_eq!(scales(&throughput(&free, &demands, 2).unwrap()), [0.6, 0.5]);
    assert_eq!(scales(&equal(&free).unwrap()), [0.125, 0.25]);
    assert_eq!(
        scales(&by_paths(&free, &demands, 2).unwrap()),
        [0.8056, 0.6444]
    );
}
