//! The queues of a node, one for each flow and direction, and the state of each flow.

use std::collections::VecDeque;

use backlane_net::{FlowId, NodeId, Packet, PacketId};
use backlane_units::{Duration, SimTime};

use super::backlogs::{Backlogs, Part};
use super::{Entry, Sharing, TcpAwareConfig, Threshold};

/// No slot.
const UNKNOWN: u32 = u32::MAX;
/// The level of a flow that takes no part in the choice.
const NEVER: i32 = i32::MIN / 2;

/// A packet in a queue.
#[derive(Clone, Copy)]
pub(super) struct Waiting {
    pub(super) id: PacketId,
    pub(super) since: SimTime,
}

/// A flow known to a node, from its packets or from a neighbour's report.
pub(super) struct Flow {
    pub(super) key: u64,
    /// Whether it is the way back of a flow and carries its acknowledgments.
    pub(super) reverse: bool,
    /// The router where it leaves the mesh; `None` before its first packet.
    pub(super) exit: NodeId,
    /// Whether this is its first router.
    pub(super) at_source: bool,
    pub(super) queue: VecDeque<Waiting>,
    crosses: bool,
    seen_at: SimTime,
    /// The number of the service round in which it was last chosen.
    served: u64,
}

impl Flow {
    /// The entry in a report; `None` if the flow does not cross the node or has no number there.
    #[inline]
    fn entry(&self) -> Option<Entry> {
        (self.crosses && Entry::can_report(self.key)).then_some(Entry {
            key: self.key as u32,
            pkts: self.queue.len() as u32,
        })
    }
}

/// The number of shares of the buffer that a flow has.
fn share(sharing: Sharing, flow: &Flow) -> u32 {
    match sharing {
        Sharing::Flows => u32::from(!flow.reverse),
        Sharing::Directions => 1,
    }
}

/// The flows known to a node, each in a slot, and the threshold K.
pub(super) struct Flows {
    threshold: Threshold,
    sharing: Sharing,
    buffer_pkts: u32,
    empty_compete: bool,
    /// By key; [`UNKNOWN`] where there is none. Flows are numbered from zero.
    slots: Vec<u32>,
    known: Vec<Flow>,
    /// By slot: max{K, U}, or [`NEVER`].
    levels: Vec<i32>,
    /// By slot, when a neighbour last reported packets of the flow.
    reported_at: Vec<SimTime>,
    backlogs: Backlogs,
    free: Vec<usize>,
    /// Flows that cross the node, of those that share its buffer.
    crossing: u32,
    k_pkts: i32,
    held_pkts: u32,
    services: u64,
}

impl Flows {
    pub(super) fn new(config: &TcpAwareConfig) -> Self {
        let mut flows = Self {
            threshold: config.k,
            sharing: config.k_counts,
            buffer_pkts: config.buffer_pkts,
            empty_compete: config.empty_flows_compete,
            slots: Vec::new(),
            known: Vec::new(),
            levels: Vec::new(),
            reported_at: Vec::new(),
            backlogs: Backlogs::default(),
            free: Vec::new(),
            crossing: 0,
            k_pkts: 0,
            held_pkts: 0,
            services: 0,
        };
        flows.set_threshold();
        flows
    }

    /// The slot of a flow that is known.
    #[inline]
    pub(super) fn slot(&self, key: u64) -> Option<usize> {
        let slot = *self.slots.get(key as usize)?;
        (slot != UNKNOWN).then_some(slot as usize)
    }

    /// Adds a flow and returns its slot.
    pub(super) fn add(&mut self, key: u64, now: SimTime) -> usize {
        let index = key as usize;
        if index >= self.slots.len() {
            self.slots.resize(index + 1, UNKNOWN);
        }
        let slot = self.free.pop().unwrap_or_else(|| {
            self.known.push(Flow {
                key,
                reverse: false,
                exit: NodeId::NONE,
                at_source: false,
                queue: VecDeque::new(),
                crosses: false,
                seen_at: now,
                served: 0,
            });
            self.levels.push(NEVER);
            self.reported_at.push(now);
            self.known.len() - 1
        });
        let flow = &mut self.known[slot];
        flow.key = key;
        flow.exit = NodeId::NONE;
        flow.at_source = false;
        flow.seen_at = now;
        flow.served = 0;
        self.reported_at[slot] = now;
        self.slots[index] = slot as u32;
        slot
    }

