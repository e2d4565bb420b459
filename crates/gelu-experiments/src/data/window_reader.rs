use super::Windows;
use super::audio::frames::Frames;
use super::audio::{Analysis, Normalisation, Recording};
use super::own::table::RowReader;
use super::tweets::{Tweet, WordVectors};
use crate::{Error, Result};
use serde::{Deserialize, Serialize};
use std::path::Path;

/// Converts an input that is not in the data set into examples, in the same way as the training data.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum WindowReader {
    /// The row of a table.
    Row(RowReader),
    /// A recording of speech, whose frames are examples.
    Recording {
        /// Samples per second.
        rate: u32,
        /// The normalisation of each frame.
        normalisation: Box<Normalisation>,
    },
    /// The words of a tweet, whose vectors are the inputs.
    AxisWords(Box<WordVectors>),
}

impl WindowReader {
    /// Returns the examples, all of class 0: of a row as comma-separated cells, of the recording (WAV or SPHERE) in
    /// the file `input`, or of words separated by spaces.
    ///
    /// # Errors
    ///
    /// If the input is not such a row, the file is not such a recording, or there is no word.
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
            Self::AxisWords(vectors) => {
                let words: Vec<&str> = input.split_whitespace().collect();
                if words.is_empty() {
                    let problem = "there is no word to classify; give the words of a tweet";
                    return Err(Error::Usage(problem.to_owned()));
                }
                let tags = vec![0; words.len()];
                vectors.windows(&[Tweet { words, tags }])
            }
        }
    }
}
