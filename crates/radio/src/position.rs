//! Places.

/// A place, in metres. `z_m` is the height above ground.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Position {
    /// East.
    pub x_m: f64,
    /// North.
    pub y_m: f64,
    /// Height above ground.
    pub z_m: f64,
}

impl Position {
    /// The place with these coordinates, in metres.
    pub const fn new(x_m: f64, y_m: f64, z_m: f64) -> Self {
        Self { x_m, y_m, z_m }
    }

    /// The straight distance to `other`, in metres.
    pub fn distance_m(self, other: Self) -> f64 {
        let [x, y, z] = [
            self.x_m - other.x_m,
            self.y_m - other.y_m,
            self.z_m - other.z_m,
        ];
        (x * x + y * y + z * z).sqrt()
    }

    /// The distance to `other` along the ground, in metres.
    pub fn ground_distance_m(self, other: Self) -> f64 {
        let [x, y] = [self.x_m - other.x_m, self.y_m - other.y_m];
        (x * x + y * y).sqrt()
    }

    /// The place at `share` (0 to 1) of the straight way to `other`.
    pub(crate) fn towards(self, other: Self, share: f64) -> Self {
        Self {
            x_m: self.x_m + (other.x_m - self.x_m) * share,
            y_m: self.y_m + (other.y_m - self.y_m) * share,
            z_m: self.z_m + (other.z_m - self.z_m) * share,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn heights_count_in_the_straight_distance_alone() {
        let (mast, user) = (
            Position::new(0.0, 0.0, 25.5),
            Position::new(60.0, 11.0, 1.5),
        );
        assert_eq!(mast.ground_distance_m(user), 61.0);
        assert_eq!(mast.distance_m(user), (61.0f64 * 61.0 + 24.0 * 24.0).sqrt());
        assert_eq!(mast.towards(user, 0.5), Position::new(30.0, 5.5, 13.5));
    }
}
