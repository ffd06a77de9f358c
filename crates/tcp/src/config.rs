//! What can be set on a connection. The defaults are Linux's.

use backlane_param::ranges::INTERVAL;
use backlane_param::{
    Issue, OrInfinite, OrOff, OrUnlimited, Params, Profile, Section, no_key, params, words,
};
use backlane_units::{Bytes, Duration};
use std::ops::RangeInclusive;

use crate::choices::{
    BurstLimit, ControlRtt, Growth, NextRecovery, OldAcks, RateReduction, RttSamples,
    SackedRetransmissions, ThresholdFrom, TimeoutMarks, WithoutNewData,
};
use crate::congestion::CongestionControlConfig;
use crate::receive_memory::OVERHEAD_BYTES;
use crate::stack::Stack;

/// RFC 7323 §2.3 allows windows of 1 GiB.
const RECEIVE_WINDOW: RangeInclusive<Bytes> = Bytes::new(2048)..=Bytes::new(1 << 30);
const SEND_BUFFER: RangeInclusive<Bytes> = Bytes::new(2048)..=Bytes::new(1_000_000_000_000_000_000);

words! {
    /// How the retransmission timeout follows from the RTT samples.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
    pub enum RtoLaw {
        /// Linux: the largest deviation of each round trip, with `min_rto` as the floor of the
        /// variance term, so that the timeout is at least the RTT plus `min_rto`.
        #[default]
        Linux = "linux",
        /// RFC 6298 §2 with `min_rto` as the floor of the whole timeout, as in ns-3.
        Rfc6298 = "rfc6298",
    }
}

words! {
    /// How much reordering is tolerated before a segment counts as lost: the policy of loss
    /// detection.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
    pub enum Reordering {
        /// RFC 6675 with a fixed threshold: lost retransmissions are not detected, nothing is
        /// undone.
        Fixed = "fixed",
        /// Linux of 2008 to 2011 (2.6.26 to 3.1): FACK until reordering is seen, then a threshold
        /// that grows with it, up to 127, and falls back with a timeout; rate halving; undo by
        /// D-SACK and timestamps.
        LinuxLegacy = "linux-legacy",
        /// The same stack without its protection against reordering: FACK with a threshold that
        /// stays as it is; nothing is undone, and there is no F-RTO.
        LinuxUnprotected = "linux-unprotected",
        /// Linux 4.4 (2016): FACK and a threshold that grows with the reordering seen, up to 300,
        /// for the first loss; RACK without a timer within a recovery; undo by D-SACK and
        /// timestamps.
        Linux44 = "linux-4.4",
        /// RACK (RFC 8985) as in Linux 6.1: time order and a window of a quarter of the smallest
        /// RTT, widened by D-SACKs; undo by D-SACK and timestamps.
        #[default]
        Rack = "rack",
        /// TCP-NCR (RFC 4653), careful extended limited transmit: one new segment for two that
        /// arrived, loss after two thirds of the flight.
        NcrCareful = "ncr-careful",
        /// TCP-NCR (RFC 4653), aggressive: one new segment for each, loss after half the flight.
        NcrAggressive = "ncr-aggressive",
        /// RR-TCP (Zhang and others, 2003): a threshold from a histogram of how late segments
        /// were, such that a chosen share of late segments is not taken for lost; undo by D-SACK.
        Rr = "rr",
        /// TCP-PR (Bohacek and others, 2003): a segment is lost when it has been out for several
        /// times the largest recent RTT; the order of arrivals plays no part.
        Pr = "pr",
    }
}

params! {
    /// TCP-PR (reordering = "pr"): a segment is lost when its deadline has passed.
    ///
    /// The defaults are those of the paper.
    #[derive(Clone, Copy, Debug, PartialEq)]
    pub struct PrConfig as "tcp.pr" {
        /// What is left of the envelope of the RTT after one RTT without a higher sample.
        alpha: f64 = 0.995, in 0.5..=1.0;
        /// The deadline in envelopes.
        beta: f64 = 3.0, in 1.0..=100.0;
    }
}

