//! What is pinned, and the constants.

use backlane_param::ranges::SPAN;
use backlane_param::{OrOff, params, words};
use backlane_units::Duration;

use super::pins::Hold;

words! {
    /// Which packets of a flow stay with the neighbour that the first of them chose. Data are what
    /// goes from a flow's source to its destination, acknowledgments what comes back; the two
    /// directions are pinned apart.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
    pub enum Allocation {
        /// None: every packet chooses.
        #[default]
        Packet = "packet",
        /// Data and acknowledgments.
        DataAck = "data+ack",
        /// Data; every acknowledgment chooses.
        Data = "data",
        /// Acknowledgments; every packet of data chooses.
        Ack = "ack",
    }
}

words! {
    /// How routers learn the links of the network.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
    pub enum RouteDiscovery {
        /// Distances are known before the run and constant.
        #[default]
        Given = "given",
        /// By HELLOs and flooded link states; lost links are left out of the paths.
        Messages = "messages",
    }
}

params! {
    /// Traffic over many paths in proportion to flow rates, per packet or with pinned flows.
    #[derive(Clone, Copy, Debug, PartialEq)]
    pub struct Config {
        /// What stays with the neighbour that the first packet of its flow chose, at every node:
        /// nothing; data and acknowledgments; only what goes from a flow's source to its
        /// destination; only what comes back.
        allocation: Allocation = Allocation::Packet;
        /// Packets that are not pinned choose only when the last one of their flow left longer ago
        /// than this, and else follow it; "off": every packet chooses.
        burst_gap: OrOff<Duration> = OrOff::Off, in SPAN;
        /// A pinned flow chooses again when its choice has this age; "off": never while it is in
        /// use.
        repin_period: OrOff<Duration> = OrOff::Off, in SPAN;
        /// Whether the distances between nodes are known before the run, or routers learn them by
        /// messages and keep them up to date.
        discovery: RouteDiscovery = RouteDiscovery::Given;
        /// Time between the HELLOs of a node, less up to a quarter at random; with discovery by
        /// messages. AODV's and most protocols' value.
        hello_interval: Duration = Duration::from_secs(1), in SPAN;
        /// A neighbour is lost when it was silent for more than this many intervals.
        hello_loss: u8 = 3, in 1..=255;
        /// Time after which a node floods its links again. Link states lapse after three times
        /// this, as OLSR's do (RFC 3626 §18.3).
        refresh: Duration = Duration::from_secs(5), in SPAN;
        /// Links that a packet may take beyond the shortest path from its first router: 2 permits
        /// paths of 4 links where the shortest has 2. The paper limits them without a number.
        extra_hops: u8 = 2, in 0..=32;
        /// Whether a packet always goes to its last router where that is a neighbour. Else it may
        /// pass through others, as its budget allows.
        deliver_directly: bool = true;
        /// A neighbour is excluded after this many consecutive frames that the link layer gave up.
        /// The paper has no number; collisions alone cause one or two.
        failure_threshold: u8 = 3, in 1..=255;
        /// Duration of the exclusion; then one packet tries the neighbour. The paper has no number:
        /// a station that starts again takes seconds.
        blacklist: Duration = Duration::from_secs(5), in SPAN;
        /// Time constant with which the bytes sent to a neighbour are forgotten, so that what was
        /// long ago decides nothing; "off" keeps them all, as published.
        aging: OrOff<Duration> = OrOff::Value(Duration::from_secs(10)), in SPAN;
        /// A pinned flow that was silent for longer than this chooses again. The paper has no
        /// number; a TCP sender that retransmits is seldom silent for a minute.
        flow_idle: Duration = Duration::from_secs(60), in SPAN;
    }
}

impl Config {
    /// How long a choice holds for the data of a flow, or for its acknowledgments (`reverse`);
    /// `None` where every packet chooses.
    pub(super) fn hold(&self, reverse: bool) -> Option<Hold> {
        let pinned = match self.allocation {
            Allocation::Packet => false,
            Allocation::DataAck => true,
            Allocation::Data => !reverse,
            Allocation::Ack => reverse,
        };
        if pinned {
            return Some(Hold {
                gap: self.flow_idle,
                age: self.repin_period.value(),
            });
        }
        self.burst_gap.value().map(|gap| Hold { gap, age: None })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_allocation_pins_the_directions_that_its_name_says() {
        for (allocation, data, ack) in [
            (Allocation::Packet, false, false),
            (Allocation::DataAck, true, true),
            (Allocation::Data, true, false),
            (Allocation::Ack, false, true),
        ] {
            let config = Config {
                allocation,
                ..Config::default()
            };
            let pinned = [false, true].map(|reverse| config.hold(reverse).is_some());
            assert_eq!(pinned, [data, ack], "{allocation:?}");
        }
    }

    #[test]
    fn a_burst_gap_applies_to_unpinned_flows_and_a_period_to_pinned_ones() {
        let second = Duration::from_secs(1);
        let config = Config {
            allocation: Allocation::Data,
            burst_gap: OrOff::Value(Duration::from_millis(5)),
            repin_period: OrOff::Value(second),
            ..Config::default()
        };
        let data = Hold {
            gap: Duration::from_secs(60),
            age: Some(second),
        };
        let ack = Hold {
            gap: Duration::from_millis(5),
            age: None,
        };
        assert_eq!(config.hold(false), Some(data));
        assert_eq!(config.hold(true), Some(ack));
    }
}
