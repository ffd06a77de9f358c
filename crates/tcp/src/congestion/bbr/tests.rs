//! BBR's rules one by one, over a path of whole packets without delay variation.

use super::super::fixture::at_ms;
use super::phases::{HIGH_GAIN, MIN_CWND_PKTS};
use super::*;
use crate::congestion::RateSample;

const MSS_BYTES: u32 = 1448;
const RTT_MS: u64 = 40;
/// 100 packets in 40 ms.
const PKTS_PER_MS: f64 = 2.5;

/// Acknowledgments of a path that delivers one packet in 0.4 ms when there is enough in flight.
struct Feed {
    bbr: Bbr,
    window: Window,
    now_us: u64,
    ack: Ack,
}

impl Feed {
    fn new(seed: u64) -> Self {
        let mut bbr = Bbr::new(&Config::default(), seed);
        let mut window = Window::new(10, u32::MAX);
        let rtt_us = (RTT_MS * 1000) as u32;
        bbr.on_established(SimTime::ZERO, rtt_us, MSS_BYTES, &mut window);
        let ack = Ack {
            acked_pkts: 1,
            mss_bytes: MSS_BYTES,
            rtt_us: Some(rtt_us),
            srtt_us: rtt_us,
            ..Ack::default()
        };
        Self {
            bbr,
            window,
            now_us: 0,
            ack,
        }
    }

    /// One round of `pkts` packets delivered, a packet per acknowledgment, over `span_us`; each
    /// is a sample of the rate of the round.
    fn round(&mut self, pkts: u32, span_us: u64) {
        let prior_delivered_pkts = self.ack.delivered_pkts;
        for _ in 0..pkts {
            self.now_us += span_us / u64::from(pkts);
            self.ack.delivered_pkts += 1;
            self.ack.rate = RateSample {
                delivered_pkts: pkts,
                interval_us: span_us as u32,
                prior_delivered_pkts,
                ..RateSample::default()
            };
            self.take();
        }
    }

    fn take(&mut self) {
        let now = SimTime::ZERO + Duration::from_micros(self.now_us);
        self.bbr.on_ack(now, &self.ack, &mut self.window);
    }

    /// In the gain cycle, with 100 packets in each round and as many in flight.
    fn cruising(seed: u64) -> Self {
        let mut feed = Self::new(seed);
        feed.ack.in_flight_pkts = 100;
        feed.ack.prior_in_flight_pkts = 100;
        for _ in 0..8 {
            feed.round(100, RTT_MS * 1000);
        }
        assert_eq!(feed.bbr.phase, Phase::ProbeBandwidth);
        feed.bbr.pace(GAIN_UNIT);
        feed
    }
}

#[test]
fn the_first_rate_is_the_window_in_one_rtt_times_the_high_gain() {
    let feed = Feed::new(1);
    let bytes_per_s = 10.0 * f64::from(MSS_BYTES) / 0.04 * (HIGH_GAIN as f64 / 256.0) * 0.99;
    let paced = feed.bbr.pacing_rate().unwrap().as_bps() as f64 / 8.0;
    assert!((paced / bytes_per_s - 1.0).abs() < 1e-3, "{paced}");
}

#[test]
fn without_an_rtt_of_the_handshake_a_millisecond_is_assumed_until_there_is_one() {
    let mut bbr = Bbr::new(&Config::default(), 1);
    let mut window = Window::new(10, u32::MAX);
    bbr.on_established(SimTime::ZERO, 0, MSS_BYTES, &mut window);
    let assumed = bbr.pacing_bytes_per_s;
    assert_eq!(bbr.pipe_pkts(Bandwidth::of(1, 1), GAIN_UNIT), 10);
    let ack = Ack {
        mss_bytes: MSS_BYTES,
        srtt_us: 40_000,
        ..Ack::default()
    };
    bbr.on_ack(at_ms(40), &ack, &mut window);
    let ratio = assumed as f64 / bbr.pacing_bytes_per_s as f64;
    assert!((ratio / 40.0 - 1.0).abs() < 1e-3, "{ratio}");
}

