//! The parameters of congestion controls by name: what a scenario file can set.
//!
//! A control's `Config` lists its fields once, with their ranges, in [`Parameters::parameters`];
//! reading, setting and checking them by name follow from that list.

use std::fmt;

use backlane_units::Duration;

use super::CongestionControlConfig;

/// A configuration whose fields have names.
pub trait Parameters {
    /// Every field, in the order of the documentation. Implementations take `self` apart, so that
    /// a new field cannot be forgotten.
    fn parameters(&mut self) -> Vec<Parameter<'_>>;
}

/// A field of a configuration.
pub struct Parameter<'a> {
    /// The name that files give it: that of the field, without the unit of a [`Slot::Time`].
    pub name: &'static str,
    /// The field itself.
    pub slot: Slot<'a>,
}

/// A field, lent to be read or set, with the range it must lie in, ends included.
pub enum Slot<'a> {
    /// On or off.
    Switch(&'a mut bool),
    /// A whole number.
    Count(&'a mut u32, (u32, u32)),
    /// A number.
    Number(&'a mut f64, (f64, f64)),
    /// A time.
    Time(&'a mut Duration, (Duration, Duration)),
    /// One of several words.
    Word(&'a mut dyn Choice),
}

/// A value of a parameter.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Value<'a> {
    /// On or off.
    Switch(bool),
    /// A whole number.
    Count(u32),
    /// A number.
    Number(f64),
    /// A time.
    Time(Duration),
    /// One of several words.
    Word(&'a str),
}

/// A variant of an algorithm, chosen by a word.
pub trait Choice {
    /// All words.
    fn words(&self) -> Vec<&'static str>;
    /// The word of the present choice.
    fn word(&self) -> &'static str;
    /// Chooses by a word; `false`: it is none of [`words`](Self::words).
    fn choose(&mut self, word: &str) -> bool;
}

/// Enumerations with a word for each variant.
pub(super) trait Words: Copy + PartialEq + 'static {
    const WORDS: &'static [(&'static str, Self)];
}

impl<T: Words> Choice for T {
    fn words(&self) -> Vec<&'static str> {
        T::WORDS.iter().map(|(word, _)| *word).collect()
    }

    fn word(&self) -> &'static str {
        let own = T::WORDS.iter().find(|(_, choice)| choice == self);
        own.map_or("", |(word, _)| word)
    }

    fn choose(&mut self, word: &str) -> bool {
        let named = T::WORDS.iter().find(|(known, _)| *known == word);
        if let Some((_, choice)) = named {
            *self = *choice;
        }
        named.is_some()
    }
}

impl<'a> Parameter<'a> {
    pub(super) fn switch(name: &'static str, value: &'a mut bool) -> Self {
        let slot = Slot::Switch(value);
        Self { name, slot }
    }

    pub(super) fn count(name: &'static str, value: &'a mut u32, range: (u32, u32)) -> Self {
        let slot = Slot::Count(value, range);
        Self { name, slot }
    }

    pub(super) fn number(name: &'static str, value: &'a mut f64, range: (f64, f64)) -> Self {
        let slot = Slot::Number(value, range);
        Self { name, slot }
    }

    pub(super) fn time(
        name: &'static str,
        value: &'a mut Duration,
        range: (Duration, Duration),
    ) -> Self {
        let slot = Slot::Time(value, range);
        Self { name, slot }
    }

    pub(super) fn word(name: &'static str, value: &'a mut dyn Choice) -> Self {
        let slot = Slot::Word(value);
        Self { name, slot }
    }

