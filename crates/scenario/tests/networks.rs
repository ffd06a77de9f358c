//! What the generators and rules build.

mod catalogue;

use catalogue::plan;
use std::collections::BTreeSet;
use std::path::PathBuf;

use backlane_scenario::Described;
use backlane_scenario::model::{
    Endpoints, Failed, Link, NodeKind, QueueConfig, QueueDiscipline, QueueLimit, Scenario,
};
use backlane_units::Bytes;

const LINK: &str = "link = { rate = \"100 Mbit/s\", delay = \"1 ms\" }\n";

/// The scenario of a topology section.
fn built(topology: &str) -> Scenario {
    let flow = "[[flow]]\nkind = \"udp\"\nfrom = \"FROM\"\nto = \"TO\"\nrate = \"1 Mbit/s\"\n";
    let (from, to) = match topology {
        t if t.contains("diamond") => ("source", "sink"),
        t if t.contains("sites.csv") => ("s01", "s02"),
        t if t.contains("good.csv") => ("a", "b"),
        _ => ("enb1", "enb2"),
    };
    let flow = flow.replace("FROM", from).replace("TO", to);
    let text = format!("duration = \"10 s\"\n[topology]\n{topology}{flow}");
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR"));
    let path = folder.join("tests/diagnostics/scenario.toml");
    let plan =
        plan(&text, &path.to_string_lossy(), &[], None).unwrap_or_else(|report| panic!("{report}"));
    catalogue::from_resolved(&plan.cells[0].resolved).unwrap()
}

fn ends(scenario: &Scenario) -> Vec<(usize, usize)> {
    scenario.links.iter().map(|link| (link.a, link.b)).collect()
}

fn degrees(scenario: &Scenario) -> Vec<usize> {
    let touches = |node: usize| move |link: &&Link| link.a == node || link.b == node;
    (0..scenario.nodes.len())
        .map(|node| scenario.links.iter().filter(touches(node)).count())
        .collect()
}

#[test]
fn a_grid_is_numbered_by_rows_and_joined_right_and_down() {
    let grid = built(&format!("kind = \"grid\"\nrows = 2\ncolumns = 3\n{LINK}"));
    assert_eq!(
        ends(&grid),
        [(0, 1), (0, 3), (1, 2), (1, 4), (2, 5), (3, 4), (4, 5)]
    );
    assert_eq!(grid.nodes[5].position_m, Some((400.0, 200.0)));
}

#[test]
fn queues_mark_above_a_threshold_or_by_controlled_delay() {
    let queue = |queue: &str| {
        let link = "rate = \"100 Mbit/s\", delay = \"1 ms\"";
        let grid = "kind = \"grid\"\nrows = 1\ncolumns = 2\n";
        built(&format!("{grid}link = {{ {link}, queue = {queue} }}\n")).links[0]
            .wire()
            .unwrap()
            .queue
            .clone()
    };
    let mark_above = |queue: &QueueConfig| match queue.discipline {
        QueueDiscipline::DropTail { mark_above } => mark_above,
        QueueDiscipline::Declared(_) => panic!("{queue:?}"),
    };
    let plain = queue("\"20 packets\"");
    assert_eq!(mark_above(&plain), None);
    assert_eq!(queue("{ limit = \"20 packets\" }"), plain);
    let marking = queue("{ limit = \"20 packets\", mark_above = \"0 packets\" }");
    assert_eq!(mark_above(&marking), Some(QueueLimit::Packets(0)));
    // 100 Mbit/s · 2 ms = 25 kB.
    let marking = queue("{ mark_above = \"0.2 bdp\" }");
    assert_eq!(
        mark_above(&marking),
        Some(QueueLimit::Bytes(Bytes::new(5000)))
    );
    assert_eq!(marking.limit, QueueLimit::Bytes(Bytes::new(25_000)));
    for (text, marks) in [
        ("{ discipline = \"codel\" }", false),
        ("{ discipline = \"codel\", ecn = true }", true),
        ("{ discipline = \"fq-codel\" }", true),
        ("{ discipline = \"fq-codel\", ecn = false }", false),
    ] {
        let QueueDiscipline::Declared(discipline) = queue(text).discipline else {
            panic!("{text}");
        };
        assert_eq!(discipline.values.boolean("ecn"), Some(marks), "{text}");
    }
}

