//! All kernels of a run, as what is outside of its world.
//!
//! The calendar of the kernels begins [`BOOT_NS`] before the simulation: by then every kernel has
//! booted and its program waits for the first flow. From then on both clocks are one. A kernel counts
//! nanoseconds and the simulation picoseconds; what happens to a kernel within a nanosecond happens at
//! its end.
//!
//! One kernel runs at a time: the one that asked for the earliest time, if that comes before the next
//! event of the simulation. It may go on by itself, ahead of the simulation, as long as no packet can
//! reach it: to the delay of the wire to its host after the next event or the next request of a kernel
//! ([`Door::horizon_of`]). What it sends enters the simulation at the time of the kernel. So nothing
//! depends on how fast the machine is, or what else it does.

use std::collections::BTreeMap;
use std::fs::File;
use std::io;
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::net::UnixListener;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use backlane_engine::Interrupt;
use backlane_net::NodeId;
use backlane_traffic::{Reported, SERVER_PORT, client_port};
use backlane_units::SimTime;
use backlane_world::{Door, Outside, World, address};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use tempfile::TempDir;

use crate::calendar::Calendar;
use crate::cpu::OneCore;
use crate::device::{Asked, Device, RECEIVE, TRANSMIT, Unanswered};
use crate::failure::Failure;
use crate::guest::{Files, Guest, Start};
use crate::job::{EPOCH_NS, Job, Transfer};
use crate::program::Programs;
use crate::workplace;

/// The time on the calendar at which the simulation begins.
pub const BOOT_NS: u64 = 2_000_000_000;
/// Wall time that a kernel may run without a message; a program that loops there stops its clock.
const SILENCE: Duration = Duration::from_secs(30);
/// A sender reports its state so long before the instant of a sample, so that the report is there.
const REPORT_EARLIER_NS: u64 = 5_000;

/// Lines of a console in an error.
const LAST_LINES: usize = 20;

/// The socket of the calendar.
const CALENDAR: &str = "calendar";

/// What Linux chooses for buffers on a machine with 8 GB of memory; kernels here have less.
const BUFFERS: [(&str, &str); 3] = [
    ("net/ipv4/tcp_mem", "93465 124620 186930"),
    ("net/ipv4/tcp_rmem", "4096 131072 6291456"),
    ("net/ipv4/tcp_wmem", "4096 16384 4194304"),
];
/// A connection does not inherit the metrics of an earlier one.
const NO_METRICS: (&str, &str) = ("net/ipv4/tcp_no_metrics_save", "1");

/// How the kernels of a run are made.
#[derive(Clone, Debug)]
pub struct Build {
    /// The files of their version.
    pub files: Files,
    /// Settings of each, by the path below `/proc/sys`.
    pub sysctl: Vec<(String, String)>,
    /// Memory of each.
    pub memory_bytes: u64,
}

/// The kernels of a run.
pub struct Kernels {
    guests: Vec<Guest>,
    by_host: BTreeMap<NodeId, usize>,
    /// The time of the kernel that runs, or is reached by a packet.
    now_ns: u64,
    /// Up to where the running kernel may go by itself.
    free_until_ns: u64,
    failure: Option<Failure>,
    _folder: TempDir,
    _lock: File,
    _core: Option<OneCore>,
}

/// The next multiple of a nanosecond on the calendar.
fn on_calendar(at: SimTime) -> u64 {
    BOOT_NS.saturating_add(at.as_ps().div_ceil(1000))
}

fn of_calendar(at_ns: u64) -> SimTime {
    SimTime::from_ps(at_ns.saturating_sub(BOOT_NS).saturating_mul(1000))
}

