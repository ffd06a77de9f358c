//! The laboratory in which routing daemons were recorded: a line of five routers and a ring of six,
//! links of 5 ms, one event after another.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use backlane_engine::{EventQueue, Stream};
use backlane_net::testing::{Script, Tap};
use backlane_net::{
    LinkConfig, LinkId, LinkState, Network, NodeId, QueueConfig, QueueLimit, Router, Simulation,
};
use backlane_units::{Duration, Rate};

/// Runs with this number of seeds are compared with five recordings.
pub const SEEDS: u64 = 20;

/// Differences below this are the recordings' own.
const SLACK_S: f64 = 0.010;

/// Events in order, with the seconds to the next (plus part of a HELLO interval).
pub type Events = [(&'static str, u64)];

/// Routes by (node, destination): first interfaces.
type Tables = BTreeMap<(u32, u32), Vec<u16>>;

/// One network with its routers.
pub struct Lab<R> {
    pub simulation: Simulation<Script>,
    pub routers: Vec<Arc<Mutex<R>>>,
    /// The first interfaces of all paths from a router to another.
    paths: fn(&R, NodeId) -> Vec<u16>,
    pub nodes: u32,
}

/// What follows an event, in seconds after it.
#[derive(Clone, Copy, Debug, Default)]
pub struct Measured {
    pub last_change: Option<f64>,
    /// The longest time for which a pair of nodes was not connected although a path was whole.
    pub outage: Option<f64>,
    pub longest_loop: f64,
}

impl<R: Router + 'static> Lab<R> {
    /// A topology of the recordings, with a router for each node.
    pub fn new(
        topology: &str,
        router: impl Fn(NodeId) -> R,
        paths: fn(&R, NodeId) -> Vec<u16>,
    ) -> Self {
        let nodes = if topology == "line5" { 5 } else { 6 };
        let mut events = EventQueue::new();
        let mut network = Network::new();
        for _ in 0..nodes {
            network.add_router();
        }
        let link = LinkConfig {
            rate: Rate::from_bps(1_000_000_000),
            delay: Duration::from_millis(5),
            queue: QueueConfig::DropTail(QueueLimit::Packets(1000)),
        };
        let links = if topology == "line5" {
            nodes - 1
        } else {
            nodes
        };
        for node in 0..links {
            let next = NodeId((node + 1) % nodes);
            network.connect(&mut events, NodeId(node), next, &link);
        }
        let routers: Vec<_> = (0..nodes)
            .map(|node| Arc::new(Mutex::new(router(NodeId(node)))))
            .collect();
        let tapped = routers.iter().map(|router| {
            Some(Box::new(Tap::new(router.clone(), |_, _, _, _: &[u8]| {})) as Box<dyn Router>)
        });
        let tapped = tapped.collect();
        Self {
            simulation: Simulation::new(network, events, Script::default(), tapped, Vec::new()),
            routers,
            paths,
            nodes,
        }
    }

    fn links_of(&self, node: u32) -> Vec<LinkId> {
        let interfaces = self.simulation.network.mesh_interfaces(NodeId(node)).iter();
        interfaces
            .flat_map(|end| [end.outgoing, end.incoming])
            .collect()
    }

    pub fn set(&mut self, links: &[LinkId], state: LinkState) {
        for &link in links {
            self.simulation.set_link_state(link, state);
        }
        for &link in links {
            self.simulation.report_carrier(link);
        }
    }

    fn tables(&self) -> Tables {
        let mut tables = Tables::new();
        for (node, router) in self.routers.iter().enumerate() {
            let router = router.lock().unwrap();
            for exit in 0..self.nodes {
                let paths = (self.paths)(&router, NodeId(exit));
                if !paths.is_empty() {
                    tables.insert((node as u32, exit), paths);
                }
            }
        }
        tables
    }

    /// Whether all paths from a node to an exit arrive over links that are up; and whether one of
    /// them leads into a loop.
    fn follow(&self, tables: &Tables, from: u32, to: u32) -> (bool, bool) {
        let (mut whole, mut looped) = (true, false);
        let mut open = vec![vec![from]];
        while let Some(way) = open.pop() {
            let here = way[way.len() - 1];
            if here == to {
                continue;
            }
            let Some(paths) = tables.get(&(here, to)) else {
                whole = false;
                continue;
            };
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

    /// Runs for so long, and measures. Pairs with the `dead` node are left out.
    pub fn watch(&mut self, span: Duration, dead: Option<u32>) -> Measured {
        let begin = self.simulation.events.now();
        let until = begin.saturating_add(span);
        let pairs: Vec<(u32, u32)> = (0..self.nodes)
            .flat_map(|from| (0..self.nodes).map(move |to| (from, to)))
            .filter(|(from, to)| from != to && dead != Some(*from) && dead != Some(*to))
            .filter(|&(from, to)| self.is_connected(from, to))
            .collect();
        let mut outages = vec![0.0; pairs.len()];
        let mut loops = vec![0.0; pairs.len()];
        let mut measured = Measured::default();
        let mut tables = self.tables();
        let judge = |lab: &Self, tables: &Tables| -> Vec<(bool, bool)> {
            pairs
                .iter()
                .map(|&(from, to)| lab.follow(tables, from, to))
                .collect()
        };
        let mut verdicts = judge(self, &tables);
        let mut since = begin;
        loop {
            let went_on = self.simulation.step(until);
            let now = if went_on {
                self.simulation.events.now()
            } else {
                until
            };
            let new = self.tables();
            if went_on && new == tables {
                continue;
            }
            let length = now.saturating_since(since).as_secs_f64();
            for (at, &(whole, looped)) in verdicts.iter().enumerate() {
                outages[at] += if whole { 0.0 } else { length };
                loops[at] = if looped { loops[at] + length } else { 0.0 };
                measured.longest_loop = loops[at].max(measured.longest_loop);
            }
            if !went_on {
                self.simulation.advance(until);
                break;
            }
            measured.last_change = Some(now.saturating_since(begin).as_secs_f64());
            (tables, since) = (new, now);
            verdicts = judge(self, &tables);
        }
        let longest = outages.iter().copied().fold(0.0, f64::max);
        measured.outage = (longest > 0.0).then_some(longest);
        measured
    }

    /// Starts the daemons one after another, as the script of the recordings did. Returns the time
    /// that this took.
    pub fn start_in_turn(&mut self, step: Duration) -> Duration {
        for node in 0..self.nodes {
            self.simulation.report_power(NodeId(node), false);
        }
        for node in 0..self.nodes {
            self.simulation.report_power(NodeId(node), true);
            let until = self.simulation.events.now().saturating_add(step);
            while self.simulation.step(until) {}
            self.simulation.advance(until);
        }
        step.saturating_mul(self.nodes.into())
    }

    /// What followed each event.
    pub fn play(&mut self, events: &Events, hello: Duration, draws: &mut Stream) -> Vec<Measured> {
        let on_ring = self.nodes == 6;
        let (link, node) = if on_ring { (0, 1) } else { (1, 2) };
        let event_link = [LinkId(2 * link), LinkId(2 * link + 1)];
        let mut all = Vec::new();
        for &(event, seconds) in events {
            let part = draws.uniform_below(hello.as_ps());
            let span = Duration::from_secs(seconds).saturating_add(Duration::from_ps(part));
            let around = self.links_of(node);
            let dead = (event == "node_kill").then_some(node);
            let mut before = Measured::default();
            match event {
                "carrier_down" => {
                    // The kernel reports it 0 to 1 s later, to all routers at once.
                    self.set(&event_link, LinkState::Silent);
                    let wait = Duration::from_ps(draws.uniform_below(1_000_000_000_000));
                    before = self.watch(wait, None);
                    self.set(&event_link, LinkState::Down);
                    let after = self.watch(span, None);
                    before = Measured {
                        last_change: after.last_change.map(|s| s + wait.as_secs_f64()),
                        outage: sum(before.outage, after.outage),
                        longest_loop: after.longest_loop,
                    };
                }
                "carrier_up" | "silent_up" => self.set(&event_link, LinkState::Up),
                "silent_down" => self.set(&event_link, LinkState::Silent),
                "node_kill" => {
                    self.set(&around, LinkState::Silent);
                    self.simulation.report_power(NodeId(node), false);
                }
                "node_back" => {
                    self.set(&around, LinkState::Up);
                    self.simulation.report_power(NodeId(node), true);
                }
                _ => {}
            }
            all.push(match event {
                "carrier_down" => before,
                _ => self.watch(span, dead),
            });
        }
        all
    }
}

fn sum(a: Option<f64>, b: Option<f64>) -> Option<f64> {
    (a.is_some() || b.is_some()).then(|| a.unwrap_or(0.0) + b.unwrap_or(0.0))
}

fn median(values: &mut [f64]) -> Option<f64> {
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied()
}

/// The recorded ranges of one file against the medians of runs: how many of how many are inside.
///
/// `runs` plays all seeds of (topology, daemon, setting).
pub fn compare<'a>(
    recorded: &'a str,
    events: impl Fn(&str) -> &'static Events,
    mut runs: impl FnMut(&str, &str, &str) -> Vec<Vec<Measured>>,
) -> (u32, u32) {
    let mut played: BTreeMap<(&'a str, &'a str, &'a str), Vec<Vec<Measured>>> = BTreeMap::new();
    let (mut compared, mut inside) = (0, 0);
    for line in recorded.lines().skip(1) {
        let fields: Vec<&str> = line.split(',').collect();
        let [topology, daemon, setting, event, measure, least, most] = fields[..] else {
            panic!("{line}");
        };
        let played = played
            .entry((topology, daemon, setting))
            .or_insert_with(|| runs(topology, daemon, setting));
        let place = place(events(daemon), event);
        let values = played.iter().filter_map(|run| match measure {
            "outage" => run[place].outage,
            _ => run[place].last_change,
        });
        let mut values: Vec<f64> = values.collect();
        let ours = median(&mut values).unwrap_or(f64::NAN);
        let [least, most]: [f64; 2] = [least, most].map(|bound| bound.parse().unwrap());
        let ok = (least - SLACK_S..=most + SLACK_S).contains(&ours);
        compared += 1;
        inside += u32::from(ok);
        let mark = if ok { " " } else { "*" };
        let (first, last) = (values.first(), values.last());
        println!(
            "{mark} {topology} {daemon} {setting} {event} {measure}: {ours:.3} s ({first:.3?} to \
             {last:.3?}), recorded {least} to {most} s"
        );
    }
    println!("{inside} of {compared}");
    (inside, compared)
}

/// The place of an event.
pub fn place(events: &Events, event: &str) -> usize {
    events.iter().position(|(name, _)| *name == event).unwrap()
}
