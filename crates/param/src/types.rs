//! Types of single values, lists and optional values.

use std::fmt;
use std::ops::RangeInclusive;

use backlane_units::{Angle, Bytes, Decibels, Duration, Frequency, Length, Power, Rate, Speed};

use crate::{Given, Key, Kind, Mismatch, Param, Presence, Section, Value, Values};

/// Implements [`Param`] for the type of a single value: its kind, how it is read and written.
#[macro_export]
#[doc(hidden)]
macro_rules! scalar {
    ($type:ty, $limits:ty, |$range:pat_param| $kind:expr, $from:expr, $to:expr) => {
        impl $crate::Param for $type {
            type Limits = $limits;
            fn kind($range: $limits) -> Option<$crate::Kind> {
                Some($kind)
            }
            fn from_value(value: &$crate::Value) -> Option<Self> {
                #[allow(clippy::redundant_closure_call)]
                ($from)(value)
            }
            fn to_value(&self) -> Option<$crate::Value> {
                #[allow(clippy::redundant_closure_call)]
                ($to)(self)
            }
        }
    };
}

fn parsed<T: std::str::FromStr>(value: &Value) -> Option<T> {
    match value {
        Value::Text(text) => text.parse().ok(),
        _ => None,
    }
}

#[allow(clippy::unnecessary_wraps)]
fn written(value: &impl ToString) -> Option<Value> {
    Some(Value::Text(value.to_string()))
}

scalar!(
    Duration,
    RangeInclusive<Self>,
    |range| Kind::Duration {
        min_ps: range.start().as_ps(),
        max_ps: range.end().as_ps(),
    },
    parsed,
    written
);
scalar!(
    Bytes,
    RangeInclusive<Self>,
    |range| Kind::Bytes {
        min: range.start().get(),
        max: range.end().get(),
    },
    parsed,
    written
);
scalar!(
    Power,
    RangeInclusive<Self>,
    |range| Kind::Power {
        min_mdbm: range.start().as_mdbm(),
        max_mdbm: range.end().as_mdbm(),
    },
    parsed,
    written
);
scalar!(
    Decibels,
    RangeInclusive<Self>,
    |range| Kind::Decibels {
        min_mdb: range.start().as_mdb(),
        max_mdb: range.end().as_mdb(),
    },
    parsed,
    written
);
scalar!(
    Frequency,
    RangeInclusive<Self>,
    |range| Kind::Frequency {
        min_hz: range.start().as_hz(),
        max_hz: range.end().as_hz(),
    },
    parsed,
    written
);
scalar!(
    Length,
    std::ops::RangeFrom<Self>,
    |least| Kind::Length {
        min_um: least.start.as_um(),
    },
    parsed,
    written
);
scalar!(Rate, (), |()| Kind::Rate, parsed, written);
scalar!(Speed, (), |()| Kind::Speed, parsed, written);
scalar!(Angle, (), |()| Kind::Angle, parsed, written);

scalar!(
    bool,
    (),
    |()| Kind::Boolean,
    |value: &Value| match value {
        Value::Boolean(value) => Some(*value),
        _ => None,
    },
    |value: &Self| Some(Value::Boolean(*value))
);
scalar!(
    f64,
    RangeInclusive<Self>,
    |range| Kind::Number {
        min: *range.start(),
        max: *range.end(),
    },
    |value: &Value| match value {
        Value::Number(value) => Some(*value),
        Value::Integer(value) => Some(*value as Self),
        _ => None,
    },
    |value: &Self| Some(Value::Number(*value))
);
scalar!(
    String,
    (),
    |()| Kind::Text,
    |value: &Value| match value {
        Value::Text(text) => Some(text.clone()),
        _ => None,
    },
    |value: &Self| Some(Value::Text(value.clone()))
);

fn integer<T: TryFrom<i64>>(value: &Value) -> Option<T> {
    match value {
        Value::Integer(value) => T::try_from(*value).ok(),
        _ => None,
    }
}

