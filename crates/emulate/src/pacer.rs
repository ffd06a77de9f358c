//! The loop between two events of a simulation on the wall clock.
//!
//! Before each event the simulation calls [`Pacer::proceed`], which sleeps until the wall clock
//! reaches the time of the event, or until a host has sent something. What hosts send enters the
//! simulation at the instant at which it is read. A delivery goes out at once
//! ([`Pacer::deliver`]): the event that caused it was due.
//!
//! A simulation that is behind the wall clock handles its events without a pause. Devices are then
//! read every [`READ_EVERY`], so that a load of events cannot hold input back for longer; and every
//! [`READ_LATE_EVERY`] once it is late, so that a load of packets cannot make it later and later. What
//! hosts send meanwhile waits in their interfaces, which may drop it.

use std::io;

use backlane_units::{Duration, SimTime};

use crate::lateness::{LATE, Lateness};

/// Devices are read at least this often while events are due without a pause.
pub const READ_EVERY: Duration = Duration::from_micros(200);
/// Devices are read this often while the simulation is late: up to 32 000 packets a second of each.
pub const READ_LATE_EVERY: Duration = Duration::from_millis(2);
/// The caller is asked this often whether to go on.
pub const ASK_EVERY: Duration = Duration::from_millis(50);
/// Datagrams that are read from a device before the next device, and before the next event.
const BURST: usize = 64;
/// The largest IP datagram.
const LARGEST_BYTES: usize = 65_536;

/// A simulation, before its next event.
pub trait Door {
    /// The time of the next event.
    fn horizon(&mut self) -> SimTime;

    /// A host sends a datagram at `at`, not before the event that fired last. The horizon is not later
    /// than `at` from now on.
    fn send(&mut self, at: SimTime, host: usize, datagram: &[u8]);
}

/// A clock that moves by itself, and the devices of the hosts, by their numbers.
pub trait Wall {
    /// The time since an instant before the start.
    fn now(&mut self) -> Duration;

    /// Sleeps for this time, or until a host has sent something. Fills `ready` with the hosts that
    /// have; a signal may end the sleep early.
    ///
    /// # Errors
    /// The operating system refuses to wait.
    fn wait(&mut self, time: Duration, ready: &mut Vec<usize>) -> io::Result<()>;

    /// Reads a datagram that a host has sent into `buffer`; `None` if there is none.
    ///
    /// # Errors
    /// The device is gone.
    fn read(&mut self, host: usize, buffer: &mut [u8]) -> io::Result<Option<usize>>;

    /// Delivers a datagram to a host.
    ///
    /// # Errors
    /// The host's side does not take it: its interface is down, for example.
    fn write(&mut self, host: usize, datagram: &[u8]) -> io::Result<()>;
}

/// Why a simulation on the wall clock does not go on.
#[derive(Debug)]
pub enum Stop {
    /// The caller said so.
    Asked,
    /// A device or the clock failed.
    Failed(io::Error),
}

/// Datagrams that passed between the simulation and the hosts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Read from hosts.
    pub received: u64,
    /// Delivered to hosts.
    pub delivered: u64,
    /// That a host's side did not take.
    pub refused: u64,
}

/// The wall clock as the clock of a simulation.
pub struct Pacer<W> {
    wall: W,
    /// The simulated time at which the wall clock begins: events before it are not paced.
    from: SimTime,
    /// The wall clock then.
    began: Option<Duration>,
    /// The simulated instants of the last look at the devices, and of the last question.
    looked: SimTime,
    asked: SimTime,
    ready: Vec<usize>,
    buffer: Vec<u8>,
    counts: Counts,
    lateness: Lateness,
}

impl<W: Wall> Pacer<W> {
    /// A simulation that is simulated as fast as possible until `from`, the end of its warm-up, and on
    /// the wall clock from then on.
    pub fn new(wall: W, from: SimTime) -> Self {
        Self {
            wall,
            from,
            began: None,
            looked: from,
            asked: from,
            ready: Vec::new(),
            buffer: vec![0; LARGEST_BYTES],
            counts: Counts::default(),
            lateness: Lateness::new(),
        }
    }

