use super::super::idx::read_bytes;
use super::{sphere, wav};
use crate::error::Place;
use crate::{Error, Result};
use std::path::Path;

/// Sound of one channel, 16 bits a sample.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Recording {
    /// Amplitudes, one after the other.
    pub samples: Vec<i16>,
    /// Samples a second.
    pub rate: u32,
}

impl Recording {
    /// Reads a RIFF WAV or a NIST SPHERE file, told apart by content: both go by the name `.wav`.
    ///
    /// # Errors
    ///
    /// As [`parse`](Self::parse), and when the file cannot be read.
    pub fn read(path: &Path) -> Result<Self> {
        Self::parse(path, &read_bytes(path)?)
    }

    /// Understands the content of a RIFF WAV or a NIST SPHERE file; `path` is what errors call it.
    ///
    /// # Errors
    ///
    /// When it is neither, or as [`wav::parse`] and [`sphere::parse`].
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

    /// Refuses any rate but the one given.
    ///
    /// # Errors
    ///
    /// When the rate is another; `path` is what the error calls the recording.
    pub fn expect_rate(self, path: &Path, rate: u32) -> Result<Self> {
        match self.rate == rate {
            true => Ok(self),
            false => Err(Error::data(
                path,
                Place::File,
                format!("has {} samples a second, not {rate}", self.rate),
                format!("resample it to {rate} Hz"),
            )),
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

    #[test]
    fn another_rate_is_refused() {
        let recording = Recording { samples: vec![0], rate: 44_100 };
        let error = recording.expect_rate(Path::new("a.wav"), 8_000).unwrap_err().to_string();
        assert_eq!(error, "a.wav: has 44100 samples a second, not 8000; resample it to 8000 Hz");
    }
}
