//! Names that become file names: those of recipes, figures, data sets, exports. Texts and numbers from elsewhere,
//! made safe to display.

use crate::{Error, Result};
use std::fmt::Write;

/// The limit in bytes. File systems take at most 255 bytes, and a run's folder adds more to a name.
const LONGEST: usize = 100;

/// Checks that `name` can be a file name on every system: letters, digits, `-`, `_` and `.`, not beginning with a
/// dot. Call it before you make a path from a name in a file that someone else may have written.
///
/// # Errors
///
/// Returns [`Error::Usage`], which names `what` and lists the allowed characters.
pub fn check_file_name(what: &str, name: &str) -> Result<()> {
    let allowed = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
    if name.is_empty()
        || name.len() > LONGEST
        || name.starts_with('.')
        || !name.chars().all(allowed)
    {
        return Err(Error::Usage(format!(
            "{what} `{}` cannot be the name of a file; use at most {LONGEST} letters, digits, `-`, \
             `_` and `.`, and none of these dots first",
            printable(name)
        )));
    }
    Ok(())
}

/// Checks that a text for headings is one line without control characters; see [`printable`].
///
/// # Errors
///
/// Returns [`Error::Usage`] with the first such character.
pub fn check_line(what: &str, text: &str) -> Result<()> {
    match text.chars().find(|c| is_obeyed(*c)) {
        Some(c) => Err(Error::Usage(format!(
            "{what} contains the control character {}; it has to be one line of plain text",
            printable(&c.to_string())
        ))),
        None => Ok(()),
    }
}

/// Returns whether a terminal or a browser would act on a character instead of showing it: control characters,
/// characters that change the direction of the text around them, and invisible ones.
pub(crate) fn is_obeyed(c: char) -> bool {
    c.is_control()
        || matches!(
            c,
            '\u{61c}'
                | '\u{200b}'
                | '\u{200e}'
                | '\u{200f}'
                | '\u{2028}'..='\u{202e}'
                | '\u{2060}'..='\u{206f}'
                | '\u{feff}'
                | '\u{fff9}'..='\u{fffb}'
                | '\u{e0000}'..='\u{e007f}'
        )
}

/// Returns the text in one line. It escapes the characters that a terminal would act on: `\u001b` for the one that
/// begins a terminal's commands. The escapes are those of JSON, so that a JSON document keeps its meaning.
pub fn printable(text: &str) -> String {
    written_out(text, is_obeyed)
}

/// Returns the text escaped as by [`printable`], but with its line breaks.
pub(crate) fn printable_lines(text: &str) -> String {
    written_out(text, |c| c != '\n' && is_obeyed(c))
}

fn written_out(text: &str, which: impl Fn(char) -> bool) -> String {
    let mut shown = String::with_capacity(text.len());
    for c in text.chars() {
        match which(c) {
            false => shown.push(c),
            true => c.encode_utf16(&mut [0; 2]).iter().for_each(|unit| {
                write!(shown, "\\u{unit:04x}").expect("writing to memory cannot fail");
            }),
        }
    }
    shown
}

/// The length limit for numbers without an exponent.
const LONGEST_NUMBER: usize = 24;

/// Returns a number in few characters: `0.001`, `1e308`.
pub fn number(value: f64) -> String {
    let plain = value.to_string();
    if plain.len() <= LONGEST_NUMBER { plain } else { format!("{value:e}") }
}

/// Returns another program's output for a message: its lines, each [`printable`].
pub(crate) fn message_lines(text: &str) -> String {
    let line = |line: &str| printable(&line.trim_end().replace('\t', "    "));
    text.trim().lines().map(line).collect::<Vec<_>>().join("\n")
}

/// Returns the text in one [`printable`] line. Line breaks and the white space around them become one space.
pub(crate) fn printable_in_one_line(text: &str) -> String {
    let lines = text.lines().map(str::trim).filter(|line| !line.is_empty());
    printable(&lines.collect::<Vec<_>>().join(" "))
}

/// Returns a piece of a file for an error, in backticks: control characters escaped, cut after 40 characters.
pub fn excerpt(text: &str) -> String {
    const MOST: usize = 40;
    let mut shown: String = text.chars().take(MOST).flat_map(char::escape_debug).collect();
    if text.chars().nth(MOST).is_some() {
        shown.push('…');
    }
    format!("`{shown}`")
}

