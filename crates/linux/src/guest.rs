//! One kernel: its process, its console, its calendar and its network device.

use std::io::{self, Read};
use std::os::fd::AsFd;
use std::os::unix::net::UnixListener;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStderr, ChildStdout, Command, Stdio};
use std::time::Duration;

use backlane_net::NodeId;
use rustix::fs::OFlags;
use rustix::process::{Pid, Signal, kill_process_group};

use crate::calendar::Calendar;
use crate::device::Device;

/// How much of a console is kept.
const WORDS_BYTES: usize = 64_000;

/// What is built once for each version of Linux.
#[derive(Clone, Debug)]
pub struct Files {
    /// The kernel, a program of this machine.
    pub kernel: PathBuf,
    /// The library that makes its random numbers those of its seed, and lets it run on processors
    /// with more registers than it knows.
    pub shim: PathBuf,
    /// The program that runs in it.
    pub agent: PathBuf,
}

/// How a kernel is started.
#[derive(Clone, Copy, Debug)]
pub struct Start<'a> {
    /// Its files.
    pub files: &'a Files,
    /// A folder with the program and the jobs, which becomes its root.
    pub root: &'a Path,
    /// The name of its job in that folder.
    pub job: &'a str,
    /// The name of the calendar's socket there.
    pub calendar: &'a str,
    /// The name of its device's socket there.
    pub device: &'a str,
    /// Its number on the calendar.
    pub number: u64,
    /// The seed of its random numbers.
    pub seed: u64,
    /// Its memory.
    pub memory_bytes: u64,
}

/// A running kernel. Dropped, it is killed with all its processes.
#[derive(Debug)]
pub struct Guest {
    /// The node that it is.
    pub host: NodeId,
    /// Its name.
    pub name: String,
    /// Its calendar; `None` before it has connected.
    pub calendar: Option<Calendar>,
    /// The socket on which its device is expected.
    pub listener: UnixListener,
    /// Its device; `None` before it has connected.
    pub device: Option<Device>,
    /// Its program has set up the host.
    pub is_ready: bool,
    process: Child,
    console: ChildStdout,
    reports: ChildStderr,
    words: String,
    /// The beginning of a line of reports.
    line: String,
}

impl Guest {
    /// Starts the process.
    ///
    /// # Errors
    /// It cannot be started.
    pub fn start(host: NodeId, name: &str, start: &Start<'_>) -> io::Result<Self> {
        let listener = UnixListener::bind(start.root.join(start.device))?;
        let mut command = Command::new(&start.files.kernel);
        // The command line is part of the kernel's randomness: it names no folder.
        command
            .current_dir(start.root)
            .arg(format!("mem={}K", start.memory_bytes / 1024))
            .arg(format!(
                "time-travel=ext:{}:{}",
                start.number, start.calendar
            ))
            .arg(format!("virtio_uml.device={}:1", start.device))
            // Frames are the device's at once, and sending causes no interrupt.
            .arg("virtio_net.napi_tx=0")
            .args([
                "root=/dev/root",
                "rootfstype=hostfs",
                "ro",
                "rootflags=/proc/self/cwd",
            ])
            .arg("uml_dir=uml")
            .args(["init=/agent", "quiet", "loglevel=4"])
            .arg(format!("JOB=/{}", start.job))
            .args(["con=null", "con0=null,fd:1", "con1=null,fd:2"])
            .env_clear()
            .env("HOME", start.root)
            .env("LD_PRELOAD", &start.files.shim)
            .env("UML_SEED", start.seed.to_string())
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            // A Ctrl-C is for this program, which ends the kernels.
            .process_group(0);
        let mut process = command.spawn()?;
        let missing = || io::Error::from(io::ErrorKind::BrokenPipe);
        let console = process.stdout.take().ok_or_else(missing)?;
        let reports = process.stderr.take().ok_or_else(missing)?;
        for pipe in [console.as_fd(), reports.as_fd()] {
            let flags = rustix::fs::fcntl_getfl(pipe)?;
            rustix::fs::fcntl_setfl(pipe, flags | OFlags::NONBLOCK)?;
        }
        Ok(Self {
            host,
            name: name.to_owned(),
            calendar: None,
            listener,
            device: None,
            is_ready: false,
            process,
            console,
            reports,
            words: String::new(),
            line: String::new(),
        })
    }

    /// Reads the console; the reports that its program has completed, without their mark.
    pub fn listen(&mut self) -> Vec<String> {
        let text = available(&mut self.console);
        self.remember(&text);
        let text = std::mem::take(&mut self.line) + &available(&mut self.reports);
        let mut lines: Vec<&str> = text.split('\n').collect();
        let rest = lines.pop().unwrap_or_default().to_owned();
        let mut reports = Vec::new();
        for line in lines {
            let line = line.trim_end_matches('\r');
            match line.strip_prefix('@') {
                Some(report) => reports.push(report.to_owned()),
                None => self.remember(&format!("{line}\n")),
            }
        }
        self.line = rest;
        reports
    }

    fn remember(&mut self, text: &str) {
        self.words.push_str(text);
        let mut from = self.words.len().saturating_sub(WORDS_BYTES);
        while !self.words.is_char_boundary(from) {
            from += 1;
        }
        self.words.drain(..from);
    }

    /// The end of its console.
    pub fn last_words(&mut self) -> String {
        self.listen();
        self.words.trim().to_owned()
    }

    /// Its exit status, if its process has ended.
    pub fn ended(&mut self) -> Option<String> {
        Some(self.process.try_wait().ok()??.to_string())
    }

    /// The same of a process that seems to end, and is given a moment.
    pub fn ends(&mut self) -> Option<String> {
        for _ in 0..50 {
            if let Some(status) = self.ended() {
                return Some(status);
            }
            std::thread::sleep(Duration::from_millis(10));
        }
        None
    }
}

impl Drop for Guest {
    fn drop(&mut self) {
        if let Some(group) = Pid::from_raw(self.process.id() as i32) {
            // It may have ended by itself.
            let _ = kill_process_group(group, Signal::KILL);
        }
        let _ = self.process.wait();
    }
}

/// What a pipe has now.
fn available(pipe: &mut impl Read) -> String {
    let mut text = Vec::new();
    let mut piece = [0; 4096];
    while let Ok(bytes @ 1..) = pipe.read(&mut piece) {
        text.extend_from_slice(&piece[..bytes]);
    }
    String::from_utf8_lossy(&text).into_owned()
}
