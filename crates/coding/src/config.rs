//! The parameters of the layer.

use backlane_param::ranges::MESSAGE_INTERVAL;
use backlane_param::{params, words};
use backlane_units::Duration;

words! {
    /// How a coded packet conveys its coefficients.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
    pub enum Coefficients {
        /// Both ends draw them from the packet's number.
        #[default]
        Seed = "seed",
        /// The header lists them, one byte for each original covered.
        Explicit = "explicit",
    }
}

params! {
    /// The parameters of both ends.
    ///
    /// The paper gives no numbers; the defaults are choices of this project.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub struct Config {
        /// The most packets that are mixed with each other. A generation takes as many as TCP's
        /// congestion window has when it opens, up to this; a byte counts them.
        max_generation: u8 = 64, in 1..=255;
        /// The shortest silence of a generation after which its missing packets are requested;
        /// half the round trip, if that is longer.
        request_timer: Duration = Duration::from_millis(50), in MESSAGE_INTERVAL;
        /// Whether both ends draw the coefficients from the packet's number, or the header lists
        /// them, a byte for each packet mixed.
        coefficients: Coefficients = Coefficients::Seed;
    }
}

/// The largest exponent of the back-off.
const MAX_DOUBLINGS: u32 = 6;

/// `wait`, doubled for each of `times` waits without an answer, 64 times at most.
pub(crate) fn backed_off(wait: Duration, times: u32) -> Duration {
    wait * (1 << times.min(MAX_DOUBLINGS))
}
