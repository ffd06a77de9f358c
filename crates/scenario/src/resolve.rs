//! From a tree to its normal form and to plain values.
//!
//! The normal form is itself a scenario: its topology is a graph that lists every node and link,
//! gateways and servers included, and every key is written out. Resolving it again gives the
//! same text. A network that each run draws remains a generator there.

use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use backlane_units::Duration;

use crate::access;
use crate::assignment;
use crate::codes::Code;
use crate::custom;
use crate::diagnostic::Span;
use crate::explicit_paths;
use crate::failures;
use crate::files::Files;
use crate::flows;
use crate::linux;
use crate::model::{Described, NodeKind, Record, Routing, Scenario, Tcp};
use crate::names::{Names, ue_index};
use crate::networks::Networks;
use crate::normal;
use crate::plain;
use crate::problems::Problems;
use crate::profile;
use crate::shown::short;
use crate::slotted;
use crate::spec::{nearest, tables};
use crate::topology::{self, Network};
use crate::traces::Traces;
use crate::tree::{Item, Table, Value};
use crate::wifi;

/// A scenario in both of its resolved forms.
pub(crate) struct Resolved {
    /// The normal form; its section `topology` is empty if `network` has it.
    pub(crate) tree: Table,
    /// The nodes and links of the section `topology`; `None` if each run draws them.
    pub(crate) network: Option<Rc<Network>>,
    /// The same as plain values.
    pub(crate) scenario: Described,
}

/// Resolves one cell; `None` if there are errors. Without a change of topology, the network is
/// that of the cell before.
pub(crate) fn resolve(
    raw: &Table,
    files: &mut Files,
    networks: &mut Networks,
    problems: &mut Problems,
) -> Option<Resolved> {
    if raw.entry("slotted").is_some() {
        let (tree, slotted) = slotted::resolve(raw, problems)?;
        return Some(Resolved {
            tree,
            network: None,
            scenario: Described::Slotted(Box::new(slotted)),
        });
    }
    let with_profiles = profile::with_profiles(raw, problems.catalogue);
    let raw = with_profiles.as_ref().unwrap_or(raw);
    let with_linux = linux::with_section(raw);
    let raw = with_linux.as_ref().unwrap_or(raw);
    let mut tree = normal::section(problems.catalogue.file(), raw, Span::default(), problems);
    tree.remove("sweep");
    tree.remove("compare");
    let customs = custom::customs(&mut tree, files, problems);
    let mut traces = Traces::take(&mut tree, problems);
    complete_controls(&mut tree, problems);
    let draws_network = tree.table("topology").is_some_and(topology::is_drawn);
    let mut network = networks.of(&tree, files, problems);
    let mut scenario = network.as_deref().and_then(|network| {
        let ids = network
            .nodes
            .iter()
            .enumerate()
            .map(|(i, node)| (node.id.as_str(), i))
            .collect();
        let mut names = Names {
            network,
            ids,
            ues: 0,
        };
        let mut links: Vec<_> = network.links.iter().map(|(link, _)| link.clone()).collect();
        let spans = network.links.iter().map(|(_, span)| *span);
        let warm_up = tree
            .table("routing")
            .and_then(|routing| routing.quantity("warm_up"));
        let warm_up = warm_up.unwrap_or_default();
        topology::capacities::fill(&mut links, spans, &mut traces, files, warm_up, problems);
        let has_access = tree.table("access").and_then(|t| t.text("kind")) != Some("none");
        let access =
            has_access.then(|| access::read(&mut tree, &mut names, &mut traces, files, problems));
        let has_wifi = tree.get("wifi").is_some();
        let wifi = has_wifi.then(|| wifi::read(&mut tree, &names, problems));
        if !has_wifi {
            wifi::refuse_without(&names, problems);
        }
        let duration: Option<Duration> = tree.quantity("duration");
        let flows = flows::read(&mut tree, &names, duration, problems);
        has_positions(&tree, &names, problems);
        let failures = failures::read(&tree, &names, duration, problems);
        let record = record(&tree, &names, &flows, problems)?;
        let routing = tree.table("routing")?;
        check_spray(routing, &names, problems);
        check_costs(routing, &names, problems);
        let in_range =
            (tree.table("wifi")).is_some_and(|wifi| wifi.text("neighbours") == Some("in-range"));
        explicit_paths::check(routing, &names, in_range, problems);
        let tcp = tree.table("tcp")?;
        let channels = tree.table("wifi");
        let channels = channels.map(|wifi| topology::channels(wifi, "channels"));
        let channels = channels.unwrap_or_default();
        let customs = customs?;
        let draws_ends = |(flow, _): (&Table, Span)| flow.integer::<u64>("drawn").is_some();
        Some(Scenario {
            name: tree.text("name")?.to_owned(),
            duration: duration?,
            seed: tree.integer("seed")?,
            is_drawn: draws_network || tree.tables("flow").into_iter().any(draws_ends),
            nodes: topology::nodes(network, &channels),
            links,
            access: match access {
                Some(access) => Some(access?),
                None => None,
            },
            wifi: match wifi {
                Some(wifi) => Some(wifi?),
                None => None,
            },
            routing: Routing {
                protocol: routing.text("protocol")?.to_owned(),
                values: plain::values(routing),
            },
            warm_up: routing.quantity("warm_up")?,
            custom_controls: customs.controls,
            python_router: customs.router,
            tcp: Tcp {
                congestion_control: tcp.text("congestion_control")?.into(),
                values: plain::values(tcp),
            },
            linux: linux::read(&tree, &flows, problems),
            coding: tree
                .table("coding")
                .filter(|coding| coding.boolean("enabled") == Some(true))
                .map(plain::values),
            flows,
            failures,
            record,
            assignment: None,
        })
    });
    if let (Some(network), Some(scenario)) = (&mut network, &mut scenario)
        && !problems.has_errors()
    {
        if let Some(entry) = tree.entry("assignment").filter(|_| draws_network) {
            let message = "channels are assigned before the run, and each run draws its network";
            let label = "write a number as `placement_seed`";
            problems.error(Code::BadAssignment, entry.key_span, message, label);
        } else if tree.entry("assignment").is_some() {
            assignment::assign(&mut tree, Rc::make_mut(network), scenario, problems);
        }
        if let Some(routing) = tree.table("routing").filter(|_| !problems.has_errors()) {
            assignment::check_flow_rates(routing, network, scenario, problems);
        }
    }
    if problems.has_errors() {
        return None;
    }
    let scenario = scenario?;
    if !draws_network {
        let span = tree.place("topology", Span::default());
        let value = Value::Table(Table::default());
        tree.set("topology", span, Item { value, span });
        tree.remove("gateway");
        tree.remove("server");
    }
    traces.write(&mut tree);
    (!problems.has_errors()).then_some(Resolved {
        tree,
        network: network.filter(|_| !draws_network),
        scenario: Described::Network(Box::new(scenario)),
    })
}

