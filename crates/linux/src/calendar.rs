//! The messages by which a kernel asks for time.
//!
//! A kernel with `time-travel=ext:ID:SOCKET` connects to a stream socket at its start. Messages of 16
//! bytes go both ways; each but [`Op::Ack`] is answered by one with the same number. A kernel that
//! has nothing to do says when it next has (`Request`), and waits (`Wait`) until it is run (`Run`).
//!
//! Source: Linux 6.1, `include/uapi/linux/um_timetravel.h` and `arch/um/kernel/time.c`. Since Linux
//! 6.11 there is a second form over shared memory, which is not needed and not spoken.

use std::io::{self, Read, Write};
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::net::UnixStream;

/// What a message says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum Op {
    /// The answer to a message.
    Ack = 0,
    /// The first message of a kernel; its time is the number of the kernel.
    Start = 1,
    /// The kernel wants to run at this time; it replaces an earlier request.
    Request = 2,
    /// The kernel stops until it is run.
    Wait = 3,
    /// The answer has the time.
    Get = 4,
    /// The time of the kernel, before it acts on a device.
    Update = 5,
    /// To a kernel: run, from this time on.
    Run = 6,
    /// To a kernel: it may go on to any time before this one without asking.
    FreeUntil = 7,
    /// The answer has the date, in nanoseconds since 1970.
    GetTimeOfDay = 8,
}

impl Op {
    fn read(number: u32) -> Option<Self> {
        const ALL: [Op; 9] = [
            Op::Ack,
            Op::Start,
            Op::Request,
            Op::Wait,
            Op::Get,
            Op::Update,
            Op::Run,
            Op::FreeUntil,
            Op::GetTimeOfDay,
        ];
        ALL.get(number as usize).copied()
    }
}

/// A message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Message {
    /// What it says.
    pub op: Op,
    /// Its number; that of an answer is the number of the question.
    pub number: u32,
    /// A time in nanoseconds, where the message has one.
    pub time_ns: u64,
}

impl Message {
    /// Its bytes, in the order of this machine.
    pub fn bytes(&self) -> [u8; 16] {
        let mut bytes = [0; 16];
        bytes[..4].copy_from_slice(&(self.op as u32).to_ne_bytes());
        bytes[4..8].copy_from_slice(&self.number.to_ne_bytes());
        bytes[8..].copy_from_slice(&self.time_ns.to_ne_bytes());
        bytes
    }

    /// Reads a message; `None` if there is no such one.
    pub fn read(bytes: &[u8; 16]) -> Option<Self> {
        let (op, rest) = bytes.split_first_chunk()?;
        let (number, time) = rest.split_first_chunk()?;
        Some(Self {
            op: Op::read(u32::from_ne_bytes(*op))?,
            number: u32::from_ne_bytes(*number),
            time_ns: u64::from_ne_bytes(*time.first_chunk()?),
        })
    }
}

/// The side of a kernel's calendar that gives time.
#[derive(Debug)]
pub struct Calendar {
    socket: UnixStream,
    sent: u32,
    /// Messages that the kernel has not answered yet.
    unanswered: u32,
    /// The kernel has stopped until it is run.
    waits: bool,
    /// When it wants to run next.
    request_ns: Option<u64>,
}

impl Calendar {
    /// Of a kernel that runs, as at its start.
    pub fn new(socket: UnixStream) -> Self {
        Self {
            socket,
            sent: 0,
            unanswered: 0,
            waits: false,
            request_ns: None,
        }
    }

    /// Whether the kernel waits and has answered everything, so that time may advance.
    pub fn is_at_rest(&self) -> bool {
        self.waits && self.unanswered == 0
    }

    /// Whether it has not answered everything.
    pub fn owes_answers(&self) -> bool {
        self.unanswered > 0
    }

    /// When the kernel wants to run next; `None`: only when something reaches it.
    pub fn request_ns(&self) -> Option<u64> {
        // Linux writes S64_MAX for never.
        self.request_ns.filter(|&at| at < i64::MAX as u64)
    }

    /// Runs the kernel from `at` on; it may go on by itself to before `free_until_ns`.
    ///
    /// # Errors
    /// The kernel is gone.
    pub fn run(&mut self, at_ns: u64, free_until_ns: u64) -> io::Result<()> {
        if free_until_ns > at_ns {
            self.say(Op::FreeUntil, free_until_ns)?;
        }
        self.waits = false;
        self.request_ns = None;
        self.say(Op::Run, at_ns)
    }

    /// A running kernel may go on to before this time and no further.
    ///
    /// # Errors
    /// The kernel is gone.
    pub fn limit(&mut self, free_until_ns: u64) -> io::Result<()> {
        self.say(Op::FreeUntil, free_until_ns)
    }

