//! What an acknowledgment does: scoreboard, RTT, loss state, window, timer, in this order.

use backlane_units::SimTime;

use super::state::Step;
use super::{Sender, Timer};
use crate::congestion::{Ack, Arrival, LostPacket, RateSample, RttSample};
use crate::readings::SlowStartEnd;
use crate::recovery::CongestionState;
use crate::recovery::scoreboard::Delivery;
use crate::segment::{SackBlock, SackBlocks, Segment};

impl Sender {
    /// The end of the tick of the timestamp clock in which what `segment` acknowledges left:
    /// what left then or later would bring a later timestamp back.
    pub(super) fn echo_end_us(&self, now_us: u64, segment: &Segment) -> Option<u64> {
        if segment.ts_ecr == 0 {
            return None;
        }
        // The clock of the timestamps wraps after 71 minutes.
        let age_us = (now_us as u32).wrapping_sub(segment.ts_ecr);
        let sent_us = now_us.saturating_sub(u64::from(age_us));
        Some((sent_us / self.tick_us + 1) * self.tick_us)
    }

    /// Takes the acknowledgment in `segment`. `now_ts`: the present value of our timestamp
    /// clock; `has_ece`: it echoes a congestion mark.
    pub(crate) fn on_ack(&mut self, now: SimTime, segment: &Segment, now_ts: u32, has_ece: bool) {
        if segment.ack > self.snd_nxt {
            return;
        }
        self.observe(now);
        let prior_una = self.snd_una;
        let prior_in_flight_pkts = self.scoreboard.in_flight();
        let advanced = segment.ack > prior_una;
        let window_changed = self.update_window(segment);
        if self.scoreboard.packets_out() == 0 {
            self.timeouts_in_a_row = 0;
            self.on_window_while_idle(window_changed);
            self.take_late_duplicates(now, segment, window_changed, has_ece);
            return;
        }
        if advanced {
            self.snd_una = segment.ack;
            self.timeouts_in_a_row = 0;
        }

        let now_us = now.as_micros();
        self.waits_for_reordering = false;
        let high_before = self.scoreboard.highest_sacked_end();
        let mut duplicate_seen = false;
        let lost_before = self.scoreboard.lost_total();
        let mut delivery = Delivery::default();
        if self.selective && !segment.sack.is_empty() {
            duplicate_seen = self.take_sack_blocks(now_us, segment, prior_una, &mut delivery);
        }
        if advanced {
            self.note_late(prior_una, segment.ack);
            let min_rtt_us = self.rtt.min_rtt_us().unwrap_or(0);
            let echo_end_us = self.echo_end_us(now_us, segment);
            self.scoreboard.on_ack(
                segment.ack,
                now_us,
                min_rtt_us,
                self.selective,
                echo_end_us,
                &mut delivery,
            );
            if !self.selective {
                delivery.delivered_pkts =
                    self.scoreboard.consume_duplicate_acks(delivery.acked_pkts);
            }
        }
        let rtt_us = self.measure_rtt(now, segment, now_ts, &delivery);
        // A SACK restarts the timer unless it is for what left after the first outstanding
        // segment last did: that one could otherwise wait for ever.
        let sacked_before_head = delivery.sacked_sent_us.is_some_and(|(first_us, _)| {
            let head_us = self.scoreboard.head_sent_us();
            head_us.is_some_and(|head_us| first_us < head_us)
        });
        let restarts_timer =
            delivery.acked_pkts > 0 || (sacked_before_head && !self.is_legacy()) || self.is_pr();
        self.announce(now, segment, prior_una, has_ece, &delivery);
        self.watch_slow_start(now);

        let is_duplicate =
            segment.ack == prior_una && segment.payload_bytes == 0 && !window_changed;
        self.statistics.duplicate_acks += u64::from(is_duplicate);
        let sacked_before = self.scoreboard.sacked_out();
        if self.selective {
            self.learn_reordering(now_us, high_before, &delivery);
        }
        let step = Step {
            segment,
            delivery: &delivery,
            prior_una,
            is_duplicate,
            has_ece,
        };
        if self.probe_end.is_some() {
            self.judge_probe(now, &step, duplicate_seen);
        }
        let was_in_ncr = self.ncr.is_some();
        // F-RTO, too, had the window to itself.
        let had_window = self.is_reducing() || self.checks_timeout;
        let is_dubious = self.state != CongestionState::Open
            || delivery.newly_sacked
            || is_duplicate
            || duplicate_seen
            || has_ece;
        if is_dubious {
            self.update_state(now, &step);
        }
        if !self.selective && is_duplicate && self.scoreboard.sacked_out() > sacked_before {
            delivery.delivered_pkts += 1;
        }
        self.delivered_pkts += u64::from(delivery.delivered_pkts);
        if has_ece {
            self.delivered_ce_pkts += u64::from(delivery.delivered_pkts);
        }

        let min_rtt_us = self.rtt.min_rtt_us().unwrap_or(0);
        let rate = if self.scoreboard.rate.is_enabled() {
            self.tell_losses(now);
            self.scoreboard.rate.take_sample(
                now_us,
                self.delivered_pkts,
                self.delivered_ce_pkts,
                min_rtt_us,
            )
        } else {
            RateSample::default()
        };
        let newly_lost_pkts = (self.scoreboard.lost_total() - lost_before) as u32;
        if self.is_reducing() && !self.owns_window {
            if delivery.delivered_pkts > 0 {
                self.reduce(delivery.delivered_pkts, advanced && newly_lost_pkts == 0);
                if !self.selective && advanced && self.scoreboard.has_retransmissions() {
                    // RFC 6582 §3.2 step 3: the next hole is retransmitted in any case.
                    let least_pkts = self.scoreboard.in_flight() + 1;
                    self.window.cwnd_pkts = self.window.cwnd_pkts.max(least_pkts);
                }
            }
        } else if (delivery.acked_pkts > 0
            && !(was_in_ncr && self.ncr.is_some())
            && !(had_window && self.is_legacy()))
            || self.owns_window
            || (delivery.newly_sacked && self.reordering.has_learned())
        {
            let ack = Ack {
                acked_pkts: delivery.delivered_pkts,
                in_flight_pkts: self.scoreboard.in_flight(),
                snd_una: self.snd_una,
                snd_nxt: self.snd_nxt,
                is_cwnd_limited: self.is_cwnd_limited(),
                delivered_pkts: self.delivered_pkts,
                delivered_ce_pkts: self.delivered_ce_pkts,
                lost_pkts: self.scoreboard.lost_total(),
                newly_lost_pkts,
                prior_in_flight_pkts,
                has_ece,
                min_rtt_us: min_rtt_us as u32,
                rtt_us,
                srtt_us: self.rtt.srtt_us() as u32,
                max_packets_out_pkts: self.max_packets_out(),
                pacing_wait_us: self.pacing.wait_us(now),
                state: self.state,
                mss_bytes: self.mss_bytes,
                rate,
            };
            self.control.on_ack(now, &ack, &mut self.window);
            self.watch_slow_start(now);
            if self.control.take_reduction() {
                self.enter_cwr(now, SlowStartEnd::Control);
            }
            if self.scoreboard.rate.is_enabled() && self.control.holds_back() {
                let in_flight_pkts = self.scoreboard.in_flight();
                self.scoreboard.rate.on_app_limited(in_flight_pkts);
            }
        }
        if is_dubious && self.is_legacy() && !self.is_reducing() {
            self.moderate_window();
        }
        if self.scoreboard.packets_out() == 0 {
            self.timer = Timer::Off;
        } else if !self.waits_for_reordering && restarts_timer && !self.schedule_probe(now, true) {
            self.arm_retransmission_timer(now);
        }
    }

