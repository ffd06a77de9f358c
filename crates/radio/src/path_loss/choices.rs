//! The models that a network may name, with their keys. The carrier is the network's.

use backlane_param::{choice, or_word};
use backlane_units::{Decibels, Frequency, Length};

use super::{
    City, Cost231Hata, Environment, Friis, Kun2600, LogDistance, OkumuraHata, PathLoss, Sight,
    TwoRay, UrbanMacro, UrbanMicro,
};
use crate::position::Position;

const METRE: Length = Length::from_um(1_000_000);
const LEAST: Length = Length::from_um(1);
const NO_LOSS: Decibels = Decibels::from_mdb(0);
const MOST_LOSS: Decibels = Decibels::from_mdb(300_000);

choice! {
    /// A law of path loss, for each carrier at its frequency. Outside the range in which a law
    /// holds it is extrapolated, and a warning says so.
    #[derive(Clone, Copy, Debug, PartialEq)]
    pub enum CellPathLoss as "path_loss" {
        /// The law.
        model = Kun2600;

        /// Measurements at 2.6 GHz: 36 + 26 log₁₀ d.
        Kun2600 = "kun2600";
        /// Okumura and Hata, 150 to 1500 MHz.
        OkumuraHata = "okumura-hata" {
            /// What is built around.
            environment: Environment = Environment::MediumCity;
        }
        /// COST 231's extension of it, 1500 to 2000 MHz.
        Cost231Hata = "cost231-hata" {
            /// The size of the city.
            city: City = City::Medium;
        }
        /// A power of the distance.
        LogDistance = "log-distance" {
            /// 2 is free space, 3 to 4 a city.
            exponent: f64, in 1.0..=8.0;
            /// Where the loss is known.
            reference_distance: Length = METRE, in LEAST..;
            /// The loss there.
            reference_loss: Decibels, in NO_LOSS..=MOST_LOSS;
        }
        /// Free space.
        Friis = "friis";
        /// TR 38.901, urban macro cell, with and without line of sight.
        UrbanMacro = "urban-macro";
        /// TR 38.901, urban street canyon, with and without line of sight.
        UrbanMicro = "urban-micro";
    }
}

impl CellPathLoss {
    /// The model at a carrier.
    pub fn at(self, frequency: Frequency) -> PathLoss {
        match self {
            Self::Kun2600 => PathLoss::Kun2600(Kun2600 { frequency }),
            Self::OkumuraHata { environment } => PathLoss::OkumuraHata(OkumuraHata {
                frequency,
                environment,
            }),
            Self::Cost231Hata { city } => PathLoss::Cost231Hata(Cost231Hata { frequency, city }),
            Self::LogDistance {
                exponent,
                reference_distance,
                reference_loss,
            } => PathLoss::LogDistance(LogDistance {
                exponent,
                reference_m: reference_distance.as_m_f64(),
                reference_loss_db: reference_loss.as_db_f64(),
            }),
            Self::Friis => PathLoss::Friis(Friis { frequency }),
            Self::UrbanMacro => PathLoss::UrbanMacro(UrbanMacro { frequency }),
            Self::UrbanMicro => PathLoss::UrbanMicro(UrbanMicro { frequency }),
        }
    }
}

or_word! {
    /// The loss at a reference distance.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum ReferenceLoss {
        /// That of free space.
        FreeSpace = "free-space",
        /// This much.
        Fixed(Decibels),
    }
}

choice! {
    /// A law of path loss.
    #[derive(Clone, Copy, Debug, PartialEq)]
    pub enum MeshPathLoss as "path_loss" {
        /// The law.
        model = LogDistance;

        /// A power of the distance.
        LogDistance = "log-distance" {
            /// 2 is free space, 3 to 4 a city.
            exponent: f64 = 3.0, in 1.0..=8.0;
            /// Where the loss is known.
            reference_distance: Length = METRE, in LEAST..;
            /// The loss there; "free-space" is that of free space over the reference distance.
            reference_loss: ReferenceLoss = ReferenceLoss::FreeSpace, in NO_LOSS..=MOST_LOSS;
        }
        /// Free space up to the distance 4π·h²/λ, where the ray that the ground reflects begins to
        /// cancel the direct one; beyond it the fourth power of the distance.
        TwoRay = "two-ray";
        /// Free space.
        Friis = "friis";
    }
}

impl MeshPathLoss {
    /// The model at a carrier, between antennas of this height.
    pub fn at(self, frequency: Frequency, antenna_height: Length) -> PathLoss {
        match self {
            Self::LogDistance {
                exponent,
                reference_distance,
                reference_loss,
            } => PathLoss::LogDistance(LogDistance {
                exponent,
                reference_m: reference_distance.as_m_f64(),
                reference_loss_db: match reference_loss {
                    ReferenceLoss::FreeSpace => free_space_db(frequency, reference_distance),
                    ReferenceLoss::Fixed(loss) => loss.as_db_f64(),
                },
            }),
            Self::TwoRay => PathLoss::TwoRay(TwoRay {
                frequency,
                antenna_height_m: antenna_height.as_m_f64(),
            }),
            Self::Friis => PathLoss::Friis(Friis { frequency }),
        }
    }
}

fn free_space_db(frequency: Frequency, distance: Length) -> f64 {
    let there = Position::new(distance.as_m_f64(), 0.0, 0.0);
    let law = PathLoss::Friis(Friis { frequency });
    law.loss_db(Position::default(), there, Sight::Clear)
}
