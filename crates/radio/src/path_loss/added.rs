//! Models of path loss that a program adds to those of this crate.

use std::fmt;
use std::sync::Arc;

use backlane_units::{Frequency, Length};

use super::{CellPathLoss, Friis, MeshPathLoss, Path, PathLoss};
use crate::named::Named;

/// A model of path loss of a program.
pub trait PathLossModel: fmt::Debug + Send + Sync {
    /// The loss in decibels between isotropic antennas at a carrier; it is the same both ways.
    fn loss_db(&self, path: &Path, frequency: Frequency) -> f64;
}

/// A model of a program at a carrier.
#[derive(Clone, Debug)]
pub struct Added {
    model: Arc<dyn PathLossModel>,
    frequency: Frequency,
}

impl Added {
    pub(super) fn loss_db(&self, path: &Path) -> f64 {
        self.model.loss_db(path, self.frequency)
    }
}

impl PartialEq for Added {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.model, &other.model) && self.frequency == other.frequency
    }
}

impl<T> Named<T, dyn PathLossModel> {
    fn at_or(&self, frequency: Frequency, known: impl FnOnce(&T) -> PathLoss) -> PathLoss {
        match self {
            Self::Known(model) => known(model),
            Self::Added {
                model: Some(model), ..
            } => PathLoss::Added(Added {
                model: model.clone(),
                frequency,
            }),
            // As in an estimate.
            Self::Added { model: None, .. } => PathLoss::Friis(Friis { frequency }),
        }
    }
}

impl Named<CellPathLoss, dyn PathLossModel> {
    /// The model at a carrier.
    pub fn at(&self, frequency: Frequency) -> PathLoss {
        self.at_or(frequency, |model| model.at(frequency))
    }
}

impl Named<MeshPathLoss, dyn PathLossModel> {
    /// The model at a carrier, between antennas of this height.
    pub fn at(&self, frequency: Frequency, antenna_height: Length) -> PathLoss {
        self.at_or(frequency, |model| model.at(frequency, antenna_height))
    }
}
