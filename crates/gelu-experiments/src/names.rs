//! Names that become names of files: those of recipes, figures, data sets, exports.

use crate::{Error, Result};

/// No file system takes more than 255 bytes, and a run's folder puts more behind a name.
const LONGEST: usize = 100;

/// Checks that `name` can be the name of a file, everywhere, and nothing else: letters, digits,
/// `-`, `_` and `.`, not beginning with a dot. Whoever reads a name from a file that somebody else
/// may have written has to ask here before it becomes a path.
///
/// # Errors
///
/// [`Error::Usage`] saying what is named and what a name is made of.
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

/// Checks that a text for headings is a line without control characters, which a terminal would
/// obey.
///
/// # Errors
///
/// [`Error::Usage`] naming the character.
pub fn check_line(what: &str, text: &str) -> Result<()> {
    match text.chars().find(|c| c.is_control()) {
        Some(c) => Err(Error::Usage(format!(
            "{what} contains the control character {}; it has to be one line of plain text",
            c.escape_unicode()
        ))),
        None => Ok(()),
    }
}

/// The text with its control characters written out, for messages.
pub fn printable(text: &str) -> String {
    let shown = |c: char| match c.is_control() {
        true => c.escape_unicode().to_string(),
        false => c.to_string(),
    };
    text.chars().map(shown).collect()
}

/// What another program has said, for messages: its lines as they are, [`printable`] each.
pub fn printable_lines(text: &str) -> String {
    let line = |line: &str| printable(&line.trim_end().replace('\t', "    "));
    text.trim().lines().map(line).collect::<Vec<_>>().join("\n")
}

/// The text in one [`printable`] line: line breaks and the white space around them become one space.
pub fn printable_in_one_line(text: &str) -> String {
    let lines = text.lines().map(str::trim).filter(|line| !line.is_empty());
    printable(&lines.collect::<Vec<_>>().join(" "))
}

#[cfg(test)]
mod tests {
    use super::*;

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
        let error = check_line("the title", "red \u{1b}[31m").unwrap_err().to_string();
        assert!(error.contains("\\u{1b}") && !error.contains('\u{1b}'), "{error}");
    }

    #[test]
    fn lines_stay_lines_and_only_they_do() {
        let said = "error: no such partition\r\n\tmain\u{1b}[31m\n\n";
        assert_eq!(printable_lines(said), "error: no such partition\n    main\\u{1b}[31m");
        let in_one = "error: no such partition main\\u{1b}[31m";
        assert_eq!(printable_in_one_line(said), in_one);
    }
}
