//! The network as a medium: packets in, packets out, and the TTI in between.
//!
//! One timer drives all cells. It fires at the start of each TTI while a UE or cell has something
//! to send, to judge or to answer, and at the next timer of RLC otherwise; a network at rest costs
//! nothing. What is done in a TTI is done for those that are active, however many are attached.
//!
//! The order within TTI `n`: timers of RLC; transport blocks of `n − 1` are judged; data that is
//! decoded by now comes out; feedback, requests and reports that have arrived are taken in; UEs
//! measure, request, and send their PUSCH of `n`; all cells decide on the TTIs to come.

use backlane_engine::{Interrupt, Streams, TimerId, Watch};
use backlane_net::{DropCause, Medium, MediumContext, NodeId, PacketId};
use backlane_units::SimTime;

use crate::channel::Channel;
use crate::config::{CellConfig, FEEDBACK_TTIS, RanConfig, UeConfig};
use crate::mac::downlink::{Downlink, Subframe};
use crate::mac::uplink::{ROUND_TRIP_TTIS, Uplink};
use crate::readings::{CellReadings, UeReadings};
use crate::rlc::{Counters, Direction, Outcome};
use crate::time::{not_before, start_of};
use crate::ue::Ue;
use moves::Moves;

mod mobility;
mod moves;

/// Names no UE.
const NONE: u32 = u32::MAX;

/// A radio access network: eNodeBs and UEs.
pub struct Ran {
    config: RanConfig,
    channel: Channel,
    enodebs: Vec<NodeId>,
    ues: Vec<Ue>,
    /// By node.
    ue_of_node: Vec<u32>,
    cells: Vec<Cell>,
    downlink: Downlink,
    uplink: Uplink,
    moves: Moves,
    /// UEs with a timer of RLC running.
    timed: Vec<u32>,
    /// UEs that may have something to send since they were looked at last.
    touched: Vec<u32>,
    timer: Option<TimerId>,
    /// The TTI for which the timer is armed; `u64::MAX` if it is not.
    armed: u64,
    /// The first TTI that was not worked on.
    next_tti: u64,
    /// The last TTI that has to be worked on for the sake of what is on the air.
    busy_until: u64,
    held: usize,
    outcome: Outcome,
}

/// The UEs of a cell that have something to send, in order.
#[derive(Debug, Default)]
struct Cell {
    down: Vec<u32>,
    up: Vec<u32>,
}

impl Ran {
    /// A network at rest. UEs without a given serving cell get the one that they receive
    /// strongest at time zero. Random streams are named after the cells' nodes and the UEs'
    /// names.
    ///
    /// # Errors
    /// [`Interrupt`], if `watch` says so.
    pub fn new(
        config: RanConfig,
        cells: &[CellConfig],
        ues: &[UeConfig],
        streams: &Streams,
        watch: &mut Watch<'_>,
    ) -> Result<Self, Interrupt> {
        let mut channel = Channel::new(&config, cells, ues, streams);
        let mut ue_of_node = Vec::new();
        let mut members = Vec::with_capacity(ues.len());
        for (index, ue) in ues.iter().enumerate() {
            // Every cell is listened to.
            watch.tick(10 + cells.len() as u64)?;
            let node = ue.node.index();
            if node >= ue_of_node.len() {
                ue_of_node.resize(node + 1, NONE);
            }
            ue_of_node[node] = index as u32;
            let mut member = Ue::new(&config, ue, streams);
            let cell = ue.serving.unwrap_or_else(|| channel.strongest(index, 0));
            member.cell = cell.min(cells.len() - 1);
            member.readings.serving = member.cell;
            members.push(member);
        }
        let n_cells = cells.len();
        let moves = Moves::new(
            &config,
            &mut channel,
            ues,
            &mut members,
            n_cells,
            streams,
            watch,
        )?;
        Ok(Self {
            moves,
            downlink: Downlink::new(&config, cells, streams),
            uplink: Uplink::new(&config, cells.len()),
            config,
            channel,
            enodebs: cells.iter().map(|cell| cell.node).collect(),
            ues: members,
            ue_of_node,
            cells: cells.iter().map(|_| Cell::default()).collect(),
            timed: Vec::new(),
            touched: Vec::new(),
            timer: None,
            armed: u64::MAX,
            next_tti: 0,
            busy_until: 0,
            held: 0,
            outcome: Outcome::default(),
        })
    }

