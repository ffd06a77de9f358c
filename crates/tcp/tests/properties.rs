//! What holds for every path, however it loses, repeats, delays, marks and reorders, for every
//! congestion control and every policy towards reordering.

use backlane_tcp::{
    Config, CongestionControlConfig, Connection, Ecn, EcnField, Flags, OrInfinite, OrOff,
    OrUnlimited, Reordering, RtoLaw, Seed, Segment, Stack,
};
use backlane_units::{Bytes, Duration, SimTime};
use proptest::prelude::*;

/// What happens to one segment on its way.
#[derive(Clone, Copy, Debug)]
enum Fate {
    Arrives {
        delay_us: u64,
    },
    Lost,
    Doubled {
        delay_us: u64,
        again_us: u64,
    },
    /// With a congestion mark, if it can bear one.
    Marked {
        delay_us: u64,
    },
    /// With another window, as an application that does not read makes it.
    Narrowed {
        delay_us: u64,
        window_bytes: u32,
    },
}

fn fate() -> impl Strategy<Value = Fate> {
    prop_oneof![
        12 => (1_000u64..10_000).prop_map(|delay_us| Fate::Arrives { delay_us }),
        4 => (1_000u64..60_000).prop_map(|delay_us| Fate::Arrives { delay_us }),
        // Later than a timeout, or several.
        1 => (200_000u64..5_000_000).prop_map(|delay_us| Fate::Arrives { delay_us }),
        2 => Just(Fate::Lost),
        2 => (1_000u64..30_000, 1_000u64..300_000)
            .prop_map(|(delay_us, again_us)| Fate::Doubled { delay_us, again_us }),
        2 => (1_000u64..30_000).prop_map(|delay_us| Fate::Marked { delay_us }),
        1 => (1_000u64..30_000, prop_oneof![Just(0u32), 1u32..5_000])
            .prop_map(|(delay_us, window_bytes)| Fate::Narrowed { delay_us, window_bytes }),
    ]
}

fn control_and_recovery() -> impl Strategy<Value = Config> {
    (
        prop::sample::select(CongestionControlConfig::NAMES),
        prop::sample::select(&[
            Reordering::Fixed,
            Reordering::LinuxLegacy,
            Reordering::LinuxUnprotected,
            Reordering::Linux44,
            Reordering::Rack,
            Reordering::NcrCareful,
            Reordering::NcrAggressive,
            Reordering::Pr,
            Reordering::Rr,
        ]),
        prop::sample::select(&[Ecn::Off, Ecn::Classic, Ecn::Exact]),
        prop::sample::select(&[RtoLaw::Linux, RtoLaw::Rfc6298]),
        // SACK most often, since most of recovery needs it.
        prop::bool::weighted(0.8),
        any::<[bool; 4]>(),
        1u32..20,
        prop::option::of(2u32..40),
        // The draws of the control, and the stack.
        (any::<u64>(), prop::sample::select(&Stack::ALL)),
    )
        .prop_map(
            |(
                name,
                reordering,
                ecn,
                rto,
                sack,
                switches,
                window,
                ssthresh,
                (random_seed, stack),
            )| {
                let control: CongestionControlConfig = name.parse().unwrap();
                let [timestamps, limited_transmit, tail_loss_probe, frto] = switches;
                Config {
                    congestion_control: control.of(stack),
                    reordering,
                    ecn,
                    rto,
                    sack,
                    timestamps,
                    limited_transmit,
                    tail_loss_probe,
                    frto,
                    initial_window_pkts: window,
                    initial_ssthresh_pkts: ssthresh.map_or(OrInfinite::Infinite, OrInfinite::Value),
                    random_seed: Seed(random_seed),
                    retries: 15,
                    ..Config::of(stack)
                }
            },
        )
}

fn config() -> impl Strategy<Value = Config> {
    (
        control_and_recovery(),
        any::<[bool; 3]>(),
        prop_oneof![Just(1_000u64), Just(3_000), Just(20_000), Just(1 << 20)],
        prop_oneof![Just(OrOff::Off), Just(OrOff::Value(Bytes::new(1 << 18)))],
        prop_oneof![
            Just(OrUnlimited::Value(Bytes::new(2_000))),
            Just(OrUnlimited::Unlimited)
        ],
        1u32..4,
    )
        .prop_map(|(config, switches, buffer, tuned, send_buffer, segments)| {
            let [sack_compression, slow_start_after_idle, quick_ack] = switches;
            Config {
                sack_compression,
                slow_start_after_idle,
                receive_buffer: Bytes::new(buffer),
                receive_autotuning_max: tuned,
                send_buffer,
                delayed_ack_segments: segments,
                quick_ack,
                ..config
            }
        })
}

/// What the application of one end does at one time.
#[derive(Clone, Copy, Debug)]
struct Write {
    at_ms: u64,
    bytes: u64,
}

