//! The paths of flows and their resources.
//!
//! Everything shared is a resource that can be used for one second per second: a direction of a
//! wire, a cell, the air around a station. A flow has a use of each resource in seconds per bit.

use std::collections::{BTreeMap, VecDeque};
use std::rc::Rc;

use backlane_lte::config::RanConfig;
use backlane_param::Params;
use backlane_radio::Position;
use backlane_scenario::model::lte::LteUe;
use backlane_scenario::model::{
    AccessKind, End, Link, Lte, NodeKind, Placement, QueueDiscipline, RadioLink, Scenario, Wire,
};
use backlane_units::{Duration, Rate};
use backlane_wifi::{Neighbours, WifiConfig};

use super::hops::{Hop, MOST_S_PER_BIT, Over, air, loss_db, lte, lte_bps, mean_bps, queue_bytes};
use super::routing::Routing;
use crate::convert;

/// Rate of a cell of another crate that has no key `rate`, in bits per second.
const UNKNOWN_CELL_BPS: f64 = 1e8;
/// Bytes of an IP packet of data beside its payload: IP, TCP, timestamps.
pub(super) const TCP_HEADER_BYTES: f64 = 52.0;
/// Bytes of IP and UDP headers.
pub(super) const UDP_HEADER_BYTES: f64 = 28.0;
/// Stations that a frame is looked for at, of all that hear it.
const MOST_HEARING: usize = 64;
/// Stations of a channel that are asked whether they hear another; beyond, some stand for all.
const MOST_LISTENERS: usize = 500;
/// Steps over which a flow is followed along flow rates.
const MOST_STEPS: usize = 32;
/// A smaller share of the packets of a flow is left out.
const LEAST_SHARE: f64 = 1e-3;

/// A path from one end to another.
#[derive(Clone, Debug, Default)]
pub(super) struct Way {
    /// Seconds of use of each resource for a bit and for a packet; the same one may come twice.
    pub uses: Vec<(u32, f64, f64)>,
    /// Packet-hops of a packet, over each kind of hop; a packet may be spread over several paths.
    pub hops: BTreeMap<Over, f64>,
    /// Frames on the air for a packet.
    pub frames: f64,
    /// Sum over those frames of the stations that hear them.
    pub heard: f64,
    /// Delay of the links.
    pub delay_s: f64,
    /// Probability that a packet is lost on the way though nothing is full.
    pub loss: f64,
    /// The maximum backlog on the path.
    pub queue_bytes: f64,
    /// The first nodes and the last, among nodes of the file.
    pub through: Vec<u32>,
}

impl Way {
    /// Hops of a packet.
    pub fn length(&self) -> f64 {
        self.hops.values().sum()
    }
}

/// The network as far as flows see it.
pub(super) struct Paths<'a> {
    scenario: &'a Scenario,
    wifi: Option<Rc<WifiConfig>>,
    routing: Routing,
    /// The radio access network, if there is one.
    lte: Option<RanConfig>,
    hops: Vec<Hop>,
    /// For the first directions: the link of the file, and whether it is its way back.
    of_link: Vec<(usize, bool)>,
    /// For each node: a neighbour and the direction to it.
    neighbours: Vec<Vec<(u32, u32)>>,
    /// Nodes with eNodeBs, in their order.
    enodebs: Vec<u32>,
    /// For each eNodeB the direction down; the other is next. None for links of single UEs.
    cells: Vec<u32>,
    /// For each radio, by node and channel: the radios that hear it, itself included, and how many
    /// there are.
    hearing: BTreeMap<(u32, u8), (Vec<u32>, f64)>,
    /// The tree of the last searches, by root.
    trees: BTreeMap<u32, Vec<Option<u32>>>,
}

