//! Two endpoints over a path that loses, duplicates, reorders, changes and forges segments.
//!
//! Forged segments may end or stall a connection, but no endpoint panics, sends data that was not
//! written, reduces its acknowledgment or shrinks its window. Without forged segments, no timer
//! outlives a connection.

use backlane_tcp::{
    Config, CongestionControlConfig, Connection, Ecn, EcnField, Flags, OrInfinite, OrOff,
    OrUnlimited, Reordering, RtoLaw, SackBlock, Seed, Segment,
};
use backlane_units::{Bytes, Duration, SimTime};

use crate::choices::Choices;

const MOST_STEPS: usize = 3000;
const MOST_FLYING: usize = 200;
/// Segments that may leave at one time.
const MOST_AT_ONCE: usize = 100_000;
/// Sequence numbers have 64 bits and never wrap: a run ends long before. Forged ones stay as far
/// from the end.
const SEQUENCE_BYTES: u32 = 6;

const POLICIES: [Reordering; 7] = [
    Reordering::Fixed,
    Reordering::LinuxLegacy,
    Reordering::Rack,
    Reordering::NcrCareful,
    Reordering::NcrAggressive,
    Reordering::Pr,
    Reordering::Rr,
];

/// Lets two endpoints talk, with a path between them as the bytes choose.
///
/// # Panics
/// If an endpoint panics or violates a property.
pub fn tcp(bytes: &[u8]) {
    let mut choices = Choices::new(bytes);
    let config = config(&mut choices);
    let mut path = Path {
        now: SimTime::ZERO,
        ends: [
            End::new(Connection::connect(&config, SimTime::ZERO)),
            End::new(Connection::listen(&config)),
        ],
        is_forged: false,
        flying: Vec::new(),
    };
    path.poll();
    for _ in 0..MOST_STEPS {
        if choices.is_empty() {
            break;
        }
        path.step(&mut choices);
        path.poll();
        path.check();
    }
}

struct End {
    connection: Connection,
    written_bytes: u64,
    is_closed: bool,
    /// The largest of what it has sent.
    acked: u64,
    offered_to: u64,
    received_bytes: u64,
}

impl End {
    fn new(connection: Connection) -> Self {
        Self {
            connection,
            written_bytes: 0,
            is_closed: false,
            acked: 0,
            offered_to: 0,
            received_bytes: 0,
        }
    }

    /// A segment leaves.
    fn sent(&mut self, segment: &Segment) {
        assert!(
            segment.ack >= self.acked,
            "an acknowledgment is not taken back"
        );
        self.acked = segment.ack;
        // RFC 9293 §3.8.6 (SHLD-14).
        let window_end = segment.ack + u64::from(segment.window_bytes);
        assert!(window_end >= self.offered_to, "a window is not drawn back");
        self.offered_to = window_end;
        // The SYN is number 0, the FIN follows the data.
        let fin = u64::from(self.is_closed);
        assert!(segment.end_seq() <= 1 + self.written_bytes + fin);
        assert!(!segment.flags.contains(Flags::FIN) || self.is_closed);
        for block in segment.sack.iter(segment.ack) {
            assert!(block.start < block.end);
        }
        assert!(segment.header_bytes() <= 60);
    }
}

struct Path {
    now: SimTime,
    ends: [End; 2],
    /// An endpoint received a segment that the other one did not send.
    is_forged: bool,
    /// Where to, and what.
    flying: Vec<(usize, Segment)>,
}

