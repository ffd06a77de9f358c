//! The slotted model of a file.

use std::collections::{BTreeMap, BTreeSet};

use crate::codes::Code;
use crate::diagnostic::{Problems, Span};
use crate::model::Described;
use crate::model::slotted::{Arrivals, Flow, Growth, Interference, Link, Region, Slotted};
use crate::normal;
use crate::resolve::Resolved;
use crate::shown;
use crate::spec::nearest;
use crate::tree::{Table, Value};

/// The most links of the two schedulers, as the model has them.
const MOST_EXACT_LINKS: usize = 64;
const MOST_LINKS: usize = 1024;
const MOST_FLOWS: usize = 1024;
/// Rows of sampled series that fit into memory.
const MOST_SAMPLES: u64 = 20_000_000;
/// The row of tables that has the sums over all flows.
const ALL: &str = "all";

/// Resolves a file with a section [slotted]; `None` if there are errors.
pub(crate) fn resolve(raw: &Table, problems: &mut Problems) -> Option<Resolved> {
    let mut tree = normal::section(problems.catalogue.slotted(), raw, Span::default(), problems);
    tree.remove("sweep");
    let slotted = read(&tree, problems);
    if problems.has_errors() {
        return None;
    }
    Some(Resolved {
        scenario: Described::Slotted(Box::new(slotted?)),
        tree,
    })
}

fn read(tree: &Table, problems: &mut Problems) -> Option<Slotted> {
    let table = tree.table("slotted")?;
    let mut nodes = Vec::new();
    let mut by_name = BTreeMap::new();
    let links = links(table, &mut nodes, &mut by_name, problems);
    let interference = interference(table, &nodes, &links, problems);
    let flows = flows(table, &by_name, &links, problems);
    let region = region(table, &flows, problems);
    let is_exact = table.text("scheduler")? == "exact";
    let most = if is_exact {
        MOST_EXACT_LINKS
    } else {
        MOST_LINKS
    };
    if links.len() > most {
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
    let slotted = Slotted {
        name: tree.text("name")?.to_owned(),
        seed: tree.integer("seed")?,
        slots: table.integer("slots")?,
        warm_up_slots: table.integer("warm_up_slots")?,
        k_pkts: table.integer("k_pkts")?,
        work_conserving: table.text("rule")? == "work-conserving",
        random_ties: table.text("ties")? == "random",
        greedy: !is_exact,
        buffer_pkts: table.integer("buffer_pkts"),
        m: table.number("m")?,
        r_max_pkts: table.number("r_max_pkts")?,
        sample_slots: table.integer("sample_slots"),
        region: match table.get("region") {
            Some(_) => Some(region?),
            None => None,
        },
        nodes,
        links,
        interference: interference?,
        flows,
    };
    samples(&slotted, table, problems);
    Some(slotted)
}

/// What is sampled is kept until the end of the run.
fn samples(slotted: &Slotted, table: &Table, problems: &mut Problems) {
    let Some(every) = slotted.sample_slots else {
        return;
    };
    let slots = slotted.warm_up_slots + slotted.slots;
    let rows = slots
        .div_ceil(every)
        .saturating_mul(slotted.flows.len() as u64);
    if rows > MOST_SAMPLES {
        let place = table.place("sample_slots", Span::default());
        let message = format!("the series has {rows} rows");
        let least = (slots * slotted.flows.len() as u64).div_ceil(MOST_SAMPLES) + 1;
        let label = format!("at most {MOST_SAMPLES} are kept; write {least} or more");
        problems.error(Code::Range, place, message, label);
    }
}

/// The two flows of a map must be there and have a rate.
fn region(table: &Table, flows: &[Flow], problems: &mut Problems) -> Option<Region> {
    let region = table.table("region")?;
    let names = region.texts("flows");
    let mut found = Vec::new();
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
            Some(index) => match flows[index].arrivals {
                Arrivals::Bernoulli(_) | Arrivals::Constant(_) => {
                    found.push(index);
                    continue;
                }
                _ => (
                    format!("flow \"{name}\" has no rate"),
                    "name a flow with a rate".to_owned(),
                ),
            },
        };
        problems.error(Code::BadRegion, span, message, label);
    }
    let is_pair = names.len() == 2 && names[0].0 != names[1].0;
    if !is_pair {
        let message = "a region is over two different flows";
        let place = region.place("flows", Span::default());
        problems.error(Code::BadRegion, place, message, "name two flows");
    }
    Some(Region {
        flows: <[usize; 2]>::try_from(found).ok()?,
        points: region.integer("points")?,
        most_rate: region.number("most_rate")?,
    })
}

/// The links; the nodes are those that they name.
fn links(
    table: &Table,
    nodes: &mut Vec<String>,
    by_name: &mut BTreeMap<String, usize>,
    problems: &mut Problems,
) -> Vec<Link> {
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
        // A value that was refused still leaves a link that leads somewhere.
        links.push(Link {
            from: ends.0,
            to: ends.1,
            rate_pkts: row.integer("rate_pkts").unwrap_or(1),
            on: row.number("on").unwrap_or(1.0),
        });
    }
    links
}

fn interference(
    table: &Table,
    nodes: &[String],
    links: &[Link],
    problems: &mut Problems,
) -> Option<Interference> {
    match table.text("interference")? {
        "none" => return Some(Interference::None),
        "primary" => return Some(Interference::Primary),
        "collision-domain" => return Some(Interference::CollisionDomain),
        _ => {}
    }
    let mut names: BTreeMap<String, usize> = BTreeMap::new();
    for (index, link) in links.iter().enumerate() {
        let name = format!("{}-{}", nodes[link.from], nodes[link.to]);
        names.entry(name).or_insert(index);
    }
    let mut pairs = Vec::new();
    for item in table.get("conflicts")?.as_array()? {
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
            [a, b] => pairs.push((a, b)),
            // A link that is not there was told above.
            _ => {}
        }
    }
    Some(Interference::Conflicts(pairs))
}

fn flows(
    table: &Table,
    by_name: &BTreeMap<String, usize>,
    links: &[Link],
    problems: &mut Problems,
) -> Vec<Flow> {
    let mut flows: Vec<Flow> = Vec::new();
    let ways = ways(links);
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
        let flow = || {
            Some(Flow {
                name,
                source,
                destination,
                arrivals: arrivals(row)?,
                backlog_pkts: row.integer("backlog_pkts")?,
            })
        };
        flows.extend(flow());
    }
    if let Some(item) = table.get("flow")
        && matches!(&item.value, Value::Array(rows) if rows.is_empty())
    {
        let message = "the slotted model has no flows";
        problems.error(Code::Empty, item.span, message, "add a [[slotted.flow]]");
    }
    flows
}

fn arrivals(row: &Table) -> Option<Arrivals> {
    Some(match row.text("arrivals")? {
        "window" => Arrivals::Window {
            initial_pkts: row.integer("window_pkts")?,
            growth: match row.text("growth")? {
                "fixed" => Growth::Fixed,
                _ => Growth::Additive,
            },
            most_pkts: row.integer("most_window_pkts")?,
            ack_delay_slots: row.integer("ack_delay_slots")?,
        },
        "utility" => Arrivals::Utility,
        "constant" => Arrivals::Constant(row.number("rate")?),
        _ => Arrivals::Bernoulli(row.number("rate")?),
    })
}

/// Where the links of each node lead.
fn ways(links: &[Link]) -> BTreeMap<usize, Vec<usize>> {
    let mut ways: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
    for link in links {
        ways.entry(link.from).or_default().push(link.to);
    }
    ways
}

/// Whether a way leads from one node to another.
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