#[test]
fn three_rounds_without_a_quarter_more_end_startup() {
    let mut feed = Feed::new(1);
    feed.ack.in_flight_pkts = 1000;
    for pkts in [10, 20, 40, 80, 100] {
        feed.round(pkts, RTT_MS * 1000);
        assert_eq!(feed.bbr.phase, Phase::Startup);
    }
    // 100 is a quarter more than 80; from here on three rounds are not.
    for _ in 0..2 {
        feed.round(100, RTT_MS * 1000);
        assert_eq!(feed.bbr.phase, Phase::Startup);
    }
    feed.round(100, RTT_MS * 1000);
    assert_eq!(feed.bbr.phase, Phase::Drain);
    // The threshold shows it: the pipe and three bursts, of 2 packets at the former rate.
    assert!((100..=130).contains(&feed.window.ssthresh_pkts));
    assert!(feed.bbr.pacing_gain < GAIN_UNIT);
}

#[test]
fn rounds_in_which_the_application_paused_do_not_end_startup() {
    let mut feed = Feed::new(1);
    feed.round(100, RTT_MS * 1000);
    feed.ack.rate.is_app_limited = true;
    for _ in 0..10 {
        feed.ack.rate.prior_delivered_pkts = feed.ack.delivered_pkts;
        feed.ack.delivered_pkts += 10;
        feed.now_us += RTT_MS * 1000;
        feed.take();
    }
    assert_eq!(feed.bbr.phase, Phase::Startup);
    assert!(feed.bbr.rounds >= 10);
}

#[test]
fn an_application_limited_sample_counts_only_if_it_is_the_largest() {
    let mut feed = Feed::cruising(1);
    let before = feed.bbr.max_bandwidth();
    feed.ack.rate.is_app_limited = true;
    feed.ack.rate.delivered_pkts = 1;
    for _ in 0..20 {
        feed.ack.rate.prior_delivered_pkts = feed.ack.delivered_pkts;
        feed.ack.delivered_pkts += 1;
        feed.take();
    }
    assert_eq!(feed.bbr.max_bandwidth(), before);
    feed.ack.rate.delivered_pkts = 200;
    feed.take();
    assert_eq!(feed.bbr.max_bandwidth(), Bandwidth::of(200, RTT_MS * 1000));
}

#[test]
fn the_drained_queue_starts_the_gain_cycle_anywhere_but_in_its_draining_phase() {
    let mut seen = [false; 8];
    for seed in 0..100 {
        let mut feed = Feed::cruising(seed);
        feed.bbr.start_gain_cycle();
        seen[feed.bbr.cycle] = true;
    }
    assert_eq!(seen, [true, false, true, true, true, true, true, true]);
}

#[test]
fn a_cruising_phase_lasts_the_smallest_rtt() {
    let mut feed = Feed::cruising(1);
    feed.bbr.cycle = 3;
    feed.bbr.cycle_start_us = feed.now_us;
    feed.bbr.pacing_gain = GAIN_UNIT;
    feed.bbr.totals.delivered_us = feed.now_us + RTT_MS * 1000;
    feed.bbr.update_cycle(&feed.ack);
    assert_eq!(feed.bbr.cycle, 3);
    feed.bbr.totals.delivered_us += 1;
    feed.bbr.update_cycle(&feed.ack);
    assert_eq!(feed.bbr.cycle, 4);
}

#[test]
fn probing_lasts_until_a_quarter_more_is_in_flight_or_lost() {
    let mut feed = Feed::cruising(1);
    feed.bbr.cycle = 0;
    feed.bbr.cycle_start_us = feed.now_us;
    feed.bbr.pacing_gain = GAIN_UNIT * 5 / 4;
    feed.bbr.totals.delivered_us = feed.now_us + RTT_MS * 1000 + 1;
    // 125 and three bursts of 2, even, and 2; less the burst that leaves next.
    feed.ack.prior_in_flight_pkts = 131;
    feed.bbr.update_cycle(&feed.ack);
    assert_eq!(feed.bbr.cycle, 0);
    let mut lossy = feed.bbr.clone();
    lossy.update_cycle(&Ack {
        newly_lost_pkts: 1,
        ..feed.ack
    });
    assert_eq!(lossy.cycle, 1);
    feed.ack.prior_in_flight_pkts = 132;
    feed.bbr.update_cycle(&feed.ack);
    assert_eq!(feed.bbr.cycle, 1);
}

