//! The slot.
//!
//! In slot t the channels are drawn; each link that is ON finds its best flow by the queues U(t),
//! equations (2) to (4); the scheduler chooses links; they move packets; packets arrive. So
//! equation (1) holds with queues as they were when the slot began, and what a link brings or a
//! source adds can leave in slot t + 1.

use backlane_engine::{Stream, Streams};

use crate::config::{Arrivals, Config, Rule, Ties};
use crate::flow_control;
use crate::network::{Network, Problem, queue};
use crate::schedule::Schedule;
use crate::source::{Chance, State};
use crate::statistics::{Batches, FlowStatistics, Slope};

/// A weight is a difference of backlogs in these units; what is below decides ties. The ties of
/// 64 links add up to less than a unit.
const UNIT: u64 = 1 << 12;
/// The longest wait that counts for ties between links.
const LONGEST_WAIT: u64 = 63;
/// A larger difference of backlogs counts as this one, so that 64 weights fit into a word.
const MOST_DIFFERENCE: u64 = 1 << 36;

/// The packets of the whole run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Balance {
    /// Packets that arrived since the beginning, the initial backlog included.
    pub injected_pkts: u64,
    /// Packets that reached their destination.
    pub delivered_pkts: u64,
    /// Packets dropped from full buffers.
    pub dropped_pkts: u64,
    /// Packets in the queues.
    pub queued_pkts: u64,
}

impl Balance {
    /// Whether packets are conserved.
    pub fn holds(&self) -> bool {
        self.injected_pkts == self.delivered_pkts + self.dropped_pkts + self.queued_pkts
    }
}

/// A slotted network that runs.
#[derive(Clone, Debug)]
pub struct Model {
    config: Config,
    network: Network,
    schedule: Schedule,
    channels: Vec<Chance>,
    sources: Vec<State>,
    ties: Stream,
    /// U: by node and then by flow.
    queues: Vec<u64>,
    /// The same summed over nodes.
    by_flow: Vec<u64>,
    slot: u64,
    /// The flow that each link would serve, as an index into the candidates.
    best: Vec<u32>,
    weights: Vec<u64>,
    chosen: Vec<u32>,
    /// The slot after the one in which each link and each candidate was last chosen.
    link_chosen: Vec<u64>,
    candidate_chosen: Vec<u64>,
    /// Packets that each link has carried since the warm-up.
    carried: Vec<u64>,
    /// Packets that arrive at queues after all links have sent.
    moves: Vec<(u32, u64)>,
    /// Flows under flow control, by source node.
    controlled: Vec<Vec<usize>>,
    rates: Vec<f64>,
    scratch: (Vec<u64>, Vec<f64>, Vec<u32>),
    /// The whole run, for the balance.
    total: Balance,
    /// Counted since the warm-up.
    statistics: Vec<FlowStatistics>,
    served_at: Vec<u64>,
    backlog_sum: u128,
    batches: Batches,
    batches_closed: u64,
}

impl Model {
    /// A network before its first slot. Windows are full then.
    ///
    /// # Errors
    /// If the configuration is no network.
    pub fn new(config: &Config, streams: &Streams) -> Result<Self, Problem> {
        let network = Network::new(config)?;
        let schedule = Schedule::new(config.scheduler, &network.conflicts(config)?)
            .ok_or(Problem::TooManyLinks(config.link.len()))?;
        let channels = (config.link.iter().enumerate())
            .map(|(i, link)| Chance::new(streams.stream(&format!("link {i}"), "channel"), link.on))
            .collect();
        let (nodes, links) = (network.nodes.len(), config.link.len());
        let flows = config.flow.len();
        let sources = (config.flow.iter().enumerate())
            .map(|(i, flow)| {
                let backlog = u64::from(flow.backlog_pkts);
                State::new(flow.arrivals, backlog, &format!("flow {i}"), streams)
            })
            .collect();
        let mut controlled = vec![Vec::new(); nodes];
        for (index, flow) in config.flow.iter().enumerate() {
            if flow.arrivals == Arrivals::Utility {
                controlled[network.flows[index].0].push(index);
            }
        }
        controlled.retain(|flows| !flows.is_empty());
        let end = config.warm_up_slots + config.slots;
        let mut model = Self {
            schedule,
            channels,
            sources,
            ties: streams.stream("scheduler", "ties"),
            queues: vec![0; nodes * flows],
            by_flow: vec![0; flows],
            slot: 0,
            best: vec![0; links],
            weights: vec![0; links],
            chosen: Vec::new(),
            link_chosen: vec![0; links],
            candidate_chosen: vec![0; network.candidates.len()],
            carried: vec![0; links],
            moves: Vec::new(),
            controlled,
            rates: vec![0.0; flows],
            scratch: Default::default(),
            total: Balance {
                injected_pkts: 0,
                delivered_pkts: 0,
                dropped_pkts: 0,
                queued_pkts: 0,
            },
            statistics: vec![FlowStatistics::default(); flows],
            served_at: vec![u64::MAX; flows],
            backlog_sum: 0,
            batches: Batches::new(config.slots, end),
            batches_closed: 0,
            network,
            config: config.clone(),
        };
        for flow in 0..flows {
            model.inject(flow, u64::from(model.config.flow[flow].backlog_pkts));
            if let State::Window(window) = &mut model.sources[flow] {
                let room = window.arrivals();
                model.inject(flow, room);
            }
        }
        model.overflow();
        model.statistics.fill(FlowStatistics::default());
        Ok(model)
    }

