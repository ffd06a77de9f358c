//! A normal tree as TOML text: the resolved scenario.

use std::fmt::Write;

use crate::problems::Problems;
use crate::tree::{Entry, Item, Table, Value};

/// What is printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Style {
    /// With marks at the defaults.
    Marked,
    /// Without comments, seed and defaults: what the content hash covers. A key at its default is
    /// left out, so that a new key keeps the hash of every scenario that does not state it.
    Bare,
}

/// The first line of a resolved scenario.
const HEADER: &str =
    "# Every value of the scenario; \"default\" marks those that need not be stated.\n";

/// The section whose lines are printed one by one, since nodes and links are many.
const TOPOLOGY: &str = "topology";

/// Prints the whole file, with these lines in its topology if there are any; on an interrupt, the
/// part printed so far.
pub(crate) fn document(
    table: &Table,
    topology: Option<&str>,
    style: Style,
    problems: &mut Problems,
) -> String {
    let mut out = String::with_capacity(topology.map_or(0, str::len));
    if style == Style::Marked {
        out.push_str(HEADER);
    }
    let printer = Printer { topology, style };
    printer.body(&mut out, table, "", problems);
    out
}

/// Prints the parts of a file.
struct Printer<'t> {
    topology: Option<&'t str>,
    style: Style,
}

impl Printer<'_> {
    /// Prints the keys of a table, then its tables.
    fn body(&self, out: &mut String, table: &Table, path: &str, problems: &mut Problems) {
        for entry in &table.entries {
            self.pair(out, entry, path);
        }
        for entry in &table.entries {
            let lines = self
                .topology
                .filter(|_| path.is_empty() && entry.key == TOPOLOGY);
            match &entry.item.value {
                Value::Table(_) if let Some(lines) = lines => {
                    let _ = write!(out, "\n[{TOPOLOGY}]\n{lines}");
                }
                Value::Table(inner) => {
                    let path = join(path, &entry.key);
                    let before = out.len();
                    let _ = write!(out, "\n[{path}]\n");
                    let empty = out.len();
                    self.body(out, inner, &path, problems);
                    if self.style == Style::Bare && entry.is_default && out.len() == empty {
                        out.truncate(before);
                    }
                }
                Value::Array(rows) if holds_tables(rows) => {
                    let path = join(path, &entry.key);
                    for row in rows.iter().filter_map(Item::as_table) {
                        if !problems.go_on() {
                            return;
                        }
                        let _ = write!(out, "\n[[{path}]]\n");
                        self.body(out, row, &path, problems);
                    }
                }
                _ => {}
            }
        }
    }

    /// Prints a key whose value is no table.
    fn pair(&self, out: &mut String, entry: &Entry, path: &str) {
        let is_seed = path.is_empty() && entry.key == "seed";
        if self.style == Style::Bare && (is_seed || entry.is_default) {
            return;
        }
        match &entry.item.value {
            Value::Table(_) => {}
            Value::Array(rows) if holds_tables(rows) => {}
            Value::Text(text) if matches!(path, "python" | "trace") && text.contains('\n') => {
                push_key(out, &entry.key);
                out.push_str(" = ");
                push_multi_line(out, text);
                out.push('\n');
            }
            _ => {
                push_pair(out, entry, self.style);
                if self.style == Style::Marked && entry.is_default {
                    out.push_str(" # default");
                }
                out.push('\n');
            }
        }
    }
}

/// Prints a table as an element of an array on a line of its own.
pub(crate) fn push_line(out: &mut String, row: &Table, style: Style) {
    out.push_str("  ");
    push_table(out, row, style);
    out.push(',');
    if style == Style::Marked {
        let mut before = " # default: ";
        for entry in row.entries.iter().filter(|entry| entry.is_default) {
            out.push_str(before);
            out.push_str(&entry.key);
            before = ", ";
        }
    }
    out.push('\n');
}

fn holds_tables(rows: &[Item]) -> bool {
    rows.first().is_some_and(|row| row.as_table().is_some())
}

fn join(path: &str, name: &str) -> String {
    if path.is_empty() {
        key(name)
    } else {
        format!("{path}.{}", key(name))
    }
}