#[test]
fn draining_ends_early_when_no_more_than_the_pipe_is_in_flight() {
    let mut feed = Feed::cruising(1);
    feed.bbr.cycle = 1;
    feed.bbr.cycle_start_us = feed.now_us;
    feed.bbr.pacing_gain = GAIN_UNIT * 3 / 4;
    feed.bbr.totals.delivered_us = feed.now_us + 1;
    feed.ack.prior_in_flight_pkts = 107;
    feed.bbr.update_cycle(&feed.ack);
    assert_eq!(feed.bbr.cycle, 1);
    feed.ack.prior_in_flight_pkts = 106;
    feed.bbr.update_cycle(&feed.ack);
    assert_eq!(feed.bbr.cycle, 2);
}

#[test]
fn the_window_is_twice_the_pipe_with_three_bursts_and_the_excess() {
    let feed = Feed::cruising(1);
    let extra_pkts = feed.bbr.aggregation.extra_pkts(feed.bbr.bandwidth());
    assert!(extra_pkts <= 2, "{extra_pkts}");
    // Bursts of 2, or of 3 while probing, then with 2 packets more; rounded up to even.
    let cwnd_pkts = feed.window.cwnd_pkts - extra_pkts;
    assert!((206..=212).contains(&cwnd_pkts), "{cwnd_pkts}");
}

#[test]
fn a_burst_is_a_1024th_of_a_second_but_two_segments_and_one_at_slow_rates() {
    assert_eq!(window::burst_pkts(149_999, MSS_BYTES), 1);
    assert_eq!(window::burst_pkts(150_000, MSS_BYTES), 2);
    // What Linux paces at 50 Mb/s: 5833 bytes in a 1024th.
    assert_eq!(window::burst_pkts(5_972_994, MSS_BYTES), 4);
    assert_eq!(window::burst_pkts(u64::MAX, MSS_BYTES), 45);
    assert_eq!(window::burst_pkts(u64::MAX, 100), 127);
}

#[test]
fn ten_seconds_without_a_smaller_rtt_empty_the_path_for_two_hundred_milliseconds() {
    let mut feed = Feed::cruising(1);
    let cwnd_pkts = feed.window.cwnd_pkts;
    feed.ack.rtt_us = Some(45_000);
    feed.now_us = 10_000_000;
    feed.ack.rate.prior_delivered_pkts = 0;
    feed.take();
    assert_ne!(feed.bbr.phase, Phase::ProbeRtt);
    feed.now_us = 10_001_000;
    feed.take();
    assert_eq!(feed.bbr.phase, Phase::ProbeRtt);
    assert_eq!(feed.window.cwnd_pkts, MIN_CWND_PKTS);
    assert_eq!(feed.bbr.min_rtt_us, 45_000);
    assert!(feed.bbr.holds_back());
    // The clock starts when the queue is drained.
    feed.now_us += 100_000;
    feed.ack.in_flight_pkts = MIN_CWND_PKTS;
    feed.take();
    let start_us = feed.now_us;
    for wait_ms in [50, 100, 150, 200] {
        feed.now_us = start_us + wait_ms * 1000;
        feed.ack.delivered_pkts += 4;
        feed.ack.rate.prior_delivered_pkts = feed.ack.delivered_pkts - 4;
        feed.take();
        assert_eq!(feed.bbr.phase, Phase::ProbeRtt, "after {wait_ms} ms");
    }
    feed.now_us = start_us + 201_000;
    feed.take();
    assert_eq!(feed.bbr.phase, Phase::ProbeBandwidth);
    assert!(feed.window.cwnd_pkts >= cwnd_pkts - 2);
}

