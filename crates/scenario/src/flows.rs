//! The flow groups of a file.

use std::collections::BTreeSet;

use backlane_units::{Bytes, Duration};

use crate::catalogue::Catalogue;
use crate::codes::Code;
use crate::diagnostic::Span;
use crate::model::{
    AccessKind, End, Endpoints, FlowGroup, FlowKind, Law, NodeKind, Placement, Programs, Scenario,
    Stack, Start, Udp, Utility,
};
use crate::names::{Names, ue_index};
use crate::phrases;
use crate::plain;
use crate::problems::Problems;
use crate::shown::short;
use crate::spec::tables::{self, MOST_NODES};
use crate::spec::{Key, Presence};
use crate::topology::{SplitMix, is_ue_name};
use crate::tree::{Item, Table, Value};

/// Reads the groups, and writes the ends of each in their normal form into the tree.
pub(crate) fn read(
    tree: &mut Table,
    names: &Names<'_>,
    duration: Option<Duration>,
    problems: &mut Problems,
) -> Vec<FlowGroup> {
    let mut groups = Vec::new();
    let mut flows = 0_u64;
    let seed = tree.integer("seed");
    let Some(Value::Array(items)) = tree.get_mut("flow").map(|item| &mut item.value) else {
        let place = tree
            .entries
            .first()
            .map_or(Span::default(), |entry| entry.key_span);
        if problems.has_errors() {
            return groups;
        }
        problems.warning(Code::NoFlows, place, "there are no flows", "add a [[flow]]");
        return groups;
    };
    for (index, item) in items.iter_mut().enumerate() {
        if !problems.go_on() {
            break;
        }
        let span = item.span;
        let Value::Table(table) = &mut item.value else {
            continue;
        };
        let from = endpoints(table, "from", span, names, problems);
        let to = endpoints(table, "to", span, names, problems);
        let (Some(from), Some(to)) = (from, to) else {
            continue;
        };
        let Some(mut group) = group(table, from, to, problems.catalogue) else {
            continue;
        };
        let Some(mut pairs) = pairs(&group, table, span, names, problems) else {
            continue;
        };
        if let (Some(count), Some(seed)) = (table.integer("drawn"), seed) {
            if !can_draw(&group, count, table, names, problems) {
                continue;
            }
            let draws = &mut SplitMix::of_flows(index, seed);
            group.to = match group.to {
                Endpoints::Ues => Endpoints::UeList(draws.some((0..names.ues).collect(), count)),
                Endpoints::UeList(ues) => Endpoints::UeList(draws.some(ues, count)),
                Endpoints::Nodes(nodes) => Endpoints::Nodes(draws.some(nodes, count)),
            };
            pairs = count as u64;
        }
        flows = flows.saturating_add(pairs.saturating_mul(group.count as u64));
        let starts = match group.gap {
            Some(_) => pairs,
            None => pairs * group.count as u64,
        };
        times(&group, starts, table, span, duration, problems);
        if group.gap.is_some() && group.size.is_none() {
            let message = "endless flows cannot go one after another";
            let place = table.place("gap", span);
            problems.error(
                Code::BadLaw,
                place,
                message,
                "give them a size, or take `gap` away",
            );
        }
        if flows > MOST_NODES as u64 {
            let message = format!("there are {flows} flows");
            problems.error(
                Code::TooManyFlows,
                span,
                message,
                format!("at most {MOST_NODES} are possible"),
            );
            break;
        }
        groups.push(group);
    }
    groups
}