    /// Returns when the next event is due by the wall clock. `ask` is called about every
    /// [`ASK_EVERY`] with the instant, whether to go on, and with `true` once for each period in
    /// which the model does not keep up.
    ///
    /// # Errors
    /// [`Stop`].
    pub fn proceed<D: Door>(
        &mut self,
        door: &mut D,
        mut ask: impl FnMut(&mut Self, &mut D, SimTime, bool) -> bool,
    ) -> Result<(), Stop> {
        if door.horizon() < self.from {
            return Ok(());
        }
        loop {
            let now = self.instant();
            let horizon = door.horizon();
            let is_due = now >= horizon;
            if now.saturating_since(self.asked) >= ASK_EVERY {
                self.asked = now;
                if !ask(self, door, now, false) {
                    return Err(Stop::Asked);
                }
            }
            let late = now.saturating_since(horizon);
            let read_every = if late > LATE {
                READ_LATE_EVERY
            } else {
                READ_EVERY
            };
            if !is_due || now.saturating_since(self.looked) >= read_every {
                let until = horizon.min(self.asked.saturating_add(ASK_EVERY));
                let time = until.saturating_since(now);
                self.wall
                    .wait(time, &mut self.ready)
                    .map_err(Stop::Failed)?;
                self.read_ready(door).map_err(Stop::Failed)?;
                self.looked = self.instant();
            }
            if is_due {
                let since = now.saturating_since(self.from);
                if self.lateness.note_event(since, late) && !ask(self, door, now, true) {
                    return Err(Stop::Asked);
                }
                return Ok(());
            }
        }
    }

    /// Reads what hosts have sent. Each datagram is sent at the instant at which it is read.
    fn read_ready(&mut self, door: &mut impl Door) -> io::Result<()> {
        for index in 0..self.ready.len() {
            let host = self.ready[index];
            for _ in 0..BURST {
                let Some(bytes) = self.wall.read(host, &mut self.buffer)? else {
                    break;
                };
                self.counts.received += 1;
                let at = self.instant();
                door.send(at, host, &self.buffer[..bytes]);
            }
        }
        Ok(())
    }

    /// A datagram that has reached a host at the simulated time `at`.
    pub fn deliver(&mut self, at: SimTime, host: usize, datagram: &[u8]) {
        if self.wall.write(host, datagram).is_ok() {
            self.counts.delivered += 1;
            let late = self.instant().saturating_since(at);
            self.lateness.note_delivery(late);
        } else {
            self.counts.refused += 1;
        }
    }

    /// The simulated instant that the wall clock shows. The first call starts the clock.
    fn instant(&mut self) -> SimTime {
        let now = self.wall.now();
        let began = *self.began.get_or_insert(now);
        self.from.saturating_add(now.saturating_sub(began))
    }

    /// The instant at which the caller was asked last.
    pub fn asked(&self) -> SimTime {
        self.asked
    }

    /// Datagrams so far.
    pub fn counts(&self) -> Counts {
        self.counts
    }

