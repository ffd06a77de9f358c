//! The table of flows.

use backlane_engine::{Interrupt, Watch};
use backlane_net::NodeId;
use backlane_record::{Rows, Table, table};
use backlane_tcp::SlowStartExit;
use backlane_traffic::{Flow, Transport};
use backlane_units::{Duration, SimTime};

use super::{STEPS_PER_ROW, reordering};
use crate::world::World;

table! {
    /// One row for each flow that has started. Times count from the end of the warm-up. Columns of
    /// TCP are null for UDP. Slotted models have only some of the columns; a slot counts as one
    /// second.
    pub(crate) struct FlowRow in "flows" {
        /// Name.
        flow: String;
        /// Kind of flow, as in the scenario; kind of arrivals in slotted models.
        kind: &'static str;
        /// Node that sends.
        source: String;
        /// Node that receives.
        destination: String;
        /// Congestion control of TCP.
        congestion_control: Option<String>;
        /// Size of a finite flow.
        size_bytes: Option<u64>, "B";
        /// When it started.
        start_s: f64, "s";
        /// Time from the start until its first data arrived in order.
        first_byte_time_s: Option<f64>, "s";
        /// When its last byte was delivered; null if it did not finish.
        finish_s: Option<f64>, "s";
        /// Time from start to finish.
        finish_time_s: Option<f64>, "s";
        /// Delivered bytes over the finish time, or over the time that an unfinished flow was
        /// active.
        goodput_bps: Option<f64>, "bit/s";
        /// Payload delivered in order.
        delivered_bytes: Option<u64>, "B";
        /// Smallest RTT sample.
        rtt_min_s: Option<f64>, "s";
        /// Mean of the RTT samples.
        rtt_mean_s: Option<f64>, "s";
        /// Median of the RTT samples.
        rtt_p50_s: Option<f64>, "s";
        /// 95th percentile of the RTT samples.
        rtt_p95_s: Option<f64>, "s";
        /// Mean RTT at acknowledgments that advance over data that was sent once and arrived in
        /// order.
        rtt_in_order_mean_s: Option<f64>, "s";
        /// Segments with data or FIN sent, retransmissions included; packets of UDP.
        segments_sent: Option<u64>;
        /// Segments sent again.
        retransmits: Option<u64>;
        /// Entries into fast recovery.
        fast_retransmits: Option<u64>;
        /// Retransmission timeouts.
        rtos: Option<u64>;
        /// Segments that the receiver reported as received twice (DSACK, RFC 2883).
        spurious_retransmits: Option<u64>;
        /// Reductions of the window that were undone.
        undos: Option<u64>;
        /// Timeouts that F-RTO (RFC 5682) found spurious.
        spurious_rtos: Option<u64>;
        /// Duplicate acknowledgments received (RFC 5681 §2).
        duplicate_acks: Option<u64>;
        /// Reordering degree that the sender assumes at the end.
        reordering_pkts: Option<u64>, "packets";
        /// Largest reordering degree that the sender assumed.
        reordering_max_pkts: Option<u64>, "packets";
        /// Mean congestion window while data was outstanding.
        cwnd_mean_pkts: Option<f64>, "packets";
        /// Mean number of packets in flight while data was outstanding.
        in_flight_mean_pkts: Option<f64>, "packets";
        /// Cause of the end of the first slow start; null if it did not end.
        slow_start_exit: Option<&'static str>;
        /// When the first slow start ended.
        slow_start_exit_s: Option<f64>, "s";
        /// Congestion window at that time.
        slow_start_exit_pkts: Option<u64> as Float, "packets";
        /// Segments sent until then.
        slow_start_segments: Option<u64>;
        /// Packets that left the source for the flow.
        packets_sent: u64;
        /// Packets that arrived at the destination.
        packets_received: u64;
        /// Share of the packets received that arrived after one sent later (RFC 4737 §3.3).
        reordered_ratio: Option<f64>, "1";
        /// Arrivals by another path than the packet before.
        path_changes: Option<u64>;
        /// Sequences of packets that arrived by one path in the order of sending; reordered packets
        /// do not count.
        bursts: u64;
        /// Packets received over bursts.
        burst_mean_pkts: Option<f64>, "packets";
        /// Longest time between two arrivals.
        longest_silence_s: Option<f64>, "s";
        /// Mean number of routers passed.
        hops_mean: Option<f64>;
        /// Hash of the arrivals: times and sequence numbers.
        digest: String;
    }
}

