//! Meshes that several tests use.
#![allow(dead_code)]

use backlane_assignment::{Channels, Demand, Interference, Link, Mesh, Node};

/// Equal nodes, links between them, one rate of 54 Mbit/s, links within two hops disturb each
/// other.
pub fn mesh(nodes: usize, radios: u8, links: &[(usize, usize)], channels: &[u8]) -> Mesh {
    Mesh {
        nodes: vec![
            Node {
                radios,
                position_m: None
            };
            nodes
        ],
        links: links.iter().map(|&(a, b)| Link::new(a, b)).collect(),
        rates_bps: vec![54_000_000],
        channels: Channels::Available(channels.to_vec()),
        interference: Interference::Hops { hops: 2 },
    }
}

/// As much as goes, and nothing back.
pub fn demand(from: usize, to: usize) -> Demand {
    Demand {
        from,
        to,
        rate_bps: None,
        reverse_share: 0.0,
    }
}

/// The nodes of the mesh in Chaska: a gateway, three clients, nine relays.
pub const A: usize = 0;
pub const B: usize = 1;
pub const C: usize = 2;
pub const D: usize = 3;

/// Our graph in place of the subset of Chaska's mesh that the paper draws: 13 nodes, 23 links, two
/// radios each but one at B and at C, seven channels, given.
pub fn chaska() -> Mesh {
    // n1 is node 4, and so on.
    let n = |index: usize| index + 3;
    let rows: [(u8, Vec<(usize, usize)>); 7] = [
        (1, vec![(A, n(1)), (A, n(2)), (n(1), n(2))]),
        (2, vec![(A, n(3)), (A, n(4)), (n(3), n(4))]),
        (3, vec![(n(1), n(5)), (n(1), n(6)), (n(5), n(6))]),
        (
            4,
            vec![(n(2), n(3)), (n(2), n(7)), (n(3), n(7)), (n(7), n(8))],
        ),
        (5, vec![(n(4), n(8)), (n(8), D)]),
        (6, vec![(n(5), n(7)), (n(5), n(9)), (n(7), n(9)), (D, n(9))]),
        (7, vec![(n(6), C), (n(6), B), (n(6), n(9)), (n(9), B)]),
    ];
    let links: Vec<(usize, usize)> = rows.iter().flat_map(|(_, links)| links.clone()).collect();
    let given = rows
        .iter()
        .flat_map(|(channel, links)| links.iter().map(|_| Some(*channel)));
    let mut mesh = mesh(13, 2, &links, &[]);
    mesh.nodes[B].radios = 1;
    mesh.nodes[C].radios = 1;
    mesh.channels = Channels::Given(given.collect());
    mesh
}

/// The same mesh with its seven channels to be assigned.
pub fn chaska_to_assign() -> Mesh {
    Mesh {
        channels: Channels::Available((1..=7).collect()),
        ..chaska()
    }
}
