//! UEs that come, move and fail: what RRC decides is carried out.
//!
//! A UE that goes to another cell takes its bearer along. Nothing flows until it has arrived. In
//! acknowledged mode what was not acknowledged waits again; in unacknowledged mode what was begun
//! is lost. Packets that wait for it in the cell that it left are sent back into the backhaul
//! towards the new one (X2 forwarding), and so are those that still come to the old one. They are
//! spread over the first half of the interruption: a full buffer at one instant would overflow the
//! backhaul's queues, and they are not needed before the UE arrives. The new cell keeps what comes
//! before the UE does, and then sends what was forwarded first; what is forwarded later than that
//! follows what came directly, so that order may suffer.

use backlane_net::{MediumContext, NodeId, PacketId};
use backlane_units::SimTime;

use super::Ran;
use super::moves::{Forward, TOKEN};
use crate::config::Interference;
use crate::rlc::Direction;
use crate::rrc::{Cause, Change, Measurement};
use crate::time::{TTI, not_before};

impl Ran {
    /// UEs without a cell in reach, with the SNR in decibels of the one that they belong to.
    pub fn out_of_reach(&self) -> impl Iterator<Item = (usize, f64)> {
        let connections = self.moves.connections.iter().enumerate();
        connections
            .filter(|(_, connection)| connection.is_out_of_reach())
            .map(|(ue, connection)| (ue, connection.rsrp_dbm() + self.moves.snr_of_rsrp_db))
    }

    pub(super) fn start_moves(&mut self, context: &mut MediumContext<'_>) {
        self.moves.timer = Some(context.timer(TOKEN));
        self.arm_moves(context);
    }

    fn arm_moves(&self, context: &mut MediumContext<'_>) {
        let Some(timer) = self.moves.timer else {
            return;
        };
        match self.moves.next_event() {
            SimTime::MAX => context.cancel_timer(timer),
            at => context.set_timer(timer, at),
        }
    }

    /// Deadlines of connections, and measurements of those who move.
    pub(super) fn on_moves_timer(&mut self, context: &mut MediumContext<'_>) {
        let now = context.now();
        self.forward(context);
        for index in 0..self.moves.connections.len() {
            while let Some(change) = self.moves.connections[index].on_deadline(now) {
                self.carry_out(context, index, change);
            }
        }
        if self.moves.next_measurement <= now {
            self.moves.next_measurement = now + self.config.rrc.radio_link.measurement_period;
            self.look_at_loads();
            for at in 0..self.moves.travellers.len() {
                let index = self.moves.travellers[at] as usize;
                let moves = &mut self.moves;
                let cell = moves.connections[index].cell();
                let (loads, rsrp_dbm) = (&moves.loads, &mut moves.rsrp_dbm);
                let sinr_db = self
                    .channel
                    .measure(index, cell, not_before(now), loads, rsrp_dbm);
                let measured = Measurement { rsrp_dbm, sinr_db };
                let change = moves.connections[index].on_measurement(now, &measured);
                if let Some(change) = change {
                    self.carry_out(context, index, change);
                }
            }
        }
        self.arm_moves(context);
    }

    /// How much of each cell's downlink was in use since the last measurement.
    fn look_at_loads(&mut self) {
        if self.config.interference != Interference::LoadCoupled {
            return;
        }
        let ttis = self.config.rrc.radio_link.measurement_period.as_secs_f64() / TTI.as_secs_f64();
        let most = ttis * f64::from(self.config.carrier[0].n_rb());
        let moves = &mut self.moves;
        let cells = moves.loads.iter_mut().zip(&mut moves.sent_prbs);
        for (cell, (load, before)) in cells.enumerate() {
            let sent = self.downlink.readings(0, cell).downlink_prbs;
            *load = ((sent - *before) as f64 / most).min(1.0);
            *before = sent;
        }
    }

    /// RLC has given up a PDU of this UE: its radio link has failed.
    pub(super) fn on_rlc_failure(&mut self, context: &mut MediumContext<'_>, index: usize) {
        let now = context.now();
        if let Some(change) = self.moves.connections[index].on_rlc_failure(now) {
            self.carry_out(context, index, change);
            self.arm_moves(context);
        }
    }

