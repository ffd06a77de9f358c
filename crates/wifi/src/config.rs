//! The parameters of an 802.11 network, of its stations and of its links.
//!
//! The defaults are those of the standard; [`ns2`] and [`ns3`] list what ns-2's `Mac/802_11` and
//! ns-3's DCF have otherwise.

use std::ops::RangeInclusive;

use backlane_net::NodeId;
use backlane_param::{
    Issue, OneOrMany, OrOff, OrStandard, Queue, changed_defaults, choice, or_word, params, words,
};
use backlane_radio::path_loss::{MeshPathLoss, PathLossModel};
use backlane_radio::{FrameFading, Named, PathLoss, Position};
use backlane_units::{Bytes, Decibels, Duration, Frequency, Length, Power, Rate};

use crate::phy::{Preamble, Standard};

const POWER: RangeInclusive<Power> = Power::from_mdbm(-150_000)..=Power::from_mdbm(100_000);
const GAIN: RangeInclusive<Decibels> = Decibels::from_mdb(-50_000)..=Decibels::from_mdb(100_000);
const RATIO: RangeInclusive<Decibels> = Decibels::from_mdb(0)..=Decibels::from_mdb(100_000);
const NOISE_FIGURE: RangeInclusive<Decibels> = Decibels::from_mdb(0)..=Decibels::from_mdb(40_000);
const PROBABILITY: RangeInclusive<f64> = 0.0..=1.0;
const MAX_TIME: Duration = Duration::from_millis(1);
const TIME: RangeInclusive<Duration> = Duration::from_micros(1)..=MAX_TIME;
const LIFETIME: RangeInclusive<Duration> = Duration::from_millis(1)..=Duration::from_secs(1000);
const WINDOW: RangeInclusive<u16> = 0..=32_767;
const ATTEMPTS: RangeInclusive<u8> = 1..=255;
/// Channel numbers of 802.11 in all bands up to 5 GHz.
const CHANNELS: RangeInclusive<u8> = 1..=196;
const FREQUENCY: RangeInclusive<Frequency> =
    Frequency::from_hz(100_000_000)..=Frequency::from_hz(100_000_000_000);

