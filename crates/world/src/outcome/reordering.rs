//! How far the packets of flows were out of order, where that was measured.

use std::collections::BTreeMap;

use backlane_engine::{Interrupt, Watch};
use backlane_record::Table;
use backlane_traffic::ReorderingReadings;

use super::STEPS_PER_ROW;
use crate::build::World;

/// The flows that have started, by name.
fn measured(world: &World) -> impl Iterator<Item = (&str, ReorderingReadings)> {
    (world.flows.iter())
        .zip(world.simulation.application.flows())
        .filter(|(_, flow)| flow.start.is_some())
        .filter_map(|(info, flow)| Some((info.name.as_str(), flow.reordering.as_ref()?.readings())))
}

/// Further columns of the table of flows, a row for each that has started.
pub(super) fn of_flows(world: &World, watch: &mut Watch<'_>) -> Result<Table, Interrupt> {
    let mut table = Table::new();
    for (_, readings) in measured(world) {
        watch.tick(STEPS_PER_ROW)?;
        let any = readings.reordered > 0;
        table.push([
            ("reorder_extent_mean_pkts", readings.extent_mean_pkts.into()),
            (
                "reorder_extent_max_pkts",
                any.then_some(readings.extent_max_pkts as f64).into(),
            ),
            ("n_reordered_3_ratio", readings.n_reordered_3_ratio.into()),
            ("reorder_late_mean_s", readings.late_mean_s.into()),
            (
                "reorder_late_max_s",
                any.then_some(readings.late_max_s).into(),
            ),
            (
                "reorder_displacement_mean_pkts",
                readings.displacement_mean_pkts.into(),
            ),
            ("reorder_discarded_pkts", (readings.discarded as f64).into()),
        ]);
    }
    Ok(table)
}

/// One row for each flow and number of packets that is a displacement or an occupancy of it.
pub(super) fn densities(world: &World, watch: &mut Watch<'_>) -> Result<Table, Interrupt> {
    let mut table = Table::new();
    for (name, readings) in measured(world) {
        let mut rows: BTreeMap<i64, [f64; 2]> = BTreeMap::new();
        for (displacement, share) in readings.density {
            rows.entry(displacement).or_default()[0] = share;
        }
        for (places, share) in readings.occupancy {
            rows.entry(places as i64).or_default()[1] = share;
        }
        for (displacement, [density, occupancy]) in rows {
            watch.tick(1)?;
            table.push([
                ("flow", name.into()),
                ("displacement_pkts", (displacement as f64).into()),
                ("density", density.into()),
                ("occupancy", (displacement >= 0).then_some(occupancy).into()),
            ]);
        }
    }
    Ok(table)
}
