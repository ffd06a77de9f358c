//! Both ends of the coding layer over a path that loses, duplicates and reorders, in either
//! direction, with a source that sends like TCP: a window, fast retransmission, a timeout.

use std::collections::{BTreeMap, VecDeque};

use backlane_coding::{Acknowledgment, Answer, Config, Edge, Header, Original, Receiver, Sender};
use backlane_units::{Duration, SimTime};
use proptest::prelude::*;

const KEY: u64 = 99;
const WIDTH: usize = 24;
const SEGMENT_BYTES: u64 = 1000;

/// The impairments of the path.
#[derive(Clone, Debug, Default)]
struct Path {
    /// Share of coded packets and of answers lost, of 256.
    loss: u8,
    answer_loss: u8,
    /// Share of each that is duplicated, of 256.
    doubled: u8,
    /// One-way delay: 10 ms and up to this many more.
    jitter_ms: u8,
    /// Share of coded packets that the edge's own queue drops, of 256.
    edge_drop: u8,
    /// The application pauses for 500 ms after every group of this many segments; 0: never.
    pause_after: u8,
}

struct Random(u64);

impl Random {
    fn byte(&mut self) -> u8 {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 56) as u8
    }

    fn hits(&mut self, of_256: u8) -> bool {
        self.byte() < of_256
    }
}

enum Event {
    Coded(Header, Vec<u8>),
    Answer(Answer),
}

/// The result.
#[derive(Debug, Default, PartialEq)]
struct Outcome {
    received: Vec<Vec<u8>>,
    acked: u64,
    duplicates: u64,
    timeouts: u64,
    edge_drops: u64,
    masked_losses: u64,
    requests: u64,
    end: SimTime,
    spurious: u64,
}

fn symbol_of(segment: u64) -> Vec<u8> {
    (0..WIDTH as u64)
        .map(|i| (segment * 31 + i * 7 + segment / 256) as u8)
        .collect()
}

struct World {
    now: SimTime,
    edge: Edge,
    receiver: Receiver,
    random: Random,
    path: Path,
    queue: BTreeMap<(SimTime, u64), Event>,
    order: u64,
    sequence: u64,
    window: u64,
    sent: u64,
    total: u64,
    acked: u64,
    sacked: Vec<bool>,
    dropped: VecDeque<u64>,
    retransmit_at: SimTime,
    duplicates_of_hole: u32,
    resume_at: SimTime,
    outcome: Outcome,
}

impl World {
    fn delay(&mut self) -> SimTime {
        let jitter_us = u64::from(self.random.byte()) * u64::from(self.path.jitter_ms) * 4;
        self.now + Duration::from_micros(10_000 + jitter_us)
    }

    fn push(&mut self, event: Event) {
        let at = self.delay();
        self.order += 1;
        self.queue.insert((at, self.order), event);
    }

    fn give(&mut self, segment: u64) {
        let original = Original {
            start: 1 + segment * SEGMENT_BYTES,
            end: 1 + (segment + 1) * SEGMENT_BYTES,
            stamp: self.now.as_micros() as u32,
            bytes: SEGMENT_BYTES as u32 + 20,
        };
        let sender = Sender {
            cwnd_pkts: self.window as u32,
            round_trip: Duration::from_millis(20),
        };
        let fill = |to: &mut [u8]| to.copy_from_slice(&symbol_of(segment));
        self.edge.send(self.now, original, fill, || sender);
        self.retransmit_at = self.now + Duration::from_millis(1000);
        self.transmit();
    }

    fn transmit(&mut self) {
        let mut symbol = Vec::new();
        while let Some(coded) = self
            .edge
            .poll_transmit(self.now, self.sequence, &mut symbol)
        {
            assert!(coded.header.covered <= coded.header.size);
            let sequence = self.sequence;
            self.sequence += 1;
            if self.random.hits(self.path.edge_drop) {
                if self.edge.on_drop(sequence) {
                    self.dropped.push_back(sequence);
                }
                continue;
            }
            if self.random.hits(self.path.loss) {
                continue;
            }
            if self.random.hits(self.path.doubled) {
                self.push(Event::Coded(coded.header, symbol.clone()));
            }
            self.push(Event::Coded(coded.header, symbol.clone()));
        }
    }