    /// Takes note of what arrived later than what was sent after it. `high_before`: the end of
    /// the highest segment SACKed before this acknowledgment.
    #[inline]
    fn learn_reordering(&mut self, now_us: u64, high_before: u64, delivery: &Delivery) {
        let highest_sacked = self.scoreboard.highest_sacked_end();
        let high = if self.is_legacy() {
            highest_sacked
        } else {
            highest_sacked.max(self.snd_una)
        };
        let trusts = (self.state != CongestionState::Loss || self.undo.is_possible())
            && !(self.is_legacy() && self.checks_timeout && self.state == CongestionState::Loss);
        if let Some(seq) = delivery.reordered_seq.filter(|_| trusts) {
            self.reordering.on_reordered(high.saturating_sub(seq));
        }
        if let Some(seq) = delivery.filled_seq.filter(|seq| *seq < high_before) {
            self.reordering.on_reordered(high.saturating_sub(seq));
        }
        if delivery.delivered_pkts > 0 {
            let newest_us = self.scoreboard.newest_delivered_us();
            self.reordering.adjust(now_us, newest_us);
        }
    }

    /// Tells the congestion control of each packet marked lost, if it takes rate samples.
    pub(super) fn tell_losses(&mut self, now: SimTime) {
        for lost in self.scoreboard.rate.drain_lost() {
            let lost = LostPacket {
                delivered_pkts: self.delivered_pkts,
                ..lost
            };
            self.control.on_packet_lost(now, &lost, &self.window);
        }
    }

