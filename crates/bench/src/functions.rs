//! CPU time of single functions that radio access calls for each user and subframe.

use std::hint::black_box;
use std::sync::Arc;

use backlane_engine::Streams;
use backlane_radio::path_loss::{Kun2600, UrbanMacro};
use backlane_radio::{
    Deviation, Fading, FadingProfile, FrequencyResponse, LargeScaleLoss, PathLoss, Position,
    Shadowing, group_offsets_hz,
};
use backlane_units::Frequency;
use cpu_time::ThreadTime;

const REPEATS: usize = 5;
const CARRIER: Frequency = Frequency::from_hz(2_600_000_000);

/// Prints the functions whose name contains `filter`.
pub fn measure(filter: &str) {
    for blocks_to_a_group in [4, 1] {
        let offsets = group_offsets_hz(100, blocks_to_a_group, 180e3);
        let name = format!("fading, EVA, {} frequencies", offsets.len());
        let response = Arc::new(FrequencyResponse::new(FadingProfile::Eva, &offsets));
        // As many links as a busy cell has, so that they share the caches as they do there.
        let mut links: Vec<Fading> = (0..100)
            .map(|ue| {
                let mut stream = Streams::new(1).stream(&format!("ue{ue}"), "fading");
                Fading::new(Arc::clone(&response), &mut stream)
            })
            .collect();
        time(filter, &name, 200_000, |call| {
            // One millisecond at 60 km/h.
            let wavelengths = f64::from(call / 100) * 0.1445;
            black_box(links[call as usize % 100].gains(wavelengths)[0]);
        });
    }
    let kun = PathLoss::Kun2600(Kun2600 { frequency: CARRIER });
    let urban = PathLoss::UrbanMacro(UrbanMacro { frequency: CARRIER });
    let fixed = Shadowing::Fixed(Deviation {
        sigma_db: 8.0,
        correlation_m: 50.0,
    });
    for (name, law, shadowing) in [
        ("path loss, kun2600", kun, Shadowing::Off),
        ("path loss, kun2600, shadowing", kun, fixed),
        ("path loss, 38.901 urban macro", urban, Shadowing::OfModel),
    ] {
        let mut stream = Streams::new(1).stream("enb1", "propagation");
        let loss = LargeScaleLoss::new(law, shadowing, &mut stream);
        let site = Position::new(0.0, 0.0, 25.0);
        time(filter, name, 200_000, |call| {
            let user = Position::new(f64::from(call) * 0.01, 100.0, 1.5);
            black_box(loss.loss_db(site, user));
        });
    }
}

fn time(filter: &str, name: &str, calls: u32, mut function: impl FnMut(u32)) {
    if !name.contains(filter) {
        return;
    }
    let mut least_s = f64::INFINITY;
    for _ in 0..REPEATS {
        let start = ThreadTime::now();
        for call in 0..calls {
            function(call);
        }
        least_s = least_s.min(start.elapsed().as_secs_f64());
    }
    println!(
        "{name:<36} {:>8.0} ns a call",
        least_s * 1e9 / f64::from(calls)
    );
}
