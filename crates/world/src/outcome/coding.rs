//! What network coding did for each flow.

use backlane_engine::{Interrupt, Watch};
use backlane_record::Table;
use backlane_traffic::Transport;
use backlane_units::SimTime;

use super::STEPS_PER_ROW;
use crate::build::World;

/// One row for each coded flow that has started.
pub(super) fn flows(
    world: &World,
    now: SimTime,
    watch: &mut Watch<'_>,
) -> Result<Table, Interrupt> {
    let mut table = Table::new();
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
        table.push([
            ("flow", info.name.as_str().into()),
            ("generations", edge.generations.into()),
            (
                "generation_mean_pkts",
                mean(edge.originals as f64, edge.generations).into(),
            ),
            ("originals", edge.originals.into()),
            ("coded_packets", edge.packets.into()),
            ("repairs", edge.repairs.into()),
            ("probes", edge.probes.into()),
            ("requests", receiver.requests.into()),
            ("coded_received", receiver.packets.into()),
            ("non_innovative", receiver.non_innovative.into()),
            ("masked_losses", receiver.masked_losses.into()),
            ("edge_drops", edge.edge_drops.into()),
            ("edge_drops_answered", readings.edge_drops_answered.into()),
            ("edge_drops_open", readings.edge_drops_open.into()),
            ("repair_drops", edge.repair_drops.into()),
            ("needless_retransmits", edge.spurious_retransmits.into()),
            ("duplicate_acks_given", edge.duplicate_acks.into()),
            ("bytes_compared", readings.bytes_compared.into()),
            ("bytes_unequal", readings.bytes_unequal.into()),
            (
                "decode_delay_mean_s",
                mean(receiver.decode_delay.as_secs_f64(), receiver.originals).into(),
            ),
        ]);
    }
    Ok(table)
}
