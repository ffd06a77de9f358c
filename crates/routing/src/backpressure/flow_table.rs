//! The forwarding table of the per-flow variant.

use backlane_units::{Duration, SimTime};

use crate::flow_map::FlowMap;

/// One flow's decision.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Entry {
    interface: usize,
    decided_at: SimTime,
    used_at: SimTime,
    /// Since when another neighbour's weight has exceeded the margin at every packet.
    outdone_since: Option<SimTime>,
    /// TTL of the packet that decided; another TTL means that the packet took another path to this
    /// node.
    ttl: u8,
}

/// The result of a lookup for a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Lookup {
    /// The packet leaves by this interface.
    Valid {
        /// The interface.
        interface: usize,
        /// Time since the decision.
        age: Duration,
        /// Time since the flow's last packet.
        gap: Duration,
    },
    /// A new decision is needed; this was the interface until now.
    Expired(usize),
    /// There is no entry.
    Unknown,
}

/// Decisions by flow and direction.
pub(super) struct FlowTable {
    entries: FlowMap<Entry>,
    idle: Duration,
    max_age: Duration,
}

impl FlowTable {
    /// An empty table; the arguments give the lifetimes of its entries.
    pub(super) fn new(idle: Duration, max_age: Duration) -> Self {
        Self {
            entries: FlowMap::default(),
            idle,
            max_age,
        }
    }

    /// Looks up a flow and records the use.
    pub(super) fn lookup(&mut self, now: SimTime, key: u64, ttl: u8) -> Lookup {
        match self.entries.get_mut(&key) {
            None => Lookup::Unknown,
            Some(entry) => {
                let age = now - entry.decided_at;
                let gap = now - entry.used_at;
                entry.used_at = now;
                if entry.ttl != ttl || gap > self.idle || age > self.max_age {
                    Lookup::Expired(entry.interface)
                } else {
                    Lookup::Valid {
                        interface: entry.interface,
                        age,
                        gap,
                    }
                }
            }
        }
    }

    /// Records whether another neighbour stands out against a flow's own, and returns for how long
    /// this has held at every packet.
    pub(super) fn note_outdone(&mut self, now: SimTime, key: u64, outdone: bool) -> Duration {
        let Some(entry) = self.entries.get_mut(&key) else {
            return Duration::ZERO;
        };
        entry.outdone_since = outdone.then(|| entry.outdone_since.unwrap_or(now));
        entry
            .outdone_since
            .map_or(Duration::ZERO, |since| now - since)
    }

    /// Stores a decision.
    pub(super) fn store(&mut self, now: SimTime, key: u64, ttl: u8, interface: usize) {
        self.entries.insert(
            key,
            Entry {
                interface,
                decided_at: now,
                used_at: now,
                outdone_since: None,
                ttl,
            },
        );
    }

    /// Removes a flow's entry.
    pub(super) fn remove(&mut self, key: u64) {
        self.entries.remove(&key);
    }

    /// Removes all entries: a neighbour has returned, and any decision may improve.
    pub(super) fn clear(&mut self) {
        self.entries.clear();
    }

    /// Removes the entries that have been idle for too long.
    pub(super) fn purge(&mut self, now: SimTime) {
        let idle = self.idle;
        self.entries.retain(|_, entry| now - entry.used_at <= idle);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(s: u64) -> SimTime {
        SimTime::ZERO + Duration::from_secs(s)
    }

    fn table() -> FlowTable {
        let mut table = FlowTable::new(Duration::from_secs(10), Duration::from_secs(100));
        table.store(at(0), 7, 60, 2);
        table
    }

    fn interface(lookup: Lookup) -> Option<usize> {
        match lookup {
            Lookup::Valid { interface, .. } => Some(interface),
            Lookup::Expired(_) | Lookup::Unknown => None,
        }
    }

    #[test]
    fn a_flow_in_use_keeps_its_interface_for_a_hundred_seconds() {
        let mut table = table();
        for second in (5..=100).step_by(5) {
            assert_eq!(interface(table.lookup(at(second), 7, 60)), Some(2));
        }
        assert_eq!(table.lookup(at(105), 7, 60), Lookup::Expired(2));
    }

    #[test]
    fn an_idle_flow_is_decided_again_after_ten_seconds() {
        assert_eq!(interface(table().lookup(at(10), 7, 60)), Some(2));
        assert_eq!(table().lookup(at(11), 7, 60), Lookup::Expired(2));
        let mut table = table();
        table.purge(at(11));
        assert_eq!(table.lookup(at(11), 7, 60), Lookup::Unknown);
    }

    #[test]
    fn another_ttl_hints_at_a_loop_and_expires_the_entry() {
        assert_eq!(table().lookup(at(1), 7, 58), Lookup::Expired(2));
        assert_eq!(table().lookup(at(1), 8, 60), Lookup::Unknown);
    }

    #[test]
    fn age_counts_from_the_decision_and_gap_from_the_last_packet() {
        let mut table = table();
        table.lookup(at(3), 7, 60);
        let expected = Lookup::Valid {
            interface: 2,
            age: Duration::from_secs(5),
            gap: Duration::from_secs(2),
        };
        assert_eq!(table.lookup(at(5), 7, 60), expected);
    }

    #[test]
    fn one_packet_at_which_no_neighbour_stands_out_restarts_the_wait() {
        let mut table = table();
        let second = Duration::from_secs(1);
        assert_eq!(table.note_outdone(at(1), 7, true), Duration::ZERO);
        assert_eq!(table.note_outdone(at(2), 7, true), second);
        assert_eq!(table.note_outdone(at(3), 7, false), Duration::ZERO);
        assert_eq!(table.note_outdone(at(4), 7, true), Duration::ZERO);
        assert_eq!(table.note_outdone(at(5), 7, true), second);
    }
}
