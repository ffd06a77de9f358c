//! What one base station loses to a place: path loss, line of sight and shadowing.

use backlane_engine::Stream;
use backlane_param::choice;
use backlane_units::{Decibels, Length};

use crate::path_loss::{Deviation, PathLoss, Sight};
use crate::position::Position;
use crate::shadowing::CorrelatedField;

choice! {
    /// Log-normal shadowing, alike at places near each other.
    #[derive(Clone, Copy, Debug, PartialEq)]
    pub enum Shadowing as "shadowing" {
        /// Where its deviation comes from.
        model = Off;

        /// No shadowing.
        Off = "none";
        /// The deviation that the source of the path loss gives; only urban-macro and urban-micro
        /// have one.
        ///
        /// [`PathLoss::deviation`]; no shadowing where the source gives none.
        OfModel = "path-loss";
        /// A deviation of one's own.
        Fixed = "fixed" {
            /// Standard deviation.
            deviation: Decibels, in Decibels::from_mdb(0)..=Decibels::from_mdb(30_000);
            /// Where the correlation has fallen to 1/e.
            correlation_distance: Length, in Length::from_um(1)..;
        }
    }
}

/// The distance over which a line of sight stays as it is, in metres: TR 38.901 Table 7.6.3.1-2
/// has 50 m for urban macro and micro cells (from memory).
const SIGHT_CORRELATION_M: f64 = 50.0;

/// The loss between one base station and any place, antennas isotropic.
///
/// One of these belongs to a base station, not to a link: users at one place have one shadow, and
/// those near each other have much of it in common. Base stations are independent of each other.
/// Whether a user sees the base station is drawn by place too (TR 38.901 §7.6.3.3): where the
/// landscape that decides is lower than the quantile of the probability there. So it neither
/// flickers as the user moves nor depends on when it is asked.
#[derive(Clone, Debug)]
pub struct LargeScaleLoss {
    path_loss: PathLoss,
    shadowing: Shadowing,
    shadow: CorrelatedField,
    sight: CorrelatedField,
}

impl LargeScaleLoss {
    /// Draws the surroundings of a base station. The same number is drawn for every law and
    /// every kind of shadowing.
    pub fn new(path_loss: PathLoss, shadowing: Shadowing, stream: &mut Stream) -> Self {
        Self {
            path_loss,
            shadowing,
            shadow: CorrelatedField::new(stream),
            sight: CorrelatedField::new(stream),
        }
    }

    /// The law of path loss.
    pub fn path_loss(&self) -> &PathLoss {
        &self.path_loss
    }

    /// The loss in decibels from the base station at `site` to `user`, and back. It takes up to half
    /// a microsecond with shadowing: worth keeping until the user has moved.
    pub fn loss_db(&self, site: Position, user: Position) -> f64 {
        let sight = self.sight(site, user);
        self.path_loss.loss_db(site, user, sight) + self.shadow_db(user, sight)
    }

    /// Whether `user` sees the base station; blocked for laws that know no difference.
    pub fn sight(&self, site: Position, user: Position) -> Sight {
        let Some(probability) = self.path_loss.clear_sight_probability(site, user) else {
            return Sight::Blocked;
        };
        let height = self.sight.at(
            user.x_m / SIGHT_CORRELATION_M,
            user.y_m / SIGHT_CORRELATION_M,
        );
        // Φ(height) is uniform.
        if 0.5 * libm::erfc(-height / core::f64::consts::SQRT_2) < probability {
            Sight::Clear
        } else {
            Sight::Blocked
        }
    }

