//! The series of UEs with LTE access.

use std::any::Any;
use std::collections::BTreeSet;

use backlane_lte::Ran;
use backlane_lte::rlc::Direction;
use backlane_net::{MediumId, Simulation};
use backlane_record::{Rows, Table, table};
use backlane_scenario::model::Record;
use backlane_traffic::Flows;

use crate::infos::NodeInfo;
use crate::ran::Radio;

table! {
    /// One row for each UE with LTE access and sample of the downlink. Counts, MCS and delays are
    /// those of the interval that ends with the sample.
    pub(crate) struct UeSampleRow in "series/radio" {
        /// Name of the UE.
        entity: String;
        /// Time since the end of the warm-up.
        time_s: f64, "s";
        /// eNodeB that serves it.
        serving: String;
        /// SINR of the last report of the primary carrier.
        sinr_db: Option<f64>, "dB";
        /// Wideband CQI of this report.
        cqi: Option<u64>;
        /// Mean MCS index of transport blocks.
        mcs: Option<f64>;
        /// Bytes of transport blocks.
        granted_bytes: u64, "B";
        /// Bytes of RLC in them.
        used_bytes: u64, "B";
        /// Packets in the RLC buffer.
        queue_pkts: u64 as Float, "packets";
        /// Bytes in the RLC buffer.
        queue_bytes: u64, "B";
        /// Packets dropped by the RLC buffer.
        drops: u64;
        /// Retransmissions of HARQ.
        harq_retransmissions: u64;
        /// Mean delay from PDCP to PDCP.
        pdcp_delay_s: Option<f64>, "s";
        /// Largest such delay.
        pdcp_delay_max_s: Option<f64>, "s";
    }
}

/// The samples, and the state since the last one.
#[derive(Default)]
pub(crate) struct RadioSeries {
    medium: Option<MediumId>,
    /// Names of eNodeBs, as the network counts them.
    enodebs: Vec<String>,
    ues: Vec<(usize, String, Counted)>,
    rows: Rows<UeSampleRow>,
}

/// The counters at the last sample.
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
            rows: Rows::new(),
        }
    }

    /// The number of UEs that are sampled.
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
            self.rows.push(UeSampleRow {
                entity: name.clone(),
                time_s,
                serving: self.enodebs[ran.serving_cell(*index)].clone(),
                sinr_db: is_reported.then_some(readings.sinr_db),
                cqi: is_reported.then_some(u64::from(readings.cqi)),
                mcs: (blocks > 0).then(|| mcs_sum / blocks as f64),
                granted_bytes: (now.granted_bytes - before.granted_bytes),
                used_bytes: (now.used_bytes - before.used_bytes),
                queue_pkts: (queue_pkts as u64),
                queue_bytes,
                drops: (now.drops - before.drops),
                harq_retransmissions: (now.harq_retransmissions - before.harq_retransmissions),
                pdcp_delay_s: (packets > 0)
                    .then(|| (now.delay_s - before.delay_s) / packets as f64),
                pdcp_delay_max_s: (packets > 0).then_some(longest_s),
            });
            *before = now;
        }
    }

    /// The samples that were not taken yet.
    pub(crate) fn table(&mut self) -> &mut Table {
        self.rows.table_mut()
    }
}