/// Returns the [`excerpt`]s of the first 12 names, and the number of the others.
pub fn excerpts<'a>(names: impl Iterator<Item = &'a str> + Clone) -> String {
    const MOST: usize = 12;
    let more = names.clone().skip(MOST).count();
    let mut shown: Vec<String> = names.take(MOST).map(excerpt).collect();
    if more > 0 {
        shown.push(format!("and {more} more"));
    }
    shown.join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_and_unprintable_pieces_are_shown_short_and_escaped() {
        assert_eq!(excerpt("a\tb\u{7}"), "`a\\tb\\u{7}`");
        assert_eq!(excerpt(&"é".repeat(50)), format!("`{}…`", "é".repeat(40)));
        assert_eq!(excerpts(["a", "b"].into_iter()), "`a`, `b`");
        assert!(excerpts(["x"; 14].into_iter()).ends_with("`x`, and 2 more"));
    }

    #[test]
    fn only_names_that_stay_where_they_are_put_pass() {
        for good in ["digits", "mnist-classifier", "figure_2", "a.b", "2"] {
            check_file_name("the name", good).unwrap();
        }
        let long = "x".repeat(101);
        for bad in [
            "",
            ".",
            "..",
            "../../evil",
            "/etc/x",
            "a/b",
            "a\\b",
            ".hidden",
            "a b",
            "ä",
            "a\n",
            &long,
        ] {
            let error = check_file_name("the name", bad).unwrap_err().to_string();
            assert!(error.contains("cannot be the name of a file"), "{bad:?}: {error}");
            assert!(!error.contains('\n'), "{error}");
        }
    }

    #[test]
    fn control_characters_are_named_and_never_repeated() {
        check_line("the title", "Built-in digits, 8×128 classifier").unwrap();
        for bad in ["red \u{1b}[31m", "two\nlines", "\u{9b}2J", "\u{202e}sdrawkcab"] {
            let error = check_line("the title", bad).unwrap_err().to_string();
            assert!(error.contains("control character \\u"), "{error}");
            assert!(!error.contains(is_obeyed), "{error:?}");
        }
    }

    #[test]
    fn what_a_terminal_obeys_is_written_out_and_the_rest_stays() {
        let plain = "Würfel 8×128 – 日本語 👩\u{200d}🔬 \\u001b";
        assert_eq!(printable(plain), plain);
        for (text, shown) in [
            ("\u{1b}[2J", "\\u001b[2J"),
            ("a\tb\r\n", "a\\u0009b\\u000d\\u000a"),
            ("\u{7f}\u{9b}31m", "\\u007f\\u009b31m"),
            ("\u{202e}\u{2066}\u{2069}\u{200f}", "\\u202e\\u2066\\u2069\\u200f"),
            ("\u{e0041}", "\\udb40\\udc41"),
        ] {
            assert_eq!(printable(text), shown);
        }
        assert_eq!(printable_lines("one\ntwo\u{7}"), "one\ntwo\\u0007");
    }

    #[test]
    fn a_json_document_stays_what_it_is() {
        let value = serde_json::json!({"a\u{7f}": "\u{1b}\u{9b}\u{202e}\u{e0041}\n\"\\ é"});
        let text = serde_json::to_string_pretty(&value).unwrap();
        let shown = printable_lines(&text);
        assert_ne!(shown, text);
        assert_eq!(serde_json::from_str::<serde_json::Value>(&shown).unwrap(), value);
    }

    #[test]
    fn numbers_are_short_and_parse_to_themselves() {
        for (value, shown) in [
            (0.001, "0.001"),
            (1e-5, "0.00001"),
            (0.1 + 0.2, "0.30000000000000004"),
            (1e21, "1000000000000000000000"),
            (1e308, "1e308"),
            (1e-60, "1e-60"),
            (f64::NAN, "NaN"),
            (-f64::INFINITY, "-inf"),
        ] {
            assert_eq!(number(value), shown);
        }
        for value in [f64::MIN, f64::MIN_POSITIVE / 3.0, 1.234_567_890_123_456_7e-7] {
            assert!(number(value).len() <= LONGEST_NUMBER, "{}", number(value));
            assert_eq!(number(value).parse(), Ok(value));
        }
    }

    #[test]
    fn lines_stay_lines_and_only_they_do() {
        let said = "error: no such partition\r\n\tmain\u{1b}[31m\n\n";
        assert_eq!(message_lines(said), "error: no such partition\n    main\\u001b[31m");
        let in_one = "error: no such partition main\\u001b[31m";
        assert_eq!(printable_in_one_line(said), in_one);
    }
}