    /// The cell that serves a UE, an index among the cells.
    pub fn serving_cell(&self, ue: usize) -> usize {
        self.ues[ue].cell
    }

    /// Says it in a sentence if the path loss between a UE where it begins and its cell is used
    /// outside its validity.
    pub fn outside_validity(&self, ue: usize) -> Option<String> {
        self.channel.outside_validity(ue, self.ues[ue].cell)
    }

    /// What a UE's radio has done so far.
    pub fn ue_readings(&self, ue: usize) -> &UeReadings {
        &self.ues[ue].readings
    }

    /// The longest delay of a UE's packets since this was asked last, in seconds.
    pub fn take_longest_delay_s(&mut self, ue: usize, direction: Direction) -> f64 {
        let readings = &mut self.ues[ue].readings;
        let readings = match direction {
            Direction::Down => &mut readings.downlink,
            Direction::Up => &mut readings.uplink,
        };
        std::mem::take(&mut readings.longest_s)
    }

    /// What a UE's RLC has done so far.
    pub fn rlc_counters(&self, ue: usize, direction: Direction) -> Counters {
        self.ues[ue].bearer.counters(direction)
    }

    /// Packets of which no byte was sent, and bytes that were never sent.
    pub fn queue(&self, ue: usize, direction: Direction) -> (usize, u64) {
        let bearer = &self.ues[ue].bearer;
        (bearer.queue_pkts(direction), bearer.queue_bytes(direction))
    }

    /// What a cell has done on a carrier so far.
    pub fn cell_readings(&self, carrier: usize, cell: usize) -> &CellReadings {
        self.downlink.readings(carrier, cell)
    }

    fn ue_of(&self, node: NodeId) -> Option<u32> {
        let ue = *self.ue_of_node.get(node.index())?;
        (ue != NONE).then_some(ue)
    }

    /// Puts a UE among those that have something to send, if it has.
    fn look_at(&mut self, index: u32, tti: u64) {
        let ue = &mut self.ues[index as usize];
        let cell = &mut self.cells[ue.cell];
        if ue.is_connected && !ue.down_active && ue.has_downlink_work(tti) {
            ue.down_active = true;
            insert(&mut cell.down, index);
        }
        if ue.is_connected && !ue.up_active && ue.has_uplink_work(tti) {
            ue.up_active = true;
            insert(&mut cell.up, index);
        }
        if !ue.timed && ue.bearer.next_deadline() != SimTime::MAX {
            ue.timed = true;
            self.timed.push(index);
        }
    }

    fn look_at_touched(&mut self, tti: u64) {
        let mut touched = std::mem::take(&mut self.touched);
        for index in touched.drain(..) {
            self.look_at(index, tti);
        }
        self.touched = touched;
    }

    fn run_timers(&mut self, context: &mut MediumContext<'_>) {
        let now = context.now();
        let mut kept = 0;
        for at in 0..self.timed.len() {
            let index = self.timed[at];
            let ue = &mut self.ues[index as usize];
            let mut deadline = ue.bearer.next_deadline();
            if deadline <= now {
                ue.bearer.on_deadline(now, &mut self.outcome);
                deadline = ue.bearer.next_deadline();
                self.held -= ue.settle(context, self.enodebs[ue.cell], &mut self.outcome);
                self.touched.push(index);
            }
            ue.timed = deadline != SimTime::MAX;
            if ue.timed {
                self.timed[kept] = index;
                kept += 1;
            }
        }
        self.timed.truncate(kept);
    }

