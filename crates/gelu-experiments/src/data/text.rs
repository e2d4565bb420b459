//! Text files as lines that errors can name.

use crate::error::Place;
pub(super) use crate::names::excerpt as shown;
use crate::{Error, Result};
use std::path::Path;

/// The content of a file as text, without a byte order mark; `path` is what errors call it.
///
/// # Errors
///
/// When it is not UTF-8, with the line.
pub(super) fn from_utf8<'a>(path: &Path, bytes: &'a [u8]) -> Result<&'a str> {
    let text = std::str::from_utf8(bytes).map_err(|error| {
        let sound = &bytes[..error.valid_up_to()];
        let line = 1 + sound.iter().filter(|&&byte| byte == b'\n').count();
        let found = bytes.get(sound.len()).copied().unwrap_or_default();
        let problem = format!("byte {:#04x} at offset {} is not UTF-8", found, sound.len());
        Error::data(path, Place::Line(line), problem, "save the file as UTF-8")
    })?;
    Ok(text.strip_prefix('\u{feff}').unwrap_or(text))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_line_of_a_byte_that_is_no_text_is_named() {
        let error = from_utf8(Path::new("t"), b"a\nb\n\xffc").unwrap_err().to_string();
        assert!(error.contains("line 3: byte 0xff at offset 4 is not UTF-8"), "{error}");
        assert_eq!(from_utf8(Path::new("t"), "\u{feff}a".as_bytes()).unwrap(), "a");
    }
}