params! {
    /// RR-TCP (reordering = "rr"): a threshold from how late segments were.
    ///
    /// The defaults are chosen here; the paper does not give its steps.
    #[derive(Clone, Copy, Debug, PartialEq)]
    pub struct RrConfig as "tcp.rr" {
        /// The share of late segments that shall not be taken for lost, at the beginning.
        avoided: f64 = 0.9, in 0.0..=1.0;
        /// How much that share moves for a mistake that cost one window of packets; 0 holds it.
        step: f64 = 0.01, in 0.0..=1.0;
    }
}

words! {
    /// Whether congestion marks are used, if the peer agrees.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
    pub enum Ecn {
        /// Not asked for and not granted.
        #[default]
        Off = "off",
        /// RFC 3168: a mark is echoed until the sender signals that it has reduced its window.
        Classic = "classic",
        /// RFC 8257 §3.2: each acknowledgment says whether the data it covers was marked.
        Exact = "exact",
    }
}

/// The seed of the draws of a congestion control.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Seed(pub u64);

no_key!(Seed);
no_key!(CongestionControlConfig);

params! {
    /// The configuration of a connection; [`Default`] is Linux 6.1 with 1500-byte packets.
    #[derive(Clone, Debug, PartialEq)]
    pub struct Config {
        /// The congestion control and its parameters.
        congestion_control: CongestionControlConfig = CongestionControlConfig::default();
        /// Seeds the draws of congestion controls that draw (CDG, BBR); give each connection its
        /// own.
        random_seed: Seed = Seed::default();
        /// Payload of a full segment.
        mss: Bytes = Bytes::new(1448), in Bytes::new(88)..=Bytes::new(65_495);
        /// Initial congestion window (RFC 6928).
        initial_window_pkts: u32 = 10, in 1..=10_000;
        /// Initial slow-start threshold.
        initial_ssthresh_pkts: OrInfinite<u32> = OrInfinite::Infinite, in 2..=1_000_000_000;
        /// Whether min_rto bounds the variance term, as in Linux, or the whole timeout (RFC 6298
        /// §2.4).
        rto: RtoLaw = RtoLaw::Linux;
        /// Lower bound of the retransmission timeout.
        ///
        /// [`RtoLaw`] says what it bounds.
        min_rto: Duration = Duration::from_millis(200), in INTERVAL;
        /// Retransmission timeout before the first RTT sample (RFC 6298 §2.1).
        initial_rto: Duration = Duration::from_secs(1), in INTERVAL;
        /// Upper bound of the retransmission timeout.
        ///
        /// Back-off included.
        max_rto: Duration = Duration::from_secs(120), in INTERVAL;
        /// How often a SYN is sent again.
        ///
        /// Then the connection fails. The same holds for a SYN-ACK.
        syn_retries: u32 = 6, in 0..=127;
        /// Whether a window starts at one packet after more than one lost SYN (RFC 5681 §3.1).
        ///
        /// ns-3 has no such rule.
        lost_syns_reduce_window: bool = true;
        /// Timeouts in a row before a connection fails.
        ///
        /// Linux: `tcp_retries2`.
        retries: u32 = 15, in 1..=1000;
        /// Segments acknowledged together; 1 acknowledges each at once (RFC 1122 §4.2.3.2).
        delayed_ack_segments: u32 = 2, in 1..=255;
        /// Shortest wait of an acknowledgement for the next segment; Linux adapts it to the
        /// arrivals.
        ///
        /// Linux: `TCP_ATO_MIN`.
        delayed_ack_min: Duration = Duration::from_millis(40), in INTERVAL;
        /// Longest wait of an acknowledgement; equal to delayed_ack_min for a fixed one.
        delayed_ack_max: Duration = Duration::from_millis(200), in INTERVAL;
        /// Whether the first segments of a connection are acknowledged at once.
        ///
        /// Linux: 16 segments.
        quick_ack: bool = true;
        /// Whether the first segment with data of a connection is acknowledged at once, as in ns-3.
        ///
        /// [`quick_ack`](Self::quick_ack) includes it.
        acks_first_at_once: bool = false;
        /// Selective acknowledgements (RFC 2018). Without them reordering is "fixed", and there is
        /// no probe and no F-RTO.
        sack: bool = true;
        /// Whether duplicate acknowledgements of a hole are merged, as Linux does.
        ///
        /// After the first three of a hole, up to 44 share one, sent within 1 ms or 5 % of the RTT.
        sack_compression: bool = true;
        /// Timestamps (RFC 7323).
        ///
        /// They take 12 bytes of each segment.
        timestamps: bool = true;
        /// Whether what left more than a timestamp_tick before the newest data in order is refused
        /// (PAWS, RFC 7323); needs timestamps.
        paws: bool = true;
        /// One tick of the clock of the timestamps, which PAWS and the undo by timestamps see: 1 ms
        /// in Linux 6.1, 1/HZ before 4.13 ("4 ms" for HZ = 250). RFC 7323 allows up to 1 s.
        ///
        /// RTT samples from timestamps have this resolution, too. Part of a microsecond is cut off.
        timestamp_tick: Duration = Duration::from_millis(1),
            in Duration::from_micros(1)..=Duration::from_secs(1);
        /// Which acknowledgements give an RTT sample: those of any segment sent once, those that
        /// advance, or those that advance over a first segment that was sent once.
        ///
        /// Linux since 2013; Linux before, and reordering = "linux-legacy" in any case; ns-3.
        rtt_samples: RttSamples = RttSamples::Segments;
        /// The RTT that congestion controls get: the sample, or as in ns-3 the smoothed RTT.
        control_rtt: ControlRtt = ControlRtt::Sample;
        /// What one step of the window's growth stands for: a packet acknowledged, an
        /// acknowledgement, or ns-3's rule for an acknowledgement.
        growth: Growth = Growth::Packets;
        /// Whether a window that does not limit the flow stays as it is (RFC 7661).
        ///
        /// ns-3 grows it regardless.
        window_validation: bool = true;
        /// What the threshold after a loss is a share of: the window, or what is in flight.
        threshold_from: ThresholdFrom = ThresholdFrom::Window;
        /// How the window falls in a recovery: by RFC 9937, or as in ns-3 3.37, where products of
        /// bytes wrap at 32 bits.
        ///
        /// Linux's of 2008 to 2011 halves the rate instead.
        rate_reduction: RateReduction = RateReduction::Rfc9937;
        /// What begins a recovery after one that ended with losses left: the losses, or
        /// duplicate_threshold duplicates, as in ns-3. Only with reordering = "fixed".
        next_recovery: NextRecovery = NextRecovery::Losses;
        /// What leaves in a recovery with nothing lost and no new data left: nothing, or what is
        /// not SACKed once more (RFC 6675 §4), as in ns-3.
        without_new_data: WithoutNewData = WithoutNewData::Nothing;
        /// Whether a retransmission that is SACKed has arrived, or counts as in flight until it is
        /// acknowledged, as in ns-3.
        sacked_retransmissions: SackedRetransmissions = SackedRetransmissions::Arrived;
        /// What a retransmission timeout marks lost: what was not SACKed and is older than an RTT,
        /// all that was not SACKed, or all.
        timeout_marks: TimeoutMarks = TimeoutMarks::Overdue;
        /// Whether a timeout within a recovery reduces the threshold once more, as in ns-3.
        timeout_cuts_again: bool = false;
        /// Whether in a recovery only the first partial acknowledgement restarts the retransmission
        /// timer (RFC 6582 §4, "impatient"), and no retransmission, as in ns-3.
        impatient: bool = false;
        /// What an acknowledgement older than the last one may still do: its SACK blocks reveal
        /// losses, only mark what arrived, or it does nothing.
        ///
        /// Linux since 3.3, and before (`tcp_ack`, `old_ack`).
        old_acks: OldAcks = OldAcks::Recovery;
        /// Limited transmit (RFC 3042).
        limited_transmit: bool = true;
        /// Duplicate acknowledgements that start a recovery.
        ///
        /// Or segments that SACK blocks cover.
        duplicate_threshold: u32 = 3, in 1..=255;
        /// How much reordering is borne: a fixed threshold (RFC 6675), Linux of 2008 to 2011 (a
        /// threshold that grows), the same without protection (a threshold that stays), Linux 4.4
        /// (the first and RACK), RACK as in Linux 6.1 (RFC 8985), TCP-NCR (RFC 4653), careful or
        /// aggressive, RR-TCP, or TCP-PR, which has deadlines and no threshold.
        ///
        /// Needs `sack`, without which it is NewReno (RFC 6582).
        reordering: Reordering = Reordering::Rack;
        /// How many segments an acknowledgement may release outside Open with reordering =
        /// "linux-legacy": as many as its threshold, or three as in earlier kernels; the window
        /// falls to that.
        burst_limit: BurstLimit = BurstLimit::Threshold;
        /// Whether the tail of a flight is probed before the timeout (RFC 8985 §7).
        ///
        /// Needs `sack`.
        tail_loss_probe: bool = true;
        /// Whether needless timeouts are recognised (F-RTO, RFC 5682); not with reordering =
        /// "fixed", which undoes nothing.
        ///
        /// Needs `sack`.
        frto: bool = true;
        /// Congestion marks: not asked for, echoed until the sender has reduced its window (RFC
        /// 3168), or echoed one by one (RFC 8257 §3.2).
        ecn: Ecn = Ecn::Off;
        /// Receive window offered; RFC 7323 §2.3 allows 1 GiB.
        receive_buffer: Bytes = Bytes::new(6 << 20), in RECEIVE_WINDOW;
        /// What receive_buffer may grow to when a round trip brings enough data, as Linux tunes it
        /// (half of the third value of tcp_rmem).
        ///
        /// Linux: `tcp_moderate_rcvbuf`.
        receive_autotuning_max: OrOff<Bytes> = OrOff::Off, in RECEIVE_WINDOW;
        /// Receive window offered at first; it grows by two segments for each that arrives.
        ///
        /// As in Linux; with [`quick_ack`](Self::quick_ack) each of those is acknowledged at once
        /// until the window has its full size.
        initial_receive_window: Bytes = Bytes::new(65_535), in RECEIVE_WINDOW;
        /// Most bytes sent and not yet acknowledged.
        send_buffer: OrUnlimited<Bytes> = OrUnlimited::Unlimited, in SEND_BUFFER;
        /// Memory of the send buffer, of which each segment takes 768 bytes and its payload.
        ///
        /// Linux: the third value of `tcp_wmem`. The buffer grows to twice what the window needs, so
        /// that only this limit matters. A full buffer takes data again when a third of it is free.
        send_memory: OrUnlimited<Bytes> = OrUnlimited::Value(Bytes::new(4 << 20)), in SEND_BUFFER;
        /// Whether an idle connection shrinks its window (RFC 2861).
        ///
        /// Linux: `tcp_slow_start_after_idle`.
        slow_start_after_idle: bool = true;
        /// RR-TCP (reordering = "rr"): a threshold from how late segments were.
        ///
        /// `None`: its defaults.
        rr: Option<RrConfig> = None;
        /// TCP-PR (reordering = "pr"): a segment is lost when its deadline has passed.
        ///
        /// `None`: its defaults.
        pr: Option<PrConfig> = None;
    }
    rules Config::bounds_in_order;
}

