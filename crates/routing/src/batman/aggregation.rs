//! Version IV: OGMs that wait to be sent, and join in one frame.
//!
//! An own OGM leaves at its time. Another one joins a frame that leaves within the aggregation time
//! after it; if there is none, it waits for that time itself, so that others join it.

use backlane_engine::Stream;
use backlane_units::{Duration, SimTime};

use super::AGGREGATE_BYTES;
use super::message::{DIRECT_LINK, FLAGS_AT, IV_OGM_BYTES, IvOgm};
use super::ports::Frame;

/// Frames with OGMs of others that wait at most (`BATADV_BATMAN_QUEUE_LEN`).
const WAITING: usize = 256;
/// A forwarded OGM is delayed by up to this (half of `BATADV_JITTER`).
const FORWARD_JITTER: Duration = Duration::from_millis(10);
/// OGMs in a frame at most (`BATADV_MAX_AGGREGATION_PACKETS`).
const AGGREGATE_OGMS: usize = 32;

/// A frame that waits.
#[derive(Debug)]
struct Waiting {
    due: SimTime,
    own: bool,
    incoming: usize,
    outgoing: usize,
    /// By OGM: whether it is repeated on the interface of its originator.
    direct: Vec<bool>,
    first_ttl: u8,
    bytes: Vec<u8>,
}

/// A frame that left.
#[derive(Debug)]
pub(super) struct Sent {
    pub(super) frame: Frame,
    /// The port of whose own OGM this is the original.
    pub(super) own: Option<usize>,
}

/// The queue of a node.
#[derive(Debug, Default)]
pub(super) struct Queue {
    /// The newest first.
    waiting: Vec<Waiting>,
}

impl Queue {
    /// Adds an own OGM of the port `incoming`.
    pub(super) fn add_own(
        &mut self,
        due: SimTime,
        incoming: usize,
        outgoing: usize,
        ogm: &IvOgm<'_>,
    ) {
        self.begin(due, true, incoming, outgoing, ogm);
    }

    /// Adds an OGM that was received on `incoming`.
    pub(super) fn add(
        &mut self,
        now: SimTime,
        aggregation: Duration,
        draws: &mut Stream,
        [incoming, outgoing]: [usize; 2],
        ogm: &IvOgm<'_>,
    ) {
        let due = now.saturating_add(super::draw(draws, FORWARD_JITTER));
        let latest = due.saturating_add(aggregation);
        let direct = ogm.flags & DIRECT_LINK != 0;
        let size = IV_OGM_BYTES + ogm.tvlv.len();
        let joined = self.waiting.iter_mut().find(|frame| {
            due < frame.due
                && frame.due <= latest
                && frame.bytes.len() + size <= AGGREGATE_BYTES
                && frame.direct.len() < AGGREGATE_OGMS
                && frame.outgoing == outgoing
                && frame.admits(direct, ogm.ttl, incoming)
        });
        if let Some(frame) = joined {
            frame.direct.push(direct);
            ogm.encode(&mut frame.bytes);
            return;
        }
        let others = self.waiting.iter().filter(|frame| !frame.own);
        if others.count() < WAITING {
            self.begin(latest, false, incoming, outgoing, ogm);
        }
    }

    fn begin(
        &mut self,
        due: SimTime,
        own: bool,
        incoming: usize,
        outgoing: usize,
        ogm: &IvOgm<'_>,
    ) {
        let mut bytes = Vec::with_capacity(IV_OGM_BYTES + ogm.tvlv.len());
        ogm.encode(&mut bytes);
        let frame = Waiting {
            due,
            own,
            incoming,
            outgoing,
            direct: vec![ogm.flags & DIRECT_LINK != 0],
            first_ttl: ogm.ttl,
            bytes,
        };
        self.waiting.insert(0, frame);
    }

    /// When the next frame is due.
    pub(super) fn next_due(&self) -> SimTime {
        let due = self.waiting.iter().map(|frame| frame.due);
        due.min().unwrap_or(SimTime::MAX)
    }

    /// Takes a frame that is due, the earliest first.
    pub(super) fn take(&mut self, now: SimTime) -> Option<Sent> {
        let due = self.next_due();
        if due > now {
            return None;
        }
        let at = self.waiting.iter().rposition(|frame| frame.due == due)?;
        let mut frame = self.waiting.remove(at);
        frame.set_flags();
        Some(Sent {
            own: (frame.own && frame.incoming == frame.outgoing).then_some(frame.incoming),
            frame: Frame {
                port: frame.outgoing,
                to: None,
                bytes: frame.bytes,
            },
        })
    }
}