impl<'a> Paths<'a> {
    pub fn new(scenario: &'a Scenario) -> Self {
        let mut paths = Self {
            scenario,
            // Checked values are a configuration.
            wifi: (scenario.wifi.as_ref())
                .and_then(|wifi| WifiConfig::read(&wifi.values).ok())
                .map(Rc::new),
            routing: Routing::of(scenario),
            lte: lte(scenario),
            hops: Vec::new(),
            of_link: Vec::new(),
            neighbours: vec![Vec::new(); scenario.nodes.len()],
            enodebs: (0..scenario.nodes.len())
                .filter(|&node| scenario.nodes[node].kind == NodeKind::Enodeb)
                .map(|node| node as u32)
                .collect(),
            cells: Vec::new(),
            hearing: BTreeMap::new(),
            trees: BTreeMap::new(),
        };
        for (index, link) in scenario.links.iter().enumerate() {
            let before = paths.hops.len();
            paths.add_link(link);
            if paths.hops.len() > before {
                paths.of_link.extend([(index, false), (index, true)]);
            }
        }
        if let Some(wifi) = paths.wifi.clone() {
            paths.add_radios(&wifi);
        }
        paths.add_cells();
        paths
    }

    /// Directions between nodes of the mesh.
    pub fn mesh_directions(&self) -> usize {
        self.neighbours.iter().map(Vec::len).sum()
    }

    /// Directions of wires and of links over radios.
    pub fn directions(&self) -> [usize; 2] {
        let mesh = self.neighbours.iter().flatten();
        let is_air =
            |&&(_, direction): &&(u32, u32)| self.hops[direction as usize].over == Over::Air;
        let over_radios = mesh.filter(is_air).count();
        [self.mesh_directions() - over_radios, over_radios]
    }

    /// Directions and radios.
    pub fn resources(&self) -> usize {
        self.hops.len() + self.hearing.len()
    }

    /// Mean number of stations that hear a frame, and the number of stations; none without radios.
    pub fn mean_hearing(&self) -> Option<(f64, usize)> {
        let count = self.hearing.len();
        let sum: f64 = self.hearing.values().map(|(_, heard)| heard).sum();
        (count > 0).then(|| (sum / count as f64, count))
    }

    /// Steps of one search of a shortest path.
    pub fn search_steps(&self) -> usize {
        self.scenario.nodes.len() + self.mesh_directions()
    }

    fn add_link(&mut self, link: &Link) {
        let (a, b) = (link.a as u32, link.b as u32);
        let keeps_queue = matches!(
            self.routing,
            Routing::SingleQueue(_) | Routing::Classic(_) | Routing::BpMr(_) | Routing::TcpAware(_)
        );
        let is_host =
            [a, b].map(|node| self.scenario.nodes[node as usize].kind == NodeKind::Server);
        let hop = if let Some(wire) = link.wire() {
            let bps = mean_bps_of(wire, 0);
            let decides = (keeps_queue && is_host == [false, false])
                || !matches!(wire.queue.discipline, QueueDiscipline::DropTail { .. });
            Hop {
                from: a,
                over: if decides { Over::Deciding } else { Over::Fifo },
                s_per_bit: (1.0 / bps.max(1.0)).min(MOST_S_PER_BIT),
                s_per_pkt: 0.0,
                attempts: 1.0,
                loss: wire.loss_ratio()[0],
                delay_s: wire.delay.as_secs_f64(),
                queue_bytes: queue_bytes(&wire.queue),
                channel: 0,
            }
        } else {
            let Some((radio, wifi)) = link.radio().zip(self.wifi.as_ref()) else {
                return;
            };
            if radio.is_left_out {
                return;
            }
            let channels = [link.a, link.b].map(|node| &self.scenario.nodes[node].channels);
            let common = channels[0]
                .iter()
                .find(|channel| channels[1].contains(channel));
            let Some(channel) = radio.channel.or(common.copied()) else {
                return;
            };
            air(wifi, self.radio_queue_bytes(), radio, channel, a)
        };
        self.join(a, b, hop);
        if let (Some(back), Some(wire)) = (self.hops.last_mut(), link.wire()) {
            back.loss = wire.loss_ratio()[1];
            back.s_per_bit = (1.0 / mean_bps_of(wire, 1).max(1.0)).min(MOST_S_PER_BIT);
        }
    }

    fn join(&mut self, a: u32, b: u32, hop: Hop) {
        let there = self.hops.len() as u32;
        self.hops.push(hop);
        self.hops.push(Hop { from: b, ..hop });
        self.neighbours[a as usize].push((b, there));
        self.neighbours[b as usize].push((a, there + 1));
    }