#[test]
fn a_marking_threshold_that_cannot_be_read_is_refused_with_a_mend() {
    for (threshold, code, message) in [
        ("\"many\"", "S022", "marking threshold cannot be read"),
        ("\"30\"", "S014", "marking threshold needs a unit"),
    ] {
        let text = format!(
            "duration = \"10 s\"\n[topology]\nkind = \"grid\"\nrows = 1\ncolumns = 2\n\
             link = {{ rate = \"1 Mbit/s\", delay = \"4 ms\", \
             queue = {{ mark_above = {threshold} }} }}\n"
        );
        let report = plan(&text, "scenario.toml", &[], None)
            .unwrap_err()
            .to_string();
        assert!(
            report.contains(code) && report.contains(message),
            "{report}"
        );
    }
}

#[test]
fn parameters_of_tcp_aware_backpressure_out_of_range_are_refused_with_a_mend() {
    for (key, code, message) in [
        ("k = -1", "S018", "routing k is negative"),
        ("k = \"half\"", "S013", "not a known routing k"),
        ("buffer_pkts = 0", "S020", "routing buffer_pkts is zero"),
        ("links = \"shortest\"", "S013", "not a known routing links"),
    ] {
        let text = format!(
            "duration = \"10 s\"\n[topology]\nkind = \"grid\"\nrows = 1\ncolumns = 2\n{LINK}\n\
             [routing]\nprotocol = \"tcp-aware-bp\"\n{key}\n"
        );
        let report = plan(&text, "scenario.toml", &[], None)
            .unwrap_err()
            .to_string();
        assert!(
            report.contains(code) && report.contains(message),
            "{report}"
        );
    }
}

#[test]
fn a_binary_tree_of_depth_two_has_seven_nodes_with_parents_above_their_children() {
    let tree = built(&format!(
        "kind = \"tree\"\nbranching = 2\ndepth = 2\n{LINK}"
    ));
    assert_eq!(
        ends(&tree),
        [(0, 1), (0, 2), (1, 3), (1, 4), (2, 5), (2, 6)]
    );
    let x = |node: usize| tree.nodes[node].position_m.unwrap().0;
    assert_eq!([x(0), x(1), x(3), x(6)], [300.0, 100.0, 0.0, 600.0]);
}

#[test]
fn a_tree_of_one_branch_is_a_line_and_of_no_depth_a_node() {
    let line = built(&format!(
        "kind = \"tree\"\nbranching = 1\ndepth = 3\n{LINK}"
    ));
    assert_eq!(ends(&line), [(0, 1), (1, 2), (2, 3)]);
}

#[test]
fn a_diamond_has_two_equal_paths() {
    let diamond = built(&format!("kind = \"diamond\"\n{LINK}"));
    assert_eq!(ends(&diamond), [(0, 1), (0, 2), (1, 3), (2, 3)]);
    assert!(
        diamond
            .nodes
            .iter()
            .all(|node| node.kind == NodeKind::Enodeb)
    );
}

#[test]
fn a_plain_ring_tree_has_at_most_two_children_per_node() {
    let tree = built(&format!("kind = \"ring_tree\"\nextra_links = 0\n{LINK}"));
    assert_eq!((tree.nodes.len(), tree.links.len()), (25, 24));
    let degrees = degrees(&tree);
    // The root, number 13, has no parent.
    assert!(degrees[12] <= 2, "{degrees:?}");
    assert!(degrees.iter().all(|degree| *degree <= 3), "{degrees:?}");
}

