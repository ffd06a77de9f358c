//! The tables of a slotted model. A slot counts as one second.

use backlane_record::{Rows, Table, table};
use backlane_slotted::{Config, Model};

use crate::outcome::flows::FlowRow;
use crate::outcome::links::{LinkRow, NodeRow};

/// The row of `slotted` with the sums over all flows.
pub const ALL: &str = "all";

table! {
    /// One row for each flow of a slotted model, and one row `all` with the sums. Counted after the
    /// warm-up, per slot.
    pub(crate) struct SlottedRow in "slotted" {
        /// Name of the flow, or `all`.
        flow: String;
        /// Packets per slot that arrived at the source.
        arrived_pkts: f64, "packets";
        /// Packets per slot that reached the destination.
        throughput_pkts: f64, "packets";
        /// Mean number of packets in all queues.
        backlog_mean_pkts: f64, "packets";
        /// Mean number of packets at the source.
        source_backlog_mean_pkts: f64, "packets";
        /// Packets dropped from a full buffer at the source.
        drops_at_source: u64;
        /// Packets dropped from a full buffer elsewhere.
        drops_in_transit: u64;
        /// Share of slots in which a packet left the source; null for `all`.
        served_ratio: Option<f64>, "1";
        /// Share of slots in which one packet waited at the source; null for `all`.
        single_ratio: Option<f64>, "1";
        /// Natural logarithm of the throughput, summed over flows for `all`; null if a flow
        /// delivered nothing.
        utility: Option<f64>;
        /// Trend of the sum of all queues over the second half, per slot; only for `all`.
        backlog_slope_pkts: Option<f64>, "packets";
        /// Standard error of this trend.
        backlog_slope_error_pkts: Option<f64>, "packets";
    }
}

table! {
    /// One row for each pair of rates of a map of stability (`[slotted.region]`).
    pub(crate) struct RegionRow in "region" {
        /// Packets per slot of the first flow.
        x_rate_pkts: f64, "packets";
        /// Packets per slot of the second flow.
        y_rate_pkts: f64, "packets";
        /// Packets per slot that all flows delivered.
        throughput_pkts: f64, "packets";
        /// Mean number of packets in all queues.
        backlog_mean_pkts: f64, "packets";
        /// Trend of the sum of all queues over the second half, per slot.
        backlog_slope_pkts: Option<f64>, "packets";
        /// Standard error of this trend.
        backlog_slope_error_pkts: Option<f64>, "packets";
    }
}

table! {
    /// One row for each flow of a slotted model and sample (`sample_slots`).
    pub(crate) struct SampleRow in "series/slotted" {
        /// Name of the flow.
        entity: String;
        /// Slot.
        time_s: f64, "s";
        /// Window of the source; null without one.
        window_pkts: Option<f64>, "packets";
        /// Packets of the flow at the source.
        queue_pkts: f64, "packets";
        /// Packets of the flow in all queues.
        backlog_pkts: f64, "packets";
    }
}

pub(super) fn sample(model: &Model, config: &Config, samples: &mut Rows<SampleRow>) {
    for (index, flow) in config.flow.iter().enumerate() {
        samples.push(SampleRow {
            entity: flow.label(),
            time_s: model.slot() as f64,
            window_pkts: model.window_pkts(index),
            queue_pkts: model.source_queue_pkts(index) as f64,
            backlog_pkts: model.backlog_pkts(index) as f64,
        });
    }
}

/// The model knows neither bytes nor times of flows.
pub(super) fn flows(config: &Config, model: &Model) -> Table {
    let mut rows = Rows::new();
    for (flow, seen) in config.flow.iter().zip(model.statistics()) {
        rows.push(FlowRow {
            flow: flow.label(),
            kind: flow.arrivals.word(),
            source: flow.from.0.clone(),
            destination: flow.to.0.clone(),
            packets_sent: seen.injected_pkts,
            packets_received: seen.delivered_pkts,
            ..FlowRow::default()
        });
    }
    rows.into_table().without(&[
        "undos",
        "spurious_rtos",
        "duplicate_acks",
        "reordering_pkts",
        "reordering_max_pkts",
        "cwnd_mean_pkts",
        "in_flight_mean_pkts",
        "slow_start_exit",
        "slow_start_exit_s",
        "slow_start_exit_pkts",
        "slow_start_segments",
        "bursts",
        "burst_mean_pkts",
        "longest_silence_s",
        "digest",
    ])
}

pub(super) fn links(config: &Config, model: &Model) -> Table {
    let mut rows = Rows::new();
    for (link, &packets) in config.link.iter().zip(model.carried_pkts()) {
        let capacity_pkts = config.slots as f64 * f64::from(link.rate_pkts);
        rows.push(LinkRow {
            from: link.from.0.clone(),
            to: link.to.0.clone(),
            packets,
            utilisation: packets as f64 / capacity_pkts,
            ..LinkRow::default()
        });
    }
    rows.into_table().without(&["channel"])
}

pub(super) fn nodes(model: &Model) -> Table {
    let mut rows = Rows::new();
    for node in model.nodes() {
        rows.push(NodeRow {
            id: node.clone(),
            kind: "router",
            ..NodeRow::default()
        });
    }
    rows.into_table()
        .without(&["drops", "queue_mean_bytes", "queue_max_bytes"])
}

/// The measures after the warm-up: a row for each flow and one for all.
pub(super) fn measured(config: &Config, model: &Model) -> Table {
    let mut rows = Rows::new();
    let slots = config.slots as f64;
    let slope = model.slope();
    let mut all = SlottedRow {
        flow: ALL.to_owned(),
        backlog_slope_pkts: slope.map(|slope| slope.slope),
        backlog_slope_error_pkts: slope.map(|slope| slope.standard_error),
        ..SlottedRow::default()
    };
    let mut utility_of_all = 0.0;
    for (flow, seen) in config.flow.iter().zip(model.statistics()) {
        let throughput_pkts = seen.delivered_pkts as f64 / slots;
        // Infinite if nothing was delivered.
        let utility = libm::log(throughput_pkts);
        let row = SlottedRow {
            flow: flow.label(),
            arrived_pkts: seen.injected_pkts as f64 / slots,
            throughput_pkts,
            backlog_mean_pkts: seen.backlog_sum_pkts as f64 / slots,
            source_backlog_mean_pkts: seen.source_backlog_sum_pkts as f64 / slots,
            drops_at_source: seen.dropped_at_source_pkts,
            drops_in_transit: seen.dropped_in_transit_pkts,
            served_ratio: Some(seen.served_slots as f64 / slots),
            single_ratio: Some(seen.single_slots as f64 / slots),
            utility: Some(utility).filter(|utility| utility.is_finite()),
            ..SlottedRow::default()
        };
        all.arrived_pkts += row.arrived_pkts;
        all.throughput_pkts += row.throughput_pkts;
        all.backlog_mean_pkts += row.backlog_mean_pkts;
        all.source_backlog_mean_pkts += row.source_backlog_mean_pkts;
        all.drops_at_source += row.drops_at_source;
        all.drops_in_transit += row.drops_in_transit;
        utility_of_all += utility;
        rows.push(row);
    }
    all.utility = Some(utility_of_all).filter(|utility| utility.is_finite());
    rows.push(all);
    rows.into_table()
}
