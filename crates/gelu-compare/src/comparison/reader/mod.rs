//! Reads a comparison's folder repeatedly.

mod any;
mod refresh;
mod snapshot;

pub use any::AnyReader;

use super::has_begun;
use crate::Result;
use crate::runs::{Comparison, Design, Plan, Recipe, RunKey};
use refresh::{Read, Stamp, stamp};
use std::collections::{HashMap, HashSet};
use std::path::Path;

/// Reads a comparison's folder repeatedly at little cost. It reads finished runs once, and other runs when one of
/// their files has changed.
///
/// A file that cannot be read does not stop the reader. It adds a warning to the run and continues with what it read
/// before.
#[derive(Debug)]
pub struct SnapshotReader<R: Recipe> {
    folder: Comparison<R>,
    plan: Plan<R>,
    /// The comparison's design.
    design: Design,
    /// The stamp of `comparison.toml` when it was last read.
    stamp: Option<Stamp>,
    /// The specifications of planned runs, by folder name.
    planned: HashMap<String, R::Spec>,
    /// The folder name of each planned run, and its name in messages.
    names: HashMap<RunKey, [String; 2]>,
    /// The data read from each folder that exists.
    read: HashMap<String, Read<R::Spec>>,
    /// Folders of runs that belong to other comparisons.
    foreign: HashSet<String>,
    /// Whether to include runs that an earlier version of the program trained.
    any_version: bool,
}

impl<R: Recipe> SnapshotReader<R> {
    /// Opens the comparison in the folder `path`.
    ///
    /// # Errors
    ///
    /// Returns the errors of [`Comparison::plan`].
    pub fn open(path: &Path) -> Result<Self> {
        let folder = Comparison::open(path)?;
        let plan = folder.plan()?;
        Ok(Self::of(folder, plan))
    }

    /// Opens the comparison in the folder `path` as it is, even if an earlier version of the program trained its
    /// runs. The results of such runs remain, although this version would train the runs anew. If there are runs of
    /// several versions, the reader includes only those of the latest one.
    ///
    /// # Errors
    ///
    /// Returns the errors of [`open`](Self::open).
    pub fn open_any_version(path: &Path) -> Result<Self> {
        Ok(Self { any_version: true, ..Self::open(path)? })
    }

    /// Opens the comparison that the folder would hold if `asked` were compared in it; `None` if there is no
    /// comparison yet.
    ///
    /// # Errors
    ///
    /// Returns the errors of [`Comparison::foresee`].
    pub fn foreseeing(path: &Path, asked: &Plan<R>) -> Result<Option<Self>> {
        let foreseen = Comparison::foresee(path, asked, Self::has_begun)?;
        Ok(foreseen.map(|(folder, plan)| Self::of(folder, plan)))
    }

    /// Returns whether a pair of runs of the comparison is complete.
    pub fn has_begun(folder: &Comparison<R>, plan: &Plan<R>) -> bool {
        has_begun(&Self::of(folder.clone(), plan.clone()).snapshot())
    }

    fn of(folder: Comparison<R>, plan: Plan<R>) -> Self {
        Self {
            design: plan.recipe.design(),
            plan,
            stamp: stamp(&folder.file()),
            folder,
            planned: HashMap::new(),
            names: HashMap::new(),
            read: HashMap::new(),
            foreign: HashSet::new(),
            any_version: false,
        }
    }

    /// Returns the comparison as of the last reading.
    pub fn plan(&self) -> &Plan<R> {
        &self.plan
    }

    /// Returns the folder.
    pub fn folder(&self) -> &Comparison<R> {
        &self.folder
    }
}