#[test]
fn extra_links_close_rings_within_the_degree() {
    let mesh = built(&format!("kind = \"ring_tree\"\n{LINK}"));
    assert_eq!(mesh.links.len(), 24 + 18);
    let degrees = degrees(&mesh);
    let others = degrees.iter().enumerate().filter(|(node, _)| *node != 12);
    assert!(
        others.clone().all(|(_, degree)| *degree <= 4),
        "{degrees:?}"
    );
}

#[test]
fn centre_numbers_lie_nearest_the_middle_of_the_lattice() {
    let mesh = built(&format!(
        "kind = \"ring_tree\"\njitter = \"0 m\"\nspacing = \"100 m\"\ncentre = [7, 8, 14, 15, 16]\n{LINK}"
    ));
    for number in [7, 8, 14, 15, 16] {
        let (x, y) = mesh.nodes[number - 1].position_m.unwrap();
        assert!(
            (x - 200.0).abs() + (y - 200.0).abs() <= 100.0,
            "{number}: {x} {y}"
        );
    }
    assert_eq!(mesh.nodes[0].position_m, Some((0.0, 0.0)));
}

#[test]
fn the_placement_seed_alone_moves_a_ring_tree() {
    let text = |seed: u64| format!("kind = \"ring_tree\"\nplacement_seed = {seed}\n{LINK}");
    assert_eq!(built(&text(1)).nodes, built(&text(1)).nodes);
    assert_ne!(built(&text(1)).nodes, built(&text(2)).nodes);
}

const SITES: &str = "kind = \"sites\"\nfile = \"../../../../examples/real_backhaul/sites.csv\"\n";

#[test]
fn a_link_between_sites_takes_the_time_of_light_in_air_over_its_length() {
    // a and b of good.csv are 0.01 degrees of latitude apart: 1111.95 m.
    let link = "link = { rate = \"1 Gbit/s\", queue = \"50 kB\" }\n";
    let sites = built(&format!(
        "kind = \"sites\"\nfile = \"files/good.csv\"\nlinks = \"gabriel\"\n{link}"
    ));
    let expected_ps = 1_111.950_8 / 299_702_547.0 * 1e12;
    let delay_ps = sites.links[0].wire().unwrap().delay.as_ps() as f64;
    assert!(
        (delay_ps - expected_ps).abs() < 10.0,
        "{delay_ps} {expected_ps}"
    );
    let fixed = "link = { rate = \"1 Gbit/s\", queue = \"50 kB\", fixed_delay = \"1 ms\" }\n";
    let later = built(&format!(
        "kind = \"sites\"\nfile = \"files/good.csv\"\nlinks = \"gabriel\"\n{fixed}"
    ));
    let difference =
        later.links[0].wire().unwrap().delay.as_ps() - sites.links[0].wire().unwrap().delay.as_ps();
    assert_eq!(difference, 1_000_000_000);
}

#[test]
fn a_recorded_link_has_its_own_rate_and_its_queue_follows_from_it() {
    let links = "links = { rule = \"recorded\", file = \"files/rates.csv\" }\n";
    let link = "link = { rate = \"1 Gbit/s\", delay = \"2 ms\", queue = \"1 bdp\" }\n";
    let sites = built(&format!(
        "kind = \"sites\"\nfile = \"files/good.csv\"\n{links}{link}"
    ));
    let of = |link: &Link| {
        let wire = link.wire().unwrap();
        let QueueLimit::Bytes(bytes) = wire.queue.limit else {
            panic!("a limit in bytes");
        };
        (wire.rate.as_bps(), bytes.get())
    };
    // rate · 2 · delay / 8
    assert_eq!(of(&sites.links[0]), (12_500_000, 6_250));
    assert_eq!(of(&sites.links[1]), (1_000_000_000, 500_000));
}

/// A graph of two nodes with these places.
fn placed(a: &str, b: &str) -> String {
    let link =
        "a = \"enb1\", b = \"enb2\", rate = \"1 Mbit/s\", delay = \"1 ms\", queue = \"9 kB\"";
    format!(
        "kind = \"graph\"\nnode = [{{ id = \"enb1\", {a} }}, {{ id = \"enb2\", {b} }}]\n\
         link = [{{ {link} }}]\n"
    )
}

