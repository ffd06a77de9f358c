//! The tables of a mesh: 802.11 radios, and routing protocols.

use backlane_engine::{Interrupt, Watch};
use backlane_net::NodeId;
use backlane_record::{Rows, Table, table};
use backlane_routing::readings::{self, reading};
use backlane_units::SimTime;

use super::STEPS_PER_ROW;
use crate::world::World;

table! {
    /// One row for each 802.11 radio, warm-up included.
    pub(super) struct RadioRow in "wifi" {
        /// Node of the radio.
        node: String;
        /// 802.11 channel.
        channel: u64;
        /// Frames sent, of all kinds.
        frames_sent: u64;
        /// Attempts to send a frame to one neighbour; with RTS, the RTS and what follows.
        attempts: u64;
        /// Attempts without CTS or ACK.
        failures: u64;
        /// Frames dropped at the retry limit.
        given_up: u64;
        /// Broadcasts sent.
        broadcasts: u64;
        /// Data frames received that were addressed to this radio, duplicates not counted.
        received: u64;
        /// Data frames received again because the sender missed the ACK.
        duplicates: u64;
        /// Frames sensed and not decoded.
        undecoded: u64;
        /// Share of the time in which the radio transmitted.
        sending_share: f64, "1";
        /// Share of the time in which the radio transmitted or sensed frames.
        busy_share: f64, "1";
        /// Packets dropped by the radio's queue.
        drops: u64;
        /// Mean number of packets in the queue.
        queue_mean_pkts: f64, "packets";
        /// Largest number of packets in the queue.
        queue_max_pkts: f64, "packets";
    }
}

table! {
    /// One row for each router, warm-up included. Only in runs with 802.11 radios, or whose routing
    /// protocols send messages or count something.
    pub(super) struct RouterRow in "routing" {
        /// Name of the router.
        node: String;
        /// Routing messages sent.
        messages: u64;
        /// Bytes of these messages.
        message_bytes: u64, "B";
        /// Packets dropped from full queues of this router, their first one.
        overflow_at_source: u64;
        /// Packets dropped from full queues of this router that came from another one.
        overflow_in_transit: u64;
        /// Route discoveries started (AODV).
        route_discoveries: u64;
        /// Broken routes repaired locally (AODV).
        route_repairs: u64;
        /// Neighbours considered lost.
        link_failures: u64;
        /// Routers to which this one has a route at the end (OSPF, batman-adv).
        routes: u64;
        /// Those of them that another link reaches at once if the first is lost, by an equal path or
        /// a loop-free alternate (OSPF with fast_reroute).
        protected_routes: u64;
        /// Packets that have been in the router's queues for more than 10 s at the end.
        trapped_pkts: f64, "packets";
        /// Mean number of such packets over time.
        trapped_mean_pkts: f64, "packets";
    }
}

pub(super) fn radios(
    world: &World,
    now: SimTime,
    watch: &mut Watch<'_>,
) -> Result<Table, Interrupt> {
    let mut rows = Rows::new();
    let Some((radios, medium)) = world.medium() else {
        return Ok(rows.into_table());
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
                .radio_counters(station.node, number as u8)
                .unwrap_or_default();
            rows.push(RadioRow {
                node: station.name.clone(),
                channel: u64::from(*channel),
                frames_sent: readings.frames_sent,
                attempts: readings.attempts,
                failures: readings.failures,
                given_up: readings.given_up,
                broadcasts: readings.broadcasts,
                received: readings.received,
                duplicates: readings.duplicates,
                undecoded: readings.undecoded,
                sending_share: share(readings.sending_ps),
                busy_share: share(readings.busy_ps),
                drops: readings.queue_drops,
                queue_mean_pkts: readings.queue_area as f64 / span_ps.max(1.0),
                queue_max_pkts: f64::from(readings.queue_max_pkts),
            });
        }
    }
    Ok(rows.into_table())
}

pub(super) fn routers(
    world: &World,
    now: SimTime,
    watch: &mut Watch<'_>,
) -> Result<Table, Interrupt> {
    let mut rows = Rows::<RouterRow>::new();
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
        rows.push(RouterRow {
            node: info.id.clone(),
            messages: sent.messages,
            message_bytes: sent.bytes,
            overflow_at_source: count(readings::OVERFLOW_AT_SOURCE),
            overflow_in_transit: count(readings::OVERFLOW_IN_TRANSIT),
            route_discoveries: count(readings::ROUTE_DISCOVERIES),
            route_repairs: count(readings::ROUTE_REPAIRS),
            link_failures: count(readings::LINK_FAILURES),
            routes: count(readings::ROUTES),
            protected_routes: count(readings::PROTECTED_ROUTES),
            trapped_pkts: count(readings::TRAPPED_PKTS) as f64,
            trapped_mean_pkts: trapped_area as f64 / (now.as_ps() as f64).max(1.0),
        });
    }
    let table = rows.into_table();
    Ok(if is_empty {
        Table::of::<RouterRow>()
    } else {
        table
    })
}
