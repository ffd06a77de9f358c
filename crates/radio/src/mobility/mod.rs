//! How a user moves.
//!
//! A [`Mobility`] answers three questions about an instant: where, how fast, and how far it has
//! come since time zero. The last is what fading is a function of, and it is exact
//! regardless of how the speed varies in between.

mod model;
mod waypoints;

use backlane_units::SimTime;

use crate::position::Position;

pub use model::{MobilityModel, UeMobility};
pub use waypoints::{WaypointError, Waypoints};

/// The way of a user.
#[derive(Clone, Debug, PartialEq)]
pub enum Mobility {
    /// It stays where it is.
    Static(Position),
    /// A straight line at one speed.
    Line(Line),
    /// From place to place by a list of times.
    Waypoints(Waypoints),
}

/// A straight line at one speed: still before `begin` and after `end`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Line {
    /// Where it begins.
    pub from: Position,
    /// Metres per second along x, y and z.
    pub velocity_m_per_s: [f64; 3],
    /// When it begins to move.
    pub begin: SimTime,
    /// When it stops; never, if `None`.
    pub end: Option<SimTime>,
}

impl Mobility {
    /// Where it is.
    pub fn position(&self, now: SimTime) -> Position {
        match self {
            Self::Static(position) => *position,
            Self::Line(line) => line.position(now),
            Self::Waypoints(waypoints) => waypoints.position(now),
        }
    }

    /// How fast it is, in m/s. At the instant of a change, the speed after it.
    pub fn speed_m_per_s(&self, now: SimTime) -> f64 {
        match self {
            Self::Static(_) => 0.0,
            Self::Line(line) => line.speed_m_per_s(now),
            Self::Waypoints(waypoints) => waypoints.speed_m_per_s(now),
        }
    }

    /// How long the way since time zero is, in metres.
    pub fn travelled_m(&self, now: SimTime) -> f64 {
        match self {
            Self::Static(_) => 0.0,
            Self::Line(line) => line.length_m_per_s() * line.moving_s(now),
            Self::Waypoints(waypoints) => waypoints.travelled_m(now),
        }
    }

    /// Whether it ever moves.
    pub fn is_static(&self) -> bool {
        match self {
            Self::Static(_) => true,
            Self::Line(line) => line.length_m_per_s() == 0.0,
            Self::Waypoints(waypoints) => waypoints.is_static(),
        }
    }
}

impl Line {
    fn moving_s(&self, now: SimTime) -> f64 {
        let until = self.end.map_or(now, |end| now.min(end));
        until.saturating_since(self.begin).as_secs_f64()
    }

    fn length_m_per_s(&self) -> f64 {
        let [x, y, z] = self.velocity_m_per_s;
        (x * x + y * y + z * z).sqrt()
    }

    fn position(&self, now: SimTime) -> Position {
        let (seconds, [x, y, z]) = (self.moving_s(now), self.velocity_m_per_s);
        Position {
            x_m: self.from.x_m + x * seconds,
            y_m: self.from.y_m + y * seconds,
            z_m: self.from.z_m + z * seconds,
        }
    }

    fn speed_m_per_s(&self, now: SimTime) -> f64 {
        if now < self.begin || self.end.is_some_and(|end| now >= end) {
            0.0
        } else {
            self.length_m_per_s()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(s: u64) -> SimTime {
        SimTime::from_ps(s * 1_000_000_000_000)
    }

    #[test]
    fn a_line_is_still_before_its_begin_and_after_its_end() {
        let line = Mobility::Line(Line {
            from: Position::new(50.0, 0.0, 1.5),
            velocity_m_per_s: [3.0, 4.0, 0.0],
            begin: at(10),
            end: Some(at(20)),
        });
        let seen = |s| {
            (
                line.position(at(s)),
                line.speed_m_per_s(at(s)),
                line.travelled_m(at(s)),
            )
        };
        assert_eq!(seen(0), (Position::new(50.0, 0.0, 1.5), 0.0, 0.0));
        assert_eq!(seen(10), (Position::new(50.0, 0.0, 1.5), 5.0, 0.0));
        assert_eq!(seen(14), (Position::new(62.0, 16.0, 1.5), 5.0, 20.0));
        assert_eq!(seen(20), (Position::new(80.0, 40.0, 1.5), 0.0, 50.0));
        assert_eq!(seen(90), (Position::new(80.0, 40.0, 1.5), 0.0, 50.0));
        assert!(!line.is_static());
    }

    #[test]
    fn a_line_without_an_end_goes_on() {
        let line = Mobility::Line(Line {
            from: Position::default(),
            velocity_m_per_s: [-2.0, 0.0, 0.0],
            begin: SimTime::ZERO,
            end: None,
        });
        assert_eq!(line.position(at(1000)), Position::new(-2000.0, 0.0, 0.0));
        assert_eq!(line.travelled_m(at(1000)), 2000.0);
    }

    #[test]
    fn a_static_user_goes_nowhere() {
        let still = Mobility::Static(Position::new(1.0, 2.0, 3.0));
        assert_eq!(still.position(at(7)), Position::new(1.0, 2.0, 3.0));
        assert_eq!(still.speed_m_per_s(at(7)), 0.0);
        assert_eq!(still.travelled_m(at(7)), 0.0);
        assert!(still.is_static());
    }
}
