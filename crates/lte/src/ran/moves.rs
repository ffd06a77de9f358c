//! The connections of all UEs, and the packets that follow a UE to another cell.

use std::collections::VecDeque;
use std::sync::Arc;

use backlane_engine::{Interrupt, Streams, TimerId, Watch};
use backlane_net::{NodeId, PacketId};
use backlane_units::SimTime;

use crate::channel::Channel;
use crate::config::{Interference, RanConfig, UeChannel, UeConfig};
use crate::rrc::Connection;
use crate::ue::Ue;

/// The timer's token.
pub(super) const TOKEN: u32 = 1;

/// The connections of all UEs.
pub(super) struct Moves {
    pub(super) connections: Vec<Connection>,
    /// For each UE, what waits for its arrival in a cell; [`None`] if it is not on its way.
    pub(super) arrivals: Vec<Option<Box<Arrivals>>>,
    /// UEs that move.
    pub(super) travellers: Vec<u32>,
    /// What is being sent back, in the order in which UEs left.
    pub(super) forwards: Vec<Forward>,
    pub(super) timer: Option<TimerId>,
    /// When travellers measure next.
    pub(super) next_measurement: SimTime,
    pub(super) rsrp_dbm: Vec<f64>,
    /// What is added to a level for the SNR that it gives.
    pub(super) snr_of_rsrp_db: f64,
    /// Downlink resource blocks of each cell at the last measurement, and their share since then.
    pub(super) sent_prbs: Vec<u64>,
    pub(super) loads: Vec<f64>,
}

#[derive(Debug, Default)]
pub(super) struct Arrivals {
    /// Packets that were sent back towards the new cell.
    pub(super) forwarded: Vec<PacketId>,
    /// Those of them that have come, and the others.
    pub(super) first: Vec<PacketId>,
    pub(super) then: Vec<PacketId>,
}

/// Packets of a UE on their way out of the cell that it left.
#[derive(Debug)]
pub(super) struct Forward {
    pub(super) ue: usize,
    pub(super) from: NodeId,
    pub(super) packets: VecDeque<PacketId>,
    /// Packets that go in each millisecond.
    pub(super) at_once: usize,
    pub(super) next: SimTime,
}

impl Moves {
    /// Connections of UEs that are attached to their cells; all measure once.
    pub(super) fn new(
        config: &RanConfig,
        channel: &mut Channel,
        configs: &[UeConfig],
        ues: &mut [Ue],
        n_cells: usize,
        streams: &Streams,
        watch: &mut Watch<'_>,
    ) -> Result<Self, Interrupt> {
        let rrc = Arc::new(config.rrc);
        let mut rsrp_dbm = Vec::new();
        let mut connections = Vec::with_capacity(ues.len());
        let mut travellers = Vec::new();
        let loads = vec![initial_load(config); n_cells];
        let least_snr_db = config.rrc.radio_link.out_of_sync.as_db_f64();
        let least_rsrp_dbm = channel.rsrp_dbm(least_snr_db);
        for (index, (ue, of)) in ues.iter_mut().zip(configs).enumerate() {
            watch.tick(10 + n_cells as u64)?;
            let is_traced = of.channel != UeChannel::Radio;
            channel.measure(index, ue.cell, 0, &loads, &mut rsrp_dbm);
            if is_traced {
                // What it hears stands in its trace: its cell is in reach and no other.
                rsrp_dbm.fill(f64::NEG_INFINITY);
                rsrp_dbm[ue.cell] = least_rsrp_dbm;
            }
            let share = streams.stream(&of.name, "attach").uniform();
            let connection = Connection::new(
                Arc::clone(&rrc),
                ue.cell,
                SimTime::ZERO,
                share,
                &rsrp_dbm,
                least_rsrp_dbm,
            );
            ue.is_connected = connection.is_connected();
            connections.push(connection);
            if !is_traced && !of.mobility.is_static() {
                travellers.push(index as u32);
            }
        }
        let next_measurement = if travellers.is_empty() {
            SimTime::MAX
        } else {
            SimTime::ZERO + config.rrc.radio_link.measurement_period
        };
        Ok(Self {
            arrivals: connections.iter().map(|_| None).collect(),
            connections,
            travellers,
            forwards: Vec::new(),
            timer: None,
            next_measurement,
            rsrp_dbm,
            snr_of_rsrp_db: least_snr_db - least_rsrp_dbm,
            sent_prbs: vec![0; n_cells],
            loads,
        })
    }

    pub(super) fn next_event(&self) -> SimTime {
        let deadlines = self.connections.iter().map(Connection::next_deadline);
        let forwards = self.forwards.iter().map(|forward| forward.next);
        let first = deadlines.chain(forwards).min().unwrap_or(SimTime::MAX);
        first.min(self.next_measurement)
    }
}

/// How much cells disturb at the start.
pub(super) fn initial_load(config: &RanConfig) -> f64 {
    match config.interference {
        Interference::Full => 1.0,
        Interference::Off | Interference::LoadCoupled => 0.0,
    }
}
