use crate::{Error, Result};
use std::path::Path;

/// Returns any text as one word of a POSIX shell.
pub fn quoted(text: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_./:=,+@%".contains(c);
    match !text.is_empty() && text.chars().all(plain) {
        true => text.to_owned(),
        false => format!("'{}'", text.replace('\'', r"'\''")),
    }
}

/// Returns a path as text for a script; an error if the path is not UTF-8.
pub(super) fn utf8(path: &Path) -> Result<&str> {
    path.to_str().ok_or_else(|| {
        Error::Usage(format!("the path {} is not UTF-8, as scripts have to be", path.display()))
    })
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    #[test]
    fn the_shell_reads_back_what_was_quoted() {
        for text in ["plain", "", "a b", "it's", "$(touch evil)", "`x`", "a\nb", "\"", "ä;&|*?~#\\"]
        {
            let script = format!("printf %s {}", quoted(text));
            let output = std::process::Command::new("sh").args(["-c", &script]).output().unwrap();
            assert_eq!(String::from_utf8(output.stdout).unwrap(), text);
        }
    }
}