impl Waiting {
    /// Whether an OGM may join: one for the whole network a frame of such OGMs; one that goes no
    /// further, a frame for the same port alone.
    fn admits(&self, direct: bool, ttl: u8, incoming: usize) -> bool {
        let is_primary = self.incoming == 0;
        let first_direct = self.direct[0];
        let flooded = !direct && !first_direct && self.first_ttl != 1 && (!self.own || is_primary);
        let local = direct
            && ttl == 1
            && self.incoming == incoming
            && (first_direct || self.own && !is_primary);
        flooded || local
    }

    /// An OGM is marked as repeated only on the port on which it came.
    fn set_flags(&mut self) {
        let same = self.incoming == self.outgoing;
        let mut at = 0;
        for direct in &self.direct {
            let Some((ogm, _)) = self.bytes.get(at..).and_then(IvOgm::decode) else {
                return;
            };
            let size = IV_OGM_BYTES + ogm.tvlv.len();
            let mark = if *direct && same { DIRECT_LINK } else { 0 };
            self.bytes[at + FLAGS_AT] = ogm.flags & !DIRECT_LINK | mark;
            at += size;
        }
    }
}

#[cfg(test)]
mod tests {
    use backlane_engine::Streams;
    use backlane_net::NodeId;

    use super::*;
    use crate::batman::message::Address;

    const AGGREGATION: Duration = Duration::from_millis(100);

    fn at(ms: u64) -> SimTime {
        SimTime::ZERO + Duration::from_millis(ms)
    }

    fn ogm(node: u32, flags: u8, ttl: u8) -> IvOgm<'static> {
        let address = Address {
            node: NodeId(node),
            port: 0,
        };
        IvOgm {
            ttl,
            flags,
            sequence: 1,
            originator: address,
            previous: address,
            tq: 255,
            tvlv: &[],
        }
    }

    /// Sizes of the frames that leave up to a time, in order.
    fn sizes(queue: &mut Queue, until: SimTime) -> Vec<usize> {
        std::iter::from_fn(|| queue.take(until))
            .map(|sent| sent.frame.bytes.len())
            .collect()
    }

    #[test]
    fn ogms_within_100_ms_share_a_frame_of_512_bytes() {
        let mut draws = Streams::new(1).stream("node", "batman");
        let mut queue = Queue::default();
        for node in 0..22 {
            let now = at(u64::from(node));
            queue.add(now, AGGREGATION, &mut draws, [0, 0], &ogm(node, 0, 49));
        }
        // 21 · 24 bytes and one more OGM, which waits for its own 100 ms.
        assert_eq!(sizes(&mut queue, at(99)), []);
        assert_eq!(sizes(&mut queue, at(110)), [504]);
        assert_eq!(sizes(&mut queue, at(131)), [24]);
    }

    #[test]
    fn frames_for_other_ports_and_repeated_ogms_stay_apart() {
        let mut draws = Streams::new(1).stream("node", "batman");
        let mut queue = Queue::default();
        queue.add(at(0), AGGREGATION, &mut draws, [0, 0], &ogm(1, 0, 49));
        queue.add(at(20), AGGREGATION, &mut draws, [0, 1], &ogm(1, 0, 49));
        queue.add(
            at(20),
            AGGREGATION,
            &mut draws,
            [0, 0],
            &ogm(2, DIRECT_LINK, 49),
        );
        assert_eq!(sizes(&mut queue, at(200)), [24, 24, 24]);
    }

    #[test]
    fn an_ogm_joins_an_own_one_that_leaves_soon() {
        let mut draws = Streams::new(1).stream("node", "batman");
        let mut queue = Queue::default();
        queue.add_own(at(1000), 0, 0, &ogm(0, 0, 50));
        queue.add(at(950), AGGREGATION, &mut draws, [0, 0], &ogm(1, 0, 49));
        let sent = queue.take(at(1000)).unwrap();
        assert_eq!((sent.own, sent.frame.bytes.len()), (Some(0), 48));
    }

    #[test]
    fn a_repeated_ogm_is_marked_only_where_it_came() {
        let mut draws = Streams::new(1).stream("node", "batman");
        for (outgoing, mark) in [(0, DIRECT_LINK), (1, 0)] {
            let mut queue = Queue::default();
            let repeated = ogm(1, DIRECT_LINK, 49);
            queue.add(at(0), AGGREGATION, &mut draws, [0, outgoing], &repeated);
            let sent = queue.take(at(200)).unwrap();
            let (ogm, _) = IvOgm::decode(&sent.frame.bytes).unwrap();
            assert_eq!(ogm.flags, mark);
        }
    }
}
