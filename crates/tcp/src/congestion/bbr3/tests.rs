//! The rules one by one, over acknowledgments of a path of 100 packets and 40 ms.

use super::bounds::{LOSS_CUT, MIN_CWND_PKTS, in_flight_at_loss};
use super::*;
use crate::congestion::RateSample;

const MSS_BYTES: u32 = 1448;
const RTT_US: u32 = 40_000;

struct Feed {
    bbr: Bbr3,
    window: Window,
    now_us: u64,
    ack: Ack,
}

impl Feed {
    fn new(seed: u64) -> Self {
        Self::with(&Config::default(), seed, RTT_US)
    }

    fn with(config: &Config, seed: u64, rtt_us: u32) -> Self {
        let mut bbr = Bbr3::new(config, seed);
        let mut window = Window::new(10, u32::MAX);
        bbr.on_established(SimTime::ZERO, rtt_us, MSS_BYTES, &mut window);
        let ack = Ack {
            acked_pkts: 1,
            mss_bytes: MSS_BYTES,
            rtt_us: Some(rtt_us),
            srtt_us: rtt_us,
            in_flight_pkts: 100,
            prior_in_flight_pkts: 100,
            ..Ack::default()
        };
        Self {
            bbr,
            window,
            now_us: 0,
            ack,
        }
    }

    fn now(&self) -> SimTime {
        SimTime::ZERO + Duration::from_micros(self.now_us)
    }

    /// One round of `pkts` packets delivered, a packet per acknowledgment.
    fn round(&mut self, pkts: u32) {
        let prior_delivered_pkts = self.ack.delivered_pkts;
        for _ in 0..pkts {
            self.now_us += u64::from(RTT_US / pkts);
            self.ack.delivered_pkts += 1;
            self.ack.rate = RateSample {
                delivered_pkts: pkts,
                interval_us: RTT_US,
                prior_delivered_pkts,
                tx_in_flight_pkts: pkts,
                prior_lost_pkts: self.ack.lost_pkts,
                ..RateSample::default()
            };
            self.take();
        }
    }

    fn take(&mut self) {
        let now = self.now();
        self.bbr.on_ack(now, &self.ack, &mut self.window);
    }

    /// `lost_since_sent_pkts` of 100 packets in flight are lost, the last of them now.
    fn lose(&mut self, lost_since_sent_pkts: u64) {
        let lost = LostPacket {
            tx_in_flight_pkts: 100,
            lost_since_sent_pkts,
            is_app_limited: false,
            delivered_pkts: self.ack.delivered_pkts,
        };
        let now = self.now();
        self.bbr.on_packet_lost(now, &lost, &self.window);
    }

    /// The bandwidth is known and the queue drained.
    fn cruising(seed: u64) -> Self {
        let mut feed = Self::new(seed);
        for _ in 0..20 {
            feed.round(100);
            if feed.bbr.phase == Phase::Cruise {
                return feed;
            }
        }
        panic!("{:?}", feed.bbr.phase);
    }

    /// In the phase given, reached as the control reaches it.
    fn reaching(phase: Phase, seed: u64) -> Self {
        let mut feed = Self::cruising(seed);
        for _ in 0..80 {
            if feed.bbr.phase == phase {
                return feed;
            }
            // Packet by packet, so that no phase is missed.
            let prior_delivered_pkts = feed.ack.delivered_pkts;
            for _ in 0..100 {
                feed.now_us += u64::from(RTT_US / 100);
                feed.ack.delivered_pkts += 1;
                feed.ack.rate.prior_delivered_pkts = prior_delivered_pkts;
                feed.take();
                if feed.bbr.phase == phase {
                    return feed;
                }
            }
        }
        panic!("{phase:?} was not reached");
    }
}

#[test]
fn three_rounds_without_a_quarter_more_end_startup_and_the_queue_is_drained() {
    let mut feed = Feed::new(1);
    feed.ack.in_flight_pkts = 1000;
    feed.ack.prior_in_flight_pkts = 1000;
    for pkts in [10, 20, 40, 80, 100, 100, 100] {
        feed.round(pkts);
        assert_eq!(feed.bbr.phase, Phase::Startup);
    }
    feed.round(100);
    assert_eq!(feed.bbr.phase, Phase::Drain);
    assert!(feed.bbr.pacing_gain * 2 < GAIN_UNIT);
    feed.ack.in_flight_pkts = 100;
    feed.take();
    assert_eq!(feed.bbr.phase, Phase::Down);
    // Startup found no bound.
    assert_eq!(feed.bbr.bounds.inflight_hi_pkts, UNBOUNDED);
}