params! {
    /// The 802.11 radios of the backhaul. Routers and eNodeBs have one radio for each of their
    /// channels; links with `medium = "wifi"` lead over them.
    #[derive(Clone, Debug, PartialEq)]
    pub struct WifiConfig {
        /// Whose behaviour the defaults are: that of the standard, that of ns-2's Mac/802_11 with
        /// its 250 m and 550 m, or that of ns-3's DCF.
        profile: Profile = Profile::Standard;
        /// Rates and times: OFDM at 5 GHz, CCK and DSSS at 2.4 GHz, OFDM at 2.4 GHz without 802.11b
        /// beside it, or 802.11b as ns-2 has it, with all control frames at 1 Mbit/s.
        standard: Standard = Standard::A;
        /// Rate of data frames to one station.
        rate: DataRate = DataRate::Highest;
        /// Rate of broadcasts; "lowest" is 6 Mbit/s with OFDM and 1 Mbit/s without.
        basic_rate: BasicRate = BasicRate::Lowest;
        /// Rate of RTS, CTS and ACK; "standard" is the highest mandatory rate that is not above
        /// that of the frame that they answer or announce.
        control_rate: OrStandard<Rate> = OrStandard::Standard;
        /// What a data frame has beyond the IP packet: MAC header and checksum of 28 bytes (IEEE
        /// 802.11), LLC and SNAP of 8 (RFC 1042).
        overhead: Bytes = Bytes::new(36), in Bytes::new(0)..=Bytes::new(1000);
        /// Frames to one station that are larger, headers included, are announced by RTS and CTS;
        /// "0 B" announces all.
        rts_threshold: OrOff<Bytes> = OrOff::Off, in Bytes::new(0)..=Bytes::new(65_535);
        /// Attempts of a frame within the RTS threshold, and of an RTS (dot11ShortRetryLimit).
        short_retry: u8 = 7, in ATTEMPTS;
        /// Attempts of a frame above the RTS threshold (dot11LongRetryLimit).
        long_retry: u8 = 4, in ATTEMPTS;
        /// Length of a slot: 9 µs with 802.11a, 20 µs with 802.11b.
        slot: OrStandard<Duration> = OrStandard::Standard, in TIME;
        /// Short interframe space: 16 µs with 802.11a, 10 µs with 802.11b.
        sifs: OrStandard<Duration> = OrStandard::Standard, in TIME;
        /// How long after the beginning of a frame another station may still begin one, since it
        /// has not sensed the first.
        ///
        /// The standard's time for CCA and for the turnaround from receiving to sending.
        sensing_delay: OrStandard<Duration> = OrStandard::Standard, in Duration::ZERO..=MAX_TIME;
        /// How long a station waits for CTS or ACK after the end of its frame.
        answer_wait: AnswerWait = AnswerWait::Response;
        /// When a packet is sent that comes to a station without another.
        arrival: Arrival = Arrival::Standard;
        /// How long a packet may wait and be attempted before it is dropped.
        lifetime: OrOff<Duration> = OrOff::Off, in LIFETIME;
        /// Whether routing gets a packet dropped for its age reported as a failure of the link, as
        /// ns-3's AODV does.
        report_expiry: bool = false;
        /// First contention window, in slots: 15 with OFDM, 31 with 802.11b.
        cw_min: OrStandard<u16> = OrStandard::Standard, in WINDOW;
        /// Largest contention window, in slots: 1023.
        cw_max: OrStandard<u16> = OrStandard::Standard, in WINDOW;
        /// Preamble and header of DSSS and CCK: 192 µs or 96 µs; frames at 1 Mbit/s are always
        /// long.
        preamble: Preamble = Preamble::Long;
        /// Whether a frame that could not be decoded is followed by the extended interframe space.
        eifs: bool = true;
        /// The queue before each radio.
        ///
        /// The frame in service does not count.
        queue: Queue = Queue::packets(100);
        /// Whether routing messages have a queue of their own before each radio, served first.
        routing_first: bool = false;
        /// Whether messages that ride on data frames for others are heard.
        promiscuous: bool = true;
        /// Transmit power of a radio: 40 mW.
        power: Power = Power::from_mdbm(16_000), in POWER;
        /// Gain of each antenna, in all directions.
        antenna_gain: Decibels = Decibels::from_mdb(0), in GAIN;
        /// Height of the antennas.
        antenna_height: Length = Length::from_um(1_500_000), in Length::from_um(1)..;
        /// Carrier frequency for path loss; "standard" is 5.18 GHz with 802.11a and 2.437 GHz else.
        frequency: OrStandard<Frequency> = OrStandard::Standard, in FREQUENCY;
        /// Loss over distance.
        path_loss: Named<MeshPathLoss, dyn PathLossModel> = Named::Known(MeshPathLoss::default());
        /// Fading, drawn for each frame and receiver.
        fading: FrameFading = FrameFading::default();
        /// When a frame is decoded.
        reception: Reception = Reception::default();
        /// A receiver leaves the frame that it receives for a later one that is so much stronger
        /// than all else on the channel; not with reception "pairwise".
        recapture: OrOff<Decibels> = OrOff::Off, in RATIO;
        /// What is received with at least so much makes the channel busy.
        ///
        /// The CCA threshold.
        carrier_sense: Power = Power::from_mdbm(-82_000), in POWER;
        /// The channels of every node that has none of its own, with a radio on each. Different
        /// channels do not hear each other.
        channels: Vec<u8> = vec![1], in CHANNELS;
        /// Who is linked: the links of the topology with `medium = "wifi"`, or besides them all
        /// pairs on a common channel that decode each other's frames at least once in a hundred
        /// without interference.
        neighbours: Neighbours = Neighbours::Listed;
        /// Probability that an attempt on a lossy link is lost. Given, all listed links work
        /// at any length, and those that are not lossy lose frames by collisions only.
        loss: Option<f64> = None, in PROBABILITY;
        /// Which listed links are lossy: "all", or links "a-b".
        lossy_links: OneOrMany<String> = OneOrMany(vec!["all".to_owned()]);
        /// The share of them that is lossy, drawn in every run.
        lossy_share: f64 = 1.0, in PROBABILITY;
        /// The loss of a lossy link: `loss` on all, or uniform from zero to `loss`, drawn for each
        /// link and run.
        loss_law: LossLaw = LossLaw::Same;
        /// Whether RTS, CTS and ACK of a lossy link are lost as its data is.
        control_loss: bool = false;
    }
    rules WifiConfig::contradictions;
}

