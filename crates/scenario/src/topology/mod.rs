//! From a topology section to explicit nodes and links.
//!
//! Every generator gives a [`Network`]; `lattice` has the regular ones, `ring_tree` the jittered
//! one of the BP-MR paper, `cells` that of the TCP-aware paper, `sites` those that a file places,
//! `scattered` those at random places, and `rules` the rules that join both; `positions` and
//! `nearest` have the distances and the nearest nodes. `template` reads the links,
//! `impaired` their impairments, `capacities` what they carry over time. Ties are always
//! broken by index, so that the same file gives the same network everywhere.

pub(crate) mod capacities;
mod cells;
mod draws;
pub(crate) mod impaired;
mod lattice;
mod nearest;
mod network;
mod positions;
mod ring_tree;
mod rules;
mod scattered;
pub(crate) mod sites;
mod template;

use std::collections::{BTreeMap, BTreeSet};

use backlane_units::Length;

use crate::codes::Code;
use crate::diagnostic::Span;
use crate::files::Files;
use crate::model::{Node, NodeKind};
use crate::problems::Problems;
use crate::spec::nearest;
use crate::spec::tables::MOST_NODES;
use crate::tree::{Item, Table, Value};
use crate::values::FARTHEST_UM;

pub(crate) use draws::{SplitMix, is_drawn};
use network::too_many;
pub(crate) use network::{Network, Placed};
use positions::Positions;
use template::{Template, check_wire, template};
pub(crate) use template::{check_waiting_time, queue, queue_without_rate};

/// Builds the network of a normal file: the topology, then the gateways and servers.
pub(crate) fn build(file: &Table, files: &mut Files, problems: &mut Problems) -> Option<Network> {
    let item = file.get("topology")?;
    let topology = item.as_table()?;
    let seed = file.integer("seed")?;
    let mut network = match topology.text("kind")? {
        "grid" => lattice::grid(topology, problems)?,
        "chain" => lattice::chain(topology, problems)?,
        "tree" => lattice::tree(topology, problems)?,
        "diamond" => lattice::diamond(topology, problems)?,
        "ring_tree" => ring_tree::build(topology, seed, problems)?,
        "cells" => cells::build(topology, seed, problems)?,
        "sites" => sites::build(topology, files, problems)?,
        "scattered" => scattered::build(topology, seed, files, problems)?,
        _ => graph(topology, problems),
    };
    if network.nodes.is_empty() && problems.has_errors() {
        return None;
    }
    if network.nodes.is_empty() {
        problems.error(
            Code::NoNodes,
            item.span,
            "the network has no nodes",
            "add a node",
        );
        return None;
    }
    let own_nodes = network.nodes.len();
    for (section, kind) in [("gateway", NodeKind::Epc), ("server", NodeKind::Server)] {
        for (table, span) in file.tables(section) {
            let position = position(table);
            if let Some(id) = table.text("node") {
                let span = table.place("node", span);
                network.nodes.push(Placed {
                    id: id.to_owned(),
                    kind,
                    position,
                    geographic_deg: None,
                    channels: None,
                    radios: None,
                    span,
                });
            }
        }
    }
    let ids = ids(&network, problems);
    if topology.text("kind") == Some("graph") {
        graph_links(&mut network, &ids, topology, problems);
    }
    for section in ["gateway", "server"] {
        for (table, span) in file.tables(section) {
            attach(&mut network, &ids, table, span, problems);
            attach_each(&mut network, own_nodes, &ids, table, span, problems);
        }
    }
    check(&network, file.get("wifi").is_some(), problems);
    Some(network)
}

/// The position of a node section, if both coordinates are given.
fn position(table: &Table) -> Option<(Length, Length)> {
    Some((table.quantity("x")?, table.quantity("y")?))
}