/// The plain values of a group.
fn group(table: &Table, from: Endpoints, to: Endpoints, catalogue: Catalogue) -> Option<FlowGroup> {
    let kind = match table.text("kind")? {
        "download" => FlowKind::Download,
        "upload" => FlowKind::Upload,
        "transfer" => FlowKind::Transfer,
        "udp" => FlowKind::Udp,
        "on-off" => FlowKind::OnOff,
        other => FlowKind::Source(catalogue.of(&tables::FLOW).variant(other)?.name),
    };
    let is_declared = matches!(kind, FlowKind::Source(_));
    let udp = if kind.is_tcp() || is_declared {
        None
    } else {
        let on_off = match kind {
            FlowKind::OnOff => Some((table.quantity("on")?, table.quantity("off")?)),
            _ => None,
        };
        Some(Udp {
            rate: table.quantity("rate")?,
            packet_bytes: u32::try_from(table.quantity::<Bytes>("packet_size")?.get()).ok()?,
            on_off,
            control: match table.text("control") {
                Some("utility") => Some(Utility {
                    m: table.number("m")?,
                    slot: table.quantity("slot")?,
                }),
                _ => None,
            },
        })
    };
    Some(FlowGroup {
        kind,
        from,
        to,
        count: table.integer("count")?,
        size: match table.text("size")? {
            "endless" => None,
            text => Some(match phrases::law::<Bytes>(text).ok()? {
                Law::Fixed(size) => Law::Fixed(size.get()),
                Law::Uniform(low, high) => Law::Uniform(low.get(), high.get()),
                Law::Exponential(mean) => Law::Exponential(mean.get()),
            }),
        },
        gap: match table.text("gap") {
            Some(text) => Some(phrases::law(text).ok()?),
            None => None,
        },
        start: phrases::start(table.text("start")?).ok()?,
        stop: match table.text("stop")? {
            "end" => None,
            text => Some(text.parse().ok()?),
        },
        congestion_control: table.text("congestion_control").map(Into::into),
        stack: match table.text("stack") {
            Some("linux") => Stack::Linux,
            Some("external") => Stack::External,
            _ => Stack::Model,
        },
        programs: programs(table),
        udp,
        source: is_declared.then(|| plain::values(table)),
    })
}

/// The programs that kernels run, if the group names any.
fn programs(table: &Table) -> Option<Programs> {
    let words = |key: &str| -> Vec<String> {
        let texts = table.texts(key).into_iter();
        texts.map(|(text, _)| text.to_owned()).collect()
    };
    let programs = Programs {
        client: words("client"),
        server: words("server"),
    };
    (programs != Programs::default()).then_some(programs)
}

/// The ends under `key`; "server" becomes the servers' ids.
fn endpoints(
    table: &mut Table,
    key: &str,
    group: Span,
    names: &Names<'_>,
    problems: &mut Problems,
) -> Option<Endpoints> {
    let place = table.place(key, group);
    let texts: Vec<(String, Span)> = table
        .texts(key)
        .into_iter()
        .map(|(text, span)| (text.to_owned(), span))
        .collect();
    if texts.is_empty() {
        return None;
    }
    if texts.iter().any(|(text, _)| is_ue_name(text)) && names.ues == 0 {
        // If the access section was refused, its own problem is reported.
        if !problems.has_errors() {
            let message = "the flow needs UEs, but there are none";
            problems.error(
                Code::NoUes,
                place,
                message,
                "write a kind, such as \"ideal\", and ues = … in [access]",
            );
        }
        return None;
    }
    if let [(text, _)] = texts.as_slice()
        && text == "ues"
    {
        return Some(Endpoints::Ues);
    }
    let (mut nodes, mut ues, mut canonical) = (Vec::new(), Vec::new(), Vec::new());
    for (text, span) in &texts {
        if !problems.go_on() {
            return None;
        }
        if let Some(node) = names.ids.get(text.as_str()) {
            nodes.push(*node);
            canonical.push(Item::text(text, *span));
        } else if let Some(ue) = ue_index(text, names.ues) {
            ues.push(ue);
            canonical.push(Item::text(text, *span));
        } else if text == "server" {
            let servers = names.of_kind(NodeKind::Server);
            if servers.is_empty() {
                problems.error(
                    Code::NoServer,
                    *span,
                    "the flow needs a server, but there is none",
                    "add a [[server]]",
                );
                return None;
            }
            canonical.extend(
                servers
                    .iter()
                    .map(|s| Item::text(&names.network.nodes[*s].id, *span)),
            );
            nodes.extend(servers);
        } else {
            let message = match is_ue_name(text) {
                true if text == "ues" => "\"ues\" cannot be one of a list".to_owned(),
                true => format!("there is no \"{}\" among {} UEs", short(text), names.ues),
                false => format!("there is no node \"{}\"", short(text)),
            };
            let label = match is_ue_name(text) {
                true if text == "ues" => "write it alone".to_owned(),
                true => format!("write ue1 to ue{}", names.ues),
                false => names.suggestion(text),
            };
            problems.error(Code::UnknownEndpoint, *span, message, label);
            return None;
        }
    }
    if !nodes.is_empty() && !ues.is_empty() {
        let message = "the list mixes nodes and UEs";
        problems.error(
            Code::UnknownEndpoint,
            place,
            message,
            "write two flow groups",
        );
        return None;
    }
    // "server" expands to the names of all servers, marked where it is the default.
    let is_servers = canonical.len() == nodes.len() && nodes == names.of_kind(NodeKind::Server);
    let is_default = is_servers && is_server_by_default(table, key);
    if let Some(entry) = table.entries.iter_mut().find(|entry| entry.key == key) {
        entry.is_default |= is_default;
        entry.item.value = match canonical.as_slice() {
            [single] => single.value.clone(),
            _ => Value::Array(canonical),
        };
    }
    Some(if ues.is_empty() {
        Endpoints::Nodes(nodes)
    } else {
        Endpoints::UeList(ues)
    })
}