impl Kernels {
    /// Boots a kernel for each host of the flows outside of `world`, and waits until all are ready.
    ///
    /// # Errors
    /// [`Failure`], with the end of the console of the kernel that failed.
    pub fn boot(world: &World, build: &Build, seed: u64) -> Result<Self, Failure> {
        let made = workplace::make();
        let (folder, lock) = made.map_err(Failure::machine("make a folder for the kernels"))?;
        let root = folder.path().to_owned();
        let prepare = |root: &PathBuf| {
            for name in ["dev", "proc", "sys", "tmp"] {
                std::fs::create_dir(root.join(name))?;
            }
            std::fs::copy(&build.files.agent, root.join("agent")).map(drop)
        };
        prepare(&root).map_err(Failure::machine("prepare the folder of the kernels"))?;
        let listener = UnixListener::bind(root.join(CALENDAR));
        let listener = listener.map_err(Failure::machine("open a socket"))?;
        let core = OneCore::take();
        let mut guests = Vec::new();
        let jobs = jobs(world, build, &root);
        let jobs = jobs.map_err(Failure::machine("copy a program"))?;
        for (number, (host, job)) in (0_u64..).zip(jobs) {
            let name = world.name(host);
            let file = format!("job-{number}");
            std::fs::write(root.join(&file), job.text())
                .map_err(Failure::machine("write a job for a kernel"))?;
            let start = Start {
                files: &build.files,
                root: &root,
                job: &file,
                calendar: CALENDAR,
                device: &format!("device-{number}"),
                number,
                seed: seed
                    .wrapping_mul(0x9e37_79b9_7f4a_7c15)
                    .wrapping_add(u64::from(host.0)),
                memory_bytes: build.memory_bytes,
            };
            let guest = Guest::start(host, name, &start)
                .map_err(Failure::machine(format!("start the kernel of {name}")))?;
            guests.push(guest);
        }
        let by_host = guests.iter().enumerate();
        let by_host = by_host.map(|(index, guest)| (guest.host, index)).collect();
        let mut kernels = Self {
            guests,
            by_host,
            now_ns: 0,
            free_until_ns: 0,
            failure: None,
            _folder: folder,
            _lock: lock,
            _core: core,
        };
        let starts = kernels.greet(&listener)?;
        kernels.start_up(starts)?;
        Ok(kernels)
    }

    /// Why [`Outside`] has interrupted the run.
    pub fn take_failure(&mut self) -> Option<Failure> {
        self.failure.take()
    }

    /// What each kernel and its programs have printed, by host; of long texts the end.
    pub fn consoles(&mut self) -> Vec<(String, String)> {
        let guests = self.guests.iter_mut();
        let texts = guests.map(|guest| (guest.name.clone(), guest.last_words()));
        texts.filter(|(_, text)| !text.is_empty()).collect()
    }

    /// Waits until all kernels have connected: the number of the first message of each.
    fn greet(&mut self, listener: &UnixListener) -> Result<Vec<u32>, Failure> {
        let mut starts = vec![0; self.guests.len()];
        let since = Instant::now();
        let waits = "wait for a kernel";
        listener
            .set_nonblocking(true)
            .map_err(Failure::machine(waits))?;
        while self.guests.iter().any(|guest| guest.calendar.is_none()) {
            let fds = &mut [PollFd::new(listener, PollFlags::IN)];
            let pause = Timespec {
                tv_sec: 0,
                tv_nsec: 100_000_000,
            };
            poll(fds, Some(&pause)).map_err(|error| Failure::machine(waits)(error.into()))?;
            match listener.accept() {
                Ok((socket, _)) => {
                    let prepared = socket
                        .set_nonblocking(false)
                        .and_then(|()| socket.set_read_timeout(Some(SILENCE)));
                    prepared.map_err(Failure::machine(waits))?;
                    let mut calendar = Calendar::new(socket);
                    let (number, start) = calendar.greet().map_err(Failure::machine(waits))?;
                    if let Some(guest) = self.guests.get_mut(number as usize) {
                        guest.calendar = Some(calendar);
                        starts[number as usize] = start;
                    }
                }
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                Err(error) => return Err(Failure::machine(waits)(error)),
            }
            for index in 0..self.guests.len() {
                if self.guests[index].calendar.is_none() {
                    if let Some(status) = self.guests[index].ended() {
                        return Err(
                            self.failed(index, format!("has ended at its start ({status})"))
                        );
                    }
                    if since.elapsed() > SILENCE {
                        return Err(self.failed(index, "has not connected in 30 s".to_owned()));
                    }
                }
            }
        }
        Ok(starts)
    }

    /// Boots one kernel after the other, and runs all to the time at which the simulation begins.
    fn start_up(&mut self, starts: Vec<u32>) -> Result<(), Failure> {
        for (index, start) in starts.into_iter().enumerate() {
            self.now_ns = 0;
            if let Some(calendar) = &mut self.guests[index].calendar {
                let started = calendar.let_start(start);
                started.map_err(|error| self.lost(index, &error))?;
            }
            self.settle(index, &mut None)?;
        }
        self.now_ns = 0;
        while let Some((at_ns, index)) = self.next() {
            if at_ns >= BOOT_NS {
                break;
            }
            self.run(index, at_ns, BOOT_NS, &mut None)?;
        }
        match self.guests.iter().position(|guest| !guest.is_ready) {
            None => Ok(()),
            Some(late) => {
                let what = "has not started its program in 2 s of its time".to_owned();
                Err(self.failed(late, what))
            }
        }
    }

