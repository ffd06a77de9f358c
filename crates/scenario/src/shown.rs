//! Untrusted texts as messages show them: on one line, printable and short.

/// The number of characters shown of a key, a value or a path.
const MOST_SHOWN: usize = 80;

/// The widest part of a source line that is shown.
const MOST_OF_LINE: usize = 120;

/// The longest sentence of a message, including quoted text.
const MOST_OF_SENTENCE: usize = 2_000;

/// Whether a character moves the cursor, colours the screen or turns the direction of writing
/// instead of being seen: control characters, the separators of lines and paragraphs, and the
/// embeddings and isolates of bidirectional text (Unicode TR 9 §2).
pub(crate) fn is_unprintable(c: char) -> bool {
    c.is_control()
        || matches!(c, '\u{2028}' | '\u{2029}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

/// A key, a value or a path: cut, and with its control characters escaped.
pub(crate) fn short(text: &str) -> String {
    cut(text, MOST_SHOWN)
}

/// A sentence that may quote anything.
pub(crate) fn sentence(text: String) -> String {
    if text.len() <= MOST_OF_SENTENCE && !text.contains(is_unprintable) {
        return text;
    }
    cut(&text, MOST_OF_SENTENCE)
}

fn cut(text: &str, most: usize) -> String {
    let mut shown = String::new();
    let mut width = 0;
    for c in text.chars() {
        let escaped = escape(c);
        width += escaped.len();
        if width > most {
            shown.push('…');
            break;
        }
        shown.extend(escaped);
    }
    shown
}

/// The characters that stand for one.
fn escape(c: char) -> Vec<char> {
    if is_unprintable(c) {
        c.escape_unicode().collect()
    } else {
        vec![c]
    }
}

/// A part of a source line, and where in it the place lies.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Excerpt {
    pub(crate) text: String,
    /// Characters of the text before the place.
    pub(crate) before: usize,
    /// Characters of the place that are shown, at least 1.
    pub(crate) length: usize,
}

impl Excerpt {
    /// The part of `line` around the `length` characters after the first `before`.
    pub(crate) fn of(line: &str, before: usize, length: usize) -> Self {
        let skip = before.saturating_sub(MOST_OF_LINE / 2);
        let mut text = String::from(if skip > 0 { "…" } else { "" });
        let mut width = text.chars().count();
        let (mut start, mut end) = (None, None);
        for (at, c) in line.trim_end().chars().enumerate().skip(skip) {
            if at == before {
                start = Some(width);
            }
            if at == before + length {
                end = Some(width);
            }
            if width >= MOST_OF_LINE {
                text.push('…');
                break;
            }
            // The width of a tab depends on the terminal, and the mark needs a fixed width.
            let shown = if c == '\t' { vec![' '] } else { escape(c) };
            width += shown.len();
            text.extend(shown);
        }
        let before = start.unwrap_or(width);
        let length = end.unwrap_or(width).saturating_sub(before).max(1);
        Self {
            text,
            before,
            length,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn control_characters_are_escaped_and_long_texts_cut() {
        assert_eq!(
            short("a\u{1b}[31m\u{202e}b\n"),
            "a\\u{1b}[31m\\u{202e}b\\u{a}"
        );
        assert_eq!(short(&"é".repeat(80)), "é".repeat(80));
        assert_eq!(
            short(&"x".repeat(5_000_000)),
            format!("{}…", "x".repeat(80))
        );
    }

    #[test]
    fn the_mark_stands_under_its_place_whatever_is_before_it() {
        let marked = |line: &str, before: usize, length: usize| {
            let excerpt = Excerpt::of(line, before, length);
            let place = excerpt.text.chars().skip(excerpt.before);
            place.take(excerpt.length).collect::<String>()
        };
        assert_eq!(marked("\ta\u{1b}b = 5", 5, 1), "=");
        assert_eq!(
            marked(
                &format!("{}here{}", "x".repeat(900), "y".repeat(900)),
                900,
                4
            ),
            "here"
        );
        assert_eq!(marked("é = 5", 4, 1), "5");
        let long = Excerpt::of(&"z".repeat(10_000), 0, 10_000);
        assert_eq!((long.length, long.text.chars().count()), (120, 121));
    }
}