/// A key, quoted where it must be.
pub(crate) fn key(name: &str) -> String {
    let mut out = String::new();
    push_key(&mut out, name);
    out
}

fn push_key(out: &mut String, name: &str) {
    let bare = !name.is_empty()
        && name
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || b"-_".contains(&byte));
    if bare {
        out.push_str(name);
    } else {
        push_quoted(out, name);
    }
}

/// A basic string (TOML §String).
fn push_quoted(out: &mut String, text: &str) {
    out.push('"');
    for c in text.chars() {
        push_escaped(out, c);
    }
    out.push('"');
}

/// A multi-line basic string (TOML §String), with the lines and quotes of a program as they are.
fn push_multi_line(out: &mut String, text: &str) {
    out.push_str("\"\"\"\n");
    let mut quotes = 0;
    for (at, c) in text.char_indices() {
        quotes = if c == '"' { quotes + 1 } else { 0 };
        match c {
            // Three would end the string, and one at its end would be one of the three.
            '"' if quotes % 3 != 0 && at + 1 < text.len() => out.push(c),
            '\n' | '\t' => out.push(c),
            c => push_escaped(out, c),
        }
    }
    out.push_str("\"\"\"");
}

/// A character of a basic string.
fn push_escaped(out: &mut String, c: char) {
    match c {
        '"' => out.push_str("\\\""),
        '\\' => out.push_str("\\\\"),
        '\n' => out.push_str("\\n"),
        '\t' => out.push_str("\\t"),
        '\r' => out.push_str("\\r"),
        c if c.is_control() => {
            let _ = write!(out, "\\u{:04X}", c as u32);
        }
        c => out.push(c),
    }
}

/// A value on one line.
pub(crate) fn inline(value: &Value) -> String {
    let mut out = String::new();
    push_inline(&mut out, value, Style::Marked);
    out
}

fn push_inline(out: &mut String, value: &Value, style: Style) {
    match value {
        Value::Text(text) => push_quoted(out, text),
        Value::Integer(integer) => {
            let _ = write!(out, "{integer}");
        }
        // Debug keeps the point that makes it a TOML float, and prints the shortest text that
        // reads back as the same number.
        Value::Number(number) => {
            let _ = write!(out, "{number:?}");
        }
        Value::Boolean(boolean) => out.push_str(if *boolean { "true" } else { "false" }),
        // Refused wherever a value is read, so never part of a normal tree.
        Value::Datetime => push_quoted(out, ""),
        Value::Array(items) => {
            out.push('[');
            for (at, item) in items.iter().enumerate() {
                out.push_str(if at > 0 { ", " } else { "" });
                push_inline(out, &item.value, style);
            }
            out.push(']');
        }
        Value::Table(table) => push_table(out, table, style),
        Value::Shared(shared) => push_table(out, shared.table(), style),
    }
}

fn push_table(out: &mut String, table: &Table, style: Style) {
    let is_printed = |entry: &&Entry| style == Style::Marked || !entry.is_default;
    let mut before = "{ ";
    for entry in table.entries.iter().filter(is_printed) {
        out.push_str(before);
        push_pair(out, entry, style);
        before = ", ";
    }
    out.push_str(if before == ", " { " }" } else { "{}" });
}

fn push_pair(out: &mut String, entry: &Entry, style: Style) {
    push_key(out, &entry.key);
    out.push_str(" = ");
    push_inline(out, &entry.item.value, style);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parse::parse;

    #[test]
    fn a_program_reads_back_as_it_was() {
        for text in [
            "",
            "\n",
            "a = \"b\"\n\tc = '''d'''\n",
            "\"\"\"A \"quoted\" word\"\"\"\n",
            "\"\"\"\"\"\"\"\n\"",
            "x\n\"\"",
            "x\n\\\"",
            "x\r\ny = \"\\n\"\r\n",
            "é\u{0}\u{7f}\u{85}\n",
        ] {
            let mut problems = Problems::default();
            let mut printed = "source = ".to_owned();
            push_multi_line(&mut printed, text);
            let tree = parse(&printed, 0, &mut problems);
            assert!(!problems.has_errors(), "{printed}");
            assert_eq!(tree.text("source"), Some(text), "{printed}");
        }
    }
}