    fn shadow_db(&self, user: Position, sight: Sight) -> f64 {
        let deviation = match self.shadowing {
            Shadowing::Off => None,
            Shadowing::OfModel => self.path_loss.deviation(sight),
            Shadowing::Fixed {
                deviation,
                correlation_distance,
            } => Some(Deviation {
                sigma_db: deviation.as_db_f64(),
                correlation_m: correlation_distance.as_m_f64(),
            }),
        };
        deviation.map_or(0.0, |d| {
            let [x, y] = [user.x_m / d.correlation_m, user.y_m / d.correlation_m];
            d.sigma_db * self.shadow.at(x, y)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::path_loss::{Kun2600, UrbanMacro};
    use backlane_engine::Streams;
    use backlane_units::Frequency;

    const FREQUENCY: Frequency = Frequency::from_hz(2_600_000_000);
    const SITE: Position = Position::new(0.0, 0.0, 25.0);

    fn urban(index: usize, shadowing: Shadowing) -> LargeScaleLoss {
        let law = PathLoss::UrbanMacro(UrbanMacro {
            frequency: FREQUENCY,
        });
        let name = format!("enb{index}");
        LargeScaleLoss::new(law, shadowing, &mut Streams::new(5).stream(&name, "radio"))
    }

    #[test]
    fn without_shadowing_the_loss_is_that_of_the_law() {
        let law = PathLoss::Kun2600(Kun2600 {
            frequency: FREQUENCY,
        });
        let mut stream = Streams::new(1).stream("enb1", "radio");
        for shadowing in [Shadowing::Off, Shadowing::OfModel] {
            let loss = LargeScaleLoss::new(law.clone(), shadowing, &mut stream);
            let user = Position::new(700.0, 0.0, 1.5);
            assert_eq!(
                loss.loss_db(SITE, user),
                law.loss_db(SITE, user, Sight::Blocked)
            );
        }
    }

    /// 100 m away a line of sight has the probability 0.3477: of 4000 base stations 1391 ± 30
    /// (one standard deviation).
    #[test]
    fn as_many_users_see_the_base_station_as_the_table_says() {
        let user = Position::new(60.0, 80.0, 1.5);
        let clear = (0..4000)
            .filter(|&index| urban(index, Shadowing::Off).sight(SITE, user) == Sight::Clear)
            .count();
        assert!(clear.abs_diff(1391) < 4 * 30, "{clear}");
    }

    /// Around a base station at 200 m, a step of a metre rarely changes the sight: with
    /// autocorrelation exp(−1/50) the chance is of the order of √(2/50)/π ≈ 6 %, and 30 draws in
    /// a hundred if places were independent (2 · 0.18 · 0.82).
    #[test]
    fn a_line_of_sight_lasts() {
        let (mut changes, mut steps) = (0, 0);
        for index in 0..20 {
            let loss = urban(index, Shadowing::Off);
            let sights: Vec<Sight> = (0..1000)
                .map(|metre| loss.sight(SITE, Position::new(200.0, f64::from(metre) - 500.0, 1.5)))
                .collect();
            changes += sights.windows(2).filter(|pair| pair[0] != pair[1]).count();
            steps += 999;
        }
        let share = changes as f64 / f64::from(steps);
        assert!(share > 0.001 && share < 0.05, "{share}");
    }

    /// Blocked users of an urban macro cell scatter by 6 dB, clear ones by 4 dB: variances of
    /// 4000 draws, at five standard errors √(2/n) of a variance.
    #[test]
    fn shadowing_scatters_as_the_law_of_the_cell_says() {
        let user = Position::new(60.0, 80.0, 1.5);
        let mut squares = [(0.0, 0usize); 2];
        for index in 0..4000 {
            let loss = urban(index, Shadowing::OfModel);
            let sight = loss.sight(SITE, user);
            let departure = loss.loss_db(SITE, user) - loss.path_loss().loss_db(SITE, user, sight);
            let (sum, count) = &mut squares[usize::from(sight == Sight::Clear)];
            *sum += departure * departure;
            *count += 1;
        }
        for ((sum, count), sigma) in squares.into_iter().zip([6.0, 4.0]) {
            let ratio = sum / count as f64 / (sigma * sigma);
            let error = 5.0 * (2.0 / count as f64).sqrt();
            assert!((ratio - 1.0).abs() < error, "sigma {sigma}: {ratio}");
        }
    }

    #[test]
    fn neighbours_have_much_of_their_shadow_in_common() {
        let fixed = Shadowing::Fixed {
            deviation: Decibels::from_mdb(8_000),
            correlation_distance: Length::from_um(50_000_000),
        };
        let law = PathLoss::Kun2600(Kun2600 {
            frequency: FREQUENCY,
        });
        let mut near = 0.0;
        for index in 0..2000 {
            let name = format!("enb{index}");
            let mut stream = Streams::new(1).stream(&name, "radio");
            let loss = LargeScaleLoss::new(law.clone(), fixed, &mut stream);
            let departure = |x_m| {
                let user = Position::new(x_m, 0.0, 1.5);
                loss.loss_db(SITE, user) - law.loss_db(SITE, user, Sight::Blocked)
            };
            near += departure(500.0) * departure(525.0);
        }
        let correlation = near / 2000.0 / 64.0;
        // exp(−25/50), at five standard errors of √(1 + ρ²)/√2000.
        assert!((correlation - 0.6065).abs() < 5.0 * 0.0262, "{correlation}");
    }
}