#[test]
fn nodes_of_a_graph_on_the_earth_are_projected_about_their_middle() {
    let degrees = |at: (f64, f64)| format!("latitude = {}, longitude = {}", at.0, at.1);
    let graph = built(&placed(&degrees((50.0, 8.0)), &degrees((51.0, 8.0))));
    // One degree of latitude on a sphere of the mean radius 6371.0088 km.
    let half_m = 6_371_008.8 * std::f64::consts::PI / 360.0;
    let [a, b] = [0, 1].map(|node: usize| graph.nodes[node].position_m.unwrap());
    assert!((a.1 + half_m).abs() < 0.01 && (b.1 - half_m).abs() < 0.01);
    assert!(a.0.abs() < 0.01 && b.0.abs() < 0.01);
    assert_eq!(graph.nodes[1].geographic_deg, Some((51.0, 8.0)));

    // A place on the plane that is given stays.
    let both = "x = \"0 m\", y = \"7 m\", ".to_owned() + &degrees((50.0, 8.0));
    let graph = built(&placed(&both, &degrees((51.0, 8.0))));
    assert_eq!(graph.nodes[0].position_m, Some((0.0, 7.0)));
}

#[test]
fn places_of_a_graph_are_whole_and_of_one_kind() {
    let refused = |a: &str, b: &str| {
        let topology = placed(a, b);
        let flow =
            "[[flow]]\nkind = \"udp\"\nfrom = \"enb1\"\nto = \"enb2\"\nrate = \"1 Mbit/s\"\n";
        let text = format!("duration = \"10 s\"\n[topology]\n{topology}{flow}");
        plan(&text, "scenario.toml", &[], None)
            .unwrap_err()
            .to_string()
    };
    let half = refused("latitude = 50.0", "latitude = 51.0, longitude = 8.0");
    assert!(
        half.contains("S011") && half.contains("no longitude"),
        "{half}"
    );
    let mixed = refused(
        "x = \"0 m\", y = \"0 m\"",
        "latitude = 51.0, longitude = 8.0",
    );
    assert!(
        mixed.contains("S011") && mixed.contains("\"enb1\""),
        "{mixed}"
    );
    let beyond = refused(
        "latitude = 91.0, longitude = 8.0",
        "latitude = 51.0, longitude = 8.0",
    );
    assert!(beyond.contains("latitude"), "{beyond}");
}

#[test]
fn recorded_links_keep_their_recorded_length_and_are_joined_to_one_piece() {
    let links = "links = { rule = \"recorded\", file = \"../../../../examples/real_backhaul/links.csv\" }\n";
    let link = "link = { rate = \"1 Gbit/s\", queue = \"50 kB\" }\n";
    let sites = built(&format!("{SITES}{links}{link}"));
    // 75 recorded links, two of them parallel to others, in 23 pieces: joined by 22 more.
    assert_eq!((sites.nodes.len(), sites.links.len()), (96, 75 + 22));
    let recorded_ps = 7_210.0 / 299_702_547.0 * 1e12;
    assert!((sites.links[0].wire().unwrap().delay.as_ps() as f64 - recorded_ps).abs() < 1.0);
}

#[test]
fn rules_for_sites_nest_as_geometry_says() {
    let link = "link = { rate = \"1 Gbit/s\", delay = \"1 ms\" }\n";
    let of = |rule: &str| {
        let mut links = ends(&built(&format!("{SITES}links = {rule}\n{link}")));
        links.sort_unstable();
        links
    };
    // The minimum spanning tree is part of the Gabriel graph, and every nearest neighbour is in
    // the tree (Jaromczyk and Toussaint 1992).
    let (tree, gabriel) = (
        of("{ rule = \"mst\", degree_cap = 1000 }"),
        of("\"gabriel\""),
    );
    assert_eq!(tree.len(), 95);
    assert!(tree.iter().all(|link| gabriel.contains(link)));
    let nearest = of("{ rule = \"k-nearest\", k = 1 }");
    assert!(nearest.iter().all(|link| tree.contains(link)));
    assert!(
        of("{ rule = \"k-nearest\", k = 3 }").len() > of("{ rule = \"k-nearest\", k = 2 }").len()
    );
}

