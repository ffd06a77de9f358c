//! What an acknowledgment does: scoreboard, RTT, congestion state, window, timer, in this order.

use backlane_units::SimTime;

use super::Sender;
use crate::choices::{Growth, OldAcks};
use crate::congestion::{Ack, Arrival, RateSample};
use crate::loss::AckEvent;
use crate::readings::SlowStartEnd;
use crate::recovery::CongestionState;
use crate::recovery::probe::TimeoutFrom;
use crate::recovery::timer::Timer;
use crate::scoreboard::Delivery;
use crate::segment::Segment;

/// An arriving acknowledgment, and the sender's state before it.
#[derive(Clone, Copy, Debug)]
struct Incoming<'a> {
    segment: &'a Segment,
    has_ece: bool,
    window_changed: bool,
    is_duplicate: bool,
    prior_una: u64,
    prior_in_flight_pkts: u32,
    prior_lost_pkts: u64,
    prior_highest_sacked_end: u64,
    /// Where the episode of recovery under way ends; `None`: there is none.
    episode_end_seq: Option<u64>,
}

impl<'a> Incoming<'a> {
    fn advanced(&self) -> bool {
        self.segment.ack > self.prior_una
    }

    /// The acknowledgment as loss detection sees it.
    #[inline]
    fn event(&self, delivery: &'a Delivery, has_dsack: bool) -> AckEvent<'a> {
        AckEvent {
            segment: self.segment,
            delivery,
            prior_una: self.prior_una,
            prior_highest_sacked_end: self.prior_highest_sacked_end,
            is_duplicate: self.is_duplicate,
            has_dsack,
            has_ece: self.has_ece,
        }
    }
}

/// What the congestion control is given of an acknowledgment, beside the sender's state.
#[derive(Clone, Copy, Debug)]
struct Progress {
    /// The packets for which the window may grow.
    counted_pkts: u32,
    covered_pkts: u32,
    newly_lost_pkts: u32,
    prior_in_flight_pkts: u32,
    has_ece: bool,
    rtt_us: Option<u32>,
    rate: RateSample,
}

impl Sender {
    /// Processes the acknowledgment in `segment`. `now_ts`: the present value of our timestamp
    /// clock; `has_ece`: it echoes a congestion mark.
    pub(crate) fn on_ack(&mut self, now: SimTime, segment: &Segment, now_ts: u32, has_ece: bool) {
        if segment.ack > self.recovery.space.snd_nxt {
            return;
        }
        self.observe(now);
        let incoming = self.take_in(segment, has_ece);
        if self.recovery.scoreboard.packets_out() == 0 {
            self.on_ack_while_idle(now, &incoming);
            return;
        }
        let mut delivery = Delivery::default();
        let is_old = segment.ack < incoming.prior_una;
        if is_old && self.old_acks == OldAcks::Nothing {
            return;
        }
        let has_dsack = self.update_scoreboard(now, &incoming, &mut delivery);
        if is_old && self.old_acks == OldAcks::Scoreboard {
            self.mark_only(now, &incoming, &delivery, has_dsack);
            return;
        }
        let rtt_us = self.measure_rtt(now, segment, now_ts, &delivery);
        let restarts_timer = self.restarts_timer(&incoming, &delivery);
        self.report_arrival(now, &incoming, &delivery);
        self.recovery.watch_slow_start(now);
        self.recovery.statistics.duplicate_acks += u64::from(incoming.is_duplicate);

        let r = &mut self.recovery;
        let sacked_out = r.scoreboard.sacked_out();
        let ack = incoming.event(&delivery, has_dsack);
        if self.selective {
            self.loss.on_delivery(r, now, &ack);
        }
        if r.probe.end_seq.is_some() {
            self.loss.on_probe_answer(r, now, &ack);
        }
        let holds_window = self.loss.holds_window(r);
        let is_dubious = r.state != CongestionState::Open
            || delivery.newly_sacked
            || incoming.is_duplicate
            || has_dsack
            || has_ece;
        if is_dubious {
            self.loss.on_ack(r, now, &ack);
        }
        if !self.selective && incoming.is_duplicate && r.scoreboard.sacked_out() > sacked_out {
            delivery.delivered_pkts += 1;
        }
        self.count_delivered(delivery.delivered_pkts, has_ece);

        let rate = self.take_rate_sample(now);
        let r = &mut self.recovery;
        let is_held = holds_window && !self.loss.releases_window();
        let newly_lost_pkts = (r.scoreboard.lost_total() - incoming.prior_lost_pkts) as u32;
        if r.is_reducing() && !r.owns_window {
            self.reduce_window(&incoming, delivery.delivered_pkts, newly_lost_pkts);
        } else if r.owns_window
            || (delivery.covered_pkts > 0 && !is_held)
            || (delivery.newly_sacked && self.loss.counts_sacks_as_progress())
        {
            let progress = Progress {
                counted_pkts: self.counted_pkts(&incoming, &delivery),
                covered_pkts: delivery.covered_pkts,
                newly_lost_pkts,
                prior_in_flight_pkts: incoming.prior_in_flight_pkts,
                has_ece,
                rtt_us,
                rate,
            };
            self.run_control(now, &progress);
        }
        if is_dubious && !self.recovery.is_reducing() {
            self.loss.limit_burst(&mut self.recovery);
        }
        self.update_timer(now, restarts_timer);
    }

