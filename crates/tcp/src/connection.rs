//! One endpoint of a connection: handshake, sender and receiver.

use backlane_units::{Duration, SimTime};

use crate::config::Config;
use crate::congestion::CongestionControl;
use crate::ecn_echo::EcnEcho;
use crate::handshake::{Handshake, Phase};
use crate::readings::{Readings, Statistics};
use crate::receiver::Receiver;
use crate::segment::{EcnField, Flags, SackBlocks, Segment};
use crate::sender::Sender;

/// A TCP endpoint without I/O.
///
/// Hand it every arriving segment ([`on_segment`]) and call [`on_timer`] when
/// [`next_timeout`] is reached; after either, and after [`write`] or [`close`], call
/// [`poll_transmit`] until it returns `None` and ask for the next timeout again.
///
/// [`on_segment`]: Self::on_segment
/// [`on_timer`]: Self::on_timer
/// [`next_timeout`]: Self::next_timeout
/// [`write`]: Self::write
/// [`close`]: Self::close
/// [`poll_transmit`]: Self::poll_transmit
#[derive(Debug)]
pub struct Connection {
    handshake: Handshake,
    sender: Sender,
    receiver: Receiver,
    ecn: EcnEcho,
    timestamps: bool,
    /// The acknowledgment that ends the handshake has not left. It carries no data: the
    /// application writes once the connection is open, as after a blocking connect().
    handshake_ack_due: bool,
}

/// The timestamp clock: microseconds, never 0 (which would say that there is no timestamp).
#[inline]
fn timestamp(now: SimTime) -> u32 {
    (now.as_micros() as u32).max(1)
}

impl Connection {
    /// An endpoint that opens the connection; its SYN is ready to be polled.
    pub fn connect(config: &Config, _now: SimTime) -> Self {
        Self::new(config, Phase::SynSent)
    }

    /// An endpoint that waits for a SYN.
    pub fn listen(config: &Config) -> Self {
        Self::new(config, Phase::Listen)
    }

    fn new(config: &Config, phase: Phase) -> Self {
        Self {
            handshake: Handshake::new(phase, config),
            sender: Sender::new(config),
            receiver: Receiver::new(config),
            ecn: EcnEcho::new(config.ecn),
            timestamps: config.timestamps,
            handshake_ack_due: false,
        }
    }

    /// Takes a segment that arrived.
    pub fn on_segment(&mut self, now: SimTime, segment: &Segment) {
        match self.handshake.phase {
            // As in Linux, where the socket is gone.
            Phase::Established if self.sender.has_failed() => {}
            Phase::Established => self.on_established_segment(now, segment),
            Phase::Listen => {
                if segment.flags.contains(Flags::SYN) {
                    self.receiver.on_syn(now, segment);
                    self.ecn.on_syn(segment);
                    self.handshake.phase = Phase::SynReceived;
                    self.handshake.syn_due = true;
                }
            }
            Phase::SynSent => {
                let answer = Flags::SYN | Flags::ACK;
                if segment.flags.contains(answer) && segment.ack == 1 {
                    self.receiver.on_syn(now, segment);
                    self.ecn.on_syn(segment);
                    self.establish(now, segment);
                    self.handshake_ack_due = true;
                }
            }
            Phase::SynReceived => {
                if segment.flags.contains(Flags::SYN) {
                    self.handshake.syn_due = true;
                } else if segment.flags.contains(Flags::ACK) && segment.ack >= 1 {
                    self.establish(now, segment);
                    self.on_established_segment(now, segment);
                }
            }
            Phase::Failed => {}
        }
    }

