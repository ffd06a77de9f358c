//! The words of scenario files as a dictionary for libFuzzer.

use std::fmt::Write;

use crate::keys::words;

/// What TOML and its values are made of beside words.
const SYNTAX: &[&str] = &[
    "\"",
    "\"\"\"",
    "'''",
    "[[",
    "]]",
    " = ",
    "{ ",
    " }",
    ", ",
    "# ",
    "\n[",
    "\n",
    "true",
    "1e999",
    "nan",
    "-inf",
    "0x",
    "1979-05-27",
    "\u{feff}",
    " ms",
    " Mbit/s",
    " packets",
    " bdp",
    "uniform ",
    "exponential ",
    "every ",
    " from ",
];

/// The dictionary of keys, words and syntax: a quoted text a line.
pub fn dictionary() -> String {
    let mut text =
        "# Keys and words of scenario files; made by the tests of crates/fuzzing.\n".to_owned();
    for word in words()
        .iter()
        .map(String::as_str)
        .chain(SYNTAX.iter().copied())
    {
        text.push('"');
        for byte in word.bytes() {
            match byte {
                b'"' | b'\\' => {
                    text.push('\\');
                    text.push(char::from(byte));
                }
                b' '..=b'~' => text.push(char::from(byte)),
                other => {
                    let _ = write!(text, "\\x{other:02X}");
                }
            }
        }
        text.push_str("\"\n");
    }
    text
}