impl Path {
    fn step(&mut self, choices: &mut Choices) {
        match choices.below(16) {
            0..=6 => {
                if let Some((to, segment)) = self.pick(choices) {
                    self.deliver(to, &segment);
                }
            }
            7 => drop(self.pick(choices)),
            8 => {
                if let Some((to, segment)) = self.pick(choices) {
                    self.deliver(to, &segment);
                    self.flying.push((to, segment));
                }
            }
            9 => {
                if let Some((to, mut segment)) = self.pick(choices) {
                    change(&mut segment, choices);
                    self.is_forged = true;
                    self.deliver(to, &segment);
                }
            }
            10 => {
                let to = choices.below(2);
                let near = self.ends[1 - to].acked;
                let segment = forged(near, choices);
                self.is_forged = true;
                self.deliver(to, &segment);
            }
            11 | 12 => self.wait(choices),
            13 => {
                let end = &mut self.ends[choices.below(2)];
                let bytes = choices.number(2) * [1, 1, 30, 0][choices.below(4)];
                end.connection.write(bytes);
                if !end.is_closed {
                    end.written_bytes += bytes;
                }
            }
            14 => {
                let end = &mut self.ends[choices.below(2)];
                end.connection.close();
                end.is_closed = true;
            }
            _ => {
                let end = &mut self.ends[choices.below(2)];
                if choices.chance(64) {
                    end.connection.stop();
                    end.is_closed = true;
                } else {
                    let _ = end.connection.take_rtt_sample();
                }
            }
        }
    }

    /// One of those that were sent first, most often the very first.
    fn pick(&mut self, choices: &mut Choices) -> Option<(usize, Segment)> {
        let among = self.flying.len().min([1, 1, 4, 40][choices.below(4)]);
        (among > 0).then(|| self.flying.remove(choices.below(among)))
    }

    fn deliver(&mut self, to: usize, segment: &Segment) {
        self.ends[to].connection.on_segment(self.now, segment);
    }

    /// Time advances: a little, or to the next timer.
    fn wait(&mut self, choices: &mut Choices) {
        let timers = self
            .ends
            .iter()
            .filter_map(|end| end.connection.next_timeout());
        let span_us = [1, 100, 5_000, 40_000, 250_000, 3_000_000][choices.below(6)];
        let later = self.now + Duration::from_micros(span_us);
        let next = timers.min().unwrap_or(later);
        self.now = if choices.chance(128) {
            next.max(self.now)
        } else {
            later
        };
        for end in &mut self.ends {
            if end
                .connection
                .next_timeout()
                .is_some_and(|at| at <= self.now)
            {
                end.connection.on_timer(self.now);
            }
        }
    }

    fn poll(&mut self) {
        for (index, end) in self.ends.iter_mut().enumerate() {
            let mut count = 0;
            while let Some(segment) = end.connection.poll_transmit(self.now) {
                end.sent(&segment);
                if self.flying.len() < MOST_FLYING {
                    self.flying.push((1 - index, segment));
                }
                count += 1;
                assert!(count < MOST_AT_ONCE, "no end to what leaves at one time");
            }
        }
    }

    fn check(&mut self) {
        for end in &mut self.ends {
            let readings = end.connection.readings();
            assert!(readings.cwnd_pkts >= 1 && readings.ssthresh_pkts >= 1);
            assert!(readings.sacked_pkts + readings.lost_pkts <= readings.packets_out_pkts);
            assert!(readings.retrans_out_pkts <= readings.packets_out_pkts);
            assert_eq!(
                readings.in_flight_pkts,
                readings.packets_out_pkts + readings.retrans_out_pkts
                    - readings.sacked_pkts
                    - readings.lost_pkts
            );
            assert!(end.connection.acked_bytes() <= end.written_bytes);
            let received_bytes = end.connection.received_bytes();
            assert!(received_bytes >= end.received_bytes);
            end.received_bytes = received_bytes;
            if let Some(at) = end.connection.next_timeout() {
                let connection = &end.connection;
                let over = connection.is_closed() || connection.is_failed();
                let may_be = self.is_forged && !connection.is_failed();
                assert!(
                    !over || may_be,
                    "a timer outlives the connection until {at:?}: {connection:?}"
                );
            }
        }
    }
}