words! {
    /// The simulator whose behaviour the defaults are.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum Profile {
        /// The standard.
        Standard = "standard",
        /// ns-2.
        Ns2 = "ns2",
        /// ns-3.
        Ns3 = "ns3",
    }
}

words! {
    /// How long a station waits for an answer.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum AnswerWait {
        /// SIFS and an ACK at the lowest rate: with DIFS, as long as the extended interframe space
        /// that others wait.
        Response = "response",
        /// SIFS, a slot, and preamble and header of the answer; longer if a frame is being received
        /// then, to its end.
        Preamble = "preamble",
    }
}

words! {
    /// When a packet is sent that comes to a station without another.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum Arrival {
        /// At once if the channel has been idle for DIFS, after a back-off if it is busy. A frame
        /// that the station has yet to acknowledge counts as busy.
        Standard = "standard",
        /// As in ns-3: DIFS after its arrival on an idle channel; a frame that the station has yet
        /// to acknowledge does not count, so that a relay sends DIFS after its own ACK.
        Ns3 = "ns3",
    }
}

words! {
    /// Which stations are linked.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum Neighbours {
        /// Those that the topology links.
        Listed = "listed",
        /// Besides them, all pairs in range.
        InRange = "in-range",
    }
}

words! {
    /// How the losses of lossy links differ.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum LossLaw {
        /// They are the same.
        Same = "same",
        /// Each is uniform from zero to the given loss.
        Uniform = "uniform",
    }
}

or_word! {
    /// The rate of unicast data frames.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum DataRate {
        /// The highest rate of the standard.
        Highest = "highest",
        /// This rate.
        Fixed(Rate),
    }
}

or_word! {
    /// The rate of broadcasts.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum BasicRate {
        /// The lowest rate of the standard's own modulation.
        Lowest = "lowest",
        /// This rate.
        Fixed(Rate),
    }
}

choice! {
    /// When a frame is decoded.
    #[derive(Clone, Copy, Debug, PartialEq)]
    pub enum Reception as "reception" {
        /// What decides.
        model = ErrorRate;

        /// The error probability at the frame's rate and its ratio of signal to interference and
        /// noise.
        ///
        /// Errors are drawn over all parts of the frame between which the interference changes.
        ErrorRate = "error-rate" {
            /// The least power at which a preamble is found.
            sensitivity: Power = Power::from_mdbm(-82_000), in POWER;
            /// Noise figure of the receivers.
            noise_figure: Decibels = Decibels::from_mdb(7_000), in NOISE_FIGURE;
        }
        /// The frame's power, at all rates alike.
        ///
        /// A frame is decoded if it is `capture` stronger than the sum of all others, throughout.
        Threshold = "threshold" {
            /// The least power.
            sensitivity: Power, in POWER;
            /// A frame that is so much stronger than all else on the channel together is decoded;
            /// "off": only one that has the channel for itself.
            capture: OrOff<Decibels> = OrOff::Off, in RATIO;
        }
        /// ns-2's rule: a station takes up the first frame that it senses and loses it if another
        /// comes that is not so much weaker; the later one is lost in any case.
        ///
        /// Powers are compared in pairs and not added up.
        Pairwise = "pairwise" {
            /// The least power.
            sensitivity: Power, in POWER;
            /// How much.
            capture: Decibels = Decibels::from_mdb(10_000), in RATIO;
        }
    }
}

