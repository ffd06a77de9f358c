//! A router's knowledge of the neighbour on a link (RFC 2328 §10).

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::Arc;

use backlane_net::NodeId;

use super::lsa::Header;
use super::packet::{Description, HEADERS_PER_PACKET};

/// The state of the conversation with a neighbour (§10.1), without those of other kinds of
/// networks: on a point-to-point link every neighbour becomes adjacent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum State {
    /// No recent HELLO.
    #[default]
    Down,
    /// A HELLO was received that does not name this router.
    Init,
    /// Who is the master is being settled.
    ExStart,
    /// Descriptions of the databases are exchanged.
    Exchange,
    /// LSAs are requested.
    Loading,
    /// The databases are equal.
    Full,
}

/// What a received database description leads to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Described {
    /// Nothing.
    Ignored,
    /// The last description is sent again.
    Repeat,
    /// The conversation begins again.
    Mismatch,
    /// These headers are compared with the database; then the next description is sent, if there
    /// is one, and the exchange may be over.
    Accepted {
        /// The neighbour's LSAs.
        headers: Vec<Header>,
        /// What to send.
        reply: Option<Description>,
        /// Whether both ends have described all.
        done: bool,
    },
}

/// A neighbour.
#[derive(Debug, Default)]
pub struct Neighbour {
    /// The state of the conversation.
    pub state: State,
    /// LSAs that are wanted, by origin, with the instance that the neighbour has.
    pub requests: BTreeMap<NodeId, Header>,
    /// Those of them that the last request asked for.
    pub asked: BTreeSet<NodeId>,
    /// LSAs that were sent and not acknowledged.
    pub unacknowledged: BTreeMap<NodeId, Header>,
    /// LSAs whose acknowledgment is due.
    pub acknowledgments: Vec<Header>,
    /// The last database description, to be sent again.
    pub described: Option<Arc<[u8]>>,
    is_master: bool,
    sequence: u32,
    /// What is still to be described.
    summary: VecDeque<Header>,
    /// Whether the last description that was sent announced more.
    more: bool,
    /// The last description received, without its headers.
    received: Option<Description>,
}

impl Neighbour {
    /// Forgets the conversation; the state is `state`.
    pub fn reset(&mut self, state: State) {
        *self = Self {
            state,
            sequence: self.sequence,
            ..Self::default()
        };
    }

    /// Begins the exchange: the first description, which has the number `sequence` if there was none
    /// before (§10.8).
    pub fn begin_exchange(&mut self, sequence: u32) -> Description {
        let sequence = match self.sequence {
            0 => sequence.max(1),
            last => last.wrapping_add(1).max(1),
        };
        self.reset(State::ExStart);
        (self.is_master, self.sequence) = (true, sequence);
        Description {
            initial: true,
            more: true,
            master: true,
            sequence,
            headers: Vec::new(),
        }
    }

    fn next_description(&mut self) -> Description {
        let count = self.summary.len().min(HEADERS_PER_PACKET);
        let headers = self.summary.drain(..count).collect();
        self.more = !self.summary.is_empty();
        Description {
            initial: false,
            more: self.more,
            master: self.is_master,
            sequence: self.sequence,
            headers,
        }
    }

    /// A description from the neighbour, which has the router ID `peer`; this router has `own`
    /// (§10.6). `summary` are the LSAs of this router, asked for once.
    pub fn on_description(
        &mut self,
        [own, peer]: [NodeId; 2],
        mut received: Description,
        summary: impl FnOnce() -> Vec<Header>,
    ) -> Described {
        let headers = std::mem::take(&mut received.headers);
        let is_first = match self.state {
            State::Down | State::Init => return Described::Ignored,
            State::ExStart => {
                let begins = received.initial && received.more && received.master;
                if begins && headers.is_empty() && peer > own {
                    (self.is_master, self.sequence) = (false, received.sequence);
                } else if received.initial
                    || received.master
                    || received.sequence != self.sequence
                    || peer > own
                {
                    return Described::Ignored;
                }
                self.state = State::Exchange;
                self.summary = summary().into();
                true
            }
            State::Exchange | State::Loading | State::Full => false,
        };
        if self.received.as_ref() == Some(&received) {
            return if self.is_master {
                Described::Ignored
            } else {
                Described::Repeat
            };
        }
        if !is_first {
            let expected = self.sequence.wrapping_add(u32::from(!self.is_master));
            if self.state > State::Exchange
                || received.initial
                || received.master == self.is_master
                || received.sequence != expected
            {
                return Described::Mismatch;
            }
        }
        let theirs_more = received.more;
        // The packet that made this router the slave describes nothing.
        let slave_begins = is_first && !self.is_master;
        self.received = Some(received);
        if self.is_master {
            let all_sent = !is_first && !self.more;
            if all_sent && !theirs_more {
                return Described::Accepted {
                    headers,
                    reply: None,
                    done: true,
                };
            }
            self.sequence = self.sequence.wrapping_add(1);
            let reply = Some(self.next_description());
            return Described::Accepted {
                headers,
                reply,
                done: false,
            };
        }
        if !slave_begins {
            self.sequence = self.sequence.wrapping_add(1);
        }
        let reply = self.next_description();
        Described::Accepted {
            headers,
            done: !slave_begins && !theirs_more && !self.more,
            reply: Some(reply),
        }
    }

