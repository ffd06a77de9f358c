//! A world beside hosts whose clock and datagrams are given, so that every time is exact.

use std::cell::RefCell;
use std::collections::VecDeque;
use std::io;
use std::rc::Rc;

use backlane_emulate::{Beside, Pacer, Wall};
use backlane_units::{Duration, SimTime};
use backlane_world::net::NodeId;
use backlane_world::{Ended, Interrupt, LinkState, Outcome, World, address, catalogue};

/// Two wires of 10 Mbit/s and 10 ms each way, between three routers; hosts are the outer ones.
const SCENARIO: &str = r#"
name = "two hosts"
duration = "2 s"

[topology]
kind = "chain"
nodes = 3
link = { rate = "10 Mbit/s", delay = "10 ms", queue = "2 packets" }

[[flow]]
kind = "transfer"
from = "enb1"
to = "enb3"
size = "endless"
stack = "external"
"#;

type Log = Rc<RefCell<Vec<(Duration, usize, Vec<u8>)>>>;

struct Script {
    now: Duration,
    sends: VecDeque<(Duration, usize, Vec<u8>)>,
    written: Log,
}

impl Wall for Script {
    fn now(&mut self) -> Duration {
        self.now
    }

    fn wait(&mut self, time: Duration, ready: &mut Vec<usize>) -> io::Result<()> {
        ready.clear();
        let until = self.now.saturating_add(time);
        match self.sends.front() {
            Some(&(sent, host, _)) if sent <= until => {
                self.now = self.now.max(sent);
                ready.push(host);
            }
            _ => self.now = until,
        }
        Ok(())
    }

    fn read(&mut self, host: usize, buffer: &mut [u8]) -> io::Result<Option<usize>> {
        let next = self.sends.front();
        if !next.is_some_and(|&(sent, from, _)| sent <= self.now && from == host) {
            return Ok(None);
        }
        Ok(self.sends.pop_front().map(|(_, _, datagram)| {
            buffer[..datagram.len()].copy_from_slice(&datagram);
            datagram.len()
        }))
    }

    fn write(&mut self, host: usize, datagram: &[u8]) -> io::Result<()> {
        let entry = (self.now, host, datagram.to_vec());
        self.written.borrow_mut().push(entry);
        Ok(())
    }
}

fn ms(ms: u64) -> Duration {
    Duration::from_millis(ms)
}

/// A datagram of protocol 253 (RFC 3692) and this size, from a node's address to another's.
fn datagram(from: u32, to: u32, bytes: u16) -> Vec<u8> {
    let mut datagram = vec![0; usize::from(bytes)];
    datagram[0] = 0x45;
    datagram[2..4].copy_from_slice(&bytes.to_be_bytes());
    datagram[8] = 64;
    datagram[9] = 253;
    let addresses = [from, to].map(|node| address(NodeId(node)).to_be_bytes());
    datagram[12..16].copy_from_slice(&addresses[0]);
    datagram[16..20].copy_from_slice(&addresses[1]);
    datagram
}

struct Ran {
    outcome: Outcome,
    written: Vec<(Duration, usize, Vec<u8>)>,
    rejected: u64,
    worst: Duration,
}

/// Runs the scenario beside hosts that send these; `goes_on` is asked at each look, with the links.
fn run(
    text: &str,
    sends: Vec<(Duration, usize, Vec<u8>)>,
    mut goes_on: impl FnMut(SimTime, Vec<LinkState>) -> bool,
) -> Ran {
    let scenario = catalogue().parse(text, "two.toml").unwrap();
    let world = World::new(&scenario, 1, None).unwrap();
    let hosts: Vec<NodeId> = ["enb1", "enb3"].map(|id| world.node(id).unwrap()).into();
    let written = Log::default();
    let script = Script {
        now: ms(777),
        sends: sends
            .into_iter()
            .map(|(at, host, bytes)| (at.saturating_add(ms(777)), host, bytes))
            .collect(),
        written: written.clone(),
    };
    let pacer = Pacer::new(script, world.span()[0]);
    let mut beside = Beside::new(pacer, hosts, |_, door, now, _| goes_on(now, door.links()));
    let outcome = world
        .run_beside(&mut beside, |_, _| Ok(()), None)
        .unwrap_or_else(|Interrupt| panic!("interrupted: {:?}", beside.stop()));
    let (rejected, worst) = (beside.rejected(), beside.pacer().lateness().worst());
    drop(beside);
    let written = written.take().into_iter();
    Ran {
        outcome,
        written: written
            .map(|(at, host, bytes)| (at.saturating_sub(ms(777)), host, bytes))
            .collect(),
        rejected,
        worst,
    }
}