/// Latitude and longitude of a node section in degrees, if both are given.
fn geographic_deg(table: &Table, span: Span, problems: &mut Problems) -> Option<(f64, f64)> {
    match (table.number("latitude"), table.number("longitude")) {
        (Some(latitude), Some(longitude)) => Some((latitude, longitude)),
        (None, None) => None,
        (latitude, _) => {
            let [given, missing] = match latitude {
                Some(_) => ["latitude", "longitude"],
                None => ["longitude", "latitude"],
            };
            let message = format!("the node has a {given} and no {missing}");
            let place = table.place(given, span);
            problems.error(
                Code::MissingKey,
                place,
                message,
                format!("add its {missing}"),
            );
            None
        }
    }
}

/// Places the nodes that have latitude and longitude alone on the plane. Where these are mixed with
/// nodes that have x and y alone, no map has all of them.
fn project(nodes: &mut [Placed], problems: &mut Problems) {
    let is_alone = |node: &Placed| node.position.is_none() && node.geographic_deg.is_some();
    if !nodes.iter().any(is_alone) {
        return;
    }
    let in_metres = |node: &&Placed| node.position.is_some() && node.geographic_deg.is_none();
    if let Some(node) = nodes.iter().find(in_metres) {
        problems.error(
            Code::MissingKey,
            node.span,
            format!(
                "\"{}\" has no latitude and longitude, other nodes have no x and y",
                node.id
            ),
            "give all nodes latitude and longitude, or all of them x and y",
        );
        return;
    }
    let all: Vec<_> = nodes
        .iter()
        .filter_map(|node| node.geographic_deg)
        .collect();
    let placed: Vec<_> = nodes
        .iter_mut()
        .filter(|node| node.geographic_deg.is_some())
        .collect();
    for (node, (x, y)) in placed.into_iter().zip(Positions::Geographic(all).plane()) {
        let projected = (Length::from_m_f64(x), Length::from_m_f64(y));
        node.position.get_or_insert(projected);
    }
}

/// A list of channels of a normal section, each once.
pub(crate) fn channels(table: &Table, key: &str) -> Vec<u8> {
    let items = table.get(key).and_then(Item::as_array);
    let mut channels = Vec::new();
    for item in items.unwrap_or_default() {
        if let Value::Integer(number) = item.value
            && let Ok(channel) = u8::try_from(number)
            && !channels.contains(&channel)
        {
            channels.push(channel);
        }
    }
    channels
}

/// The nodes of a graph.
fn graph(topology: &Table, problems: &mut Problems) -> Network {
    let rows = topology.tables("node");
    let mut network = Network::default();
    if rows.len() as i64 > MOST_NODES {
        too_many(
            topology.place("node", Span::default()),
            rows.len() as u64,
            problems,
        );
        return network;
    }
    for (table, span) in rows {
        if !problems.go_on() {
            break;
        }
        let Some(id) = table.text("id") else { continue };
        let kind = match table.text("kind") {
            Some("epc") => NodeKind::Epc,
            Some("server") => NodeKind::Server,
            Some("router") => NodeKind::Router,
            _ => NodeKind::Enodeb,
        };
        let span = table.place("id", span);
        let position = position(table);
        let channels = table.get("channels").map(|_| channels(table, "channels"));
        network.nodes.push(Placed {
            id: id.to_owned(),
            kind,
            position,
            geographic_deg: geographic_deg(table, span, problems),
            channels,
            radios: table.integer("radios"),
            span,
        });
    }
    project(&mut network.nodes, problems);
    network
}

/// The links of a graph.
fn graph_links(
    network: &mut Network,
    ids: &BTreeMap<String, usize>,
    topology: &Table,
    problems: &mut Problems,
) {
    for (table, span) in topology.tables("link") {
        if !problems.go_on() {
            break;
        }
        let (Some(a), Some(b)) = (table.text("a"), table.text("b")) else {
            continue;
        };
        let a = known(ids, a, table.place("a", span), problems);
        let b = known(ids, b, table.place("b", span), problems);
        let (Some(a), Some(b), Some(template)) = (a, b, Template::read(table, span)) else {
            continue;
        };
        add_link(
            network,
            a,
            b,
            &template,
            span,
            table.place("b", span),
            problems,
        );
    }
}

