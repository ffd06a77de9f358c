//! The tables of links and nodes.

use backlane_engine::{Interrupt, Watch};
use backlane_net::{LinkId, NodeId, Router};
use backlane_record::{Rows, Table, table};
use backlane_units::SimTime;

use super::STEPS_PER_ROW;
use super::carried::{self, Carried};
use crate::regions::Team;
use crate::world::World;

table! {
    /// One row for each direction of a link, and for each direction of a cell of LTE between the
    /// eNodeB and its UEs, `<eNodeB>:ues`. Counts, mean queue and utilisation begin at the end of
    /// the warm-up. A queue of a router before a link counts with the link.
    pub(crate) struct LinkRow in "links" {
        /// Node that transmits.
        from: String;
        /// Node that receives.
        to: String;
        /// Rate; null for cells.
        rate_bps: Option<u64> as Float, "bit/s";
        /// Propagation delay; null for cells.
        delay_s: Option<f64>, "s";
        /// Bytes sent.
        bytes: Option<u64>, "B";
        /// Packets sent.
        packets: u64;
        /// Packets dropped by the queues.
        drops: u64;
        /// Packets marked with ECN by the queue.
        marks: u64;
        /// Share of the capacity that was used: of the bits that the link could send, of the air
        /// time of its channel, or of the resource blocks of a cell.
        utilisation: f64, "1";
        /// That share in the busiest second; null for cells, and in runs shorter than a second.
        busiest_second: Option<f64>, "1";
        /// Mean backlog.
        queue_mean_bytes: Option<f64>, "B";
        /// Largest backlog since the start of the run.
        queue_max_bytes: Option<u64> as Float, "B";
        /// 802.11 channel of a radio link.
        channel: Option<u64>;
    }
}

table! {
    /// One row for each node. The last three columns are of the queue that a router keeps for all
    /// its interfaces together, warm-up included; they are null where there is none.
    pub(crate) struct NodeRow in "nodes" {
        /// Name.
        id: String;
        /// Kind of node.
        kind: &'static str;
        /// Position at the start.
        x_m: Option<f64>, "m";
        /// Position at the start.
        y_m: Option<f64>, "m";
        /// Latitude, of a node that the scenario places on the earth.
        latitude_deg: Option<f64>, "deg";
        /// Longitude of such a node.
        longitude_deg: Option<f64>, "deg";
        /// Router that a host is attached to at the start.
        attach: Option<String>;
        /// Packets dropped by the router's queue.
        drops: Option<u64>;
        /// Mean backlog of the router's queue.
        queue_mean_bytes: Option<f64>, "B";
        /// Largest backlog of the router's queue.
        queue_max_bytes: Option<u64> as Float, "B";
    }
}

pub(super) fn links(
    world: &mut World,
    now: SimTime,
    watch: &mut Watch<'_>,
) -> Result<Table, Interrupt> {
    let mut rows = Rows::new();
    let span_s = world.traffic_s(now);
    let carried = {
        let mut parts = Team::Alone.parts(&mut world.simulation);
        Carried::all(&mut parts, world.wifi.as_ref(), now)
    };
    let network = &world.simulation.network;
    if let Some(busiest) = &mut world.busiest
        && busiest.is_known()
    {
        busiest.note(network.links(), carried.clone());
    }
    for (number, ((info, link), after)) in
        (world.links.iter().zip(network.links()).zip(carried)).enumerate()
    {
        watch.tick(STEPS_PER_ROW)?;
        let carried = match &world.carried_in_warm_up {
            Some(before) => after.since(before[number]),
            None => after,
        };
        let mean = |total: f64| if span_s > 0.0 { total / span_s } else { 0.0 };
        let radios = world.wifi.as_ref();
        let channel = radios.and_then(|radios| radios.channel(LinkId(number as u32)));
        rows.push(LinkRow {
            from: info.from.clone(),
            to: info.to.clone(),
            rate_bps: Some(link.rate().as_bps()),
            delay_s: Some(link.delay().as_secs_f64()),
            bytes: Some(carried.bytes),
            packets: carried.packets,
            drops: carried.drops,
            marks: carried.marks,
            utilisation: carried::share(link, carried, world.warm_up, now),
            busiest_second: world
                .busiest
                .as_ref()
                .and_then(|seconds| seconds.share(number)),
            queue_mean_bytes: Some(mean(carried.queue_area as f64 / 1e12)),
            queue_max_bytes: Some(carried.queue_max_bytes),
            channel: channel.map(u64::from),
        });
    }
    let ttis = now.as_secs_f64() * 1e3;
    cells(world, span_s, ttis, &mut rows);
    Ok(rows.into_table())
}

pub(super) fn nodes(
    world: &World,
    now: SimTime,
    watch: &mut Watch<'_>,
) -> Result<Table, Interrupt> {
    let mut rows = Rows::new();
    let span_s = now.as_secs_f64();
    for (number, node) in world.nodes.iter().enumerate() {
        watch.tick(STEPS_PER_ROW)?;
        let router = world.simulation.router(NodeId(number as u32));
        let queue = router.and_then(Router::shared_queue);
        rows.push(NodeRow {
            id: node.id.clone(),
            kind: node.kind,
            x_m: node.position_m.map(|(x, _)| x),
            y_m: node.position_m.map(|(_, y)| y),
            latitude_deg: node.geographic_deg.map(|(latitude, _)| latitude),
            longitude_deg: node.geographic_deg.map(|(_, longitude)| longitude),
            attach: node
                .attached_to
                .map(|router| world.nodes[router.index()].id.clone()),
            drops: queue.map(|queue| queue.drops),
            queue_mean_bytes: queue
                .filter(|_| span_s > 0.0)
                .map(|queue| queue.area as f64 / 1e12 / span_s),
            queue_max_bytes: queue.map(|queue| queue.max_bytes),
        });
    }
    Ok(rows.into_table())
}

/// The two directions of each cell as links: up, then down. A cell has no rate; its backlog is the
/// bytes inside the radio network.
fn cells(world: &World, span_s: f64, ttis: f64, rows: &mut Rows<LinkRow>) {
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
            rows.push(LinkRow {
                from: from.to_owned(),
                to: to.to_owned(),
                bytes: Some(carried.bytes),
                packets: carried.packets,
                drops: carried.drops,
                utilisation: share.min(1.0),
                queue_mean_bytes: Some(if span_s > 0.0 { area / span_s } else { 0.0 }),
                ..LinkRow::default()
            });
        }
    }
}
