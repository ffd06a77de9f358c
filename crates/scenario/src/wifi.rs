//! The 802.11 radios of a file: what their standard allows, and who can hear whom at all.

use std::collections::{BTreeMap, BTreeSet};

use backlane_units::Rate;

use crate::codes::Code;
use crate::diagnostic::Span;
use crate::model::{Link, Node, NodeKind, RadioLink, Rates, Wifi};
use crate::names::Names;
use crate::plain;
use crate::problems::Problems;
use crate::profile;
use crate::shown::short;
use crate::spec::nearest;
use crate::topology;
use crate::tree::{Item, Table, Value};

/// Reads a normal `[wifi]`.
pub(crate) fn read(tree: &mut Table, names: &Names<'_>, problems: &mut Problems) -> Option<Wifi> {
    let span = tree.place("wifi", Span::default());
    let Some(Value::Table(table)) = tree.get_mut("wifi").map(|item| &mut item.value) else {
        return None;
    };
    profile::mark_defaults("wifi", table, problems.catalogue);
    let values = plain::values(table);
    let rates = problems.catalogue.rates(&values);
    if let Some(rates) = &rates {
        check_rates(table, span, rates, names, problems);
    }
    let Some(queue) = topology::queue_without_rate(table) else {
        // A queue that could not be read was reported before.
        if topology::queue(table).is_some() {
            let message = "a bandwidth-delay product needs a wire";
            let label = "write a size or a number of packets, such as \"100 packets\"";
            problems.error(Code::BadQueue, table.place("queue", span), message, label);
        }
        return None;
    };
    let lossy_links = lossy_links(table, names, problems);
    stations(table, span, names, problems);
    Some(Wifi {
        values,
        rates: rates?,
        queue,
        lossy_links,
    })
}

/// Refuses what needs radios, where there are none.
pub(crate) fn refuse_without(names: &Names<'_>, problems: &mut Problems) {
    let label = "add a section [wifi]";
    for (link, span) in &names.network.links {
        if link.radio().is_some() && !problems.has_errors() {
            let message = "the link leads over 802.11, and there are no radios";
            problems.error(Code::NoRadio, *span, message, label);
        }
    }
    for node in &names.network.nodes {
        if node.channels.is_some() {
            let message = format!("\"{}\" has channels, and there are no radios", node.id);
            problems.error(Code::NoRadio, node.span, message, label);
            return;
        }
    }
}

/// Every rate must be one of the standard's.
fn check_rates(
    table: &Table,
    span: Span,
    rates: &Rates,
    names: &Names<'_>,
    problems: &mut Problems,
) {
    let standard = table.text("standard").unwrap_or_default();
    for key in ["rate", "basic_rate", "control_rate"] {
        if let Some(rate) = table.quantity(key) {
            check_rate(rate, standard, rates, table.place(key, span), problems);
        }
    }
    let mut last = None;
    for (link, span) in &names.network.links {
        // The links of a generator share one place.
        if let Some(rate) = link.radio().and_then(|radio| radio.rate)
            && last.replace(*span) != Some(*span)
        {
            check_rate(rate, standard, rates, *span, problems);
        }
    }
}

fn check_rate(rate: Rate, standard: &str, rates: &Rates, place: Span, problems: &mut Problems) {
    if rates.all.contains(&rate) {
        return;
    }
    let distance = |known: &&Rate| known.as_bps().abs_diff(rate.as_bps());
    let nearest = rates.all.iter().min_by_key(distance).copied();
    let nearest = nearest.unwrap_or(rate);
    let message = format!("{standard} has no rate of {rate}");
    let all: Vec<String> = rates.all.iter().map(Rate::to_string).collect();
    let label = format!("the nearest is \"{nearest}\" of {}", all.join(", "));
    problems.error(Code::BadRate, place, message, label);
}

/// The indices of the links that may be lossy; `None` where all may.
fn lossy_links(table: &Table, names: &Names<'_>, problems: &mut Problems) -> Option<Vec<usize>> {
    let stated = |key: &&str| table.entry(key).filter(|entry| !entry.is_default);
    if table.get("loss").is_none()
        && let Some(entry) = ["lossy_links", "lossy_share"].iter().find_map(stated)
    {
        let message = format!("wifi {} is given, and no loss", entry.key);
        let label = "add `loss = …`, or remove it";
        problems.error(Code::LossyLink, entry.item.span, message, label);
    }
    if table.text("lossy_links") == Some("all") {
        return None;
    }
    let id = |index: usize| names.network.nodes[index].id.as_str();
    let mut known: BTreeMap<String, usize> = BTreeMap::new();
    for (index, (link, _)) in names.network.links.iter().enumerate() {
        if link.radio().is_some() {
            let (a, b) = (id(link.a), id(link.b));
            known.entry(format!("{a}-{b}")).or_insert(index);
            known.entry(format!("{b}-{a}")).or_insert(index);
        }
    }
    let mut links = BTreeSet::new();
    for (name, span) in table.texts("lossy_links") {
        if !problems.go_on() {
            break;
        }
        match known.get(name) {
            Some(index) => drop(links.insert(*index)),
            None => {
                let label = match nearest(name, known.keys().map(String::as_str)) {
                    Some(nearest) => format!("did you mean \"{nearest}\"?"),
                    None => "name a link with medium = \"wifi\" as \"a-b\"".to_owned(),
                };
                let message = format!("there is no link \"{}\" over 802.11", short(name));
                problems.error(Code::LossyLink, span, message, label);
            }
        }
    }
    Some(links.into_iter().collect())
}