impl Config {
    /// The section `[tcp]` without the congestion controls. The profiles have the same keys with
    /// defaults of their own.
    pub fn section() -> Section {
        let profiles = Stack::ALL.map(|stack| Profile {
            name: stack.name(),
            doc: stack.doc(),
            defaults: Self::of(stack).as_defaults(),
        });
        Profile::section(
            "tcp",
            "The TCP endpoints, and in a table for each congestion control its parameters \
             ([tcp.cubic], …). A resolved scenario has the tables of what its flows use or the \
             file names.",
            ("profile", "Whose behaviour the defaults are."),
            &profiles,
        )
    }

    fn bounds_in_order(&self) -> Vec<Issue> {
        let mut issues = Vec::new();
        let orders: [(&'static [&'static str], _, _, _); 3] = [
            (&["min_rto"], self.min_rto, "max_rto", self.max_rto),
            (&["initial_rto"], self.initial_rto, "max_rto", self.max_rto),
            (
                &["delayed_ack_min"],
                self.delayed_ack_min,
                "delayed_ack_max",
                self.delayed_ack_max,
            ),
        ];
        for (low, low_time, high, high_time) in orders {
            if low_time > high_time {
                issues.push(Issue::new(
                    low,
                    format!("{} is {low_time}, more than {high}", low[0]),
                    format!("write at most \"{high_time}\", or raise {high}"),
                ));
            }
        }
        if let Some(most) = self.receive_autotuning_max.value()
            && most < self.receive_buffer
        {
            issues.push(Issue::new(
                &["receive_autotuning_max"],
                "receive_autotuning_max is less than receive_buffer",
                "write what receive_buffer may grow to, or lower receive_buffer",
            ));
        }
        issues
    }

    pub(crate) fn timestamp_tick_us(&self) -> u32 {
        self.timestamp_tick.as_micros().clamp(1, 1_000_000) as u32
    }

    /// [`mss`](Self::mss) in bytes.
    pub fn mss_bytes(&self) -> u32 {
        bytes(self.mss)
    }

    /// [`receive_buffer`](Self::receive_buffer) in bytes.
    pub fn receive_buffer_bytes(&self) -> u32 {
        bytes(self.receive_buffer)
    }

    /// [`receive_autotuning_max`](Self::receive_autotuning_max) in bytes; `None`: no tuning.
    pub fn receive_autotuning_max_bytes(&self) -> Option<u32> {
        self.receive_autotuning_max.value().map(bytes)
    }

    /// [`initial_receive_window`](Self::initial_receive_window) in bytes.
    pub fn initial_receive_window_bytes(&self) -> u32 {
        bytes(self.initial_receive_window)
    }

    /// [`send_buffer`](Self::send_buffer) in bytes; `u64::MAX`: unlimited.
    pub fn send_buffer_bytes(&self) -> u64 {
        self.send_buffer.value().map_or(u64::MAX, Bytes::get)
    }

    /// [`send_memory`](Self::send_memory) in bytes; `u64::MAX`: unlimited.
    pub fn send_memory_bytes(&self) -> u64 {
        self.send_memory.value().map_or(u64::MAX, Bytes::get)
    }

    /// The payload that a full send buffer holds, in bytes; `u64::MAX`: any.
    pub fn most_buffered_bytes(&self) -> u64 {
        match self.send_memory {
            OrUnlimited::Unlimited => u64::MAX,
            OrUnlimited::Value(memory) => {
                let of_segment = u64::from(self.mss_bytes() + OVERHEAD_BYTES);
                memory.get().div_ceil(of_segment) * u64::from(self.mss_bytes())
            }
        }
    }

    /// Linux 6.1; the same as [`Default`].
    pub fn linux() -> Self {
        Self::default()
    }

    /// The defaults of `stack`.
    pub fn of(stack: Stack) -> Self {
        let config = match stack {
            Stack::Linux => Self::linux(),
            Stack::Linux44 => Self::linux_4_4(),
            Stack::Linux26 => Self::linux_2_6(),
            Stack::Ns3 => Self {
                rate_reduction: RateReduction::Ns3,
                next_recovery: NextRecovery::Duplicates,
                sacked_retransmissions: SackedRetransmissions::InFlight,
                without_new_data: WithoutNewData::Unsacked,
                ..Self::ns3_core()
            },
            Stack::Ns3Of2016 => Self {
                // SACKs are forgotten at a timeout; there is no limit of retries, for which Linux's stands.
                timeout_marks: TimeoutMarks::All,
                retries: Self::linux().retries,
                initial_window_pkts: 2,
                ..Self::ns3_core()
            },
        };
        Self {
            congestion_control: CongestionControlConfig::default().of(stack),
            ..config
        }
    }

    /// ns-3 3.37, except for the segment size: see [`Stack::Ns3`].
    pub fn ns3() -> Self {
        Self::of(Stack::Ns3)
    }

    /// Linux 4.4 apart from the congestion control: timestamps in ticks of 4 ms (until 4.13), no
    /// merged duplicates (since 4.18), a first window of 20 segments offered (`TCP_INIT_CWND · 2`).
    fn linux_4_4() -> Self {
        Self {
            reordering: Reordering::Linux44,
            sack_compression: false,
            timestamp_tick: Duration::from_millis(4),
            initial_receive_window: Bytes::new(20 * 1448),
            ..Self::default()
        }
    }

    /// Linux 2.6.26 to 2.6.38 apart from the congestion control: besides the policy no probes
    /// (3.10), a timeout of 3 s before the first sample (RFC 2988, until 3.1), windows of 3 segments
    /// (RFC 3390, until 2.6.39) and 4 offered at first, growth by acknowledgments (until 3.13 and
    /// 4.0), and old acknowledgments that only mark the scoreboard (until 3.3).
    fn linux_2_6() -> Self {
        Self {
            reordering: Reordering::LinuxLegacy,
            tail_loss_probe: false,
            rtt_samples: RttSamples::Timestamps,
            growth: Growth::Acknowledgments,
            old_acks: OldAcks::Scoreboard,
            initial_rto: Duration::from_secs(3),
            initial_window_pkts: 3,
            initial_receive_window: Bytes::new(4 * 1448),
            ..Self::linux_4_4()
        }
    }

    /// The defaults of ns-3 apart from the congestion control: timeouts of at least 1 s, a fixed
    /// threshold of three duplicates, no probe, no undo and no PAWS, every second segment
    /// acknowledged or after 200 ms, the whole receive window offered at once (131072 bytes).
    fn ns3_core() -> Self {
        const BUFFER: Bytes = Bytes::new(131_072);
        Self {
            rto: RtoLaw::Rfc6298,
            min_rto: Duration::from_secs(1),
            initial_rto: Duration::from_secs(3),
            max_rto: Duration::from_secs(60),
            lost_syns_reduce_window: false,
            retries: 6,
            delayed_ack_min: Duration::from_millis(200),
            delayed_ack_max: Duration::from_millis(200),
            quick_ack: false,
            acks_first_at_once: true,
            sack_compression: false,
            paws: false,
            rtt_samples: RttSamples::Advancing,
            control_rtt: ControlRtt::Smoothed,
            growth: Growth::Ns3,
            window_validation: false,
            threshold_from: ThresholdFrom::Flight,
            timeout_marks: TimeoutMarks::Unsacked,
            timeout_cuts_again: true,
            impatient: true,
            reordering: Reordering::Fixed,
            tail_loss_probe: false,
            frto: false,
            receive_buffer: BUFFER,
            initial_receive_window: BUFFER,
            send_buffer: OrUnlimited::Value(BUFFER),
            send_memory: OrUnlimited::Unlimited,
            slow_start_after_idle: false,
            ..Self::default()
        }
    }
}

/// A window or a segment in bytes; sequence numbers leave room for no more.
fn bytes(size: Bytes) -> u32 {
    u32::try_from(size.get()).unwrap_or(u32::MAX)
}
