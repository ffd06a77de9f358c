//! The UEs of a scenario as input of the radio network.

use std::sync::Arc;

use backlane_lte::config::UeChannel;
use backlane_radio::{Line, Mobility, Position, Waypoints};
use backlane_scenario::model::lte::{Lte, Motion};
use backlane_scenario::model::{ChannelQuantity, ChannelTrace};
use backlane_units::{Length, SimTime};

use crate::convert;

/// A place at a height.
pub(crate) fn position((x_m, y_m): (f64, f64), height: Length) -> Position {
    Position::new(x_m, y_m, height.as_m_f64())
}

/// The path of a UE that follows a trace; its times count from `clock`.
pub(crate) fn way(lte: &Lte, ue: usize, height: Length, clock: SimTime) -> Option<Mobility> {
    let way = lte.ways.get(lte.ues.get(ue)?.way?)?;
    let places: Vec<(SimTime, Position)> = way
        .iter()
        .map(|place| {
            let at = clock.saturating_add(place.at);
            (at, position(place.position_m, height))
        })
        .collect();
    Waypoints::new(&places).ok().map(Mobility::Waypoints)
}

/// The way of a UE that begins at `from`; times of its path count from `clock`.
pub(crate) fn mobility(from: Position, motion: Motion, clock: SimTime) -> Mobility {
    let begin = clock.saturating_add(motion.start);
    let (east, north) = motion.velocity_m_per_s;
    Mobility::Line(Line {
        from,
        velocity_m_per_s: [east, north, 0.0],
        begin,
        end: motion.time.map(|time| begin.saturating_add(time)),
    })
}

/// The channel of a UE from the end of the warm-up on; `None` where the trace has no order or no
/// length, which the checks of a file exclude.
pub(crate) fn channel(trace: &ChannelTrace, clock: SimTime) -> Option<UeChannel> {
    let (times, values) = (trace.times.clone(), trace.values.clone());
    let at_end = convert::at_end(trace.at_end);
    let values = backlane_lte::ChannelTrace::new(times, values, trace.period, at_end, clock)?;
    Some(match trace.quantity {
        ChannelQuantity::Sinr if trace.fades => UeChannel::MeanSinr(Arc::new(values)),
        ChannelQuantity::Sinr => UeChannel::Sinr(Arc::new(values)),
        ChannelQuantity::Cqi => UeChannel::Cqi(Arc::new(values)),
    })
}

#[cfg(test)]
mod tests {
    use backlane_units::Duration;

    use super::*;

    #[test]
    fn the_clock_of_a_way_begins_after_the_warm_up() {
        let motion = Motion {
            velocity_m_per_s: (3.0, 4.0),
            start: Duration::from_secs(1),
            time: Some(Duration::from_secs(2)),
        };
        let clock = SimTime::ZERO + Duration::from_secs(10);
        let from = position((0.0, 0.0), "1.5 m".parse().unwrap());
        let way = mobility(from, motion, clock);
        let at = |s| way.position(SimTime::ZERO + Duration::from_secs(s));
        assert_eq!(at(11), Position::new(0.0, 0.0, 1.5));
        assert_eq!(at(12), Position::new(3.0, 4.0, 1.5));
        assert_eq!(at(20), Position::new(6.0, 8.0, 1.5));
    }
}