/// 1250 bytes take 1 ms at 10 Mbit/s: with two wires, 2 (1 + 10) ms.
#[test]
fn a_datagram_takes_what_the_wires_take_in_both_directions() {
    let there = (ms(5), 0, datagram(0, 2, 1250));
    let back = (ms(100), 1, datagram(2, 0, 1250));
    let ran = run(SCENARIO, vec![there, back], |_, _| true);
    let arrivals: Vec<_> = ran
        .written
        .iter()
        .map(|(at, host, bytes)| (*at, *host, bytes.len(), bytes[8]))
        .collect();
    assert_eq!(arrivals, [(ms(27), 1, 1250, 62), (ms(122), 0, 1250, 62)]);
    assert_eq!(ran.worst, Duration::ZERO);
    assert_eq!(ran.outcome.summary.ended, Ended::TimeLimit);
    assert_eq!(ran.outcome.summary.packets_delivered, 2);
}

/// One is sent and two wait, so that three of five pass, 1 ms apart.
#[test]
fn a_burst_meets_the_queue_of_the_simulated_link() {
    let burst = (0..5).map(|_| (ms(5), 0, datagram(0, 2, 1250)));
    let ran = run(SCENARIO, burst.collect(), |_, _| true);
    let times: Vec<_> = ran.written.iter().map(|&(at, ..)| at).collect();
    assert_eq!(times, [ms(27), ms(28), ms(29)]);
    let dropped = ran.outcome.summary.dropped_by_cause;
    assert_eq!(dropped.iter().map(|(_, count)| count).sum::<u64>(), 2);
}

#[test]
fn traffic_begins_where_the_warm_up_ends() {
    let text = SCENARIO.replace(
        "[[flow]]",
        "[routing]\nprotocol = \"olsr\"\nwarm_up = \"20 s\"\n\n[[flow]]",
    );
    let ran = run(&text, vec![(ms(5), 0, datagram(0, 2, 1250))], |_, _| true);
    assert_eq!(ran.written.len(), 1);
    // Messages of the routing protocol may hold the packet up on either wire.
    assert!((ms(27)..ms(29)).contains(&ran.written[0].0));
    assert_eq!(ran.outcome.summary.traffic_s, 2.0);
}

#[test]
fn an_end_from_outside_has_results_up_to_that_instant() {
    let sends = vec![(ms(5), 0, datagram(0, 2, 1250))];
    let ran = run(SCENARIO, sends, |now, _| now < SimTime::ZERO + ms(500));
    assert_eq!(ran.outcome.summary.ended, Ended::Stopped);
    assert_eq!(ran.outcome.summary.simulated_s, 0.5);
    assert_eq!(ran.written.len(), 1);
}

/// 100 kB at 10 Mbit/s take a tenth of a second.
#[test]
fn the_end_of_simulated_flows_is_not_the_end_of_an_emulation() {
    let simulated =
        "\n[[flow]]\nkind = \"transfer\"\nfrom = \"enb1\"\nto = \"enb2\"\nsize = \"100 kB\"\n";
    let sends = vec![(ms(1500), 0, datagram(0, 2, 1250))];
    let ran = run(&format!("{SCENARIO}{simulated}"), sends, |_, _| true);
    assert_eq!(ran.outcome.summary.ended, Ended::TimeLimit);
    let finished = ran.outcome.flows.floats("finish_s").unwrap()[1].unwrap();
    assert!(finished < 1.0, "{finished}");
    assert_eq!(ran.written[0].0, ms(1522));
}

#[test]
fn a_look_shows_the_links_at_that_instant() {
    let sends = (0..3).map(|_| (ms(49), 0, datagram(0, 2, 12_500)));
    let mut seen = Vec::new();
    run(SCENARIO, sends.collect(), |now, links| {
        if now == SimTime::ZERO + ms(50) {
            seen = links;
        }
        true
    });
    // One is on its way since a millisecond, and two wait.
    let first = seen[0];
    assert_eq!((first.queue_bytes, first.drops), (25_000, 0));
    assert_eq!(first.rate_bps, 10_000_000);
}

#[test]
fn what_leads_to_no_host_is_rejected() {
    let wrong_source = datagram(1, 2, 100);
    let no_host = datagram(0, 1, 100);
    let no_ip = vec![0x60; 100];
    let sends = [wrong_source, no_host, no_ip].map(|bytes| (ms(5), 0, bytes));
    let ran = run(SCENARIO, sends.into(), |_, _| true);
    assert_eq!(ran.rejected, 3);
    assert_eq!(ran.outcome.summary.packets_injected, 0);
}
