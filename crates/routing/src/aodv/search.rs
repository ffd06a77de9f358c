//! A node's searches for routes and its limit on messages per second.

use std::collections::{BTreeMap, VecDeque};

use backlane_net::NodeId;
use backlane_units::{Duration, SimTime};

/// A search for a route in progress.
#[derive(Debug)]
pub(super) struct Search {
    /// The TTL of the last request or of the next one.
    pub(super) ttl: u8,
    /// Requests that flooded the whole network.
    pub(super) flood: u32,
    /// Whether the request was sent: `due` is then the end of the wait for an answer, and otherwise
    /// the time at which the request may be sent.
    pub(super) sent: bool,
    pub(super) due: SimTime,
    /// For a local repair: the previous hop count of the destination.
    pub(super) repairs: Option<u8>,
}

/// Searches by destination.
pub(super) type Discoveries = BTreeMap<NodeId, Search>;

/// A limit on messages in any second.
#[derive(Debug)]
pub(super) struct RateLimit {
    per_second: Option<u32>,
    /// The times of the last ones.
    sent: VecDeque<SimTime>,
}

impl RateLimit {
    pub fn new(per_second: Option<u32>) -> Self {
        Self {
            per_second,
            sent: VecDeque::new(),
        }
    }

    /// When the next one may be sent.
    pub fn earliest(&self, now: SimTime) -> SimTime {
        match (self.per_second, self.sent.front()) {
            (Some(limit), Some(first)) if self.sent.len() >= limit as usize => {
                now.max(first.saturating_add(Duration::from_secs(1)))
            }
            _ => now,
        }
    }

    /// Counts a message sent now.
    pub fn note(&mut self, now: SimTime) {
        if let Some(limit) = self.per_second {
            while self.sent.len() >= limit.max(1) as usize {
                self.sent.pop_front();
            }
            self.sent.push_back(now);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(ms: u64) -> SimTime {
        SimTime::ZERO + Duration::from_millis(ms)
    }

    #[test]
    fn no_more_than_the_limit_leaves_in_any_second() {
        let mut limit = RateLimit::new(Some(3));
        for ms in [0, 100, 200] {
            assert_eq!(limit.earliest(at(ms)), at(ms));
            limit.note(at(ms));
        }
        assert_eq!(limit.earliest(at(300)), at(1000));
        limit.note(at(1000));
        assert_eq!(limit.earliest(at(1000)), at(1100));
        let unlimited = RateLimit::new(None);
        assert_eq!(unlimited.earliest(at(5)), at(5));
    }
}