changed_defaults! {
    /// What ns-2.35's `Mac/802_11` and `Phy/WirelessPhy` have otherwise (its
    /// `tcl/lib/ns-default.tcl`): RTS before every unicast frame, two-ray ground at 914 MHz, frames
    /// decoded to 250 m and sensed to 550 m, capture at 10 dB, no LLC header, control frames and
    /// broadcasts at 1 Mbit/s; and the queue of its wireless scripts.
    pub fn ns2() = "ns2" {
        standard = Standard::Dsss;
        // The radio that these thresholds are of, WaveLAN at 914 MHz, sends 2 Mbit/s.
        rate = DataRate::Fixed(Rate::from_bps(2_000_000));
        overhead = Bytes::new(28);
        rts_threshold = OrOff::Value(Bytes::new(0));
        // 0.28183815 W.
        power = Power::from_mdbm(24_500);
        frequency = OrStandard::Value(Frequency::from_hz(914_000_000));
        path_loss.model = "two-ray".to_owned();
        // 3.652e-10 W: 250 m, and 1.559e-11 W: 550 m.
        reception.model = "pairwise".to_owned();
        reception.sensitivity = Power::from_mdbm(-64_375);
        carrier_sense = Power::from_mdbm(-78_072);
        queue = Queue::packets(50);
        // Queue/DropTail/PriQueue with Prefer_Routing_Protocols, as its wireless scripts have it.
        routing_first = true;
    }
}

changed_defaults! {
    /// What ns-3.37's DCF without QoS has otherwise (`ChannelAccessManager`,
    /// `FrameExchangeManager`, `WifiMacQueue`, `ThresholdPreambleDetectionModel`).
    pub fn ns3() = "ns3" {
        // A frame is sensed once its preamble is found.
        sensing_delay = OrStandard::Value(Duration::from_micros(4));
        answer_wait = AnswerWait::Preamble;
        arrival = Arrival::Ns3;
        lifetime = OrOff::Value(Duration::from_millis(500));
        report_expiry = true;
        queue = Queue::packets(500);
    }
}

impl WifiConfig {
    /// A network of this standard at this data rate.
    pub fn new(standard: Standard, rate: Rate) -> Self {
        Self {
            standard,
            rate: DataRate::Fixed(rate),
            ..Self::default()
        }
    }

    /// A network as [`ns2`] has it, at this data rate.
    ///
    /// # Panics
    ///
    /// If a value of [`ns2`] is none of its key; a test reads them.
    pub fn ns2(rate: Rate) -> Self {
        let config = ns2().apply(&Self::default());
        let config = config.unwrap_or_else(|mismatch| panic!("{mismatch}"));
        Self {
            profile: Profile::Ns2,
            rate: DataRate::Fixed(rate),
            ..config
        }
    }

    /// A network of this standard as [`ns3`] has it, at this data rate.
    ///
    /// # Panics
    ///
    /// If a value of [`ns3`] is none of its key; a test reads them.
    pub fn ns3(standard: Standard, rate: Rate) -> Self {
        let config = ns3().apply(&Self::new(standard, rate));
        let config = config.unwrap_or_else(|mismatch| panic!("{mismatch}"));
        Self {
            profile: Profile::Ns3,
            ..config
        }
    }

    /// The rate of unicast data frames.
    pub fn data_rate(&self) -> Rate {
        match self.rate {
            DataRate::Fixed(rate) => rate,
            DataRate::Highest => self.standard.highest_rate(),
        }
    }

    /// The rate of broadcasts.
    pub fn broadcast_rate(&self) -> Rate {
        match self.basic_rate {
            BasicRate::Fixed(rate) => rate,
            BasicRate::Lowest => self.standard.broadcast_rate(),
        }
    }

    /// The first contention window and the largest.
    pub(crate) fn contention_windows(&self) -> [u32; 2] {
        let own = [self.cw_min, self.cw_max].map(|window| window.value().map(u32::from));
        let standard = [self.standard.cw_min(), self.standard.cw_max()];
        [own[0].unwrap_or(standard[0]), own[1].unwrap_or(standard[1])]
    }

    /// The path loss at the carrier.
    pub fn propagation(&self) -> PathLoss {
        let frequency = self.frequency.value();
        let frequency = frequency.unwrap_or(self.standard.frequency());
        self.path_loss.at(frequency, self.antenna_height)
    }