    fn tick(&mut self, context: &mut MediumContext<'_>, tti: u64) {
        self.next_tti = tti + 1;
        self.run_timers(context);
        if tti > 0 {
            self.receive(context, tti);
        }
        self.look_at_touched(tti);
        let decision = u64::from(self.config.decision_to_air.0);
        for cell in &self.cells {
            let (ues, channel) = (&mut self.ues, &mut self.channel);
            if !cell.down.is_empty() {
                self.downlink
                    .report(&self.config, channel, ues, &cell.down, tti);
            }
            if !cell.up.is_empty() {
                self.uplink.request(&self.config, ues, &cell.up, tti);
            }
        }
        self.uplink.send(
            &self.config,
            &mut self.channel,
            &mut self.ues,
            tti,
            &mut self.outcome,
        );
        self.uplink.reserve(&self.config, &mut self.ues, tti);
        let most_cces = self.downlink.most_cces();
        for (at, cell) in self.cells.iter().enumerate() {
            let (ues, channel) = (&mut self.ues, &mut self.channel);
            let mut cces = 0;
            if !cell.up.is_empty() {
                // Grants leave half of the control region to assignments, if there may be any.
                let room = if cell.down.is_empty() {
                    most_cces
                } else {
                    most_cces.div_ceil(2)
                };
                cces = self
                    .uplink
                    .schedule(&self.config, channel, ues, &cell.up, at, room, tti);
                if cces != 0 {
                    self.busy_until = self
                        .busy_until
                        .max(tti + decision + 2 * u64::from(FEEDBACK_TTIS));
                }
            }
            self.downlink.count_uplink(at, self.uplink.taken_prbs(at));
            if !cell.down.is_empty() {
                let subframe = Subframe {
                    config: &self.config,
                    cell: at,
                    active: &cell.down,
                    tti,
                };
                let sent = self
                    .downlink
                    .schedule(subframe, channel, ues, cces, &mut self.outcome);
                if sent {
                    self.busy_until = self
                        .busy_until
                        .max(tti + decision + u64::from(FEEDBACK_TTIS));
                }
            }
        }
        self.drop_refused(context);
        self.fail_links(context);
        self.rest(tti);
        self.arm(context);
    }

    /// What reaches a receiver at the begin of a TTI.
    fn receive(&mut self, context: &mut MediumContext<'_>, tti: u64) {
        let air = tti - 1;
        let decoding = u64::from(self.config.decoding.0);
        self.downlink
            .judge(&self.config, &mut self.channel, &mut self.ues, air);
        let repeats = self
            .uplink
            .judge(&self.config, &mut self.channel, &mut self.ues, air);
        if repeats {
            self.busy_until = self.busy_until.max(air + 2 * ROUND_TRIP_TTIS);
        }
        if let Some(air) = air.checked_sub(decoding) {
            self.held -= self.downlink.deliver(
                context,
                &mut self.ues,
                &self.enodebs,
                air,
                &mut self.outcome,
                &mut self.touched,
            );
        }
        // Not later than the decision on its feedback, which may put a new block into its process.
        let room = u64::from(FEEDBACK_TTIS - 1 - self.config.decision_to_air.0);
        if let Some(air) = air.checked_sub(decoding.min(room)) {
            self.held -= self.uplink.deliver(
                context,
                &mut self.ues,
                &self.enodebs,
                air,
                &mut self.outcome,
                &mut self.touched,
            );
        }
        if let Some(air) = tti.checked_sub(u64::from(FEEDBACK_TTIS)) {
            self.downlink
                .feedback(&self.config, &mut self.ues, air, &mut self.touched);
        }
        self.uplink.take_in(&mut self.ues, tti, &mut self.touched);
    }

    /// Drops what transmission buffers gave up while blocks were filled.
    fn drop_refused(&mut self, context: &mut MediumContext<'_>) {
        self.held -= self.outcome.dropped.len();
        for packet in self.outcome.dropped.drain(..) {
            context.drop(packet, DropCause::Queue);
        }
    }

