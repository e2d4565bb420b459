use super::Windows;
use super::audio::frames::Frames;
use super::audio::{Analysis, Normalisation, Recording};
use super::own::table::RowReader;
use crate::Result;
use serde::{Deserialize, Serialize};
use std::path::Path;

/// How an input that is not in the data set becomes examples, as those that the network was trained on did.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum WindowReader {
    /// The row of a table.
    Row(RowReader),
    /// A recording of speech, whose frames are examples.
    Recording {
        /// Samples per second.
        rate: u32,
        /// What is taken out of each frame.
        normalisation: Box<Normalisation>,
    },
}

impl WindowReader {
    /// Returns the examples, all of class 0: of a row as its cells between commas, or of the recording (WAV or SPHERE)
    /// in that file.
    ///
    /// # Errors
    ///
    /// When the input is no such row, or the file no such recording.
    pub fn read(&self, input: &str) -> Result<Windows> {
        match self {
            Self::Row(reader) => reader.read(input),
            Self::Recording { rate, normalisation } => {
                let path = Path::new(input);
                let recording = Recording::read(path)?.expect_rate(path, *rate)?;
                let mut frames = Frames::default();
                frames.push(path, &recording, &Analysis::new(*rate)?, |_| Some(0))?;
                frames.into_windows(normalisation)
            }
        }
    }
}