/// Bytes at once, or in pieces with pauses.
fn writes(max_bytes: u64) -> impl Strategy<Value = Vec<Write>> {
    prop_oneof![
        (0..max_bytes).prop_map(|bytes| vec![Write { at_ms: 0, bytes }]),
        prop::collection::vec((0u64..3_000, 0..max_bytes / 4), 0..6).prop_map(|pieces| {
            let mut at_ms = 0;
            let mut piece = |(gap_ms, bytes)| {
                at_ms += gap_ms;
                Write { at_ms, bytes }
            };
            pieces.into_iter().map(&mut piece).collect()
        }),
    ]
}

#[derive(Debug)]
struct Net {
    now: SimTime,
    fates: Vec<Fate>,
    sent: usize,
    /// Due time, sequence, destination, segment; unordered.
    flying: Vec<(SimTime, usize, usize, Segment)>,
    ends: [Connection; 2],
    /// What each application still writes, the next last; it closes with the last one.
    writes: [Vec<Write>; 2],
    /// The application bytes each end has sent, to check what arrives.
    highest_payload_end: [u64; 2],
    /// The first sequence number beyond the window that each end has offered.
    window_end: [u64; 2],
    /// The sequence numbers that arrived at each end, as disjoint ascending ranges.
    arrived: [Vec<(u64, u64)>; 2],
}

/// Adds `start..end` to disjoint ascending ranges.
fn add(ranges: &mut Vec<(u64, u64)>, mut start: u64, mut end: u64) {
    ranges.retain(|&(first, last)| {
        let touches = first <= end && start <= last;
        if touches {
            (start, end) = (start.min(first), end.max(last));
        }
        !touches
    });
    let behind = ranges.partition_point(|&(first, _)| first < start);
    ranges.insert(behind, (start, end));
}

fn at(ms: u64) -> SimTime {
    SimTime::ZERO + Duration::from_millis(ms)
}

impl Net {
    fn new(config: &Config, fates: Vec<Fate>, mut writes: [Vec<Write>; 2]) -> Self {
        for pieces in &mut writes {
            pieces.reverse();
        }
        Self {
            now: SimTime::ZERO,
            fates,
            sent: 0,
            flying: Vec::new(),
            ends: [
                Connection::connect(config, SimTime::ZERO),
                Connection::listen(config),
            ],
            writes,
            highest_payload_end: [0; 2],
            window_end: [0; 2],
            arrived: [const { Vec::new() }; 2],
        }
    }

    /// Whether all of `start..end` has arrived at `end_of`.
    fn has_arrived(&self, end_of: usize, start: u64, end: u64) -> bool {
        let within = |&(first, last): &(u64, u64)| first <= start && end <= last;
        start >= end || self.arrived[end_of].iter().any(within)
    }

    fn write(&mut self) {
        for end in 0..2 {
            while let Some(write) = self.writes[end].pop_if(|w| at(w.at_ms) <= self.now) {
                self.ends[end].write(write.bytes);
            }
            // The one that connects closes when it has written all; the other one then.
            let waits = end == 1 && !self.ends[end].is_peer_closed();
            if self.writes[end].is_empty() && !waits {
                self.ends[end].close();
            }
        }
    }

    fn poll(&mut self) -> Result<(), TestCaseError> {
        for end in 0..2 {
            while let Some(segment) = self.ends[end].poll_transmit(self.now) {
                // After the drawn fates have been used up, the path is clean.
                let fate = self.fates.get(self.sent).copied();
                self.sent += 1;
                let mut send = |delay_us: u64, segment: Segment| {
                    let at = self.now + Duration::from_micros(delay_us);
                    self.flying.push((at, self.sent, 1 - end, segment));
                };
                match fate.unwrap_or(Fate::Arrives { delay_us: 5_000 }) {
                    Fate::Arrives { delay_us } => send(delay_us, segment),
                    Fate::Lost => {}
                    Fate::Doubled { delay_us, again_us } => {
                        send(delay_us, segment);
                        send(again_us, segment);
                    }
                    Fate::Marked { delay_us } => {
                        let mut marked = segment;
                        if segment.ecn == EcnField::Capable {
                            marked.ecn = EcnField::Marked;
                        }
                        send(delay_us, marked);
                    }
                    Fate::Narrowed {
                        delay_us,
                        window_bytes,
                    } => {
                        let mut narrowed = segment;
                        narrowed.window_bytes = window_bytes.min(segment.window_bytes);
                        send(delay_us, narrowed);
                    }
                }
                let payload_end = segment.seq + u64::from(segment.payload_bytes);
                self.highest_payload_end[end] = self.highest_payload_end[end].max(payload_end);
                let window_end = segment.ack + u64::from(segment.window_bytes);
                // Nothing is acknowledged that has not arrived.
                prop_assert!(self.has_arrived(end, 1, segment.ack));
                for block in segment.sack.iter(segment.ack) {
                    prop_assert!(self.has_arrived(end, block.start, block.end));
                }
                // RFC 9293 §3.8.6 (SHLD-14): a receiver does not draw its window back.
                prop_assert!(window_end >= self.window_end[end]);
                self.window_end[end] = window_end;
            }
        }
        Ok(())
    }

