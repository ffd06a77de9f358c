//! Places with times, and straight lines between them.

use std::fmt;

use backlane_units::SimTime;

use crate::position::Position;

/// Places with times: still at the first until its time, straight and at one speed between two,
/// still at the last from its time on.
#[derive(Clone, Debug, PartialEq)]
pub struct Waypoints {
    points: Vec<Point>,
}

#[derive(Clone, Copy, Debug, PartialEq)]
struct Point {
    time: SimTime,
    position: Position,
    /// The length of the way up to here.
    travelled_m: f64,
}

/// Why a list of places is no way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WaypointError {
    /// There is not one place.
    Empty,
    /// The place with this index (from zero) is not later than the one before it.
    NotLater(usize),
    /// The place with this index has a coordinate that is not a number, or farther than
    /// 10 000 km.
    Outside(usize),
}

/// A coordinate farther than a quarter of the Earth's circumference is a mistake.
const FARTHEST_M: f64 = 1e7;

impl Waypoints {
    /// The way through these places.
    ///
    /// # Errors
    /// An empty list, times that do not increase, coordinates beyond 10 000 km.
    pub fn new(places: &[(SimTime, Position)]) -> Result<Self, WaypointError> {
        let mut points: Vec<Point> = Vec::with_capacity(places.len());
        for (index, &(time, position)) in places.iter().enumerate() {
            let coordinates = [position.x_m, position.y_m, position.z_m];
            if !coordinates.iter().all(|c| c.abs() <= FARTHEST_M) {
                return Err(WaypointError::Outside(index));
            }
            let travelled_m = match points.last() {
                Some(last) if time <= last.time => return Err(WaypointError::NotLater(index)),
                Some(last) => last.travelled_m + last.position.distance_m(position),
                None => 0.0,
            };
            points.push(Point {
                time,
                position,
                travelled_m,
            });
        }
        if points.is_empty() {
            return Err(WaypointError::Empty);
        }
        Ok(Self { points })
    }

    /// When the last place is reached.
    pub fn end(&self) -> SimTime {
        self.points[self.points.len() - 1].time
    }

    pub(super) fn position(&self, now: SimTime) -> Position {
        match self.leg(now) {
            Ok((from, to, share)) => from.position.towards(to.position, share),
            Err(still) => still.position,
        }
    }

    pub(super) fn speed_m_per_s(&self, now: SimTime) -> f64 {
        match self.leg(now) {
            Ok((from, to, _)) => {
                (to.travelled_m - from.travelled_m) / (to.time - from.time).as_secs_f64()
            }
            Err(_) => 0.0,
        }
    }

    pub(super) fn travelled_m(&self, now: SimTime) -> f64 {
        match self.leg(now) {
            Ok((from, to, share)) => from.travelled_m + (to.travelled_m - from.travelled_m) * share,
            Err(still) => still.travelled_m,
        }
    }

    pub(super) fn is_static(&self) -> bool {
        self.points.iter().all(|p| p.travelled_m == 0.0)
    }

    /// The two places between which `now` is and the share of the time between them that is
    /// over, or the place where it is still.
    fn leg(&self, now: SimTime) -> Result<(&Point, &Point, f64), &Point> {
        let next = self.points.partition_point(|p| p.time <= now);
        match (next.checked_sub(1), self.points.get(next)) {
            (Some(last), Some(to)) => {
                let from = &self.points[last];
                let share = (now - from.time).as_secs_f64() / (to.time - from.time).as_secs_f64();
                Ok((from, to, share))
            }
            // There is at least one place: before the first, or after the last.
            (last, _) => Err(&self.points[last.unwrap_or(0)]),
        }
    }
}

impl fmt::Display for WaypointError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Empty => f.write_str("no place is given; give at least one"),
            Self::NotLater(index) => write!(
                f,
                "place {} is not later than the one before it; sort the places by time",
                index + 1
            ),
            Self::Outside(index) => write!(
                f,
                "place {} has a coordinate that is no number or beyond 10 000 km; \
                 write metres from an origin near the network",
                index + 1
            ),
        }
    }
}

impl std::error::Error for WaypointError {}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn at(ms: u64) -> SimTime {
        SimTime::from_ps(ms * 1_000_000_000)
    }

    fn corner() -> Waypoints {
        Waypoints::new(&[
            (at(1000), Position::new(0.0, 0.0, 1.5)),
            (at(3000), Position::new(40.0, 0.0, 1.5)),
            (at(4000), Position::new(40.0, 10.0, 1.5)),
        ])
        .unwrap()
    }

    #[test]
    fn a_user_is_between_two_places_in_proportion_to_time() {
        let way = corner();
        let seen = |ms| {
            (
                way.position(at(ms)),
                way.speed_m_per_s(at(ms)),
                way.travelled_m(at(ms)),
            )
        };
        assert_eq!(seen(0), (Position::new(0.0, 0.0, 1.5), 0.0, 0.0));
        assert_eq!(seen(1500), (Position::new(10.0, 0.0, 1.5), 20.0, 10.0));
        assert_eq!(seen(3000), (Position::new(40.0, 0.0, 1.5), 10.0, 40.0));
        assert_eq!(seen(3500), (Position::new(40.0, 5.0, 1.5), 10.0, 45.0));
        assert_eq!(seen(9999), (Position::new(40.0, 10.0, 1.5), 0.0, 50.0));
        assert_eq!(way.end(), at(4000));
    }

    #[test]
    fn what_is_no_way_is_refused() {
        let here = Position::default();
        let nowhere = Position::new(f64::NAN, 0.0, 0.0);
        let far = Position::new(0.0, 1.1e7, 0.0);
        let refused = |places: &[_]| Waypoints::new(places).unwrap_err();
        assert_eq!(refused(&[]), WaypointError::Empty);
        assert_eq!(
            refused(&[(at(1), here), (at(1), here)]),
            WaypointError::NotLater(1)
        );
        assert_eq!(
            refused(&[(at(2), here), (at(1), here)]),
            WaypointError::NotLater(1)
        );
        assert_eq!(refused(&[(at(1), nowhere)]), WaypointError::Outside(0));
        assert_eq!(refused(&[(at(1), far)]), WaypointError::Outside(0));
    }

    #[test]
    fn one_place_is_a_static_user() {
        let way = Waypoints::new(&[(at(5), Position::new(3.0, 0.0, 1.5))]).unwrap();
        assert!(way.is_static());
        assert!(!corner().is_static());
        assert_eq!(way.position(at(0)), way.position(at(9)));
    }

    proptest! {
        /// The way is never shorter than the straight line, and never gets shorter.
        #[test]
        fn the_way_is_at_least_the_distance(
            places in prop::collection::vec((1u64..1000, -500.0..500.0f64, -500.0..500.0f64), 1..20),
            asked in prop::collection::vec(0u64..20_000, 2),
        ) {
            let mut ms = 0;
            let places: Vec<_> = places
                .into_iter()
                .map(|(step, x, y)| {
                    ms += step;
                    (at(ms), Position::new(x, y, 1.5))
                })
                .collect();
            let way = Waypoints::new(&places).unwrap();
            let (early, late) = (at(asked[0].min(asked[1])), at(asked[0].max(asked[1])));
            let between = way.travelled_m(late) - way.travelled_m(early);
            let distance = way.position(early).distance_m(way.position(late));
            prop_assert!(between >= distance - 1e-9, "{} < {}", between, distance);
        }
    }
}