/// Whether leaving out this end of a flow means the servers.
fn is_server_by_default(table: &Table, key: &str) -> bool {
    let kind = table
        .text("kind")
        .and_then(|kind| tables::FLOW.variant(kind));
    let keys = tables::FLOW.keys.iter();
    let mut keys = keys.chain(kind.map_or(&[] as &[Key], |kind| kind.keys));
    let presence = keys.find(|known| known.name == key).map(|key| key.presence);
    matches!(presence, Some(Presence::Default("\"server\"")))
}

/// The number of pairs of ends; lists of different lengths and equal ends are problems.
fn pairs(
    group: &FlowGroup,
    table: &Table,
    span: Span,
    names: &Names<'_>,
    problems: &mut Problems,
) -> Option<u64> {
    let (from, to) = (group.from.len(names.ues), group.to.len(names.ues));
    if from != to && from != 1 && to != 1 {
        let message = format!("the flow leads from {from} ends to {to}");
        problems.error(
            Code::UnequalLists,
            table.place("to", span),
            message,
            "write lists of the same length, or a single end on one side",
        );
        return None;
    }
    if group.pairs(names.ues).any(|(from, to)| from == to) {
        let message = "the flow leads from an end to itself";
        problems.error(
            Code::SameEnds,
            table.place("to", span),
            message,
            "write another end",
        );
        return None;
    }
    Some(from.max(to) as u64)
}

/// Whether each run may draw this many of the ends that a group leads to.
fn can_draw(
    group: &FlowGroup,
    count: usize,
    table: &Table,
    names: &Names<'_>,
    problems: &mut Problems,
) -> bool {
    let place = table.place("drawn", Span::default());
    let (from, to) = (group.from.len(names.ues), group.to.len(names.ues));
    if count > to {
        let message = format!("{count} of {to} ends are to be drawn");
        let label = "draw fewer, or name more in `to`";
        problems.error(Code::Range, place, message, label);
    } else if from > 1 {
        let message = format!("the flow leads from {from} ends to those that are drawn");
        let label = "write a single end, or take `drawn` away";
        problems.error(Code::UnequalLists, place, message, label);
    } else {
        return true;
    }
    false
}

/// Checks that the flows start before the end and stop after their start.
fn times(
    group: &FlowGroup,
    flows: u64,
    table: &Table,
    span: Span,
    duration: Option<Duration>,
    problems: &mut Problems,
) {
    let place = table.place("start", span);
    let last = last_start(group.start, flows);
    if let Some(duration) = duration
        && last >= duration
    {
        let message = format!("a flow starts at {last}, after the end of the run at {duration}");
        problems.error(
            Code::LateStart,
            place,
            message,
            "start it earlier, or raise `duration`",
        );
    } else if let Some(stop) = group.stop
        && stop <= last
    {
        let message = format!("a flow starts at {last} but stops at {stop}");
        problems.error(
            Code::EarlyStop,
            table.place("stop", span),
            message,
            "`stop` is a time on the clock of `start`",
        );
    }
}