    fn fill_window(&mut self) {
        while self.sent < self.total
            && self.sent - self.acked < self.window
            && self.now >= self.resume_at
        {
            self.give(self.sent);
            self.sent += 1;
            let pause = u64::from(self.path.pause_after);
            if self.sent.is_multiple_of(pause) {
                self.resume_at = self.now + Duration::from_millis(500);
            }
        }
    }

    fn answer(&mut self, answer: Answer) {
        if !self.random.hits(self.path.answer_loss) {
            if self.random.hits(self.path.doubled) {
                self.push(Event::Answer(answer));
            }
            self.push(Event::Answer(answer));
        }
    }

    fn acknowledge(&mut self, ack: &Acknowledgment) {
        let acked = (ack.ack - 1) / SEGMENT_BYTES;
        assert!(acked <= self.sent, "only what was sent is acknowledged");
        assert_eq!(ack.is_duplicate, acked == self.acked);
        for &(start, end) in ack.blocks.iter().filter(|block| block.1 > 0) {
            assert!(start > ack.ack, "what is next is not there");
            let segments = (start - 1) / SEGMENT_BYTES..(end - 1) / SEGMENT_BYTES;
            segments.for_each(|segment| self.sacked[segment as usize] = true);
        }
        if ack.is_duplicate {
            self.outcome.duplicates += 1;
            self.duplicates_of_hole += 1;
            if self.duplicates_of_hole == 3 {
                self.give(self.acked);
            }
        } else {
            self.acked = acked;
            self.duplicates_of_hole = 0;
            self.retransmit_at = self.now + Duration::from_millis(1000);
        }
        self.fill_window();
    }

    fn run(mut self) -> Outcome {
        self.fill_window();
        while self.acked < self.total || self.outcome.received.len() < self.total as usize {
            let timer = self.edge.next_timeout().min(self.receiver.next_timeout());
            let resume = if self.resume_at > self.now {
                self.resume_at
            } else {
                SimTime::MAX
            };
            let waits = if self.acked < self.sent {
                self.retransmit_at
            } else {
                SimTime::MAX
            };
            let next = self.queue.keys().next().map_or(SimTime::MAX, |key| key.0);
            self.now = timer.min(resume).min(waits).min(next);
            assert!(
                self.now < SimTime::ZERO + Duration::from_secs(7200),
                "it ends: {} of {} acknowledged",
                self.acked,
                self.total
            );
            if next == self.now {
                match self.queue.pop_first().expect("there is one").1 {
                    Event::Coded(header, symbol) => {
                        let answer = self.receiver.on_packet(self.now, &header, &symbol);
                        while let Some(symbol) = self.receiver.poll_decoded(self.now) {
                            self.outcome.received.push(symbol.to_vec());
                        }
                        self.answer(answer);
                    }
                    Event::Answer(answer) => {
                        self.edge.on_answer(self.now, &answer);
                        self.transmit();
                        while let Some(ack) = self.edge.poll_acknowledgment() {
                            self.acknowledge(&ack);
                        }
                    }
                }
            }
            self.edge.on_timer(self.now);
            self.transmit();
            while let Some(request) = self.receiver.poll_request(self.now) {
                self.answer(request);
            }
            if waits == self.now {
                self.outcome.timeouts += 1;
                self.give(self.acked);
            }
            self.fill_window();
        }
        let (edge, receiver) = (self.edge.readings(), self.receiver.readings());
        assert_eq!(receiver.originals, self.total);
        assert_eq!(edge.originals, self.total);
        self.outcome.edge_drops = edge.edge_drops;
        self.outcome.spurious = edge.spurious_retransmits;
        self.outcome.masked_losses = receiver.masked_losses;
        self.outcome.requests = receiver.requests;
        self.outcome.acked = self.acked;
        self.outcome.end = self.now;
        self.outcome
    }
}

