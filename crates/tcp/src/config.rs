//! What can be set on a connection. The defaults are Linux's.

use backlane_units::Duration;

use crate::congestion::CongestionControlConfig;

/// How the retransmission timeout follows from the RTT samples.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum RtoLaw {
    /// Linux: the largest deviation of each round trip, with `min_rto` as the floor of the
    /// variance term, so that the timeout is at least the RTT plus `min_rto`.
    #[default]
    Linux,
    /// RFC 6298 §2 with `min_rto` as the floor of the whole timeout, as in ns-3.
    Rfc6298,
}

/// How much reordering is tolerated before a segment counts as lost: the policy of loss detection.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Reordering {
    /// RFC 6675 with a fixed threshold: lost retransmissions are not detected, nothing is undone.
    Fixed,
    /// Linux of 2008 to 2011 (2.6.26 to 3.1): FACK until reordering is seen, then a threshold that
    /// grows with it, up to 127, and falls back with a timeout; rate halving; undo by D-SACK and
    /// timestamps.
    LinuxLegacy,
    /// RACK (RFC 8985) as in Linux 6.1: time order and a window of a quarter of the smallest
    /// RTT, widened by D-SACKs; undo by D-SACK and timestamps.
    #[default]
    Rack,
    /// TCP-NCR (RFC 4653), careful extended limited transmit: one new segment for two that
    /// arrived, loss after two thirds of the flight.
    NcrCareful,
    /// TCP-NCR (RFC 4653), aggressive: one new segment for each, loss after half the flight.
    NcrAggressive,
    /// TCP-PR (Bohacek and others, 2003): a segment is lost when it has been out for several
    /// times the largest recent RTT; the order of arrivals plays no part.
    Pr,
    /// RR-TCP (Zhang and others, 2003): a threshold from a histogram of how late segments were,
    /// such that a chosen share of late segments is not taken for lost; undo by D-SACK.
    Rr,
}

/// The parameters of [`Reordering::Pr`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PrConfig {
    /// α: the factor by which the envelope of the RTT decays in one RTT without a higher sample;
    /// above 0, at most 1.
    pub alpha: f64,
    /// β: the deadline of a segment, in envelopes; at least 1.
    pub beta: f64,
}

impl Default for PrConfig {
    /// The values of the paper.
    fn default() -> Self {
        Self {
            alpha: 0.995,
            beta: 3.0,
        }
    }
}

/// The parameters of [`Reordering::Rr`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RrConfig {
    /// The initial share of late segments that are not taken for lost; 0 to 1.
    pub avoided: f64,
    /// The change of the share for a cost of one window of packets not sent; at least 0.
    pub step: f64,
}

impl Default for RrConfig {
    /// Chosen here; the paper does not give its steps.
    fn default() -> Self {
        Self {
            avoided: 0.9,
            step: 0.01,
        }
    }
}

/// Whether congestion marks are used, if the peer agrees.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Ecn {
    /// Not asked for and not granted.
    #[default]
    Off,
    /// RFC 3168: a mark is echoed until the sender signals that it has reduced its window.
    Classic,
    /// RFC 8257 §3.2: each acknowledgment says whether the data it covers was marked.
    Exact,
}

/// When a receiver acknowledges data that arrived in order (RFC 5681 §4.2).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DelayedAck {
    /// Full segments one acknowledgment covers; 1 acknowledges each at once.
    pub segments: u32,
    /// The shortest wait for a further segment. Linux adapts the wait between this
    /// (`TCP_ATO_MIN`, 40 ms) and `max_timeout` to the spacing of arrivals.
    pub min_timeout: Duration,
    /// The longest wait. Equal to `min_timeout` for a fixed timeout, such as ns-3's 200 ms.
    pub max_timeout: Duration,
    /// Whether the first 16 segments are acknowledged at once, as Linux does.
    pub quick_ack: bool,
}

impl Default for DelayedAck {
    fn default() -> Self {
        Self {
            segments: 2,
            min_timeout: Duration::from_millis(40),
            max_timeout: Duration::from_millis(200),
            quick_ack: true,
        }
    }
}