/// The latest start of a group of `flows` flows; where the time between two starts is drawn, that
/// of the first.
fn last_start(start: Start, flows: u64) -> Duration {
    match start {
        Start::At(time) | Start::Uniform(_, time) => time,
        Start::Every { first, gap } => match gap {
            Law::Fixed(gap) => first.saturating_add(gap.saturating_mul(flows.saturating_sub(1))),
            Law::Uniform(..) | Law::Exponential(_) => first,
        },
        Start::Staggered => (1..=flows)
            .rev()
            .take(25)
            .map(Start::staggered)
            .max()
            .unwrap_or_default(),
    }
}

/// The names of all ends of flows.
pub(crate) fn ends(flows: &[FlowGroup], names: &Names<'_>) -> BTreeSet<String> {
    flows
        .iter()
        .flat_map(|group| group.pairs(names.ues))
        .flat_map(|(from, to)| [from, to])
        .map(|end| match end {
            End::Ue(ue) => format!("ue{}", ue + 1),
            End::Node(node) => names.network.nodes[node].id.clone(),
        })
        .collect()
}

/// The router where packets of a node enter the mesh: itself, or what a server is wired to.
pub(crate) fn router_of(scenario: &Scenario, node: usize) -> usize {
    if scenario.nodes[node].kind != NodeKind::Server {
        return node;
    }
    let mut links = scenario.links.iter();
    let own = links.find(|link| link.a == node || link.b == node);
    own.map_or(node, |link| if link.a == node { link.b } else { link.a })
}

/// The routers that flows lead between, each pair of two once, and whether data is over TCP. More
/// than a million are refused at `span`.
pub(crate) fn router_pairs(
    scenario: &Scenario,
    span: Span,
    problems: &mut Problems,
) -> Vec<(usize, usize, bool)> {
    let enodebs: Vec<usize> = (0..scenario.nodes.len())
        .filter(|node| scenario.nodes[*node].kind == NodeKind::Enodeb)
        .collect();
    // `None` is any eNodeB: the UE's place is drawn, or the UE moves.
    let place = |end: End| match (end, &scenario.access) {
        (End::Node(node), _) => Some(router_of(scenario, node)),
        (End::Ue(_), Some(access)) if matches!(access.kind, AccessKind::Lte(_)) => None,
        (End::Ue(ue), Some(access)) => match &access.placement {
            Placement::Listed(nodes) => nodes.get(ue).copied(),
            Placement::RoundRobin => enodebs.get(ue % enodebs.len().max(1)).copied(),
            Placement::Random => None,
        },
        (End::Ue(_), None) => None,
    };
    let ues = scenario.access.as_ref().map_or(0, |access| access.ues);
    let mut places = BTreeSet::new();
    let mut pairs = Vec::new();
    for group in &scenario.flows {
        for (from, to) in group.pairs(ues) {
            let of = (place(from), place(to), group.kind.is_tcp());
            if !places.insert(of) {
                continue;
            }
            let nodes = |place: Option<usize>| place.map_or_else(|| enodebs.clone(), |n| vec![n]);
            let ends = nodes(of.1);
            for from in nodes(of.0) {
                pairs.extend(ends.iter().map(|to| (from, *to, of.2)));
                if pairs.len() > MOST_NODES as usize {
                    let message = "the flows lead between more than a million pairs of routers";
                    let label = "name the routers that flows begin and end at";
                    problems.error(Code::TooManyFlows, span, message, label);
                    return Vec::new();
                }
                if !problems.go_on() {
                    return Vec::new();
                }
            }
        }
    }
    let mut seen = BTreeSet::new();
    pairs.retain(|pair| pair.0 != pair.1 && seen.insert(*pair));
    pairs
}
