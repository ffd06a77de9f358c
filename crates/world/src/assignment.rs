//! The result of a channel assignment, and the flow rates of L2.5R.

use std::collections::BTreeMap;

use backlane_net::LinkId;
use backlane_record::{Rows, Table, table};
use backlane_routing::multipath::FlowRates;

use crate::builder::Builder;
use crate::site::Site;

table! {
    /// One row for each direction of a link over radios, in runs with `[assignment]`.
    pub(crate) struct AssignedRow in "assignment" {
        /// Node that transmits.
        from: String;
        /// Node that receives.
        to: String;
        /// Assigned 802.11 channel.
        channel: Option<u64>;
        /// Rate of the link's frames.
        rate_bps: u64 as Float, "bit/s";
        /// Flow rate that the assignment gave to the link.
        flow_rate_bps: f64, "bit/s";
        /// Share of the time that the flow rates keep its collision domain busy.
        utilisation: f64, "1";
        /// Factor that scales all flow rates so that they can be scheduled, at most 1.
        scale: f64, "1";
    }
}

impl Site<'_, '_, '_> {
    /// The flow rates of L2.5R: those of the file, or equal rates if it has none. Links that the
    /// file does not list have none.
    pub(crate) fn flow_rates(&self) -> FlowRates {
        let links = &self.scenario.links;
        if links.iter().all(|link| link.flow_rates_bps.is_none()) {
            return FlowRates::equal(self.network);
        }
        let mut of_directions = BTreeMap::new();
        for (link, first) in links.iter().zip(self.link_ids) {
            if let (Some([there, back]), Some(first)) = (link.flow_rates_bps, *first) {
                of_directions.insert(first, there as f64);
                of_directions.insert(LinkId(first.0 + 1), back as f64);
            }
        }
        FlowRates::by(self.network, |node, interface| {
            let outgoing = self.network.mesh_interfaces(node)[interface].outgoing;
            of_directions.get(&outgoing).copied().unwrap_or_default()
        })
    }
}

impl Builder<'_> {
    /// A row for each direction of each assigned link; no rows without an assignment.
    pub(crate) fn assigned(&self) -> Table {
        let mut rows = Rows::new();
        let (Some(assignment), Some(radios)) = (&self.scenario.assignment, &self.wifi) else {
            return rows.into_table();
        };
        let id = |node: usize| self.scenario.nodes[node].id.clone();
        for (index, link) in self.scenario.links.iter().enumerate() {
            let (Some(utilisation), Some(first)) =
                (assignment.utilisation[index], self.link_ids[index])
            else {
                continue;
            };
            let [there, back] = link.flow_rates_bps.unwrap_or_default();
            let rate = link.radio().and_then(|radio| radio.rate);
            let rate = rate.unwrap_or(radios.config.data_rate());
            for (from, to, flow_rate_bps) in [(link.a, link.b, there), (link.b, link.a, back)] {
                rows.push(AssignedRow {
                    from: id(from),
                    to: id(to),
                    channel: radios.channel(first).map(u64::from),
                    rate_bps: rate.as_bps(),
                    flow_rate_bps: flow_rate_bps as f64,
                    utilisation,
                    scale: assignment.scale,
                });
            }
        }
        rows.into_table()
    }
}