#[test]
fn six_acknowledgments_of_losses_in_a_round_of_recovery_end_startup() {
    let lossy_round = |events: u32, lost_pkts: u64, state: CongestionState| {
        let mut feed = Feed::new(1);
        feed.round(50);
        feed.ack.state = state;
        feed.ack.in_flight_pkts = 1000;
        for i in 0..events {
            feed.ack.newly_lost_pkts = 1;
            feed.ack.rate.prior_delivered_pkts = 0;
            feed.ack.lost_pkts += lost_pkts / u64::from(events);
            feed.ack.delivered_pkts += u64::from(i == 0);
            feed.take();
        }
        feed.ack.newly_lost_pkts = 0;
        feed.ack.rate.prior_delivered_pkts = feed.ack.delivered_pkts;
        feed.ack.delivered_pkts += 1;
        feed.take();
        feed.bbr
    };
    let bbr = lossy_round(6, 12, CongestionState::Recovery);
    assert!(bbr.full_pipe.is_reached);
    // The pipe, or what was delivered in a round if that is more.
    assert_eq!(bbr.bounds.inflight_hi_pkts, 51);
    for (events, lost_pkts, state) in [
        (5, 10, CongestionState::Recovery),
        (6, 12, CongestionState::Disorder),
    ] {
        assert!(!lossy_round(events, lost_pkts, state).full_pipe.is_reached);
    }
}

#[test]
fn a_cycle_goes_from_cruising_over_refilling_up_and_down() {
    let refill = Feed::reaching(Phase::Refill, 1);
    assert_eq!(refill.bbr.pacing_gain, GAIN_UNIT);
    let mut up = Feed::reaching(Phase::Up, 1);
    assert_eq!(up.bbr.pacing_gain, GAIN_UNIT * 5 / 4);
    assert_eq!(up.bbr.cwnd_gain, GAIN_UNIT * 9 / 4);
    assert!(up.bbr.cycle.awaits_verdict);
    // No more bandwidth in three rounds: all there is has been found.
    for _ in 0..2 {
        up.round(100);
        assert_eq!(up.bbr.phase, Phase::Up);
    }
    up.ack.prior_in_flight_pkts = 130;
    up.round(100);
    up.round(1);
    assert_eq!(up.bbr.phase, Phase::Down);
    assert_eq!(up.bbr.pacing_gain, GAIN_UNIT * 91 / 100);
    up.ack.prior_in_flight_pkts = 100;
    up.round(100);
    assert_eq!(up.bbr.phase, Phase::Cruise);
}

#[test]
fn probes_come_after_two_to_three_seconds_or_as_many_rounds_as_reno_takes() {
    let mut waits = [u64::MAX, 0];
    for seed in 0..200 {
        let mut feed = Feed::cruising(seed);
        feed.bbr.start_down(0, 0);
        let wait_us = feed.bbr.cycle.wait_us;
        waits = [waits[0].min(wait_us), waits[1].max(wait_us)];
    }
    assert!((2_000_000..2_050_000).contains(&waits[0]), "{waits:?}");
    assert!((2_950_000..3_000_000).contains(&waits[1]), "{waits:?}");
    // 62 or 63 rounds of 40 ms are shorter than some of the waits.
    let start = Feed::cruising(1).now_us;
    let probe = Feed::reaching(Phase::Refill, 1).now_us;
    assert!(probe - start <= 63 * u64::from(RTT_US));
}

#[test]
fn a_loss_of_two_percent_is_tolerated_and_more_is_not() {
    let feed = Feed::cruising(1);
    let sample = |lost_pkts: u64, tx_in_flight_pkts: u32| Sample {
        lost_pkts,
        tx_in_flight_pkts,
        ..Sample::default()
    };
    // 5/256 of what is in flight, whole packets.
    assert!(!feed.bbr.is_too_high(&sample(1, 100)));
    assert!(feed.bbr.is_too_high(&sample(2, 100)));
    assert!(!feed.bbr.is_too_high(&sample(19, 1000)));
    assert!(feed.bbr.is_too_high(&sample(20, 1000)));
    assert!(!feed.bbr.is_too_high(&sample(5, 0)));
    let tolerant = Config {
        loss_threshold_percent: 10,
        ..Config::default()
    };
    let feed = Feed::with(&tolerant, 1, RTT_US);
    assert!(!feed.bbr.is_too_high(&sample(9, 100)));
    assert!(feed.bbr.is_too_high(&sample(10, 100)));
}

