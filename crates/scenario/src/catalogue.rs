//! The keys of a scenario file: those of this crate, and those that models declare beside
//! themselves, passed in by the caller.

use std::collections::BTreeMap;
use std::fmt;

use backlane_param::{ChangedDefaults, Section, Values, Variant};

use crate::model::Rates;

/// The keys of a scenario file.
#[derive(Clone, Copy, Debug)]
pub struct Catalogue {
    pub(crate) sections: &'static Sections,
}

/// The sections of a file, with what was declared for them.
#[derive(Debug)]
pub(crate) struct Sections {
    pub(crate) file: &'static Section,
    pub(crate) slotted: &'static Section,
    /// By the address of the section of this crate that they take the place of.
    pub(crate) by_origin: BTreeMap<usize, &'static Section>,
    pub(crate) profiles: Vec<Profile>,
    pub(crate) rates: Option<fn(&Values) -> Option<Rates>>,
}

/// A profile that changes defaults, and where.
#[derive(Clone, Debug)]
pub(crate) struct Profile {
    /// The section at the top of the file.
    pub(crate) name: &'static str,
    /// The word of the section's tag that has the profile; empty where it has no tag.
    pub(crate) kind: &'static str,
    /// Its word and what it changes.
    pub(crate) changed: ChangedDefaults,
}

/// What a model adds to the keys of a scenario file.
#[derive(Clone, Debug)]
pub enum Declared {
    /// A whole section: it takes the place of the slot with its noun.
    Section(Section),
    /// A word of the tag of a section, such as a routing protocol.
    Word {
        /// The noun of the section; with a dot and the key of the tag where several sections have
        /// the noun.
        section: &'static str,
        /// The word and its keys.
        variant: Variant,
    },
    /// A word of the key `profile` of a section.
    Profile {
        /// The key of the section at the top of the file.
        section: &'static str,
        /// The word of the section's tag whose keys it is about; empty where it has no tag.
        kind: &'static str,
        /// The word and the defaults.
        changed: ChangedDefaults,
    },
    /// The rates of the radios that checked values of `[wifi]` describe.
    Rates(fn(&Values) -> Option<Rates>),
    /// A congestion control: a word of the keys `congestion_control`, and the table `[tcp.NAME]`.
    Control {
        /// The word.
        name: &'static str,
        /// The table, with its keys.
        table: Section,
        /// The table under the profiles that have other defaults for its keys.
        profiles: &'static [(&'static str, Section)],
    },
}

/// Why something cannot be added to a catalogue.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CatalogueError {
    /// The section has this word already.
    NameTaken {
        /// The section.
        section: &'static str,
        /// The word.
        name: &'static str,
    },
    /// The section has this key already.
    KeyTaken {
        /// The section or the word whose key it is.
        of: &'static str,
        /// The key.
        key: &'static str,
    },
    /// The default is no value of its own key.
    BadDefault {
        /// The section or the word whose key it is.
        of: &'static str,
        /// The key.
        key: &'static str,
        /// The default, as TOML.
        default: &'static str,
        /// What the key takes.
        takes: String,
    },
    /// No section of this noun takes declarations.
    UnknownSection(&'static str),
}

impl fmt::Display for CatalogueError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NameTaken { section, name } => {
                write!(f, "{section} has \"{name}\" already: choose another name")
            }
            Self::KeyTaken { of, key } => {
                write!(
                    f,
                    "\"{of}\" cannot add the key `{key}`, which its section has already: rename the field"
                )
            }
            Self::BadDefault {
                of,
                key,
                default,
                takes,
            } => write!(
                f,
                "the default of `{key}` of \"{of}\" is {default}, but the key takes {takes}"
            ),
            Self::UnknownSection(noun) => write!(f, "no section \"{noun}\" takes declarations"),
        }
    }
}

impl std::error::Error for CatalogueError {}

impl Catalogue {
    /// The top of the file.
    pub(crate) fn file(self) -> &'static Section {
        self.sections.file
    }

    /// The top of a file with a slotted model.
    pub(crate) fn slotted(self) -> &'static Section {
        self.sections.slotted
    }

    /// A section of this crate, with what was declared for it.
    pub(crate) fn of(self, section: &'static Section) -> &'static Section {
        let known = self.sections.by_origin.get(&address(section));
        known.copied().unwrap_or(section)
    }

    /// The rates of the radios of a checked `[wifi]`; `None` if it has a value that was refused.
    pub(crate) fn rates(self, wifi: &Values) -> Option<Rates> {
        self.sections.rates?(wifi)
    }

    /// The profiles that change defaults.
    pub(crate) fn profiles(self) -> &'static [Profile] {
        &self.sections.profiles
    }

    /// The section at a path from the top of the file.
    pub(crate) fn section(self, path: &[&str]) -> Option<&'static Section> {
        path.iter().try_fold(self.file(), |section, name| {
            section.find(name)?.kind.section()
        })
    }
}

/// What a section is known by.
pub(crate) fn address(section: &'static Section) -> usize {
    std::ptr::from_ref(section).addr()
}
