//! The slotted model of a file.

use std::collections::{BTreeMap, BTreeSet};

use crate::codes::Code;
use crate::diagnostic::Span;
use crate::model::Slotted;
use crate::normal;
use crate::plain;
use crate::problems::Problems;
use crate::shown;
use crate::spec::nearest;
use crate::tree::{Item, Table, Value};

/// The most links of the two schedulers, as the model has them.
const MOST_EXACT_LINKS: usize = 64;
const MOST_LINKS: usize = 1024;
const MOST_FLOWS: usize = 1024;
/// Rows of sampled series that fit into memory.
const MOST_SAMPLES: u64 = 20_000_000;
/// The row of tables that has the sums over all flows.
const ALL: &str = "all";

/// The normal form of a file with a section [slotted], and its model; `None` if there are errors.
pub(crate) fn resolve(raw: &Table, problems: &mut Problems) -> Option<(Table, Slotted)> {
    let mut tree = normal::section(problems.catalogue.slotted(), raw, Span::default(), problems);
    tree.remove("sweep");
    let slotted = read(&tree, problems);
    if problems.has_errors() {
        return None;
    }
    Some((tree, slotted?))
}

fn read(tree: &Table, problems: &mut Problems) -> Option<Slotted> {
    let table = tree.table("slotted")?;
    let graph = graph(table, problems);
    conflicts(table, &graph, problems);
    let flows = flows(table, &graph, problems);
    region(table, &flows, problems);
    let is_exact = table.text("scheduler")? == "exact";
    let most = if is_exact {
        MOST_EXACT_LINKS
    } else {
        MOST_LINKS
    };
    if graph.links.len() > most {
        let place = table.place("scheduler", Span::default());
        let count = table.tables("link").len();
        let message = format!("the model has {count} links, and this scheduler takes {most}");
        let label = if is_exact && count <= MOST_LINKS {
            "write scheduler = \"greedy\""
        } else {
            "write fewer links"
        };
        problems.error(Code::ManySlottedLinks, place, message, label);
    }
    if flows.len() > MOST_FLOWS {
        let place = table.place("flow", Span::default());
        let message = format!("the model has {} flows", table.tables("flow").len());
        let label = format!("write at most {MOST_FLOWS}");
        problems.error(Code::TooManyFlows, place, message, label);
    }
    samples(table, flows.len(), problems);
    Some(Slotted {
        name: tree.text("name")?.to_owned(),
        seed: tree.integer("seed")?,
        elements: graph.nodes.len() + graph.links.len(),
        values: plain::values(table),
    })
}

/// Samples are kept until the end of the run.
fn samples(table: &Table, flows: usize, problems: &mut Problems) {
    let number = |key: &str| table.integer::<u64>(key);
    let (Some(every), Some(warm_up), Some(measured)) = (
        number("sample_slots"),
        number("warm_up_slots"),
        number("slots"),
    ) else {
        return;
    };
    let slots = warm_up + measured;
    let flows = flows as u64;
    let rows = slots.div_ceil(every).saturating_mul(flows);
    if rows > MOST_SAMPLES {
        let place = table.place("sample_slots", Span::default());
        let message = format!("the series has {rows} rows");
        let least = (slots * flows).div_ceil(MOST_SAMPLES) + 1;
        let label = format!("at most {MOST_SAMPLES} are kept; write {least} or more");
        problems.error(Code::Range, place, message, label);
    }
}

/// The two flows of a map must be there and have a rate.
fn region(table: &Table, flows: &[Flow], problems: &mut Problems) {
    let Some(region) = table.table("region") else {
        return;
    };
    let names = region.texts("flows");
    for &(name, span) in &names {
        let (message, label) = match flows.iter().position(|flow| flow.name == name) {
            None => {
                let known = flows.iter().map(|flow| flow.name.as_str());
                let label = match nearest(name, known) {
                    Some(nearest) => format!("did you mean \"{nearest}\"?"),
                    None => "name a flow of this model".to_owned(),
                };
                (format!("there is no flow \"{name}\""), label)
            }
            Some(index) if flows[index].has_rate => continue,
            Some(_) => (
                format!("flow \"{name}\" has no rate"),
                "name a flow with a rate".to_owned(),
            ),
        };
        problems.error(Code::BadRegion, span, message, label);
    }
    let is_pair = names.len() == 2 && names[0].0 != names[1].0;
    if !is_pair {
        let message = "a region is over two different flows";
        let place = region.place("flows", Span::default());
        problems.error(Code::BadRegion, place, message, "name two flows");
    }
}

/// The nodes and the ends of the links, by index.
struct Graph {
    nodes: Vec<String>,
    by_name: BTreeMap<String, usize>,
    links: Vec<(usize, usize)>,
}

/// The data of a flow for the checks.
struct Flow {
    name: String,
    has_rate: bool,
}

