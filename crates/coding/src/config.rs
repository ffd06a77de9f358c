//! What can be set.

use backlane_units::Duration;

/// How a coded packet tells its coefficients.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Coefficients {
    /// Both ends draw them from the packet's number.
    #[default]
    Seed,
    /// They stand in the header, one byte for each original covered.
    Explicit,
}

/// The configuration of both ends; the defaults are choices of this project, since the paper
/// gives no numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Config {
    /// The most originals of a generation, 1 or more.
    pub max_generation: u8,
    /// The shortest time for which a generation is silent before its missing packets are
    /// requested; half the source's round trip, if that is longer. Not zero.
    pub request_timer: Duration,
    /// How coefficients are told.
    pub coefficients: Coefficients,
}

impl Default for Config {
    fn default() -> Self {
        Self {
            max_generation: 64,
            request_timer: Duration::from_millis(50),
            coefficients: Coefficients::Seed,
        }
    }
}

/// Waits double up to this power of two.
const MOST_DOUBLINGS: u32 = 6;

/// `wait`, doubled for each time that it was waited in vain, 64 times at most.
pub(crate) fn backed_off(wait: Duration, times: u32) -> Duration {
    wait * (1 << times.min(MOST_DOUBLINGS))
}
