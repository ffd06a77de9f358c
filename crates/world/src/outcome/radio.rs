//! The tables of a radio access network: UEs, and the MCS that they used.

use backlane_engine::{Interrupt, Watch};
use backlane_lte::Ran;
use backlane_lte::readings::{DirectionReadings, UeReadings};
use backlane_lte::rlc::Direction;
use backlane_record::{Rows, Table, table};

use super::STEPS_PER_ROW;
use crate::ran::Radio;
use crate::world::World;

table! {
    /// One row for each UE with LTE access, warm-up included. Columns without `uplink` are those of
    /// the downlink.
    pub(crate) struct UeRow in "radio" {
        /// Name of the UE.
        ue: String;
        /// eNodeB that serves it at the end.
        serving: String;
        /// Mean SINR over the reports of the primary carrier.
        sinr_mean_db: Option<f64>, "dB";
        /// Mean wideband CQI over these reports.
        cqi_mean: Option<f64>;
        /// Mean MCS index of transport blocks.
        mcs_mean: Option<f64>;
        /// Bytes of transport blocks.
        granted_bytes: u64, "B";
        /// Bytes of RLC in them.
        used_bytes: u64, "B";
        /// Transport blocks sent for the first time.
        transport_blocks: u64;
        /// Share of them whose first transmission was not decoded.
        bler_first: Option<f64>, "1";
        /// Retransmissions of HARQ.
        harq_retransmissions: u64;
        /// Transport blocks that HARQ did not deliver.
        lost_blocks: u64;
        /// Handovers.
        handovers: u64;
        /// Radio link failures.
        radio_link_failures: u64;
        /// Packets dropped by the RLC buffer.
        rlc_drops: u64;
        /// Packets lost after RLC sent them.
        rlc_losses: u64;
        /// PDUs and segments that RLC retransmitted.
        rlc_retransmissions: u64;
        /// Mean delay from PDCP to PDCP.
        pdcp_delay_mean_s: Option<f64>, "s";
        /// Median of this delay.
        pdcp_delay_p50_s: Option<f64>, "s";
        /// 95th percentile of this delay.
        pdcp_delay_p95_s: Option<f64>, "s";
        /// Largest delay.
        pdcp_delay_max_s: Option<f64>, "s";
        /// Mean MCS index of uplink transport blocks.
        uplink_mcs_mean: Option<f64>;
        /// Bytes of uplink transport blocks.
        uplink_granted_bytes: u64, "B";
        /// Bytes of RLC in them.
        uplink_used_bytes: u64, "B";
        /// Uplink transport blocks sent for the first time.
        uplink_transport_blocks: u64;
        /// Share of them whose first transmission was not decoded.
        uplink_bler_first: Option<f64>, "1";
        /// Uplink retransmissions of HARQ.
        uplink_harq_retransmissions: u64;
        /// Uplink transport blocks that HARQ did not deliver.
        uplink_lost_blocks: u64;
        /// Packets dropped by the RLC buffer of the UE.
        uplink_rlc_drops: u64;
        /// Mean uplink delay from PDCP to PDCP.
        uplink_pdcp_delay_mean_s: Option<f64>, "s";
        /// 95th percentile of this delay.
        uplink_pdcp_delay_p95_s: Option<f64>, "s";
        /// Largest uplink delay.
        uplink_pdcp_delay_max_s: Option<f64>, "s";
    }
}

table! {
    /// One row for each UE with LTE access, direction, and MCS of a transport block, warm-up
    /// included.
    pub(crate) struct McsRow in "mcs" {
        /// Name of the UE.
        ue: String;
        /// `down` or `up`.
        direction: &'static str;
        /// MCS index.
        mcs: u64 as Float;
        /// TTIs with a first transmission of this MCS, on any carrier.
        ttis: u64;
        /// Bytes of these transport blocks.
        granted_bytes: u64, "B";
        /// Bytes of RLC in them.
        used_bytes: u64, "B";
    }
}

pub(super) fn ues(world: &World, watch: &mut Watch<'_>) -> Result<Table, Interrupt> {
    let mut rows = Rows::new();
    let Some((radio, ran)) = world.ran() else {
        return Ok(rows.into_table());
    };
    for (index, node) in radio.ues.iter().enumerate() {
        watch.tick(STEPS_PER_ROW)?;
        let readings = ran.ue_readings(index);
        let (down, up) = (&readings.downlink, &readings.uplink);
        let rlc = ran.rlc_counters(index, Direction::Down);
        let upwards = ran.rlc_counters(index, Direction::Up);
        rows.push(UeRow {
            ue: world.nodes[node.index()].id.clone(),
            serving: serving(world, radio, ran, index).to_owned(),
            sinr_mean_db: per_report(readings, readings.sinr_db_sum),
            cqi_mean: per_report(readings, readings.cqi_sum as f64),
            mcs_mean: mean(down.mcs_sum, down.transport_blocks),
            granted_bytes: down.granted_bytes,
            used_bytes: down.used_bytes,
            transport_blocks: down.transport_blocks,
            bler_first: mean(down.first_losses, down.transport_blocks),
            harq_retransmissions: down.retransmitted_blocks(),
            lost_blocks: down.lost_blocks,
            handovers: u64::from(readings.handovers),
            radio_link_failures: u64::from(readings.radio_link_failures),
            rlc_drops: rlc.drops,
            rlc_losses: rlc.losses,
            rlc_retransmissions: rlc.retransmitted_pdus,
            pdcp_delay_mean_s: down.delays.mean_s(),
            pdcp_delay_p50_s: down.delays.quantile_s(0.5),
            pdcp_delay_p95_s: down.delays.quantile_s(0.95),
            pdcp_delay_max_s: longest_s(down),
            uplink_mcs_mean: mean(up.mcs_sum, up.transport_blocks),
            uplink_granted_bytes: up.granted_bytes,
            uplink_used_bytes: up.used_bytes,
            uplink_transport_blocks: up.transport_blocks,
            uplink_bler_first: mean(up.first_losses, up.transport_blocks),
            uplink_harq_retransmissions: up.retransmitted_blocks(),
            uplink_lost_blocks: up.lost_blocks,
            uplink_rlc_drops: upwards.drops,
            uplink_pdcp_delay_mean_s: up.delays.mean_s(),
            uplink_pdcp_delay_p95_s: up.delays.quantile_s(0.95),
            uplink_pdcp_delay_max_s: longest_s(up),
        });
    }
    Ok(rows.into_table())
}

pub(super) fn mcs(world: &World, watch: &mut Watch<'_>) -> Result<Table, Interrupt> {
    let mut rows = Rows::new();
    let Some((radio, ran)) = world.ran() else {
        return Ok(rows.into_table());
    };
    for (index, node) in radio.ues.iter().enumerate() {
        watch.tick(STEPS_PER_ROW)?;
        let readings = ran.ue_readings(index);
        for (direction, readings) in [("down", &readings.downlink), ("up", &readings.uplink)] {
            for (mcs, sent) in readings.by_mcs.iter().enumerate() {
                if sent.ttis == 0 {
                    continue;
                }
                rows.push(McsRow {
                    ue: world.nodes[node.index()].id.clone(),
                    direction,
                    mcs: (mcs as u64),
                    ttis: sent.ttis,
                    granted_bytes: sent.granted_bytes,
                    used_bytes: sent.used_bytes,
                });
            }
        }
    }
    Ok(rows.into_table())
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