/// Changes a field of a segment.
fn change(segment: &mut Segment, choices: &mut Choices) {
    let near = choices.number(2);
    match choices.below(9) {
        0 => segment.seq = segment.seq.saturating_add(near),
        1 => segment.seq = segment.seq.saturating_sub(near),
        2 => segment.ack = segment.ack.saturating_add(near),
        3 => segment.ack = segment.ack.saturating_sub(near),
        4 => segment.payload_bytes = near as u32,
        5 => segment.window_bytes = near as u32,
        6 => segment.ts_val = segment.ts_val.wrapping_add(choices.number(4) as u32),
        7 => segment.ts_ecr = choices.number(4) as u32,
        _ => segment.flags = flags(choices),
    }
    mark(segment, choices);
    blocks(segment, choices);
}

/// A forged segment.
fn forged(near: u64, choices: &mut Choices) -> Segment {
    let number = |choices: &mut Choices| match choices.below(4) {
        0 => near,
        1 => near.saturating_add(choices.number(2)),
        2 => choices.number(2),
        _ => choices.number(SEQUENCE_BYTES),
    };
    let mut segment = Segment {
        seq: number(choices),
        ack: number(choices),
        payload_bytes: choices.number(2) as u32,
        window_bytes: choices.number(4) as u32,
        ts_val: choices.number(4) as u32,
        ts_ecr: choices.number(4) as u32,
        flags: flags(choices),
        ..Segment::default()
    };
    mark(&mut segment, choices);
    blocks(&mut segment, choices);
    segment
}

fn flags(choices: &mut Choices) -> Flags {
    let bits = choices.byte();
    let all = [Flags::ACK, Flags::FIN, Flags::SYN, Flags::ECE, Flags::CWR];
    let set = all.iter().enumerate().filter(|(at, _)| bits >> at & 1 == 1);
    set.fold(Flags::NONE, |flags, (_, flag)| flags | *flag)
}

fn mark(segment: &mut Segment, choices: &mut Choices) {
    let fields = [EcnField::NotCapable, EcnField::Capable, EcnField::Marked];
    segment.ecn = choices.of(&fields);
}

fn blocks(segment: &mut Segment, choices: &mut Choices) {
    for _ in 0..choices.below(3) {
        let start = (segment.ack + choices.number(2)).saturating_sub(choices.number(1));
        let end = start + choices.number(2);
        segment.sack.push(segment.ack, SackBlock { start, end });
    }
}

fn config(choices: &mut Choices) -> Config {
    let switches = choices.number(2);
    let on = |bit: u32| switches >> bit & 1 == 0;
    let name = choices.of(CongestionControlConfig::NAMES);
    let buffer_bytes = choices.of(&[1u64 << 20, 1_000, 3_000, 20_000]);
    Config {
        mss: Bytes::new(choices.of(&[1448, 1, 536, 8_960])),
        initial_window_pkts: 1 + choices.below(20) as u32,
        initial_ssthresh_pkts: if on(0) {
            OrInfinite::Infinite
        } else {
            OrInfinite::Value(2 + choices.below(40) as u32)
        },
        rto: if on(1) {
            RtoLaw::Linux
        } else {
            RtoLaw::Rfc6298
        },
        sack: on(2),
        sack_compression: on(3),
        timestamps: on(4),
        paws: on(5),
        limited_transmit: on(6),
        tail_loss_probe: on(7),
        frto: on(8),
        slow_start_after_idle: on(9),
        duplicate_threshold: choices.of(&[3, 1, 10]),
        reordering: choices.of(&POLICIES),
        ecn: choices.of(&[Ecn::Off, Ecn::Classic, Ecn::Exact]),
        delayed_ack_segments: 1 + choices.below(4) as u32,
        quick_ack: on(10),
        receive_buffer: Bytes::new(buffer_bytes),
        receive_autotuning_max: if on(11) {
            OrOff::Off
        } else {
            OrOff::Value(Bytes::new(1 << 18))
        },
        send_buffer: if on(12) {
            OrUnlimited::Unlimited
        } else {
            OrUnlimited::Value(Bytes::new(2_000))
        },
        send_memory: if on(13) {
            OrUnlimited::Unlimited
        } else {
            OrUnlimited::Value(Bytes::new(5_000))
        },
        random_seed: Seed(u64::from(choices.byte())),
        congestion_control: name.parse().expect("a name that is listed"),
        ..Config::default()
    }
}