    /// A packet of the flow in `slot` joins its queue.
    pub(super) fn push(&mut self, slot: usize, id: PacketId, packet: &Packet, now: SimTime) {
        let flow = &mut self.known[slot];
        flow.reverse = packet.reverse;
        flow.exit = packet.exit;
        flow.at_source |= packet.hops <= 1;
        flow.seen_at = now;
        flow.queue.push_back(Waiting { id, since: now });
        self.held_pkts += 1;
        if flow.crosses {
            self.set_level(slot);
        } else {
            flow.crosses = true;
            self.crossing += share(self.sharing, flow);
            self.set_threshold();
        }
    }

    /// Removes the first packet.
    pub(super) fn pop_front(&mut self, slot: usize) -> Option<Waiting> {
        let waiting = self.known[slot].queue.pop_front()?;
        self.held_pkts -= 1;
        self.set_level(slot);
        Some(waiting)
    }

    /// Removes the last packet.
    pub(super) fn pop_back(&mut self, slot: usize) -> Option<Waiting> {
        let waiting = self.known[slot].queue.pop_back()?;
        self.held_pkts -= 1;
        self.set_level(slot);
        Some(waiting)
    }

    /// Packets of a flow that wait here, if this is its first router.
    pub(super) fn entered_here_pkts(&self, flow: FlowId) -> u32 {
        let slot = self.slots.get(2 * flow.index()).copied();
        let known = slot.and_then(|slot| self.known.get(slot as usize));
        let flow = known.filter(|known| known.at_source);
        flow.map_or(0, |flow| flow.queue.len() as u32)
    }

    /// Records that the flow was chosen: it is now last among equals.
    pub(super) fn serve(&mut self, slot: usize) {
        self.services += 1;
        self.known[slot].served = self.services;
    }

    /// Records that a neighbour has packets of the flow.
    #[inline]
    pub(super) fn on_report(&mut self, slot: usize, now: SimTime) {
        self.reported_at[slot] = now;
    }

    /// Removes flows without packets or reports for `idle`.
    pub(super) fn forget(&mut self, now: SimTime, idle: Duration) {
        let mut left = false;
        for slot in 0..self.known.len() {
            let flow = &mut self.known[slot];
            if !flow.queue.is_empty() || now < flow.seen_at.saturating_add(idle) {
                continue;
            }
            if flow.crosses {
                flow.crosses = false;
                self.crossing -= share(self.sharing, flow);
                left = true;
            }
            let known_by = &mut self.slots[flow.key as usize];
            // The flow of a free slot may have another slot by now.
            let is_its = *known_by == slot as u32;
            if is_its && now >= self.reported_at[slot].saturating_add(idle) {
                *known_by = UNKNOWN;
                self.free.push(slot);
                self.levels[slot] = NEVER;
            }
        }
        if left {
            self.set_threshold();
        }
    }

    fn set_threshold(&mut self) {
        let k = match self.threshold {
            Threshold::Share => self.buffer_pkts / self.crossing.max(1),
            Threshold::Fixed(pkts) => pkts,
        };
        self.k_pkts = i32::try_from(k).unwrap_or(i32::MAX / 4);
        self.backlogs.replace(self.known.iter().map(Flow::entry));
        for slot in 0..self.known.len() {
            self.set_level(slot);
        }
    }

    #[inline]
    fn set_level(&mut self, slot: usize) {
        let flow = &self.known[slot];
        let pkts = flow.queue.len() as i32;
        let competes = pkts > 0 || self.empty_compete && flow.crosses;
        self.levels[slot] = if competes {
            pkts.max(self.k_pkts)
        } else {
            NEVER
        };
        if let Some(entry) = flow.entry() {
            self.backlogs.set(slot, entry);
        }
    }

    /// Whether any flow, or this one, takes part in the choice.
    #[inline]
    pub(super) fn may_be_chosen(&self, only: Option<usize>) -> bool {
        match only {
            Some(slot) => self.levels[slot] != NEVER,
            None => self.empty_compete || self.held_pkts > 0,
        }
    }

    /// The maximum of D = max{K, U} − `reported_pkts` over the flows, or over the acknowledgment
    /// streams alone; `None` if no D is positive.
    #[inline]
    pub(super) fn most(&self, reported_pkts: &[i32], acks_only: bool) -> Option<i32> {
        let differentials = self
            .levels
            .iter()
            .zip(reported_pkts)
            .map(|(own, reported)| own - reported);
        let most = if acks_only {
            let acks = self.known.iter().map(|flow| flow.reverse);
            differentials
                .zip(acks)
                .filter(|&(_, ack)| ack)
                .map(|(differential, _)| differential)
                .max()
        } else {
            differentials.max()
        };
        most.filter(|&most| most > 0)
    }