fn transfer(path: &Path, total: u64, window: u64, seed: u64) -> Outcome {
    let config = Config::default();
    let world = World {
        now: SimTime::ZERO,
        edge: Edge::new(&config, KEY, WIDTH),
        receiver: Receiver::new(&config, KEY, WIDTH),
        random: Random(seed),
        path: path.clone(),
        queue: BTreeMap::new(),
        order: 0,
        sequence: 0,
        window,
        sent: 0,
        total,
        acked: 0,
        sacked: vec![false; total as usize],
        dropped: VecDeque::new(),
        retransmit_at: SimTime::MAX,
        duplicates_of_hole: 0,
        resume_at: SimTime::ZERO,
        outcome: Outcome::default(),
    };
    let outcome = world.run();
    for (segment, symbol) in outcome.received.iter().enumerate() {
        assert_eq!(*symbol, symbol_of(segment as u64), "segment {segment}");
    }
    outcome
}

/// Round trips of 20 ms with a window of 10: 200 segments in 20 of them.
#[test]
fn without_loss_the_layer_adds_no_time_and_no_packet() {
    let outcome = transfer(&Path::default(), 200, 10, 1);
    assert_eq!(outcome.end, SimTime::ZERO + Duration::from_millis(400));
    assert_eq!(outcome.duplicates + outcome.requests + outcome.spurious, 0);
}

#[test]
fn half_of_all_packets_are_lost_and_tcp_sees_no_duplicate_acknowledgment() {
    for loss in [77, 102, 128] {
        let path = Path {
            loss,
            ..Path::default()
        };
        let outcome = transfer(&path, 1000, 20, 3);
        assert_eq!(outcome.duplicates, 0);
        assert!(outcome.masked_losses > 200, "{outcome:?}");
    }
}

#[test]
fn a_source_that_pauses_does_not_leave_the_receiver_short() {
    let path = Path {
        pause_after: 7,
        ..Path::default()
    };
    let outcome = transfer(&path, 70, 20, 1);
    // Each pause begins with 7 segments sent, and the run ends before the last one.
    assert_eq!(
        outcome.end,
        SimTime::ZERO + Duration::from_millis(9 * 500 + 20)
    );
    assert_eq!(outcome.requests, 0);
}

#[test]
fn what_the_edge_drops_is_told_to_tcp_and_sent_again_by_it() {
    let path = Path {
        edge_drop: 5,
        ..Path::default()
    };
    let outcome = transfer(&path, 2000, 30, 1);
    assert!(outcome.edge_drops > 20, "{outcome:?}");
    assert!(outcome.duplicates >= outcome.edge_drops, "{outcome:?}");
    assert_eq!(outcome.masked_losses, 0, "nothing was lost beyond the edge");
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(200) })]

    /// With any impairments in either direction, all data arrive, in order and unchanged,
    /// and without drops at the edge TCP gets no duplicate acknowledgment.
    #[test]
    fn everything_arrives_in_order_whatever_is_lost_doubled_or_reordered(
        loss in 0u8..140,
        answer_loss in 0u8..140,
        doubled in 0u8..60,
        jitter_ms in 0u8..100,
        edge_drop in prop_oneof![Just(0), 0u8..40],
        pause_after in prop_oneof![Just(0), 1u8..40],
        window in 1u64..80,
        total in 1u64..300,
        seed: u64,
    ) {
        let path = Path { loss, answer_loss, doubled, jitter_ms, edge_drop, pause_after };
        let outcome = transfer(&path, total, window, seed);
        if edge_drop == 0 {
            prop_assert_eq!(outcome.duplicates, 0);
        }
        prop_assert_eq!(&outcome, &transfer(&path, total, window, seed));
    }
}
