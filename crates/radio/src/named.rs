//! Models of this crate or of the program by name.

use std::sync::Arc;

use backlane_param::{Given, Key, Kind, Mismatch, Param, Value, Values, table};

/// The model that a scenario names: one of this crate, `T`, or one that a program adds, `M`.
#[derive(Debug)]
pub enum Named<T, M: ?Sized> {
    /// A model of this crate.
    Known(T),
    /// A model of the program.
    Added {
        /// Its name and its keys.
        values: Values,
        /// The model, once it is made.
        model: Option<Arc<M>>,
    },
}

impl<T: Clone, M: ?Sized> Clone for Named<T, M> {
    fn clone(&self) -> Self {
        match self {
            Self::Known(known) => Self::Known(known.clone()),
            Self::Added { values, model } => Self::Added {
                values: values.clone(),
                model: model.clone(),
            },
        }
    }
}

impl<T: PartialEq, M: ?Sized> PartialEq for Named<T, M> {
    fn eq(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Known(a), Self::Known(b)) => a == b,
            (Self::Added { values: a, .. }, Self::Added { values: b, .. }) => a == b,
            _ => false,
        }
    }
}

impl<T, M: ?Sized> Named<T, M> {
    /// Makes the model of the program from its name and its keys.
    ///
    /// # Errors
    ///
    /// That of `make`.
    pub fn make<E>(
        &mut self,
        make: impl FnOnce(&str, &Values) -> Result<Arc<M>, E>,
    ) -> Result<(), E> {
        if let Self::Added { values, model } = self {
            *model = Some(make(values.text("model").unwrap_or_default(), values)?);
        }
        Ok(())
    }
}

impl<T: Param, M: ?Sized> Param for Named<T, M> {
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