/// Every node with a radio stands somewhere, and shares a channel with whom it is to hear.
fn stations(table: &Table, span: Span, names: &Names<'_>, problems: &mut Problems) {
    let network = names.network;
    let nodes = topology::nodes(network, &topology::channels(table, "channels"));
    for (node, placed) in nodes.iter().zip(&network.nodes) {
        if !node.channels.is_empty() && node.position_m.is_none() {
            let message = format!("\"{}\" has a radio and no position", node.id);
            let label = "give it x and y, or `channels = []` for no radio";
            problems.error(Code::NoPosition, placed.span, message, label);
            return;
        }
        let is_end = matches!(node.kind, NodeKind::Epc | NodeKind::Server);
        if is_end && !node.channels.is_empty() {
            let message = format!("\"{}\" has radios, and is reached by wires only", node.id);
            let label = "remove its channels";
            problems.error(Code::NoRadio, placed.span, message, label);
        }
    }
    if problems.has_errors() {
        return;
    }
    let mut taken = BTreeSet::new();
    for (link, span) in &network.links {
        if !problems.go_on() {
            return;
        }
        let Some(radio) = link.radio().filter(|radio| !radio.is_left_out) else {
            continue;
        };
        link_channel(link, radio, &nodes, *span, problems);
        if !taken.insert((
            link.a.min(link.b),
            link.a.max(link.b),
            channel(link, &nodes),
        )) {
            let (a, b) = (&nodes[link.a].id, &nodes[link.b].id);
            let message = format!("two links lead over the same radios of \"{a}\" and \"{b}\"");
            let label = "remove one, or give it another channel that both have";
            problems.error(Code::BadRadio, *span, message, label);
        }
    }
    if table.text("neighbours") != Some("in-range") {
        return;
    }
    let mut users: BTreeMap<u8, usize> = BTreeMap::new();
    for channel in nodes.iter().flat_map(|node| &node.channels) {
        *users.entry(*channel).or_default() += 1;
    }
    let is_alone = |node: &&Node| {
        !node.channels.is_empty() && node.channels.iter().all(|channel| users[channel] == 1)
    };
    if let Some(node) = nodes.iter().find(is_alone) {
        let message = format!(
            "\"{}\" has no radio on any other node's channel: {}",
            node.id,
            list(&node.channels)
        );
        let place = table.place("channels", span);
        let label = "give it a channel that another node has";
        problems.error(Code::DeafStation, place, message, label);
    }
}

/// The channel of a link over radios: its own, or the first of one end's that the other has too.
pub(crate) fn channel(link: &Link, nodes: &[Node]) -> Option<u8> {
    let both = |channel: &&u8| nodes[link.b].channels.contains(channel);
    let common = || nodes[link.a].channels.iter().find(both).copied();
    match link.radio()? {
        radio if radio.is_left_out => None,
        radio => radio.channel.or_else(common),
    }
}

/// The channel of a link must be one of both its ends.
fn link_channel(
    link: &Link,
    radio: &RadioLink,
    nodes: &[Node],
    span: Span,
    problems: &mut Problems,
) {
    let (a, b) = (&nodes[link.a], &nodes[link.b]);
    if let Some(node) = [a, b].into_iter().find(|node| node.channels.is_empty()) {
        let message = format!("\"{}\" has no radio for the link", node.id);
        let label = "give it channels, or lay a wire";
        problems.error(Code::NoRadio, span, message, label);
        return;
    }
    let is_common = |channel: &&u8| b.channels.contains(channel);
    match radio.channel {
        None if !a.channels.iter().any(|channel| is_common(&channel)) => {
            let message = format!(
                "\"{}\" has no radio on a channel of \"{}\": {} and {}",
                a.id,
                b.id,
                list(&a.channels),
                list(&b.channels)
            );
            let label = "give both a common channel";
            problems.error(Code::DeafStation, span, message, label);
        }
        Some(channel) => {
            let deaf = [a, b].into_iter().find(|n| !n.channels.contains(&channel));
            if let Some(node) = deaf {
                let message = format!(
                    "\"{}\" has no radio on channel {channel}, but on {}",
                    node.id,
                    list(&node.channels)
                );
                let label = "name a channel of both ends";
                problems.error(Code::DeafStation, span, message, label);
            }
        }
        None => {}
    }
}

fn list(channels: &[u8]) -> String {
    let texts: Vec<String> = channels.iter().map(u8::to_string).collect();
    texts.join(", ")
}

/// The link of a resolved graph, as its keys beyond the ends.
pub(crate) fn link_keys(radio: &RadioLink) -> Vec<(&'static str, Value)> {
    let mut keys = vec![("medium", Value::Text("wifi".to_owned()))];
    let channel = match radio.channel {
        _ if radio.is_left_out => Some(Value::Text("none".to_owned())),
        channel => channel.map(|channel| Value::Integer(i64::from(channel))),
    };
    keys.extend(channel.map(|channel| ("channel", channel)));
    keys.extend(
        radio
            .rate
            .map(|rate| ("rate", Value::Text(rate.to_string()))),
    );
    keys.extend(radio.loss.map(|loss| ("loss", Value::Number(loss))));
    keys
}

/// The channels of a resolved node.
pub(crate) fn channels_value(channels: &[u8]) -> Value {
    let item = |channel: &u8| Item {
        value: Value::Integer(i64::from(*channel)),
        span: Span::default(),
    };
    Value::Array(channels.iter().map(item).collect())
}