    /// Runs this many slots, at most to the end of the run; returns how many.
    pub fn run(&mut self, slots: u64) -> u64 {
        let end = self.end();
        let until = self.slot.saturating_add(slots).min(end);
        let begun = self.slot;
        while self.slot < until {
            if self.slot == self.batches.end {
                self.close_batch();
            }
            self.step();
            if self.slot == self.config.warm_up_slots {
                self.statistics.fill(FlowStatistics::default());
                self.carried.fill(0);
            }
        }
        if self.slot == end && self.slot == self.batches.end {
            self.close_batch();
        }
        until - begun
    }

    fn close_batch(&mut self) {
        self.batches
            .close(self.backlog_sum, self.batches_closed == 0);
        self.batches_closed += 1;
    }

    /// The slot with which the run ends.
    pub fn end(&self) -> u64 {
        self.config.warm_up_slots + self.config.slots
    }

    /// The number of slots that are over.
    pub fn slot(&self) -> u64 {
        self.slot
    }

    /// U: the packets of a flow at a node.
    pub fn queue_pkts(&self, node: usize, flow: usize) -> u64 {
        self.queues[queue(node, flow, self.by_flow.len())]
    }

    /// U at the source of a flow.
    pub fn source_queue_pkts(&self, flow: usize) -> u64 {
        self.queue_pkts(self.source(flow), flow)
    }

    /// The packets of a flow in all queues.
    pub fn backlog_pkts(&self, flow: usize) -> u64 {
        self.by_flow[flow]
    }

    /// The window of a flow; `None` if it has none.
    pub fn window_pkts(&self, flow: usize) -> Option<f64> {
        match &self.sources[flow] {
            State::Window(window) => Some(window.window_pkts()),
            _ => None,
        }
    }

    /// The links that sent in the last slot.
    pub fn chosen(&self) -> &[u32] {
        &self.chosen
    }

    /// The packets that each link has carried since the warm-up.
    pub fn carried_pkts(&self) -> &[u64] {
        &self.carried
    }

    /// What was measured of each flow since the warm-up.
    pub fn statistics(&self) -> &[FlowStatistics] {
        &self.statistics
    }

    /// The trend of the sum of all queues over the second half of the slots that are measured;
    /// `None` before the end and if there are fewer than 40 slots.
    pub fn slope(&self) -> Option<Slope> {
        (self.slot == self.end()).then(|| self.batches.slope())?
    }

    /// The names of the nodes, in the order in which links name them.
    pub fn nodes(&self) -> &[String] {
        &self.network.nodes
    }

    fn source(&self, flow: usize) -> usize {
        self.network.flows[flow].0
    }

    /// Where all packets are.
    pub fn balance(&self) -> Balance {
        Balance {
            queued_pkts: self.queues.iter().sum(),
            ..self.total
        }
    }

    /// One slot.
    fn step(&mut self) {
        self.look();
        self.control();
        for link in 0..self.channels.len() {
            let on = self.channels[link].happens();
            self.weights[link] = if on { self.weight(link) } else { 0 };
        }
        if self.config.ties == Ties::Random {
            self.shuffle_ties();
        }
        self.schedule.choose(&self.weights, &mut self.chosen);
        self.transmit();
        for flow in 0..self.sources.len() {
            if let State::Window(window) = &mut self.sources[flow] {
                window.on_slot_end();
            }
            let packets = self.sources[flow].arrivals(self.rates[flow]);
            self.inject(flow, packets);
        }
        self.overflow();
        self.slot += 1;
    }

    fn look(&mut self) {
        let flows = self.by_flow.len();
        for (index, seen) in self.statistics.iter_mut().enumerate() {
            let source = self.network.flows[index].0;
            let at_source = self.queues[queue(source, index, flows)];
            seen.backlog_sum_pkts += u128::from(self.by_flow[index]);
            seen.source_backlog_sum_pkts += u128::from(at_source);
            seen.single_slots += u64::from(at_source == 1);
            self.backlog_sum += u128::from(self.by_flow[index]);
        }
    }

    /// Equation (5) at each node with flows under flow control.
    fn control(&mut self) {
        let count = self.by_flow.len();
        for flows in &self.controlled {
            let (backlogs, rates, _) = &mut self.scratch;
            backlogs.clear();
            backlogs.extend(
                flows
                    .iter()
                    .map(|&flow| self.queues[queue(self.network.flows[flow].0, flow, count)]),
            );
            let control = self.config.flow_control;
            flow_control::rates(control.m, control.r_max_pkts, backlogs, rates);
            for (&flow, &rate) in flows.iter().zip(rates.iter()) {
                self.rates[flow] = rate;
            }
        }
    }

