//! What can be read from a connection: its present state and its counters.

use backlane_units::{Duration, Rate, SimTime};

use crate::recovery::CongestionState;

/// The state of a connection's sending half at one instant.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Readings {
    /// Congestion window, in packets.
    pub cwnd_pkts: u32,
    /// Slow-start threshold, in packets; `u32::MAX`: infinite.
    pub ssthresh_pkts: u32,
    /// Smoothed RTT; zero before the first sample.
    pub srtt: Duration,
    /// Mean deviation of the RTT.
    pub rttvar: Duration,
    /// Retransmission timeout, without back-off.
    pub rto: Duration,
    /// The smallest RTT of the last 300 s; `None` before the first sample.
    pub min_rtt: Option<Duration>,
    /// Packets in flight: out, less SACKed and lost, plus retransmitted.
    pub in_flight_pkts: u32,
    /// Packets sent and not cumulatively acknowledged.
    pub packets_out_pkts: u32,
    /// Packets SACKed; without SACK, duplicate acknowledgments.
    pub sacked_pkts: u32,
    /// Packets marked lost and not yet acknowledged.
    pub lost_pkts: u32,
    /// Retransmissions in flight.
    pub retrans_out_pkts: u32,
    /// Packets ever delivered.
    pub delivered_pkts: u64,
    /// The reordering learned, or the threshold in use, in packets.
    pub reordering_pkts: u32,
    /// The rate at which segments may leave; `None`: as fast as the window allows.
    pub pacing_rate: Option<Rate>,
    /// The state of loss recovery.
    pub state: CongestionState,
}

/// How the first slow start of a connection ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SlowStartExit {
    /// When.
    pub at: SimTime,
    /// Why.
    pub cause: SlowStartEnd,
    /// The congestion window then, before any reduction, in packets.
    pub cwnd_pkts: u32,
    /// Segments with data sent until then.
    pub segments_sent: u64,
}

/// Why a slow start ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SlowStartEnd {
    /// A segment was lost, or its retransmission timer expired.
    Loss,
    /// A congestion mark came back.
    Mark,
    /// The RTT rose: HyStart's delay detector, or HyStart++ after its conservative rounds.
    Delay,
    /// Acknowledgments came in a train as long as the path is: HyStart's other detector.
    AckTrain,
    /// The congestion control ended it by a rule of its own (Vegas, the gradient of CDG).
    Control,
    /// Reordering: TCP-NCR takes the flight before it for the threshold.
    Reordering,
    /// The window reached the initial threshold.
    Threshold,
}

impl SlowStartEnd {
    /// The word in results.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Loss => "loss",
            Self::Mark => "mark",
            Self::Delay => "delay",
            Self::AckTrain => "ack-train",
            Self::Control => "control",
            Self::Reordering => "reordering",
            Self::Threshold => "threshold",
        }
    }
}

/// Counts over the life of a connection.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Statistics {
    /// Segments with data or FIN sent, retransmissions included.
    pub segments_sent: u64,
    /// Segments sent again.
    pub retransmits: u64,
    /// Entries into fast recovery.
    pub fast_retransmits: u64,
    /// Retransmission timeouts of an open connection.
    pub rtos: u64,
    /// Segments the peer reported as received twice (D-SACK, RFC 2883).
    pub spurious_retransmits: u64,
    /// Reductions of the window that proved needless and were undone.
    pub undos: u64,
    /// Timeouts that F-RTO found needless.
    pub spurious_rtos: u64,
    /// Acknowledgments of what was acknowledged already, without data and news of the window, while
    /// something was outstanding (RFC 5681 §2).
    pub duplicate_acks: u64,
    /// The end of the first slow start; `None`: it goes on, or the congestion control has none.
    pub slow_start_exit: Option<SlowStartExit>,
    /// Tail loss probes sent.
    pub tail_probes: u64,
    /// The largest that [`Readings::reordering_pkts`] was.
    pub reordering_max_pkts: u32,
    /// How long something was outstanding, up to the last acknowledgment or timeout.
    pub outstanding: Duration,
    /// Time integrals of the congestion window and of the packets in flight over `outstanding`, in
    /// packet-picoseconds.
    area_pkt_ps: (u128, u128),
    /// RTT samples taken.
    pub rtt_samples: u64,
    /// Their sum.
    pub rtt_sum: Duration,
    /// The smallest; `None` before the first sample.
    pub rtt_min: Option<Duration>,
    /// The largest.
    pub rtt_max: Duration,
    /// Acknowledgments that advanced over data that was sent once and arrived in order.
    pub rtt_in_order_samples: u64,
    /// The sum of their RTTs, each of the first segment acknowledged.
    pub rtt_in_order_sum: Duration,
}

