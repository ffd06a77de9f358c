//! The laboratory in which routing daemons were recorded: networks with links of 5 ms, one event
//! after another, and what the kernels' tables say meanwhile.

use std::sync::{Arc, Mutex};

use backlane_engine::{EventQueue, Stream, Streams};
use backlane_net::testing::{Script, Tap};
use backlane_net::{
    LinkConfig, LinkId, LinkState, Network, NodeId, QueueConfig, QueueLimit, Router, Simulation,
};
use backlane_units::{Duration, Rate, SimTime};

/// In a table of first interfaces: the daemon keeps an entry that says "unreachable".
pub const UNREACHABLE: u16 = u16::MAX;

const SECOND: Duration = Duration::from_secs(1);

/// A link between two nodes; `dear` links cost twice as much.
#[derive(Clone, Copy, Debug)]
pub struct Wire {
    pub ends: [u32; 2],
    pub dear: bool,
}

/// A network of the recordings.
#[derive(Clone, Debug)]
pub struct Topology {
    pub nodes: u32,
    pub wires: Vec<Wire>,
    /// The link that the events are about.
    pub cut: usize,
    /// The node that fails.
    pub dead: u32,
}

impl Topology {
    /// `line5`, `ring6`, or `grid16`: 4 × 4, node = 4·row + column, links along a column dear.
    pub fn named(name: &str) -> Self {
        let cheap = |a, b| Wire {
            ends: [a, b],
            dear: false,
        };
        let dear = |a, b| Wire {
            ends: [a, b],
            dear: true,
        };
        let (nodes, wires, cut, dead): (u32, Vec<Wire>, [u32; 2], u32) = match name {
            "line5" => (5, (0..4).map(|at| cheap(at, at + 1)).collect(), [1, 2], 2),
            "ring6" => {
                let wires = (0..6).map(|at| cheap(at, (at + 1) % 6));
                (6, wires.collect(), [0, 1], 1)
            }
            "grid16" => {
                let wires = (0..16).flat_map(|at| {
                    let along_row = (at % 4 < 3).then(|| cheap(at, at + 1));
                    let along_column = (at < 12).then(|| dear(at, at + 4));
                    along_row.into_iter().chain(along_column)
                });
                (16, wires.collect(), [5, 6], 6)
            }
            other => panic!("no topology {other}"),
        };
        let cut = wires.iter().position(|wire| wire.ends == cut).unwrap();
        Self {
            nodes,
            wires,
            cut,
            dead,
        }
    }

    /// Whether the links of a node are dear, in the order of its interfaces.
    pub fn dear_links_of(&self, node: u32) -> Vec<bool> {
        let own = self.wires.iter().filter(|wire| wire.ends.contains(&node));
        own.map(|wire| wire.dear).collect()
    }
}