    /// Radio links whose RLC has given up fail.
    fn fail_links(&mut self, context: &mut MediumContext<'_>) {
        let failed = |cell: &Cell, ues: &[Ue]| {
            let mut active = cell.down.iter().chain(&cell.up);
            active
                .find(|ue| ues[**ue as usize].bearer.has_failed())
                .copied()
        };
        for cell in 0..self.cells.len() {
            while let Some(ue) = failed(&self.cells[cell], &self.ues) {
                self.on_rlc_failure(context, ue as usize);
            }
        }
    }

    /// Takes UEs that have nothing left to send out of their cells' lists.
    fn rest(&mut self, tti: u64) {
        let Self {
            cells, ues, timed, ..
        } = self;
        let mut keep_time = |index: u32, ue: &mut Ue| {
            if !ue.timed && ue.bearer.next_deadline() != SimTime::MAX {
                ue.timed = true;
                timed.push(index);
            }
        };
        for cell in cells {
            cell.down.retain(|&index| {
                let ue = &mut ues[index as usize];
                keep_time(index, ue);
                ue.down_active = ue.has_downlink_work(tti);
                ue.down_active
            });
            cell.up.retain(|&index| {
                let ue = &mut ues[index as usize];
                keep_time(index, ue);
                ue.up_active = ue.has_uplink_work(tti);
                ue.up_active
            });
        }
    }

    /// A UE may have something to send from now on.
    fn wake(&mut self, context: &mut MediumContext<'_>, index: u32) {
        let tti = not_before(context.now()).max(self.next_tti);
        self.look_at(index, tti);
        if tti < self.armed {
            self.armed = tti;
            if let Some(timer) = self.timer {
                context.set_timer(timer, start_of(tti));
            }
        }
    }

    /// Arms the timer for the next TTI that has to be worked on.
    fn arm(&mut self, context: &mut MediumContext<'_>) {
        let active = |cell: &Cell| !cell.down.is_empty() || !cell.up.is_empty();
        let wanted = if self.busy_until >= self.next_tti || self.cells.iter().any(active) {
            self.next_tti
        } else {
            let deadlines = self.timed.iter();
            let deadlines = deadlines.map(|&ue| self.ues[ue as usize].bearer.next_deadline());
            match deadlines.min() {
                Some(deadline) if deadline != SimTime::MAX => {
                    not_before(deadline).max(self.next_tti)
                }
                _ => u64::MAX,
            }
        };
        let Some(timer) = self.timer else { return };
        self.armed = wanted;
        if wanted == u64::MAX {
            context.cancel_timer(timer);
        } else {
            context.set_timer(timer, start_of(wanted));
        }
    }
}

fn insert(list: &mut Vec<u32>, index: u32) {
    let at = list.partition_point(|&other| other < index);
    list.insert(at, index);
}

impl Medium for Ran {
    fn start(&mut self, context: &mut MediumContext<'_>) {
        self.timer = Some(context.timer(0));
        self.arm(context);
        self.start_moves(context);
    }

    fn on_packet(&mut self, context: &mut MediumContext<'_>, node: NodeId, id: PacketId) {
        let packet = context.packet(id);
        let (bytes, destination) = (packet.size_bytes, packet.destination);
        let (direction, ue) = match self.ue_of(node) {
            Some(ue) => (Direction::Up, Some(ue)),
            None => (Direction::Down, self.ue_of(destination)),
        };
        let Some(index) = ue else {
            context.drop(id, DropCause::NoRoute);
            return;
        };
        if direction == Direction::Down && self.redirect(context, index as usize, node, id) {
            return;
        }
        let now = context.now();
        let ue = &mut self.ues[index as usize];
        ue.bearer.push(direction, now, id, bytes, &mut self.outcome);
        self.held += 1;
        self.held -= ue.settle(context, self.enodebs[ue.cell], &mut self.outcome);
        self.wake(context, index);
    }

    fn on_timer(&mut self, context: &mut MediumContext<'_>, token: u32) {
        if token == moves::TOKEN {
            self.on_moves_timer(context);
            return;
        }
        self.armed = u64::MAX;
        let tti = not_before(context.now());
        self.tick(context, tti);
    }

    fn held_pkts(&self) -> usize {
        self.held
    }
}
