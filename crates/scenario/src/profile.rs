//! Profiles: words of a section that mean other defaults for its keys.
//!
//! A profile's defaults are written into a tree before it is checked, where the file says nothing,
//! and marked as defaults in its normal form.

use crate::catalogue::Catalogue;
use crate::diagnostic::{Problems, Span};
use crate::normal;
use crate::spec::tables::{ProfileDefault, lte, wifi};
use crate::spec::{Section, Tag};
use crate::tree::{Item, Table, Value, parse_value};

/// A profile that changes defaults.
#[derive(Debug)]
pub(crate) struct Profile {
    /// The section at the top of the file.
    pub(crate) name: &'static str,
    /// The word of the section's tag that has the profile; empty where it has no tag.
    kind: &'static str,
    /// What `profile` says.
    pub(crate) word: &'static str,
    /// What it changes, tags first.
    pub(crate) defaults: &'static [ProfileDefault],
}

/// LTE access as ns-3's LENA.
pub(crate) static LENA: Profile = Profile {
    name: "access",
    kind: "lte",
    word: "lena",
    defaults: lte::LENA,
};

/// 802.11 as ns-2.
pub(crate) static NS2: Profile = Profile {
    name: "wifi",
    kind: "",
    word: "ns2",
    defaults: wifi::NS2,
};

/// All profiles.
pub(crate) const ALL: [&Profile; 2] = [&LENA, &NS2];

/// The tree with the defaults of its profiles; `None` where they change none.
pub(crate) fn with_profiles(raw: &Table, catalogue: Catalogue) -> Option<Table> {
    let mut written = None;
    for profile in ALL {
        let tree = written.as_ref().unwrap_or(raw);
        written = profile.written_into(tree, catalogue).or(written);
    }
    written
}

impl Profile {
    /// Whether a table is one of this profile.
    fn is_of(&self, table: &Table, catalogue: Catalogue) -> bool {
        let section = catalogue.section(&[self.name]);
        let tag = section.and_then(|section| section.tag.as_ref());
        let kind = tag.and_then(|tag| table.text(tag.key));
        (self.kind.is_empty() || kind == Some(self.kind))
            && table.text("profile") == Some(self.word)
    }

    /// The tree with the defaults of the profile where the file says nothing.
    fn written_into(&self, raw: &Table, catalogue: Catalogue) -> Option<Table> {
        let table = raw
            .table(self.name)
            .filter(|table| self.is_of(table, catalogue))?;
        let span = table.place("profile", Span::default());
        let mut raw = raw.clone();
        let Some(Value::Table(table)) = raw.get_mut(self.name).map(|item| &mut item.value) else {
            return None;
        };
        for default in self.defaults {
            let tag = self.tag(default, catalogue);
            if let Some(table) = self.open(table, default, span, catalogue) {
                let stated_word = tag.and_then(|tag| table.text(tag.key).or(tag.default));
                let applies = default.word.is_empty() || stated_word == Some(default.word);
                if applies && table.get(default.key).is_none() {
                    let item = parse_value(default.value, span.source, 0, &mut Problems::default());
                    let item = Item { span, ..item };
                    table.set(default.key, span, item);
                }
            }
        }
        Some(raw)
    }

    /// The table that a default belongs to, made or written out where the file has none or only
    /// its tag. `None` where the file has something else, which is a problem of its own.
    fn open<'a>(
        &self,
        table: &'a mut Table,
        default: &ProfileDefault,
        span: Span,
        catalogue: Catalogue,
    ) -> Option<&'a mut Table> {
        if default.section.is_empty() {
            return Some(table);
        }
        let place = table.place(default.section, span);
        let written_out = match table.get(default.section).map(|item| &item.value) {
            None => Some(Table::default()),
            Some(Value::Text(word)) => {
                let mut inner = Table::default();
                inner.set(
                    self.tag(default, catalogue)?.key,
                    place,
                    Item::text(word, place),
                );
                Some(inner)
            }
            Some(_) => None,
        };
        if let Some(inner) = written_out {
            let value = Value::Table(inner);
            table.set(default.section, place, Item { value, span: place });
        }
        match table.get_mut(default.section).map(|item| &mut item.value) {
            Some(Value::Table(inner)) => Some(inner),
            _ => None,
        }
    }

    /// The section of a default.
    pub(crate) fn section(
        &self,
        default: &ProfileDefault,
        catalogue: Catalogue,
    ) -> Option<&'static Section> {
        match default.section {
            "" => catalogue.section(&[self.name]),
            section => catalogue.section(&[self.name, section]),
        }
    }

    /// The tag of its section.
    fn tag(&self, default: &ProfileDefault, catalogue: Catalogue) -> Option<&'static Tag> {
        self.section(default, catalogue)?.tag.as_ref()
    }

    /// Marks as defaults what the profile of a normal table means, and nothing else.
    pub(crate) fn mark_defaults(&self, table: &mut Table, catalogue: Catalogue) {
        if !self.is_of(table, catalogue) {
            return;
        }
        for default in self.defaults {
            let Some(section) = self.section(default, catalogue) else {
                continue;
            };
            let table = match default.section {
                "" => &mut *table,
                name => match table.get_mut(name).map(|item| &mut item.value) {
                    Some(Value::Table(table)) => table,
                    _ => continue,
                },
            };
            let word = section.tag.as_ref().and_then(|tag| table.text(tag.key));
            if !default.word.is_empty() && word != Some(default.word) {
                continue;
            }
            let value = match section.find(default.key) {
                Some(key) => normal::canonical(key, default.value),
                None => Some(Value::Text(default.value.trim_matches('"').to_owned())),
            };
            let mut entries = table.entries.iter_mut();
            if let Some(entry) = entries.find(|entry| entry.key == default.key) {
                entry.is_default = value.as_ref() == Some(&entry.item.value);
            }
        }
    }
}