    /// The lateness so far.
    pub fn lateness(&self) -> &Lateness {
        &self.lateness
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::VecDeque;

    fn ms(ms: u64) -> Duration {
        Duration::from_millis(ms)
    }

    fn at(time_ms: u64) -> SimTime {
        SimTime::ZERO + ms(time_ms)
    }

    /// A clock that sleeping alone moves, by `overshoot` too far, and hosts that send at given times.
    #[derive(Default)]
    struct Script {
        now: Duration,
        overshoot: Duration,
        /// Time that each look at the clock takes.
        cost: Duration,
        sends: VecDeque<(Duration, usize, Vec<u8>)>,
        written: Vec<(Duration, usize, Vec<u8>)>,
        waits: usize,
        is_down: bool,
        /// Host 0 always has a datagram more, and each takes this time to read.
        floods: Option<Duration>,
    }

    impl Wall for Script {
        fn now(&mut self) -> Duration {
            self.now = self.now.saturating_add(self.cost);
            self.now
        }

        fn wait(&mut self, time: Duration, ready: &mut Vec<usize>) -> io::Result<()> {
            self.waits += 1;
            ready.clear();
            if self.floods.is_some() {
                ready.push(0);
                return Ok(());
            }
            let until = self.now.saturating_add(time);
            match self.sends.front() {
                Some(&(sent, host, _)) if sent <= until => {
                    self.now = self.now.max(sent);
                    ready.push(host);
                }
                _ if time > Duration::ZERO => self.now = until.saturating_add(self.overshoot),
                _ => {}
            }
            Ok(())
        }

        fn read(&mut self, host: usize, buffer: &mut [u8]) -> io::Result<Option<usize>> {
            if let Some(cost) = self.floods {
                self.now = self.now.saturating_add(cost);
                return Ok(Some(100));
            }
            let now = self.now;
            let next = self.sends.front();
            if !next.is_some_and(|&(sent, from, _)| sent <= now && from == host) {
                return Ok(None);
            }
            Ok(self.sends.pop_front().map(|(_, _, bytes)| {
                buffer[..bytes.len()].copy_from_slice(&bytes);
                bytes.len()
            }))
        }

        fn write(&mut self, host: usize, datagram: &[u8]) -> io::Result<()> {
            if self.is_down {
                return Err(io::Error::from(io::ErrorKind::NotConnected));
            }
            self.written.push((self.now, host, datagram.to_vec()));
            Ok(())
        }
    }

    /// A simulation whose every packet arrives at the other of two hosts after a delay.
    struct Pipe {
        delay: Duration,
        arrivals: VecDeque<(SimTime, usize, Vec<u8>)>,
        ticks: VecDeque<SimTime>,
        sent: Vec<SimTime>,
    }

    impl Pipe {
        fn new(delay_ms: u64) -> Self {
            Self {
                delay: ms(delay_ms),
                arrivals: VecDeque::new(),
                ticks: VecDeque::new(),
                sent: Vec::new(),
            }
        }

        /// Handles events until `end`, as a simulation does.
        fn run(&mut self, pacer: &mut Pacer<Script>, end: SimTime) -> Result<u32, Stop> {
            let mut warnings = 0;
            self.ticks.push_back(end);
            loop {
                pacer.proceed(self, |_, _, _, warns| {
                    warnings += u32::from(warns);
                    true
                })?;
                let now = self.horizon();
                if self.arrivals.front().is_some_and(|next| next.0 <= now) {
                    if let Some((at, host, bytes)) = self.arrivals.pop_front() {
                        pacer.deliver(at, host, &bytes);
                    }
                } else {
                    self.ticks.pop_front();
                }
                if self.ticks.is_empty() {
                    return Ok(warnings);
                }
            }
        }
    }

    impl Door for Pipe {
        fn horizon(&mut self) -> SimTime {
            let arrival = self.arrivals.front().map_or(SimTime::MAX, |next| next.0);
            arrival.min(self.ticks.front().copied().unwrap_or(SimTime::MAX))
        }

        fn send(&mut self, at: SimTime, host: usize, datagram: &[u8]) {
            self.sent.push(at);
            let arrives = at.saturating_add(self.delay);
            self.arrivals
                .push_back((arrives, 1 - host, datagram.to_vec()));
        }
    }

    fn sends(times_ms: &[u64]) -> VecDeque<(Duration, usize, Vec<u8>)> {
        let each = times_ms.iter().zip(0u8..);
        each.map(|(&time, number)| (ms(time), 0, vec![number; 3]))
            .collect()
    }

    #[test]
    fn a_datagram_leaves_when_the_wall_clock_reaches_its_simulated_arrival() {
        let script = Script {
            sends: sends(&[5, 30]),
            ..Script::default()
        };
        let mut pacer = Pacer::new(script, SimTime::ZERO);
        let mut pipe = Pipe::new(20);
        pipe.run(&mut pacer, at(1000)).unwrap();
        assert_eq!(pipe.sent, [at(5), at(30)]);
        let expected = [(ms(25), 1, vec![0; 3]), (ms(50), 1, vec![1; 3])];
        assert_eq!(pacer.wall.written, expected);
        assert_eq!(pacer.lateness().deliveries().mean_s(), Some(0.0));
        assert_eq!(pacer.wall.now, ms(1000));
        let counts = Counts {
            received: 2,
            delivered: 2,
            refused: 0,
        };
        assert_eq!(pacer.counts(), counts);
    }

    #[test]
    fn the_warm_up_takes_no_time_on_the_wall_clock() {
        let script = Script {
            sends: sends(&[5]),
            ..Script::default()
        };
        let mut pacer = Pacer::new(script, at(10_000));
        let mut pipe = Pipe::new(20);
        pipe.ticks = (0..10_000).map(at).collect();
        pipe.run(&mut pacer, at(10_100)).unwrap();
        assert_eq!(pipe.sent, [at(10_005)]);
        assert_eq!(pacer.wall.written[0].0, ms(25));
        assert_eq!(pacer.wall.now, ms(100));
    }

    #[test]
    fn lateness_is_what_the_sleep_overshoots() {
        let script = Script {
            sends: sends(&[5]),
            overshoot: ms(3),
            ..Script::default()
        };
        let mut pacer = Pacer::new(script, SimTime::ZERO);
        Pipe::new(20).run(&mut pacer, at(100)).unwrap();
        assert_eq!(pacer.lateness().deliveries().mean_s(), Some(0.003));
        assert_eq!(pacer.lateness().behind().0, 0);
    }

    /// Each event takes 2 ms, and there is one in every millisecond: after 1 s of simulated time the
    /// simulation is 1 s late.
    #[test]
    fn a_model_slower_than_the_clock_warns_and_still_reads_its_hosts() {
        let script = Script {
            sends: sends(&[1500]),
            cost: ms(1),
            ..Script::default()
        };
        let mut pacer = Pacer::new(script, SimTime::ZERO);
        let mut pipe = Pipe::new(1);
        pipe.ticks = (0..2000).map(at).collect();
        let warnings = pipe.run(&mut pacer, at(2000)).unwrap();
        assert_eq!(warnings, 1);
        assert!(pacer.lateness().worst() > ms(1000));
        let read_at = pipe.sent[0].saturating_since(at(1500));
        assert!(read_at < ms(10), "{read_at:?}");
    }

    /// An event takes ten times as long as reading its packet. If reading came first, the simulation
    /// would be most of two seconds late in the end.
    #[test]
    fn a_flood_of_packets_makes_the_model_no_later_than_it_must_be() {
        let script = Script {
            cost: Duration::from_micros(10),
            floods: Some(Duration::from_micros(1)),
            ..Script::default()
        };
        let mut pacer = Pacer::new(script, SimTime::ZERO);
        let warnings = Pipe::new(1).run(&mut pacer, at(2000)).unwrap();
        let worst = pacer.lateness().worst();
        assert!(worst > LATE && worst < ms(30), "{worst:?}");
        assert_eq!(warnings, 1);
    }

    #[test]
    fn the_caller_is_asked_while_nothing_happens() {
        let mut pacer = Pacer::new(Script::default(), SimTime::ZERO);
        let mut pipe = Pipe::new(1);
        pipe.ticks.push_back(SimTime::MAX);
        let mut asked = Vec::new();
        let stopped = pacer.proceed(&mut pipe, |_, _, now, _| {
            asked.push(now);
            asked.len() < 3
        });
        assert!(matches!(stopped, Err(Stop::Asked)));
        assert_eq!(asked, [at(50), at(100), at(150)]);
    }

    #[test]
    fn a_datagram_that_a_host_does_not_take_is_counted_and_no_error() {
        let script = Script {
            sends: sends(&[5]),
            is_down: true,
            ..Script::default()
        };
        let mut pacer = Pacer::new(script, SimTime::ZERO);
        Pipe::new(20).run(&mut pacer, at(100)).unwrap();
        assert_eq!((pacer.counts().delivered, pacer.counts().refused), (0, 1));
        assert_eq!(pacer.lateness().deliveries().count(), 0);
    }

    /// Events that are due one after the other do not cost a system call each.
    #[test]
    fn due_events_are_handled_without_a_look_at_the_devices_each() {
        let mut pacer = Pacer::new(Script::default(), SimTime::ZERO);
        let mut pipe = Pipe::new(1);
        pipe.ticks = (0..1000).map(|_| at(10)).collect();
        pipe.run(&mut pacer, at(20)).unwrap();
        assert!(pacer.wall.waits < 10, "{}", pacer.wall.waits);
    }
}
