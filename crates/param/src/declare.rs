//! What a declaration gives.

use crate::{
    Derived, Issue, Key, Kind, Mismatch, Presence, Rules, Section, Tag, Value, Values, Variant,
};

/// What leaving a key out means.
#[derive(Clone, Copy, Debug)]
pub enum Given<'a, T> {
    /// It must be stated.
    Required,
    /// This value.
    Default(&'a T),
    /// It follows from other keys.
    Derived,
}

/// The type of a field: a single value, a group of keys or a table.
///
/// The type of a single value defines `kind`, `from_value` and `to_value`; the rest follows.
pub trait Param: Sized {
    /// What bounds it; `()` where nothing does.
    type Limits;

    /// What a file may say; `None` for a group of keys.
    fn kind(limits: Self::Limits) -> Option<Kind>;

    /// The value that a checked file says.
    fn from_value(value: &Value) -> Option<Self>;

    /// What a file says for it; `None` if that is to leave the key out.
    fn to_value(&self) -> Option<Value>;

    /// The keys that a field stands for: one, or those of a group.
    fn keys(
        name: &'static str,
        doc: &'static str,
        given: Given<'_, Self>,
        limits: Self::Limits,
    ) -> Vec<Key> {
        let presence = match given {
            Given::Required => Presence::Required,
            Given::Derived => Presence::Optional,
            Given::Default(value) => value.to_value().map_or(Presence::Optional, |value| {
                Presence::Default(value.to_string().leak())
            }),
        };
        let kind = Self::kind(limits).into_iter();
        kind.map(|kind| Key {
            name,
            kind,
            presence,
            doc,
        })
        .collect()
    }

    /// The value in checked values; `None` if it is left out.
    ///
    /// # Errors
    ///
    /// A value that was not checked.
    fn read(values: &Values, name: &'static str) -> Result<Option<Self>, Mismatch> {
        match values.get(name) {
            None => Ok(None),
            Some(value) => match Self::from_value(value) {
                Some(value) => Ok(Some(value)),
                None => Err(Mismatch { key: name }),
            },
        }
    }

    /// Writes it.
    fn write(&self, name: &'static str, values: &mut Values) {
        if let Some(value) = self.to_value() {
            values.set(name, value);
        }
    }

    /// The tag of the table around it, if the field is one; its defaults are those of `given` if
    /// there is one.
    fn tag(given: Option<&Self>) -> Option<Tag> {
        let _ = given;
        None
    }

    /// Those of the keys that follow from others where they are left out.
    fn derived() -> Vec<&'static str> {
        Vec::new()
    }

    /// The rules between the keys of a group that do not hold.
    fn group_issues(&self) -> Vec<Issue> {
        Vec::new()
    }
}

/// A type whose values have no range.
#[diagnostic::on_unimplemented(
    message = "a key of type `{Self}` needs a range",
    label = "write `, in least..=most` after its default"
)]
pub trait Unbounded: Param<Limits = ()> {}

impl<T: Param<Limits = ()>> Unbounded for T {}

/// The range of a type that has none.
#[doc(hidden)]
pub fn unbounded<T: Unbounded>() {}

/// The description of a struct.
#[derive(Clone, Copy, Debug)]
pub struct Spec {
    /// One sentence.
    pub doc: &'static str,
    /// Its keys.
    pub keys: &'static [Key],
    /// The key whose word decides which further keys there are.
    pub tag: Option<Tag>,
    /// Those among the keys that follow from others where they are left out.
    pub derived: &'static [&'static str],
    /// What follows from the keys, and what must hold between them.
    pub rules: Rules,
}

impl Spec {
    /// A section of these keys.
    pub const fn section(&self, noun: &'static str) -> Section {
        Section {
            noun,
            doc: self.doc,
            keys: self.keys,
            tag: self.tag,
            rules: Some(self.rules),
        }
    }

    /// A word of a tag with these keys.
    pub const fn variant(&self, name: &'static str) -> Variant {
        Variant {
            name,
            doc: self.doc,
            keys: self.keys,
            rules: Some(self.rules),
        }
    }
}

/// A word of a tag that decides only the defaults of keys.
#[derive(Clone, Copy, Debug)]
pub struct Profile {
    /// The word.
    pub name: &'static str,
    /// One sentence.
    pub doc: &'static str,
    /// The keys with its defaults: [`Params::as_defaults`].
    pub defaults: Spec,
}