/// The wired links of a gateway or server.
fn attach(
    network: &mut Network,
    ids: &BTreeMap<String, usize>,
    table: &Table,
    span: Span,
    problems: &mut Problems,
) {
    let Some(own) = table.text("node").and_then(|id| ids.get(id).copied()) else {
        return;
    };
    for (id, place) in table.texts("attach") {
        if !problems.go_on() {
            break;
        }
        let other = known(ids, id, place, problems);
        if let Some(other) = other {
            add_link(network, own, other, &template(table), span, place, problems);
        }
    }
}

/// The wired links of a gateway to the first of the `nodes` of the topology and to each one this
/// many further on.
fn attach_each(
    network: &mut Network,
    nodes: usize,
    ids: &BTreeMap<String, usize>,
    table: &Table,
    span: Span,
    problems: &mut Problems,
) {
    let own = table.text("node").and_then(|id| ids.get(id).copied());
    let step = table.integer("attach_each");
    if table.get("attach").is_none() && step.is_none() && !problems.has_errors() {
        let label = "add `attach = …`: a name, or a list of them";
        problems.error(Code::MissingKey, span, "gateway attach is missing", label);
    }
    let (Some(own), Some(step)) = (own, step) else {
        return;
    };
    let (place, template) = (table.place("attach_each", span), template(table));
    for other in (0..nodes).step_by(step) {
        if !problems.go_on() {
            break;
        }
        add_link(network, own, other, &template, span, place, problems);
    }
}

fn add_link(
    network: &mut Network,
    a: usize,
    b: usize,
    template: &Template,
    span: Span,
    place: Span,
    problems: &mut Problems,
) {
    if a == b {
        let id = &network.nodes[a].id;
        let message = format!("the link joins \"{id}\" to itself");
        problems.error(Code::SelfLink, place, message, "write another node");
        return;
    }
    let link = template.link(a, b, None, None);
    check_wire(&link, template, problems);
    network.links.push((link, span));
}

/// The index of node `id`, or a problem.
fn known(
    ids: &BTreeMap<String, usize>,
    id: &str,
    place: Span,
    problems: &mut Problems,
) -> Option<usize> {
    let found = ids.get(id).copied();
    if found.is_none() {
        let label = match nearest(id, ids.keys().map(String::as_str)) {
            Some(nearest) => format!("did you mean \"{nearest}\"?"),
            None => "name a node of the topology, a gateway or a server".to_owned(),
        };
        problems.error(
            Code::UnknownNode,
            place,
            format!("there is no node \"{id}\""),
            label,
        );
    }
    found
}

/// Whether `id` names all UEs or one of them.
pub(crate) fn is_ue_name(id: &str) -> bool {
    id == "ues"
        || id.strip_prefix("ue").is_some_and(|number| {
            !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit())
        })
}

/// The index of every id; ids that stand twice are a problem.
fn ids(network: &Network, problems: &mut Problems) -> BTreeMap<String, usize> {
    let mut ids = BTreeMap::new();
    for (index, node) in network.nodes.iter().enumerate() {
        if !problems.go_on() {
            break;
        }
        if is_ue_name(&node.id) {
            let message = format!("\"{}\" is the name of UEs", node.id);
            problems.error(
                Code::DuplicateId,
                node.span,
                message,
                "give the node another name",
            );
        } else if ids.contains_key(&node.id) {
            let message = format!("there are two nodes \"{}\"", node.id);
            problems.error(
                Code::DuplicateId,
                node.span,
                message,
                "give one of them another name",
            );
        } else {
            ids.insert(node.id.clone(), index);
        }
    }
    ids
}

