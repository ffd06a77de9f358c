//! What holds for every path, however it loses, repeats, delays and reorders.

use backlane_tcp::{Config, Connection, Reordering, Segment};
use backlane_units::{Duration, SimTime};
use proptest::prelude::*;

/// What happens to one segment on its way.
#[derive(Clone, Copy, Debug)]
enum Fate {
    Arrives { delay_us: u64 },
    Lost,
    Doubled { delay_us: u64, again_us: u64 },
}

fn fate() -> impl Strategy<Value = Fate> {
    prop_oneof![
        6 => (1_000u64..10_000).prop_map(|delay_us| Fate::Arrives { delay_us }),
        2 => (1_000u64..60_000).prop_map(|delay_us| Fate::Arrives { delay_us }),
        1 => Just(Fate::Lost),
        1 => (1_000u64..30_000, 1_000u64..30_000)
            .prop_map(|(delay_us, again_us)| Fate::Doubled { delay_us, again_us }),
    ]
}

fn config() -> impl Strategy<Value = Config> {
    (
        prop_oneof![Just("reno"), Just("cubic"), Just("vegas")],
        any::<bool>(),
        any::<bool>(),
        any::<bool>(),
        any::<bool>(),
        1u32..20,
        prop_oneof![Just(3_000u32), Just(20_000), Just(1 << 20)],
        prop_oneof![
            Just(Reordering::Fixed),
            Just(Reordering::LinuxLegacy),
            Just(Reordering::Rack),
            Just(Reordering::NcrCareful),
            Just(Reordering::NcrAggressive),
        ],
        any::<bool>(),
    )
        .prop_map(
            |(
                name,
                sack,
                timestamps,
                limited_transmit,
                compression,
                window,
                buffer,
                reordering,
                tail_loss_probe,
            )| Config {
                congestion_control: name.parse().unwrap(),
                sack,
                timestamps,
                limited_transmit,
                sack_compression: compression,
                initial_window_pkts: window,
                receive_buffer_bytes: buffer,
                reordering,
                tail_loss_probe,
                ..Config::default()
            },
        )
}

struct Net {
    now: SimTime,
    fates: Vec<Fate>,
    sent: usize,
    /// Due time, sequence, destination, segment; unordered.
    flying: Vec<(SimTime, usize, usize, Segment)>,
    ends: [Connection; 2],
    /// The application bytes each end has written, to check what arrives.
    highest_payload_end: [u64; 2],
}

impl Net {
    fn poll(&mut self) {
        for end in 0..2 {
            while let Some(segment) = self.ends[end].poll_transmit(self.now) {
                // After the drawn fates have been used up, the path is clean.
                let fate = self.fates.get(self.sent).copied();
                self.sent += 1;
                let mut send = |delay_us: u64| {
                    let at = self.now + Duration::from_micros(delay_us);
                    self.flying.push((at, self.sent, 1 - end, segment));
                };
                match fate.unwrap_or(Fate::Arrives { delay_us: 5_000 }) {
                    Fate::Arrives { delay_us } => send(delay_us),
                    Fate::Lost => {}
                    Fate::Doubled { delay_us, again_us } => {
                        send(delay_us);
                        send(again_us);
                    }
                }
                let payload_end = segment.seq + u64::from(segment.payload_bytes);
                self.highest_payload_end[end] = self.highest_payload_end[end].max(payload_end);
            }
        }
    }

    fn check(&self) -> Result<(), TestCaseError> {
        for (end, connection) in self.ends.iter().enumerate() {
            let r = connection.readings();
            prop_assert!(r.cwnd_pkts >= 1);
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
            }
        }
        Ok(())
    }

    /// Runs until nothing flies and no timer runs; whether that came to pass.
    fn run(&mut self) -> Result<bool, TestCaseError> {
        for _ in 0..200_000 {
            self.poll();
            self.check()?;
            for end in 0..2 {
                if self.ends[end].is_peer_closed() {
                    self.ends[end].close();
                }
            }
            self.poll();
            let flight = self.flying.iter().map(|f| (f.0, f.1)).min();
            let timer = (0..2)
                .filter_map(|end| self.ends[end].next_timeout().map(|at| (at, end)))
                .min();
            let timer_is_first = match (flight, timer) {
                (None, None) => return Ok(true),
                (Some((at, _)), Some((timer, _))) => timer < at,
                (None, Some(_)) => true,
                (Some(_), None) => false,
            };
            if timer_is_first {
                let (at, end) = timer.unwrap();
                self.now = at;
                self.ends[end].on_timer(at);
            } else {
                let key = flight.unwrap();
                let position = self.flying.iter().position(|f| (f.0, f.1) == key);
                let (at, _, end, segment) = self.flying.swap_remove(position.unwrap());
                self.now = at;
                self.ends[end].on_segment(at, &segment);
            }
        }
        Ok(false)
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn the_stream_is_exact_the_counts_balance_and_no_timer_outlives_the_connection(
        config in config(),
        fates in prop::collection::vec(fate(), 0..300),
        there_bytes in 0u64..300_000,
        back_bytes in 0u64..20_000,
    ) {
        let mut net = Net {
            now: SimTime::ZERO,
            fates,
            sent: 0,
            flying: Vec::new(),
            ends: [
                Connection::connect(&config, SimTime::ZERO),
                Connection::listen(&config),
            ],
            highest_payload_end: [0; 2],
        };
        net.ends[0].write(there_bytes);
        net.ends[0].close();
        net.ends[1].write(back_bytes);
        prop_assert!(net.run()?, "never came to rest");
        if !net.ends[0].is_failed() && !net.ends[1].is_failed() {
            prop_assert!(net.ends[0].is_closed() && net.ends[1].is_closed());
            prop_assert_eq!(net.ends[1].received_bytes(), there_bytes);
            prop_assert_eq!(net.ends[0].received_bytes(), back_bytes);
            prop_assert_eq!(net.ends[0].acked_bytes(), there_bytes);
            prop_assert_eq!(net.ends[1].acked_bytes(), back_bytes);
        }
    }
}