    /// Equations (2) to (4) for a link that is ON: finds its flow and gives its weight.
    #[inline]
    fn weight(&mut self, link: usize) -> u64 {
        let start = if link == 0 {
            0
        } else {
            self.network.ends[link - 1]
        };
        let k = u64::from(self.config.k_pkts);
        let (mut most, mut tied) = (0, 0);
        for index in start..self.network.ends[link] {
            let candidate = self.network.candidates[index as usize];
            let here = self.queues[candidate.from as usize];
            if here == 0 && self.config.rule == Rule::WorkConserving {
                continue;
            }
            let there = candidate.to.map_or(0, |to| self.queues[to as usize]);
            let difference = here.max(k).saturating_sub(there);
            if difference < most || difference == 0 {
                continue;
            }
            let wins = difference > most || {
                tied += 1;
                match self.config.ties {
                    Ties::RoundRobin => {
                        let waited = |index: u32| self.candidate_chosen[index as usize];
                        waited(index) < waited(self.best[link])
                    }
                    Ties::Random => self.ties.uniform_below(tied) == 0,
                }
            };
            if difference > most {
                tied = 1;
            }
            if wins {
                (most, self.best[link]) = (difference, index);
            }
        }
        if most == 0 {
            return 0;
        }
        let rate = u64::from(self.config.link[link].rate_pkts);
        let wait = match self.config.ties {
            Ties::RoundRobin => (self.slot - self.link_chosen[link]).min(LONGEST_WAIT),
            Ties::Random => 0,
        };
        most.min(MOST_DIFFERENCE) * rate * UNIT + wait
    }

    /// Gives links a random order in the part of their weights that decides ties.
    fn shuffle_ties(&mut self) {
        let order = &mut self.scratch.2;
        order.clear();
        let heavy = |&link: &u32| self.weights[link as usize] > 0;
        order.extend((0..self.weights.len() as u32).filter(heavy));
        for last in (1..order.len()).rev() {
            let other = self.ties.uniform_below(last as u64 + 1) as usize;
            order.swap(last, other);
        }
        for (rank, &link) in order.iter().enumerate() {
            self.weights[link as usize] += rank as u64;
        }
    }

    /// The links that were chosen send what there is.
    fn transmit(&mut self) {
        self.moves.clear();
        for &link in &self.chosen {
            let link = link as usize;
            let index = self.best[link] as usize;
            let candidate = self.network.candidates[index];
            let flow = candidate.flow as usize;
            self.link_chosen[link] = self.slot + 1;
            self.candidate_chosen[index] = self.slot + 1;
            let here = &mut self.queues[candidate.from as usize];
            let packets = u64::from(self.config.link[link].rate_pkts).min(*here);
            if packets == 0 {
                continue;
            }
            *here -= packets;
            self.carried[link] += packets;
            let source = self.network.flows[flow].0;
            if candidate.from as usize == queue(source, flow, self.by_flow.len())
                && self.served_at[flow] != self.slot
            {
                self.served_at[flow] = self.slot;
                self.statistics[flow].served_slots += 1;
            }
            match candidate.to {
                Some(to) => self.moves.push((to, packets)),
                None => {
                    self.by_flow[flow] -= packets;
                    self.total.delivered_pkts += packets;
                    self.statistics[flow].delivered_pkts += packets;
                    if let State::Window(window) = &mut self.sources[flow] {
                        window.on_fate(packets, 0);
                    }
                }
            }
        }
        for &(to, packets) in &self.moves {
            self.queues[to as usize] += packets;
        }
    }

    fn inject(&mut self, flow: usize, packets: u64) {
        let source = self.source(flow);
        self.queues[queue(source, flow, self.by_flow.len())] += packets;
        self.by_flow[flow] += packets;
        self.total.injected_pkts += packets;
        self.statistics[flow].injected_pkts += packets;
    }

    /// Nodes drop excess packets one by one from their largest queue; of equal queues from the
    /// first in the list. A source with a window detects a drop like a delivery in the next slot.
    fn overflow(&mut self) {
        let Some(limit) = self.config.buffer_pkts else {
            return;
        };
        for (node, queues) in self
            .queues
            .chunks_exact_mut(self.by_flow.len().max(1))
            .enumerate()
        {
            let mut held: u64 = queues.iter().sum();
            while held > u64::from(limit) {
                let mut flow = 0;
                for other in 1..queues.len() {
                    if queues[other] > queues[flow] {
                        flow = other;
                    }
                }
                held -= 1;
                queues[flow] -= 1;
                self.by_flow[flow] -= 1;
                self.total.dropped_pkts += 1;
                if self.network.flows[flow].0 == node {
                    self.statistics[flow].dropped_at_source_pkts += 1;
                } else {
                    self.statistics[flow].dropped_in_transit_pkts += 1;
                }
                if let State::Window(window) = &mut self.sources[flow] {
                    window.on_fate(0, 1);
                }
            }
        }
    }
}