macro_rules! integers {
    ($($type:ty)*) => {$(
        scalar!(
            $type,
            RangeInclusive<Self>,
            |range| Kind::Integer {
                min: i64::try_from(*range.start()).unwrap_or(i64::MAX),
                max: i64::try_from(*range.end()).unwrap_or(i64::MAX),
            },
            integer,
            |value: &Self| i64::try_from(*value).ok().map(Value::Integer)
        );
    )*};
}
integers!(u8 u16 u32 u64 usize i32 i64);

/// One of a few integers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Int(pub i64);

scalar!(
    Int,
    &'static [i64],
    |integers| Kind::Choice(integers),
    |value: &Value| integer(value).map(Self),
    |value: &Self| Some(Value::Integer(value.0))
);

/// What may wait in a buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BufferLimit {
    /// This many packets.
    Packets(u32),
    /// This many bytes of packets.
    Bytes(Bytes),
    /// Packets, as long as the oldest has not waited for longer than this.
    Time(Duration),
}

impl fmt::Display for BufferLimit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Packets(packets) => write!(f, "{packets} packets"),
            Self::Bytes(bytes) => bytes.fmt(f),
            Self::Time(time) => time.fmt(f),
        }
    }
}

scalar!(
    BufferLimit,
    (),
    |()| Kind::Buffer,
    |value: &Value| match value {
        Value::Text(text) => match text.strip_suffix(" packets") {
            Some(packets) => packets.parse().ok().map(Self::Packets),
            None =>
                (text.parse().ok().map(Self::Time)).or_else(|| text.parse().ok().map(Self::Bytes)),
        },
        _ => None,
    },
    written
);

/// A whole number of milliseconds, written with its unit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Milliseconds(pub u32);

scalar!(
    Milliseconds,
    RangeInclusive<u32>,
    |range| Kind::Milliseconds {
        min: *range.start(),
        max: *range.end(),
    },
    |value: &Value| {
        let span: Duration = parsed(value)?;
        let ms = Duration::from_millis(1).as_ps();
        let whole = span.as_ps().is_multiple_of(ms);
        let count = u32::try_from(span.as_ps() / ms).ok()?;
        whole.then_some(Self(count))
    },
    |value: &Self| written(&format!("{} ms", value.0))
);

/// A word or else what `kind` takes; beside other words it is the first of them.
fn or_word(word: &'static str, kind: Kind) -> Kind {
    match kind {
        Kind::Words { words, aliases } => Kind::Words {
            words: [&[word], words].concat().leak(),
            aliases,
        },
        kind => Kind::OrWord(word, Box::leak(Box::new(kind))),
    }
}

/// Declares a type of one word or else a value.
macro_rules! or_word {
    ($name:ident, $word_variant:ident, $word:literal) => {
        #[doc = concat!("The word \"", $word, "\" or else a value.")]
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
        pub enum $name<T> {
            #[doc = concat!("\"", $word, "\".")]
            #[default]
            $word_variant,
            /// This value.
            Value(T),
        }

        impl<T: Copy> $name<T> {
            /// The value, if it is one.
            pub const fn value(self) -> Option<T> {
                match self {
                    Self::$word_variant => None,
                    Self::Value(value) => Some(value),
                }
            }
        }

        impl<T: Param> Param for $name<T> {
            type Limits = T::Limits;

            fn kind(limits: T::Limits) -> Option<Kind> {
                T::kind(limits).map(|kind| or_word($word, kind))
            }

            fn from_value(value: &Value) -> Option<Self> {
                match value {
                    Value::Text(text) if text == $word => Some(Self::$word_variant),
                    other => T::from_value(other).map(Self::Value),
                }
            }

            fn to_value(&self) -> Option<Value> {
                match self {
                    Self::$word_variant => Some(Value::Text($word.to_owned())),
                    Self::Value(value) => value.to_value(),
                }
            }
        }
    };
}
or_word!(OrOff, Off, "off");
or_word!(OrAuto, Auto, "auto");
or_word!(OrNone, None, "none");
or_word!(OrInfinite, Infinite, "infinite");
or_word!(OrStandard, Standard, "standard");
or_word!(OrUnlimited, Unlimited, "unlimited");

/// A queue: its limit alone, or a table. Its keys are those of the queues of links.
#[derive(Clone, Debug, PartialEq)]
pub struct Queue(pub Value);

