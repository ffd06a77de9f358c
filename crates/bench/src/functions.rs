//! CPU time of single functions: those that radio access calls for each user and subframe, and
//! the arithmetic of network coding.

use std::hint::black_box;
use std::sync::Arc;

use backlane_coding::generation::{Decoder, combine, draw_coefficients};
use backlane_coding::gf256::multiply_add;
use backlane_engine::Streams;
use backlane_radio::path_loss::{Kun2600, UrbanMacro};
use backlane_radio::{
    Fading, FadingProfile, FrequencyResponse, LargeScaleLoss, PathLoss, Position, Shadowing,
    group_offsets_hz,
};
use backlane_units::{Decibels, Frequency, Length};
use cpu_time::ThreadTime;

/// Bytes of a full packet.
const PACKET_BYTES: usize = 1500;
const REPEATS: usize = 5;
const CARRIER: Frequency = Frequency::from_hz(2_600_000_000);

/// Prints the functions whose name contains `filter`.
pub fn measure(filter: &str) {
    coding(filter);
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
    let fixed = Shadowing::Fixed {
        deviation: Decibels::from_mdb(8_000),
        correlation_distance: Length::from_um(50_000_000),
    };
    for (name, law, shadowing) in [
        ("path loss, kun2600", kun.clone(), Shadowing::Off),
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

/// The arithmetic of network coding: over one packet, and over a generation of 64.
fn coding(filter: &str) {
    let from: Vec<u8> = (0..PACKET_BYTES).map(|i| (i * 7 + 3) as u8).collect();
    let mut to = vec![0; PACKET_BYTES];
    let name = "GF(256) multiply-add, 1500 bytes";
    let call_s = time(filter, name, 200_000, |call| {
        // Neither 0 nor 1, which are quicker.
        multiply_add(black_box(&mut to), black_box(&from), 2 + (call % 254) as u8);
    });
    if let Some(call_s) = call_s {
        println!(
            "{:<36} {:>8.1} GB/s",
            "",
            PACKET_BYTES as f64 / call_s / 1e9
        );
    }
    let originals: Vec<u8> = from
        .iter()
        .copied()
        .cycle()
        .take(64 * PACKET_BYTES)
        .collect();
    let mut decoder = Decoder::new(64, PACKET_BYTES);
    let (mut coefficients, mut symbol) = ([0; 64], Vec::new());
    time(
        filter,
        "coded and decoded, 64 packets mixed",
        64_000,
        |call| {
            if call % 64 == 0 {
                decoder.reset(64, PACKET_BYTES);
            }
            draw_coefficients(1, call / 64, call, &mut coefficients);
            combine(&originals, PACKET_BYTES, &coefficients, &mut symbol);
            black_box(decoder.add(&coefficients, &symbol));
        },
    );
}

/// Prints the minimum CPU time of a call over some repeats, in seconds, and returns it.
fn time(filter: &str, name: &str, calls: u32, mut function: impl FnMut(u32)) -> Option<f64> {
    if !name.contains(filter) {
        return None;
    }
    let mut least_s = f64::INFINITY;
    for _ in 0..REPEATS {
        let start = ThreadTime::now();
        for call in 0..calls {
            function(call);
        }
        least_s = least_s.min(start.elapsed().as_secs_f64());
    }
    let call_s = least_s / f64::from(calls);
    println!("{name:<36} {:>8.0} ns a call", call_s * 1e9);
    Some(call_s)
}
