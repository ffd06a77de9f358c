//! What came of the routers of a mesh: a row for each 802.11 radio, and one for each router's
//! protocol.

use backlane_engine::{Interrupt, Watch};
use backlane_net::NodeId;
use backlane_record::Table;
use backlane_routing::readings::{self, reading};
use backlane_units::SimTime;

use super::STEPS_PER_ROW;
use crate::build::World;

const PS_PER_S: f64 = 1e12;

/// One row for each radio, warm-up included.
pub(super) fn radios(
    world: &World,
    now: SimTime,
    watch: &mut Watch<'_>,
) -> Result<Table, Interrupt> {
    let mut table = Table::new();
    let Some((radios, medium)) = world.medium() else {
        return Ok(table);
    };
    let span_ps = now.as_ps() as f64;
    let share = |time_ps: u128| {
        if span_ps > 0.0 {
            (time_ps as f64 / span_ps).min(1.0)
        } else {
            0.0
        }
    };
    for station in &radios.stations {
        for (number, channel) in station.channels.iter().enumerate() {
            watch.tick(STEPS_PER_ROW)?;
            let readings = medium
                .radio_readings(station.node, number as u8)
                .unwrap_or_default();
            table.push([
                ("node", station.name.as_str().into()),
                ("channel", u64::from(*channel).into()),
                ("frames_sent", readings.frames_sent.into()),
                ("attempts", readings.attempts.into()),
                ("failures", readings.failures.into()),
                ("given_up", readings.given_up.into()),
                ("broadcasts", readings.broadcasts.into()),
                ("received", readings.received.into()),
                ("duplicates", readings.duplicates.into()),
                ("undecoded", readings.undecoded.into()),
                ("sending_share", share(readings.sending_ps).into()),
                ("busy_share", share(readings.busy_ps).into()),
                ("drops", readings.queue_drops.into()),
                (
                    "queue_mean_pkts",
                    (readings.queue_area as f64 / span_ps.max(1.0)).into(),
                ),
                ("queue_max_pkts", f64::from(readings.queue_max_pkts).into()),
            ]);
        }
    }
    Ok(table)
}

/// One row for each router, warm-up included; none where there are neither radios nor messages.
pub(super) fn routers(
    world: &World,
    now: SimTime,
    watch: &mut Watch<'_>,
) -> Result<Table, Interrupt> {
    let mut table = Table::new();
    let network = &world.simulation.network;
    let mut is_empty = world.wifi.is_none();
    for (number, info) in world.nodes.iter().enumerate() {
        let node = NodeId(number as u32);
        let Some(router) = world.simulation.router(node) else {
            continue;
        };
        watch.tick(STEPS_PER_ROW)?;
        let sent = network.messages_sent(node);
        let readings = router.readings(now);
        is_empty &= sent.messages == 0 && readings.iter().all(|&(_, value)| value == 0);
        let count = |name| reading(&readings, name) as u64;
        let trapped_area = reading(&readings, readings::TRAPPED_AREA);
        let mean_pkts = trapped_area as f64 / (now.as_ps() as f64).max(1.0);
        table.push([
            ("node", info.id.as_str().into()),
            ("messages", sent.messages.into()),
            ("message_bytes", sent.bytes.into()),
            (
                "overflow_at_source",
                count(readings::OVERFLOW_AT_SOURCE).into(),
            ),
            (
                "overflow_in_transit",
                count(readings::OVERFLOW_IN_TRANSIT).into(),
            ),
            (
                "route_discoveries",
                count(readings::ROUTE_DISCOVERIES).into(),
            ),
            ("route_repairs", count(readings::ROUTE_REPAIRS).into()),
            ("link_failures", count(readings::LINK_FAILURES).into()),
            (
                "trapped_pkts",
                (count(readings::TRAPPED_PKTS) as f64).into(),
            ),
            ("trapped_mean_pkts", mean_pkts.into()),
        ]);
    }
    Ok(if is_empty { Table::new() } else { table })
}

/// The share of `span_s` that frames took of the air.
pub(super) fn airtime_share(airtime_ps: u128, span_s: f64) -> f64 {
    if span_s > 0.0 {
        airtime_ps as f64 / PS_PER_S / span_s
    } else {
        0.0
    }
}