/// The links; the nodes are those that they name.
fn graph(table: &Table, problems: &mut Problems) -> Graph {
    let (mut nodes, mut by_name) = (Vec::new(), BTreeMap::new());
    let mut links = Vec::new();
    let mut known = BTreeSet::new();
    for (row, span) in table.tables("link").into_iter().take(MOST_LINKS + 1) {
        let (Some(from), Some(to)) = (row.text("from"), row.text("to")) else {
            continue;
        };
        let mut number = |name: &str| {
            *by_name.entry(name.to_owned()).or_insert_with(|| {
                nodes.push(name.to_owned());
                nodes.len() - 1
            })
        };
        let ends = (number(from), number(to));
        if ends.0 == ends.1 {
            let message = format!("the link leads from \"{from}\" to itself");
            problems.error(
                Code::SelfLink,
                row.place("to", span),
                message,
                "name another node",
            );
        } else if !known.insert(ends) {
            let message = format!("there are two links from \"{from}\" to \"{to}\"");
            let label = "remove one, or give the other a higher rate_pkts";
            problems.error(Code::ParallelLink, span, message, label);
        }
        links.push(ends);
    }
    Graph {
        nodes,
        by_name,
        links,
    }
}

/// A conflict names two different links.
fn conflicts(table: &Table, graph: &Graph, problems: &mut Problems) {
    let Some(conflicts) = table.get("conflicts").and_then(Item::as_array) else {
        return;
    };
    let nodes = &graph.nodes;
    let mut names: BTreeMap<String, usize> = BTreeMap::new();
    for (index, &(from, to)) in graph.links.iter().enumerate() {
        let name = format!("{}-{}", nodes[from], nodes[to]);
        names.entry(name).or_insert(index);
    }
    for item in conflicts {
        if !problems.go_on() {
            break;
        }
        let pair = item.as_array().unwrap_or_default();
        let mut found = Vec::new();
        for link in pair {
            let name = link.as_text().unwrap_or_default();
            if let Some(index) = names.get(name) {
                found.push(*index);
                continue;
            }
            let message = format!("there is no link \"{}\"", shown::short(name));
            let label = match nearest(name, names.keys().map(String::as_str)) {
                Some(nearest) => format!("did you mean \"{nearest}\"?"),
                None => "name a link from A to B as \"A-B\"".to_owned(),
            };
            problems.error(Code::BadConflict, link.span, message, label);
        }
        match found[..] {
            _ if pair.len() != 2 => {
                let message = format!("this conflict is a list of {}", pair.len());
                problems.error(Code::BadConflict, item.span, message, "write two links");
            }
            [a, b] if a == b => {
                let message = "a link is in conflict with itself";
                problems.error(Code::BadConflict, item.span, message, "name two links");
            }
            // A link that does not exist was reported above.
            _ => {}
        }
    }
}

fn flows(table: &Table, graph: &Graph, problems: &mut Problems) -> Vec<Flow> {
    let mut flows: Vec<Flow> = Vec::new();
    let by_name = &graph.by_name;
    let ways = ways(&graph.links);
    for (row, span) in table.tables("flow").into_iter().take(MOST_FLOWS + 1) {
        if !problems.go_on() {
            break;
        }
        let mut end = |key: &str| {
            let name = row.text(key)?;
            let known = by_name.get(name).copied();
            if known.is_none() {
                let message = format!("there is no node \"{name}\"");
                let label = match nearest(name, by_name.keys().map(String::as_str)) {
                    Some(nearest) => format!("did you mean \"{nearest}\"?"),
                    None => "name an end of a link".to_owned(),
                };
                problems.error(Code::UnknownNode, row.place(key, span), message, label);
            }
            known.map(|node| (node, name))
        };
        let (Some((source, from)), Some((destination, to))) = (end("from"), end("to")) else {
            continue;
        };
        if source == destination {
            let message = format!("the flow leads from \"{from}\" to itself");
            problems.error(
                Code::SameEnds,
                row.place("to", span),
                message,
                "name another node",
            );
        } else if !reaches(&ways, source, destination) {
            let message = format!("no way leads from \"{from}\" to \"{to}\"");
            let label = "add links, which lead in one direction";
            problems.error(Code::NoPath, span, message, label);
        }
        let name = row
            .text("name")
            .map_or_else(|| format!("{from}-{to}"), str::to_owned);
        if name == ALL {
            let message = format!("\"{ALL}\" is what tables call the sum of all flows");
            let place = row.place("name", span);
            problems.error(Code::BadName, place, message, "write another name");
        } else if flows.iter().any(|flow| flow.name == name) {
            let message = format!("two flows are called \"{name}\"");
            problems.error(
                Code::DuplicateId,
                span,
                message,
                "give each a `name` of its own",
            );
        }
        let has_rate = row.get("rate").is_some();
        // Without its rate, which was refused, the flow is no flow.
        if has_rate || matches!(row.text("arrivals"), Some("window" | "utility")) {
            flows.push(Flow { name, has_rate });
        }
    }
    if let Some(item) = table.get("flow")
        && matches!(&item.value, Value::Array(rows) if rows.is_empty())
    {
        let message = "the slotted model has no flows";
        problems.error(Code::Empty, item.span, message, "add a [[slotted.flow]]");
    }
    flows
}

/// The neighbours of each node.
fn ways(links: &[(usize, usize)]) -> BTreeMap<usize, Vec<usize>> {
    let mut ways: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
    for &(from, to) in links {
        ways.entry(from).or_default().push(to);
    }
    ways
}

/// Whether a path leads from one node to another.
fn reaches(ways: &BTreeMap<usize, Vec<usize>>, source: usize, destination: usize) -> bool {
    let mut reached = BTreeSet::new();
    let mut open = vec![source];
    while let Some(node) = open.pop() {
        if reached.insert(node) {
            open.extend(ways.get(&node).into_iter().flatten());
        }
    }
    reached.contains(&destination)
}
