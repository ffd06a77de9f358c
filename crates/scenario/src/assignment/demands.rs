//! The demands over the mesh.

use std::collections::{BTreeMap, VecDeque};

use backlane_assignment as fcra;

use super::asked::Asked;
use crate::codes::Code;
use crate::diagnostic::Span;
use crate::flows;
use crate::model::Link;
use crate::problems::Problems;
use crate::spec::nearest;
use crate::tree::Table;

/// More demands than this take too long.
const MOST_DEMANDS: usize = 500;

/// The demands, with their places in the file.
pub(super) struct Demands {
    pub(super) list: Vec<fcra::Demand>,
    pub(super) places: Vec<Span>,
    /// The place of the first one with a rate.
    pub(super) required: Option<Span>,
}

impl Demands {
    /// Those that the section lists, or else those of the flows.
    pub(super) fn read(asked: &Asked<'_>, problems: &mut Problems) -> Option<Self> {
        let mut demands = Self {
            list: Vec::new(),
            places: Vec::new(),
            required: None,
        };
        let before = problems.error_count();
        let ack_share = asked.config.ack_share;
        let flow_rates = asked.config.flow_rates;
        if let Some(listed) = &asked.config.demands {
            for (demand, (row, span)) in listed.iter().zip(asked.table.tables("demands")) {
                if !problems.go_on() {
                    return None;
                }
                demands.listed(asked, demand, (row, span), problems);
            }
        } else {
            demands.of_flows(asked, ack_share, problems);
        }
        if let Some(place) = demands.required
            && flow_rates != fcra::FlowRateSource::Throughput
        {
            let message = "only the linear program meets demands with a rate";
            let label = "remove it, or write flow_rates = \"throughput\"";
            problems.error(Code::BadDemand, place, message, label);
        }
        let needs_demands = matches!(
            flow_rates,
            fcra::FlowRateSource::Throughput | fcra::FlowRateSource::Paths
        );
        if needs_demands && demands.list.is_empty() && problems.error_count() == before {
            let message = "nobody sends over the mesh, so that its links have nothing to carry";
            let label = "add flows or `demands`, or write flow_rates = \"equal\"";
            problems.error(Code::BadDemand, asked.span, message, label);
        } else if demands.list.len() > MOST_DEMANDS {
            let message = format!("there are more than {MOST_DEMANDS} demands");
            let label = format!("at most {MOST_DEMANDS} are possible");
            problems.error(Code::BadDemand, asked.span, message, label);
        }
        (problems.error_count() == before).then_some(demands)
    }

    fn listed(
        &mut self,
        asked: &Asked<'_>,
        demand: &fcra::NamedDemand,
        (row, span): (&Table, Span),
        problems: &mut Problems,
    ) {
        let mut end = |key: &str, name: &str| {
            let nodes = &asked.scenario.nodes;
            let Some(node) = nodes.iter().position(|node| node.id == name) else {
                let message = format!("there is no node \"{name}\"");
                let label = match nearest(name, nodes.iter().map(|node| node.id.as_str())) {
                    Some(nearest) => format!("did you mean \"{nearest}\"?"),
                    None => "name a node of the topology".to_owned(),
                };
                problems.error(Code::UnknownNode, row.place(key, span), message, label);
                return None;
            };
            Some(flows::router_of(asked.scenario, node))
        };
        let (Some(from), Some(to)) = (end("from", &demand.from.0), end("to", &demand.to.0)) else {
            return;
        };
        let (from, to) = asked.over_radios(from, to);
        if from == to {
            let message = format!("the demand begins and ends at \"{}\"", asked.id(from));
            problems.error(Code::BadDemand, span, message, "name two routers");
            return;
        }
        if demand.rate.is_some() {
            self.required.get_or_insert(row.place("rate", span));
        }
        self.list.push(fcra::Demand {
            from,
            to,
            rate_bps: demand.rate.map(|rate| rate.as_bps() as f64),
            reverse_share: asked.config.ack_share,
        });
        self.places.push(span);
    }

    /// Each pair of routers with flows between them, once; reverse traffic is that of TCP.
    fn of_flows(&mut self, asked: &Asked<'_>, ack_share: f64, problems: &mut Problems) {
        let mut pairs: BTreeMap<(usize, usize), bool> = BTreeMap::new();
        let mut order = Vec::new();
        for (from, to, is_tcp) in flows::router_pairs(asked.scenario, asked.span, problems) {
            if !problems.go_on() {
                return;
            }
            let (from, to) = asked.over_radios(from, to);
            if from == to {
                continue;
            }
            pairs
                .entry((from, to))
                .and_modify(|tcp| *tcp |= is_tcp)
                .or_insert_with(|| {
                    order.push((from, to));
                    is_tcp
                });
            if order.len() > MOST_DEMANDS {
                break;
            }
        }
        for pair in order {
            self.list.push(fcra::Demand {
                from: pair.0,
                to: pair.1,
                rate_bps: None,
                reverse_share: if pairs[&pair] { ack_share } else { 0.0 },
            });
            self.places.push(asked.span);
        }
    }
}

impl Asked<'_> {
    /// The part of the path between two routers that uses radios. A router without radios, such as
    /// a gateway, is reached by wires: of the routers with radios that these lead to, the one
    /// nearest to the other end stands for it.
    fn over_radios(&self, from: usize, to: usize) -> (usize, usize) {
        let (starts, ends) = (self.by_wire(from), self.by_wire(to));
        let mut best: Option<(usize, usize, usize)> = None;
        for &start in &starts {
            let hops = self.hops(start, |link| link.radio().is_some());
            for &end in &ends {
                let Some(hops) = hops[end] else { continue };
                if best.is_none_or(|(least, ..)| hops < least) {
                    best = Some((hops, start, end));
                }
            }
        }
        best.map_or((from, to), |(_, start, end)| (start, end))
    }

    /// The router itself if it has links over radios, or else those that wires lead to.
    fn by_wire(&self, router: usize) -> Vec<usize> {
        let links = || self.links.iter().map(|link| &self.scenario.links[*link]);
        let has_radio = |node: usize| links().any(|link| link.a == node || link.b == node);
        if has_radio(router) {
            return vec![router];
        }
        let hops = self.hops(router, |link| link.wire().is_some());
        (0..hops.len())
            .filter(|node| hops[*node].is_some() && has_radio(*node))
            .collect()
    }

    /// Links from a node to each other one over links of a kind.
    fn hops(&self, from: usize, leads: impl Fn(&Link) -> bool) -> Vec<Option<usize>> {
        let mut ways = vec![Vec::new(); self.scenario.nodes.len()];
        for link in self.scenario.links.iter().filter(|link| leads(link)) {
            ways[link.a].push(link.b);
            ways[link.b].push(link.a);
        }
        distances(&ways, from)
    }
}

/// Steps from a node to each that they lead to.
pub(super) fn distances(ways: &[Vec<usize>], from: usize) -> Vec<Option<usize>> {
    let mut distances = vec![None; ways.len()];
    distances[from] = Some(0);
    let mut next = VecDeque::from([(from, 0)]);
    while let Some((node, distance)) = next.pop_front() {
        for &other in &ways[node] {
            if distances[other].is_none() {
                distances[other] = Some(distance + 1);
                next.push_back((other, distance + 1));
            }
        }
    }
    distances
}