    /// The kernel that runs next, and when.
    fn next(&self) -> Option<(u64, usize)> {
        let requests = self.guests.iter().enumerate();
        let requests = requests
            .filter_map(|(index, guest)| Some((guest.calendar.as_ref()?.request_ns()?, index)));
        requests.min()
    }

    /// Runs a kernel until it waits.
    fn run(
        &mut self,
        index: usize,
        at_ns: u64,
        free_until_ns: u64,
        door: &mut Option<&mut Door<'_>>,
    ) -> Result<(), Failure> {
        self.now_ns = at_ns;
        self.free_until_ns = free_until_ns;
        if let Some(calendar) = &mut self.guests[index].calendar {
            let runs = calendar.run(at_ns, free_until_ns);
            runs.map_err(|error| self.lost(index, &error))?;
        }
        self.settle(index, door)?;
        self.free_until_ns = 0;
        for report in self.guests[index].listen() {
            self.on_report(index, &report, door)?;
        }
        Ok(())
    }

    /// Serves a kernel until it waits and owes no answer.
    fn settle(&mut self, index: usize, door: &mut Option<&mut Door<'_>>) -> Result<(), Failure> {
        while !(self.guests[index].calendar.as_ref()).is_some_and(Calendar::is_at_rest) {
            self.serve(index, door)?;
        }
        Ok(())
    }

    /// Takes one message of a kernel.
    fn serve(&mut self, index: usize, door: &mut Option<&mut Door<'_>>) -> Result<(), Failure> {
        let ready = match self.wait(index) {
            Ok(Some(ready)) => ready,
            Ok(None) => return Err(self.failed(index, "has hung for 30 s".to_owned())),
            Err(error) => return Err(Failure::machine("wait for a kernel")(error)),
        };
        let served = self.take(index, ready, door);
        served.map_err(|error| self.unserved(index, error))
    }

