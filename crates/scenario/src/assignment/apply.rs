//! Writes the assignment into the network and the scenario, and checks that flow rates fit the
//! flows.

use std::collections::{BTreeMap, BTreeSet};

use backlane_units::Rate;

use super::asked::Found;
use super::demands::distances;
use crate::codes::Code;
use crate::diagnostic::Span;
use crate::flows;
use crate::model::{Assignment, Medium, NodeKind, Scenario};
use crate::problems::Problems;
use crate::topology::Network;
use crate::tree::{Item, Table, Value};

/// Writes the assignment of `links` into the network and the scenario.
pub(super) fn write(
    found: &Found,
    links: &[usize],
    network: &mut Network,
    scenario: &mut Scenario,
) {
    let Some(usual) = scenario.wifi.as_ref().map(|wifi| wifi.rates.data) else {
        return;
    };
    let mut utilisation = vec![None; scenario.links.len()];
    let mut of_nodes = vec![BTreeSet::new(); scenario.nodes.len()];
    for (at, &index) in links.iter().enumerate() {
        let link = &mut scenario.links[index];
        link.flow_rates_bps = Some(found.flow_rates_bps[at]);
        let Medium::Wifi(radio) = &mut link.medium else {
            continue;
        };
        let rate = Rate::from_bps(found.rates_bps[at]);
        if radio.rate.is_some() || rate != usual {
            radio.rate = Some(rate);
        }
        if let Some(channels) = &found.channels {
            radio.channel = channels[at];
            radio.is_left_out = channels[at].is_none();
            of_nodes[link.a].extend(channels[at]);
            of_nodes[link.b].extend(channels[at]);
        }
        if !radio.is_left_out {
            utilisation[index] = Some(found.utilisation[at]);
        }
    }
    // A wire has no assignment: its flow rate is its rate.
    let is_router = |node: usize| scenario.nodes[node].kind != NodeKind::Server;
    for link in &mut scenario.links {
        if let Medium::Wire(wire) = &link.medium
            && link.flow_rates_bps.is_none()
            && is_router(link.a)
            && is_router(link.b)
        {
            link.flow_rates_bps = Some([wire.rate.as_bps(); 2]);
        }
    }
    if found.channels.is_some() {
        for (node, channels) in of_nodes.into_iter().enumerate() {
            let channels: Vec<u8> = channels.into_iter().collect();
            if scenario.nodes[node].channels != channels {
                network.nodes[node].channels = Some(channels.clone());
                scenario.nodes[node].channels = channels;
            }
        }
    }
    scenario.assignment = Some(Assignment {
        scale: found.scale,
        utilisation,
    });
}

/// A number as an item.
pub(super) fn number(value: f64, span: Span) -> Item {
    Item {
        value: Value::Number(value),
        span,
    }
}

/// Flow rates are those of all links between routers or of none, and with L2.5R every flow finds
/// a way over links that are used.
pub(crate) fn check_flow_rates(
    routing: &Table,
    network: &Network,
    scenario: &Scenario,
    problems: &mut Problems,
) {
    let is_router = |node: usize| scenario.nodes[node].kind != NodeKind::Server;
    let links = || {
        let all = scenario.links.iter().zip(&network.links);
        all.filter(|(link, _)| is_router(link.a) && is_router(link.b))
    };
    let id = |node: usize| scenario.nodes[node].id.as_str();
    if links().all(|(link, _)| link.flow_rates_bps.is_none()) {
        return;
    }
    if let Some((link, (_, span))) = links().find(|(link, _)| link.flow_rates_bps.is_none()) {
        let message = format!(
            "link {}-{} has no flow rate, and others have",
            id(link.a),
            id(link.b)
        );
        let label = "add `flow_rate = …`, \"none\" if it is not to be used";
        problems.error(Code::FlowRate, *span, message, label);
        return;
    }
    if routing.text("protocol") != Some("l2.5r") {
        return;
    }
    let mut ways: Vec<Vec<usize>> = vec![Vec::new(); scenario.nodes.len()];
    for (link, _) in links() {
        let [there, back] = link.flow_rates_bps.unwrap_or_default();
        if there > 0 {
            ways[link.a].push(link.b);
        }
        if back > 0 {
            ways[link.b].push(link.a);
        }
    }
    let mut pairs: BTreeMap<usize, BTreeSet<usize>> = BTreeMap::new();
    let place = routing.place("protocol", Span::default());
    for (from, to, is_tcp) in flows::router_pairs(scenario, place, problems) {
        pairs.entry(from).or_default().insert(to);
        if is_tcp {
            pairs.entry(to).or_default().insert(from);
        }
    }
    for (from, targets) in pairs {
        if !problems.go_on() {
            return;
        }
        let reached = distances(&ways, from);
        if let Some(to) = targets.into_iter().find(|to| reached[*to].is_none()) {
            let message = format!(
                "no links with a flow rate lead from \"{}\" to \"{}\"",
                id(from),
                id(to)
            );
            let label = if scenario.assignment.is_some() {
                "L2.5R would drop all packets: add the pair to the demands"
            } else {
                "L2.5R would drop all packets: give more links a flow rate"
            };
            problems.error(Code::FlowRate, place, message, label);
            return;
        }
    }
}