    /// Radio ranges, and the links that follow from distance.
    fn add_radios(&mut self, config: &WifiConfig) {
        let law = config.propagation();
        let is_in_range = config.neighbours == Neighbours::InRange;
        let gain_db = 2.0 * config.antenna_gain.as_db_f64();
        let left_db = config.power.as_dbm_f64() + gain_db;
        let sensed_db = left_db - config.carrier_sense.as_dbm_f64();
        let nodes = &self.scenario.nodes;
        let position = |node: usize| {
            let (x_m, y_m) = nodes[node].position_m.unwrap_or_default();
            Position { x_m, y_m, z_m: 0.0 }
        };
        let mut by_channel: BTreeMap<u8, Vec<usize>> = BTreeMap::new();
        for (node, of) in nodes.iter().enumerate() {
            for &channel in &of.channels {
                by_channel.entry(channel).or_default().push(node);
            }
        }
        // A link needs some 5 dB of signal over noise, which is about what carrier sense asks for.
        let mut near = Vec::new();
        let mut first = 0;
        for (&channel, stations) in &by_channel {
            // Where distance makes links, all pairs count, as they do when the network is built.
            let stride = if is_in_range {
                1
            } else {
                stations.len().div_ceil(MOST_LISTENERS)
            };
            for (number, &station) in stations.iter().enumerate() {
                let mut hearing = vec![first + number as u32];
                for (other_number, &other) in stations.iter().enumerate().step_by(stride) {
                    if other == station {
                        continue;
                    }
                    let (here, there) = (position(station), position(other));
                    let loss_db = loss_db(&law, here, there);
                    if loss_db <= sensed_db {
                        hearing.push(first + other_number as u32);
                        if station < other {
                            near.push((station as u32, other as u32, channel, loss_db));
                        }
                    }
                }
                let count = (1 + (hearing.len() - 1) * stride) as f64;
                let step = hearing.len().div_ceil(MOST_HEARING);
                let hearing = hearing.into_iter().step_by(step).collect();
                self.hearing
                    .insert((station as u32, channel), (hearing, count));
            }
            first += stations.len() as u32;
        }
        if is_in_range {
            let queue_bytes = self.radio_queue_bytes();
            let least_db = left_db - config.reception.sensitivity().as_dbm_f64();
            for (a, b, channel, loss_db) in near {
                if loss_db <= least_db && !self.neighbours[a as usize].iter().any(|n| n.0 == b) {
                    self.join(
                        a,
                        b,
                        air(config, queue_bytes, &RadioLink::default(), channel, a),
                    );
                }
            }
        }
    }

    fn radio_queue_bytes(&self) -> f64 {
        let wifi = self.scenario.wifi.as_ref();
        wifi.map_or(0.0, |wifi| queue_bytes(&wifi.queue))
    }