    /// The packets for which the window may grow: those delivered. Where the window is not the
    /// control's own, ns-3 counts those that the cumulative acknowledgment covers, SACKed before or
    /// not, and at the end of a recovery those that left after its start.
    #[inline]
    fn counted_pkts(&self, incoming: &Incoming, delivery: &Delivery) -> u32 {
        if self.growth != Growth::Ns3 || self.recovery.owns_window {
            return delivery.delivered_pkts;
        }
        let ack = incoming.segment.ack;
        match incoming.episode_end_seq {
            Some(end_seq) if ack >= end_seq => {
                let mss_bytes = u64::from(self.recovery.space.mss_bytes);
                u32::try_from((ack - end_seq) / mss_bytes).unwrap_or(u32::MAX)
            }
            _ => delivery.covered_pkts,
        }
    }

    /// An old acknowledgment whose SACK blocks the scoreboard has taken does no more than show
    /// reordering and leave Open (Linux before 3.3: `old_ack` of `tcp_ack`).
    fn mark_only(
        &mut self,
        now: SimTime,
        incoming: &Incoming,
        delivery: &Delivery,
        has_dsack: bool,
    ) {
        let r = &mut self.recovery;
        if self.selective {
            let ack = incoming.event(delivery, has_dsack);
            self.loss.on_delivery(r, now, &ack);
        }
        if r.state == CongestionState::Open {
            self.loss.keep_open(r, now);
        }
        self.count_delivered(delivery.delivered_pkts, incoming.has_ece);
    }

