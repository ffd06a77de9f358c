//! The parameters of batman-adv.

use backlane_param::ranges::{MESSAGE_INTERVAL, SPAN};
use backlane_param::{params, words};
use backlane_units::Duration;

words! {
    /// The routing algorithm.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
    pub enum Version {
        /// The smallest rate on the path, with penalties for hops.
        #[default]
        V = "V",
        /// The share of OGMs that arrive, with penalties for hops.
        Iv = "IV",
    }
}

words! {
    /// The throughput of a radio link in version V.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
    pub enum Estimate {
        /// The rate of the last frame times the share of attempts that succeed, as rate control
        /// estimates it.
        #[default]
        Delivered = "delivered",
        /// A third of the rate of the last frame: what Linux uses of drivers without an estimate.
        ThirdOfRate = "third-of-rate",
    }
}

params! {
    /// batman-adv, the mesh routing of Linux on layer 2.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub struct Config {
        /// The algorithm: V compares rates, IV the share of broadcasts that arrive.
        version: Version = Version::V;
        /// Time between two OGMs of a node, with a jitter of 20 ms (batman-adv: 1 s).
        orig_interval: Duration = Duration::from_secs(1), in MESSAGE_INTERVAL;
        /// With version "V": time between two ELPs of a port, with a jitter of 20 ms (batman-adv:
        /// 500 ms).
        elp_interval: Duration = Duration::from_millis(500), in MESSAGE_INTERVAL;
        /// OGMs wait for others for this time, and share a frame of up to 512 bytes (batman-adv:
        /// 100 ms).
        aggregation: Duration = Duration::from_millis(100), in MESSAGE_INTERVAL;
        /// What a hop takes off the metric, of 255 (batman-adv: 30).
        hop_penalty: u32 = 30, in 0..=255;
        /// A neighbour without a sign for this time is forgotten (batman-adv: 200 s).
        purge_timeout: Duration = Duration::from_secs(200), in SPAN;
        /// The size of the TVLVs in an OGM, in bytes.
        ///
        /// 28 in a default build: a translation table with one VLAN (16), distributed ARP table (4),
        /// multicast (8).
        tvlv_bytes: u32 = 28, in 0..=400;
        /// With version "V": the throughput of a radio link.
        estimate: Estimate = Estimate::Delivered;
    }
}

impl Config {
    /// The penalty of a hop.
    pub(super) fn penalty(&self) -> u8 {
        self.hop_penalty.min(255) as u8
    }
}
