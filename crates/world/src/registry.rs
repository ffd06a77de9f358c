//! The models of one kind that a program has, by name.

use backlane_scenario::Declared;

use crate::error::BuildError;

/// A model that a scenario names.
pub(crate) trait Registered {
    /// Its kind in messages, such as "routing protocol".
    const KIND: &'static str;

    /// Its name in scenario files.
    fn name(&self) -> &'static str;

    /// What it adds to the keys of a scenario file.
    fn declared(&self) -> &Declared;
}

/// The models of a kind.
pub(crate) struct Registry<T>(Vec<T>);

impl<T> Default for Registry<T> {
    fn default() -> Self {
        Self(Vec::new())
    }
}

impl<T> FromIterator<T> for Registry<T> {
    fn from_iter<I: IntoIterator<Item = T>>(models: I) -> Self {
        Self(models.into_iter().collect())
    }
}

impl<T: Registered> Registry<T> {
    pub(crate) fn push(&mut self, model: T) {
        self.0.push(model);
    }

    pub(crate) fn declared(&self) -> impl Iterator<Item = Declared> {
        self.0.iter().map(|model| model.declared().clone())
    }

    /// The model `name`.
    ///
    /// # Errors
    ///
    /// The program has none of this name.
    pub(crate) fn find(&self, name: &str) -> Result<&T, BuildError> {
        let found = self.0.iter().find(|model| model.name() == name);
        found.ok_or_else(|| {
            BuildError(format!(
                "there is no {} \"{name}\" in this program",
                T::KIND
            ))
        })
    }
}

/// Implements [`Registered`] for a type with the fields `name` and `declared`.
macro_rules! registered {
    ($type:ty, $kind:literal) => {
        impl $crate::registry::Registered for $type {
            const KIND: &'static str = $kind;

            fn name(&self) -> &'static str {
                self.name
            }

            fn declared(&self) -> &backlane_scenario::Declared {
                &self.declared
            }
        }
    };
}

pub(crate) use registered;