/// The lengths of the wires between sites, the shortest first, from their delays.
fn lengths_km(links: &[Link]) -> Vec<f64> {
    let delays_ps = links.iter().map(|link| link.wire().unwrap().delay.as_ps());
    let mut lengths: Vec<f64> = delays_ps
        .map(|ps| ps as f64 * 1e-12 * 299_702.547)
        .collect();
    lengths.sort_unstable_by(f64::total_cmp);
    lengths
}

#[test]
fn sites_scattered_as_densely_as_a_real_backhaul_have_hops_of_its_lengths() {
    let link = "link = { rate = \"1 Gbit/s\", queue = \"50 kB\" }\n";
    let rule = "{ rule = \"mst\", extra_degree = 3, extra_length = \"17.2 km\" }";
    let scattered = built(&format!(
        "kind = \"scattered\"\nnodes = 5000\nspacing = \"7.8 km\"\nlinks = {rule}\n{link}"
    ));
    let real = built(&format!("{SITES}links = {rule}\n{link}"));
    let links = "links = { rule = \"recorded\", file = \"../../../../examples/real_backhaul/links.csv\" }\n";
    let recorded = built(&format!("{SITES}{links}{link}"));
    let median = |links: &[Link]| lengths_km(links)[links.len() / 2];
    let [scattered_km, by_rule_km, recorded_km] = [
        &scattered.links,
        &real.links,
        &recorded.links[..75].to_vec(),
    ]
    .map(|links| median(links));
    assert!(
        (scattered_km / by_rule_km - 1.0).abs() < 0.1,
        "{scattered_km} {by_rule_km}"
    );
    assert!(
        (scattered_km / recorded_km - 1.0).abs() < 0.15,
        "{scattered_km} {recorded_km}"
    );
    // Longer links only where the tree needs them.
    let long = lengths_km(&scattered.links)
        .iter()
        .filter(|km| **km > 17.2)
        .count();
    assert!(long < 5000 / 100, "{long}");
    assert!(
        degrees(&scattered)
            .iter()
            .all(|degree| (1..=4).contains(degree))
    );
    let side_m = 7_800.0 * 5000_f64.sqrt();
    let inside = |at: f64| (0.0..side_m).contains(&at);
    let mut positions = scattered.nodes.iter().filter_map(|node| node.position_m);
    assert!(positions.all(|(x, y)| inside(x) && inside(y)));
}

#[test]
fn a_gateway_is_wired_to_every_node_so_many_further_on() {
    let attached = |gateway: &str| {
        let text = format!(
            "duration = \"1 s\"\n[topology]\nkind = \"chain\"\nnodes = 7\n{LINK}\
             [[gateway]]\n{gateway}{LINK}"
        );
        catalogue::parse(&text, "chain.toml").map(|scenario| ends(&scenario)[6..].to_vec())
    };
    assert_eq!(
        attached("attach_each = 3\n").unwrap(),
        [(7, 0), (7, 3), (7, 6)]
    );
    let both = "attach = \"enb2\"\nattach_each = 5\n";
    assert_eq!(attached(both).unwrap(), [(7, 1), (7, 0), (7, 5)]);
    let missing = attached("").unwrap_err();
    assert_eq!(missing.diagnostics[0].message, "gateway attach is missing");
}