/// Checks what holds for every network: its size, parallel links and, where there are no radios,
/// that it is one piece.
fn check(network: &Network, has_radios: bool, problems: &mut Problems) {
    let most = MOST_NODES as usize;
    if network.nodes.len() > most || network.links.len() > most {
        let place = network
            .nodes
            .first()
            .map_or(Span::default(), |node| node.span);
        too_many(
            place,
            network.nodes.len().max(network.links.len()) as u64,
            problems,
        );
        return;
    }
    let is_far = |length: Length| length.as_um().unsigned_abs() > FARTHEST_UM.unsigned_abs();
    let far = network
        .nodes
        .iter()
        .find(|n| n.position.is_some_and(|(x, y)| is_far(x) || is_far(y)));
    if let Some(node) = far {
        let message = format!("\"{}\" is out of range", node.id);
        problems.error(
            Code::Range,
            node.span,
            message,
            "positions lie within 100 000 km",
        );
        return;
    }
    let mut pairs = BTreeSet::new();
    for (link, span) in &network.links {
        if !problems.go_on() {
            return;
        }
        // Parallel links over radios are what several radios are for.
        let ends = (link.a.min(link.b), link.a.max(link.b));
        if !pairs.insert((ends, link.radio().and_then(|radio| radio.channel))) {
            let (a, b) = (&network.nodes[link.a].id, &network.nodes[link.b].id);
            problems.warning(
                Code::ParallelLink,
                *span,
                format!("\"{a}\" and \"{b}\" are joined by more than one link"),
                "remove one, unless parallel links are meant",
            );
        }
    }
    servers(network, problems);
    // A link that was refused would seem to be missing; which radios reach each other shows later.
    if problems.has_errors() || has_radios {
        return;
    }
    let pieces = rules::pieces(
        network.nodes.len(),
        network.links.iter().map(|(l, _)| (l.a, l.b)),
    );
    if let Some(stranded) = pieces.iter().position(|piece| *piece != pieces[0]) {
        let first = &network.nodes[0].id;
        let node = &network.nodes[stranded];
        let count = pieces.iter().filter(|piece| **piece != pieces[0]).count();
        problems.error(
            Code::Disconnected,
            node.span,
            format!("\"{}\" cannot be reached from \"{first}\"", node.id),
            match count {
                1 => "add a link to it".to_owned(),
                _ => format!("add a link to it ({count} nodes cannot be reached)"),
            },
        );
    }
}

/// Checks that servers are at the edge: each has one link, to a node that forwards.
fn servers(network: &Network, problems: &mut Problems) {
    let is_server = |node: usize| network.nodes[node].kind == NodeKind::Server;
    let mut links_of = vec![0; network.nodes.len()];
    for (link, span) in &network.links {
        let (a, b) = (&network.nodes[link.a].id, &network.nodes[link.b].id);
        if is_server(link.a) && is_server(link.b) {
            problems.error(
                Code::NotRouter,
                *span,
                format!("\"{a}\" and \"{b}\" are both servers, which do not forward"),
                "join each to a router instead",
            );
            continue;
        }
        for end in [link.a, link.b] {
            links_of[end] += 1;
            if is_server(end) && links_of[end] == 2 {
                let server = &network.nodes[end].id;
                problems.error(
                    Code::NotRouter,
                    *span,
                    format!("\"{server}\" is a server and has more than one link"),
                    "keep one, or make it a router",
                );
            }
        }
    }
}

/// The nodes of a finished network; `channels` are those of nodes that have none of their own.
pub(crate) fn nodes(network: &Network, channels: &[u8]) -> Vec<Node> {
    network
        .nodes
        .iter()
        .map(|node| Node {
            id: node.id.clone(),
            kind: node.kind,
            position_m: node.position.map(|(x, y)| (x.as_m_f64(), y.as_m_f64())),
            geographic_deg: node.geographic_deg,
            channels: match (&node.channels, node.kind) {
                (Some(own), _) => own.clone(),
                (None, _) if node.radios == Some(0) => Vec::new(),
                (None, NodeKind::Enodeb | NodeKind::Router) => channels.to_vec(),
                (None, NodeKind::Epc | NodeKind::Server) => Vec::new(),
            },
        })
        .collect()
}
