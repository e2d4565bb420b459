//! Reads text files so that errors can name lines.

use crate::{Error, Result};
use gelu_compare::error::Place;
pub(super) use gelu_compare::names::excerpt as shown;
use std::path::Path;

/// Returns the content of a file as text, without a byte order mark; error messages name `path`.
///
/// # Errors
///
/// If the content is not UTF-8; the message names the line, or the file's format if it is known.
pub(super) fn from_utf8<'a>(path: &Path, bytes: &'a [u8]) -> Result<&'a str> {
    let text = std::str::from_utf8(bytes).map_err(|error| {
        if let Some((what, advice)) = other_format(bytes) {
            return Error::data(path, Place::File, format!("is {what}"), advice);
        }
        let sound = &bytes[..error.valid_up_to()];
        let line = 1 + sound.iter().filter(|&&byte| byte == b'\n').count();
        let found = bytes.get(sound.len()).copied().unwrap_or_default();
        let problem = format!("byte {:#04x} at offset {} is not UTF-8", found, sound.len());
        Error::data(path, Place::Line(line), problem, "save the file as UTF-8")
    })?;
    Ok(text.strip_prefix('\u{feff}').unwrap_or(text))
}

/// Returns the format of a file that is not text, by its first bytes, and advice.
fn other_format(bytes: &[u8]) -> Option<(&'static str, &'static str)> {
    const TABLE: &str = "write it as CSV, for example with `to_csv` of pandas";
    const UNPACK: &str = "unpack it";
    const FORMATS: [(&[u8], &str, &str); 13] = [
        (b"PAR1", "a Parquet file", TABLE),
        (b"ARROW1", "an Arrow file", TABLE),
        (b"FEA1", "a Feather file", TABLE),
        (b"PK\x03\x04", "a ZIP archive, as .npz and .xlsx files are", TABLE),
        (b"\x93NUMPY", "a NumPy array", TABLE),
        (b"\x89HDF", "an HDF5 file", TABLE),
        (b"\xd0\xcf\x11\xe0", "an Excel file", TABLE),
        (b"SQLite format 3", "an SQLite database", TABLE),
        (b"\xfd7zXZ", "compressed with xz", UNPACK),
        (b"BZh", "compressed with bzip2", UNPACK),
        (b"\x28\xb5\x2f\xfd", "compressed with Zstandard", UNPACK),
        (b"\xff\xfe", "a text in UTF-16", "save the file as UTF-8"),
        (b"\xfe\xff", "a text in UTF-16", "save the file as UTF-8"),
    ];
    let found = FORMATS.into_iter().find(|(magic, ..)| bytes.starts_with(magic));
    found.map(|(_, what, advice)| (what, advice))
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
