//! FCRA beside the best of all assignments, on graphs small enough to go through them all.

mod common;

use backlane_assignment::{Assignment, Channels, FlowRates, Interference, Mesh, assign, check};
use common::mesh;
use microlp::{ComparisonOp, OptimizationDirection, Problem, Variable};

/// A generator of the test's own (xorshift64*), so that the graphs are always the same.
struct Random(u64);

impl Random {
    fn below(&mut self, bound: usize) -> usize {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        (self.0.wrapping_mul(0x2545_F491_4F6C_DD1D) >> 33) as usize % bound
    }
}

/// A connected graph of 3 to 6 nodes and at most 7 links; the nodes' radios are from a range.
fn graph(random: &mut Random, radios: [u8; 2], channels: u8, interference: Interference) -> Mesh {
    let [least, most] = radios;
    let count = 3 + random.below(4);
    let mut pairs: Vec<(usize, usize)> =
        (1..count).map(|node| (random.below(node), node)).collect();
    let more = random.below(8 - pairs.len());
    for _ in 0..more {
        let (a, b) = (random.below(count), random.below(count));
        if a != b && !pairs.contains(&(a, b)) && !pairs.contains(&(b, a)) {
            pairs.push((a, b));
        }
    }
    let all: Vec<u8> = (1..=channels).collect();
    let mut mesh = mesh(count, least, &pairs, &all);
    for node in &mut mesh.nodes {
        node.radios += random.below(usize::from(most - least) + 1) as u8;
    }
    mesh.interference = interference;
    mesh
}

/// The fullest domain under an assignment, before anything is scaled.
fn fullest(mesh: &Mesh, flows: &FlowRates) -> Option<f64> {
    let assignment = assign(mesh, flows, false).ok()?;
    assert_eq!(check(mesh, &assignment), Ok(()));
    Some(assignment.utilisation.iter().copied().fold(0.0, f64::max) / assignment.scale)
}

/// The least that the fullest domain can be, over each way of giving links channels.
fn best(mesh: &Mesh, flows: &FlowRates) -> f64 {
    let Channels::Available(available) = &mesh.channels else {
        panic!("to be assigned")
    };
    let ways = available.len().pow(mesh.links.len() as u32);
    (0..ways)
        .filter_map(|way| {
            let digit = |link: usize| way / available.len().pow(link as u32) % available.len();
            let given = (0..mesh.links.len()).map(|link| Some(available[digit(link)]));
            fullest(
                &Mesh {
                    channels: Channels::Given(given.collect()),
                    ..mesh.clone()
                },
                flows,
            )
        })
        .fold(f64::INFINITY, f64::min)
}

/// The time that the best schedule needs for what links are to carry in a second: sets of links
/// that may be busy together, each for a time, such that every link has the airtime it needs.
fn shortest_schedule(mesh: &Mesh, assignment: &Assignment) -> f64 {
    let count = mesh.links.len();
    let share = |a: usize, b: usize| {
        let (a, b) = (mesh.links[a], mesh.links[b]);
        [a.a, a.b].iter().any(|end| [b.a, b.b].contains(end))
    };
    let near = |a: usize, b: usize| {
        share(a, b) || (0..count).any(|between| share(a, between) && share(between, b))
    };
    let conflict = |a: usize, b: usize| {
        assignment.channels[a] == assignment.channels[b]
            && match mesh.interference {
                Interference::All => true,
                Interference::Hops { hops: 1 } => share(a, b),
                Interference::Hops { hops: 2 } => near(a, b),
                _ => panic!("not a model of these tests"),
            }
    };
    let mut problem = Problem::new(OptimizationDirection::Minimize);
    let mut sets: Vec<(usize, Variable)> = Vec::new();
    for set in 1usize..1 << count {
        let within = |link: &usize| set >> link & 1 == 1;
        let members: Vec<usize> = (0..count).filter(within).collect();
        if members
            .iter()
            .all(|&a| members.iter().all(|&b| a == b || !conflict(a, b)))
        {
            sets.push((set, problem.add_var(1.0, (0.0, f64::INFINITY))));
        }
    }
    for link in 0..count {
        let with = sets.iter().filter(|(set, _)| set >> link & 1 == 1);
        let needed = assignment.flow_rates.of(link) / assignment.rates_bps[link] as f64;
        problem.add_constraint(with.map(|&(_, time)| (time, 1.0)), ComparisonOp::Ge, needed);
    }
    problem
        .solve()
        .unwrap()
        .into_solution()
        .unwrap()
        .objective()
        / assignment.scale
}

/// Mean and worst of FCRA's schedulable rate over the best one, the share of graphs on which it is
/// the best, and the mean of the rate that the domains allow over what the best schedule allows
/// with FCRA's channels; over a thousand graphs.
fn beside_the_best(radios: [u8; 2], channels: u8, interference: &Interference) -> [f64; 4] {
    let mut random = Random(0x9E37_79B9_7F4A_7C15);
    let mut cautious = 0.0;
    let ratios: Vec<f64> = (0..1000)
        .map(|_| {
            let mesh = graph(&mut random, radios, channels, interference.clone());
            let flow = |_| [(1 + random.below(54)) as f64 * 1e6, 0.0];
            let flows = FlowRates((0..mesh.links.len()).map(flow).collect());
            let assignment = assign(&mesh, &flows, false).expect("an assignment");
            let needed = shortest_schedule(&mesh, &assignment) / fullest(&mesh, &flows).unwrap();
            assert!(
                needed <= 1.0 + 1e-6,
                "what the domains allow can be scheduled: {mesh:?}"
            );
            cautious += needed / 1000.0;
            let ratio = best(&mesh, &flows) / fullest(&mesh, &flows).expect("an assignment");
            assert!(
                ratio <= 1.0 + 1e-12,
                "better than the best: {ratio} {mesh:?}"
            );
            ratio
        })
        .collect();
    let optimal = ratios.iter().filter(|&&ratio| ratio > 1.0 - 1e-9).count();
    [
        ratios.iter().sum::<f64>() / 1000.0,
        ratios.iter().copied().fold(1.0, f64::min),
        optimal as f64 / 1000.0,
        cautious,
    ]
}

/// The numbers are those on the page of the model, to the last digit there.
#[test]
fn the_schedulable_rate_beside_that_of_the_best_assignment_is_as_stated() {
    let near = Interference::Hops { hops: 2 };
    let node = Interference::Hops { hops: 1 };
    let stated = [
        ([2, 2], 2, &near, [0.993, 0.758, 0.865, 0.995]),
        ([2, 2], 3, &near, [0.997, 0.753, 0.972, 1.000]),
        ([3, 3], 3, &near, [0.999, 0.871, 0.987, 1.000]),
        ([1, 2], 2, &near, [0.988, 0.554, 0.914, 0.984]),
        ([1, 2], 3, &near, [0.986, 0.514, 0.926, 0.987]),
        ([1, 3], 3, &near, [0.986, 0.500, 0.934, 0.991]),
        ([2, 2], 3, &node, [0.982, 0.525, 0.877, 0.986]),
        ([1, 2], 3, &node, [0.955, 0.514, 0.824, 0.882]),
        ([2, 2], 3, &Interference::All, [0.997, 0.768, 0.963, 1.000]),
    ];
    for (radios, channels, interference, stated) in stated {
        let measured = beside_the_best(radios, channels, interference);
        for (measured, stated) in measured.iter().zip(stated) {
            let same = (measured - stated).abs() <= 0.000_501;
            assert!(
                same,
                "{radios:?} {channels} {interference:?}: {measured} is not {stated}"
            );
        }
    }
}