/// Straight-line distances need the positions of the nodes.
fn has_positions(tree: &Table, names: &Names<'_>, problems: &mut Problems) {
    let Some(table) = tree.table("routing") else {
        return;
    };
    if table.text("distance") != Some("euclidean") {
        return;
    }
    let mut nodes = names.network.nodes.iter();
    if let Some(lost) = nodes.find(|node| node.kind != NodeKind::Server && node.position.is_none())
    {
        problems.error(
            Code::NoPosition,
            table.place("distance", Span::default()),
            format!("node \"{}\" has no position", lost.id),
            "give it x and y in a graph, or write \"hops\"",
        );
    }
}

/// Checks the nodes that `spray` names.
fn check_spray(routing: &Table, names: &Names<'_>, problems: &mut Problems) {
    for (name, span) in routing.texts("spray") {
        if !problems.go_on() {
            break;
        }
        match names.ids.get(name) {
            None => {
                let message = format!("there is no node \"{name}\"");
                problems.error(Code::UnknownNode, span, message, names.suggestion(name));
            }
            Some(&node) if names.network.nodes[node].kind == NodeKind::Server => {
                problems.error(
                    Code::NotRouter,
                    span,
                    format!("\"{name}\" is a server, which does not forward"),
                    "name the router that it is attached to",
                );
            }
            Some(_) => {}
        }
    }
}

/// Checks the links that `costs` names: each is one of the network, and stands once.
fn check_costs(routing: &Table, names: &Names<'_>, problems: &mut Problems) {
    let rows = routing.tables("costs");
    if rows.is_empty() {
        return;
    }
    let ways = names.ways();
    let mut seen = BTreeSet::new();
    for (row, span) in rows {
        if !problems.go_on() {
            break;
        }
        let Some(name) = row.text("link") else {
            continue;
        };
        let place = row.place("link", span);
        match ways.get(name) {
            None => {
                let (message, label) = Names::no_link(name, &ways);
                problems.error(Code::BadCost, place, message, label);
            }
            Some(link) if !seen.insert(*link) => {
                let message = format!("link \"{}\" has two costs", short(name));
                let label = "keep one; `cost_back` is the cost of the other direction";
                problems.error(Code::BadCost, place, message, label);
            }
            Some(_) => {}
        }
    }
}

