//! Choices between the behaviours of different stacks.

use backlane_param::words;

words! {
    /// What one step of growth of the window stands for.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
    pub enum Growth {
        /// A packet acknowledged (RFC 3465 without a limit), as in Linux since 3.13 (slow start)
        /// and 4.0.
        #[default]
        Packets = "packets",
        /// An acknowledgment that advances, as in Linux before.
        Acknowledgments = "acknowledgments",
        /// As in ns-3: in slow start a segment for each acknowledgment that advances, and above the
        /// threshold `MSS² / window` whole bytes for each. A control with an additive increase of
        /// its own counts packets there.
        Ns3 = "ns3",
    }
}

words! {
    /// What the slow-start threshold is a share of, after a loss.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
    pub enum ThresholdFrom {
        /// The congestion window, as in Linux.
        #[default]
        Window = "window",
        /// What is in flight, without what is SACKed or marked lost, as in ns-3.
        Flight = "flight",
    }
}

words! {
    /// How the window falls in a recovery that reduces it in proportion.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
    pub enum RateReduction {
        /// By RFC 9937, as in Linux.
        #[default]
        Rfc9937 = "rfc9937",
        /// By RFC 6937 in products of bytes that wrap at 32 bits, as in ns-3 3.37.
        Ns3 = "ns3",
    }
}

words! {
    /// What begins a recovery after one that ended with losses left.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
    pub enum NextRecovery {
        /// The losses, at once.
        #[default]
        Losses = "losses",
        /// `duplicate_threshold` duplicates, as in ns-3; until then the window is the threshold, and
        /// what is lost may leave.
        Duplicates = "duplicates",
    }
}

words! {
    /// What leaves in a recovery with nothing lost and no new data left.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
    pub enum WithoutNewData {
        /// Nothing.
        #[default]
        Nothing = "nothing",
        /// What is not SACKed, once more (rule 3 of NextSeg, RFC 6675 §4), above the highest SACKed
        /// segment, too, as in ns-3.
        Unsacked = "unsacked",
    }
}

words! {
    /// Whether a retransmission that is SACKed has left the network.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
    pub enum SackedRetransmissions {
        /// It has.
        #[default]
        Arrived = "arrived",
        /// It counts as in flight until it is acknowledged, or a timeout, as in ns-3.
        InFlight = "in-flight",
    }
}

words! {
    /// Which acknowledgments give an RTT sample.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
    pub enum RttSamples {
        /// Each that acknowledges or SACKs a segment that was sent once; else the timestamp it
        /// echoes, in whole ticks. Linux since 2013.
        #[default]
        Segments = "segments",
        /// Each that advances, from the timestamp it echoes. Linux before.
        Timestamps = "timestamps",
        /// Each that advances and whose first segment was sent once, from the timestamp it echoes.
        /// ns-3.
        Advancing = "advancing",
    }
}

words! {
    /// The RTT that congestion controls get.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
    pub enum ControlRtt {
        /// The sample.
        #[default]
        Sample = "sample",
        /// The smoothed RTT at each acknowledgment that advances, as in ns-3.
        Smoothed = "smoothed",
    }
}

words! {
    /// What a retransmission timeout marks lost.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
    pub enum TimeoutMarks {
        /// What is not SACKed and was sent at least an RTT ago (RFC 8985 §6.3). Policies before
        /// RACK mark all that is not SACKed.
        #[default]
        Overdue = "overdue",
        /// All that is not SACKed, as in ns-3.
        Unsacked = "unsacked",
        /// All: SACKs are forgotten (RFC 2018 §8), and everything is sent again in order; SACKs of
        /// what was not yet sent again are ignored.
        All = "all",
    }
}

words! {
    /// What an acknowledgment below SND.UNA may still do.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
    pub enum OldAcks {
        /// Its SACK blocks count, and losses are detected by them. Linux since 3.3.
        #[default]
        Recovery = "recovery",
        /// Its SACK blocks count, and only the next acknowledgment looks for losses. D-SACKs undo
        /// nothing. Linux before.
        Scoreboard = "scoreboard",
        /// Nothing.
        Nothing = "nothing",
    }
}

words! {
    /// How many segments an acknowledgment out of the ordinary may release
    /// (`tcp_max_burst`).
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
    pub enum BurstLimit {
        /// As many as the threshold.
        #[default]
        Threshold = "threshold",
        /// Three, as in earlier kernels.
        Three = "three",
    }
}
