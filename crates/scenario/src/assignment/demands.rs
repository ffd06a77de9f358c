//! Who sends to whom over the mesh.

use std::collections::BTreeMap;

use backlane_assignment as fcra;
use backlane_units::Rate;

use super::Asked;
use crate::codes::Code;
use crate::diagnostic::{Problems, Span};
use crate::flows;
use crate::spec::nearest;
use crate::tree::Table;

/// More demands than this take too long.
const MOST_DEMANDS: usize = 500;

/// The demands, with their places in the file.
pub(super) struct Demands {
    pub(super) list: Vec<fcra::Demand>,
    pub(super) places: Vec<Span>,
    /// Where the first one with a rate stands.
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
        let ack_share = asked.table.number("ack_share")?;
        if asked.table.get("demands").is_some() {
            for (row, span) in asked.table.tables("demands") {
                demands.listed(asked, row, span, ack_share, problems);
            }
        } else {
            demands.of_flows(asked, ack_share);
        }
        let needs_demands = matches!(asked.word("flow_rates"), "throughput" | "paths");
        if needs_demands && demands.list.is_empty() && problems.error_count() == before {
            let message = "nobody sends over the mesh, so that its links have nothing to carry";
            let label = "add flows or `demands`, or write flow_rates = \"equal\"";
            problems.error(Code::BadDemand, asked.span, message, label);
        } else if demands.list.len() > MOST_DEMANDS {
            let message = format!("there are {} demands", demands.list.len());
            let label = format!("at most {MOST_DEMANDS} are possible");
            problems.error(Code::BadDemand, asked.span, message, label);
        }
        (problems.error_count() == before).then_some(demands)
    }

    fn listed(
        &mut self,
        asked: &Asked<'_>,
        row: &Table,
        span: Span,
        ack_share: f64,
        problems: &mut Problems,
    ) {
        let mut end = |key: &str| {
            let name = row.text(key)?;
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
        let (Some(from), Some(to)) = (end("from"), end("to")) else {
            return;
        };
        if from == to {
            let message = format!("the demand begins and ends at \"{}\"", asked.id(from));
            problems.error(Code::BadDemand, span, message, "name two routers");
            return;
        }
        let rate: Option<Rate> = row.quantity("rate");
        if rate.is_some() {
            self.required.get_or_insert(row.place("rate", span));
        }
        self.list.push(fcra::Demand {
            from,
            to,
            rate_bps: rate.map(|rate| rate.as_bps() as f64),
            reverse_share: ack_share,
        });
        self.places.push(span);
    }

    /// Each pair of routers between which flows lead, once; what goes back is that of TCP.
    fn of_flows(&mut self, asked: &Asked<'_>, ack_share: f64) {
        let mut pairs: BTreeMap<(usize, usize), bool> = BTreeMap::new();
        let mut order = Vec::new();
        for (from, to, is_tcp) in flows::router_pairs(asked.scenario) {
            pairs
                .entry((from, to))
                .and_modify(|tcp| *tcp |= is_tcp)
                .or_insert_with(|| {
                    order.push((from, to));
                    is_tcp
                });
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
