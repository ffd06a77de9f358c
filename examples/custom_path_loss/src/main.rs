//! A model of path loss of one's own, with keys of its own and a sweep over one of them.
//!
//! Two slopes with a breakpoint (Feuerstein et al., "Path loss, delay spread, and outage models as
//! functions of antenna height for microcellular system design", IEEE Transactions on Vehicular
//! Technology 43(3), 1994). The loss over the first metre is that of free space.

use std::error::Error;
use std::sync::Arc;

use backlane_world::Models;
use backlane_world::param::params;
use backlane_world::path_losses::{Path, PathLoss, PathLossModel};
use backlane_world::units::{Frequency, Length};

const METRE: Length = Length::from_um(1_000_000);

params! {
    /// Two slopes with a breakpoint (Feuerstein et al. 1994).
    #[derive(Clone, Copy, Debug)]
    pub struct DualSlope {
        /// Exponent up to the breakpoint: 2 is free space.
        near_exponent: f64 = 2.0, in 1.0..=8.0;
        /// Exponent beyond the breakpoint: 4 is flat ground.
        far_exponent: f64 = 4.0, in 1.0..=8.0;
        /// Where the slope changes.
        breakpoint: Length, in METRE..;
    }
}

impl PathLossModel for DualSlope {
    fn loss_db(&self, path: &Path, frequency: Frequency) -> f64 {
        let wavelength_m = 299_792_458.0 / frequency.as_hz() as f64;
        let first_metre_db = 20.0 * (4.0 * std::f64::consts::PI / wavelength_m).log10();
        let breakpoint_m = self.breakpoint.as_m_f64();
        let near_m = path.distance_m.min(breakpoint_m);
        let beyond = (path.distance_m / breakpoint_m).max(1.0);
        let near_db = 10.0 * self.near_exponent * near_m.log10();
        first_metre_db + near_db + 10.0 * self.far_exponent * beyond.log10()
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    let dual_slope = PathLoss::new("dual-slope", |model: DualSlope| Arc::new(model));
    let models = Models::builder().path_loss(dual_slope).build()?;
    let catalogue = models.catalogue();
    let text = include_str!("../cell.toml");
    let plan = catalogue.plan(text, "cell.toml", &[], None)?;
    println!("far_exponent  goodput of ue1 and ue2");
    for cell in &plan.cells {
        let scenario = catalogue.from_resolved(&cell.resolved)?;
        let outcome = models.run(&scenario, scenario.seed)?;
        let goodputs = outcome.flows.floats("goodput_bps");
        let goodputs = goodputs.ok_or("a column is missing")?;
        let goodputs = goodputs.iter().flatten();
        let shown: Vec<_> = goodputs.map(|bps| format!("{:>7.2}", bps / 1e6)).collect();
        println!(
            "{:>12} {} Mbit/s",
            cell.parameters["access.path_loss.far_exponent"],
            shown.join(" "),
        );
    }
    Ok(())
}