/// The configuration of a connection; [`Default`] is Linux 6.1 with 1500-byte packets.
#[derive(Clone, Debug, PartialEq)]
pub struct Config {
    /// Payload of a full segment, in bytes (at least 1).
    pub mss_bytes: u32,
    /// Initial congestion window, in packets (RFC 6928).
    pub initial_window_pkts: u32,
    /// Initial slow-start threshold, in packets; `None`: infinite.
    pub initial_ssthresh_pkts: Option<u32>,
    /// How the retransmission timeout is computed.
    pub rto: RtoLaw,
    /// Floor of the retransmission timeout; see [`RtoLaw`] for what it bounds.
    pub min_rto: Duration,
    /// The timeout before the first RTT sample.
    pub initial_rto: Duration,
    /// Ceiling of the timeout, back-off included.
    pub max_rto: Duration,
    /// Retransmissions of a SYN or SYN-ACK before the connection fails.
    pub syn_retries: u32,
    /// Retransmission timeouts in a row before an open connection fails (`tcp_retries2`).
    pub retries: u32,
    /// When in-order data is acknowledged.
    pub delayed_ack: DelayedAck,
    /// Whether selective acknowledgments (RFC 2018) are sent and used.
    pub sack: bool,
    /// Whether Linux's merging of duplicate acknowledgments is on: after the first three of a
    /// hole, up to 44 share one, sent within 1 ms or 5 % of the RTT.
    pub sack_compression: bool,
    /// Whether timestamps (RFC 7323) are sent; they take 12 bytes of each segment.
    pub timestamps: bool,
    /// Whether segments with an older timestamp than the last in order are refused (PAWS, RFC
    /// 7323); needs `timestamps`.
    pub paws: bool,
    /// One tick of the clock that timestamps are read from (1 ms in Linux 6.1, 1/HZ before 4.13):
    /// PAWS, the detection of spurious retransmissions by timestamps and RTT samples from
    /// timestamps have this resolution. A whole number of microseconds, from 1 µs to 1 s.
    pub timestamp_tick: Duration,
    /// Whether the first duplicate acknowledgments release new data (RFC 3042).
    pub limited_transmit: bool,
    /// SACKed segments, or duplicate acknowledgments, that signal a loss.
    pub duplicate_threshold: u32,
    /// The policy of loss detection; needs `sack`, without which it is NewReno (RFC 6582).
    pub reordering: Reordering,
    /// The parameters of [`Reordering::Pr`].
    pub pr: PrConfig,
    /// The parameters of [`Reordering::Rr`].
    pub rr: RrConfig,
    /// Whether the tail of a flight is probed before the timeout (TLP, RFC 8985 §7); needs
    /// `sack`.
    pub tail_loss_probe: bool,
    /// Whether spurious timeouts are detected (F-RTO, RFC 5682); needs `sack` and a policy that
    /// undoes reductions.
    pub frto: bool,
    /// Whether congestion marks are asked for, granted and echoed.
    pub ecn: Ecn,
    /// The receive window offered at most, in bytes.
    pub receive_buffer_bytes: u32,
    /// The most that Linux's tuning (`tcp_moderate_rcvbuf`) may raise `receive_buffer_bytes`
    /// to, in bytes, when the data of a round trip asks for it; half of `tcp_rmem`'s third
    /// value. `None`: no tuning.
    pub receive_autotuning_max_bytes: Option<u32>,
    /// The receive window offered at first, in bytes. As in Linux it grows by two segments for
    /// each that arrives, and with [`DelayedAck::quick_ack`] each of those is acknowledged at
    /// once until the window has its full size.
    pub initial_receive_window_bytes: u32,
    /// The most bytes sent and not yet acknowledged.
    pub send_buffer_bytes: u64,
    /// Whether an idle connection shrinks its window (`tcp_slow_start_after_idle`, RFC 2861).
    pub slow_start_after_idle: bool,
    /// Seeds the draws of congestion controls that draw (CDG, BBR); give each connection its own.
    pub random_seed: u64,
    /// The congestion control and its parameters.
    pub congestion_control: CongestionControlConfig,
}

impl Default for Config {
    fn default() -> Self {
        Self {
            mss_bytes: 1448,
            initial_window_pkts: 10,
            initial_ssthresh_pkts: None,
            rto: RtoLaw::Linux,
            min_rto: Duration::from_millis(200),
            initial_rto: Duration::from_secs(1),
            max_rto: Duration::from_secs(120),
            syn_retries: 6,
            retries: 15,
            delayed_ack: DelayedAck::default(),
            sack: true,
            sack_compression: true,
            timestamps: true,
            paws: true,
            timestamp_tick: Duration::from_millis(1),
            limited_transmit: true,
            duplicate_threshold: 3,
            reordering: Reordering::Rack,
            pr: PrConfig::default(),
            rr: RrConfig::default(),
            tail_loss_probe: true,
            frto: true,
            ecn: Ecn::Off,
            receive_buffer_bytes: 6 << 20,
            receive_autotuning_max_bytes: None,
            initial_receive_window_bytes: 65_535,
            // Linux charges buffers per sk_buff and grows them to twice what the window
            // needs (tcp_wmem); it does not limit a sender whose window it tracks.
            send_buffer_bytes: u64::MAX,
            slow_start_after_idle: true,
            random_seed: 0,
            congestion_control: CongestionControlConfig::default(),
        }
    }
}

impl Config {
    pub(crate) fn timestamp_tick_us(&self) -> u32 {
        self.timestamp_tick.as_micros().clamp(1, 1_000_000) as u32
    }

    /// Linux 6.1; the same as [`Default`].
    pub fn linux() -> Self {
        Self::default()
    }

    /// The defaults of ns-3, except for the segment size: timeouts of at least 1 s, a fixed
    /// threshold of three duplicates, no probe, no undo and no PAWS, every second segment acknowledged
    /// or after 200 ms, the whole receive window offered at once (131072 bytes).
    pub fn ns3() -> Self {
        const BUFFER_BYTES: u32 = 131_072;
        Self {
            rto: RtoLaw::Rfc6298,
            min_rto: Duration::from_secs(1),
            delayed_ack: DelayedAck {
                segments: 2,
                min_timeout: Duration::from_millis(200),
                max_timeout: Duration::from_millis(200),
                quick_ack: false,
            },
            sack_compression: false,
            paws: false,
            reordering: Reordering::Fixed,
            tail_loss_probe: false,
            frto: false,
            receive_buffer_bytes: BUFFER_BYTES,
            initial_receive_window_bytes: BUFFER_BYTES,
            send_buffer_bytes: u64::from(BUFFER_BYTES),
            slow_start_after_idle: false,
            congestion_control: CongestionControlConfig::default().ns3(),
            ..Self::default()
        }
    }
}