    /// Whether what was sent may have to be sent again.
    pub fn awaits_answer(&self) -> bool {
        match self.state {
            State::Down | State::Init => false,
            State::ExStart => true,
            State::Exchange if self.is_master => true,
            _ => !self.requests.is_empty() || !self.unacknowledged.is_empty(),
        }
    }

    /// Whether a description is to be sent again: the master's, and both while none is master.
    pub fn repeats_description(&self) -> bool {
        self.state == State::ExStart || self.state == State::Exchange && self.is_master
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ospf::lsa::INITIAL_SEQUENCE;

    fn headers(count: u32) -> Vec<Header> {
        let header = |origin| Header {
            age_s: 1,
            origin: NodeId(origin),
            sequence: INITIAL_SEQUENCE,
            checksum: 9,
            length: 36,
        };
        (0..count).map(header).collect()
    }

    /// Two neighbours with this many LSAs; what each has learned of the other when both are done.
    fn exchange(low: u32, high: u32) -> [usize; 2] {
        let ids = [NodeId(1), NodeId(2)];
        let counts = [low, high];
        let mut ends = [Neighbour::default(), Neighbour::default()];
        let mut wire: VecDeque<(usize, Description)> = VecDeque::new();
        for (end, neighbour) in ends.iter_mut().enumerate() {
            wire.push_back((1 - end, neighbour.begin_exchange(100 + end as u32)));
        }
        let (mut learned, mut done) = ([0, 0], [false, false]);
        for _ in 0..1000 {
            let Some((to, description)) = wire.pop_front() else {
                break;
            };
            let order = [ids[to], ids[1 - to]];
            let summary = || headers(counts[to]);
            match ends[to].on_description(order, description, summary) {
                Described::Ignored => {}
                Described::Accepted {
                    headers,
                    reply,
                    done: over,
                } => {
                    learned[to] += headers.len();
                    done[to] |= over;
                    wire.extend(reply.map(|reply| (1 - to, reply)));
                }
                other => panic!("{other:?}"),
            }
        }
        assert_eq!(done, [true, true], "{low} {high}");
        learned
    }

    #[test]
    fn each_end_learns_of_all_that_the_other_has() {
        for (low, high) in [
            (0, 0),
            (1, 0),
            (0, 1),
            (5, 5),
            (200, 3),
            (3, 200),
            (300, 301),
        ] {
            assert_eq!(exchange(low, high), [high as usize, low as usize]);
        }
    }

    #[test]
    fn a_description_that_comes_twice_is_answered_again_by_the_slave_alone() {
        let ids = [NodeId(1), NodeId(2)];
        let mut slave = Neighbour::default();
        let mut master = Neighbour::default();
        slave.begin_exchange(5);
        let first = master.begin_exchange(9);
        let reply = slave.on_description(ids, first.clone(), || headers(1));
        let Described::Accepted {
            reply: Some(reply), ..
        } = reply
        else {
            panic!("{reply:?}");
        };
        assert_eq!(
            slave.on_description(ids, first, Vec::new),
            Described::Repeat
        );
        let mirrored = [NodeId(2), NodeId(1)];
        let next = master.on_description(mirrored, reply.clone(), || headers(1));
        assert!(matches!(next, Described::Accepted { .. }));
        assert_eq!(
            master.on_description(mirrored, reply, Vec::new),
            Described::Ignored
        );
    }

    #[test]
    fn a_description_out_of_order_begins_the_exchange_again() {
        let ids = [NodeId(1), NodeId(2)];
        let mut slave = Neighbour::default();
        slave.begin_exchange(5);
        let mut first = Neighbour::default().begin_exchange(9);
        slave.on_description(ids, first.clone(), || headers(1));
        (first.initial, first.sequence) = (false, 12);
        assert_eq!(
            slave.on_description(ids, first, Vec::new),
            Described::Mismatch
        );
    }
}
