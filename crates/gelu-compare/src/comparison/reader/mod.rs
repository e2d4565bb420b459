//! A comparison's folder, read again and again.

mod any;
mod refresh;
mod snapshot;

pub use any::AnyReader;

use super::has_begun;
use crate::Result;
use crate::runs::{Comparison, ComparisonFolder, Design, Experiment, RunKey};
use refresh::{Read, Stamp, stamp};
use std::collections::{HashMap, HashSet};
use std::path::Path;

/// Reads a comparison's folder again and again, at little cost: finished runs are read once, others
/// when one of their files has changed.
///
/// A file that cannot be read never stops it: it is a warning of the run it belongs to, and what
/// was known before still stands.
#[derive(Debug)]
pub struct ComparisonReader<E: Experiment> {
    folder: ComparisonFolder<E>,
    comparison: Comparison<E>,
    /// What it compares.
    design: Design,
    /// Of `comparison.toml` when it was read last.
    stamp: Option<Stamp>,
    /// What the runs are to be, by folder name.
    planned: HashMap<String, E::Spec>,
    /// Folder names of runs that were planned, and how messages call them.
    names: HashMap<RunKey, [String; 2]>,
    /// What was read of the folders that are there.
    read: HashMap<String, Read<E::Spec>>,
    /// Folders of runs that belong to other comparisons.
    foreign: HashSet<String>,
    /// Whether runs count that an earlier version of the program has trained.
    any_version: bool,
}

impl<E: Experiment> ComparisonReader<E> {
    /// A reader of the comparison in that folder.
    ///
    /// # Errors
    ///
    /// As [`ComparisonFolder::comparison`].
    pub fn open(path: &Path) -> Result<Self> {
        let folder = ComparisonFolder::open(path)?;
        let comparison = folder.comparison()?;
        Ok(Self::of(folder, comparison))
    }

    /// A reader of the comparison in that folder that takes it as it is, even if an earlier version of
    /// the program has trained the runs: what they measured stands, though this version would train
    /// them anew. Where there are runs of several versions, those of the latest alone are read.
    ///
    /// # Errors
    ///
    /// As [`open`](Self::open).
    pub fn open_any_version(path: &Path) -> Result<Self> {
        Ok(Self { any_version: true, ..Self::open(path)? })
    }

    /// A reader of the comparison that the folder would hold if `asked` were compared in it; `None`
    /// where there is no comparison yet.
    ///
    /// # Errors
    ///
    /// As [`ComparisonFolder::foresee`].
    pub fn foreseeing(path: &Path, asked: &Comparison<E>) -> Result<Option<Self>> {
        let foreseen = ComparisonFolder::foresee(path, asked, Self::has_begun)?;
        Ok(foreseen.map(|(folder, comparison)| Self::of(folder, comparison)))
    }

    /// Whether a pair of runs of a comparison is complete.
    pub fn has_begun(folder: &ComparisonFolder<E>, comparison: &Comparison<E>) -> bool {
        has_begun(&Self::of(folder.clone(), comparison.clone()).snapshot())
    }

    fn of(folder: ComparisonFolder<E>, comparison: Comparison<E>) -> Self {
        Self {
            design: comparison.recipe.design(),
            comparison,
            stamp: stamp(&folder.file()),
            folder,
            planned: HashMap::new(),
            names: HashMap::new(),
            read: HashMap::new(),
            foreign: HashSet::new(),
            any_version: false,
        }
    }

    /// What is compared, as of the last reading.
    pub fn comparison(&self) -> &Comparison<E> {
        &self.comparison
    }

    /// The folder.
    pub fn folder(&self) -> &ComparisonFolder<E> {
        &self.folder
    }
}
