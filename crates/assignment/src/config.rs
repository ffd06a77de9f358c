//! The parameters of an assignment.

use backlane_param::{Id, choice, params, words};
use backlane_units::Rate;

params! {
    /// Gives the links over 802.11 their channels, rates and flow rates before the run.
    #[derive(Clone, Debug, PartialEq)]
    pub struct Config {
        /// Whether nodes and links say the channels, or the flow-based channel and rate assignment
        /// (FCRA) finds them.
        channels: ChannelSource = ChannelSource::Given;
        /// The channels that FCRA may use. Different channels do not hear each other; 802.11b and
        /// 802.11g have three that do not overlap.
        available: Vec<u8> = vec![1, 2, 3], in 1..=196;
        /// Radios of every node that does not say how many it has, for FCRA.
        radios: u8 = 2, in 1..=64;
        /// Whether links keep their rates, or FCRA lowers a rate where that makes fewer links
        /// disturb each other.
        rates: RateRule = RateRule::Fixed;
        /// Where the flow rates of the links come from: a linear program that gives the worst
        /// demand as much as possible and then all of them together; all links alike; the number
        /// of paths of the demands over each; or the links' own `flow_rate`.
        flow_rates: FlowRateSource = FlowRateSource::Throughput;
        /// Who sends to whom. Left out, the ends of the flows, each pair once.
        demands: Option<Vec<NamedDemand>>;
        /// What goes back for a TCP flow, as a share of what goes there. With 60 bytes for every
        /// second or every packet of 1500 it is 0.03 to 0.06 of the bytes on the air.
        ack_share: f64 = 0.05, in 0.0..=1.0;
        /// Paths are at most this many links longer than the shortest.
        extra_hops: u8 = 1, in 0..=8;
        /// Which links of a channel cannot be used at the same time.
        interference: InterferenceModel = InterferenceModel::default();
        /// Written out in a resolved scenario: what all flow rates were multiplied by so that they
        /// fit on the channels. Where it stands, nodes and links say all that was found, and
        /// nothing is computed.
        scale: Option<f64>, in 0.0..=1.0;
    }
}

words! {
    /// Where the channels of the links come from.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum ChannelSource {
        /// The configuration of nodes and links.
        Given = "given",
        /// FCRA.
        Fcra = "fcra",
    }
}

words! {
    /// Whether FCRA may lower the rates of links.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum RateRule {
        /// Links keep their rates.
        Fixed = "fixed",
        /// A rate is lowered where fewer links then interfere.
        Adjusted = "adjusted",
    }
}

words! {
    /// Where the flow rates of the links come from.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum FlowRateSource {
        /// A linear program: [`crate::throughput`].
        Throughput = "throughput",
        /// All links alike: [`crate::equal`].
        Equal = "equal",
        /// The number of paths over each: [`crate::by_paths`].
        Paths = "paths",
        /// The configuration of the links.
        Given = "given",
    }
}

params! {
    /// Who sends to whom.
    #[derive(Clone, Debug, PartialEq, Eq)]
    pub struct NamedDemand as "demand" {
        /// Where it begins.
        from: Id;
        /// Where it ends.
        to: Id;
        /// What must fit; left out, as much as does.
        rate: Option<Rate>;
    }
}

choice! {
    /// Which links of a channel cannot be used at the same time.
    #[derive(Clone, Copy, Debug, PartialEq)]
    pub enum InterferenceModel as "interference" {
        /// What decides.
        model = Hops;

        /// Links whose ends are near each other in the network.
        Hops = "hops" {
            /// Two links disturb each other when fewer hops than this lie between their nearest
            /// ends. 1: links with a common end; 2: also those with neighbouring ends, which is as
            /// far as RTS and CTS reach.
            hops: u8 = 2, in 1..=16;
        }
        /// Links whose senders disturb each other's receivers at their rates, by distance.
        Sinr = "sinr" {
            /// Power of the distance with which a signal weakens.
            exponent: f64 = 3.0, in 1.0..=8.0;
        }
        /// All links of a channel.
        All = "all";
    }
}
