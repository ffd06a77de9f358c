//! What an assignment gave the links over radios, and the flow rates that L2.5R sends by.

use std::collections::BTreeMap;

use backlane_net::LinkId;
use backlane_record::Table;
use backlane_routing::multipath::FlowRates;

use crate::build::Builder;

impl Builder<'_> {
    /// What L2.5R sends by: the flow rates of the file, or all links alike where it says none.
    /// Links that the file does not list have none.
    pub(crate) fn flow_rates(&self) -> FlowRates {
        let links = &self.scenario.links;
        if links.iter().all(|link| link.flow_rates_bps.is_none()) {
            return FlowRates::equal(&self.network);
        }
        let mut of_directions = BTreeMap::new();
        for (link, first) in links.iter().zip(&self.link_ids) {
            if let (Some([there, back]), Some(first)) = (link.flow_rates_bps, *first) {
                of_directions.insert(first, there as f64);
                of_directions.insert(LinkId(first.0 + 1), back as f64);
            }
        }
        FlowRates::by(&self.network, |node, interface| {
            let outgoing = self.network.mesh_interfaces(node)[interface].outgoing;
            of_directions.get(&outgoing).copied().unwrap_or_default()
        })
    }

    /// A row for each direction of each link that was assigned to; none without an assignment.
    pub(crate) fn assigned(&self) -> Table {
        let mut table = Table::new();
        let (Some(assignment), Some(radios)) = (&self.scenario.assignment, &self.wifi) else {
            return table;
        };
        let id = |node: usize| self.scenario.nodes[node].id.as_str();
        for (index, link) in self.scenario.links.iter().enumerate() {
            let (Some(utilisation), Some(first)) =
                (assignment.utilisation[index], self.link_ids[index])
            else {
                continue;
            };
            let [there, back] = link.flow_rates_bps.unwrap_or_default();
            let rate = link.radio().and_then(|radio| radio.rate);
            let rate = rate.unwrap_or(radios.config.data_rate);
            for (from, to, flow_rate_bps) in [(link.a, link.b, there), (link.b, link.a, back)] {
                table.push([
                    ("from", id(from).into()),
                    ("to", id(to).into()),
                    ("channel", radios.channel(first).map(u64::from).into()),
                    ("rate_bps", rate.as_bps().into()),
                    ("flow_rate_bps", (flow_rate_bps as f64).into()),
                    ("utilisation", utilisation.into()),
                    ("scale", assignment.scale.into()),
                ]);
            }
        }
        table
    }
}
