//! Theorem 1: the region of stability does not depend on K.
//!
//! The boundaries: a downlink with one user served in a slot carries λ1 + λ2 up to the
//! probability that a channel is ON (Tassiulas and Ephremides 1993); a diamond carries 1 packet
//! per slot if nodes take turns, {AB, CD} and {AC, BD}, and 1/2 if links do.

mod common;

use backlane_slotted::{Arrivals, Config, Interference, Rule, Slope};
use common::{config, diamond, downlink, finished, flow, link};

const SLOTS: u64 = 1_600_000;
/// Student's t with 18 degrees of freedom exceeds this by chance once in a thousand cases.
const T: f64 = 3.92;

/// The three networks, at a share of their boundary, with the boundary and what backlogs grow by
/// for each packet per slot above it.
///
/// In the downlink and where nodes take turns the backlog at the source takes all that is too
/// much. In one domain all links have equal weights in the end, so U_A = 2 U_B = 2 U_C. With b the
/// growth at B, λ − 2b packets leave A and λ − 4b reach D, together one in each slot: b = (2λ − 1)/6,
/// and all queues grow by 4b.
fn at(share: f64) -> Vec<(&'static str, [f64; 2], Config)> {
    let each = |rate: f64| Arrivals::Bernoulli { rate: share * rate };
    vec![
        (
            "downlink",
            [0.75, 1.0],
            downlink([0.5, 0.5], [each(0.375); 2], SLOTS),
        ),
        (
            "diamond, primary",
            [1.0, 1.0],
            diamond(Interference::Primary, each(1.0), SLOTS),
        ),
        (
            "diamond, one domain",
            [0.5, 4.0 / 3.0],
            diamond(Interference::CollisionDomain, each(0.5), SLOTS),
        ),
    ]
}

fn slopes(share: f64, judge: impl Fn(&str, [f64; 2], Slope)) {
    for (name, boundary, config) in at(share) {
        for k_pkts in [0, 10, 50, 200] {
            let config = Config {
                k_pkts,
                ..config.clone()
            };
            let slope = finished(&config, 1).slope().unwrap();
            judge(&format!("{name}, K {k_pkts}: {slope:?}"), boundary, slope);
        }
    }
}

#[test]
fn backlogs_are_bounded_at_95_percent_of_the_boundary_for_any_k() {
    slopes(0.95, |name, [boundary, _], slope| {
        assert!(slope.slope.abs() < T * slope.standard_error, "{name}");
        // The trend differs from that of 1 % above the boundary.
        assert!(
            slope.slope + T * slope.standard_error < 0.01 * boundary,
            "{name}"
        );
    });
}

#[test]
fn backlogs_grow_by_what_is_too_much_at_105_percent_for_any_k() {
    slopes(1.05, |name, [boundary, growth], slope| {
        assert!(slope.slope > T * slope.standard_error, "{name}");
        let expected = 0.05 * boundary * growth;
        assert!(
            (slope.slope / expected - 1.0).abs() < 0.1,
            "{name}, expected {expected}"
        );
    });
}

/// The diamond, or a line of three hops, with links in both directions: packets can walk back.
fn both_ways(pairs: &[(usize, usize)], interference: Interference, rate: f64) -> Config {
    let links = pairs
        .iter()
        .flat_map(|&(a, b)| [link(a, b, 1.0), link(b, a, 1.0)])
        .collect();
    let flows = vec![flow(0, 3, Arrivals::Bernoulli { rate })];
    Config {
        interference,
        ..config(links, flows, 1_000_000)
    }
}

/// Networks whose links lead both ways, at a share of their boundary, with the boundary and what
/// backlogs grow by for each packet per slot above it.
///
/// A line of three hops carries 1/3 in one domain, and 1/2 if nodes take turns, since its middle link
/// shares a node with each of the others. Above the boundary queues are longer than K, the weights
/// that use the channel are equal, and links back have none. One domain: U_A = 3b, U_B = 2b and
/// U_C = b, and λ − 3b + λ − 5b + λ − 6b = 1, so that all grow by 6b = 6 (3λ − 1)/14. Nodes in turn:
/// {AB, CD} and {BC} have equal weights in the end; with x slots in each for the first, more than
/// half, C holds next to nothing and U_A = 2 U_B: λ − x = 2 (2x − 1), and all grow by 3 (2λ − 1)/5.
fn at_both_ways(share: f64) -> Vec<(&'static str, [f64; 2], Config)> {
    let diamond = &[(0, 1), (0, 2), (1, 3), (2, 3)];
    let line = &[(0, 1), (1, 2), (2, 3)];
    let network = |pairs: &[_], interference, [boundary, _]: [f64; 2]| {
        both_ways(pairs, interference, share * boundary)
    };
    vec![
        (
            "diamond, primary",
            [1.0, 1.0],
            network(diamond, Interference::Primary, [1.0, 1.0]),
        ),
        (
            "diamond, one domain",
            [0.5, 4.0 / 3.0],
            network(diamond, Interference::CollisionDomain, [0.5, 4.0 / 3.0]),
        ),
        (
            "line, primary",
            [0.5, 1.2],
            network(line, Interference::Primary, [0.5, 1.2]),
        ),
        (
            "line, one domain",
            [1.0 / 3.0, 9.0 / 7.0],
            network(line, Interference::CollisionDomain, [1.0 / 3.0, 9.0 / 7.0]),
        ),
    ]
}

