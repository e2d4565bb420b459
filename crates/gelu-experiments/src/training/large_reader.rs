use super::input_reader::InputReader;
use super::whitening::Whitening;
use crate::data::prepared::{Key, store};
use crate::data::tweets::WordVectors;
use crate::data::{WindowReader, WindowSet};
use crate::recipe::Pixels;
use crate::{Error, Result};
use gelu_compare::runs::RunFolder;
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The part of a reader that is larger than most networks. The runs of a comparison share one file of it, in the
/// folder `readers` next to theirs.
#[derive(Debug, Serialize, Deserialize)]
pub(super) enum LargeReader {
    /// An image file, which is whitened.
    Picture {
        /// The side of the square to which the image is scaled.
        size: Option<usize>,
        /// The scaling of the bytes.
        pixels: Pixels,
        /// The whitening, fitted to the training images.
        whitening: Whitening,
    },
    /// The words of a tweet.
    AxisWords(Box<WordVectors>),
}

impl LargeReader {
    /// Returns the path of a file in the run's comparison.
    pub(super) fn path(run: &RunFolder, file: &str) -> PathBuf {
        let comparison = run.path().parent().and_then(Path::parent);
        let comparison = comparison.map_or_else(|| run.path().join("../.."), Path::to_path_buf);
        comparison.join("readers").join(file)
    }

    /// Saves the file in the comparison's folder, unless it exists. Its name is a digest of everything that it
    /// depends on.
    ///
    /// # Errors
    ///
    /// If the file cannot be written.
    pub(super) fn save(&self, run: &RunFolder, file: &str) -> Result<()> {
        let path = Self::path(run, file);
        if path.exists() {
            return Ok(());
        }
        if let Some(folder) = path.parent() {
            std::fs::create_dir_all(folder).map_err(Error::io("create the folder", folder))?;
        }
        store::write(&path, self)
    }

    /// Reads the file; `None` if there is none, or it is damaged.
    pub(super) fn load(run: &RunFolder, file: &str) -> Option<Self> {
        store::read(&Self::path(run, file))
    }
}

/// Returns the reader of a set's inputs, and its large part.
pub(super) fn reader_of(set: &WindowSet) -> (Option<InputReader>, Option<Arc<LargeReader>>) {
    match &set.reader {
        Some(WindowReader::AxisWords(vectors)) => {
            let key = Key::new("words", 1).with(set.source.fingerprint.as_bytes());
            let reader = InputReader::Shared { file: key.file_name() };
            (Some(reader), Some(Arc::new(LargeReader::AxisWords(vectors.clone()))))
        }
        reader => (reader.clone().map(InputReader::Windows), None),
    }
}
