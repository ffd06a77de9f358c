//! Models of path loss that a program adds to those of this crate.

use std::fmt;
use std::rc::Rc;

use backlane_param::{Given, Key, Kind, Mismatch, Param, Value, Values, table};
use backlane_units::{Frequency, Length};

use super::{CellPathLoss, Friis, MeshPathLoss, Path, PathLoss};

/// A model of path loss of a program.
pub trait PathLossModel: fmt::Debug {
    /// The loss in decibels between isotropic antennas at a carrier; it is the same both ways.
    fn loss_db(&self, path: &Path, frequency: Frequency) -> f64;
}

/// A model of a program at a carrier.
#[derive(Clone, Debug)]
pub struct Added {
    model: Rc<dyn PathLossModel>,
    frequency: Frequency,
}

impl Added {
    pub(super) fn loss_db(&self, path: &Path) -> f64 {
        self.model.loss_db(path, self.frequency)
    }
}

impl PartialEq for Added {
    fn eq(&self, other: &Self) -> bool {
        Rc::ptr_eq(&self.model, &other.model) && self.frequency == other.frequency
    }
}

/// The path loss that a network names: a model of this crate or one of the program.
#[derive(Clone, Debug)]
pub enum Named<T> {
    /// A model of this crate.
    Known(T),
    /// A model of the program.
    Added {
        /// Its name and its keys.
        values: Values,
        /// The model, once it is made. Before, as in an estimate, free space stands for it.
        model: Option<Rc<dyn PathLossModel>>,
    },
}

impl<T: PartialEq> PartialEq for Named<T> {
    fn eq(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Known(a), Self::Known(b)) => a == b,
            (Self::Added { values: a, .. }, Self::Added { values: b, .. }) => a == b,
            _ => false,
        }
    }
}

impl<T> Named<T> {
    /// Makes the model of the program from its name and its keys.
    ///
    /// # Errors
    ///
    /// That of `make`.
    pub fn make<E>(
        &mut self,
        make: impl FnOnce(&str, &Values) -> Result<Rc<dyn PathLossModel>, E>,
    ) -> Result<(), E> {
        if let Self::Added { values, model } = self {
            *model = Some(make(values.text("model").unwrap_or_default(), values)?);
        }
        Ok(())
    }

    fn at_or(&self, frequency: Frequency, known: impl FnOnce(&T) -> PathLoss) -> PathLoss {
        match self {
            Self::Known(model) => known(model),
            Self::Added {
                model: Some(model), ..
            } => PathLoss::Added(Added {
                model: model.clone(),
                frequency,
            }),
            Self::Added { model: None, .. } => PathLoss::Friis(Friis { frequency }),
        }
    }
}

impl Named<CellPathLoss> {
    /// The model at a carrier.
    pub fn at(&self, frequency: Frequency) -> PathLoss {
        self.at_or(frequency, |model| model.at(frequency))
    }
}

impl Named<MeshPathLoss> {
    /// The model at a carrier, between antennas of this height.
    pub fn at(&self, frequency: Frequency, antenna_height: Length) -> PathLoss {
        self.at_or(frequency, |model| model.at(frequency, antenna_height))
    }
}

impl<T: Param> Param for Named<T> {
    type Limits = T::Limits;

    fn kind(limits: T::Limits) -> Option<Kind> {
        T::kind(limits)
    }

    fn from_value(value: &Value) -> Option<Self> {
        match (T::from_value(value), value) {
            (Some(known), _) => Some(Self::Known(known)),
            (None, Value::Table(values)) => Some(Self::Added {
                values: values.clone(),
                model: None,
            }),
            _ => None,
        }
    }

    fn to_value(&self) -> Option<Value> {
        match self {
            Self::Known(known) => known.to_value(),
            Self::Added { values, .. } => Some(Value::Table(values.clone())),
        }
    }

    fn keys(
        name: &'static str,
        doc: &'static str,
        given: Given<'_, Self>,
        limits: T::Limits,
    ) -> Vec<Key> {
        let given = match given {
            Given::Default(Self::Known(known)) => Given::Default(known),
            _ => Given::Required,
        };
        T::keys(name, doc, given, limits)
    }

    fn read(values: &Values, name: &'static str) -> Result<Option<Self>, Mismatch> {
        let Some(inner) = table(values, name)? else {
            return Ok(None);
        };
        Ok(Self::from_value(&Value::Table(inner.clone())))
    }
}
