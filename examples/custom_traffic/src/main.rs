//! A traffic source of one's own, with keys of its own and a sweep over one of them.
//!
//! A video call: a frame each 33 ms, sent as packets back to back, and every 60th frame a key frame
//! that is a multiple of the others. The mean rate is given. Frame sizes are drawn from an
//! exponential distribution around their means.

use std::error::Error;

use backlane_world::engine::Stream;
use backlane_world::param::params;
use backlane_world::sources::Traffic;
use backlane_world::traffic::{Emission, Source};
use backlane_world::units::{Duration, Rate, SimTime};
use backlane_world::{Models, Outcome};

const FRAME: Duration = Duration::from_millis(33);
const FRAMES_PER_KEY_FRAME: u64 = 60;
const PACKET_BYTES: u32 = 1200;

params! {
    /// A video call over UDP.
    #[derive(Clone, Copy, Debug)]
    pub struct Config {
        /// Mean rate of the payload.
        rate: Rate;
        /// Mean size of a key frame, as a multiple of the other frames.
        key_frame: f64 = 5.0, in 1.0..=100.0;
    }
}

#[derive(Debug)]
struct Video {
    frame_bytes: f64,
    config: Config,
    stream: Stream,
    frames: u64,
    /// Bytes of the present frame that are not sent yet.
    bytes_left: u32,
}

impl Source for Video {
    fn next(&mut self, _now: SimTime) -> Option<Emission> {
        let mut after = Duration::ZERO;
        if self.bytes_left == 0 {
            if self.frames > 0 {
                after = FRAME;
            }
            let is_key_frame = self.frames.is_multiple_of(FRAMES_PER_KEY_FRAME);
            let multiple = if is_key_frame {
                self.config.key_frame
            } else {
                1.0
            };
            let mean_bytes = self.frame_bytes * multiple;
            self.bytes_left = 1 + self.stream.exponential(mean_bytes) as u32;
            self.frames += 1;
        }
        let payload_bytes = self.bytes_left.min(PACKET_BYTES);
        self.bytes_left -= payload_bytes;
        Some(Emission {
            after,
            payload_bytes,
        })
    }
}

fn video() -> Traffic {
    Traffic::new("video", |config: &Config, stream| {
        let frames = FRAMES_PER_KEY_FRAME as f64;
        let mean_bytes = config.rate.as_bps() as f64 / 8.0 * FRAME.as_secs_f64();
        Box::new(Video {
            frame_bytes: mean_bytes * frames / (frames - 1.0 + config.key_frame),
            config: *config,
            stream,
            frames: 0,
            bytes_left: 0,
        })
    })
}

fn main() -> Result<(), Box<dyn Error>> {
    let models = Models::builder().traffic(video()).build()?;
    let catalogue = models.catalogue();
    let plan = catalogue.plan(include_str!("../video.toml"), "video.toml", &[], None)?;
    println!("key_frame  flow      goodput          packets lost");
    for cell in &plan.cells {
        let scenario = catalogue.from_resolved(&cell.resolved)?;
        let outcome = models.run(&scenario, scenario.seed)?;
        print(&cell.parameters["flow.0.key_frame"].to_string(), &outcome)
            .ok_or("a column is missing")?;
    }
    Ok(())
}

/// The flows of a run; the columns are those of flows.parquet.
fn print(key_frame: &str, outcome: &Outcome) -> Option<()> {
    let flows = &outcome.flows;
    for row in 0..flows.rows() {
        println!(
            "{key_frame:>9}  {:8} {:>5.2} Mbit/s {:>12}",
            flows.texts("kind")?[row].as_deref()?,
            flows.floats("goodput_bps")?[row]? / 1e6,
            flows.integers("packets_sent")?[row]? - flows.integers("packets_received")?[row]?,
        );
    }
    Some(())
}