    fn establish(&mut self, now: SimTime, segment: &Segment) {
        let retransmits = self.handshake.retransmits;
        // Karn's rule: a repeated SYN gives no sample, unless the answer echoes its timestamp.
        let rtt = if retransmits == 0 {
            Some(now.saturating_since(self.handshake.sent_at))
        } else if segment.ts_ecr != 0 {
            let rtt_us = timestamp(now).wrapping_sub(segment.ts_ecr);
            Some(Duration::from_micros(u64::from(rtt_us)))
        } else {
            None
        };
        self.handshake.on_established();
        self.receiver.on_established(now);
        self.sender
            .on_established(now, segment.window_bytes, rtt, retransmits);
        if let Some(rtt) = rtt {
            self.receiver.acks.on_rtt(rtt, self.sender.rtt().rto());
        }
    }

    #[inline]
    fn on_established_segment(&mut self, now: SimTime, segment: &Segment) {
        let repeats = self.sender.is_repeated(segment);
        let rto = self.sender.rtt().rto();
        if self.receiver.refuses(now, segment, repeats, rto) {
            return;
        }
        if segment.flags.contains(Flags::SYN) {
            // Our acknowledgment of the SYN-ACK was lost.
            self.receiver.acks.ack_now();
            return;
        }
        if segment.payload_bytes > 0 {
            let delayed = self.receiver.acks.is_delaying();
            if self.ecn.on_data(segment, self.receiver.rcv_nxt(), delayed) {
                self.receiver.acks.ack_now();
            }
        }
        self.receiver.on_segment(now, segment);
        if segment.flags.contains(Flags::ACK) {
            let has_ece = self.ecn.agreed && segment.flags.contains(Flags::ECE);
            self.sender.on_ack(now, segment, timestamp(now), has_ece);
        }
    }

    /// Processes expired timers; `now` is at or after [`Self::next_timeout`].
    pub fn on_timer(&mut self, now: SimTime) {
        self.handshake.on_timer(now);
        self.receiver.acks.on_timer(now);
        self.sender.on_timer(now);
    }

    /// When [`Self::on_timer`] is next due; `None` when no timer runs, as after a failure.
    #[inline]
    pub fn next_timeout(&self) -> Option<SimTime> {
        if self.is_failed() {
            return None;
        }
        let at = self
            .handshake
            .next_timeout()
            .min(self.sender.next_timeout())
            .min(self.receiver.acks.next_timeout());
        (at != SimTime::MAX).then_some(at)
    }

    /// The next segment to put on the wire, or `None` when nothing more may leave now.
    pub fn poll_transmit(&mut self, now: SimTime) -> Option<Segment> {
        match self.handshake.phase {
            Phase::Established => self.poll_established(now),
            Phase::SynSent | Phase::SynReceived if self.handshake.syn_due => {
                self.handshake.on_syn_sent(now, self.sender.rtt());
                Some(self.syn(now))
            }
            _ => None,
        }
    }

    fn syn(&mut self, now: SimTime) -> Segment {
        let answers = self.handshake.phase == Phase::SynReceived;
        let mut segment = Segment {
            flags: Flags::SYN,
            ..self.empty_segment(now, 0, SackBlocks::EMPTY)
        };
        if answers {
            segment.flags |= Flags::ACK;
            segment.flags |= self.ecn.handshake_flags(true);
            self.receiver.acks.on_ack_sent(self.receiver.rcv_nxt());
        } else {
            segment.flags |= self.ecn.handshake_flags(false);
        }
        segment
    }

    fn empty_segment(&self, now: SimTime, seq: u64, sack: SackBlocks) -> Segment {
        let (ts_val, ts_ecr) = if self.timestamps {
            (timestamp(now), self.receiver.ts_recent())
        } else {
            (0, 0)
        };
        Segment {
            seq,
            ack: self.receiver.rcv_nxt(),
            payload_bytes: 0,
            window_bytes: self.receiver.window_bytes(),
            ts_val,
            ts_ecr,
            flags: Flags::ACK,
            ecn: EcnField::NotCapable,
            sack,
        }
    }

