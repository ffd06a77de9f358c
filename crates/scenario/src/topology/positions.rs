//! Where nodes are, and how far apart.
//!
//! Geographic positions are put on a plane by the equirectangular projection about the middle of
//! the sites, for maps; lengths of links are great-circle lengths (haversine) on a sphere of the
//! mean earth radius, so that they do not suffer from the projection.

use std::collections::BTreeMap;

/// Mean earth radius (IUGG: (2a + b)/3 of WGS 84), in metres.
const EARTH_RADIUS_M: f64 = 6_371_008.8;

/// A point in space, in metres.
pub(super) type Point = [f64; 3];

/// The positions of nodes.
pub(super) enum Positions {
    /// Latitude and longitude, in degrees.
    Geographic(Vec<(f64, f64)>),
    /// East and north, in metres.
    Plane(Vec<(f64, f64)>),
}

impl Positions {
    /// The number of nodes.
    pub(super) fn len(&self) -> usize {
        let (Self::Geographic(nodes) | Self::Plane(nodes)) = self;
        nodes.len()
    }

    /// Latitude and longitude of a node, in degrees.
    pub(super) fn degrees(&self, node: usize) -> Option<(f64, f64)> {
        match self {
            Self::Geographic(nodes) => Some(nodes[node]),
            Self::Plane(_) => None,
        }
    }

    /// The distance of two nodes, in metres.
    pub(super) fn distance_m(&self, a: usize, b: usize) -> f64 {
        match self {
            Self::Geographic(sites) => haversine_m(sites[a], sites[b]),
            Self::Plane(sites) => {
                let (dx, dy) = (sites[a].0 - sites[b].0, sites[a].1 - sites[b].1);
                (dx * dx + dy * dy).sqrt()
            }
        }
    }

    /// The nodes by where they are, each list in their order, the lists in the order of their first.
    pub(super) fn places(&self) -> Vec<Vec<usize>> {
        let (Self::Geographic(sites) | Self::Plane(sites)) = self;
        let mut places: Vec<Vec<usize>> = Vec::new();
        let mut known = BTreeMap::new();
        for (site, (first, second)) in sites.iter().enumerate() {
            let position = (first.to_bits(), second.to_bits());
            let place = *known.entry(position).or_insert(places.len());
            if place == places.len() {
                places.push(Vec::new());
            }
            places[place].push(site);
        }
        places
    }

    /// The nodes on a plane, in metres.
    pub(super) fn plane(&self) -> Vec<(f64, f64)> {
        match self {
            Self::Plane(sites) => sites.clone(),
            Self::Geographic(sites) => {
                let middle = |values: &dyn Fn(&(f64, f64)) -> f64| {
                    let low = sites.iter().map(values).fold(f64::INFINITY, f64::min);
                    let high = sites.iter().map(values).fold(f64::NEG_INFINITY, f64::max);
                    f64::midpoint(low, high)
                };
                let (latitude, longitude) = (middle(&|site| site.0), middle(&|site| site.1));
                let shrink = libm::cos(latitude.to_radians());
                sites
                    .iter()
                    .map(|site| {
                        let east = (site.1 - longitude).to_radians() * shrink * EARTH_RADIUS_M;
                        let north = (site.0 - latitude).to_radians() * EARTH_RADIUS_M;
                        (east, north)
                    })
                    .collect()
            }
        }
    }

    /// The nodes in space: on the sphere, or on a plane.
    pub(super) fn points(&self) -> Vec<Point> {
        match self {
            Self::Plane(sites) => sites.iter().map(|&(x, y)| [x, y, 0.0]).collect(),
            Self::Geographic(sites) => sites
                .iter()
                .map(|(latitude, longitude)| {
                    let (latitude, longitude) = (latitude.to_radians(), longitude.to_radians());
                    let to_axis = EARTH_RADIUS_M * libm::cos(latitude);
                    [
                        to_axis * libm::cos(longitude),
                        to_axis * libm::sin(longitude),
                        EARTH_RADIUS_M * libm::sin(latitude),
                    ]
                })
                .collect(),
        }
    }

    /// The distance through space of two nodes that are `distance_m` metres apart.
    pub(super) fn straight_m(&self, distance_m: f64) -> f64 {
        match self {
            Self::Plane(_) => distance_m,
            Self::Geographic(_) => {
                let diameter_m = 2.0 * EARTH_RADIUS_M;
                diameter_m * libm::sin(distance_m / diameter_m)
            }
        }
    }
}

/// Great-circle distance of two points given by latitude and longitude in degrees.
fn haversine_m(a: (f64, f64), b: (f64, f64)) -> f64 {
    let half = |degrees: f64| libm::sin(degrees.to_radians() / 2.0);
    let (north, east) = (half(b.0 - a.0), half(b.1 - a.1));
    let shrink = libm::cos(a.0.to_radians()) * libm::cos(b.0.to_radians());
    let h = (north * north + shrink * east * east).min(1.0);
    2.0 * EARTH_RADIUS_M * libm::asin(h.sqrt())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_degree_of_latitude_is_111_195_metres() {
        assert!((haversine_m((50.0, 8.0), (51.0, 8.0)) - 111_195.08).abs() < 0.01);
        assert!((haversine_m((0.0, 179.5), (0.0, -179.5)) - 111_195.08).abs() < 0.01);
    }

    #[test]
    fn the_plane_keeps_short_distances() {
        let positions = Positions::Geographic(vec![(50.44, 50.84), (50.38, 50.81)]);
        let plane = positions.plane();
        let (dx, dy) = (plane[0].0 - plane[1].0, plane[0].1 - plane[1].1);
        let flat = (dx * dx + dy * dy).sqrt();
        assert!((flat / positions.distance_m(0, 1) - 1.0).abs() < 1e-5);
    }

    #[test]
    fn the_chord_of_a_great_circle_is_the_distance_in_space() {
        for (a, b) in [
            ((50.44, 50.84), (50.38, 50.81)),
            ((-33.9, 151.2), (51.5, -0.1)),
            ((10.0, 20.0), (-10.0, -160.0)),
        ] {
            let positions = Positions::Geographic(vec![a, b]);
            let points = positions.points();
            let squares = (0..3).map(|axis| (points[0][axis] - points[1][axis]).powi(2));
            let straight_m = squares.sum::<f64>().sqrt();
            let chord_m = positions.straight_m(positions.distance_m(0, 1));
            assert!(
                (straight_m - chord_m).abs() < 1e-7,
                "{straight_m} {chord_m}"
            );
        }
    }
}