#[test]
fn cells_hold_a_router_each_and_neighbours_are_linked() {
    let cells = |more: &str| {
        let text = format!(
            "duration = \"1 s\"\n[topology]\nkind = \"cells\"\nrows = 3\ncolumns = 4\n{more}\
             link = {{ medium = \"wifi\" }}\n[wifi]\n"
        );
        catalogue::parse(&text, "cells.toml").unwrap_or_else(|report| panic!("{report}"))
    };
    let four = cells("");
    for (index, node) in four.nodes.iter().enumerate() {
        assert_eq!(node.id, format!("n{}", index + 1));
        let (x, y) = node.position_m.unwrap();
        let cell = ((x / 200.0) as usize, (y / 200.0) as usize);
        assert_eq!(cell, (index % 4, index / 4), "{}", node.id);
    }
    // Three rows of three links to the right, two of four downwards; twice two of three corners.
    assert_eq!(four.links.len(), 9 + 8);
    assert_eq!(cells("joined = 8\n").links.len(), 9 + 8 + 12);
    assert_ne!(cells("placement_seed = 2\n").nodes, four.nodes);
    assert_eq!(cells("placement_seed = 1\n").nodes, four.nodes);
}

/// The text of twelve routers in 3 × 4 cells of 200 m.
fn twelve(keys: &str) -> String {
    format!(
        "duration = \"1 s\"\n[topology]\nkind = \"cells\"\nrows = 3\ncolumns = 4\n\
         link = {{ medium = \"wifi\" }}\n{keys}[wifi]\n"
    )
}

#[test]
fn nodes_of_random_cells_are_linked_to_those_of_their_own_and_joined_cells() {
    for joined in [4, 8] {
        for seed in 1..=5 {
            let keys = format!("nodes = 12\njoined = {joined}\nplacement_seed = {seed}\n");
            let scenario = catalogue::parse(&twelve(&keys), "cells.toml").unwrap();
            let cells: Vec<(i64, i64)> = scenario
                .nodes
                .iter()
                .map(|node| node.position_m.unwrap())
                .map(|(x, y)| ((x / 200.0) as i64, (y / 200.0) as i64))
                .collect();
            assert!(
                cells
                    .iter()
                    .all(|(x, y)| (0..4).contains(x) && (0..3).contains(y))
            );
            let distinct: BTreeSet<_> = cells.iter().collect();
            assert!(distinct.len() < 12, "some share a cell");
            let are_joined = |a: usize, b: usize| {
                let (dx, dy) = (cells[a].0 - cells[b].0, cells[a].1 - cells[b].1);
                match joined {
                    4 => dx.abs() + dy.abs() <= 1,
                    _ => dx.abs().max(dy.abs()) <= 1,
                }
            };
            let expected: BTreeSet<_> = (0..12)
                .flat_map(|a| (a + 1..12).map(move |b| (a, b)))
                .filter(|&(a, b)| are_joined(a, b))
                .collect();
            let links: BTreeSet<_> = scenario.links.iter().map(|link| (link.a, link.b)).collect();
            assert_eq!(links, expected);
            assert_eq!(scenario.links.len(), expected.len());
            let mut reached = BTreeSet::from([0]);
            for _ in 0..12 {
                let next = links
                    .iter()
                    .filter(|(a, b)| reached.contains(a) != reached.contains(b));
                let next: Vec<_> = next.flat_map(|&(a, b)| [a, b]).collect();
                reached.extend(next);
            }
            assert_eq!(reached.len(), 12, "connected");
        }
    }
}

#[test]
fn a_placement_that_is_never_connected_is_refused() {
    let text = twelve("nodes = 2\nplacement_seed = 1\n")
        .replace("rows = 3\ncolumns = 4", "rows = 1000\ncolumns = 1000");
    let report = catalogue::parse(&text, "cells.toml").unwrap_err();
    assert_eq!(report.diagnostics[0].code, "S033");
}