/// Events in order, with the seconds to the next.
pub type Events = [(&'static str, u64)];

/// How the script of the recordings played a daemon.
#[derive(Clone, Debug)]
pub struct Play {
    pub events: &'static Events,
    /// Between most events passes a random part of this in addition: of a HELLO interval of 10 s with
    /// OSPF, 4 s with Babel, and of 1 s with any fast setting, although FRR's HELLOs stay at 10 s.
    pub phase: Duration,
    /// The script starts the daemons one after another; the time for all, in milliseconds.
    pub started_ms: [u64; 2],
    /// What the script drew in each recording, in seconds: the time for starting all daemons, and the
    /// times from each event to the next. Seeds take the recordings in turn. Without any, times are
    /// drawn as the script would.
    pub recorded: Vec<Vec<f64>>,
    /// From the start of a process to its first packet.
    pub process: Duration,
    /// From the return of a node's links to the first packet of its daemon.
    pub back: Duration,
}

impl Play {
    /// One of the times that the recording of a seed has.
    fn recorded(&self, seed: u64, at: usize) -> Option<Duration> {
        let repeats = self.recorded.len() as u64;
        let repeat = self.recorded.get((seed.checked_rem(repeats)?) as usize)?;
        Some(Duration::from_micros((repeat[at] * 1e6) as u64))
    }

    /// The times of the recordings of (topology, daemon, setting) in a file with these columns, a
    /// repeat, the time for starting all daemons, and the times from each event to the next.
    pub fn times(file: &str, network: [&str; 3]) -> Vec<Vec<f64>> {
        let rows = file.lines().skip(1).filter_map(|line| {
            let fields: Vec<&str> = line.split(',').collect();
            let times = fields[4..].iter().map(|time| time.parse().unwrap());
            (fields[..3] == network).then(|| times.collect())
        });
        rows.collect()
    }
}

/// What happens while tables are watched.
#[derive(Clone, Debug)]
enum Act {
    Power(u32, bool),
    Links(Vec<LinkId>, LinkState),
}

/// What follows an event. Times are in seconds after it.
#[derive(Clone, Copy, Debug, Default)]
pub struct Measured {
    pub first_change: Option<f64>,
    pub last_change: Option<f64>,
    /// Entries of tables that changed.
    pub changes: usize,
    /// The longest time for which a pair of nodes was not connected although a path was whole.
    pub outage: Option<f64>,
    pub longest_loop: f64,
    /// Destinations that the two ends of the event's link reach over it, when the next event comes.
    pub on_link: usize,
}

impl Measured {
    /// A column of the recordings' summary. Times of what did not happen are left out.
    pub fn of(&self, measure: &str) -> Option<f64> {
        match measure {
            "first" => self.first_change,
            "last" => self.last_change,
            "outage" => self.outage,
            // During losses, where an outage is no matter of course.
            "cut_off" => Some(self.outage.unwrap_or(0.0)),
            "changes" => Some(self.changes as f64),
            "loop" => Some(self.longest_loop),
            "on_link" => Some(self.on_link as f64),
            other => panic!("no measure {other}"),
        }
    }
}

/// One network with its routers.
pub struct Lab<R> {
    pub topology: Topology,
    pub simulation: Simulation<Script>,
    routers: Vec<Arc<Mutex<R>>>,
    /// Appends the first interfaces of all paths from a router to another.
    paths: fn(&R, NodeId, &mut Vec<u16>),
    /// By node and destination, as of the last look.
    table: Vec<Vec<u16>>,
}

impl<R: Router + 'static> Lab<R> {
    /// A topology of the recordings, with a router for each node. No daemon runs yet.
    pub fn new(
        topology: &str,
        router: impl Fn(NodeId) -> R,
        paths: fn(&R, NodeId, &mut Vec<u16>),
    ) -> Self {
        let topology = Topology::named(topology);
        let mut events = EventQueue::new();
        let mut network = Network::new();
        for _ in 0..topology.nodes {
            network.add_router();
        }
        let link = LinkConfig {
            rate: Rate::from_bps(1_000_000_000),
            delay: Duration::from_millis(5),
            queue: QueueConfig::DropTail(QueueLimit::Packets(1000)),
        };
        for wire in &topology.wires {
            let [a, b] = wire.ends.map(NodeId);
            network.connect(&mut events, a, b, &link);
        }
        let routers: Vec<_> = (0..topology.nodes)
            .map(|node| Arc::new(Mutex::new(router(NodeId(node)))))
            .collect();
        let tapped = routers.iter().map(|router| {
            Some(Box::new(Tap::new(router.clone(), |_, _, _, _: &[u8]| {})) as Box<dyn Router>)
        });
        let tapped = tapped.collect();
        let mut lab = Self {
            simulation: Simulation::new(network, events, Script::default(), tapped, Vec::new()),
            routers,
            paths,
            table: vec![Vec::new(); (topology.nodes * topology.nodes) as usize],
            topology,
        };
        for node in 0..lab.topology.nodes {
            lab.simulation.report_power(NodeId(node), false);
        }
        lab
    }

    fn links_of(&self, node: u32) -> Vec<LinkId> {
        let interfaces = self.simulation.network.mesh_interfaces(NodeId(node)).iter();
        interfaces
            .flat_map(|end| [end.outgoing, end.incoming])
            .collect()
    }

    /// Both directions of the link that the events are about.
    pub fn cut_links(&self) -> [LinkId; 2] {
        let cut = 2 * self.topology.cut as u32;
        [LinkId(cut), LinkId(cut + 1)]
    }

    fn act(&mut self, act: Act) {
        match act {
            Act::Power(node, on) => self.simulation.report_power(NodeId(node), on),
            Act::Links(links, state) => {
                for &link in &links {
                    self.simulation.set_link_state(link, state);
                }
                for &link in &links {
                    self.simulation.report_carrier(link);
                }
            }
        }
    }

    /// Packets of the event's link are lost with this probability from now on, in both directions.
    pub fn lose(&mut self, probability: f64, seed: u64) {
        for link in self.cut_links() {
            let purpose = format!("link {} {probability}", link.0);
            let stream = Streams::new(seed).stream(&purpose, "loss");
            self.simulation.network.set_loss(link, probability, stream);
        }
    }

    fn entry(&self, node: u32, exit: u32) -> &Vec<u16> {
        &self.table[(node * self.topology.nodes + exit) as usize]
    }

    /// Brings `table` up to date. Returns the number of entries that changed.
    fn look(&mut self) -> usize {
        let nodes = self.topology.nodes;
        let mut changes = 0;
        let mut now = Vec::new();
        for node in 0..nodes {
            let router = self.routers[node as usize].lock().unwrap();
            for exit in (0..nodes).filter(|exit| *exit != node) {
                now.clear();
                (self.paths)(&router, NodeId(exit), &mut now);
                let entry = &mut self.table[(node * nodes + exit) as usize];
                if *entry != now {
                    entry.clone_from(&now);
                    changes += 1;
                }
            }
        }
        changes
    }

    /// Whether all paths from a node to an exit arrive over links that are up; and whether one of
    /// them leads into a loop.
    fn follow(&self, from: u32, to: u32) -> (bool, bool) {
        let (mut whole, mut looped) = (true, false);
        let mut open = vec![vec![from]];
        while let Some(way) = open.pop() {
            let here = way[way.len() - 1];
            if here == to {
                continue;
            }
            let paths = self.entry(here, to);
            if paths.is_empty() || paths[0] == UNREACHABLE {
                whole = false;
                continue;
            }
            for path in paths {
                let end = self.simulation.network.mesh_interfaces(NodeId(here))[usize::from(*path)];
                if way.contains(&end.peer.0) {
                    (whole, looped) = (false, true);
                } else if self.simulation.network.links()[end.outgoing.index()].up() {
                    let mut longer = way.clone();
                    longer.push(end.peer.0);
                    open.push(longer);
                } else {
                    whole = false;
                }
            }
        }
        (whole, looped)
    }

    /// Whether there is a path over links that are up.
    fn is_connected(&self, from: u32, to: u32) -> bool {
        let mut seen = vec![from];
        let mut at = 0;
        while let Some(&node) = seen.get(at) {
            at += 1;
            for end in self.simulation.network.mesh_interfaces(NodeId(node)) {
                let up = self.simulation.network.links()[end.outgoing.index()].up();
                if up && !seen.contains(&end.peer.0) {
                    seen.push(end.peer.0);
                }
            }
        }
        seen.contains(&to)
    }

    /// Destinations that the ends of the event's link reach over it.
    fn on_link(&self) -> usize {
        let cut = self.cut_links();
        let ends = self.topology.wires[self.topology.cut].ends;
        let over = |node: u32| {
            let interfaces = self.simulation.network.mesh_interfaces(NodeId(node));
            let mut own = interfaces.iter();
            let own = own.position(|end| cut.contains(&end.outgoing)).unwrap() as u16;
            let exits = (0..self.topology.nodes).filter(move |exit| *exit != node);
            exits
                .filter(|&exit| self.entry(node, exit).contains(&own))
                .count()
        };
        ends.map(over).iter().sum()
    }

    /// Runs for so long with daemons that have been started before, and measures.
    pub fn watch(&mut self, span: Duration) -> Measured {
        self.play_one(span, None, Vec::new())
    }

    /// Runs for so long and measures. Pairs with the `dead` node are left out. An outage counts if it
    /// ends.
    fn play_one(
        &mut self,
        span: Duration,
        dead: Option<u32>,
        mut acts: Vec<(Duration, Act)>,
    ) -> Measured {
        let begin = self.simulation.events.now();
        let until = begin.saturating_add(span);
        let after = |at: SimTime| at.saturating_since(begin).as_secs_f64();
        let all = 0..self.topology.nodes;
        let pairs: Vec<(u32, u32)> = all
            .clone()
            .flat_map(|from| all.clone().map(move |to| (from, to)))
            .filter(|(from, to)| from != to && dead != Some(*from) && dead != Some(*to))
            .filter(|&(from, to)| self.is_connected(from, to))
            .collect();
        acts.sort_by_key(|(at, _)| std::cmp::Reverse(*at));
        let mut outages = vec![0.0; pairs.len()];
        let mut cut_since: Vec<Option<SimTime>> = vec![None; pairs.len()];
        let mut loops = vec![0.0; pairs.len()];
        let mut loops_since: Vec<Option<SimTime>> = vec![None; pairs.len()];
        let mut measured = Measured::default();
        let mut stale = true;
        loop {
            let now = self.simulation.events.now();
            if stale {
                for (at, &(from, to)) in pairs.iter().enumerate() {
                    let (whole, looped) = self.follow(from, to);
                    match (whole, cut_since[at]) {
                        (false, None) => cut_since[at] = Some(now),
                        (true, Some(since)) => {
                            outages[at] += now.saturating_since(since).as_secs_f64();
                            cut_since[at] = None;
                        }
                        _ => {}
                    }
                    match (looped, loops_since[at]) {
                        (true, None) => loops_since[at] = Some(now),
                        (false, Some(since)) => {
                            loops[at] += now.saturating_since(since).as_secs_f64();
                            loops_since[at] = None;
                        }
                        _ => {}
                    }
                }
            }
            let next = acts.last().map(|(at, _)| begin.saturating_add(*at));
            let limit = next.map_or(until, |next| next.min(until));
            if !self.simulation.step(limit) {
                self.simulation.advance(limit);
                match next.filter(|next| *next <= until) {
                    Some(_) => {
                        let (_, act) = acts.pop().unwrap();
                        self.act(act);
                    }
                    None => break,
                }
            }
            let changes = self.look();
            stale = changes > 0;
            if stale {
                let now = Some(after(self.simulation.events.now()));
                measured.changes += changes;
                measured.first_change = measured.first_change.or(now);
                measured.last_change = now;
            }
        }
        for (at, since) in loops_since.iter().enumerate() {
            if let Some(since) = since {
                loops[at] += until.saturating_since(*since).as_secs_f64();
            }
        }
        let longest = |times: &[f64]| times.iter().copied().fold(0.0, f64::max);
        measured.outage = Some(longest(&outages)).filter(|outage| *outage > 0.0);
        measured.longest_loop = longest(&loops);
        measured.on_link = self.on_link();
        measured
    }

    /// When the daemons of all nodes send their first packets.
    fn starts(
        &self,
        play: &Play,
        seed: u64,
        draws: &mut Stream,
    ) -> (Duration, Vec<(Duration, Act)>) {
        let [least, most] = play.started_ms.map(|ms| ms * 1_000_000_000);
        let drawn = Duration::from_ps(least + draws.uniform_below((most - least).max(1)));
        let all = play.recorded(seed, 0).unwrap_or(drawn);
        let nodes = u64::from(self.topology.nodes);
        let start = |node: u32| {
            let called = Duration::from_ps(all.as_ps() * u64::from(node) / nodes);
            let at = called.saturating_add(play.process);
            (at, Act::Power(node, true))
        };
        (all, (0..self.topology.nodes).map(start).collect())
    }

    /// Starts the daemons, and runs for so long.
    pub fn start(&mut self, play: &Play, seed: u64, span: Duration) -> Measured {
        let mut draws = Streams::new(seed).stream("lab", "events");
        let (_, acts) = self.starts(play, seed, &mut draws);
        self.play_one(span, None, acts)
    }

    /// What followed each event.
    pub fn play(&mut self, play: &Play, seed: u64) -> Vec<Measured> {
        let mut draws = Streams::new(seed).stream("lab", "events");
        let (cut, node) = (self.cut_links().to_vec(), self.topology.dead);
        let around = self.links_of(node);
        let mut all = Vec::new();
        for (at, &(event, seconds)) in play.events.iter().enumerate() {
            let next = play.events.get(at + 1).map_or("end", |(event, _)| event);
            let follows_at_once = ["loss50", "loss0", "end"].contains(&next);
            let part = draws.uniform_below(play.phase.as_ps());
            let part = Duration::from_ps(if follows_at_once { 0 } else { part });
            let mut span = Duration::from_secs(seconds).saturating_add(part);
            let set = |links: &[LinkId], state| Act::Links(links.to_vec(), state);
            let at_once = |act| vec![(Duration::ZERO, act)];
            let acts = match event {
                "start" => {
                    let (started, acts) = self.starts(play, seed, &mut draws);
                    span = span.saturating_add(started);
                    acts
                }
                "carrier_down" => {
                    // The kernel reports it 0 to 1 s later, to all routers at once
                    // (`net/core/link_watch.c`); that a carrier is back it reports at once.
                    self.act(set(&cut, LinkState::Silent));
                    let wait = Duration::from_ps(draws.uniform_below(SECOND.as_ps()));
                    vec![(wait, set(&cut, LinkState::Down))]
                }
                "carrier_up" | "silent_up" => {
                    self.act(set(&cut, LinkState::Up));
                    Vec::new()
                }
                "silent_down" => {
                    self.act(set(&cut, LinkState::Silent));
                    Vec::new()
                }
                "node_kill" => {
                    self.act(set(&around, LinkState::Silent));
                    at_once(Act::Power(node, false))
                }
                "node_back" => {
                    self.act(set(&around, LinkState::Up));
                    vec![(play.back, Act::Power(node, true))]
                }
                "loss20" | "loss50" | "loss0" => {
                    let percent: f64 = event[4..].parse().unwrap();
                    self.lose(percent / 100.0, seed);
                    Vec::new()
                }
                other => panic!("no event {other}"),
            };
            self.look();
            let span = play.recorded(seed, at + 1).unwrap_or(span);
            let dead = (event == "node_kill").then_some(node);
            all.push(self.play_one(span, dead, acts));
        }
        all
    }
}
