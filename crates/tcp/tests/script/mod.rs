//! Packet scripts: what arrives, and what must leave when.
//!
//! One line is one event, at a time in milliseconds:
//!
//! ```text
//! 0   write 5000                  the application writes
//! 0   close                       the application closes
//! 0   > S 0                       a SYN leaves
//! 40  < S 0 ack 1 win 65535       a SYN-ACK arrives
//! 40  > 1:1001 ack 1              1000 bytes leave
//! 80  < ack 1 sack 1001-2001      an acknowledgment arrives (window 1 MB by default)
//! 80  < ack 1 ecr 40              one that echoes what left at 40 ms
//! 80  > F 5001 ack 1              a FIN leaves
//! ```
//!
//! Timers run by themselves between the lines. Every segment that leaves must be in the
//! script, in order and at its time.

use std::collections::VecDeque;
use std::fmt::Write;

use backlane_tcp::{Config, Connection, EcnField, Flags, SackBlock, Segment};
use backlane_units::{Bytes, Duration, SimTime};

/// Without timestamps and with 1000-byte segments and a full-grown window, so that the numbers
/// are easy to read.
pub fn config() -> Config {
    Config {
        mss: Bytes::new(1000),
        timestamps: false,
        initial_receive_window: Bytes::new(u64::from(u32::MAX)),
        congestion_control: "reno".parse().unwrap(),
        ..Config::default()
    }
}

/// A connection of window 10 that has sent ten segments of 1000 bytes at 40 ms.
#[allow(dead_code, reason = "not every test file starts so")]
pub const TEN_OUT: &str = "0   > S 0
    0   write 100000
    40  < S 0 ack 1
    40  > ack 1
    40  > 1:1001 ack 1
    40  > 1001:2001 ack 1
    40  > 2001:3001 ack 1
    40  > 3001:4001 ack 1
    40  > 4001:5001 ack 1
    40  > 5001:6001 ack 1
    40  > 6001:7001 ack 1
    40  > 7001:8001 ack 1
    40  > 8001:9001 ack 1
    40  > 9001:10001 ack 1
    ";

/// [`TEN_OUT`] and `rest`.
#[allow(dead_code, reason = "not every test file starts so")]
pub fn ten_out(rest: &str) -> String {
    format!("{TEN_OUT}{rest}")
}

/// Runs `script` against an endpoint that connects; it is returned for further questions.
#[allow(dead_code, reason = "not every test file connects")]
pub fn client(config: &Config, script: &str) -> Connection {
    run(Connection::connect(config, SimTime::ZERO), script)
}

/// Runs `script` against an endpoint that listens.
#[allow(dead_code, reason = "not every test file has a listener")]
pub fn server(config: &Config, script: &str) -> Connection {
    run(Connection::listen(config), script)
}

fn run(mut endpoint: Connection, script: &str) -> Connection {
    let mut left: VecDeque<(SimTime, String)> = VecDeque::new();
    let mut now = SimTime::ZERO;
    for line in script.lines().map(str::trim).filter(|l| !l.is_empty()) {
        let (time, action) = line.split_once(char::is_whitespace).unwrap();
        let at = SimTime::ZERO + Duration::from_micros((time.parse::<f64>().unwrap() * 1e3) as u64);
        poll(&mut endpoint, now, &mut left);
        while let Some(timeout) = endpoint.next_timeout()
            && timeout <= at
        {
            now = now.max(timeout);
            endpoint.on_timer(now);
            poll(&mut endpoint, now, &mut left);
        }
        now = at;
        let action = action.trim();
        if let Some(expected) = action.strip_prefix('>') {
            poll(&mut endpoint, now, &mut left);
            let Some((sent_at, sent)) = left.pop_front() else {
                panic!("nothing left, expected: {line}");
            };
            assert_eq!((sent_at, sent.as_str()), (at, expected.trim()), "{line}");
            continue;
        }
        poll(&mut endpoint, now, &mut left);
        assert!(left.is_empty(), "left before \"{line}\": {left:?}");
        if let Some(arrival) = action.strip_prefix('<') {
            endpoint.on_segment(now, &parse(arrival));
        } else if let Some(bytes) = action.strip_prefix("write ") {
            endpoint.write(bytes.parse().unwrap());
        } else {
            assert_eq!(action, "close", "{line}");
            endpoint.close();
        }
    }
    poll(&mut endpoint, now, &mut left);
    assert!(left.is_empty(), "left at the end: {left:?}");
    endpoint
}

fn poll(endpoint: &mut Connection, now: SimTime, left: &mut VecDeque<(SimTime, String)>) {
    while let Some(segment) = endpoint.poll_transmit(now) {
        left.push_back((now, print(&segment)));
    }
}

fn print(segment: &Segment) -> String {
    let mut text = String::new();
    if segment.flags.contains(Flags::SYN) {
        text += "S ";
    }
    if segment.flags.contains(Flags::FIN) {
        text += "F ";
    }
    let (seq, payload_bytes) = (segment.seq, u64::from(segment.payload_bytes));
    if payload_bytes > 0 {
        write!(text, "{seq}:{} ", seq + payload_bytes).unwrap();
    } else if !text.is_empty() || !segment.flags.contains(Flags::ACK) {
        write!(text, "{seq} ").unwrap();
    }
    if segment.flags.contains(Flags::ACK) {
        write!(text, "ack {}", segment.ack).unwrap();
    }
    for (flag, name) in [(Flags::ECE, " ece"), (Flags::CWR, " cwr")] {
        if segment.flags.contains(flag) {
            text += name;
        }
    }
    if segment.ecn == EcnField::Capable {
        text += " ect";
    }
    if !segment.sack.is_empty() {
        text += " sack";
        for block in segment.sack.iter(segment.ack) {
            write!(text, " {}-{}", block.start, block.end).unwrap();
        }
    }
    text.trim().replace("  ", " ")
}

fn parse(text: &str) -> Segment {
    let mut segment = Segment {
        window_bytes: 1_000_000,
        seq: 1,
        ..Segment::default()
    };
    let mut words = text.split_whitespace().peekable();
    while let Some(word) = words.next() {
        let mut number = || words.next().unwrap().parse().unwrap();
        match word {
            "S" => segment.flags |= Flags::SYN,
            "F" => segment.flags |= Flags::FIN,
            "ece" => segment.flags |= Flags::ECE,
            "cwr" => segment.flags |= Flags::CWR,
            "ce" => segment.ecn = EcnField::Marked,
            "ack" => {
                segment.flags |= Flags::ACK;
                segment.ack = number();
            }
            "win" => segment.window_bytes = number() as u32,
            "ecr" => (segment.ts_val, segment.ts_ecr) = (1, number() as u32 * 1000),
            "sack" => {
                while let Some((start, end)) = words.peek().and_then(|w| w.split_once('-')) {
                    let (start, end) = (start.parse().unwrap(), end.parse().unwrap());
                    segment.sack.push(segment.ack, SackBlock { start, end });
                    words.next();
                }
            }
            seq => match seq.split_once(':') {
                Some((start, end)) => {
                    segment.flags |= Flags::ACK;
                    segment.ack = segment.ack.max(1);
                    segment.seq = start.parse().unwrap();
                    segment.payload_bytes = end.parse::<u32>().unwrap() - segment.seq as u32;
                }
                None => segment.seq = seq.parse().unwrap(),
            },
        }
    }
    segment
}
