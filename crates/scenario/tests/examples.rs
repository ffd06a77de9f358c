//! The examples pass the check, and resolving is a projection: doing it again changes nothing.

mod catalogue;

use catalogue::{check, plan};
use std::path::PathBuf;

use backlane_param::Value;
use backlane_scenario::model::{
    AccessKind, Capacity, Endpoints, FlowKind, Law, NodeKind, Placement, QueueLimit, Routing,
};
use backlane_scenario::{Described, Plan, read_file};
use backlane_units::Duration;

const EXAMPLES: &[&str] = &[
    "grid.toml",
    "large_grid.toml",
    "chain.toml",
    "graph.toml",
    "tcp_profiles.toml",
    "lte_cell.toml",
    "lte_backhaul.toml",
    "real_backhaul/scenario.toml",
    "storm/scenario.toml",
    "trace_access/scenario.toml",
    "wifi_cells.toml",
    "wifi_mesh/scenario.toml",
    "multipath_mesh/scenario.toml",
    "slotted_downlink.toml",
    "explicit_paths.toml",
];

fn path(example: &str) -> String {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../examples");
    folder.join(example).to_string_lossy().into_owned()
}

fn planned(example: &str) -> Plan {
    let path = path(example);
    let text = read_file(&path).unwrap();
    plan(&text, &path, &[], None).unwrap_or_else(|report| panic!("{example}:\n{report}"))
}

#[test]
fn every_example_passes_without_a_warning() {
    for example in EXAMPLES {
        let path = path(example);
        let text = read_file(&path).unwrap();
        match check(&text, &path, &[]) {
            Ok(warnings) => assert!(warnings.is_empty(), "{example}: {warnings:#?}"),
            Err(report) => panic!("{example}:\n{report}"),
        }
    }
}

#[test]
fn a_resolved_cell_is_a_scenario_that_resolves_to_itself() {
    for example in EXAMPLES {
        for cell in planned(example).cells {
            let again = plan(&cell.resolved, "elsewhere.toml", &[], None)
                .unwrap_or_else(|report| panic!("{example}:\n{report}\n{}", cell.resolved));
            assert_eq!(again.cells[0].resolved, cell.resolved);
            assert_eq!(again.cells[0].hash, cell.hash);
            match catalogue::described(&cell.resolved).unwrap() {
                Described::Network(scenario) => assert!(!scenario.nodes.is_empty()),
                Described::Slotted(slotted) => assert!(slotted.elements > 0),
            }
        }
    }
}

#[test]
fn a_country_is_one_piece_with_a_gateway_for_every_200_sites() {
    let path = path("country.toml");
    let text = read_file(&path).unwrap();
    let overrides = [("topology.nodes", "10000"), ("access.ues", "100")];
    let overrides = overrides.map(|(key, value)| (key.to_owned(), value.to_owned()));
    let plan = plan(&text, &path, &overrides, None).unwrap_or_else(|report| panic!("{report}"));
    assert_eq!(plan.warnings, []);
    let scenario = catalogue::from_resolved(&plan.cells[0].resolved).unwrap();
    let of_gateway = |node: usize| scenario.nodes[node].kind == NodeKind::Epc;
    let wires = scenario.links.iter().filter(|link| of_gateway(link.a));
    assert_eq!(wires.count(), 50);
}

#[test]
fn the_grid_is_that_of_the_paper() {
    let plan = planned("grid.toml");
    assert_eq!(
        (plan.cells.len(), plan.seeds.len(), plan.runs.len()),
        (12, 10, 120)
    );
    assert_eq!(plan.parameters, ["routing", "access.ues"]);
    assert_eq!(plan.cells[11].parameters["routing"], "bp-mr/flow");
    assert_eq!(plan.cells[11].parameters["access.ues"], 100);

    let scenario = catalogue::from_resolved(&plan.cells[11].resolved).unwrap();
    assert_eq!(scenario.nodes.len(), 27);
    // 40 mesh links, 3 to the EPC, 1 to the server.
    assert_eq!(scenario.links.len(), 44);
    let mesh = &scenario.links[0];
    let wire = mesh.wire().unwrap();
    assert_eq!((mesh.a, mesh.b, wire.rate.as_bps()), (0, 1, 500_000_000));
    assert_eq!(
        wire.queue.limit,
        QueueLimit::Bytes(backlane_units::Bytes::new(500_000))
    );
    let wired: Vec<_> = scenario.links[40..]
        .iter()
        .map(|link| (link.a, link.b))
        .collect();
    assert_eq!(wired, [(25, 4), (25, 14), (25, 24), (26, 25)]);
    assert_eq!(scenario.nodes[25].kind, NodeKind::Epc);
    assert_eq!(scenario.nodes[7].position_m, Some((400.0, 200.0)));
    let access = scenario.access.unwrap();
    assert_eq!(access.ues, 100);
    let AccessKind::Ideal(ideal) = access.kind else {
        panic!("{:?}", access.kind);
    };
    assert_eq!(ideal.queue_bytes, 375_000);
    assert_eq!(access.placement, Placement::RoundRobin);
    let Routing { protocol, values } = &scenario.routing;
    let queue_limit = values.get("queue_limit_pkts");
    assert_eq!(
        (&**protocol, queue_limit),
        ("bp-mr", Some(&Value::Integer(340)))
    );
    let flow = &scenario.flows[0];
    assert_eq!(
        (flow.kind, flow.size),
        (FlowKind::Download, Some(Law::Fixed(10_000_000)))
    );
    assert_eq!(
        (&flow.from, &flow.to),
        (&Endpoints::Nodes(vec![26]), &Endpoints::Ues)
    );
}

#[test]
fn the_real_backhaul_is_one_piece_within_its_degrees() {
    let plan = planned("real_backhaul/scenario.toml");
    let scenario = catalogue::from_resolved(&plan.cells[0].resolved).unwrap();
    assert_eq!(scenario.nodes.len(), 98);
    let mut degrees = vec![0; 96];
    for link in scenario
        .links
        .iter()
        .filter(|link| link.a < 96 && link.b < 96)
    {
        degrees[link.a] += 1;
        degrees[link.b] += 1;
    }
    assert!(
        degrees.iter().all(|degree| (1..=4).contains(degree)),
        "{degrees:?}"
    );
    let mean = degrees.iter().sum::<i32>() as f64 / 96.0;
    assert!((2.4..=3.1).contains(&mean), "{mean}");
}

/// 73 pairs of sites with recorded levels and 72 links of the rule, each with a capacity.
#[test]
fn every_link_between_sites_has_a_capacity_in_the_storm() {
    let plan = planned("storm/scenario.toml");
    assert_eq!(plan.cells.len(), 6);
    let scenario = catalogue::from_resolved(&plan.cells[0].resolved).unwrap();
    let is_site = |node: usize| scenario.nodes[node].kind == NodeKind::Enodeb;
    let between = scenario.links.iter();
    let between = between.filter(|link| is_site(link.a) && is_site(link.b));
    let wires: Vec<_> = between.filter_map(|link| link.wire()).collect();
    assert_eq!(wires.len(), 145);
    let capacities = wires.iter().map(|wire| wire.capacity.as_ref().unwrap());
    let mut fading = 0;
    for own in capacities.flat_map(|both| both.iter().flatten()) {
        let Capacity::Rates { steps, period } = own.trace.as_deref().unwrap() else {
            panic!("a table of rates");
        };
        assert!(*period >= Duration::from_secs(40));
        fading += usize::from(steps.iter().any(|step| step.1 != steps[0].1));
    }
    assert!(fading > 50, "{fading} directions fade");
}
