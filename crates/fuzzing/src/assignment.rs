//! Every assignment is accepted by a checker that shares no code with it, or refused with a reason.

use backlane_assignment::{
    Channels, Demand, Error, FlowRates, Interference, Link, Mesh, Node, assign, by_paths, check,
    equal, throughput,
};

use crate::choices::Choices;

/// 802.11a.
const RATES_BPS: [u64; 4] = [54_000_000, 36_000_000, 12_000_000, 6_000_000];
const THRESHOLDS_DB: [f64; 4] = [25.0, 19.0, 9.0, 6.0];

/// Assigns channels to a mesh that the bytes choose.
///
/// # Panics
/// If an assignment is not feasible, or a reason is empty.
pub fn assignment(bytes: &[u8]) {
    let mut choices = Choices::new(bytes);
    let mesh = mesh(&mut choices);
    let demands = demands(&mesh, &mut choices);
    let (extra_hops, adjust) = (choices.below(4) as u8, choices.chance(128));
    let mut given = vec![[0.0; 2]; mesh.links.len()];
    for rate in given.iter_mut().flatten() {
        *rate = choices.share() * [0.0, 1e3, 60e6, 1e12][choices.below(4)];
    }
    for flows in [
        throughput(&mesh, &demands, extra_hops),
        by_paths(&mesh, &demands, extra_hops),
        equal(&mesh),
        Ok(FlowRates(given)),
    ] {
        let assigned = flows.and_then(|flows| assign(&mesh, &flows, adjust));
        match assigned {
            Ok(assigned) => {
                assert_eq!(check(&mesh, &assigned), Ok(()));
                assert!(assigned.scale > 0.0 && assigned.scale <= 1.0);
            }
            Err(error) => is_a_reason(&mesh, &error),
        }
    }
}

fn is_a_reason(mesh: &Mesh, error: &Error) {
    assert!(!matches!(error, Error::Solver(_)), "{error:?} of {mesh:?}");
    let (what, mend) = error.describe(mesh, |node| format!("n{node}"));
    assert!(!what.is_empty() && !mend.is_empty());
}

fn mesh(choices: &mut Choices) -> Mesh {
    let count = 2 + choices.below(7);
    let nodes = (0..count).map(|_| Node {
        radios: 1 + choices.below(3) as u8,
        position_m: Some((choices.share() * 400.0, choices.share() * 400.0)),
    });
    let nodes: Vec<Node> = nodes.collect();
    let mut links = Vec::new();
    for b in 1..count {
        for a in 0..b {
            // A tree of all, and a few more.
            if a == b / 2 || choices.chance(48) {
                let top = choices.chance(64).then(|| choices.of(&RATES_BPS));
                links.push(Link {
                    top_rate_bps: top,
                    ..Link::new(a, b)
                });
            }
        }
    }
    let channels = 1 + choices.below(6) as u8;
    let channels = if choices.chance(64) {
        let channel = |choices: &mut Choices| match choices.below(usize::from(channels) + 1) {
            0 => None,
            channel => Some(channel as u8),
        };
        Channels::Given(links.iter().map(|_| channel(choices)).collect())
    } else {
        Channels::Available((1..=channels).collect())
    };
    let interference = match choices.below(3) {
        0 => Interference::Hops {
            hops: 1 + choices.below(4) as u8,
        },
        1 => Interference::All,
        _ => Interference::Sinr {
            exponent: 2.0 + 2.0 * choices.share(),
            snr_at_1_m_db: if choices.chance(128) {
                f64::INFINITY
            } else {
                80.0 + 40.0 * choices.share()
            },
            thresholds_db: THRESHOLDS_DB.to_vec(),
        },
    };
    Mesh {
        nodes,
        links,
        rates_bps: RATES_BPS.to_vec(),
        channels,
        interference,
    }
}

fn demands(mesh: &Mesh, choices: &mut Choices) -> Vec<Demand> {
    let nodes = mesh.nodes.len();
    let demand = |choices: &mut Choices| {
        let from = choices.below(nodes);
        Demand {
            from,
            to: (from + 1 + choices.below(nodes - 1)) % nodes,
            rate_bps: choices.chance(96).then(|| choices.share() * 40e6 + 1.0),
            reverse_share: choices.share() * 0.5,
        }
    };
    (0..choices.below(5)).map(|_| demand(choices)).collect()
}
