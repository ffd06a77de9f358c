//! The keys of a scenario file: those of this crate, and those that models declare beside
//! themselves, passed in by the caller.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::sync::OnceLock;

use backlane_param::{ChangedDefaults, Key, Kind, Presence, Section, Tag, Values, Variant};

use crate::diagnostic::{Diagnostic, Report};
use crate::files::Files;
use crate::model::{Described, Rates, Scenario};
use crate::normal;
use crate::plan::{self, Options, Plan, Stopped};
use crate::profile::{self, Profile};
use crate::single;
use crate::spec::tables;

/// The keys of a scenario file.
#[derive(Clone, Copy, Debug)]
pub struct Catalogue {
    sections: &'static Sections,
}

#[derive(Debug)]
struct Sections {
    file: &'static Section,
    slotted: &'static Section,
    /// By the address of the section of this crate that they take the place of.
    by_origin: BTreeMap<usize, &'static Section>,
    profiles: Vec<Profile>,
    rates: Option<fn(&Values) -> Option<Rates>>,
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

impl Default for Catalogue {
    /// The keys of this crate alone.
    fn default() -> Self {
        static BARE: OnceLock<&'static Sections> = OnceLock::new();
        let sections = *BARE.get_or_init(|| Box::leak(Box::new(Builder::new(&[]).build())));
        Self { sections }
    }
}

impl Catalogue {
    /// The catalogue with these declarations. It is made once and lives as long as the program.
    ///
    /// # Errors
    ///
    /// A name or a key that is taken, a default that its own key refuses, or a section that takes
    /// no declarations.
    pub fn new(declared: &[Declared]) -> Result<Self, CatalogueError> {
        let mut builder = Builder::new(declared);
        let sections = builder.build();
        if let Some(noun) = builder.unused() {
            return Err(CatalogueError::UnknownSection(noun));
        }
        let catalogue = Self {
            sections: Box::leak(Box::new(sections)),
        };
        if let Some(tcp) = catalogue.section(&[tables::TCP.noun]) {
            check_controls(tcp, builder.controls)?;
        }
        for section in builder.touched {
            check_section(section)?;
        }
        for profile in catalogue.profiles() {
            check_profile(profile, catalogue)?;
        }
        Ok(catalogue)
    }

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

    /// Checks a scenario file: its warnings, or all its problems if there is an error.
    ///
    /// `path` is the file's name in messages and the place that relative file references count
    /// from. `overrides` are keys with values, applied in their order before the sweep.
    ///
    /// # Errors
    ///
    /// A report of every problem found, at least one of them an error.
    pub fn check(
        self,
        text: &str,
        path: &str,
        overrides: &[(String, String)],
    ) -> Result<Vec<Diagnostic>, Report> {
        let options = Options {
            overrides,
            ..Options::default()
        };
        self.check_with(text, path, options)
            .map_err(Stopped::report)
    }

    /// [`check`](Self::check), with all options.
    ///
    /// # Errors
    ///
    /// As there, or the watch ended it.
    pub fn check_with(
        self,
        text: &str,
        path: &str,
        options: Options<'_>,
    ) -> Result<Vec<Diagnostic>, Stopped> {
        plan::check(self, text, path, options)
    }

    /// Resolves every cell of a scenario file and names its runs. A `seed` replaces the file's.
    ///
    /// # Errors
    ///
    /// A report of every problem found, at least one of them an error; a sweep that is too large is
    /// refused before any of it is built.
    pub fn plan(
        self,
        text: &str,
        path: &str,
        overrides: &[(String, String)],
        seed: Option<u64>,
    ) -> Result<Plan, Report> {
        let options = Options {
            overrides,
            seed,
            ..Options::default()
        };
        self.plan_with(text, path, options).map_err(Stopped::report)
    }

    /// [`plan`](Self::plan), with all options.
    ///
    /// # Errors
    ///
    /// As there, or the watch ended it.
    pub fn plan_with(self, text: &str, path: &str, options: Options<'_>) -> Result<Plan, Stopped> {
        plan::plan(self, text, path, options)
    }

    /// Reads a resolved scenario, as it stands in [`crate::Cell::resolved`]. Any scenario without a
    /// sweep and without references to files will do.
    ///
    /// # Errors
    ///
    /// A report of every problem found.
    pub fn described(self, text: &str) -> Result<Described, Report> {
        single::single(self, text, single::RESOLVED, &mut Files::none())
    }

    /// [`described`](Self::described), for a network.
    ///
    /// # Errors
    ///
    /// A report of every problem found, or that it is a slotted model and no network.
    pub fn from_resolved(self, text: &str) -> Result<Scenario, Report> {
        single::network(self, text, single::RESOLVED, &mut Files::none())
    }

