//! Detects the format of a recording by its content.

use super::{Recording, sphere, wav};
use crate::data::files::read_bytes;
use crate::{Error, Result};
use gelu_compare::error::Place;
use std::path::Path;

impl Recording {
    /// Reads a RIFF WAV or a NIST SPHERE file. Both have the ending `.wav`, so the content determines the format.
    ///
    /// # Errors
    ///
    /// If the file cannot be read, or [`parse`](Self::parse) fails.
    pub fn read(path: &Path) -> Result<Self> {
        Self::parse(path, &read_bytes(path)?)
    }

    /// Parses the content of a RIFF WAV or a NIST SPHERE file; error messages name `path`.
    ///
    /// # Errors
    ///
    /// If the file has neither format, or [`wav::parse`] or [`sphere::parse`] fails.
    pub fn parse(path: &Path, bytes: &[u8]) -> Result<Self> {
        match bytes {
            [b'R', b'I', b'F', b'F', ..] => wav::parse(path, bytes),
            [b'N', b'I', b'S', b'T', ..] => sphere::parse(path, bytes),
            _ => {
                let start = &bytes[..bytes.len().min(4)];
                let problem = format!("begins with {start:02x?}, neither `RIFF` nor `NIST`");
                let advice = "convert it to a WAV file of 16-bit PCM, one channel";
                Err(Error::data(path, Place::Byte(0), problem, advice))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn formats_are_told_apart_by_content() {
        let recording = Recording { samples: vec![1, -2, 300, i16::MIN], rate: 16_000 };
        let of = |bytes: &[u8]| Recording::parse(Path::new("a.wav"), bytes);
        assert_eq!(of(&wav::to_bytes(&recording)).unwrap(), recording);
        assert_eq!(of(&sphere::to_bytes(&recording)).unwrap(), recording);
        let error = of(b"OggS....").unwrap_err().to_string();
        assert!(error.contains("byte 0: begins with [4f, 67, 67, 53], neither"), "{error}");
        assert!(of(b"").is_err());
    }
}