    /// The flow with this D; of several, the least recently chosen.
    pub(super) fn with(
        &self,
        differential: i32,
        reported_pkts: &[i32],
        acks_only: bool,
    ) -> Option<usize> {
        let differentials = self
            .levels
            .iter()
            .zip(reported_pkts)
            .map(|(own, reported)| own - reported);
        differentials
            .enumerate()
            .filter(|&(slot, f)| f == differential && (!acks_only || self.known[slot].reverse))
            .min_by_key(|&(slot, _)| self.known[slot].served)
            .map(|(slot, _)| slot)
    }

    /// The number of the service in which a flow was last chosen.
    pub(super) fn served(&self, slot: usize) -> u64 {
        self.known[slot].served
    }

    /// D of one flow.
    #[inline]
    pub(super) fn differential(&self, slot: usize, reported_pkts: &[i32]) -> i32 {
        self.levels[slot] - reported_pkts[slot]
    }

    /// The longest queue; of several, that of `newest` if it is one of them.
    pub(super) fn longest(&self, newest: usize) -> usize {
        let mut longest = newest;
        for (slot, flow) in self.known.iter().enumerate() {
            if flow.queue.len() > self.known[longest].queue.len() {
                longest = slot;
            }
        }
        longest
    }

    pub(super) fn get(&self, slot: usize) -> &Flow {
        &self.known[slot]
    }

    /// All waiting packets.
    pub(super) fn waiting(&self) -> impl Iterator<Item = &Waiting> + Clone {
        self.known.iter().flat_map(|flow| &flow.queue)
    }

