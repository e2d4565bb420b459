use super::ComparisonReader;
use crate::Result;
#[cfg(feature = "report")]
use crate::report::{self, Written};
use crate::runs::{ComparisonFolder, ComparisonSnapshot, Experiment, Foreign};
use std::path::Path;

/// A reader of a comparison of this program, or of any other, for showing it.
#[derive(Debug)]
pub enum AnyReader<E: Experiment> {
    /// This program's own.
    Own(Box<ComparisonReader<E>>),
    /// Another kind of program's, by what its folder says of itself.
    Foreign(Box<ComparisonReader<Foreign>>),
}

impl<E: Experiment> AnyReader<E> {
    /// A reader of the comparison in that folder as it is; see
    /// [`ComparisonReader::open_any_version`].
    ///
    /// # Errors
    ///
    /// As [`ComparisonFolder::comparison`].
    pub fn open(path: &Path) -> Result<Self> {
        match ComparisonFolder::<E>::is_foreign(path) {
            true => ComparisonReader::open_any_version(path).map(Box::new).map(Self::Foreign),
            false => ComparisonReader::open_any_version(path).map(Box::new).map(Self::Own),
        }
    }

    /// Everything the folder says at this moment.
    pub fn snapshot(&mut self) -> ComparisonSnapshot {
        match self {
            Self::Own(reader) => reader.snapshot(),
            Self::Foreign(reader) => reader.snapshot(),
        }
    }

    /// Writes the report of a snapshot.
    #[cfg(feature = "report")]
    pub fn report(&self, snapshot: &ComparisonSnapshot, out: &Path) -> Written {
        match self {
            Self::Own(reader) => report::write(snapshot, &reader.comparison().recipe, out),
            Self::Foreign(reader) => report::write(snapshot, &reader.comparison().recipe, out),
        }
    }
}
