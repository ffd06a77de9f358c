//! Writes the words that a key can have into a scenario, in comments.

use crate::catalogue::Catalogue;
use crate::spec::{Key, Kind, Section, Variant};

/// A longer line has its comment above.
const WIDEST: usize = 100;

/// Comments that begin like this list words, and are replaced.
const LISTS: [&str; 4] = ["or ", "also: ", "also ", "one of "];

/// `text` with the other words that each key can have: those of keys on lines of their own, whose
/// value is a word. A comment there that says something else remains, and the words stand above.
pub(super) fn with_choices(catalogue: Catalogue, text: &str) -> String {
    let mut table = Some(InTable::of(catalogue.file()));
    let mut out = String::new();
    for line in text.lines() {
        if let Some(header) = line.trim_start().strip_prefix('[') {
            let path = header.trim_start_matches('[').split(']').next();
            table = path.and_then(|path| InTable::at(catalogue, path));
        }
        let written = table.as_mut().and_then(|table| table.line(line));
        out.push_str(written.as_deref().unwrap_or(line));
        out.push('\n');
    }
    out
}

/// The table that lines are in.
struct InTable {
    section: &'static Section,
    variant: Option<&'static Variant>,
}

impl InTable {
    fn of(section: &'static Section) -> Self {
        let default = section.tag.as_ref().and_then(|tag| tag.default);
        let variant = default.and_then(|word| section.variant(word));
        Self { section, variant }
    }

    fn at(catalogue: Catalogue, path: &str) -> Option<Self> {
        let mut section = catalogue.file();
        for word in path.split('.') {
            section = section.find(word.trim())?.kind.section()?;
        }
        Some(Self::of(section))
    }

    /// The line with the words of its key; `None` where it stays as it is.
    fn line(&mut self, line: &str) -> Option<String> {
        let (name, rest) = line.split_once(" = \"")?;
        let (word, after) = rest.split_once('"')?;
        let words = self.words(name, word)?;
        let comment = after.trim();
        let said = comment.strip_prefix("# ");
        let is_list = said.is_some_and(|said| LISTS.iter().any(|list| said.starts_with(list)));
        let others: Vec<_> = words.into_iter().filter(|other| *other != word).collect();
        if others.is_empty() {
            return None;
        }
        let is_free = comment.is_empty() || is_list;
        let code = if is_free {
            format!("{name} = \"{word}\"")
        } else {
            line.to_owned()
        };
        let short = format!("{code} # or {}", others.join(", "));
        if is_free && short.chars().count() <= WIDEST {
            return Some(short);
        }
        let mut above = format!("# {name}, other than \"{word}\":");
        let mut width = above.chars().count();
        for (index, other) in others.iter().enumerate() {
            let comma = if index + 1 < others.len() { "," } else { "" };
            let piece = format!(" {other}{comma}");
            if width + piece.chars().count() > WIDEST {
                above.push_str("\n#  ");
                width = 3;
            }
            width += piece.chars().count();
            above.push_str(&piece);
        }
        Some(format!("{above}\n{code}"))
    }

    /// The words that a key can have, if `word` is one of them.
    fn words(&mut self, name: &str, word: &str) -> Option<Vec<&'static str>> {
        if let Some(tag) = self.section.tag.as_ref().filter(|tag| tag.key == name) {
            self.variant = self.section.variant(word);
            let names = tag.variants.iter().map(|variant| variant.name);
            return Some(names.collect());
        }
        let own: &[Key] = self.variant.map_or(&[], |variant| variant.keys);
        let key = (own.iter().chain(self.section.keys)).find(|key| key.name == name)?;
        words_of(&key.kind).filter(|words| words.contains(&word))
    }
}

fn words_of(kind: &Kind) -> Option<Vec<&'static str>> {
    match kind {
        Kind::Words { words, .. } | Kind::CongestionControl { words, .. } => Some(words.to_vec()),
        Kind::TableOrTag(section) => {
            let tag = section.tag.as_ref()?;
            Some(tag.variants.iter().map(|variant| variant.name).collect())
        }
        Kind::OneOrMany(inner) => words_of(inner),
        Kind::OrWord(word, inner) => {
            let mut words = words_of(inner)?;
            words.push(word);
            Some(words)
        }
        _ => None,
    }
}