fn slopes_both_ways(share: f64, judge: impl Fn(&str, [f64; 2], Slope)) {
    for (name, boundary, config) in at_both_ways(share) {
        for rule in [Rule::WorkConserving, Rule::Literal] {
            for k_pkts in [0, 10, 50, 200] {
                let config = Config {
                    k_pkts,
                    rule,
                    ..config.clone()
                };
                let slope = finished(&config, 1).slope().unwrap();
                let name = format!("{name}, {rule:?}, K {k_pkts}: {slope:?}");
                judge(&name, boundary, slope);
            }
        }
    }
}

#[test]
fn backlogs_are_bounded_where_packets_can_walk_back() {
    slopes_both_ways(0.95, |name, [boundary, _], slope| {
        assert!(slope.slope.abs() < T * slope.standard_error, "{name}");
        assert!(
            slope.slope + T * slope.standard_error < 0.01 * boundary,
            "{name}"
        );
    });
}

#[test]
fn backlogs_grow_by_what_is_too_much_where_packets_can_walk_back() {
    slopes_both_ways(1.05, |name, [boundary, growth], slope| {
        assert!(slope.slope > T * slope.standard_error, "{name}");
        let expected = 0.05 * boundary * growth;
        assert!(
            (slope.slope / expected - 1.0).abs() < 0.1,
            "{name}, expected {expected}"
        );
    });
}

/// Walking back shows in the queues: packets that walk stay longer.
#[test]
fn packets_walk_back_where_links_lead_both_ways_and_k_is_above_zero() {
    let line = both_ways(
        &[(0, 1), (1, 2), (2, 3)],
        Interference::CollisionDomain,
        0.95 / 3.0,
    );
    let mean = |k_pkts, one_way: bool| {
        let mut config = Config {
            k_pkts,
            ..line.clone()
        };
        if one_way {
            config.link = config.link.into_iter().step_by(2).collect();
        }
        let model = finished(&config, 3);
        let sum: u128 = model.statistics().iter().map(|f| f.backlog_sum_pkts).sum();
        sum as f64 / config.slots as f64
    };
    for k_pkts in [50, 200] {
        assert!(mean(k_pkts, false) > f64::from(k_pkts), "K {k_pkts}");
        assert!(mean(k_pkts, true) < 12.0, "K {k_pkts}, one way");
    }
}

/// From U(t + 1)² ≤ U² + f² + A² − 2 U (f − A), summed over both users, with the schedule at
/// least as good for max{K, U} as one that serves each ε more than it needs, and max{K, U} at
/// most U + K: the mean of ΣU is at most (1 + Σλ + 2K)/2ε.
#[test]
fn the_mean_backlog_keeps_its_bound_and_grows_with_k() {
    let mut before = 0.0;
    for k_pkts in [0, 10, 50, 200] {
        for share in [0.8, 0.95] {
            let rate = share * 0.375;
            let config = Config {
                k_pkts,
                ..downlink([0.5, 0.5], [Arrivals::Bernoulli { rate }; 2], SLOTS)
            };
            let model = finished(&config, 2);
            let sum: u128 = model.statistics().iter().map(|f| f.backlog_sum_pkts).sum();
            let mean = sum as f64 / SLOTS as f64;
            let epsilon = 0.375 - rate;
            let bound = (1.0 + 2.0 * rate + 2.0 * f64::from(k_pkts)) / (2.0 * epsilon);
            assert!(mean > 0.5 && mean < bound, "K {k_pkts}: {mean} of {bound}");
            if share > 0.9 {
                assert!(mean >= before, "K {k_pkts}: {mean} after {before}");
                before = mean;
            }
        }
    }
}

/// Outside of the region for one user alone: λ1 < p1 for any λ2.
#[test]
fn a_user_gets_no_more_than_its_channel_carries() {
    let arrivals = [
        Arrivals::Bernoulli { rate: 0.55 },
        Arrivals::Bernoulli { rate: 0.05 },
    ];
    let model = finished(&downlink([0.5, 0.5], arrivals, SLOTS), 1);
    let slope = model.slope().unwrap().slope;
    assert!((slope / 0.05 - 1.0).abs() < 0.1, "{slope}");
    assert!(model.backlog_pkts(1) < 100);
}
