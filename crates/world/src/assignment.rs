//! What an assignment gave the links over radios, and the flow rates that L2.5R sends by.

use backlane_record::Table;

use crate::build::Builder;

impl Builder<'_> {
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