    /// Proportional rate reduction, or rate halving.
    pub(super) fn reduce(&mut self, delivered_pkts: u32, progress: bool) {
        let in_flight_pkts = self.scoreboard.in_flight();
        let ssthresh_pkts = self.window.ssthresh_pkts;
        if let Some(halving) = &mut self.halving {
            let cwnd_pkts = self.window.cwnd_pkts;
            self.window.cwnd_pkts = halving.cwnd_pkts(cwnd_pkts, in_flight_pkts, ssthresh_pkts);
            return;
        }
        let cwnd_pkts = self
            .prr
            .cwnd_pkts(delivered_pkts, in_flight_pkts, ssthresh_pkts, progress);
        self.window.cwnd_pkts = cwnd_pkts.max(1);
    }

    /// Tells the congestion control of the acknowledgment before losses are looked for.
    #[inline]
    fn announce(
        &mut self,
        now: SimTime,
        segment: &Segment,
        prior_una: u64,
        has_ece: bool,
        delivery: &Delivery,
    ) {
        if segment.ack < prior_una {
            return;
        }
        let one_way_delay_us = (segment.ts_val != 0 && segment.ts_ecr != 0)
            .then(|| i64::from(segment.ts_val.wrapping_sub(segment.ts_ecr) as i32));
        let arrival = Arrival {
            acked_bytes: segment.ack - prior_una,
            delivered_pkts: delivery.delivered_pkts,
            snd_una: self.snd_una,
            snd_nxt: self.snd_nxt,
            has_ece,
            one_way_delay_us,
            srtt_us: self.rtt.srtt_us() as u32,
            mss_bytes: self.mss_bytes,
        };
        self.control.on_arrival(now, &arrival, &mut self.window);
    }

    /// Whether `segment` acknowledges what already was and tells no newer window (the third
    /// condition of Linux's `tcp_disordered_ack`).
    #[inline]
    pub(crate) fn is_repeated(&self, segment: &Segment) -> bool {
        segment.ack == self.snd_una
            && (segment.seq < self.window_seq
                || (segment.seq == self.window_seq && segment.window_bytes <= self.window_bytes))
    }

    /// The newest acknowledgment tells the window (RFC 9293 §3.10.7.4); an older one does not.
    #[inline]
    fn update_window(&mut self, segment: &Segment) -> bool {
        if segment.ack < self.snd_una || segment.seq < self.window_seq {
            return false;
        }
        let changed = segment.window_bytes != self.window_bytes;
        self.window_seq = segment.seq;
        self.window_bytes = segment.window_bytes;
        self.max_window_bytes = self.max_window_bytes.max(segment.window_bytes);
        self.window_end = segment.ack + u64::from(segment.window_bytes);
        changed
    }

    /// Nothing is outstanding: the acknowledgment can only be about the window.
    fn on_window_while_idle(&mut self, window_changed: bool) {
        let next_bytes = u64::from(self.mss_bytes).min(self.write_end.saturating_sub(self.snd_nxt));
        if window_changed && self.snd_nxt + next_bytes <= self.window_end {
            self.timer = Timer::Off;
            self.backoff = 0;
            self.probe_due = false;
        }
    }

    /// Nothing is outstanding, but a duplicate may be reported that tells of a needless
    /// reduction or probe.
    fn take_late_duplicates(
        &mut self,
        now: SimTime,
        segment: &Segment,
        window_changed: bool,
        has_ece: bool,
    ) {
        if !self.selective || segment.sack.is_empty() {
            return;
        }
        let mut delivery = Delivery::default();
        let prior_una = self.snd_una;
        if !self.take_sack_blocks(now.as_micros(), segment, prior_una, &mut delivery) {
            return;
        }
        let step = Step {
            segment,
            delivery: &delivery,
            prior_una,
            is_duplicate: segment.ack == prior_una && segment.payload_bytes == 0 && !window_changed,
            has_ece,
        };
        self.update_state(now, &step);
        if self.probe_end.is_some() {
            self.judge_probe(now, &step, true);
        }
    }