    #[inline]
    fn poll_established(&mut self, now: SimTime) -> Option<Segment> {
        if self.sender.has_failed() {
            return None;
        }
        if let Some((ack, has_ece)) = self.ecn.take_earlier() {
            let mut segment = self.empty_segment(now, self.sender.snd_nxt(), SackBlocks::EMPTY);
            segment.ack = ack;
            if has_ece {
                segment.flags |= Flags::ECE;
            }
            return Some(segment);
        }
        let snd_nxt = self.sender.snd_nxt();
        if let Some(sack) = self.receiver.take_earlier() {
            return Some(self.empty_segment(now, snd_nxt, sack));
        }
        let outgoing = if self.handshake_ack_due {
            None
        } else {
            self.sender.next_segment(now)
        };
        if outgoing.is_none() && !self.receiver.acks.is_due() && !self.handshake_ack_due {
            return None;
        }
        self.handshake_ack_due = false;
        let sack = self.receiver.sack_blocks();
        let mut segment = self.empty_segment(now, self.sender.snd_nxt(), sack);
        if let Some(outgoing) = outgoing {
            segment.seq = outgoing.seq;
            segment.payload_bytes = outgoing.payload_bytes;
            if outgoing.fin {
                segment.flags |= Flags::FIN;
            }
            // Retransmissions and empty segments are not marked (RFC 3168 §6.1.4, §6.1.5).
            if self.ecn.agreed && outgoing.payload_bytes > 0 && outgoing.seq >= snd_nxt {
                segment.ecn = EcnField::Capable;
                if self.sender.take_cwr() {
                    segment.flags |= Flags::CWR;
                }
            }
        }
        if self.ecn.echoes() {
            segment.flags |= Flags::ECE;
        }
        self.receiver.acks.on_ack_sent(self.receiver.rcv_nxt());
        Some(segment)
    }

    /// The application has `bytes` more to send. Ignored after [`Self::close`].
    pub fn write(&mut self, bytes: u64) {
        self.sender.write(bytes);
    }

    /// The application has written all: FIN follows the data.
    pub fn close(&mut self) {
        self.sender.close();
    }

    /// Discards the data that is written and not sent; FIN follows what was sent. Returns whether
    /// any data was discarded.
    pub fn stop(&mut self) -> bool {
        self.sender.stop()
    }

    /// Bytes delivered in order to the application, which reads at once.
    #[inline]
    pub fn received_bytes(&self) -> u64 {
        self.receiver.received_bytes()
    }

    /// Bytes of the application that the peer has acknowledged.
    #[inline]
    pub fn acked_bytes(&self) -> u64 {
        self.sender.acked_bytes()
    }

    /// Whether the handshake is done (and stays so until the connection fails).
    pub fn is_established(&self) -> bool {
        self.handshake.phase == Phase::Established && !self.is_failed()
    }

    /// Whether the peer has closed and all its data has arrived: the time to [`Self::close`],
    /// if there is nothing left to write.
    pub fn is_peer_closed(&self) -> bool {
        self.receiver.has_finished()
    }

    /// Whether both directions are closed and acknowledged. A closed connection runs no timer
    /// and still answers a repeated FIN.
    pub fn is_closed(&self) -> bool {
        self.receiver.has_finished() && self.sender.has_finished()
    }

    /// Whether the connection has failed: the retries of the handshake or of an open
    /// connection are exhausted.
    pub fn is_failed(&self) -> bool {
        self.handshake.phase == Phase::Failed || self.sender.has_failed()
    }

    /// The state of the sending half, for probes.
    pub fn readings(&self) -> Readings {
        self.sender.readings()
    }

    /// The congestion control.
    pub fn congestion_control(&self) -> &dyn CongestionControl {
        self.sender.congestion_control()
    }

    /// The counts so far.
    pub fn statistics(&self) -> &Statistics {
        self.sender.statistics()
    }

    /// The last RTT sample since the previous call, if there was one.
    #[inline]
    pub fn take_rtt_sample(&mut self) -> Option<Duration> {
        self.sender.take_rtt_sample()
    }
}
