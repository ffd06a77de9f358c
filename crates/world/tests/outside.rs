//! Flows whose ends are outside the simulation: what the outside sends and receives, and when.

use std::collections::VecDeque;

use backlane_world::engine::Interrupt;
use backlane_world::net::NodeId;
use backlane_world::units::{Duration, SimTime};
use backlane_world::{Door, Models, Outcome, Outside, World, address};

const PAYLOAD_BYTES: usize = 1000;

/// Two hosts on the routers of a wire of 10 Mbit/s and 5 ms; cross traffic at will.
fn scenario(more: &str) -> String {
    format!(
        "duration = \"1 s\"\n\
         topology = {{ kind = \"chain\", nodes = 2, link = {{ rate = \"10 Mbit/s\", delay = \"5 ms\" }} }}\n\
         [[flow]]\nkind = \"transfer\"\nfrom = \"enb1\"\nto = \"enb2\"\nsize = \"endless\"\n\
         stack = \"external\"\n{more}"
    )
}

fn world(text: &str) -> World {
    let scenario = Models::standard().catalogue().parse(text, "outside.toml");
    World::new(&scenario.unwrap(), 1, None).unwrap()
}

fn datagram(from: NodeId, to: NodeId, port: u16) -> Vec<u8> {
    let bytes = |node| address(node).to_be_bytes();
    let builder = etherparse::PacketBuilder::ipv4(bytes(from), bytes(to), 64).udp(port, 7);
    let mut datagram = Vec::new();
    builder.write(&mut datagram, &[0; PAYLOAD_BYTES]).unwrap();
    datagram
}

/// Sends datagrams at given times, and answers each that arrives by one in the other direction after
/// `think`.
struct Echo {
    hosts: [NodeId; 2],
    /// What is to be sent, in order of time.
    plan: VecDeque<(SimTime, usize)>,
    think: Duration,
    answers: usize,
    received: Vec<(SimTime, NodeId, u8)>,
    /// The horizon at each step was never before the present.
    sane: bool,
}

impl Echo {
    fn new(world: &World, at: &[SimTime]) -> Self {
        let spec = &world.outside_flows()[0].spec;
        Self {
            hosts: [spec.source, spec.destination],
            plan: at.iter().map(|&at| (at, 0)).collect(),
            think: Duration::from_millis(1),
            answers: 1,
            received: Vec::new(),
            sane: true,
        }
    }
}

impl Outside for Echo {
    fn proceed(&mut self, door: &mut Door<'_>) -> Result<(), Interrupt> {
        self.sane &= door.horizon() >= door.now();
        while let Some(&(at, host)) = self.plan.front()
            && at < door.horizon()
        {
            self.plan.pop_front();
            let (from, to) = (self.hosts[host], self.hosts[1 - host]);
            assert!(door.send(at, from, &datagram(from, to, 40_000)));
        }
        Ok(())
    }

    fn receive(
        &mut self,
        door: &mut Door<'_>,
        host: NodeId,
        datagram: &[u8],
    ) -> Result<(), Interrupt> {
        self.received.push((door.now(), host, datagram[8]));
        if self.answers > 0 {
            self.answers -= 1;
            let own = usize::from(host == self.hosts[1]);
            self.plan.push_back((door.now() + self.think, own));
        }
        Ok(())
    }
}

fn run(text: &str, at: &[SimTime]) -> (Outcome, Echo) {
    let world = world(text);
    let mut echo = Echo::new(&world, at);
    let outcome = world.run_beside(&mut echo, |_, _| Ok(()), None).unwrap();
    assert!(echo.sane);
    (outcome, echo)
}

fn us(at: u64) -> SimTime {
    SimTime::ZERO + Duration::from_micros(at)
}

/// 1028 bytes take 822.4 us at 10 Mbit/s, and the wire 5 ms.
#[test]
fn a_datagram_arrives_after_its_transmission_and_the_delay_and_so_does_the_answer() {
    let (outcome, echo) = run(&scenario(""), &[us(10_000)]);
    let way = Duration::from_nanos(822_400) + Duration::from_millis(5);
    let there = us(10_000) + way;
    let back = there + Duration::from_millis(1) + way;
    // Each passes one router, which decrements the TTL.
    assert_eq!(
        echo.received,
        [(there, echo.hosts[1], 63), (back, echo.hosts[0], 63)]
    );
    let delivered = outcome.flows.integers("delivered_bytes").unwrap();
    assert_eq!(delivered, [Some(PAYLOAD_BYTES as u64)]);
}

