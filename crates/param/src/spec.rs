//! Descriptions of sections and keys.

use crate::{Mismatch, Value, Values};

/// A section of the file: a TOML table.
#[derive(Clone, Copy, Debug)]
pub struct Section {
    /// The word for it in messages ("link" in "link rate needs a unit"); empty at the top.
    pub noun: &'static str,
    /// One sentence for the reference.
    pub doc: &'static str,
    /// Keys that it always knows.
    pub keys: &'static [Key],
    /// The key whose word decides which further keys it knows.
    pub tag: Option<Tag>,
    /// What follows from its keys, and what must hold between them.
    pub rules: Option<Rules>,
}

/// What a declaration says beyond single keys. The functions get the checked values of a section.
#[derive(Clone, Copy, Debug)]
pub struct Rules {
    /// The values that follow from other keys.
    pub derived: fn(&Values) -> Result<Vec<Derived>, Mismatch>,
    /// The rules between keys that do not hold.
    pub issues: fn(&Values) -> Result<Vec<Issue>, Mismatch>,
}

/// A rule between keys that does not hold.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Issue {
    /// Shown at the first of these that the file states, else at the last. A key of a table within
    /// is `table.key`.
    pub keys: &'static [&'static str],
    /// What is wrong: what follows the name of the section, or a sentence of its own.
    pub message: String,
    /// Whether `message` is a sentence of its own.
    pub is_sentence: bool,
    /// What to write.
    pub mend: String,
}

impl Issue {
    /// A rule that does not hold. `message` follows the name of the section.
    pub fn new(
        keys: &'static [&'static str],
        message: impl Into<String>,
        mend: impl Into<String>,
    ) -> Self {
        Self {
            keys,
            message: message.into(),
            is_sentence: false,
            mend: mend.into(),
        }
    }

    /// A rule that does not hold. `message` is a sentence of its own.
    pub fn sentence(
        keys: &'static [&'static str],
        message: impl Into<String>,
        mend: impl Into<String>,
    ) -> Self {
        Self {
            is_sentence: true,
            ..Self::new(keys, message, mend)
        }
    }
}

/// A value that follows from others where the file leaves it out.
#[derive(Clone, Debug)]
pub struct Derived {
    /// Its key.
    pub key: &'static str,
    /// The value.
    pub value: Value,
    /// Whether it is what follows from the other keys.
    pub is_default: bool,
}

/// The key that decides which further keys a section knows.
#[derive(Clone, Copy, Debug)]
pub struct Tag {
    /// The key.
    pub key: &'static str,
    /// The word where the file says none.
    pub default: Option<&'static str>,
    /// One sentence.
    pub doc: &'static str,
    /// The words.
    pub variants: &'static [Variant],
}

/// One word of a tag, with the keys that come with it.
#[derive(Clone, Copy, Debug)]
pub struct Variant {
    /// The word.
    pub name: &'static str,
    /// One sentence.
    pub doc: &'static str,
    /// The keys that come with it.
    pub keys: &'static [Key],
    /// As those of a section.
    pub rules: Option<Rules>,
}

/// A key of a section.
#[derive(Clone, Copy, Debug)]
pub struct Key {
    /// Its name.
    pub name: &'static str,
    /// What its value may be.
    pub kind: Kind,
    /// What leaving it out means.
    pub presence: Presence,
    /// One sentence.
    pub doc: &'static str,
}