    fn take_sack_blocks(
        &mut self,
        now_us: u64,
        segment: &Segment,
        prior_una: u64,
        delivery: &mut Delivery,
    ) -> bool {
        let mut duplicate = None;
        let min_rtt_us = self.rtt.min_rtt_us().unwrap_or(0);
        let mut first: Option<SackBlock> = None;
        let mut blocks = [SackBlock::default(); SackBlocks::CAPACITY];
        let mut count = 0;
        for (position, block) in segment.sack.iter(segment.ack).enumerate() {
            // RFC 2883 §4: the first block reports a duplicate if it lies below the
            // acknowledgment or within the second.
            let below = block.start < segment.ack;
            let covers_first = position == 1
                && first.is_some_and(|f| block.start <= f.start && f.end <= block.end);
            if (position == 0 && below) || covers_first {
                duplicate = first.or(Some(block)).filter(|d| self.credits(d, delivery));
                if let Some(duplicate) = duplicate
                    && (duplicate.end <= prior_una || covers_first)
                {
                    self.undo.on_duplicate(duplicate.end);
                }
            }
            if position == 0 {
                first = Some(block);
            }
            if !below && block.end <= self.snd_nxt && block.end > self.snd_una {
                blocks[count] = block;
                count += 1;
            }
        }
        // The segment delivered last gives RACK its RTT: take them in the order of sequence.
        blocks[..count].sort_unstable_by_key(|block| block.start);
        for block in &blocks[..count] {
            self.note_late(block.start, block.end);
            self.scoreboard
                .on_sack(block.start, block.end, now_us, min_rtt_us, delivery);
        }
        if let Some(duplicate) = duplicate {
            self.scoreboard
                .on_duplicate(duplicate.start, duplicate.end, delivery);
            self.confirm_late(duplicate);
        }
        duplicate.is_some()
    }

    /// Takes note of a duplicate that the peer reports; whether a retransmission can have
    /// caused it (Linux: `tcp_dsack_seen`). A needless retransmission delivered counts as a
    /// packet delivered.
    fn credits(&mut self, duplicate: &SackBlock, delivery: &mut Delivery) -> bool {
        let bytes = duplicate.end.saturating_sub(duplicate.start);
        let segments = bytes.div_ceil(u64::from(self.mss_bytes)).max(1);
        self.statistics.spurious_retransmits += segments;
        if self.statistics.spurious_retransmits > self.statistics.retransmits {
            return false;
        }
        delivery.delivered_pkts += segments as u32;
        if self.probe_end != Some(duplicate.end) {
            self.reordering.on_duplicate();
        }
        true
    }

    /// RTT from a segment sent once (Karn), acknowledged before SACKed; else the timestamp.
    #[inline]
    fn measure_rtt(
        &mut self,
        now: SimTime,
        segment: &Segment,
        now_ts: u32,
        delivery: &Delivery,
    ) -> Option<u32> {
        let now_us = now.as_micros();
        // Before 3.2 an echoed timestamp came first, and a SACK was no sample.
        let is_legacy = self.is_legacy();
        let acked = delivery
            .acked_sent_us
            .filter(|_| !(delivery.retransmitted_acked || (is_legacy && segment.ts_ecr != 0)));
        let sacked = delivery.sacked_sent_us.filter(|_| !is_legacy);
        let (rtt_us, path_rtt_us) = if let Some((first_us, last_us)) = acked {
            // SACKed segments are newer than acknowledged ones and hold the path's RTT.
            let newest_us = sacked.map_or(last_us, |(_, us)| us);
            (now_us - first_us, now_us - newest_us)
        } else if let Some((first_us, last_us)) = sacked {
            (now_us - first_us, now_us - last_us)
        } else if segment.ts_ecr != 0 && delivery.acked_pkts > 0 {
            let rtt_us = u64::from(now_ts.wrapping_sub(segment.ts_ecr));
            // What coarse timestamps measure is coarse.
            let tick_us = self.tick_us;
            let rtt_ticks = now_us / tick_us - now_us.saturating_sub(rtt_us) / tick_us;
            let rtt_us = rtt_ticks.max(1) * tick_us;
            (rtt_us, rtt_us)
        } else {
            return None;
        };
        self.take_rtt(now, rtt_us, path_rtt_us);
        if let Some(pr) = &mut self.pr {
            pr.on_sample(rtt_us, delivery.delivered_pkts, self.window.cwnd_pkts);
        }
        let sample = RttSample {
            rtt_us: path_rtt_us as u32,
            srtt_us: self.rtt.srtt_us() as u32,
            acked_pkts: delivery.acked_pkts,
            sacked_pkts: self.scoreboard.sacked_out(),
            packets_out_pkts: self.scoreboard.packets_out(),
            snd_una: self.snd_una,
            snd_nxt: self.snd_nxt,
            mss_bytes: self.mss_bytes,
        };
        self.control.on_rtt_sample(now, &sample, &mut self.window);
        Some(path_rtt_us as u32)
    }
}
