//! A congestion control of one's own, AIMD(a, b), with keys of its own and a sweep over one of them,
//! against CUBIC at one bottleneck.
//!
//! Additive increase by `a` packets per round trip, multiplicative decrease by the fraction `b`
//! at a loss; AIMD(1, 1/2) is Reno. Between two losses of a lone flow the window is a sawtooth
//! from (1 − b)·W to W, which takes bW/a round trips and carries bW²(2 − b)/2a packets. With one
//! loss in each, all AIMD(a, b) with equal a(2 − b)/b have equal throughput at equal loss
//! probability, so that a = 3b/(2 − b) is as fast as Reno; a small b makes the sawtooth flat.

use std::error::Error;

use backlane_world::controls::Control;
use backlane_world::param::params;
use backlane_world::tcp::congestion::{Ack, CongestionControl, Window};
use backlane_world::units::SimTime;
use backlane_world::{Models, Outcome};

params! {
    /// Additive increase, multiplicative decrease.
    #[derive(Clone, Copy, Debug)]
    pub struct Config {
        /// Share of the window that a loss takes.
        decrease: f64 = 0.5, in 0.01..=0.99;
        /// Packets per round trip that the window gains; if left out, as fast as Reno at the same
        /// loss probability.
        increase_pkts: f64 => 3.0 * decrease / (2.0 - decrease), in 0.001..=100.0;
    }
}

/// AIMD(a, b).
#[derive(Debug)]
struct Aimd {
    config: Config,
    /// Growth that is not yet a whole packet.
    fraction_pkts: f64,
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
        let growth_pkts =
            self.config.increase_pkts * f64::from(acked_pkts) / f64::from(window.cwnd_pkts);
        self.fraction_pkts += growth_pkts;
        window.cwnd_pkts += self.fraction_pkts as u32;
        self.fraction_pkts = self.fraction_pkts.fract();
    }

    fn ssthresh(&mut self, _now: SimTime, window: &Window, _in_flight_pkts: u32) -> u32 {
        ((f64::from(window.cwnd_pkts) * (1.0 - self.config.decrease)) as u32).max(2)
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    // Each end of a connection gets a control of its own.
    let aimd = Control::new("aimd", |config: &Config, _random_seed| {
        Box::new(Aimd {
            config: *config,
            fraction_pkts: 0.0,
        })
    });
    let models = Models::builder().congestion_control(aimd).build()?;
    let catalogue = models.catalogue();
    let plan = catalogue.plan(include_str!("../race.toml"), "race.toml", &[], None)?;
    println!("decrease  flow         control  goodput      RTT  retransmits");
    for cell in &plan.cells {
        let scenario = catalogue.from_resolved(&cell.resolved)?;
        let outcome = models.run(&scenario, scenario.seed)?;
        let decrease = cell.parameters["tcp.aimd.decrease"].to_string();
        print(&decrease, &outcome).ok_or("a column is missing")?;
    }
    Ok(())
}

/// The flows of a run; the columns are those of flows.parquet.
fn print(decrease: &str, outcome: &Outcome) -> Option<()> {
    let flows = &outcome.flows;
    let names = flows.texts("flow")?;
    let controls = flows.texts("congestion_control")?;
    let goodputs_bps = flows.floats("goodput_bps")?;
    let rtts_s = flows.floats("rtt_mean_s")?;
    let retransmits = flows.integers("retransmits")?;
    for row in 0..flows.rows() {
        println!(
            "{decrease:<9} {:<12} {:<7} {:>5.1} Mbit/s {:>5.1} ms {:>8}",
            names[row].as_deref()?,
            controls[row].as_deref()?,
            goodputs_bps[row]? / 1e6,
            rtts_s[row]? * 1e3,
            retransmits[row]?,
        );
    }
    Some(())
}