    /// The present value.
    pub fn value(&self) -> Value<'static> {
        match &self.slot {
            Slot::Switch(value) => Value::Switch(**value),
            Slot::Count(value, _) => Value::Count(**value),
            Slot::Number(value, _) => Value::Number(**value),
            Slot::Time(value, _) => Value::Time(**value),
            Slot::Word(choice) => Value::Word(choice.word()),
        }
    }

    /// Sets the value.
    ///
    /// # Errors
    ///
    /// A value of another kind, outside the range, or a word that is not known.
    pub fn set(&mut self, value: Value<'_>) -> Result<(), ParameterError> {
        let name = self.name;
        match (&mut self.slot, value) {
            (Slot::Switch(slot), Value::Switch(value)) => **slot = value,
            (Slot::Count(slot, range), Value::Count(value)) => {
                **slot = within(name, value, *range)?;
            }
            (Slot::Number(slot, range), Value::Number(value)) => {
                **slot = within(name, value, *range)?;
            }
            (Slot::Time(slot, range), Value::Time(value)) => {
                **slot = within(name, value, *range)?;
            }
            (Slot::Word(slot), Value::Word(word)) => {
                if !slot.choose(word) {
                    return Err(ParameterError::UnknownWord {
                        parameter: name,
                        words: slot.words(),
                    });
                }
            }
            _ => return Err(ParameterError::WrongKind { parameter: name }),
        }
        Ok(())
    }

    /// Checks the present value against its range.
    fn check(&self) -> Result<(), ParameterError> {
        match &self.slot {
            Slot::Switch(_) | Slot::Word(_) => Ok(()),
            Slot::Count(value, range) => within(self.name, **value, *range).map(drop),
            Slot::Number(value, range) => within(self.name, **value, *range).map(drop),
            Slot::Time(value, range) => within(self.name, **value, *range).map(drop),
        }
    }
}

fn within<T: PartialOrd + fmt::Display>(
    parameter: &'static str,
    value: T,
    (min, max): (T, T),
) -> Result<T, ParameterError> {
    if value >= min && value <= max {
        return Ok(value);
    }
    Err(ParameterError::OutOfRange {
        parameter,
        value: value.to_string(),
        min: min.to_string(),
        max: max.to_string(),
    })
}

/// Why a parameter cannot have a value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ParameterError {
    /// The control has no parameter of that name.
    Unknown {
        /// The name given.
        parameter: String,
        /// The names it has.
        known: Vec<&'static str>,
    },
    /// The parameter takes a value of another kind.
    WrongKind {
        /// Its name.
        parameter: &'static str,
    },
    /// The parameter does not know the word.
    UnknownWord {
        /// Its name.
        parameter: &'static str,
        /// The words it knows.
        words: Vec<&'static str>,
    },
    /// The value is not in the parameter's range.
    OutOfRange {
        /// Its name.
        parameter: &'static str,
        /// The value given.
        value: String,
        /// The smallest value that is allowed.
        min: String,
        /// The largest value that is allowed.
        max: String,
    },
}

impl fmt::Display for ParameterError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unknown { parameter, known } => {
                write!(f, "{parameter} is not known; known: {}", known.join(", "))
            }
            Self::WrongKind { parameter } => write!(f, "{parameter} takes another kind of value"),
            Self::UnknownWord { parameter, words } => {
                write!(f, "{parameter} is one of {}", words.join(", "))
            }
            Self::OutOfRange {
                parameter,
                value,
                min,
                max,
            } => write!(f, "{parameter} = {value} is outside {min} to {max}"),
        }
    }
}

impl std::error::Error for ParameterError {}

impl CongestionControlConfig {
    /// Sets the parameter `name`.
    ///
    /// # Errors
    ///
    /// A name that the control does not have, or a value that the parameter cannot have.
    pub fn set(&mut self, name: &str, value: Value<'_>) -> Result<(), ParameterError> {
        let mut known = self.parameters();
        if let Some(parameter) = known.iter_mut().find(|parameter| parameter.name == name) {
            return parameter.set(value);
        }
        Err(ParameterError::Unknown {
            parameter: name.to_owned(),
            known: known.iter().map(|parameter| parameter.name).collect(),
        })
    }

