//! A user-defined congestion control, AIMD(a, b), against CUBIC at one bottleneck.
//!
//! Additive increase by `a` packets per round trip, multiplicative decrease by the fraction `b`
//! at a loss; AIMD(1, 1/2) is Reno. Between two losses of a lone flow the window is a sawtooth
//! from (1 − b)·W to W, which takes bW/a round trips and carries bW²(2 − b)/2a packets. With one
//! loss in each, all AIMD(a, b) with equal a(2 − b)/b have equal throughput at equal loss
//! probability, so that a = 3b/(2 − b) is as fast as Reno; a small b makes the sawtooth flat.

use std::error::Error;

use backlane_world::tcp::congestion::{Ack, CongestionControl, Custom, Window};
use backlane_world::units::SimTime;
use backlane_world::{Outcome, Scenario, World};

/// AIMD(a, b).
#[derive(Debug)]
struct Aimd {
    increase_pkts: f64,
    decrease: f64,
    /// Growth that is not yet a whole packet.
    fraction_pkts: f64,
}

impl Aimd {
    /// As fast as Reno at the same loss probability.
    fn as_fast_as_reno(decrease: f64) -> Self {
        Self {
            increase_pkts: 3.0 * decrease / (2.0 - decrease),
            decrease,
            fraction_pkts: 0.0,
        }
    }
}

impl CongestionControl for Aimd {
    fn on_ack(&mut self, _now: SimTime, ack: &Ack, window: &mut Window) {
        if !ack.is_cwnd_limited {
            return;
        }
        let mut acked_pkts = ack.acked_pkts;
        if window.in_slow_start() {
            acked_pkts = window.slow_start(acked_pkts);
        }
        // A window of acknowledged packets is a round trip.
        let growth_pkts = self.increase_pkts * f64::from(acked_pkts) / f64::from(window.cwnd_pkts);
        self.fraction_pkts += growth_pkts;
        window.cwnd_pkts += self.fraction_pkts as u32;
        self.fraction_pkts = self.fraction_pkts.fract();
    }

    fn ssthresh(&mut self, _now: SimTime, window: &Window, _in_flight_pkts: u32) -> u32 {
        ((f64::from(window.cwnd_pkts) * (1.0 - self.decrease)) as u32).max(2)
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    let scenario = backlane_world::catalogue().parse(include_str!("../race.toml"), "race.toml")?;
    println!("b      flow         control  goodput      RTT  retransmits");
    for decrease in [0.5, 0.125] {
        // The scenario says "custom:aimd"; every connection gets its own object.
        let aimd = Custom::new("aimd", move |_random_seed| {
            Box::new(Aimd::as_fast_as_reno(decrease))
        });
        let world = World::with_controls(&scenario, scenario.seed, None, &[aimd])?;
        let outcome = world.run(|_now, _events| Ok(()))?;
        print(decrease, &outcome).ok_or("a column is missing")?;
    }
    Ok(())
}

/// The flows of a run; the columns are those of flows.parquet.
fn print(decrease: f64, outcome: &Outcome) -> Option<()> {
    let flows = &outcome.flows;
    let names = flows.texts("flow")?;
    let controls = flows.texts("congestion_control")?;
    let goodputs_bps = flows.floats("goodput_bps")?;
    let rtts_s = flows.floats("rtt_mean_s")?;
    let retransmits = flows.integers("retransmits")?;
    for row in 0..flows.rows() {
        println!(
            "{decrease:<6} {:<12} {:<7} {:>5.1} Mbit/s {:>5.1} ms {:>8}",
            names[row].as_deref()?,
            controls[row].as_deref()?,
            goodputs_bps[row]? / 1e6,
            rtts_s[row]? * 1e3,
            retransmits[row]?,
        );
    }
    Some(())
}