/// Fills in the parameters of the congestion controls, and of the policy towards reordering,
/// that are used and have no table.
fn complete_controls(tree: &mut Table, problems: &mut Problems) {
    let flows = tree.tables("flow").into_iter().map(|(flow, _)| flow);
    let used: BTreeSet<String> = tree
        .table("tcp")
        .into_iter()
        .chain(flows)
        .flat_map(|table| [table.text("congestion_control"), table.text("reordering")])
        .flatten()
        .map(str::to_owned)
        .collect();
    let span = tree.place("tcp", Span::default());
    let declared = problems.catalogue.of(&tables::TCP);
    let Some(Value::Table(tcp)) = tree.get_mut("tcp").map(|item| &mut item.value) else {
        return;
    };
    for control in used {
        let section = declared.find(&control).and_then(|key| key.kind.section());
        let has_parameters = section.is_some_and(|section| !section.keys.is_empty());
        if has_parameters && tcp.get(&control).is_none() {
            let value = Value::Table(Table::default());
            tcp.set(&control, span, Item { value, span });
        }
    }
    // Keys stand in the order of the table of keys, and the new tables are empty.
    *tcp = normal::section(declared, tcp, span, problems);
}

/// The recording settings; unknown names are a problem.
fn record(
    tree: &Table,
    names: &Names<'_>,
    flows: &[crate::model::FlowGroup],
    problems: &mut Problems,
) -> Option<Record> {
    let table = tree.table("record")?;
    let series = table.texts("series");
    let mut record = Record {
        cwnd: series.iter().any(|(name, _)| *name == "cwnd"),
        goodput: series.iter().any(|(name, _)| *name == "goodput"),
        queue: series.iter().any(|(name, _)| *name == "queue"),
        radio: series.iter().any(|(name, _)| *name == "radio"),
        interval: table.quantity("interval")?,
        flows: Vec::new(),
        links: Vec::new(),
        capture: Vec::new(),
        reordering: table.boolean("reordering")?,
        reordering_threshold_pkts: table.integer("reordering_threshold_pkts")?,
    };
    for (name, span) in table.texts("capture") {
        if !problems.go_on() {
            return None;
        }
        if !names.ids.contains_key(name) && ue_index(name, names.ues).is_none() {
            let label = match nearest(name, names.ids.keys().copied()) {
                Some(nearest) => format!("did you mean \"{nearest}\"?"),
                None => "name a node of the topology, a server, or a UE such as \"ue1\"".to_owned(),
            };
            problems.error(
                Code::UnknownRecorded,
                span,
                format!("there is no node \"{}\"", short(name)),
                label,
            );
        }
        record.capture.push(name.to_owned());
    }
    // Names are collected only on demand: there may be millions.
    let asks = |key: &str| !table.texts(key).is_empty();
    let ends = if asks("flows") {
        flows::ends(flows, names)
    } else {
        BTreeSet::new()
    };
    for (name, span) in table.texts("flows") {
        if !problems.go_on() {
            return None;
        }
        if !ends.contains(name) {
            let label = match nearest(name, ends.iter().map(String::as_str)) {
                Some(nearest) => format!("did you mean \"{nearest}\"?"),
                None => "name an end of a flow, such as \"ue1\"".to_owned(),
            };
            problems.error(
                Code::UnknownRecorded,
                span,
                format!("no flow ends at \"{}\"", short(name)),
                label,
            );
        }
        record.flows.push(name.to_owned());
    }
    let links = if asks("links") {
        names.ways()
    } else {
        BTreeMap::new()
    };
    for (name, span) in table.texts("links") {
        if !problems.go_on() {
            return None;
        }
        if !links.contains_key(name) {
            let label = match nearest(name, links.keys().map(String::as_str)) {
                Some(nearest) => format!("did you mean \"{nearest}\"?"),
                None => "name a link as \"a-b\"".to_owned(),
            };
            problems.error(
                Code::UnknownRecorded,
                span,
                format!("there is no link \"{}\"", short(name)),
                label,
            );
        }
        record.links.push(name.to_owned());
    }
    Some(record)
}