    fn check(&self) -> Result<(), TestCaseError> {
        for (end, connection) in self.ends.iter().enumerate() {
            let r = connection.readings();
            prop_assert!(r.cwnd_pkts >= 1);
            prop_assert!(r.ssthresh_pkts >= 1);
            prop_assert!(r.sacked_pkts + r.lost_pkts <= r.packets_out_pkts);
            prop_assert!(r.retrans_out_pkts <= r.packets_out_pkts);
            prop_assert_eq!(
                r.in_flight_pkts,
                r.packets_out_pkts + r.retrans_out_pkts - r.sacked_pkts - r.lost_pkts
            );
            let peer = &self.ends[1 - end];
            prop_assert!(connection.acked_bytes() <= peer.received_bytes());
            prop_assert!(peer.received_bytes() < self.highest_payload_end[end].max(1));
            if let Some(at) = connection.next_timeout() {
                prop_assert!(at >= self.now);
                prop_assert!(!connection.is_closed() && !connection.is_failed());
            }
        }
        Ok(())
    }

    /// Runs until nothing flies, no timer runs and nothing is left to write; whether that came
    /// to pass.
    fn run(&mut self) -> Result<bool, TestCaseError> {
        for _ in 0..200_000 {
            self.write();
            self.poll()?;
            self.check()?;
            let flight = self.flying.iter().map(|f| (f.0, f.1)).min();
            let flight_at = flight.map_or(SimTime::MAX, |(at, _)| at);
            let write_at = self
                .writes
                .iter()
                .filter_map(|pieces| pieces.last())
                .map(|write| at(write.at_ms))
                .min()
                .unwrap_or(SimTime::MAX);
            let (timer_at, end) = (0..2)
                .filter_map(|end| self.ends[end].next_timeout().map(|at| (at, end)))
                .min()
                .unwrap_or((SimTime::MAX, 0));
            let next = flight_at.min(write_at).min(timer_at);
            if next == SimTime::MAX {
                return Ok(true);
            }
            self.now = next;
            if next == flight_at {
                let position = self.flying.iter().position(|f| Some((f.0, f.1)) == flight);
                let (at, _, end, segment) = self.flying.swap_remove(position.unwrap());
                let fin = u64::from(segment.flags.contains(Flags::FIN));
                let last = segment.seq + u64::from(segment.payload_bytes) + fin;
                add(&mut self.arrived[end], segment.seq, last);
                self.ends[end].on_segment(at, &segment);
            } else if next == timer_at {
                self.ends[end].on_timer(next);
            }
        }
        Ok(false)
    }

    fn holds(mut self) -> Result<(), TestCaseError> {
        let written = [0, 1].map(|end: usize| self.writes[end].iter().map(|w| w.bytes).sum());
        prop_assert!(self.run()?, "never came to rest");
        // No path here loses so much in a row that a connection is given up.
        let [connecting, listening] = &self.ends;
        prop_assert!(connecting.is_closed() && listening.is_closed());
        let received = [listening.received_bytes(), connecting.received_bytes()];
        let acked = [connecting.acked_bytes(), listening.acked_bytes()];
        prop_assert_eq!(received, written);
        prop_assert_eq!(acked, written);
        Ok(())
    }
}

proptest! {
    // PROPTEST_CASES asks for more.
    #![proptest_config(ProptestConfig::with_cases(ProptestConfig::default().cases.max(600)))]

    #[test]
    fn the_stream_is_exact_the_counts_balance_and_no_timer_outlives_the_connection(
        config in config(),
        fates in prop::collection::vec(fate(), 0..300),
        there in writes(300_000),
        back in writes(20_000),
    ) {
        Net::new(&config, fates, [there, back]).holds()?;
    }
}

/// An undo ends the disorder without an acknowledgment that shows it; extended limited transmit
/// then held back everything.
#[test]
fn careful_ncr_sends_on_after_an_undo_has_ended_the_disorder() {
    let config = Config {
        initial_window_pkts: 2,
        rto: RtoLaw::Rfc6298,
        reordering: Reordering::NcrCareful,
        delayed_ack_segments: 3,
        quick_ack: false,
        sack_compression: false,
        timestamps: false,
        limited_transmit: false,
        frto: false,
        receive_buffer: Bytes::new(3000),
        slow_start_after_idle: false,
        congestion_control: "reno".parse().unwrap(),
        ..Config::default()
    };
    let arrives = |delay_us| Fate::Arrives { delay_us };
    let doubled = |delay_us, again_us| Fate::Doubled { delay_us, again_us };
    let mut fates = vec![
        arrives(1176),
        arrives(1825),
        doubled(23_929, 6615),
        arrives(200_000),
        arrives(6615),
        arrives(19_001),
        doubled(1000, 59_954),
        arrives(2386),
        arrives(18_001),
        arrives(16_616),
        arrives(200_000),
        arrives(200_000),
        arrives(1000),
        arrives(1000),
        arrives(1000),
        arrives(200_000),
        arrives(53_218),
    ];
    fates.extend([arrives(1000); 6]);
    let write = |bytes| vec![Write { at_ms: 0, bytes }];
    let net = Net::new(&config, fates, [write(29_065), write(8_689)]);
    net.holds().unwrap();
}
