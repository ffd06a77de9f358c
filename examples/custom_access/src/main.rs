//! An access technology of one's own, with keys of its own and a sweep over one of them.
//!
//! Time division: the UEs of a cell have the channel in turn, each for one slot, in both
//! directions at once. A packet arrives when it has been sent in full; it may take several slots of
//! its UE. A cell whose queues are empty sleeps.

use std::collections::{BTreeMap, VecDeque};
use std::error::Error;

use backlane_world::Models;
use backlane_world::engine::TimerId;
use backlane_world::net::{DropCause, Medium, MediumContext, NodeId, PacketId};
use backlane_world::param::params;
use backlane_world::param::ranges::{INTERVAL, SIZE};
use backlane_world::technologies::{Cell, Technology};
use backlane_world::units::{Bytes, Duration, Rate};

params! {
    /// Time division among the UEs of a cell.
    #[derive(Clone, Copy, Debug)]
    pub struct Config {
        /// Rate of the channel in each direction.
        rate: Rate;
        /// Time for which a UE has the channel.
        slot: Duration = Duration::from_millis(5), in INTERVAL;
        /// Queue of one UE in one direction.
        queue: Bytes = Bytes::new(300_000), in SIZE;
    }
}

/// A direction of a UE: what waits, and the bytes of its first packet that have been sent.
#[derive(Default)]
struct Queue {
    waiting: VecDeque<PacketId>,
    bytes: u64,
    sent_bytes: u64,
}

struct User {
    node: NodeId,
    enodeb: NodeId,
    /// Down and up.
    queues: [Queue; 2],
}

struct CellState {
    users: Vec<User>,
    /// Whose slot it is.
    turn: usize,
    is_awake: bool,
    timer: Option<TimerId>,
}

struct Tdma {
    config: Config,
    cells: Vec<CellState>,
    /// Cell and place in it, by UE.
    places: BTreeMap<NodeId, (usize, usize)>,
}

impl Tdma {
    fn new(config: Config, cells: &[Cell]) -> Self {
        let mut places = BTreeMap::new();
        let states = cells.iter().enumerate().map(|(number, cell)| {
            places.extend(
                cell.ues
                    .iter()
                    .zip(0..)
                    .map(|(&ue, place)| (ue, (number, place))),
            );
            let user = |&node: &NodeId| User {
                node,
                enodeb: cell.enodeb,
                queues: Default::default(),
            };
            CellState {
                users: cell.ues.iter().map(user).collect(),
                turn: 0,
                is_awake: false,
                timer: None,
            }
        });
        let cells = states.collect();
        Self {
            config,
            cells,
            places,
        }
    }

    fn bytes_of_slot(&self) -> u64 {
        self.config.rate.bytes_in(self.config.slot).get()
    }
}

impl Medium for Tdma {
    fn start(&mut self, context: &mut MediumContext<'_>) {
        for (number, cell) in self.cells.iter_mut().enumerate() {
            cell.timer = Some(context.timer(number as u32));
        }
    }

    fn on_packet(&mut self, context: &mut MediumContext<'_>, node: NodeId, id: PacketId) {
        let destination = context.packet(id).destination;
        let (ue, direction) = if self.places.contains_key(&node) {
            (node, 1)
        } else {
            (destination, 0)
        };
        let (number, place) = self.places[&ue];
        let cell = &mut self.cells[number];
        let queue = &mut cell.users[place].queues[direction];
        let size = u64::from(context.packet(id).size_bytes);
        if queue.bytes + size > self.config.queue.get() {
            context.drop(id, DropCause::Queue);
            return;
        }
        queue.bytes += size;
        queue.waiting.push_back(id);
        if !cell.is_awake
            && let Some(timer) = cell.timer
        {
            cell.is_awake = true;
            context.set_timer(timer, context.now() + self.config.slot);
        }
    }

    /// The end of a slot: what its UE sent in it arrives.
    fn on_timer(&mut self, context: &mut MediumContext<'_>, token: u32) {
        let slot_bytes = self.bytes_of_slot();
        let cell = &mut self.cells[token as usize];
        let user = &mut cell.users[cell.turn];
        for (queue, to) in user.queues.iter_mut().zip([user.node, user.enodeb]) {
            let mut left = slot_bytes;
            while left > 0
                && let Some(&id) = queue.waiting.front()
            {
                let size = u64::from(context.packet(id).size_bytes);
                let sent = left.min(size - queue.sent_bytes);
                left -= sent;
                queue.sent_bytes += sent;
                if queue.sent_bytes == size {
                    queue.sent_bytes = 0;
                    queue.bytes -= size;
                    queue.waiting.pop_front();
                    context.deliver(to, id);
                }
            }
        }
        cell.turn = (cell.turn + 1) % cell.users.len();
        let mut queues = cell.users.iter().flat_map(|user| &user.queues);
        cell.is_awake = queues.any(|queue| !queue.waiting.is_empty());
        if let Some(timer) = cell.timer.filter(|_| cell.is_awake) {
            context.set_timer(timer, context.now() + self.config.slot);
        }
    }

    fn held_pkts(&self) -> usize {
        let users = self.cells.iter().flat_map(|cell| &cell.users);
        let queues = users.flat_map(|user| &user.queues);
        queues.map(|queue| queue.waiting.len()).sum()
    }
}

fn tdma() -> Technology {
    Technology::new("tdma", |config: &Config, cells, _streams| {
        Box::new(Tdma::new(*config, cells))
    })
}

fn main() -> Result<(), Box<dyn Error>> {
    let models = Models::builder().access(tdma()).build()?;
    let catalogue = models.catalogue();
    let plan = catalogue.plan(include_str!("../tdma.toml"), "tdma.toml", &[], None)?;
    println!("slot      goodput of all flows  mean RTT");
    for cell in &plan.cells {
        let scenario = catalogue.from_resolved(&cell.resolved)?;
        let outcome = models.run(&scenario, scenario.seed)?;
        let floats = |name| outcome.flows.floats(name).ok_or("a column is missing");
        let rtts_s: Vec<f64> = floats("rtt_mean_s")?.iter().flatten().copied().collect();
        println!(
            "{:8} {:>14.2} Mbit/s {:>6.1} ms",
            cell.parameters["access.slot"].as_str().ok_or("no text")?,
            floats("goodput_bps")?.iter().flatten().sum::<f64>() / 1e6,
            1e3 * rtts_s.iter().sum::<f64>() / rtts_s.len() as f64,
        );
    }
    Ok(())
}