    fn add_cells(&mut self) {
        let Some(access) = &self.scenario.access else {
            return;
        };
        let plain = Hop {
            from: 0,
            over: Over::Cell,
            s_per_bit: 0.0,
            s_per_pkt: 0.0,
            attempts: 1.0,
            loss: 0.0,
            delay_s: 0.0,
            queue_bytes: 0.0,
            channel: 0,
        };
        let links = match &access.kind {
            AccessKind::Trace(trace) if !trace.shared => access.ues,
            _ => self.enodebs.len(),
        };
        for number in 0..links {
            let pair = match &access.kind {
                AccessKind::Ideal(ideal) => {
                    [Hop {
                        s_per_bit: (1.0 / (ideal.rate.as_bps() as f64).max(1.0))
                            .min(MOST_S_PER_BIT),
                        delay_s: ideal.delay.as_secs_f64(),
                        queue_bytes: ideal.queue_bytes as f64,
                        ..plain
                    }; 2]
                }
                AccessKind::Declared(declared) => {
                    // The capacity of another crate's technology is known if it has a key `rate`.
                    let rate: Option<Rate> = declared.values.quantity("rate");
                    let bps = rate.map_or(UNKNOWN_CELL_BPS, |rate| rate.as_bps() as f64);
                    [Hop {
                        s_per_bit: (1.0 / bps.max(1.0)).min(MOST_S_PER_BIT),
                        ..plain
                    }; 2]
                }
                AccessKind::Trace(trace) => [&trace.downlink, &trace.uplink].map(|list| {
                    let index = list.get(number % list.len().max(1)).copied().unwrap_or(0);
                    let bps = trace.traces.get(index).map_or(0.0, mean_bps);
                    Hop {
                        over: Over::Trace,
                        s_per_bit: (1.0 / bps.max(1.0)).min(MOST_S_PER_BIT),
                        delay_s: trace.delay.as_secs_f64(),
                        queue_bytes: queue_bytes(&trace.queue),
                        ..plain
                    }
                }),
                AccessKind::Lte(_) => {
                    // The rate of a UE at a typical place; `of_ue` is more precise.
                    let bps = self.lte.as_ref().map(|config| lte_bps(config, 15.0));
                    let s_per_bit = bps.map_or(MOST_S_PER_BIT, |bps| 1.0 / bps);
                    let down = Hop {
                        over: Over::Lte(number as u32),
                        s_per_bit,
                        delay_s: 0.006,
                        queue_bytes: 500_000.0,
                        ..plain
                    };
                    [
                        down,
                        Hop {
                            s_per_bit: 1.5 * s_per_bit,
                            delay_s: 0.012,
                            ..down
                        },
                    ]
                }
            };
            self.cells.push(self.hops.len() as u32);
            self.hops.extend(pair);
        }
    }

    /// The node of an end, and for a UE its direction down and the seconds a bit of its own.
    fn place(&self, end: End) -> (u32, Option<(u32, f64)>) {
        let ue = match end {
            End::Node(node) => return (node as u32, None),
            End::Ue(ue) => ue,
        };
        let Some(access) = self
            .scenario
            .access
            .as_ref()
            .filter(|_| !self.enodebs.is_empty())
        else {
            return (0, None);
        };
        let mut number = match &access.placement {
            Placement::Listed(nodes) => {
                let node = nodes.get(ue).copied().unwrap_or(0) as u32;
                self.enodebs
                    .iter()
                    .position(|&enodeb| enodeb == node)
                    .unwrap_or(0)
            }
            // Random placement is even on average.
            Placement::RoundRobin | Placement::Random => ue % self.enodebs.len(),
        };
        let mut own_s_per_bit = None;
        let mut cell = number;
        match &access.kind {
            AccessKind::Trace(trace) if !trace.shared => cell = ue,
            AccessKind::Lte(lte) => {
                let (nearest, s_per_bit) = self.lte_place(lte, ue, number);
                number = nearest;
                cell = nearest;
                own_s_per_bit = Some(s_per_bit);
            }
            _ => {}
        }
        let enodeb = self.enodebs[number];
        let down = self.cells.get(cell).map(|&down| {
            let s_per_bit = own_s_per_bit.unwrap_or(self.hops[down as usize].s_per_bit);
            (down, s_per_bit)
        });
        (enodeb, down)
    }