    fn carry_out(&mut self, context: &mut MediumContext<'_>, index: usize, change: Change) {
        match change {
            Change::Interrupted { from, to, cause } => {
                let readings = &mut self.ues[index].readings;
                match cause {
                    Cause::Handover => readings.handovers += 1,
                    Cause::Failure => readings.radio_link_failures += 1,
                }
                self.interrupt(context, index);
                self.go(context, index, from, to);
            }
            Change::Lost { .. } => {
                self.ues[index].readings.radio_link_failures += 1;
                self.interrupt(context, index);
            }
            Change::Connected { .. } => self.connect(context, index),
        }
    }

    /// Nothing flows any more: transport blocks are discarded, RLC is re-established.
    fn interrupt(&mut self, context: &mut MediumContext<'_>, index: usize) {
        let ue = &mut self.ues[index];
        let cell = &mut self.cells[ue.cell];
        cell.down.retain(|other| *other as usize != index);
        cell.up.retain(|other| *other as usize != index);
        ue.forget_blocks();
        ue.bearer.reestablish(&mut self.outcome);
        self.held -= ue.settle(context, self.enodebs[ue.cell], &mut self.outcome);
    }

    /// The UE belongs to another cell, and what waits for it goes there.
    fn go(&mut self, context: &mut MediumContext<'_>, index: usize, from: usize, to: usize) {
        let ue = &mut self.ues[index];
        ue.cell = to;
        ue.readings.serving = to;
        let arrivals = self.moves.arrivals[index].get_or_insert_default();
        let (old, new) = (self.enodebs[from], self.enodebs[to]);
        if old == new {
            return;
        }
        context.move_host(ue.node, new);
        let mut packets = Vec::new();
        ue.bearer.take_waiting(Direction::Down, &mut packets);
        packets.append(&mut arrivals.first);
        packets.append(&mut arrivals.then);
        let arrives = self.moves.connections[index].next_deadline();
        let half = arrives.saturating_since(context.now()).as_ps() / 2;
        let steps = (half / TTI.as_ps()).max(1) as usize;
        self.moves.forwards.push(Forward {
            ue: index,
            from: old,
            at_once: packets.len().div_ceil(steps).max(1),
            packets: packets.into(),
            next: context.now(),
        });
        self.forward(context);
    }

    /// Sends back what is to be forwarded by now.
    fn forward(&mut self, context: &mut MediumContext<'_>) {
        let now = context.now();
        let moves = &mut self.moves;
        for forward in moves.forwards.iter_mut().filter(|of| of.next <= now) {
            forward.next = now + TTI;
            let count = forward.at_once.min(forward.packets.len());
            self.held -= count;
            for packet in forward.packets.drain(..count) {
                context.reroute(forward.from, packet);
                if let Some(arrivals) = &mut moves.arrivals[forward.ue] {
                    arrivals.forwarded.push(packet);
                }
            }
        }
        moves.forwards.retain(|forward| !forward.packets.is_empty());
    }

    /// Data may flow in the UE's cell.
    fn connect(&mut self, context: &mut MediumContext<'_>, index: usize) {
        let now = context.now();
        let tti = not_before(now);
        let ue = &mut self.ues[index];
        ue.enter(&self.config, index, tti);
        if let Some(arrivals) = self.moves.arrivals[index].take() {
            for packet in arrivals.first.into_iter().chain(arrivals.then) {
                let bytes = context.packet(packet).size_bytes;
                ue.bearer
                    .push(Direction::Down, now, packet, bytes, &mut self.outcome);
            }
            self.held -= ue.settle(context, self.enodebs[ue.cell], &mut self.outcome);
        }
        self.wake(context, index as u32);
    }

    /// A packet for a UE that belongs elsewhere, or has not arrived yet: whether it was taken.
    pub(super) fn redirect(
        &mut self,
        context: &mut MediumContext<'_>,
        index: usize,
        node: NodeId,
        packet: PacketId,
    ) -> bool {
        let moves = &mut self.moves;
        let mut forwards = moves.forwards.iter_mut();
        if let Some(forward) = forwards.find(|of| of.ue == index && of.from == node) {
            forward.packets.push_back(packet);
            self.held += 1;
            return true;
        }
        let arrivals = &mut moves.arrivals[index];
        if node != self.enodebs[self.ues[index].cell] {
            if let Some(arrivals) = arrivals {
                arrivals.forwarded.push(packet);
            }
            context.reroute(node, packet);
            return true;
        }
        let Some(arrivals) = arrivals else {
            return false;
        };
        if arrivals.forwarded.contains(&packet) {
            arrivals.first.push(packet);
        } else {
            arrivals.then.push(packet);
        }
        self.held += 1;
        true
    }
}