impl Profile {
    /// A section with the same keys under each of the profiles, the first of which is the default.
    /// Keys with the same default in all of them are common keys of the section.
    ///
    /// `tag` is the key that names the profile, and its sentence.
    pub fn section(
        noun: &'static str,
        doc: &'static str,
        tag: (&'static str, &'static str),
        profiles: &[Self],
    ) -> Section {
        let of = |name: &str| {
            let keys = profiles.iter().flat_map(|profile| profile.defaults.keys);
            keys.filter(|key| key.name == name).collect::<Vec<_>>()
        };
        let is_common = |key: &&Key| of(key.name).iter().all(|other| same_default(key, other));
        let variant = |profile: &Self| Variant {
            name: profile.name,
            doc: profile.doc,
            keys: {
                let own = profile.defaults.keys.iter().filter(|key| !is_common(key));
                own.copied().collect::<Vec<_>>().leak()
            },
            rules: None,
        };
        let first = profiles.first();
        let keys = first.map_or(&[][..], |first| first.defaults.keys);
        let common: Vec<Key> = keys.iter().filter(is_common).copied().collect();
        Section {
            noun,
            doc,
            keys: common.leak(),
            tag: Some(Tag {
                key: tag.0,
                default: first.map(|first| first.name),
                doc: tag.1,
                variants: profiles.iter().map(variant).collect::<Vec<_>>().leak(),
            }),
            rules: first.map(|first| first.defaults.rules),
        }
    }
}

/// Whether leaving either of two keys out means the same.
fn same_default(a: &Key, b: &Key) -> bool {
    match (a.kind.section(), b.kind.section()) {
        (Some(a), Some(b)) => a.keys.iter().zip(b.keys).all(|(a, b)| same_default(a, b)),
        _ => match (a.presence, b.presence) {
            (Presence::Default(a), Presence::Default(b)) => a == b,
            _ => true,
        },
    }
}

/// A struct that [`params!`](crate::params) declared.
pub trait Params: Sized + Send + Sync + 'static {
    /// Its description.
    fn spec() -> &'static Spec;

    /// Its description with these values as the defaults. Each call makes keys that live as long as
    /// the program.
    fn as_defaults(&self) -> Spec;

    /// Reads checked values.
    ///
    /// # Errors
    ///
    /// A value that was not checked.
    fn read(values: &Values) -> Result<Self, Mismatch>;

    /// Its values, all written out.
    fn write(&self) -> Values;

    /// The rules between keys that do not hold.
    fn issues(&self) -> Vec<Issue>;

    /// The functions behind the description.
    fn rules() -> Rules {
        Rules {
            derived: |values| {
                let keys = Self::spec().derived;
                if keys.is_empty() {
                    return Ok(Vec::new());
                }
                let written = Self::read(values)?.write();
                let usual = Self::read(&values.without(keys))?.write();
                let derived = keys.iter().filter_map(|&key| {
                    let value = written.get(key)?.clone();
                    let is_default = usual.get(key) == Some(&value);
                    Some(Derived {
                        key,
                        value,
                        is_default,
                    })
                });
                Ok(derived.collect())
            },
            issues: |values| Ok(Self::read(values)?.issues()),
        }
    }
}

/// A struct of parameters that is a table of its own in a file.
pub trait Table: Params {
    /// The word for it in messages.
    const NOUN: &'static str;

    /// The table of a file.
    fn section() -> &'static Section;
}

/// The first paragraph of a documentation comment, on one line.
#[doc(hidden)]
pub fn paragraph(lines: &[&'static str]) -> &'static str {
    let first = lines.iter().map(|line| line.trim());
    let first: Vec<_> = first.take_while(|line| !line.is_empty()).collect();
    first.join(" ").leak()
}

/// The keys of a field.
#[doc(hidden)]
pub fn field_keys<T: Param>(
    name: &'static str,
    doc: &[&'static str],
    given: Given<'_, T>,
    limits: T::Limits,
) -> Vec<Key> {
    T::keys(name, paragraph(doc), given, limits)
}

/// The key of a table.
#[doc(hidden)]
pub fn table_key(name: &'static str, doc: &'static str, kind: Kind) -> Vec<Key> {
    vec![Key {
        name,
        kind,
        presence: Presence::Section,
        doc,
    }]
}

/// The table of a key.
#[doc(hidden)]
pub fn table<'a>(values: &'a Values, key: &'static str) -> Result<Option<&'a Values>, Mismatch> {
    match values.get(key) {
        Some(Value::Table(table)) => Ok(Some(table)),
        Some(_) => Err(Mismatch { key }),
        None => Ok(None),
    }
}