    fn say(&mut self, op: Op, time_ns: u64) -> io::Result<()> {
        self.sent = self.sent.wrapping_add(1);
        self.unanswered += 1;
        let number = self.sent;
        let message = Message {
            op,
            number,
            time_ns,
        };
        self.socket.write_all(&message.bytes())
    }

    /// Takes a message of the kernel. `now_ns` is the time, which an update moves. `Start` is not
    /// answered; [`Calendar::let_start`] does.
    ///
    /// # Errors
    /// The kernel is gone, or the message is none.
    pub fn take(&mut self, now_ns: &mut u64, epoch_ns: u64) -> io::Result<()> {
        let mut bytes = [0; 16];
        self.socket.read_exact(&mut bytes)?;
        let message = Message::read(&bytes).ok_or(io::ErrorKind::InvalidData)?;
        let time_ns = match message.op {
            Op::Ack => {
                self.unanswered = self.unanswered.saturating_sub(1);
                return Ok(());
            }
            Op::Start | Op::Run | Op::FreeUntil => return Err(io::ErrorKind::InvalidData.into()),
            Op::Request => {
                self.request_ns = Some(message.time_ns);
                0
            }
            Op::Wait => {
                self.waits = true;
                0
            }
            Op::Get => *now_ns,
            Op::Update => {
                *now_ns = message.time_ns.max(*now_ns);
                0
            }
            Op::GetTimeOfDay => epoch_ns + *now_ns,
        };
        self.answer(message.number, time_ns)
    }

    fn answer(&mut self, number: u32, time_ns: u64) -> io::Result<()> {
        let ack = Message {
            op: Op::Ack,
            number,
            time_ns,
        };
        self.socket.write_all(&ack.bytes())
    }

    /// Reads the first message of a kernel: its number on the command line, and the number of the
    /// message for [`Calendar::let_start`].
    ///
    /// # Errors
    /// The kernel is gone, or says something else.
    pub fn greet(&mut self) -> io::Result<(u64, u32)> {
        let mut bytes = [0; 16];
        self.socket.read_exact(&mut bytes)?;
        match Message::read(&bytes) {
            Some(message) if message.op == Op::Start => Ok((message.time_ns, message.number)),
            _ => Err(io::ErrorKind::InvalidData.into()),
        }
    }

    /// Answers the first message, after which the kernel boots.
    ///
    /// # Errors
    /// The kernel is gone.
    pub fn let_start(&mut self, number: u32) -> io::Result<()> {
        self.answer(number, 0)
    }
}

impl AsFd for Calendar {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.socket.as_fd()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_is_its_three_numbers_in_order() {
        let message = Message {
            op: Op::Request,
            number: 7,
            time_ns: 0x0102_0304_0506_0708,
        };
        let mut bytes = Vec::new();
        bytes.extend(2_u32.to_ne_bytes());
        bytes.extend(7_u32.to_ne_bytes());
        bytes.extend(0x0102_0304_0506_0708_u64.to_ne_bytes());
        assert_eq!(message.bytes()[..], bytes);
        assert_eq!(Message::read(&message.bytes()), Some(message));
        assert_eq!(Message::read(&[9; 16]), None);
    }

    /// A kernel asks for 500 ns, waits, is run and limited, and answers.
    #[test]
    fn a_kernel_at_rest_has_waited_and_answered_everything() {
        let (ours, mut kernel) = UnixStream::pair().unwrap();
        let mut calendar = Calendar::new(ours);
        let mut now_ns = 100;
        let mut say = |op, number, time_ns| {
            let message = Message {
                op,
                number,
                time_ns,
            };
            kernel.write_all(&message.bytes()).unwrap();
        };
        say(Op::Request, 1, 500);
        say(Op::Wait, 2, 0);
        calendar.take(&mut now_ns, 0).unwrap();
        assert!(!calendar.is_at_rest());
        calendar.take(&mut now_ns, 0).unwrap();
        assert!(calendar.is_at_rest());
        assert_eq!(calendar.request_ns(), Some(500));
        calendar.run(500, 900).unwrap();
        assert_eq!(calendar.request_ns(), None);
        say(Op::Ack, 1, 0);
        say(Op::Update, 3, 450);
        say(Op::Wait, 4, 0);
        for _ in 0..3 {
            calendar.take(&mut now_ns, 0).unwrap();
        }
        assert_eq!(now_ns, 450);
        assert!(!calendar.is_at_rest(), "it owes the answer to Run");
        say(Op::Ack, 2, 0);
        calendar.take(&mut now_ns, 0).unwrap();
        assert!(calendar.is_at_rest());
    }
}