    /// The kernel at `index` says something; `None`: it is silent.
    fn wait(&self, index: usize) -> io::Result<Option<Ready>> {
        let guest = &self.guests[index];
        let mut from: Vec<(BorrowedFd<'_>, Ready)> = Vec::with_capacity(5);
        if let Some(calendar) = &guest.calendar {
            from.push((calendar.as_fd(), Ready::Calendar));
        }
        match &guest.device {
            Some(device) => {
                from.push((device.as_fd(), Ready::Device));
                from.extend(device.acknowledgments().map(|fd| (fd, Ready::Acknowledged)));
            }
            None => from.push((guest.listener.as_fd(), Ready::Connecting)),
        }
        let mut fds: Vec<_> = from
            .iter()
            .map(|(fd, _)| PollFd::from_borrowed_fd(*fd, PollFlags::IN))
            .collect();
        let timeout = Timespec {
            tv_sec: SILENCE.as_secs() as i64,
            tv_nsec: 0,
        };
        loop {
            match poll(&mut fds, Some(&timeout)) {
                Ok(_) => break,
                Err(rustix::io::Errno::INTR) => {}
                Err(error) => return Err(error.into()),
            }
        }
        let first = fds.iter().position(|fd| !fd.revents().is_empty());
        Ok(first.map(|first| from[first].1))
    }

    fn take(
        &mut self,
        index: usize,
        ready: Ready,
        door: &mut Option<&mut Door<'_>>,
    ) -> Result<(), Unserved> {
        let guest = &mut self.guests[index];
        match (ready, &mut guest.calendar, &mut guest.device) {
            (Ready::Calendar, Some(calendar), _) => calendar.take(&mut self.now_ns, EPOCH_NS)?,
            (Ready::Connecting, _, device) => {
                let (socket, _) = guest.listener.accept()?;
                socket.set_read_timeout(Some(SILENCE))?;
                let [a, b, c, d] = guest.host.0.to_be_bytes();
                *device = Some(Device::new(socket, [2, 0, a, b, c, d]));
            }
            (Ready::Acknowledged, _, Some(device)) => device.take_acknowledgment()?,
            (Ready::Device, _, Some(device)) => match device.take()? {
                Asked::Nothing => {}
                // An interrupt makes the kernel ask for the time, which is known only while it waits
                // for the answer.
                Asked::ToReceive(message) => {
                    if device.fill()? {
                        self.interrupt(index, RECEIVE, door)?;
                    }
                    self.answer(index, message)?;
                }
                Asked::ToSend(message) => {
                    let (datagrams, interrupt) = device.sent()?;
                    self.send(index, &datagrams, door)?;
                    if interrupt {
                        self.interrupt(index, TRANSMIT, door)?;
                    }
                    self.answer(index, message)?;
                }
            },
            _ => {}
        }
        Ok(())
    }

    fn answer(&mut self, index: usize, message: Unanswered) -> io::Result<()> {
        let device = &mut self.guests[index].device;
        device
            .as_mut()
            .map_or(Ok(()), |device| device.answer(message))
    }

    /// What a kernel sends enters the simulation at the time of the kernel. Over a medium it may be
    /// answered at once, and the kernel must not run further.
    fn send(
        &mut self,
        index: usize,
        datagrams: &[Vec<u8>],
        door: &mut Option<&mut Door<'_>>,
    ) -> Result<(), Unserved> {
        // While kernels boot, there is no network.
        let Some(network) = door else {
            return Ok(());
        };
        let (now, host) = (of_calendar(self.now_ns), self.guests[index].host);
        for datagram in datagrams {
            network.send_at(now, host, datagram);
        }
        let horizon_ns = on_calendar(network.horizon_of(host, now));
        if horizon_ns < self.free_until_ns {
            self.free_until_ns = horizon_ns;
            if let Some(calendar) = &mut self.guests[index].calendar {
                calendar.limit(horizon_ns)?;
            }
            while (self.guests[index].calendar.as_ref()).is_some_and(Calendar::owes_answers) {
                self.serve(index, door)?;
            }
        }
        Ok(())
    }

    /// Interrupts a kernel, and serves it until it has taken note.
    fn interrupt(
        &mut self,
        index: usize,
        queue: usize,
        door: &mut Option<&mut Door<'_>>,
    ) -> Result<(), Unserved> {
        if let Some(device) = &mut self.guests[index].device {
            device.interrupt(queue)?;
        }
        while !(self.guests[index].device.as_ref()).is_none_or(Device::is_acknowledged) {
            self.serve(index, door)?;
        }
        Ok(())
    }

    fn on_report(
        &mut self,
        index: usize,
        report: &str,
        door: &mut Option<&mut Door<'_>>,
    ) -> Result<(), Failure> {
        let (word, rest) = report.split_once(' ').unwrap_or((report, ""));
        match word {
            "ready" => self.guests[index].is_ready = true,
            "error" => return Err(self.failed(index, format!("refuses its work: {rest}"))),
            "failed" => {
                let flow = rest.split(' ').next().and_then(|flow| flow.parse().ok());
                if let (Some(flow), Some(door)) = (flow, door) {
                    door.give_up(flow);
                }
            }
            "info" => {
                let numbers: Vec<u64> = rest
                    .split(' ')
                    .filter_map(|word| word.parse().ok())
                    .collect();
                if let (
                    [
                        flow,
                        cwnd,
                        ssthresh,
                        srtt_us,
                        out,
                        sacked,
                        lost,
                        again,
                        degree,
                        dsacks,
                    ],
                    Some(door),
                ) = (numbers.as_slice(), door)
                {
                    let in_flight = (out + again).saturating_sub(sacked + lost);
                    door.report(
                        *flow as u32,
                        Reported {
                            cwnd_pkts: *cwnd as u32,
                            ssthresh_pkts: *ssthresh as u32,
                            srtt_us: *srtt_us as u32,
                            in_flight_pkts: in_flight as u32,
                            reordering_pkts: *degree as u32,
                            dsacks: *dsacks,
                        },
                    );
                }
            }
            _ => {}
        }
        Ok(())
    }

    fn failed(&mut self, index: usize, what: String) -> Failure {
        let guest = &mut self.guests[index];
        let words = guest.last_words();
        let lines: Vec<&str> = words.lines().rev().take(LAST_LINES).collect();
        Failure::Guest {
            host: guest.name.clone(),
            what,
            last_words: lines.into_iter().rev().collect::<Vec<_>>().join("\n"),
        }
    }

    /// A kernel has closed a connection, or said something that makes no sense.
    fn lost(&mut self, index: usize, error: &io::Error) -> Failure {
        let what = match self.guests[index].ends() {
            Some(status) => format!("has ended ({status})"),
            None => format!("has lost its connection ({error})"),
        };
        self.failed(index, what)
    }

    fn unserved(&mut self, index: usize, error: Unserved) -> Failure {
        match error {
            Unserved::Failure(failure) => failure,
            Unserved::Lost(error) => self.lost(index, &error),
        }
    }

    fn kept<T>(&mut self, result: Result<T, Failure>) -> Result<T, Interrupt> {
        result.map_err(|failure| {
            self.failure = Some(failure);
            Interrupt
        })
    }

    fn go_on(&mut self, door: &mut Door<'_>) -> Result<(), Failure> {
        while let Some((at_ns, index)) = self.next() {
            let at = of_calendar(at_ns);
            if at >= door.horizon() {
                break;
            }
            let horizon = door.horizon_of(self.guests[index].host, at);
            self.run(index, at_ns, on_calendar(horizon), &mut Some(door))?;
        }
        Ok(())
    }

    fn hand_over(
        &mut self,
        door: &mut Door<'_>,
        host: NodeId,
        datagram: &[u8],
    ) -> Result<(), Failure> {
        let Some(&index) = self.by_host.get(&host) else {
            return Ok(());
        };
        self.now_ns = on_calendar(door.now());
        let Some(device) = &mut self.guests[index].device else {
            return Ok(());
        };
        device.offer(datagram);
        let filled = device.fill();
        let interrupt = filled.map_err(|error| self.lost(index, &error))?;
        if interrupt {
            let interrupted = self.interrupt(index, RECEIVE, &mut Some(door));
            interrupted.map_err(|error| self.unserved(index, error))?;
        }
        Ok(())
    }
}

impl Outside for Kernels {
    fn proceed(&mut self, door: &mut Door<'_>) -> Result<(), Interrupt> {
        let gone = self.go_on(door);
        self.kept(gone)
    }

