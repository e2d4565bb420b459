use super::ComparisonReader;
use crate::Result;
#[cfg(feature = "report")]
use crate::report::{self, ReportFiles};
use crate::runs::{ComparisonFolder, ComparisonSnapshot, Experiment, Foreign};
use std::path::Path;

/// Reads a comparison of this program or of any other one, in order to show it.
#[derive(Debug)]
pub enum AnyReader<E: Experiment> {
    /// A comparison of this program.
    Own(Box<ComparisonReader<E>>),
    /// A comparison of another program, described by its own folder.
    Foreign(Box<ComparisonReader<Foreign>>),
}

impl<E: Experiment> AnyReader<E> {
    /// Opens the comparison in the folder `path` as it is; see [`ComparisonReader::open_any_version`].
    ///
    /// # Errors
    ///
    /// Returns the errors of [`ComparisonFolder::comparison`].
    pub fn open(path: &Path) -> Result<Self> {
        match ComparisonFolder::<E>::is_foreign(path) {
            true => ComparisonReader::open_any_version(path).map(Box::new).map(Self::Foreign),
            false => ComparisonReader::open_any_version(path).map(Box::new).map(Self::Own),
        }
    }

    /// Returns everything that the folder says at this moment.
    pub fn snapshot(&mut self) -> ComparisonSnapshot {
        match self {
            Self::Own(reader) => reader.snapshot(),
            Self::Foreign(reader) => reader.snapshot(),
        }
    }

    /// Writes the report of `snapshot` into the folder `out`.
    #[cfg(feature = "report")]
    pub fn report(&self, snapshot: &ComparisonSnapshot, out: &Path) -> ReportFiles {
        match self {
            Self::Own(reader) => report::write(snapshot, &reader.comparison().recipe, out),
            Self::Foreign(reader) => report::write(snapshot, &reader.comparison().recipe, out),
        }
    }
}
