//! Bidirectional forwarding detection (RFC 5880, asynchronous mode; RFC 5881): a session with the
//! neighbour on a link, without I/O.

use std::sync::Arc;

use backlane_engine::Stream;
use backlane_net::NodeId;
use backlane_units::{Duration, SimTime};

use super::lsa::address;

const VERSION: u8 = 1;
const PACKET_BYTES: usize = 24;
/// The least interval of a session that is not up (RFC 5880 §6.8.3).
const SLOW: Duration = Duration::from_secs(1);

/// The state of a session (§6.2).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum State {
    /// Not up, and the neighbour is not known to see this end.
    Down = 1,
    /// The neighbour's packets arrive.
    Init = 2,
    /// Both ends receive the other's packets.
    Up = 3,
}

/// A session.
#[derive(Debug)]
pub struct Session {
    node: NodeId,
    interval: Duration,
    multiplier: u32,
    state: State,
    remote: State,
    /// The interval that the neighbour has announced.
    remote_interval: Duration,
    /// When the neighbour counts as lost.
    expires: SimTime,
}

impl Session {
    /// A session that sends and expects packets at `interval` once it is up.
    pub fn new(node: NodeId, interval: Duration, multiplier: u32) -> Self {
        Self {
            node,
            interval,
            multiplier,
            state: State::Down,
            remote: State::Down,
            remote_interval: interval,
            expires: SimTime::MAX,
        }
    }

    /// A session that has been up for long.
    pub fn up(node: NodeId, interval: Duration, multiplier: u32, now: SimTime) -> Self {
        let mut session = Self::new(node, interval, multiplier);
        (session.state, session.remote) = (State::Up, State::Up);
        session.expires = now.saturating_add(session.detection());
        session
    }

    /// When the neighbour counts as lost if no packet comes before.
    pub fn expires(&self) -> SimTime {
        self.expires
    }

    /// The time without packets after which the neighbour is lost (§6.8.4).
    fn detection(&self) -> Duration {
        let interval = self.interval.max(self.remote_interval);
        interval.saturating_mul(u64::from(self.multiplier))
    }

    fn transmit_interval(&self) -> Duration {
        match self.state {
            State::Up => self.interval,
            _ => self.interval.max(SLOW),
        }
    }

    /// The time to the next packet: the interval less up to a quarter; with a multiplier of one, 75
    /// to 90 % of it (§6.8.7).
    pub fn wait(&self, jitter: &mut Stream) -> Duration {
        let interval = self.transmit_interval().as_ps();
        let (least, span) = match self.multiplier {
            1 => (interval / 4 * 3, interval / 20 * 3),
            _ => (interval / 4 * 3, interval / 4),
        };
        Duration::from_ps(least + jitter.uniform_below(span.max(1)))
    }

    /// A packet from the neighbour. True if the session was up and has failed.
    pub fn on_packet(&mut self, now: SimTime, bytes: &[u8]) -> bool {
        let Some((remote, interval)) = decode(bytes) else {
            return false;
        };
        (self.remote, self.remote_interval) = (remote, interval);
        let was_up = self.state == State::Up;
        // §6.8.6.
        self.state = match (self.state, remote) {
            (State::Down, State::Down) => State::Init,
            (State::Down, State::Init) | (State::Init, State::Init | State::Up) => State::Up,
            (State::Up, State::Down) => State::Down,
            (state, _) => state,
        };
        self.expires = now.saturating_add(self.detection());
        was_up && self.state == State::Down
    }

    /// The time without packets is over. True if the session was up.
    pub fn on_expiry(&mut self) -> bool {
        let was_up = self.state == State::Up;
        (self.state, self.expires) = (State::Down, SimTime::MAX);
        was_up
    }

    /// A control packet (§4.1).
    pub fn packet(&self, peer: NodeId) -> Arc<[u8]> {
        let mut bytes = vec![
            VERSION << 5,
            (self.state as u8) << 6,
            self.multiplier as u8,
            PACKET_BYTES as u8,
        ];
        let yours = if self.remote >= State::Init || self.state >= State::Init {
            address(peer)
        } else {
            0
        };
        bytes.extend(address(self.node).to_be_bytes());
        bytes.extend(yours.to_be_bytes());
        let micros = |duration: Duration| (duration.as_ps() / 1_000_000) as u32;
        bytes.extend(micros(self.transmit_interval()).to_be_bytes());
        bytes.extend(micros(self.interval).to_be_bytes());
        bytes.extend([0; 4]);
        bytes.into()
    }
}

/// Whether a message is a control packet of BFD.
pub fn is_control(bytes: &[u8]) -> bool {
    bytes.len() == PACKET_BYTES && bytes[0] >> 5 == VERSION
}

/// The state and the interval that a packet announces.
fn decode(bytes: &[u8]) -> Option<(State, Duration)> {
    is_control(bytes).then_some(())?;
    let state = match bytes[1] >> 6 {
        1 => State::Down,
        2 => State::Init,
        3 => State::Up,
        _ => return None,
    };
    let micros = u32::from_be_bytes([bytes[12], bytes[13], bytes[14], bytes[15]]);
    Some((state, Duration::from_micros(u64::from(micros))))
}

#[cfg(test)]
mod tests {
    use super::*;
    use backlane_engine::Streams;

    const INTERVAL: Duration = Duration::from_millis(300);

    fn at(ms: u64) -> SimTime {
        SimTime::ZERO.saturating_add(Duration::from_millis(ms))
    }

    #[test]
    fn a_session_comes_up_in_three_packets_and_falls_after_three_intervals() {
        let (here, there) = (NodeId(1), NodeId(2));
        let mut a = Session::new(here, INTERVAL, 3);
        let mut b = Session::new(there, INTERVAL, 3);
        assert!(!b.on_packet(at(0), &a.packet(there)));
        assert_eq!((a.state, b.state), (State::Down, State::Init));
        assert!(!a.on_packet(at(10), &b.packet(here)));
        assert_eq!(a.state, State::Up);
        assert!(!b.on_packet(at(20), &a.packet(there)));
        assert_eq!(b.state, State::Up);
        assert_eq!(b.expires(), at(920));
        let slow = Session::new(here, INTERVAL, 3).packet(there);
        let mut c = Session::new(there, INTERVAL, 3);
        c.on_packet(at(0), &slow);
        assert_eq!(c.expires(), at(3000), "three of the neighbour's intervals");
        assert!(b.on_expiry(), "it was up");
        assert!(
            a.on_packet(at(930), &b.packet(here)),
            "the other end says so"
        );
        assert_eq!(a.state, State::Down);
    }

    #[test]
    fn packets_leave_after_three_quarters_of_the_interval_or_more() {
        let session = Session::up(NodeId(1), INTERVAL, 3, at(0));
        let mut jitter = Streams::new(1).stream("a", "hello");
        let waits: Vec<_> = (0..1000).map(|_| session.wait(&mut jitter)).collect();
        assert!(
            waits
                .iter()
                .all(|wait| (225..=300).contains(&(wait.as_ps() / 1_000_000_000)))
        );
        let sum: u64 = waits.iter().map(|wait| wait.as_ps()).sum();
        let mean_ms = sum as f64 / 1e12;
        assert!((mean_ms - 262.5).abs() < 3.0, "{mean_ms}");
    }
}
