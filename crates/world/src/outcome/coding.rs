//! The table of network coding.

use backlane_engine::{Interrupt, Watch};
use backlane_record::{Rows, Table, table};
use backlane_traffic::Transport;
use backlane_units::SimTime;

use super::STEPS_PER_ROW;
use crate::world::World;

table! {
    /// One row for each flow with network coding that has started.
    pub(super) struct CodedFlowRow in "coding" {
        /// Name of the flow.
        flow: String;
        /// Generations opened.
        generations: u64;
        /// Mean number of segments in a generation.
        generation_mean_pkts: Option<f64>, "packets";
        /// Segments that TCP gave to the coding layer for the first time.
        originals: u64;
        /// Coded packets sent.
        coded_packets: u64;
        /// Coded packets sent on request of the receiver.
        repairs: u64;
        /// Coded packets sent because no answer arrived for some time.
        probes: u64;
        /// Requests sent by the receiver.
        requests: u64;
        /// Coded packets that arrived.
        coded_received: u64;
        /// Coded packets that arrived and did not raise the rank.
        non_innovative: u64;
        /// Repairs that raised the rank, each for a packet lost or late.
        masked_losses: u64;
        /// Packets with a new segment that the queue of the source's router dropped.
        edge_drops: u64;
        /// Edge drops at which TCP was reducing its window, or that made it do so within two round
        /// trips.
        edge_drops_answered: u64;
        /// Edge drops after which TCP reduced its window later than that.
        edge_drops_late: u64;
        /// Edge drops of the last two round trips to which TCP has not reacted.
        edge_drops_open: u64;
        /// Repairs and probes dropped there.
        repair_drops: u64;
        /// Segments that TCP sent again while the coding layer still repaired them.
        needless_retransmits: u64;
        /// Duplicate acknowledgments given to TCP for edge drops.
        duplicate_acks_given: u64;
        /// Application bytes compared after decoding (`payload = true`).
        bytes_compared: u64, "B";
        /// Compared bytes that were wrong or out of order.
        bytes_unequal: u64, "B";
        /// Mean time from the rank that acknowledged a segment until its delivery.
        decode_delay_mean_s: Option<f64>, "s";
    }
}

pub(super) fn flows(
    world: &World,
    now: SimTime,
    watch: &mut Watch<'_>,
) -> Result<Table, Interrupt> {
    let mut rows = Rows::new();
    for (info, flow) in world.flows.iter().zip(world.simulation.application.flows()) {
        let Some(Transport::Tcp(tcp)) = &flow.transport else {
            continue;
        };
        let Some(readings) = tcp.coding(now) else {
            continue;
        };
        watch.tick(STEPS_PER_ROW)?;
        let (edge, receiver) = (&readings.edge, &readings.receiver);
        let mean = |sum: f64, count: u64| (count > 0).then(|| sum / count as f64);
        rows.push(CodedFlowRow {
            flow: info.name.clone(),
            generations: edge.generations,
            generation_mean_pkts: mean(edge.originals as f64, edge.generations),
            originals: edge.originals,
            coded_packets: edge.packets,
            repairs: edge.repairs,
            probes: edge.probes,
            requests: receiver.requests,
            coded_received: receiver.packets,
            non_innovative: receiver.non_innovative,
            masked_losses: receiver.masked_losses,
            edge_drops: edge.edge_drops,
            edge_drops_answered: readings.edge_drops_answered,
            edge_drops_late: readings.edge_drops_late,
            edge_drops_open: readings.edge_drops_open,
            repair_drops: edge.repair_drops,
            needless_retransmits: edge.spurious_retransmits,
            duplicate_acks_given: edge.duplicate_acks,
            bytes_compared: readings.bytes_compared,
            bytes_unequal: readings.bytes_unequal,
            decode_delay_mean_s: mean(receiver.decode_delay.as_secs_f64(), receiver.originals),
        });
    }
    Ok(rows.into_table())
}