impl Statistics {
    /// A time of `span` with something outstanding is over.
    #[inline]
    pub(crate) fn on_outstanding(&mut self, span: Duration, cwnd_pkts: u32, in_flight_pkts: u32) {
        let ps = u128::from(span.as_ps());
        self.outstanding = self.outstanding.saturating_add(span);
        self.area_pkt_ps.0 += ps * u128::from(cwnd_pkts);
        self.area_pkt_ps.1 += ps * u128::from(in_flight_pkts);
    }

    /// Mean congestion window over the time that something was outstanding, in packets; `None`:
    /// nothing ever was.
    pub fn cwnd_mean_pkts(&self) -> Option<f64> {
        self.mean_pkts(self.area_pkt_ps.0)
    }

    /// Mean packets in flight over the time that something was outstanding; `None`: nothing
    /// ever was.
    pub fn in_flight_mean_pkts(&self) -> Option<f64> {
        self.mean_pkts(self.area_pkt_ps.1)
    }

    fn mean_pkts(&self, area_pkt_ps: u128) -> Option<f64> {
        let ps = self.outstanding.as_ps();
        (ps > 0).then(|| area_pkt_ps as f64 / ps as f64)
    }

    pub(crate) fn on_rtt(&mut self, rtt: Duration) {
        self.rtt_samples += 1;
        self.rtt_sum = self.rtt_sum.saturating_add(rtt);
        self.rtt_min = Some(self.rtt_min.map_or(rtt, |least| least.min(rtt)));
        self.rtt_max = self.rtt_max.max(rtt);
    }

    pub(crate) fn on_rtt_in_order(&mut self, rtt: Duration) {
        self.rtt_in_order_samples += 1;
        self.rtt_in_order_sum = self.rtt_in_order_sum.saturating_add(rtt);
    }

    /// Mean RTT at acknowledgments that advance, without data that was retransmitted or arrived
    /// out of order; `None` before the first such acknowledgment.
    pub fn rtt_in_order_mean(&self) -> Option<Duration> {
        let samples = self.rtt_in_order_samples;
        (samples > 0).then(|| self.rtt_in_order_sum / samples)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Acknowledgments of full segments come every 123.36 ns at 100 Gbit/s. A window that grows by
    /// a packet with each has the mean of an arithmetic series; packets in flight that change from
    /// 4 to 8 after a third of the time have the mean (4 + 2 · 8) / 3.
    #[test]
    fn means_count_every_span_however_short() {
        let mut statistics = Statistics::default();
        let spans = 3000;
        for turn in 0..spans {
            let in_flight_pkts = if turn < spans / 3 { 4 } else { 8 };
            statistics.on_outstanding(Duration::from_ps(123_360), 10 + turn, in_flight_pkts);
        }
        assert_eq!(statistics.cwnd_mean_pkts(), Some(10.0 + 2999.0 / 2.0));
        let in_flight_pkts = statistics.in_flight_mean_pkts().unwrap();
        assert!(
            (in_flight_pkts - 20.0 / 3.0).abs() < 1e-12,
            "{in_flight_pkts}"
        );
    }
}