#[test]
fn the_bound_is_what_was_in_flight_when_losses_passed_the_threshold() {
    let lost = |tx_in_flight_pkts: u32, lost_since_sent_pkts: u64| LostPacket {
        tx_in_flight_pkts,
        lost_since_sent_pkts,
        ..LostPacket::default()
    };
    // 2 of 100 are tolerated; with 2 lost before, the lost packet itself was one too many.
    assert_eq!(in_flight_at_loss(&lost(101, 3), 5), 100);
    // With none lost before, two more packets of loss were tolerated.
    assert_eq!(in_flight_at_loss(&lost(101, 1), 5), 102);
    assert_eq!(in_flight_at_loss(&lost(0, 0), 5), 0);
}

#[test]
fn a_probe_that_loses_too_much_sets_the_bound_once_and_goes_down() {
    let mut feed = Feed::reaching(Phase::Up, 1);
    feed.lose(1);
    assert_eq!(feed.bbr.phase, Phase::Up);
    feed.lose(3);
    assert_eq!(feed.bbr.phase, Phase::Down);
    assert_eq!(feed.bbr.bounds.inflight_hi_pkts, 99);
    feed.bbr.bounds.inflight_hi_pkts = 150;
    feed.lose(50);
    assert_eq!(feed.bbr.bounds.inflight_hi_pkts, 150);
}

#[test]
fn the_bound_is_not_cut_below_seven_tenths_of_the_pipe_nor_by_the_applications_own_pauses() {
    let mut feed = Feed::reaching(Phase::Up, 1);
    let sample = Sample {
        tx_in_flight_pkts: 10,
        lost_pkts: 5,
        ..Sample::default()
    };
    let limited = Sample {
        is_app_limited: true,
        ..sample
    };
    let window = feed.window;
    feed.bbr.on_too_high(0, 0, &limited, &window);
    assert_eq!(feed.bbr.bounds.inflight_hi_pkts, UNBOUNDED);
    feed.bbr.on_too_high(0, 0, &sample, &window);
    // 180/256 of the pipe, 101.
    assert_eq!(feed.bbr.bounds.inflight_hi_pkts, 71);
}

#[test]
fn losses_outside_of_probing_move_the_short_term_bounds_only() {
    let mut feed = Feed::cruising(1);
    let cwnd_pkts = feed.window.cwnd_pkts;
    feed.ack.newly_lost_pkts = 1;
    feed.lose(50);
    feed.ack.newly_lost_pkts = 0;
    feed.round(90);
    feed.round(90);
    let bounds = &feed.bbr.bounds;
    assert_eq!(bounds.inflight_hi_pkts, UNBOUNDED);
    // Seven tenths of the window, which is more than was delivered, and the rate delivered.
    assert_eq!(
        bounds.inflight_lo_pkts,
        (u64::from(cwnd_pkts) * LOSS_CUT / 256) as u32
    );
    let latest = Bandwidth::at_least(100, u64::from(RTT_US));
    assert!(bounds.bandwidth_lo <= latest && bounds.bandwidth_lo.0 * 10 >= latest.0 * 7);
    assert!(feed.window.cwnd_pkts <= feed.bbr.bounds.inflight_lo_pkts);
}

#[test]
fn the_short_term_bounds_fall_by_three_tenths_a_round_but_not_below_what_is_delivered() {
    let mut bounds = Bounds::default();
    let max = Bandwidth(1000);
    let step = |bounds: &mut Bounds, delivered_pkts: u32, rate: u64| {
        bounds.on_loss(0);
        let sample = Sample {
            bandwidth: Bandwidth(rate),
            is_valid: true,
            delivered_pkts,
            ..Sample::default()
        };
        bounds.update_latest(&sample, 0, 1);
        bounds.adapt(max, 200, None);
        bounds.end_latest(&sample);
        bounds.loss_in_round = false;
        (bounds.inflight_lo_pkts, bounds.bandwidth_lo.0)
    };
    assert_eq!(step(&mut bounds, 50, 500), (140, 703));
    assert_eq!(step(&mut bounds, 50, 500), (98, 500));
    // The last sample of a round counts for the next as well.
    assert_eq!(step(&mut bounds, 80, 400), (80, 500));
    assert_eq!(step(&mut bounds, 60, 300), (80, 400));
    assert_eq!(step(&mut bounds, 60, 300), (60, 300));
    bounds.reset_lo();
    assert_eq!(bounds.inflight_lo_pkts, UNBOUNDED);
}

