use super::SnapshotReader;
use crate::Result;
#[cfg(feature = "report")]
use crate::report::{self, ReportFiles};
use crate::runs::{Comparison, Foreign, Recipe, Snapshot};
use std::path::Path;

/// Reads a comparison of this program or of any other one, in order to show it.
#[derive(Debug)]
pub enum AnyReader<R: Recipe> {
    /// A comparison of this program.
    Own(Box<SnapshotReader<R>>),
    /// A comparison of another program, described by its own folder.
    Foreign(Box<SnapshotReader<Foreign>>),
}

impl<R: Recipe> AnyReader<R> {
    /// Opens the comparison in the folder `path` as it is; see [`SnapshotReader::open_any_version`].
    ///
    /// # Errors
    ///
    /// Returns the errors of [`Comparison::plan`].
    pub fn open(path: &Path) -> Result<Self> {
        match Comparison::<R>::is_foreign(path) {
            true => SnapshotReader::open_any_version(path).map(Box::new).map(Self::Foreign),
            false => SnapshotReader::open_any_version(path).map(Box::new).map(Self::Own),
        }
    }

    /// Returns everything that the folder says at this moment.
    pub fn snapshot(&mut self) -> Snapshot {
        match self {
            Self::Own(reader) => reader.snapshot(),
            Self::Foreign(reader) => reader.snapshot(),
        }
    }

    /// Writes the report of `snapshot` into the folder `out`.
    #[cfg(feature = "report")]
    pub fn report(&self, snapshot: &Snapshot, out: &Path) -> ReportFiles {
        match self {
            Self::Own(reader) => report::write(snapshot, &reader.plan().recipe, out),
            Self::Foreign(reader) => report::write(snapshot, &reader.plan().recipe, out),
        }
    }
}