    /// Updates the peer's window and records the state before the acknowledgment.
    #[inline]
    fn take_in<'a>(&mut self, segment: &'a Segment, has_ece: bool) -> Incoming<'a> {
        let r = &mut self.recovery;
        let window_changed = r.space.update_window(segment);
        let prior_una = r.space.snd_una;
        Incoming {
            segment,
            has_ece,
            window_changed,
            is_duplicate: segment.ack == prior_una && segment.payload_bytes == 0 && !window_changed,
            prior_una,
            prior_in_flight_pkts: r.scoreboard.in_flight(),
            prior_lost_pkts: r.scoreboard.lost_total(),
            prior_highest_sacked_end: r.scoreboard.highest_sacked_end(),
            episode_end_seq: (r.state >= CongestionState::Recovery).then_some(r.high_seq),
        }
    }

    /// With nothing outstanding, an acknowledgment can only update the window, or report a
    /// duplicate that shows that a reduction or a probe was unnecessary.
    fn on_ack_while_idle(&mut self, now: SimTime, incoming: &Incoming) {
        let r = &mut self.recovery;
        r.timers.timeouts_in_a_row = 0;
        if incoming.window_changed && r.space.fits_window() {
            r.timers.on_window_opened();
        }
        let segment = incoming.segment;
        if !self.selective || segment.sack.is_empty() {
            return;
        }
        let mut delivery = Delivery::default();
        let now_us = now.as_micros();
        if !self.take_sack_blocks(now_us, segment, incoming.prior_una, &mut delivery) {
            return;
        }
        let ack = incoming.event(&delivery, true);
        let r = &mut self.recovery;
        self.loss.on_ack(r, now, &ack);
        if r.probe.end_seq.is_some() {
            self.loss.on_probe_answer(r, now, &ack);
        }
    }

    /// Applies SACK blocks and the cumulative acknowledgment to the scoreboard. Returns whether
    /// a duplicate is reported.
    #[inline]
    fn update_scoreboard(
        &mut self,
        now: SimTime,
        incoming: &Incoming,
        delivery: &mut Delivery,
    ) -> bool {
        let now_us = now.as_micros();
        let segment = incoming.segment;
        let prior_una = incoming.prior_una;
        let timers = &mut self.recovery.timers;
        timers.waits_for_reordering = false;
        if incoming.advanced() {
            timers.timeouts_in_a_row = 0;
            self.recovery.space.acknowledge(segment.ack);
        }
        let has_dsack = self.selective
            && !segment.sack.is_empty()
            && self.take_sack_blocks(now_us, segment, prior_una, delivery);
        if incoming.advanced() {
            let r = &mut self.recovery;
            self.loss
                .before_delivery(&r.scoreboard, prior_una, segment.ack);
            let min_rtt_us = r.rtt.min_rtt_us().unwrap_or(0);
            let echo_end_us = r.undo.echo_end_us(now_us, segment);
            r.scoreboard
                .on_ack(segment.ack, now_us, min_rtt_us, echo_end_us, delivery);
            if !self.selective {
                delivery.delivered_pkts =
                    r.scoreboard.consume_duplicate_acks(delivery.covered_pkts);
            }
        }
        has_dsack
    }

    #[inline]
    fn restarts_timer(&mut self, incoming: &Incoming, delivery: &Delivery) -> bool {
        let r = &mut self.recovery;
        if self.impatient {
            let is_partial = r.state == CongestionState::Recovery && !r.is_recovered();
            let follows = is_partial && r.had_partial_ack;
            r.had_partial_ack = is_partial && (r.had_partial_ack || incoming.advanced());
            return incoming.advanced() && !follows;
        }
        let sacked_before_head = delivery.sacked_sent_us.is_some_and(|(first_us, _)| {
            let head_us = self.recovery.scoreboard.head_sent_us();
            head_us.is_some_and(|head_us| first_us < head_us)
        });
        self.loss.restarts_timer(delivery, sacked_before_head)
    }

    /// Reports the acknowledgment to the congestion control, before losses are detected.
    #[inline]
    fn report_arrival(&mut self, now: SimTime, incoming: &Incoming, delivery: &Delivery) {
        let segment = incoming.segment;
        if segment.ack < incoming.prior_una {
            return;
        }
        let r = &mut self.recovery;
        let one_way_delay_us = (segment.ts_val != 0 && segment.ts_ecr != 0)
            .then(|| i64::from(segment.ts_val.wrapping_sub(segment.ts_ecr) as i32));
        let arrival = Arrival {
            acked_bytes: segment.ack - incoming.prior_una,
            delivered_pkts: delivery.delivered_pkts,
            snd_una: r.space.snd_una,
            snd_nxt: r.space.snd_nxt,
            has_ece: incoming.has_ece,
            one_way_delay_us,
            srtt_us: r.rtt.srtt_us() as u32,
            mss_bytes: r.space.mss_bytes,
        };
        r.control.on_arrival(now, &arrival, &mut r.window);
    }

    #[inline]
    fn count_delivered(&mut self, delivered_pkts: u32, has_ece: bool) {
        let r = &mut self.recovery;
        r.delivered_pkts += u64::from(delivered_pkts);
        if has_ece {
            r.delivered_ce_pkts += u64::from(delivered_pkts);
        }
    }

    #[inline]
    fn take_rate_sample(&mut self, now: SimTime) -> RateSample {
        let r = &mut self.recovery;
        if !r.scoreboard.rate.is_enabled() {
            return RateSample::default();
        }
        r.report_losses(now);
        r.scoreboard.rate.take_sample(
            now.as_micros(),
            r.delivered_pkts,
            r.delivered_ce_pkts,
            r.rtt.min_rtt_us().unwrap_or(0),
        )
    }

    /// Shrinks the window during a reduction.
    fn reduce_window(&mut self, incoming: &Incoming, delivered_pkts: u32, newly_lost_pkts: u32) {
        if delivered_pkts == 0 {
            return;
        }
        let advanced = incoming.advanced();
        let r = &mut self.recovery;
        r.reduce(delivered_pkts, advanced, newly_lost_pkts);
        if !self.selective && advanced && r.scoreboard.has_retransmissions() {
            // RFC 6582 §3.2 step 3: the next hole is retransmitted in any case.
            let least_pkts = r.scoreboard.in_flight() + 1;
            r.window.cwnd_pkts = r.window.cwnd_pkts.max(least_pkts);
        }
    }

    /// The congestion control grows the window, and may ask for a reduction.
    #[inline]
    fn run_control(&mut self, now: SimTime, progress: &Progress) {
        let r = &mut self.recovery;
        let ack = Ack {
            acked_pkts: progress.counted_pkts,
            covered_pkts: progress.covered_pkts,
            in_flight_pkts: r.scoreboard.in_flight(),
            snd_una: r.space.snd_una,
            snd_nxt: r.space.snd_nxt,
            is_cwnd_limited: self.validation.is_cwnd_limited(r),
            delivered_pkts: r.delivered_pkts,
            delivered_ce_pkts: r.delivered_ce_pkts,
            lost_pkts: r.scoreboard.lost_total(),
            newly_lost_pkts: progress.newly_lost_pkts,
            prior_in_flight_pkts: progress.prior_in_flight_pkts,
            has_ece: progress.has_ece,
            min_rtt_us: r.rtt.min_rtt_us().unwrap_or(0) as u32,
            rtt_us: progress.rtt_us,
            srtt_us: r.rtt.srtt_us() as u32,
            max_packets_out_pkts: self.validation.max_packets_out(),
            pacing_wait_us: self.pacing.wait_us(now),
            state: r.state,
            mss_bytes: r.space.mss_bytes,
            rate: progress.rate,
        };
        r.control.on_ack(now, &ack, &mut r.window);
        r.watch_slow_start(now);
        if r.control.take_reduction() {
            self.loss.enter_cwr(r, now, SlowStartEnd::Control);
        }
        if r.scoreboard.rate.is_enabled() && r.control.holds_back() {
            let in_flight_pkts = r.scoreboard.in_flight();
            r.scoreboard.rate.on_app_limited(in_flight_pkts);
        }
    }

    #[inline]
    fn update_timer(&mut self, now: SimTime, restarts_timer: bool) {
        let r = &mut self.recovery;
        if r.scoreboard.packets_out() == 0 {
            r.timers.armed = Timer::Off;
        } else if !r.timers.waits_for_reordering
            && restarts_timer
            && !r.schedule_probe(now, TimeoutFrom::Now)
        {
            self.loss.arm_timer(r, now);
        }
    }
}
