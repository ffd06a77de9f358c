//! A normal tree as TOML text: the resolved scenario.

use std::fmt::Write;

use crate::tree::{Entry, Item, Table, Value};

/// What is printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Style {
    /// With marks at the defaults.
    Marked,
    /// Without comments and seed: what the content hash covers.
    Bare,
}

/// The first line of a resolved scenario.
const HEADER: &str =
    "# Every value of the scenario; \"default\" marks those that need not be stated.\n";

/// Prints the whole file.
pub(crate) fn document(table: &Table, style: Style) -> String {
    let mut out = String::new();
    if style == Style::Marked {
        out.push_str(HEADER);
    }
    body(&mut out, table, "", style);
    out
}

/// Prints the keys of a table, then its tables.
fn body(out: &mut String, table: &Table, path: &str, style: Style) {
    for entry in &table.entries {
        if style == Style::Bare && path.is_empty() && entry.key == "seed" {
            continue;
        }
        match &entry.item.value {
            Value::Table(_) => {}
            Value::Array(rows) if holds_tables(rows) => {
                // Nodes and links are many and short: a line for each.
                if path == "topology" {
                    lines(out, &entry.key, rows, style);
                }
            }
            Value::Text(text) if matches!(path, "python" | "trace") && text.contains('\n') => {
                let _ = writeln!(out, "{} = {}", key(&entry.key), multi_line(text));
            }
            _ => {
                let _ = write!(out, "{} = {}", key(&entry.key), inline(&entry.item.value));
                if style == Style::Marked && entry.is_default {
                    out.push_str(" # default");
                }
                out.push('\n');
            }
        }
    }
    for entry in &table.entries {
        match &entry.item.value {
            Value::Table(inner) => {
                let path = join(path, &entry.key);
                let _ = write!(out, "\n[{path}]\n");
                body(out, inner, &path, style);
            }
            Value::Array(rows) if holds_tables(rows) && path != "topology" => {
                let path = join(path, &entry.key);
                for row in rows.iter().filter_map(Item::as_table) {
                    let _ = write!(out, "\n[[{path}]]\n");
                    body(out, row, &path, style);
                }
            }
            _ => {}
        }
    }
}

/// Prints an array of tables, a table per line.
fn lines(out: &mut String, name: &str, rows: &[Item], style: Style) {
    let _ = writeln!(out, "{} = [", key(name));
    for row in rows {
        let _ = write!(out, "  {},", inline(&row.value));
        let marked: Vec<&str> = row
            .as_table()
            .map(|table| {
                table
                    .entries
                    .iter()
                    .filter(|e| e.is_default)
                    .map(|e| e.key.as_str())
                    .collect()
            })
            .unwrap_or_default();
        if style == Style::Marked && !marked.is_empty() {
            let _ = write!(out, " # default: {}", marked.join(", "));
        }
        out.push('\n');
    }
    out.push_str("]\n");
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
    let bare = !name.is_empty()
        && name
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || b"-_".contains(&byte));
    if bare { name.to_owned() } else { quoted(name) }
}

/// A basic string (TOML §String).
fn quoted(text: &str) -> String {
    let mut out = String::from("\"");
    for c in text.chars() {
        push_escaped(&mut out, c);
    }
    out.push('"');
    out
}

/// A multi-line basic string (TOML §String), with the lines and quotes of a program as they are.
fn multi_line(text: &str) -> String {
    let mut out = String::from("\"\"\"\n");
    let mut quotes = 0;
    for (at, c) in text.char_indices() {
        quotes = if c == '"' { quotes + 1 } else { 0 };
        match c {
            // Three would end the string, and one at its end would be one of the three.
            '"' if quotes % 3 != 0 && at + 1 < text.len() => out.push(c),
            '\n' | '\t' => out.push(c),
            c => push_escaped(&mut out, c),
        }
    }
    out.push_str("\"\"\"");
    out
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
    match value {
        Value::Text(text) => quoted(text),
        Value::Integer(integer) => integer.to_string(),
        // Debug keeps the point that makes it a TOML float, and prints the shortest text that
        // reads back as the same number.
        Value::Number(number) => format!("{number:?}"),
        Value::Boolean(boolean) => boolean.to_string(),
        // Refused wherever a value is read, so never part of a normal tree.
        Value::Datetime => quoted(""),
        Value::Array(items) => {
            let items: Vec<_> = items.iter().map(|item| inline(&item.value)).collect();
            format!("[{}]", items.join(", "))
        }
        Value::Table(table) => {
            let pair =
                |entry: &Entry| format!("{} = {}", key(&entry.key), inline(&entry.item.value));
            let pairs: Vec<_> = table.entries.iter().map(pair).collect();
            if pairs.is_empty() {
                "{}".to_owned()
            } else {
                format!("{{ {} }}", pairs.join(", "))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::diagnostic::Problems;
    use crate::tree::parse;

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
            let printed = format!("source = {}\n", multi_line(text));
            let tree = parse(&printed, 0, &mut problems);
            assert!(!problems.has_errors(), "{printed}");
            assert_eq!(tree.text("source"), Some(text), "{printed}");
        }
    }
}