    /// Bounds in the wrong order, and keys that exclude each other.
    fn contradictions(&self) -> Vec<Issue> {
        let mut issues = Vec::new();
        let [min, max] = self.contention_windows();
        if min > max {
            let keys: &[&str] = match self.cw_min {
                OrStandard::Value(_) => &["cw_min"],
                OrStandard::Standard => &["cw_max"],
            };
            issues.push(Issue::new(
                keys,
                format!("cw_min is {min}, more than cw_max, {max}"),
                "the first contention window is not above the largest",
            ));
        }
        let is_pairwise = matches!(self.reception, Reception::Pairwise { .. });
        if is_pairwise && self.recapture != OrOff::Off {
            issues.push(Issue::sentence(
                &["recapture"],
                "a receiver by ns-2's rule never turns to a later frame",
                "remove it, or write reception = { model = \"threshold\", … }",
            ));
        }
        let (sensitivity, sensed) = (self.reception.sensitivity(), self.carrier_sense);
        if sensed > sensitivity {
            issues.push(Issue::sentence(
                &["carrier_sense"],
                format!(
                    "a frame could be decoded from {sensitivity} on and sensed only from {sensed} \
                     on"
                ),
                format!("write at most \"{sensitivity}\", or raise the sensitivity"),
            ));
        }
        issues
    }
}

impl Reception {
    /// The minimum power of a frame that is decoded.
    pub const fn sensitivity(&self) -> Power {
        match *self {
            Self::Threshold { sensitivity, .. }
            | Self::Pairwise { sensitivity, .. }
            | Self::ErrorRate { sensitivity, .. } => sensitivity,
        }
    }
}

/// A station: a node with a radio for each of its channels.
#[derive(Clone, Debug, PartialEq)]
pub struct StationConfig {
    /// The router.
    pub node: NodeId,
    /// Names its random streams.
    pub name: String,
    /// Where it is.
    pub position: Position,
    /// The channel of each radio; no channel twice. Channels do not disturb each other.
    pub channels: Vec<u8>,
}

/// A link between two stations.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct WifiLinkConfig {
    /// Index of one station.
    pub a: usize,
    /// Index of the other.
    pub b: usize,
    /// A channel that both have.
    pub channel: u8,
    /// The probability that an attempt of a data frame is lost, in either direction and at any
    /// distance: propagation then decides only carrier sense and interference. [`None`]:
    /// propagation decides.
    pub loss: Option<f64>,
    /// In place of the network's rate of data frames.
    pub rate: Option<Rate>,
}

#[cfg(test)]
mod tests {
    use backlane_param::Params;
    use backlane_radio::Sight;

    use super::*;

    /// The 3.652e-10 W and 1.559e-11 W of ns-2 are the powers at 250 m and 550 m.
    #[test]
    fn ns2_decodes_frames_to_250_m_and_senses_them_to_550_m() {
        let config = WifiConfig::ns2(Rate::from_bps(2_000_000));
        let law = config.propagation();
        let received_dbm = |x_m: f64| {
            let there = Position::new(x_m, 0.0, 0.0);
            config.power.as_dbm_f64() - law.loss_db(Position::default(), there, Sight::Clear)
        };
        let ranges = [
            (config.reception.sensitivity(), 250.0),
            (config.carrier_sense, 550.0),
        ];
        for (threshold, range_m) in ranges {
            assert!(received_dbm(range_m) >= threshold.as_dbm_f64());
            assert!(received_dbm(range_m + 0.1) < threshold.as_dbm_f64());
        }
    }

    #[test]
    fn keys_that_contradict_each_other_are_issues() {
        let keys = |config: &WifiConfig| {
            let issues = config.issues();
            issues
                .iter()
                .flat_map(|issue| issue.keys)
                .copied()
                .collect::<Vec<_>>()
        };
        let standard = WifiConfig::default();
        assert_eq!(keys(&standard), [""; 0]);
        let window = WifiConfig {
            cw_max: OrStandard::Value(7),
            ..standard.clone()
        };
        assert_eq!(keys(&window), ["cw_max"]);
        let deaf = WifiConfig {
            carrier_sense: Power::from_mdbm(-60_000),
            ..standard
        };
        assert_eq!(keys(&deaf), ["carrier_sense"]);
        let turning = WifiConfig {
            recapture: OrOff::Value(Decibels::from_mdb(10_000)),
            ..WifiConfig::ns2(Rate::from_bps(2_000_000))
        };
        assert_eq!(keys(&turning), ["recapture"]);
    }
}
