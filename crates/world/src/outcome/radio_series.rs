//! Samples of what the radio does for each UE.

use std::any::Any;
use std::collections::BTreeSet;

use backlane_lte::Ran;
use backlane_lte::rlc::Direction;
use backlane_net::{MediumId, Simulation};
use backlane_record::Table;
use backlane_scenario::model::Record;
use backlane_traffic::Flows;

use crate::build::NodeInfo;
use crate::radio::Radio;

/// The downlink of UEs over time. Counts, the MCS and the delay are those of the interval that a
/// sample ends; SINR and CQI are those of the last report.
#[derive(Default)]
pub(crate) struct RadioSeries {
    medium: Option<MediumId>,
    /// Names of eNodeBs, as the network counts them.
    enodebs: Vec<String>,
    ues: Vec<(usize, String, Counted)>,
    table: Table,
}

/// What was counted by the last sample.
#[derive(Clone, Copy, Default)]
struct Counted {
    transport_blocks: u64,
    mcs_sum: u64,
    granted_bytes: u64,
    used_bytes: u64,
    drops: u64,
    harq_retransmissions: u64,
    packets: u64,
    delay_s: f64,
}

impl RadioSeries {
    pub(crate) fn new(record: &Record, radio: Option<&Radio>, nodes: &[NodeInfo]) -> Self {
        let Some(radio) = radio.filter(|_| record.radio) else {
            return Self::default();
        };
        let asked: BTreeSet<_> = record.flows.iter().collect();
        let wanted = |name: &String| asked.is_empty() || asked.contains(name);
        let ues = radio.ues.iter().enumerate();
        Self {
            medium: Some(radio.medium),
            enodebs: (radio.enodebs.iter())
                .map(|node| nodes[node.index()].id.clone())
                .collect(),
            ues: ues
                .map(|(index, node)| (index, nodes[node.index()].id.clone(), Counted::default()))
                .filter(|(_, name, _)| wanted(name))
                .collect(),
            table: Table::new(),
        }
    }

    /// The number of UEs that are looked at.
    pub(crate) fn ues(&self) -> usize {
        self.ues.len()
    }

    pub(crate) fn sample(&mut self, simulation: &mut Simulation<Flows>, time_s: f64) {
        let medium = self.medium.and_then(|medium| simulation.medium_mut(medium));
        let Some(ran) = medium.and_then(|medium| (medium as &mut dyn Any).downcast_mut::<Ran>())
        else {
            return;
        };
        for (index, name, before) in &mut self.ues {
            let longest_s = ran.take_longest_delay_s(*index, Direction::Down);
            let readings = ran.ue_readings(*index);
            let down = &readings.downlink;
            let (queue_pkts, queue_bytes) = ran.queue(*index, Direction::Down);
            let now = Counted {
                transport_blocks: down.transport_blocks,
                mcs_sum: down.mcs_sum,
                granted_bytes: down.granted_bytes,
                used_bytes: down.used_bytes,
                drops: ran.rlc_counters(*index, Direction::Down).drops,
                harq_retransmissions: down.retransmitted_blocks(),
                packets: down.delays.count(),
                delay_s: down.delay_sum_s,
            };
            let blocks = now.transport_blocks - before.transport_blocks;
            let packets = now.packets - before.packets;
            let mcs_sum = (now.mcs_sum - before.mcs_sum) as f64;
            let is_reported = readings.reports > 0;
            self.table.push([
                ("entity", name.as_str().into()),
                ("time_s", time_s.into()),
                (
                    "serving",
                    self.enodebs[ran.serving_cell(*index)].as_str().into(),
                ),
                ("sinr_db", is_reported.then_some(readings.sinr_db).into()),
                ("cqi", is_reported.then_some(u64::from(readings.cqi)).into()),
                ("mcs", (blocks > 0).then(|| mcs_sum / blocks as f64).into()),
                (
                    "granted_bytes",
                    (now.granted_bytes - before.granted_bytes).into(),
                ),
                ("used_bytes", (now.used_bytes - before.used_bytes).into()),
                ("queue_pkts", (queue_pkts as u64).into()),
                ("queue_bytes", queue_bytes.into()),
                ("drops", (now.drops - before.drops).into()),
                (
                    "harq_retransmissions",
                    (now.harq_retransmissions - before.harq_retransmissions).into(),
                ),
                (
                    "pdcp_delay_s",
                    (packets > 0)
                        .then(|| (now.delay_s - before.delay_s) / packets as f64)
                        .into(),
                ),
                (
                    "pdcp_delay_max_s",
                    (packets > 0).then_some(longest_s).into(),
                ),
            ]);
            *before = now;
        }
    }

    /// The samples that nobody has taken yet.
    pub(crate) fn table(&mut self) -> &mut Table {
        &mut self.table
    }
}
