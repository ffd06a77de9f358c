//! Two endpoints over one bottleneck: a store-and-forward serialiser with a drop-tail queue,
//! then a fixed delay; acknowledgments come back over a fixed delay alone.

use std::collections::VecDeque;

use backlane_tcp::{Config, Connection, Segment};
use backlane_units::{Duration, Rate, SimTime};

/// IPv4 header without options.
const IP_HEADER_BYTES: u32 = 20;

#[derive(Clone, Debug)]
pub struct Path {
    pub rate: Rate,
    /// Packets that wait or are being sent.
    pub queue_pkts: usize,
    pub delay: Duration,
    pub return_delay: Duration,
    /// Packets take this longer in turn, one path after the other.
    pub spread: [Duration; 3],
    /// One segment with data in this many is lost, before the bottleneck.
    pub lose_every: u64,
    /// The first two transmissions of the segment that starts here are lost behind the bottleneck.
    pub lost_twice_seq: Option<u64>,
}

impl Path {
    /// 50 Mb/s, 173 packets waiting and one in service, 20 ms each way.
    #[allow(dead_code, reason = "not every test uses this path")]
    pub fn clean() -> Self {
        Self {
            rate: Rate::from_bps(50_000_000),
            queue_pkts: 174,
            delay: Duration::from_millis(20),
            return_delay: Duration::from_millis(20),
            spread: [Duration::ZERO; 3],
            lose_every: u64::MAX,
            lost_twice_seq: None,
        }
    }

    /// The same with three paths of 18, 20 and 22 ms in turn behind the bottleneck.
    #[allow(dead_code, reason = "not every test uses this path")]
    pub fn three() -> Self {
        Self {
            delay: Duration::from_millis(18),
            spread: [4, 2, 0].map(Duration::from_millis),
            ..Self::clean()
        }
    }
}

pub struct Dumbbell {
    pub sender: Connection,
    pub receiver: Connection,
    pub now: SimTime,
    /// Segments with data that left the sender.
    pub data_segments: u64,
    path: Path,
    departures: VecDeque<SimTime>,
    busy_until: SimTime,
    sent: usize,
    lost_twice: u32,
    forward: VecDeque<(SimTime, Segment)>,
    back: VecDeque<(SimTime, Segment)>,
}

impl Dumbbell {
    #[allow(dead_code, reason = "not every test starts at zero")]
    pub fn new(config: &Config, path: Path) -> Self {
        Self::starting_at(config, path, SimTime::ZERO)
    }

    pub fn starting_at(config: &Config, path: Path, now: SimTime) -> Self {
        let mut dumbbell = Self {
            sender: Connection::connect(config, now),
            receiver: Connection::listen(config),
            now,
            data_segments: 0,
            path,
            departures: VecDeque::new(),
            busy_until: SimTime::ZERO,
            sent: 0,
            lost_twice: 0,
            forward: VecDeque::new(),
            back: VecDeque::new(),
        };
        dumbbell.sender.write(u64::MAX / 4);
        dumbbell.poll_sender();
        dumbbell
    }

    fn poll_sender(&mut self) {
        while let Some(segment) = self.sender.poll_transmit(self.now) {
            while self.departures.front().is_some_and(|at| *at <= self.now) {
                self.departures.pop_front();
            }
            if self.departures.len() >= self.path.queue_pkts {
                continue;
            }
            self.data_segments += u64::from(segment.payload_bytes > 0);
            if segment.payload_bytes > 0 && self.data_segments.is_multiple_of(self.path.lose_every)
            {
                continue;
            }
            let bytes = IP_HEADER_BYTES + segment.header_bytes() + segment.payload_bytes;
            let start = self.busy_until.max(self.now);
            self.busy_until = start + self.path.rate.transmission_time(u64::from(bytes));
            self.departures.push_back(self.busy_until);
            let spread = self.path.spread[self.sent % self.path.spread.len()];
            self.sent += 1;
            if segment.payload_bytes > 0 && self.path.lost_twice_seq == Some(segment.seq) {
                self.lost_twice += 1;
                if self.lost_twice <= 2 {
                    continue;
                }
            }
            let arrival = self.busy_until + self.path.delay + spread;
            let behind = self.forward.partition_point(|(at, _)| *at <= arrival);
            self.forward.insert(behind, (arrival, segment));
        }
    }

    fn poll_receiver(&mut self) {
        while let Some(segment) = self.receiver.poll_transmit(self.now) {
            self.back
                .push_back((self.now + self.path.return_delay, segment));
        }
    }

    /// Runs until nothing is left to happen before `end`.
    pub fn run_until(&mut self, end: SimTime) {
        loop {
            let forward = self.forward.front().map_or(SimTime::MAX, |(at, _)| *at);
            let back = self.back.front().map_or(SimTime::MAX, |(at, _)| *at);
            let sender_timer = self.sender.next_timeout().unwrap_or(SimTime::MAX);
            let receiver_timer = self.receiver.next_timeout().unwrap_or(SimTime::MAX);
            let next = forward.min(back).min(sender_timer).min(receiver_timer);
            if next >= end {
                self.now = end;
                return;
            }
            self.now = next.max(self.now);
            // The kernel's clock runs on while it takes a segment: what the clock asks for at the
            // same instant comes first.
            if sender_timer == next {
                self.sender.on_timer(self.now);
                self.poll_sender();
            } else if forward == next {
                let (_, segment) = self.forward.pop_front().unwrap();
                self.receiver.on_segment(self.now, &segment);
                self.poll_receiver();
            } else if back == next {
                let (_, segment) = self.back.pop_front().unwrap();
                self.sender.on_segment(self.now, &segment);
                self.poll_sender();
            } else {
                self.receiver.on_timer(self.now);
                self.poll_receiver();
            }
        }
    }
}