#[test]
fn marks_cut_the_short_term_bound_by_a_third_of_their_share() {
    let mut marks = Marks::new(Duration::from_millis(5));
    // All marked at first.
    assert_eq!(marks.remaining_share(), 171);
    let mut bounds = Bounds::default();
    bounds.adapt(Bandwidth(1000), 200, Some(marks.remaining_share()));
    assert_eq!(bounds.inflight_lo_pkts, 200 * 171 / 256);
    assert!(bounds.bandwidth_lo > Bandwidth(1000));
    // Without marks the share loses a sixteenth a round: (15/16)¹⁶ = 0.356.
    for round in 1..=16 {
        assert!(!marks.on_round(round * 100, 0));
    }
    assert!((marks.share() - 0.356).abs() < 0.03, "{}", marks.share());
    // With every second packet marked it settles at a half, less what integers cut off.
    for round in 17..=120 {
        marks.on_round(round * 100, (round - 16) * 50);
    }
    assert!((marks.share() - 0.47).abs() < 0.04, "{}", marks.share());
}

#[test]
fn two_rounds_with_half_of_the_packets_marked_end_startup() {
    let mut feed = Feed::with(&Config::default(), 1, 4000);
    feed.ack.has_ece = true;
    for round in 0..3 {
        feed.ack.delivered_ce_pkts = feed.ack.delivered_pkts * 6 / 10;
        assert!(!feed.bbr.full_pipe.is_reached, "round {round}");
        feed.round(10 << round);
    }
    feed.ack.delivered_ce_pkts = feed.ack.delivered_pkts * 6 / 10;
    feed.round(1);
    assert!(feed.bbr.full_pipe.is_reached);
    assert_ne!(feed.bbr.bounds.inflight_hi_pkts, UNBOUNDED);
}

#[test]
fn while_the_bound_limits_the_probe_it_grows_twice_as_fast_each_round() {
    let mut feed = Feed::reaching(Phase::Up, 1);
    feed.bbr.bounds.inflight_hi_pkts = 100;
    feed.ack.is_cwnd_limited = true;
    let mut growth = vec![];
    for _ in 0..4 {
        let before = feed.bbr.bounds.inflight_hi_pkts;
        // What was in flight does not raise the bound by itself.
        let prior_delivered_pkts = feed.ack.delivered_pkts;
        for _ in 0..100 {
            feed.now_us += 400;
            feed.ack.delivered_pkts += 1;
            feed.ack.rate.prior_delivered_pkts = prior_delivered_pkts;
            feed.ack.rate.tx_in_flight_pkts = 50;
            feed.window.cwnd_pkts = feed.bbr.bounds.inflight_hi_pkts;
            feed.take();
        }
        growth.push(feed.bbr.bounds.inflight_hi_pkts - before);
    }
    assert_eq!(feed.bbr.phase, Phase::Up);
    let doubles = growth.windows(2).all(|pair| {
        let ratio = f64::from(pair[1]) / f64::from(pair[0]);
        (1.5..2.6).contains(&ratio)
    });
    assert!(doubles, "{growth:?}");
}

#[test]
fn cruising_leaves_a_seventh_of_the_bound_free() {
    let mut feed = Feed::cruising(1);
    feed.bbr.bounds.inflight_hi_pkts = 120;
    feed.take();
    // 120 · 38/256, rounded down.
    assert_eq!(feed.window.cwnd_pkts, 120 - 17);
    feed.bbr.bounds.inflight_hi_pkts = 4;
    feed.ack.rate.tx_in_flight_pkts = 0;
    feed.take();
    assert_eq!(feed.window.cwnd_pkts, MIN_CWND_PKTS);
}

#[test]
fn the_bandwidth_of_the_cycle_before_last_is_forgotten() {
    let mut feed = Feed::reaching(Phase::Up, 1);
    let old = feed.bbr.max_bandwidth();
    feed.bbr.start_down(feed.now_us, feed.ack.delivered_pkts);
    for _ in 0..3 {
        feed.round(50);
    }
    assert_eq!(feed.bbr.max_bandwidth(), old);
    feed.bbr.start_down(feed.now_us, feed.ack.delivered_pkts);
    for _ in 0..3 {
        feed.round(50);
    }
    assert_eq!(
        feed.bbr.max_bandwidth(),
        Bandwidth::at_least(50, u64::from(RTT_US))
    );
}