    /// The cell of a UE of LTE and the seconds that a bit takes downwards.
    fn lte_place(&self, lte: &Lte, ue: usize, number: usize) -> (usize, f64) {
        let position = |node: u32| {
            self.scenario.nodes[node as usize]
                .position_m
                .unwrap_or_default()
        };
        let distance = |(x, y): (f64, f64), node: u32| {
            let (at_x, at_y) = position(node);
            libm::hypot(x - at_x, y - at_y)
        };
        let nearest = |place: (f64, f64)| {
            (0..self.enodebs.len())
                .map(|number| (number, distance(place, self.enodebs[number])))
                .min_by(|a, b| a.1.total_cmp(&b.1))
        };
        // The mean distance from the centre of a disc, for UEs without a position.
        let mut number = number;
        let mut distances_m = vec![lte.spread.as_m_f64() * 2.0 / 3.0];
        if let Some(placed) = lte.ues.get(ue) {
            distances_m.clear();
            for (index, place) in self.places(lte, placed).into_iter().enumerate() {
                let (cell, distance_m) = nearest(place).unwrap_or((number, 0.0));
                distances_m.push(distance_m);
                if index == 0 {
                    number = cell;
                }
            }
        }
        let Some((config, carrier)) = self
            .lte
            .as_ref()
            .and_then(|config| Some((config, config.carrier.first()?)))
        else {
            return (number, MOST_S_PER_BIT);
        };
        let path_loss = config.path_loss.at(carrier.frequency);
        let heights = (config.enodeb_height.as_m_f64(), config.ue_height.as_m_f64());
        let site = Position {
            x_m: 0.0,
            y_m: 0.0,
            z_m: heights.0,
        };
        let blocks: f64 = config
            .carrier
            .iter()
            .map(|carrier| f64::from(carrier.n_rb()))
            .sum();
        let noise_dbm = -174.0
            + 10.0 * libm::log10(180e3 * blocks.max(1.0))
            + config.ue_noise_figure.as_db_f64();
        let bps = distances_m.iter().map(|distance_m| {
            let user = Position {
                x_m: distance_m.max(1.0),
                y_m: 0.0,
                z_m: heights.1,
            };
            let loss_db = loss_db(&path_loss, site, user);
            lte_bps(
                config,
                config.enodeb_power.as_dbm_f64() - loss_db - noise_dbm,
            )
        });
        let mean_bps = bps.sum::<f64>() / distances_m.len() as f64;
        (number, 1.0 / mean_bps.max(1e4))
    }

    /// Where a UE is at the beginning, in the middle and at the end.
    fn places(&self, lte: &Lte, ue: &LteUe) -> Vec<(f64, f64)> {
        let end_s = self.scenario.duration.as_secs_f64();
        let at = |time_s: f64| {
            if let Some(motion) = ue.motion {
                let moved_s = (time_s - motion.start.as_secs_f64()).max(0.0);
                let most_s = motion.time.map_or(f64::MAX, Duration::as_secs_f64);
                let (x, y) = motion.velocity_m_per_s;
                let moved_s = moved_s.min(most_s);
                return (ue.position_m.0 + x * moved_s, ue.position_m.1 + y * moved_s);
            }
            let way = ue.way.and_then(|way| lte.ways.get(way));
            let there = way.and_then(|way| {
                way.iter()
                    .rev()
                    .find(|place| place.at.as_secs_f64() <= time_s)
            });
            there.map_or(ue.position_m, |place| place.position_m)
        };
        [0.0, 0.5, 1.0].map(|part| at(part * end_s)).to_vec()
    }

    /// The path from one end to another, and the reverse path.
    pub fn between(&mut self, from: End, to: End) -> [Way; 2] {
        let ((a, first), (b, last)) = (self.place(from), self.place(to));
        let mut there = Way::default();
        let mut back = Way::default();
        if let Some((down, s_per_bit)) = first {
            self.enter(&mut there, down + 1, 1.0, Some(1.5 * s_per_bit));
            self.enter(&mut back, down, 1.0, Some(s_per_bit));
        }
        if self.routing.spreads() {
            self.spread(&mut there, a, b);
            self.spread(&mut back, b, a);
        } else {
            self.shortest(&mut there, a, b, false);
            self.shortest(&mut back, a, b, true);
        }
        if let Some((down, s_per_bit)) = last {
            self.enter(&mut there, down, 1.0, Some(s_per_bit));
            self.enter(&mut back, down + 1, 1.0, Some(1.5 * s_per_bit));
        }
        [there, back]
    }

    /// Adds a direction that a share of the packets takes.
    fn enter(&self, way: &mut Way, direction: u32, share: f64, s_per_bit: Option<f64>) {
        let hop = &self.hops[direction as usize];
        let s_per_bit = s_per_bit.unwrap_or(hop.s_per_bit);
        *way.hops.entry(hop.over).or_default() += share;
        way.delay_s += share * hop.delay_s;
        way.loss = 1.0 - (1.0 - way.loss) * (1.0 - share * hop.loss);
        way.queue_bytes += share * hop.queue_bytes;
        if hop.over != Over::Air {
            way.uses
                .push((direction, share * s_per_bit, share * hop.s_per_pkt));
            return;
        }
        let frames = share * hop.attempts;
        way.frames += frames;
        if let Some((hearing, heard)) = self.hearing.get(&(hop.from, hop.channel)) {
            way.heard += frames * heard;
            let first = self.hops.len() as u32;
            let uses = hearing
                .iter()
                .map(|radio| (first + radio, frames * s_per_bit, frames * hop.s_per_pkt));
            way.uses.extend(uses);
        }
    }

