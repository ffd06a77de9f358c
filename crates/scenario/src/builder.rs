//! Builds a catalogue: puts declarations into the sections of this crate, and refuses those that do
//! not fit.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::OnceLock;

use backlane_param::{Key, Kind, Presence, Section, Tag, Values, Variant};

use crate::catalogue::{Catalogue, CatalogueError, Declared, Profile, Sections, address};
use crate::model::Rates;
use crate::normal;
use crate::profile;
use crate::spec::tables;

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