#[test]
fn five_seconds_without_a_smaller_rtt_bring_a_rest_at_half_the_pipe() {
    let mut feed = Feed::cruising(1);
    feed.ack.rtt_us = Some(RTT_US + 5000);
    feed.now_us = 5_002_000 + feed.now_us / 1000 * 1000;
    feed.take();
    assert_eq!(feed.bbr.phase, Phase::ProbeRtt);
    // Rounded up, as the bandwidth is.
    assert_eq!(feed.window.cwnd_pkts, 51);
    assert!(feed.bbr.holds_back());
    // The smallest RTT is valid for ten.
    assert_eq!(feed.bbr.min_rtt_us, RTT_US);
    feed.ack.in_flight_pkts = 50;
    feed.take();
    let start_us = feed.now_us;
    for wait_ms in [50, 100, 200] {
        feed.now_us = start_us + wait_ms * 1000;
        feed.ack.rate.prior_delivered_pkts = feed.ack.delivered_pkts;
        feed.ack.delivered_pkts += 50;
        feed.take();
        assert_eq!(feed.bbr.phase, Phase::ProbeRtt, "after {wait_ms} ms");
    }
    feed.now_us = start_us + 201_000;
    feed.take();
    assert_eq!(feed.bbr.phase, Phase::Cruise);
    assert!(feed.window.cwnd_pkts > 150);
}

#[test]
fn an_idle_path_needs_no_rest_and_is_paced_at_the_bandwidth() {
    let mut feed = Feed::reaching(Phase::Up, 1);
    feed.now_us += 20_000_000;
    let now = feed.now();
    feed.bbr.on_restart(now, &mut feed.window);
    let paced = feed.bbr.bandwidth().paced_bytes_per_s(MSS_BYTES, GAIN_UNIT);
    assert_eq!(feed.bbr.pacing_bytes_per_s, paced);
    feed.take();
    assert_ne!(feed.bbr.phase, Phase::ProbeRtt);
}

#[test]
fn a_spurious_recovery_restores_window_and_bounds() {
    let mut feed = Feed::cruising(1);
    feed.bbr.bounds.inflight_hi_pkts = 300;
    feed.bbr.ssthresh(SimTime::ZERO, &feed.window, 100);
    let before = feed.window.cwnd_pkts;
    feed.bbr.bounds.inflight_hi_pkts = 80;
    feed.bbr.bounds.inflight_lo_pkts = 60;
    feed.bbr.bounds.loss_in_round = true;
    let window = Window::new(1, 100);
    assert_eq!(feed.bbr.undo_cwnd(&window, 999), before);
    let bounds = &feed.bbr.bounds;
    assert_eq!(
        (bounds.inflight_hi_pkts, bounds.inflight_lo_pkts),
        (300, UNBOUNDED)
    );
    assert!(!bounds.loss_in_round);
}

#[test]
fn after_a_timeout_the_window_comes_back_below_the_short_term_bound() {
    let mut feed = Feed::cruising(1);
    let before = feed.window.cwnd_pkts;
    feed.bbr.ssthresh(SimTime::ZERO, &feed.window, 100);
    feed.bbr.on_timeout(feed.now(), 100);
    assert_eq!(feed.bbr.bounds.inflight_lo_pkts, before);
    feed.window.cwnd_pkts = 1;
    feed.ack.state = CongestionState::Loss;
    feed.take();
    assert!(feed.window.cwnd_pkts <= MIN_CWND_PKTS);
    feed.ack.state = CongestionState::Open;
    feed.take();
    assert!(feed.window.cwnd_pkts >= before - 2);
}

/// `bbr_update_ecn_alpha`: `ecn_eligible` stays once it is set, and a limit of 0 is none.
#[test]
fn marks_are_heeded_once_the_path_was_short_enough() {
    let mut marks = Marks::new(Duration::from_millis(5));
    for (min_rtt_us, are_heeded) in [(5001, false), (5000, true), (9000, true)] {
        marks.look_at_path(min_rtt_us);
        assert_eq!(marks.are_heeded, are_heeded, "{min_rtt_us}");
    }
    let mut marks = Marks::new(Duration::ZERO);
    assert!(!marks.are_heeded);
    marks.look_at_path(400_000);
    assert!(marks.are_heeded);
}
