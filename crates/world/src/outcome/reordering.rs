//! The measures of reordering, in runs with `[record] reordering = true`.

use std::collections::BTreeMap;

use backlane_engine::{Interrupt, Watch};
use backlane_record::{Rows, Table, table};
use backlane_traffic::ReorderingReadings;

use super::STEPS_PER_ROW;
use crate::world::World;

table! {
    /// Further columns with `[record] reordering = true`; each packet that leaves the source
    /// counts, retransmissions as packets of their own.
    pub(super) struct FlowReorderingRow in "flows" {
        /// Mean reordering extent (RFC 4737 §4.2): arrivals since the first packet that overtook.
        reorder_extent_mean_pkts: Option<f64>, "packets";
        /// Largest reordering extent, at most the threshold.
        reorder_extent_max_pkts: Option<f64>, "packets";
        /// Share of packets that are n-reordered with n of 3 or more (RFC 4737 §5.3).
        n_reordered_3_ratio: Option<f64>, "1";
        /// Mean late time of the reordered packets (RFC 4737 §4.3).
        reorder_late_mean_s: Option<f64>, "s";
        /// Largest late time.
        reorder_late_max_s: Option<f64>, "s";
        /// Mean absolute displacement (RFC 5236).
        reorder_displacement_mean_pkts: Option<f64>, "packets";
        /// Packets in neither density: displaced beyond the threshold and counted as lost.
        reorder_discarded_pkts: f64, "packets";
    }
}

table! {
    /// One row for each flow and number of packets, with `[record] reordering = true`: the
    /// densities of RFC 5236.
    pub(super) struct DensityRow in "reordering" {
        /// Name of the flow.
        flow: String;
        /// Displacement, negative for early packets; in `occupancy` the number of packets in the
        /// buffer.
        displacement_pkts: f64, "packets";
        /// Share of packets with this displacement.
        density: f64, "1";
        /// Share of arrivals after which the buffer that restores the order holds this many packets;
        /// null below zero.
        occupancy: Option<f64>, "1";
    }
}

/// The flows that have started, by name.
fn measured(world: &World) -> impl Iterator<Item = (&str, ReorderingReadings)> {
    (world.flows.iter())
        .zip(world.simulation.application.flows())
        .filter(|(_, flow)| flow.start.is_some())
        .filter_map(|(info, flow)| Some((info.name.as_str(), flow.reordering.as_ref()?.readings())))
}

pub(super) fn of_flows(world: &World, watch: &mut Watch<'_>) -> Result<Table, Interrupt> {
    let mut rows = Rows::new();
    for (_, readings) in measured(world) {
        watch.tick(STEPS_PER_ROW)?;
        let any = readings.reordered > 0;
        rows.push(FlowReorderingRow {
            reorder_extent_mean_pkts: readings.extent_mean_pkts,
            reorder_extent_max_pkts: any.then_some(readings.extent_max_pkts as f64),
            n_reordered_3_ratio: readings.n_reordered_3_ratio,
            reorder_late_mean_s: readings.late_mean_s,
            reorder_late_max_s: any.then_some(readings.late_max_s),
            reorder_displacement_mean_pkts: readings.displacement_mean_pkts,
            reorder_discarded_pkts: readings.discarded as f64,
        });
    }
    Ok(rows.into_table())
}

pub(super) fn densities(world: &World, watch: &mut Watch<'_>) -> Result<Table, Interrupt> {
    let mut rows = Rows::new();
    for (name, readings) in measured(world) {
        let mut shares: BTreeMap<i64, [f64; 2]> = BTreeMap::new();
        for (displacement, share) in readings.density {
            shares.entry(displacement).or_default()[0] = share;
        }
        for (places, share) in readings.occupancy {
            shares.entry(places as i64).or_default()[1] = share;
        }
        for (displacement, [density, occupancy]) in shares {
            watch.tick(1)?;
            rows.push(DensityRow {
                flow: name.to_owned(),
                displacement_pkts: displacement as f64,
                density,
                occupancy: (displacement >= 0).then_some(occupancy),
            });
        }
    }
    Ok(rows.into_table())
}
