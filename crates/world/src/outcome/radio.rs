//! What came of a radio access network: a row for each UE, and for each MCS that it used.

use backlane_engine::{Interrupt, Watch};
use backlane_lte::Ran;
use backlane_lte::readings::{DirectionReadings, UeReadings};
use backlane_lte::rlc::Direction;
use backlane_record::Table;

use super::STEPS_PER_ROW;
use crate::build::World;
use crate::radio::Radio;

/// One row for each UE; columns without a direction in their name are those of the downlink.
pub(super) fn ues(world: &World, watch: &mut Watch<'_>) -> Result<Table, Interrupt> {
    let mut table = Table::new();
    let Some((radio, ran)) = world.ran() else {
        return Ok(table);
    };
    for (index, node) in radio.ues.iter().enumerate() {
        watch.tick(STEPS_PER_ROW)?;
        let readings = ran.ue_readings(index);
        let (down, up) = (&readings.downlink, &readings.uplink);
        let rlc = ran.rlc_counters(index, Direction::Down);
        let upwards = ran.rlc_counters(index, Direction::Up);
        table.push([
            ("ue", world.nodes[node.index()].id.as_str().into()),
            ("serving", serving(world, radio, ran, index).into()),
            (
                "sinr_mean_db",
                per_report(readings, readings.sinr_db_sum).into(),
            ),
            (
                "cqi_mean",
                per_report(readings, readings.cqi_sum as f64).into(),
            ),
            ("mcs_mean", mean(down.mcs_sum, down.transport_blocks).into()),
            ("granted_bytes", down.granted_bytes.into()),
            ("used_bytes", down.used_bytes.into()),
            ("transport_blocks", down.transport_blocks.into()),
            (
                "bler_first",
                mean(down.first_losses, down.transport_blocks).into(),
            ),
            ("harq_retransmissions", down.retransmitted_blocks().into()),
            ("lost_blocks", down.lost_blocks.into()),
            ("handovers", u64::from(readings.handovers).into()),
            (
                "radio_link_failures",
                u64::from(readings.radio_link_failures).into(),
            ),
            ("rlc_drops", rlc.drops.into()),
            ("rlc_losses", rlc.losses.into()),
            ("rlc_retransmissions", rlc.retransmitted_pdus.into()),
            ("pdcp_delay_mean_s", down.delays.mean_s().into()),
            ("pdcp_delay_p50_s", down.delays.quantile_s(0.5).into()),
            ("pdcp_delay_p95_s", down.delays.quantile_s(0.95).into()),
            ("pdcp_delay_max_s", longest_s(down).into()),
            (
                "uplink_mcs_mean",
                mean(up.mcs_sum, up.transport_blocks).into(),
            ),
            ("uplink_granted_bytes", up.granted_bytes.into()),
            ("uplink_used_bytes", up.used_bytes.into()),
            ("uplink_transport_blocks", up.transport_blocks.into()),
            (
                "uplink_bler_first",
                mean(up.first_losses, up.transport_blocks).into(),
            ),
            (
                "uplink_harq_retransmissions",
                up.retransmitted_blocks().into(),
            ),
            ("uplink_lost_blocks", up.lost_blocks.into()),
            ("uplink_rlc_drops", upwards.drops.into()),
            ("uplink_pdcp_delay_mean_s", up.delays.mean_s().into()),
            ("uplink_pdcp_delay_p95_s", up.delays.quantile_s(0.95).into()),
            ("uplink_pdcp_delay_max_s", longest_s(up).into()),
        ]);
    }
    Ok(table)
}

/// One row for each UE, direction and MCS that a transport block was sent with.
pub(super) fn mcs(world: &World, watch: &mut Watch<'_>) -> Result<Table, Interrupt> {
    let mut table = Table::new();
    let Some((radio, ran)) = world.ran() else {
        return Ok(table);
    };
    for (index, node) in radio.ues.iter().enumerate() {
        watch.tick(STEPS_PER_ROW)?;
        let readings = ran.ue_readings(index);
        for (direction, readings) in [("down", &readings.downlink), ("up", &readings.uplink)] {
            for (mcs, sent) in readings.by_mcs.iter().enumerate() {
                if sent.ttis == 0 {
                    continue;
                }
                table.push([
                    ("ue", world.nodes[node.index()].id.as_str().into()),
                    ("direction", direction.into()),
                    ("mcs", (mcs as u64).into()),
                    ("ttis", sent.ttis.into()),
                    ("granted_bytes", sent.granted_bytes.into()),
                    ("used_bytes", sent.used_bytes.into()),
                ]);
            }
        }
    }
    Ok(table)
}

/// The name of the eNodeB that serves a UE.
fn serving<'a>(world: &'a World, radio: &Radio, ran: &Ran, ue: usize) -> &'a str {
    let enodeb = radio.enodebs[ran.serving_cell(ue)];
    &world.nodes[enodeb.index()].id
}

fn per_report(readings: &UeReadings, sum: f64) -> Option<f64> {
    (readings.reports > 0).then(|| sum / readings.reports as f64)
}

fn mean(sum: u64, count: u64) -> Option<f64> {
    (count > 0).then(|| sum as f64 / count as f64)
}

fn longest_s(readings: &DirectionReadings) -> Option<f64> {
    readings.delays.quantile_s(1.0)
}

/// The two directions of each cell, as those of links: up, then down. A cell has no rate of its
/// own; what waits is what is inside the radio network, on the air or before it.
pub(super) fn cells(world: &World, span_s: f64, ttis: f64, table: &mut Table) {
    let Some((radio, ran)) = world.ran() else {
        return;
    };
    let network = &world.simulation.network;
    for (cell, &enodeb) in radio.enodebs.iter().enumerate() {
        let name = world.nodes[enodeb.index()].id.as_str();
        let below = format!("{name}:ues");
        let down_prbs: u64 = (0..radio.carrier_prbs.len())
            .map(|carrier| ran.cell_readings(carrier, cell).downlink_prbs)
            .sum();
        let up_prbs = ran.cell_readings(0, cell).uplink_prbs;
        let all_prbs: u64 = radio.carrier_prbs.iter().sum();
        let [up, down] = network.access_counters(enodeb);
        for (from, to, carried, prbs, of_prbs) in [
            (below.as_str(), name, up, up_prbs, radio.carrier_prbs[0]),
            (name, below.as_str(), down, down_prbs, all_prbs),
        ] {
            let share = prbs as f64 / (of_prbs as f64 * ttis.max(1.0));
            let area = carried.area as f64 / 1e12;
            table.push([
                ("from", from.into()),
                ("to", to.into()),
                ("rate_bps", None::<u64>.into()),
                ("delay_s", None::<f64>.into()),
                ("bytes", carried.bytes.into()),
                ("packets", carried.packets.into()),
                ("drops", carried.drops.into()),
                ("marks", 0_u64.into()),
                ("utilisation", share.min(1.0).into()),
                (
                    "queue_mean_bytes",
                    if span_s > 0.0 { area / span_s } else { 0.0 }.into(),
                ),
                ("queue_max_bytes", None::<u64>.into()),
                ("channel", None::<u64>.into()),
            ]);
        }
    }
}
