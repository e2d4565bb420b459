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
}