/// Whether a key may be left out, and what that means.
#[derive(Clone, Copy, Debug)]
pub enum Presence {
    /// It must be stated.
    Required,
    /// It may be left out, which has a meaning of its own.
    Optional,
    /// The value as TOML.
    Default(&'static str),
    /// A table whose keys decide for themselves.
    Section,
}

/// What a value may be. Bounds are inclusive.
#[derive(Clone, Copy, Debug)]
#[allow(missing_docs)]
pub enum Kind {
    /// Any text that is not empty, without control characters: it becomes part of names and figures.
    Text,
    /// What a file holds: any text that is not empty.
    Content,
    /// A node's name.
    Id,
    Boolean,
    Integer {
        min: i64,
        max: i64,
    },
    Number {
        min: f64,
        max: f64,
    },
    Duration {
        min_ps: u64,
        max_ps: u64,
    },
    /// A rate above zero.
    Rate,
    Bytes {
        min: u64,
        max: u64,
    },
    /// A length within 100 000 km; at least `min_um`.
    Length {
        min_um: i64,
    },
    /// A whole number of milliseconds: LTE's subframes.
    Milliseconds {
        min: u32,
        max: u32,
    },
    Power {
        min_mdbm: i64,
        max_mdbm: i64,
    },
    Decibels {
        min_mdb: i64,
        max_mdb: i64,
    },
    Frequency {
        min_hz: u64,
        max_hz: u64,
    },
    /// A speed up to that of the fastest trains and planes, 3600 km/h.
    Speed,
    /// An angle within ± 360°.
    Angle,
    /// One of these integers.
    Choice(&'static [i64]),
    /// What a buffer holds, in packets, bytes or time.
    Buffer,
    /// One of the words; an alias is read as the word it stands for.
    Words {
        words: &'static [&'static str],
        aliases: &'static [(&'static str, &'static str)],
    },
    /// One of the words, or a control of one's own.
    CongestionControl {
        words: &'static [&'static str],
        /// How a control of one's own is named.
        forms: &'static [&'static str],
    },
    /// A class in a Python file, "FILE:CLASS".
    PythonClass,
    /// Numbers, texts and booleans by names that the file chooses.
    Settings,
    /// One word, or else a value.
    OrWord(&'static str, &'static Kind),
    /// A quantity, or the law by which it is drawn for each flow.
    Drawn(&'static Kind),
    /// When flows start.
    Start,
    /// A queue: its limit alone, or a table.
    Queue(&'static Section),
    List(&'static Kind),
    /// A single value or a list; a list of one is read as the single value.
    OneOrMany(&'static Kind),
    Table(&'static Section),
    /// A table, or only the word of its tag.
    TableOrTag(&'static Section),
    /// An array of tables.
    Tables(&'static Section),
    /// Values by node id.
    Map(&'static Kind),
    /// Swept values by path, checked by `sweep`.
    Sweep,
}

impl Section {
    /// The place of the table of a queue, which `scenario` knows.
    pub(crate) const QUEUE: Self = Self::slot("queue");

    /// The place of a section that a catalogue fills in.
    pub const fn slot(noun: &'static str) -> Self {
        Self {
            noun,
            doc: "",
            keys: &[],
            tag: None,
            rules: None,
        }
    }

    /// The variant of `word`.
    pub fn variant(&self, word: &str) -> Option<&'static Variant> {
        self.tag
            .as_ref()?
            .variants
            .iter()
            .find(|variant| variant.name == word)
    }

    /// The key `name` under any tag word.
    pub fn find(&self, name: &str) -> Option<&'static Key> {
        self.keys.iter().find(|key| key.name == name).or_else(|| {
            self.tag
                .as_ref()?
                .variants
                .iter()
                .flat_map(|variant| variant.keys)
                .find(|key| key.name == name)
        })
    }

    /// The names of all keys under any tag word, each once.
    pub fn names(&self) -> Vec<&'static str> {
        let mut names: Vec<_> = self.tag.iter().map(|tag| tag.key).collect();
        let variants = self
            .tag
            .iter()
            .flat_map(|tag| tag.variants)
            .flat_map(|variant| variant.keys);
        for key in self.keys.iter().chain(variants) {
            if !names.contains(&key.name) {
                names.push(key.name);
            }
        }
        names
    }
}

impl Variant {
    /// The place of a word that a catalogue fills in.
    pub const fn slot(name: &'static str) -> Self {
        Self::slot_with(name, &[Key::SLOT])
    }

    /// The place of a word that a catalogue fills in; the keys declared stand in the place of
    /// [`Key::SLOT`] among `keys`.
    pub const fn slot_with(name: &'static str, keys: &'static [Key]) -> Self {
        Self {
            name,
            doc: "",
            keys,
            rules: None,
        }
    }
}

impl Key {
    /// The place among other keys where a catalogue puts those of a declaration.
    pub const SLOT: Self = Self {
        name: "",
        kind: Kind::Boolean,
        presence: Presence::Optional,
        doc: "",
    };

    /// Whether it is [`Key::SLOT`].
    pub const fn is_slot(&self) -> bool {
        self.name.is_empty()
    }
}

impl Kind {
    /// The section inside, if it is a table or a list of tables.
    pub fn section(&self) -> Option<&'static Section> {
        match self {
            Self::Table(section) | Self::TableOrTag(section) | Self::Tables(section) => {
                Some(section)
            }
            Self::Queue(section) => Some(section),
            _ => None,
        }
    }

    /// What to write, for messages and the reference.
    pub fn describe(&self) -> String {
        match self {
            Self::Text | Self::Content => "a text".to_owned(),
            Self::Id => "a name".to_owned(),
            Self::Boolean => "true or false".to_owned(),
            Self::Integer { min, max } => format!("an integer from {min} to {max}"),
            Self::Number { min, max } => format!("a number from {min} to {max}"),
            Self::Duration { .. } => "a time such as \"4 ms\"".to_owned(),
            Self::Rate => "a rate such as \"500 Mbit/s\"".to_owned(),
            Self::Bytes { .. } => "a size such as \"10 MB\"".to_owned(),
            Self::Length { .. } => "a length such as \"200 m\"".to_owned(),
            Self::Milliseconds { .. } => "whole milliseconds such as \"8 ms\"".to_owned(),
            Self::Power { .. } => "a power such as \"30 dBm\"".to_owned(),
            Self::Decibels { .. } => "a ratio such as \"3 dB\"".to_owned(),
            Self::Frequency { .. } => "a frequency such as \"2.6 GHz\"".to_owned(),
            Self::Speed => "a speed such as \"60 km/h\"".to_owned(),
            Self::Angle => "an angle such as \"45 deg\"".to_owned(),
            Self::Choice(integers) => {
                one_of(&integers.iter().map(i64::to_string).collect::<Vec<_>>())
            }
            Self::Buffer => "a limit such as \"750 packets\", \"375 kB\" or \"100 ms\"".to_owned(),
            Self::Words { words, .. } => either(words),
            Self::CongestionControl { words, forms } => either(&[*words, *forms].concat()),
            Self::PythonClass => "a class in a Python file such as \"router.py:Own\"".to_owned(),
            Self::Settings => "a table of numbers, texts and booleans".to_owned(),
            Self::OrWord(word, kind) => format!("{} or \"{word}\"", kind.describe()),
            Self::Drawn(Self::Bytes { .. }) => {
                "a size such as \"10 MB\", \"uniform 50 kB 500 kB\" or \"exponential 500 kB\""
                    .to_owned()
            }
            Self::Drawn(_) => {
                "a time such as \"4 ms\", \"uniform 0 s 100 ms\" or \"exponential 50 ms\""
                    .to_owned()
            }
            Self::Start => {
                "\"staggered\", a time, \"uniform 0 s 5 s\" or \"every 50 ms from 4 s\"".to_owned()
            }
            Self::Queue(_) => {
                "a limit such as \"1 bdp\", \"500 kB\" or \"340 packets\", or a table".to_owned()
            }
            Self::List(kind) => format!("a list, each element {}", kind.describe()),
            Self::OneOrMany(kind) => format!("{}, or a list of them", kind.describe()),
            Self::Table(_) => "a table".to_owned(),
            Self::TableOrTag(section) => match &section.tag {
                Some(tag) => format!("a table, or only its {}", tag.key),
                None => "a table".to_owned(),
            },
            Self::Tables(_) => "an array of tables".to_owned(),
            Self::Map(kind) => format!("a table of node ids, each with {}", kind.describe()),
            Self::Sweep => "a table of lists".to_owned(),
        }
    }
}

/// "a", "b" or "c".
fn either(words: &[&str]) -> String {
    let quoted: Vec<_> = words.iter().map(|word| format!("\"{word}\"")).collect();
    one_of(&quoted)
}

/// a, b or c.
fn one_of(choices: &[String]) -> String {
    match choices.split_last() {
        Some((last, rest)) if !rest.is_empty() => format!("{} or {last}", rest.join(", ")),
        _ => choices.concat(),
    }
}
