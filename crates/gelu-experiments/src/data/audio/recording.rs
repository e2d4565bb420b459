use crate::{Error, Result};
use gelu_compare::error::Place;
use std::path::Path;

/// Sound of one channel, 16 bits per sample.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Recording {
    /// The amplitudes in order.
    pub samples: Vec<i16>,
    /// Samples per second.
    pub rate: u32,
}

impl Recording {
    /// Checks that the rate is `rate`.
    ///
    /// # Errors
    ///
    /// If the recording has another rate; the message names `path`.
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
    fn another_rate_is_refused() {
        let recording = Recording { samples: vec![0], rate: 44_100 };
        let error = recording.expect_rate(Path::new("a.wav"), 8_000).unwrap_err().to_string();
        assert_eq!(error, "a.wav: has 44100 samples a second, not 8000; resample it to 8000 Hz");
    }
}