    /// Searches the tree of shortest paths from `root`: for each node the direction that leads to
    /// it.
    fn search(&mut self, root: u32) {
        let neighbours = &self.neighbours;
        self.trees.entry(root).or_insert_with(|| {
            let mut tree = vec![None; neighbours.len()];
            let mut open = VecDeque::from([root]);
            while let Some(node) = open.pop_front() {
                for &(next, direction) in &neighbours[node as usize] {
                    if next != root && tree[next as usize].is_none() {
                        tree[next as usize] = Some(direction);
                        open.push_back(next);
                    }
                }
            }
            tree
        });
    }

    /// The shortest path from `a` to `b`, or the same backwards.
    fn shortest(&mut self, way: &mut Way, a: u32, b: u32, backwards: bool) {
        self.search(a);
        let tree = &self.trees[&a];
        let mut directions = Vec::new();
        let mut node = b;
        while node != a {
            let Some(direction) = tree.get(node as usize).copied().flatten() else {
                return;
            };
            directions.push(direction);
            node = self.hops[direction as usize].from;
        }
        way.through.push(a);
        for direction in directions.into_iter().rev() {
            self.enter(
                way,
                if backwards { direction ^ 1 } else { direction },
                1.0,
                None,
            );
            way.through.push(self.hops[(direction ^ 1) as usize].from);
        }
    }

    /// All ways along the flow rates of links, each with its share; without flow rates evenly over
    /// all neighbours of the first node that lead there with few extra hops.
    fn spread(&mut self, way: &mut Way, a: u32, b: u32) {
        self.search(b);
        let extra_hops = match &self.routing {
            Routing::L25r(l25r) => usize::from(l25r.extra_hops),
            _ => 0,
        };
        let tree = &self.trees[&b];
        let distance = |mut node: u32| {
            let mut hops = 0;
            while let Some(direction) = tree.get(node as usize).copied().flatten() {
                node = self.hops[direction as usize].from;
                hops += 1;
            }
            hops
        };
        let mut at = BTreeMap::from([(a, 1.0)]);
        let mut taken: BTreeMap<u32, f64> = BTreeMap::new();
        for step in 0..MOST_STEPS {
            let mut next: BTreeMap<u32, f64> = BTreeMap::new();
            for (&node, &share) in at.iter().filter(|(node, _)| **node != b) {
                let here = &self.neighbours[node as usize];
                let most = distance(node) + if step == 0 { extra_hops } else { 0 };
                let weight = |&(to, direction): &(u32, u32)| match self.flow_rate(direction) {
                    Some(bps) => bps,
                    None if distance(to) < most => 1.0,
                    None => 0.0,
                };
                let sum: f64 = here.iter().map(weight).sum();
                for neighbour in here {
                    let part = share * weight(neighbour) / sum.max(1e-9);
                    if part > LEAST_SHARE {
                        *next.entry(neighbour.0).or_default() += part;
                        *taken.entry(neighbour.1).or_default() += part;
                    }
                }
            }
            at = next;
        }
        way.through.extend([a, b]);
        for (direction, share) in taken {
            self.enter(way, direction, share, None);
        }
    }

    /// The flow rate that the file gives a direction.
    fn flow_rate(&self, direction: u32) -> Option<f64> {
        let &(link, is_back) = self.of_link.get(direction as usize)?;
        let rates = self.scenario.links.get(link)?.flow_rates_bps?;
        Some(rates[usize::from(is_back)] as f64)
    }
}

/// The rate of a direction of a wire; over one pass of its capacity the mean.
fn mean_bps_of(wire: &Wire, way: usize) -> f64 {
    let own = wire.capacity.as_ref().and_then(|both| both[way].as_ref());
    let trace = own.and_then(|own| convert::capacity(own.trace.as_ref()?, own.at_end));
    let rate = trace.map_or(wire.rate, |trace| trace.mean_rate());
    rate.as_bps() as f64
}