    /// Reads a scenario file without a sweep.
    ///
    /// # Errors
    ///
    /// A report of every problem found, or that it is a slotted model and no network.
    pub fn parse(self, text: &str, path: &str) -> Result<Scenario, Report> {
        single::network(self, text, path, &mut Files::beside(path, None))
    }
}

fn address(section: &'static Section) -> usize {
    std::ptr::from_ref(section).addr()
}

/// Whether a place waits for a declaration.
fn is_slot(section: &Section) -> bool {
    section.doc.is_empty() && section.tag.is_none()
}

/// Puts declarations into the sections of this crate.
struct Builder<'a> {
    declared: &'a [Declared],
    used: Vec<bool>,
    /// The names of the congestion controls.
    controls: &'static [&'static str],
    by_origin: BTreeMap<usize, &'static Section>,
    /// Sections with declarations.
    touched: Vec<&'static Section>,
}

impl<'a> Builder<'a> {
    fn new(declared: &'a [Declared]) -> Self {
        let controls = declared.iter().filter_map(|declared| match declared {
            Declared::Control { name, .. } => Some(*name),
            _ => None,
        });
        Self {
            declared,
            used: vec![false; declared.len()],
            controls: controls.collect::<Vec<_>>().leak(),
            by_origin: BTreeMap::new(),
            touched: Vec::new(),
        }
    }

    fn build(&mut self) -> Sections {
        let file = self.section(&tables::FILE);
        let slotted = self.section(&tables::SLOTTED_FILE);
        Sections {
            file,
            slotted,
            by_origin: self.by_origin.clone(),
            profiles: self.profiles(),
            rates: self.rates(),
        }
    }

    fn rates(&mut self) -> Option<fn(&Values) -> Option<Rates>> {
        let mut declared = self.declared.iter().enumerate();
        declared.find_map(|(at, declared)| match declared {
            Declared::Rates(rates) => {
                self.used[at] = true;
                Some(*rates)
            }
            _ => None,
        })
    }

    /// The profiles declared.
    fn profiles(&mut self) -> Vec<Profile> {
        let mut profiles = Vec::new();
        for (at, declared) in self.declared.iter().enumerate() {
            if let Declared::Profile {
                section: name,
                kind,
                changed,
            } = declared
            {
                self.used[at] = true;
                let changed = changed.clone();
                profiles.push(Profile {
                    name,
                    kind,
                    changed,
                });
            }
        }
        profiles
    }

    /// The noun of a declaration that no section has taken.
    fn unused(&self) -> Option<&'static str> {
        let unused = self.used.iter().position(|used| !used)?;
        Some(match &self.declared[unused] {
            Declared::Section(section) => section.noun,
            Declared::Word { section, .. } | Declared::Profile { section, .. } => section,
            Declared::Control { table, .. } => table.noun,
            Declared::Rates(_) => "wifi",
        })
    }

    /// A section with what was declared for it.
    fn section(&mut self, origin: &'static Section) -> &'static Section {
        if let Some(known) = self.by_origin.get(&address(origin)) {
            return known;
        }
        let mut section = *origin;
        let mut is_touched = false;
        for (at, declared) in self.declared.iter().enumerate() {
            if let Declared::Section(declared) = declared
                && is_slot(origin)
                && declared.noun == origin.noun
            {
                section = *declared;
                is_touched = true;
                self.used[at] = true;
            }
        }
        if is_slot(origin) {
            let declared = if is_touched { section.keys } else { &[] };
            section.keys = among(origin.keys, declared);
        }
        section.keys = self.keys(section.keys);
        if let Some(tag) = section.tag {
            let (variants, has_more) = self.variants(section.noun, tag.key, tag.variants);
            is_touched |= has_more;
            section.tag = Some(Tag { variants, ..tag });
        }
        let section: &'static Section = Box::leak(Box::new(section));
        self.by_origin.insert(address(origin), section);
        if is_touched || section.noun == tables::TCP.noun {
            self.touched.push(section);
        }
        section
    }

    /// The words of a tag: those of this crate in their order, then those declared. A slot keeps
    /// the place of a word that is declared elsewhere.
    fn variants(
        &mut self,
        noun: &'static str,
        tag: &'static str,
        variants: &'static [Variant],
    ) -> (&'static [Variant], bool) {
        let mut all: Vec<Variant> = Vec::new();
        let mut more: Vec<Variant> = Vec::new();
        for (at, declared) in self.declared.iter().enumerate() {
            if let Declared::Word { section, variant } = declared
                && (*section == noun || *section == format!("{noun}.{tag}"))
            {
                self.used[at] = true;
                more.push(*variant);
            }
        }
        let has_more = !more.is_empty();
        for variant in variants {
            let is_slot = variant.doc.is_empty();
            match more.iter().position(|other| other.name == variant.name) {
                Some(at) if is_slot => {
                    let mut declared = more.remove(at);
                    declared.keys = among(variant.keys, declared.keys);
                    all.push(declared);
                }
                _ if is_slot => {}
                _ => all.push(*variant),
            }
        }
        // Words that this crate has no place for.
        let shared = tables::shared_keys(noun, tag);
        all.extend(more.into_iter().map(|variant| Variant {
            keys: [shared, variant.keys].concat().leak(),
            ..variant
        }));
        for variant in &mut all {
            let mut keys = self.keys(variant.keys).to_vec();
            if noun == tables::TCP.noun {
                keys.extend(self.controls(variant.name));
            }
            variant.keys = keys.leak();
        }
        (all.leak(), has_more)
    }

    /// The tables of the congestion controls under a profile.
    fn controls(&mut self, profile: &str) -> Vec<Key> {
        let mut keys = Vec::new();
        for (at, declared) in self.declared.iter().enumerate() {
            if let Declared::Control {
                name,
                table,
                profiles,
            } = declared
            {
                self.used[at] = true;
                let other = profiles.iter().find(|(word, _)| *word == profile);
                let table = other.map_or(table, |(_, table)| table);
                keys.push(Key {
                    name,
                    kind: Kind::Table(Box::leak(Box::new(*table))),
                    presence: Presence::Optional,
                    doc: table.doc,
                });
            }
        }
        keys
    }

    fn keys(&mut self, keys: &'static [Key]) -> &'static [Key] {
        let keys = keys.iter().map(|key| Key {
            kind: self.kind(key.kind),
            ..*key
        });
        keys.collect::<Vec<_>>().leak()
    }

    fn kind(&mut self, kind: Kind) -> Kind {
        match kind {
            Kind::Table(section) => Kind::Table(self.section(section)),
            Kind::TableOrTag(section) => Kind::TableOrTag(self.section(section)),
            Kind::Tables(section) => Kind::Tables(self.section(section)),
            // A queue of a declaration is one of this crate.
            Kind::Queue(section) if is_slot(section) => Kind::Queue(self.section(&tables::QUEUE)),
            Kind::Queue(section) => Kind::Queue(self.section(section)),
            Kind::CongestionControl { forms, .. } => Kind::CongestionControl {
                words: self.controls,
                forms,
            },
            other => other,
        }
    }
}

/// The keys declared, in the place of the slot among those of a section or a word.
fn among(keys: &'static [Key], declared: &'static [Key]) -> &'static [Key] {
    let [before, after] = match keys.iter().position(Key::is_slot) {
        Some(at) => [&keys[..at], &keys[at + 1..]],
        None => [keys, &[]],
    };
    [before, declared, after].concat().leak()
}