impl Queue {
    /// A drop-tail queue of this many packets.
    pub fn packets(packets: u32) -> Self {
        Self(Value::Text(format!("{packets} packets")))
    }
}

scalar!(
    Queue,
    (),
    |()| Kind::Queue(&Section::QUEUE),
    |value: &Value| Some(Self(value.clone())),
    |value: &Self| Some(value.0.clone())
);

/// The name of a node.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Id(pub String);

scalar!(
    Id,
    (),
    |()| Kind::Id,
    |value: &Value| String::from_value(value).map(Self),
    |value: &Self| value.0.to_value()
);

/// A class in a Python file, "FILE:CLASS".
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PythonClass(pub String);

scalar!(
    PythonClass,
    (),
    |()| Kind::PythonClass,
    |value: &Value| String::from_value(value).map(Self),
    |value: &Self| value.0.to_value()
);

/// Numbers, texts and booleans by names that the file chooses.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Settings(pub Values);

scalar!(
    Settings,
    (),
    |()| Kind::Settings,
    |value: &Value| match value {
        Value::Table(values) => Some(Self(values.clone())),
        _ => None,
    },
    |value: &Self| Some(Value::Table(value.0.clone()))
);

/// What may be left out, which is `None`.
impl<T: Param> Param for Option<T> {
    type Limits = T::Limits;

    fn kind(limits: T::Limits) -> Option<Kind> {
        T::kind(limits)
    }

    fn from_value(value: &Value) -> Option<Self> {
        T::from_value(value).map(Some)
    }

    fn to_value(&self) -> Option<Value> {
        self.as_ref()?.to_value()
    }

    fn keys(
        name: &'static str,
        doc: &'static str,
        given: Given<'_, Self>,
        limits: T::Limits,
    ) -> Vec<Key> {
        if let Given::Default(Some(value)) = given {
            return T::keys(name, doc, Given::Default(value), limits);
        }
        let mut keys = T::keys(name, doc, Given::Required, limits);
        for key in &mut keys {
            key.presence = Presence::Optional;
        }
        keys
    }

    fn read(values: &Values, name: &'static str) -> Result<Option<Self>, Mismatch> {
        T::read(values, name).map(Some)
    }

    fn write(&self, name: &'static str, values: &mut Values) {
        if let Some(value) = self {
            value.write(name, values);
        }
    }
}

fn list<T: Param>(value: &Value) -> Option<Vec<T>> {
    match value {
        Value::List(items) => items.iter().map(T::from_value).collect(),
        _ => None,
    }
}

fn leaked<T: Param>(limits: T::Limits) -> Option<&'static Kind> {
    T::kind(limits).map(|kind| &*Box::leak(Box::new(kind)))
}

/// A list; of tables, an array of tables.
impl<T: Param> Param for Vec<T> {
    type Limits = T::Limits;

    fn kind(limits: T::Limits) -> Option<Kind> {
        match T::kind(limits)? {
            Kind::Table(section) | Kind::TableOrTag(section) => Some(Kind::Tables(section)),
            kind => Some(Kind::List(Box::leak(Box::new(kind)))),
        }
    }

    fn from_value(value: &Value) -> Option<Self> {
        list(value)
    }

    fn to_value(&self) -> Option<Value> {
        let items: Option<Vec<_>> = self.iter().map(Param::to_value).collect();
        items.map(Value::List)
    }
}

/// A single value or a list; a list of one is written as the single value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OneOrMany<T>(pub Vec<T>);

impl<T: Param> Param for OneOrMany<T> {
    type Limits = T::Limits;

    fn kind(limits: T::Limits) -> Option<Kind> {
        leaked::<T>(limits).map(Kind::OneOrMany)
    }

    fn from_value(value: &Value) -> Option<Self> {
        match value {
            Value::List(_) => list(value).map(Self),
            single => T::from_value(single).map(|single| Self(vec![single])),
        }
    }

    fn to_value(&self) -> Option<Value> {
        match self.0.as_slice() {
            [single] => single.to_value(),
            several => {
                let items: Option<Vec<_>> = several.iter().map(Param::to_value).collect();
                items.map(Value::List)
            }
        }
    }
}