/// The normal form keeps the generator, which then gives each seed the network of a file with this
/// number.
#[test]
fn each_run_draws_its_own_network_if_the_file_says_so() {
    let drawn = twelve("nodes = 12\nplacement_seed = \"run\"\n");
    let plan = plan(&drawn, "cells.toml", &[], Some(5)).unwrap();
    let resolved = &plan.cells[0].resolved;
    assert!(resolved.contains("placement_seed = \"run\""), "{resolved}");
    let again = self::plan(resolved, "again.toml", &[], Some(5)).unwrap();
    assert_eq!(again.cells[0].resolved, *resolved);
    assert_eq!(again.cells[0].hash, plan.cells[0].hash);
    for seed in [1, 2, 3] {
        let fixed = twelve(&format!("nodes = 12\nplacement_seed = {seed}\n"));
        let fixed = catalogue::parse(&fixed, "cells.toml").unwrap();
        let run = catalogue::described_for(resolved, seed).unwrap();
        let Described::Network(run) = run else {
            unreachable!("a network");
        };
        assert_eq!((run.nodes, run.links), (fixed.nodes, fixed.links));
        assert_eq!((run.is_drawn, run.seed), (true, seed));
        assert!(!fixed.is_drawn);
    }
}

#[test]
fn each_run_draws_the_ends_of_its_flows_if_the_file_says_so() {
    let flow = |keys: &str| {
        let all: Vec<_> = (2..=12).map(|node| format!("\"n{node}\"")).collect();
        let text = twelve("");
        format!(
            "{text}[[flow]]\nkind = \"transfer\"\nsize = \"endless\"\nfrom = \"n1\"\nto = [{}]\n{keys}",
            all.join(", ")
        )
    };
    let ends = |seed: u64| {
        let scenario = catalogue::parse_for(&flow("drawn = 4\n"), "cells.toml", seed).unwrap();
        assert!(scenario.is_drawn);
        let Endpoints::Nodes(to) = &scenario.flows[0].to else {
            unreachable!("nodes");
        };
        to.clone()
    };
    let first = ends(1);
    let distinct: BTreeSet<_> = first.iter().copied().collect();
    assert_eq!(distinct.len(), 4);
    assert!(distinct.iter().all(|node| (1..12).contains(node)));
    assert_eq!(ends(1), first);
    assert_ne!(ends(2), first);
    let refusal = |keys: &str| {
        let report = catalogue::parse(&flow(keys), "cells.toml").unwrap_err();
        report.diagnostics[0].code
    };
    assert_eq!(refusal("drawn = 12\n"), "S017");
    let text = flow("drawn = 2\n").replace("from = \"n1\"", "from = [\"n1\", \"n1\"]");
    assert!(catalogue::parse(&text, "cells.toml").is_err());
}

#[test]
fn sites_may_be_joined_by_radios_alone() {
    let sites = |more: &str| {
        let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR"));
        let path = folder.join("tests/diagnostics/scenario.toml");
        let text = format!(
            "duration = \"1 s\"\n[topology]\nkind = \"sites\"\nfile = \"files/good.csv\"\n{more}\
             [wifi]\nneighbours = \"in-range\"\n"
        );
        plan(&text, &path.to_string_lossy(), &[], None)
    };
    let plan = sites("links = \"none\"\n").unwrap_or_else(|report| panic!("{report}"));
    let scenario = catalogue::from_resolved(&plan.cells[0].resolved).unwrap();
    assert!(scenario.links.is_empty());
    assert!(scenario.nodes.iter().all(|node| node.channels == [1]));
    let report = sites("links = \"gabriel\"\n").unwrap_err();
    assert_eq!(report.diagnostics[0].message, "topology link is missing");
}

#[test]
fn recapture_is_refused_beside_a_rule_that_has_none() {
    let chain = |wifi: &str| {
        let text = format!(
            "duration = \"1 s\"\n[topology]\nkind = \"chain\"\nnodes = 2\n\
             link = {{ medium = \"wifi\" }}\n[wifi]\nrecapture = \"10 dB\"\n{wifi}"
        );
        catalogue::parse(&text, "chain.toml")
    };
    assert!(chain("").is_ok());
    let report = chain("profile = \"ns2\"\n").unwrap_err();
    assert_eq!(report.diagnostics.len(), 1, "{report}");
    assert_eq!(report.diagnostics[0].code, "S116");
}

