//! Profiles: words of a section that mean other defaults for its keys.
//!
//! A profile's defaults are written into a tree before it is checked, where the file says nothing,
//! and marked as defaults in its normal form.

use backlane_param::ChangedDefault;

use crate::catalogue::{Catalogue, Profile};
use crate::diagnostic::Span;
use crate::normal;
use crate::parse::parse_value;
use crate::problems::Problems;
use crate::spec::{Section, Tag};
use crate::tree::{Item, Table, Value};

/// The tree with the defaults of its profiles; `None` where they change none.
pub(crate) fn with_profiles(raw: &Table, catalogue: Catalogue) -> Option<Table> {
    let mut written = None;
    for profile in catalogue.profiles() {
        let tree = written.as_ref().unwrap_or(raw);
        written = profile.written_into(tree, catalogue).or(written);
    }
    written
}

/// Marks as defaults what the profile of the normal section `name` means, and nothing else.
pub(crate) fn mark_defaults(name: &str, table: &mut Table, catalogue: Catalogue) {
    for profile in catalogue.profiles() {
        if profile.name == name && profile.is_of(table, catalogue) {
            profile.mark_defaults(table, catalogue);
        }
    }
}

impl Profile {
    /// Whether a table is one of this profile.
    fn is_of(&self, table: &Table, catalogue: Catalogue) -> bool {
        let section = catalogue.section(&[self.name]);
        let tag = section.and_then(|section| section.tag.as_ref());
        let kind = tag.and_then(|tag| table.text(tag.key));
        (self.kind.is_empty() || kind == Some(self.kind))
            && table.text("profile") == Some(self.changed.word)
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
        for default in &self.changed.defaults {
            let tag = self.tag(default, catalogue);
            if let Some(table) = self.open(table, default, span, catalogue) {
                let stated_word = tag.and_then(|tag| table.text(tag.key).or(tag.default));
                let applies = default.under.is_empty() || stated_word == Some(default.under);
                if applies && table.get(default.key).is_none() {
                    let toml = default.value.to_string();
                    let item = parse_value(&toml, span.source, 0, &mut Problems::default());
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
        default: &ChangedDefault,
        span: Span,
        catalogue: Catalogue,
    ) -> Option<&'a mut Table> {
        if default.table.is_empty() {
            return Some(table);
        }
        let place = table.place(default.table, span);
        let written_out = match table.get(default.table).map(|item| &item.value) {
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
            table.set(default.table, place, Item { value, span: place });
        }
        match table.get_mut(default.table).map(|item| &mut item.value) {
            Some(Value::Table(inner)) => Some(inner),
            _ => None,
        }
    }

    /// The section of a default.
    pub(crate) fn section(
        &self,
        default: &ChangedDefault,
        catalogue: Catalogue,
    ) -> Option<&'static Section> {
        match default.table {
            "" => catalogue.section(&[self.name]),
            section => catalogue.section(&[self.name, section]),
        }
    }

    /// The tag of its section.
    fn tag(&self, default: &ChangedDefault, catalogue: Catalogue) -> Option<&'static Tag> {
        self.section(default, catalogue)?.tag.as_ref()
    }

    fn mark_defaults(&self, table: &mut Table, catalogue: Catalogue) {
        for default in &self.changed.defaults {
            let Some(section) = self.section(default, catalogue) else {
                continue;
            };
            let table = match default.table {
                "" => &mut *table,
                name => match table.get_mut(name).map(|item| &mut item.value) {
                    Some(Value::Table(table)) => table,
                    _ => continue,
                },
            };
            let word = section.tag.as_ref().and_then(|tag| table.text(tag.key));
            if !default.under.is_empty() && word != Some(default.under) {
                continue;
            }
            let value = canonical(section, default);
            let mut entries = table.entries.iter_mut();
            if let Some(entry) = entries.find(|entry| entry.key == default.key) {
                entry.is_default = value.as_ref() == Some(&entry.item.value);
            }
        }
    }
}

/// The canonical value of a default in its section; `None` if it is none.
pub(crate) fn canonical(section: &'static Section, default: &ChangedDefault) -> Option<Value> {
    let tag = section.tag.as_ref();
    if let Some(tag) = tag.filter(|tag| tag.key == default.key) {
        let words = tag.variants.iter().map(|variant| variant.name);
        let stated = |word: &&str| default.value == backlane_param::Value::Text((*word).to_owned());
        return words
            .filter(stated)
            .map(|word| Value::Text(word.to_owned()))
            .next();
    }
    let key = match section.variant(default.under) {
        Some(variant) => variant.keys.iter().find(|key| key.name == default.key)?,
        None => section.find(default.key)?,
    };
    normal::canonical(key, &default.value.to_string())
}