pub(super) fn flows(
    world: &World,
    now: SimTime,
    watch: &mut Watch<'_>,
) -> Result<Table, Interrupt> {
    let mut rows = Rows::new();
    let node = |node: NodeId| world.nodes[node.index()].id.clone();
    for (info, flow) in world.flows.iter().zip(world.simulation.application.flows()) {
        // A flow that did not start has no row.
        let Some(start) = flow.start else { continue };
        watch.tick(STEPS_PER_ROW)?;
        let finish_time_s = flow.finished.map(|at| (at - start).as_secs_f64());
        let active_until = flow.spec.stop.map_or(now, |stop| stop.min(now));
        let active_s =
            finish_time_s.unwrap_or_else(|| active_until.saturating_since(start).as_secs_f64());
        let delivered_bytes = flow.delivered_bytes();
        let delivery = &flow.delivery;
        let sender = of_sender(world, flow);
        rows.push(FlowRow {
            flow: info.name.clone(),
            kind: info.kind,
            source: node(flow.spec.source),
            destination: node(flow.spec.destination),
            congestion_control: info.congestion_control.clone(),
            size_bytes: flow.spec.size_bytes,
            start_s: world.traffic_s(start),
            first_byte_time_s: flow.first_byte.map(|at| (at - start).as_secs_f64()),
            finish_s: flow.finished.map(|at| world.traffic_s(at)),
            finish_time_s,
            goodput_bps: (active_s > 0.0).then(|| delivered_bytes as f64 * 8.0 / active_s),
            delivered_bytes: Some(delivered_bytes),
            packets_received: delivery.packets,
            reordered_ratio: delivery.reordered_ratio(),
            path_changes: Some(delivery.path_changes),
            bursts: delivery.bursts,
            burst_mean_pkts: delivery.burst_mean_pkts(),
            longest_silence_s: (delivery.packets > 1)
                .then(|| delivery.longest_silence.as_secs_f64()),
            hops_mean: delivery.hops_mean(),
            digest: format!("{:016x}", delivery.digest()),
            ..sender
        });
    }
    let mut table = rows.into_table();
    let reordering = reordering::of_flows(world, watch)?;
    if reordering.rows() > 0 {
        table.append(reordering);
    }
    Ok(table)
}

/// The columns that the source of a flow counts; only TCP counts retransmissions.
fn of_sender(world: &World, flow: &Flow) -> FlowRow {
    match &flow.transport {
        None => FlowRow {
            segments_sent: Some(0),
            ..FlowRow::default()
        },
        Some(Transport::Udp(udp)) => FlowRow {
            packets_sent: udp.packets_sent,
            segments_sent: Some(udp.packets_sent),
            ..FlowRow::default()
        },
        Some(Transport::External(external)) => FlowRow {
            packets_sent: external.packets_sent(),
            segments_sent: Some(external.segments_sent),
            retransmits: Some(external.retransmits),
            rtt_min_s: external.rtt_min().map(Duration::as_secs_f64),
            rtt_mean_s: external.rtt.mean_s(),
            rtt_p50_s: external.rtt.quantile_s(0.5),
            rtt_p95_s: external.rtt.quantile_s(0.95),
            spurious_retransmits: external.reported.map(|reported| reported.dsacks),
            reordering_pkts: external
                .reported
                .map(|reported| u64::from(reported.reordering_pkts)),
            ..FlowRow::default()
        },
        Some(Transport::Tcp(tcp)) => {
            let statistics = tcp.sender().statistics();
            let exit: Option<SlowStartExit> = statistics.slow_start_exit;
            FlowRow {
                rtt_min_s: statistics.rtt_min.map(Duration::as_secs_f64),
                rtt_mean_s: tcp.rtt.mean_s(),
                rtt_p50_s: tcp.rtt.quantile_s(0.5),
                rtt_p95_s: tcp.rtt.quantile_s(0.95),
                rtt_in_order_mean_s: statistics.rtt_in_order_mean().map(Duration::as_secs_f64),
                segments_sent: Some(statistics.segments_sent),
                retransmits: Some(statistics.retransmits),
                fast_retransmits: Some(statistics.fast_retransmits),
                rtos: Some(statistics.rtos),
                spurious_retransmits: Some(statistics.spurious_retransmits),
                undos: Some(statistics.undos),
                spurious_rtos: Some(statistics.spurious_rtos),
                duplicate_acks: Some(statistics.duplicate_acks),
                reordering_pkts: Some(tcp.sender().readings().reordering_pkts.into()),
                reordering_max_pkts: Some(statistics.reordering_max_pkts.into()),
                cwnd_mean_pkts: statistics.cwnd_mean_pkts(),
                in_flight_mean_pkts: statistics.in_flight_mean_pkts(),
                slow_start_exit: exit.map(|exit| exit.cause.name()),
                slow_start_exit_s: exit.map(|exit| world.traffic_s(exit.at)),
                slow_start_exit_pkts: exit.map(|exit| exit.cwnd_pkts.into()),
                slow_start_segments: exit.map(|exit| exit.segments_sent),
                packets_sent: tcp.packets_sent(),
                ..FlowRow::default()
            }
        }
    }
}