    fn receive(
        &mut self,
        door: &mut Door<'_>,
        host: NodeId,
        datagram: &[u8],
    ) -> Result<(), Interrupt> {
        let handed = self.hand_over(door, host, datagram);
        self.kept(handed)
    }
}

/// What a kernel says.
#[derive(Clone, Copy, Debug)]
enum Ready {
    Calendar,
    Connecting,
    Device,
    Acknowledged,
}

enum Unserved {
    /// Another kernel, or something else, has failed.
    Failure(Failure),
    /// The connection to this kernel.
    Lost(io::Error),
}

impl From<io::Error> for Unserved {
    fn from(error: io::Error) -> Self {
        Self::Lost(error)
    }
}

impl From<Failure> for Unserved {
    fn from(failure: Failure) -> Self {
        Self::Failure(failure)
    }
}

/// The work of each host, by its number.
fn jobs(world: &World, build: &Build, root: &Path) -> io::Result<BTreeMap<NodeId, Job>> {
    let defaults = BUFFERS.into_iter().chain([NO_METRICS]);
    let defaults = defaults.map(|(path, value)| (path.to_owned(), value.to_owned()));
    let sysctl: Vec<_> = defaults.chain(build.sysctl.iter().cloned()).collect();
    let job = |host: NodeId| Job {
        address: address(host),
        sysctl: sysctl.clone(),
        ..Job::default()
    };
    let mut jobs = BTreeMap::new();
    let mut programs = Programs::default();
    for flow in world.outside_flows() {
        let (source, destination) = (flow.spec.source, flow.spec.destination);
        let control = flow
            .congestion_control
            .unwrap_or_else(|| "cubic".to_owned());
        let receiver = jobs.entry(destination).or_insert_with(|| job(destination));
        if flow.programs.is_none() {
            receiver.listen.insert(control.clone());
        }
        let start_ns = match flow.spec.start {
            backlane_traffic::Start::At(at) => on_calendar(at),
            backlane_traffic::Start::AfterPrevious(_) => continue,
        };
        if let Some(own) = &flow.programs {
            let ends = [source, destination].map(address);
            let server = programs
                .command(&own.server, ends, root)
                .map_err(named(&own.server))?;
            if !server.is_empty() {
                receiver.programs.push((0, server));
            }
            let client = programs
                .command(&own.client, ends, root)
                .map_err(named(&own.client))?;
            let sender = jobs.entry(source).or_insert_with(|| job(source));
            sender.programs.push((start_ns, client));
            continue;
        }
        let [warm_up, _] = world.span();
        let reports_ns = world.windows_every().map(|every| {
            let every_ns = every.as_ps() / 1000;
            (
                on_calendar(warm_up) + every_ns - REPORT_EARLIER_NS.min(every_ns / 2),
                every_ns,
            )
        });
        let sender = jobs.entry(source).or_insert_with(|| job(source));
        sender.transfers.push(Transfer {
            flow: flow.number,
            from_port: client_port(flow.number),
            to: (address(destination), SERVER_PORT),
            congestion_control: control,
            size_bytes: flow.spec.size_bytes,
            start_ns,
            stop_ns: flow.spec.stop.map(on_calendar),
            reports_ns,
        });
    }
    Ok(jobs)
}

/// An error with the program that it is about.
fn named(words: &[String]) -> impl FnOnce(io::Error) -> io::Error {
    let program = words.first().cloned().unwrap_or_default();
    move |error| io::Error::new(error.kind(), format!("{program}: {error}"))
}
