//! A mobility model of one's own, with keys of its own and a sweep over one of them.
//!
//! Random waypoint (Johnson and Maltz, "Dynamic source routing in ad hoc wireless networks", Mobile
//! Computing, 1996): a UE pauses, goes straight to a uniformly drawn place of a rectangle, and pauses
//! again.

use std::error::Error;
use std::sync::Arc;

use backlane_world::Models;
use backlane_world::engine::Stream;
use backlane_world::mobility::{MobilityModel, Position, UeMotion};
use backlane_world::param::params;
use backlane_world::units::{Duration, Length, Speed};

const METRE: Length = Length::from_um(1_000_000);

params! {
    /// Random waypoint (Johnson and Maltz 1996).
    #[derive(Clone, Copy, Debug)]
    pub struct RandomWaypoint {
        /// Speed between two places; without one, UEs stay.
        speed: Speed;
        /// Pause at each place.
        pause: Duration = Duration::from_secs(1), in Duration::from_millis(1)..=Duration::from_secs(3600);
        /// East side of the rectangle, whose southwest corner is the origin.
        width: Length, in METRE..;
        /// North side of the rectangle.
        height: Length, in METRE..;
    }
}

impl MobilityModel for RandomWaypoint {
    fn places(
        &self,
        from: Position,
        end: Duration,
        stream: &mut Stream,
    ) -> Vec<(Duration, Position)> {
        let mut places = Vec::new();
        let (mut at, mut here) = (Duration::ZERO, from);
        let speed_m_per_s = self.speed.as_m_per_s_f64();
        while speed_m_per_s > 0.0 && at < end {
            at += self.pause;
            places.push((at, here));
            let x_m = self.width.as_m_f64() * stream.uniform();
            let y_m = self.height.as_m_f64() * stream.uniform();
            let next = Position::new(x_m, y_m, from.z_m);
            let time_s = here.distance_m(next) / speed_m_per_s;
            at += Duration::from_secs_f64(time_s);
            places.push((at, next));
            here = next;
        }
        places
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    let model = UeMotion::new("random-waypoint", |model: RandomWaypoint| Arc::new(model));
    let models = Models::builder().mobility(model).build()?;
    let catalogue = models.catalogue();
    let text = include_str!("../cells.toml");
    let plan = catalogue.plan(text, "cells.toml", &[], None)?;
    println!("   speed  handovers  goodput of all UEs");
    for cell in &plan.cells {
        let scenario = catalogue.from_resolved(&cell.resolved)?;
        let outcome = models.run(&scenario, scenario.seed)?;
        let handovers = outcome.radio.integers("handovers");
        let handovers: u64 = handovers
            .ok_or("a column is missing")?
            .iter()
            .flatten()
            .sum();
        let goodputs = outcome.flows.floats("goodput_bps");
        let goodputs = goodputs.ok_or("a column is missing")?;
        let sum: f64 = goodputs.iter().flatten().sum();
        let speed = cell.parameters["access.mobility.speed"].to_string();
        let speed = speed.trim_matches('"');
        println!("{speed:>8} {handovers:>10} {:>6.2} Mbit/s", sum / 1e6);
    }
    Ok(())
}