#[test]
fn an_idle_path_needs_no_rest() {
    let mut feed = Feed::cruising(1);
    feed.bbr.cycle = 0;
    feed.bbr.update_gains();
    feed.bbr.on_restart(at_ms(20_000), &mut feed.window);
    // Paced at the bandwidth and not above, at any point of the cycle.
    let paced = feed.bbr.bandwidth().paced_bytes_per_s(MSS_BYTES, GAIN_UNIT);
    assert_eq!(feed.bbr.pacing_bytes_per_s, paced);
    feed.now_us = 20_040_000;
    feed.take();
    assert_eq!(feed.bbr.phase, Phase::ProbeBandwidth);
    assert_eq!(feed.bbr.min_rtt_at_ms, 20_040);
}

#[test]
fn the_first_round_of_recovery_sends_what_is_delivered_and_the_window_comes_back() {
    let mut feed = Feed::cruising(1);
    let before = feed.window.cwnd_pkts;
    feed.bbr.ssthresh(SimTime::ZERO, &feed.window, 100);
    feed.ack.state = CongestionState::Recovery;
    feed.ack.newly_lost_pkts = 10;
    feed.ack.in_flight_pkts = 90;
    feed.ack.rate.prior_delivered_pkts = 0;
    feed.ack.delivered_pkts += 1;
    feed.take();
    assert_eq!(feed.window.cwnd_pkts, 91);
    feed.ack.newly_lost_pkts = 0;
    feed.ack.acked_pkts = 2;
    feed.take();
    assert_eq!(feed.window.cwnd_pkts, 92);
    // A round later it grows by what is acknowledged.
    feed.ack.rate.prior_delivered_pkts = feed.ack.delivered_pkts;
    feed.take();
    assert_eq!(feed.window.cwnd_pkts, 94);
    feed.ack.state = CongestionState::Open;
    feed.take();
    assert!(feed.window.cwnd_pkts.abs_diff(before) <= 2);
}

#[test]
fn recovery_and_congestion_marks_leave_the_threshold_alone() {
    let mut feed = Feed::cruising(1);
    let window = feed.window;
    assert_eq!(
        feed.bbr.ssthresh(SimTime::ZERO, &window, 3),
        window.ssthresh_pkts
    );
    assert_eq!(feed.bbr.undo_cwnd(&window, 900), window.cwnd_pkts);
}

#[test]
fn a_policed_rate_is_paced_without_gain_cycle() {
    let mut feed = Feed::cruising(1);
    feed.bbr.cycle = 0;
    for _ in 0..12 {
        feed.ack.newly_lost_pkts = 1;
        feed.ack.lost_pkts += 30;
        feed.round(100, RTT_MS * 1000);
    }
    assert!(feed.bbr.policer.bandwidth().is_some());
    assert_eq!(feed.bbr.pacing_gain, GAIN_UNIT);
    let pkts_per_ms = feed.bbr.bandwidth_estimate().as_bps() as f64 / 8e3 / f64::from(MSS_BYTES);
    assert!(
        (pkts_per_ms / PKTS_PER_MS - 1.0).abs() < 0.01,
        "{pkts_per_ms}"
    );
}

#[test]
fn a_timeout_is_a_loss_that_the_policer_counts_and_keeps_the_full_pipe() {
    let mut feed = Feed::cruising(1);
    feed.bbr.on_timeout(at_ms(400), 100);
    assert!(feed.bbr.full_pipe.is_reached());
    assert_eq!(feed.bbr.last_state, CongestionState::Loss);
    assert_eq!(feed.bbr.totals.lost_pkts, 100);
}

/// As in Linux (`bbr_packets_in_net_at_edt`): only a gain above one adds the burst that is about
/// to leave, here 10 × 1448 × 1024 bytes a second, 10 packets in a 1024th of it.
#[test]
fn the_next_burst_counts_as_in_the_network_while_probing_alone() {
    let mut feed = Feed::cruising(1);
    feed.bbr.pacing_bytes_per_s = 10 * u64::from(MSS_BYTES) * 1024;
    for (gain, pkts) in [(192, 50), (GAIN_UNIT, 50), (320, 60)] {
        feed.bbr.pacing_gain = gain;
        assert_eq!(feed.bbr.in_network_pkts(&feed.ack, 50), pkts, "{gain}");
    }
}