/// The second waits for the first, which is under way for 822.4 us.
#[test]
fn datagrams_wait_in_the_queues_of_the_network() {
    let (_, echo) = run(&scenario(""), &[us(10_000), us(10_100)]);
    let gap = echo.received[1].0 - echo.received[0].0;
    assert_eq!(gap, Duration::from_nanos(822_400));
}

/// UDP of the model at 6 Mbit/s leaves little room: many datagrams wait behind its packets, and both
/// kinds are conserved.
#[test]
fn outside_and_modelled_flows_share_a_queue() {
    let cross = "[[flow]]\nkind = \"udp\"\nfrom = \"enb1\"\nto = \"enb2\"\nrate = \"6 Mbit/s\"\n";
    let times: Vec<_> = (0..200).map(|turn| us(10_000 + 3_000 * turn)).collect();
    let (alone, _) = run(&scenario(""), &times);
    let (outcome, echo) = run(&scenario(cross), &times);
    assert_eq!(echo.received.len(), 201);
    let delivered = outcome.flows.integers("delivered_bytes").unwrap();
    assert_eq!(delivered[0], Some(200 * PAYLOAD_BYTES as u64));
    assert!(outcome.summary.digest != alone.summary.digest);
    let way = Duration::from_nanos(822_400) + Duration::from_millis(5);
    let late = echo.received.iter().zip(&times);
    let late = late.filter(|((at, ..), sent)| *at > **sent + way).count();
    assert!(late > 100, "{late} of 200 waited");
}

#[test]
fn equal_runs_have_equal_digests_and_series_change_nothing() {
    let times: Vec<_> = (0..50).map(|turn| us(10_000 + 900 * turn)).collect();
    let (first, _) = run(&scenario(""), &times);
    let (second, _) = run(&scenario(""), &times);
    let sampled = "[record]\nseries = [\"goodput\", \"queue\"]\ninterval = \"1 ms\"\n";
    let (third, _) = run(&scenario(sampled), &times);
    assert_eq!(first.summary.digest, second.summary.digest);
    assert_eq!(first.summary.digest, third.summary.digest);
}

#[test]
fn datagrams_from_or_to_others_are_refused() {
    struct Stranger(Vec<bool>);
    impl Outside for Stranger {
        fn proceed(&mut self, door: &mut Door<'_>) -> Result<(), Interrupt> {
            if self.0.is_empty() {
                let [a, b] = [NodeId(0), NodeId(1)];
                let at = door.now();
                self.0 = vec![
                    door.send(at, a, &datagram(b, a, 1)),
                    door.send(at, a, &datagram(a, NodeId(9), 1)),
                    door.send(at, a, &[0; 40]),
                    door.send(at, a, &[]),
                    door.send(at, a, &datagram(a, b, 1)),
                ];
            }
            Ok(())
        }
        fn receive(&mut self, _: &mut Door<'_>, _: NodeId, _: &[u8]) -> Result<(), Interrupt> {
            Ok(())
        }
    }
    let mut stranger = Stranger(Vec::new());
    let ran = world(&scenario("")).run_beside(&mut stranger, |_, _| Ok(()), None);
    assert!(ran.is_ok());
    assert_eq!(stranger.0, [false, false, false, false, true]);
}

/// Two flows between the same hosts: each connection is one of them, in turn.
#[test]
fn connections_are_divided_among_the_flows_of_their_hosts() {
    struct Two;
    impl Outside for Two {
        fn proceed(&mut self, door: &mut Door<'_>) -> Result<(), Interrupt> {
            if door.now() == SimTime::ZERO && door.horizon() > SimTime::ZERO {
                let [a, b] = [NodeId(0), NodeId(1)];
                for port in [1, 2, 1, 2, 2] {
                    door.send(us(1), a, &datagram(a, b, port));
                }
            }
            Ok(())
        }
        fn receive(&mut self, _: &mut Door<'_>, _: NodeId, _: &[u8]) -> Result<(), Interrupt> {
            Ok(())
        }
    }
    let text = scenario("count = 2\n");
    let outcome = world(&text)
        .run_beside(&mut Two, |_, _| Ok(()), None)
        .unwrap();
    let delivered = outcome.flows.integers("delivered_bytes").unwrap();
    assert_eq!(delivered, [Some(2000), Some(3000)]);
}

#[test]
fn without_an_outside_the_run_is_refused() {
    let models = Models::standard();
    let scenario = models
        .catalogue()
        .parse(&scenario(""), "outside.toml")
        .unwrap();
    let error = models.run(&scenario, 1).err().unwrap().to_string();
    assert!(error.contains("run_beside"), "{error}");
}
