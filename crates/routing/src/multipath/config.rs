//! What is pinned, and the constants.

use backlane_units::Duration;

use super::pins::Hold;

/// Which packets of a flow stay with the neighbour that the first of them chose. Data are what
/// goes from a flow's source to its destination, acknowledgments what comes back; the two
/// directions are pinned apart.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Allocation {
    /// None: every packet chooses.
    #[default]
    Packet,
    /// Data and acknowledgments.
    DataAck,
    /// Data; every acknowledgment chooses.
    Data,
    /// Acknowledgments; every packet of data chooses.
    Ack,
}

/// Configuration of L2.5R.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Config {
    /// What is pinned.
    pub allocation: Allocation,
    /// What is not pinned chooses only after a gap in its flow that is longer than this: a
    /// flowlet. `None`: every packet chooses.
    pub burst_gap: Option<Duration>,
    /// What is pinned chooses anew when its choice is so old. `None`: never while in use.
    pub repin_period: Option<Duration>,
    /// δ: a packet may take so many links more than there are on the shortest way from where it
    /// entered the mesh.
    pub extra_hops: u8,
    /// Whether a packet always goes to its exit where that is a neighbour.
    pub deliver_directly: bool,
    /// After so many frames in a row that the link layer gave up, a neighbour is left out.
    pub failure_threshold: u8,
    /// For how long it is left out.
    pub blacklist: Duration,
    /// Time constant with which the bytes sent are forgotten; `None` keeps them all.
    pub aging: Option<Duration>,
    /// A pinned flow without a packet for longer than this chooses anew.
    pub flow_idle: Duration,
}

impl Default for Config {
    fn default() -> Self {
        Self {
            allocation: Allocation::Packet,
            burst_gap: None,
            repin_period: None,
            extra_hops: 2,
            deliver_directly: true,
            failure_threshold: 3,
            blacklist: Duration::from_secs(5),
            aging: Some(Duration::from_secs(10)),
            flow_idle: Duration::from_secs(60),
        }
    }
}

impl Config {
    /// For how long a choice holds for the data of a flow, or for what comes back (`reverse`);
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
                age: self.repin_period,
            });
        }
        self.burst_gap.map(|gap| Hold { gap, age: None })
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
    fn a_burst_gap_holds_what_is_not_pinned_and_a_period_what_is() {
        let second = Duration::from_secs(1);
        let config = Config {
            allocation: Allocation::Data,
            burst_gap: Some(Duration::from_millis(5)),
            repin_period: Some(second),
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