    /// Checks every parameter against its range.
    ///
    /// # Errors
    ///
    /// The first parameter that is outside its range.
    pub fn validate(&self) -> Result<(), ParameterError> {
        self.clone()
            .parameters()
            .iter()
            .try_for_each(Parameter::check)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn every(mut visit: impl FnMut(&str, &mut CongestionControlConfig, usize)) {
        for name in CongestionControlConfig::NAMES {
            let mut config: CongestionControlConfig = name.parse().unwrap();
            for index in 0..config.parameters().len() {
                visit(name, &mut config, index);
            }
        }
    }

    #[test]
    fn every_parameter_takes_the_ends_of_its_range_and_nothing_beyond() {
        let mut ranges = 0;
        every(|control, config, index| {
            let mut known = config.parameters();
            let parameter = &mut known[index];
            let (ends, beyond) = match parameter.slot {
                Slot::Switch(_) | Slot::Word(_) => return,
                Slot::Count(_, (min, max)) => (
                    [min, max].map(Value::Count),
                    [min.checked_sub(1), max.checked_add(1)].map(|n| n.map(Value::Count)),
                ),
                Slot::Number(_, (min, max)) => (
                    [min, max].map(Value::Number),
                    [min.next_down(), max.next_up()].map(|n| Some(Value::Number(n))),
                ),
                Slot::Time(_, (min, max)) => (
                    [min, max].map(Value::Time),
                    [min.as_ps().checked_sub(1), max.as_ps().checked_add(1)]
                        .map(|ps| Some(Value::Time(Duration::from_ps(ps?)))),
                ),
            };
            ranges += 1;
            for end in ends {
                assert_eq!(parameter.set(end), Ok(()), "{control}.{}", parameter.name);
                assert_eq!(parameter.value(), end);
            }
            for value in beyond.into_iter().flatten() {
                assert!(
                    matches!(parameter.set(value), Err(ParameterError::OutOfRange { .. })),
                    "{control}.{} = {value:?}",
                    parameter.name
                );
            }
            assert!(parameter.set(Value::Switch(true)).is_err());
        });
        assert!(ranges > 10);
    }

    #[test]
    fn every_word_is_chosen_by_its_name() {
        every(|control, config, index| {
            let mut known = config.parameters();
            let parameter = &mut known[index];
            let Slot::Word(choice) = &parameter.slot else {
                return;
            };
            for word in choice.words() {
                assert_eq!(parameter.set(Value::Word(word)), Ok(()));
                assert_eq!(parameter.value(), Value::Word(word), "{control}");
            }
            assert!(parameter.set(Value::Word("")).is_err());
        });
    }

    #[test]
    fn names_are_there_once() {
        for name in CongestionControlConfig::NAMES {
            let mut config: CongestionControlConfig = name.parse().unwrap();
            let mut names: Vec<_> = config.parameters().iter().map(|p| p.name).collect();
            let count = names.len();
            names.sort_unstable();
            names.dedup();
            assert_eq!(names.len(), count, "{name}");
        }
    }

    #[test]
    fn errors_list_what_is_possible() {
        let mut scalable: CongestionControlConfig = "scalable".parse().unwrap();
        let error = |result: Result<(), ParameterError>| result.unwrap_err().to_string();
        assert_eq!(
            error(scalable.set("per_pkts", Value::Count(0))),
            "per_pkts = 0 is outside 1 to 10000"
        );
        assert_eq!(
            error(scalable.set("beta", Value::Number(0.5))),
            "beta is not known; known: per_pkts"
        );
        let mut cubic = CongestionControlConfig::default();
        assert_eq!(
            error(cubic.set("hystart", Value::Word("on"))),
            "hystart is one of linux, linux-legacy, ns3, rfc9406, off"
        );
        assert_eq!(
            error(cubic.set("beta", Value::Number(f64::NAN))),
            "beta = NaN is outside 0.1 to 0.95"
        );
    }

    #[test]
    fn a_value_that_was_not_set_by_name_is_checked_too() {
        let config =
            CongestionControlConfig::Scalable(super::super::scalable::Config { per_pkts: 0 });
        assert!(config.validate().is_err());
    }
}