/// Refuses a profile with a key that its section has not, or a default that its key refuses.
fn check_profile(of: &Profile, catalogue: Catalogue) -> Result<(), CatalogueError> {
    for default in &of.changed.defaults {
        let section = of.section(default, catalogue);
        if section
            .and_then(|section| profile::canonical(section, default))
            .is_none()
        {
            let key = section.and_then(|section| section.find(default.key));
            return Err(CatalogueError::BadDefault {
                of: of.changed.word,
                key: default.key,
                default: default.value.to_string().leak(),
                takes: key.map_or("no such key".to_owned(), |key| key.kind.describe()),
            });
        }
    }
    Ok(())
}

/// Refuses a congestion control whose name is that of another or of a key of `[tcp]`.
fn check_controls(tcp: &'static Section, controls: &[&'static str]) -> Result<(), CatalogueError> {
    let tag = tcp.tag.as_ref();
    let profile = tag.and_then(|tag| tag.variants.first());
    let keys = tcp.keys.iter().chain(profile.iter().flat_map(|p| p.keys));
    let mut taken: Vec<_> = keys.map(|key| key.name).collect();
    taken.extend(tag.map(|tag| tag.key));
    let count = |name: &str| taken.iter().filter(|other| **other == name).count();
    match controls.iter().find(|name| count(name) > 1) {
        Some(name) => Err(CatalogueError::NameTaken {
            section: tcp.noun,
            name,
        }),
        None => Ok(()),
    }
}

/// Refuses a section with a word or a key twice, or with a default that its key refuses.
fn check_section(section: &'static Section) -> Result<(), CatalogueError> {
    let common: BTreeSet<_> = section.tag.iter().map(|tag| tag.key).collect();
    let common = check_keys(section.noun, section.keys, &common)?;
    let mut words = BTreeSet::new();
    for variant in section.tag.iter().flat_map(|tag| tag.variants) {
        if !words.insert(variant.name) {
            return Err(CatalogueError::NameTaken {
                section: section.noun,
                name: variant.name,
            });
        }
        check_keys(variant.name, variant.keys, &common)?;
    }
    Ok(())
}

fn check_keys(
    of: &'static str,
    keys: &'static [Key],
    taken: &BTreeSet<&'static str>,
) -> Result<BTreeSet<&'static str>, CatalogueError> {
    let mut seen = taken.clone();
    for key in keys {
        if !seen.insert(key.name) {
            return Err(CatalogueError::KeyTaken { of, key: key.name });
        }
        if let Presence::Default(toml) = key.presence
            && normal::canonical(key, toml).is_none()
        {
            return Err(CatalogueError::BadDefault {
                of,
                key: key.name,
                default: toml,
                takes: key.kind.describe(),
            });
        }
        if let Some(inner) = key.kind.section() {
            check_section(inner)?;
        }
    }
    Ok(seen)
}