#[test]
fn a_queue_of_a_radio_is_refused_for_one_reason() {
    for (queue, code) in [
        ("\"1 bdp\"", "S022"),
        ("\"0 packets\"", "S020"),
        ("{ discipline = \"red\", limit = \"20 packets\" }", "S013"),
    ] {
        let text = format!(
            "duration = \"1 s\"\n[topology]\nkind = \"chain\"\nnodes = 2\n\
             link = {{ medium = \"wifi\" }}\n[wifi]\nqueue = {queue}\n"
        );
        let report = catalogue::parse(&text, "chain.toml").unwrap_err();
        let codes: Vec<_> = report.diagnostics.iter().map(|d| d.code).collect();
        assert_eq!(codes, [code], "{report}");
    }
}

#[test]
fn two_routers_have_one_radio_link_on_a_channel() {
    let pair = |links: &str| {
        let text = format!(
            "duration = \"1 s\"\n[topology]\nkind = \"graph\"\n\
             node = [{{ id = \"a\", x = \"0 m\", y = \"0 m\" }}, \
             {{ id = \"b\", x = \"9 m\", y = \"0 m\" }}]\nlink = [{links}]\n\
             [wifi]\nchannels = [1, 6]\n"
        );
        catalogue::parse(&text, "pair.toml")
    };
    let link = |a: &str, b: &str, more: &str| {
        format!("{{ a = \"{a}\", b = \"{b}\", medium = \"wifi\"{more} }}, ")
    };
    let one = link("a", "b", "");
    assert!(pair(&(one.clone() + &link("b", "a", ", channel = 6"))).is_ok());
    for again in [link("b", "a", ""), link("a", "b", ", channel = 1")] {
        let report = pair(&(one.clone() + &again)).unwrap_err();
        let found = report.diagnostics.iter().any(|d| d.code == "S116");
        assert!(found, "{report}");
    }
}

#[test]
fn thousands_of_failures_find_their_links_by_name() {
    let grid = format!("kind = \"grid\"\nrows = 60\ncolumns = 60\n{LINK}");
    let failures = (0..10_000).fold(String::new(), |text, n| {
        let node = n % 59 + 1;
        text + &format!(
            "[[failure]]\nlink = \"enb{}-enb{node}\"\nat = \"1 s\"\n",
            node + 1
        )
    });
    let scenario = built(&format!("{grid}{failures}"));
    assert_eq!(scenario.failures.len(), 10_000);
    let Failed::Link(link) = scenario.failures[3].failed else {
        panic!("{:?}", scenario.failures[3]);
    };
    assert_eq!(ends(&scenario)[link], (3, 4));
}

#[test]
fn a_server_has_one_link_and_it_leads_to_a_node_that_forwards() {
    let codes = |links: &[&str], kind: &str| -> Vec<&'static str> {
        let wire = |ends: &&str| {
            let (a, b) = ends.split_at(1);
            format!("{{ a = \"{a}\", b = \"{b}\", rate = \"1 Mbit/s\", delay = \"20 ms\" }}")
        };
        let links: Vec<String> = links.iter().map(wire).collect();
        let text = format!(
            "duration = \"1 s\"\n[topology]\nkind = \"graph\"\nnode = [\n\
             {{ id = \"a\", kind = \"server\" }}, {{ id = \"b\", kind = \"{kind}\" }},\n\
             {{ id = \"c\", kind = \"router\" }} ]\nlink = [{}]\n[[flow]]\nkind = \"transfer\"\n\
             from = \"a\"\nto = \"c\"\nsize = \"1 kB\"\n",
            links.join(", ")
        );
        match plan(&text, "servers.toml", &[], None) {
            Ok(_) => Vec::new(),
            Err(report) => report.diagnostics.iter().map(|found| found.code).collect(),
        }
    };
    assert_eq!(codes(&["ab", "bc"], "router"), Vec::<&str>::new());
    assert_eq!(codes(&["ac", "bc"], "server"), Vec::<&str>::new());
    assert_eq!(codes(&["ab", "bc", "ca"], "router"), ["S042"]);
    assert_eq!(codes(&["ac", "ba"], "server"), ["S042"]);
}
