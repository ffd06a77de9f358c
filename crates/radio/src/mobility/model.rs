//! Models that say how the UEs of a network move.

use std::fmt;

use backlane_engine::Stream;
use backlane_param::choice;
use backlane_units::Duration;

use crate::position::Position;

choice! {
    /// How UEs move whose own row gives neither a speed above zero nor a trace.
    #[derive(Clone, Copy, Debug, PartialEq)]
    pub enum UeMobility as "mobility" {
        /// The model.
        model = Static;

        /// They stay where they are.
        Static = "static";
    }
}

/// A mobility model of a program.
pub trait MobilityModel: fmt::Debug + Send + Sync {
    /// The places that a UE passes after `from`, in the order of their times. Times are positive
    /// and increase; they count from the end of the warm-up, and no place is needed beyond the
    /// first that is reached at or after `end`. Between two places the UE moves on a straight line
    /// at one speed, and it stays at the last. `stream` is the UE's own.
    fn places(
        &self,
        from: Position,
        end: Duration,
        stream: &mut Stream,
    ) -> Vec<(Duration, Position)>;
}