    /// The backlogs of at most `most` flows that cross the node, cyclically from a slot.
    pub(super) fn backlogs(&self, from: usize, most: usize) -> Part<'_> {
        self.backlogs.part(from, most)
    }

    /// Whether any flow is known.
    pub(super) fn any(&self) -> bool {
        self.free.len() < self.known.len()
    }

    /// Packets in all queues.
    pub(super) fn held_pkts(&self) -> u32 {
        self.held_pkts
    }

    /// K.
    #[cfg(test)]
    pub(super) fn k_pkts(&self) -> i32 {
        self.k_pkts
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: SimTime = SimTime::ZERO;

    fn packet(flow: u32) -> Packet {
        Packet {
            flow: FlowId(flow),
            reverse: false,
            ttl: 64,
            hops: 1,
            ecn: backlane_net::Ecn::NotCapable,
            size_bytes: 1040,
            source: NodeId(0),
            destination: NodeId(1),
            exit: NodeId(1),
            previous: NodeId(0),
            path: 0,
            sequence: 0,
            queued_at: NOW,
            message: None,
        }
    }

    /// Flows with these backlogs, in slots 0, 1, ….
    fn flows(threshold: Threshold, buffer_pkts: u32, backlogs_pkts: &[u32]) -> Flows {
        let mut flows = Flows::new(&TcpAwareConfig {
            k: threshold,
            buffer_pkts,
            ..TcpAwareConfig::default()
        });
        for (number, &pkts) in (0..).zip(backlogs_pkts) {
            let packet = packet(number);
            let slot = flows.add(packet.flow_key(), NOW);
            for id in 0..pkts {
                flows.push(slot, PacketId(100 * number + id), &packet, NOW);
            }
        }
        flows
    }

    /// The slots chosen in `rounds` rounds in which no packet leaves and the neighbour is empty.
    fn chosen(flows: &mut Flows, rounds: usize) -> Vec<usize> {
        let reported = vec![0; flows.known.len()];
        (0..rounds)
            .map(|_| {
                let most = flows
                    .most(&reported, false)
                    .expect("a positive differential");
                let slot = flows.with(most, &reported, false).expect("a flow has it");
                flows.serve(slot);
                slot
            })
            .collect()
    }

    #[test]
    fn without_a_threshold_the_flow_of_one_packet_is_never_chosen() {
        let mut flows = flows(Threshold::Fixed(0), 20, &[1, 3]);
        assert_eq!(chosen(&mut flows, 100), [1; 100]);
    }

    #[test]
    fn below_the_threshold_two_flows_are_chosen_in_turn() {
        let mut flows = flows(Threshold::Fixed(10), 20, &[1, 3]);
        assert_eq!(chosen(&mut flows, 6), [0, 1, 0, 1, 0, 1]);
    }

    #[test]
    fn above_the_threshold_the_longer_queue_is_chosen_and_drops_when_the_buffer_is_full() {
        let mut flows = flows(Threshold::Share, 20, &[7, 12]);
        assert_eq!(flows.k_pkts(), 10);
        assert_eq!(chosen(&mut flows, 3), [1; 3]);
        assert_eq!(flows.longest(0), 1);
    }

    #[test]
    fn of_two_longest_queues_the_one_that_grew_last_drops() {
        let flows = flows(Threshold::Share, 20, &[10, 10, 1]);
        assert_eq!(flows.longest(0), 0);
        assert_eq!(flows.longest(1), 1);
        assert_eq!(flows.longest(2), 0);
    }

    #[test]
    fn the_threshold_is_the_buffer_divided_by_the_crossing_flows() {
        let mut flows = flows(Threshold::Share, 100, &[1, 1, 1]);
        assert_eq!(flows.k_pkts(), 33);
        let idle = Duration::from_secs(10);
        flows.pop_front(0);
        flows.forget(NOW + Duration::from_secs(9), idle);
        assert_eq!(flows.k_pkts(), 33);
        flows.forget(NOW + idle, idle);
        assert_eq!(flows.k_pkts(), 50);
    }

    /// Two flows and the acknowledgments of one of them.
    #[test]
    fn acknowledgments_have_no_share_of_the_buffer_unless_directions_are_counted() {
        for (k_counts, k_pkts, without_acks) in
            [(Sharing::Flows, 50, 50), (Sharing::Directions, 33, 50)]
        {
            let mut flows = Flows::new(&TcpAwareConfig {
                k_counts,
                ..TcpAwareConfig::default()
            });
            let back = Packet {
                reverse: true,
                ..packet(0)
            };
            for packet in [packet(0), back, packet(1)] {
                let slot = flows.add(packet.flow_key(), NOW);
                flows.push(slot, PacketId(slot as u32), &packet, NOW);
            }
            assert_eq!(flows.k_pkts(), k_pkts);
            flows.pop_front(1);
            let idle = Duration::from_secs(10);
            flows.forget(NOW + idle, idle);
            assert_eq!(flows.k_pkts(), without_acks);
        }
    }

    #[test]
    fn a_node_that_only_acknowledgments_cross_has_the_whole_buffer_as_its_threshold() {
        let mut flows = Flows::new(&TcpAwareConfig::default());
        let back = Packet {
            reverse: true,
            ..packet(0)
        };
        let slot = flows.add(back.flow_key(), NOW);
        flows.push(slot, PacketId(0), &back, NOW);
        assert_eq!(flows.k_pkts(), 100);
    }

    #[test]
    fn a_forgotten_flow_leaves_its_slot_to_another() {
        let mut flows = flows(Threshold::Share, 100, &[1, 1]);
        flows.pop_front(0);
        flows.forget(NOW + Duration::from_secs(10), Duration::from_secs(10));
        assert_eq!(flows.slot(packet(0).flow_key()), None);
        assert_eq!(flows.add(packet(7).flow_key(), NOW), 0);
        assert_eq!(flows.slot(packet(1).flow_key()), Some(1));
    }

    /// It comes back while the slot that it had is still free.
    #[test]
    fn a_flow_that_comes_back_is_not_forgotten_for_the_slot_that_it_had() {
        let idle = Duration::from_secs(10);
        let mut flows = flows(Threshold::Share, 100, &[1, 1]);
        flows.pop_front(0);
        flows.pop_front(1);
        flows.forget(NOW + idle, idle);
        let later = NOW + Duration::from_secs(60);
        let [back, other] = [0, 5].map(packet);
        assert_eq!(flows.add(back.flow_key(), later), 1);
        flows.push(1, PacketId(7), &back, later);
        flows.forget(later, idle);
        assert_eq!(flows.slot(back.flow_key()), Some(1));
        assert_eq!(flows.add(other.flow_key(), later), 0);
    }

    #[test]
    fn a_flow_is_not_chosen_towards_a_neighbour_with_a_larger_backlog() {
        let flows = flows(Threshold::Fixed(5), 20, &[8, 2]);
        assert_eq!(flows.most(&[8, 5], false), None);
        assert_eq!(flows.most(&[8, 4], false), Some(1));
        assert_eq!(flows.with(1, &[8, 4], false), Some(1));
    }
}
