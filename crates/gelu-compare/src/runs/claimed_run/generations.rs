//! Files and folders that belong to one holder of a run. Their names contain the number of the holder's lease. So a
//! holder whose lease was taken over, or a program that it left running, cannot write into its successor's files.

use super::ClaimedRun;
use super::writing::named;
use crate::files::rename;
use crate::runs::Spec;
use crate::runs::lease::Durable;
use crate::{Error, Result};
use std::fs;
use std::path::{Path, PathBuf};

impl<S: Spec> ClaimedRun<S> {
    /// Returns the path of this holder's version of a file: `told-0004.jsonl` for `told.jsonl`.
    pub(crate) fn own_path(&self, name: &str) -> PathBuf {
        self.folder.file(&named(name, self.lease.generation()))
    }

    /// Writes this holder's version of a file.
    ///
    /// # Errors
    ///
    /// Returns an error if the file cannot be written or the lease is lost.
    pub(crate) fn place_own(&self, name: &str, bytes: impl AsRef<[u8]>) -> Result<PathBuf> {
        let own = named(name, self.lease.generation());
        self.place(&own, bytes, Durable::No)?;
        Ok(self.folder.file(&own))
    }

    /// Creates this holder's version of a folder. `fill` fills it before it appears.
    ///
    /// # Errors
    ///
    /// Returns the errors of `fill` and of [`place_own`](Self::place_own).
    pub(crate) fn place_own_folder(
        &self,
        name: &str,
        fill: impl FnOnce(&Path) -> Result<()>,
    ) -> Result<PathBuf> {
        let (scratch, own) = (self.scratch_path(name), self.own_path(name));
        let placed = fs::create_dir(&scratch)
            .map_err(Error::io("create the folder", &scratch))
            .and_then(|()| fill(&scratch))
            .and_then(|()| rename(&scratch, &own).map_err(Error::io("put in place", &own)));
        if placed.is_err() {
            let _ = fs::remove_dir_all(&scratch);
        }
        self.fenced(placed)?;
        Ok(own)
    }

    /// Returns the versions of a file by this holder and earlier ones, the latest last. A version without a number,
    /// as earlier releases named it, is the first.
    ///
    /// # Errors
    ///
    /// Returns an error if the folder cannot be listed.
    pub(crate) fn generations(&self, name: &str) -> Result<Vec<PathBuf>> {
        let folder = self.folder.path();
        let mut found = Vec::new();
        for entry in fs::read_dir(folder).map_err(Error::io("list", folder))? {
            let entry = entry.map_err(Error::io("list", folder))?.file_name();
            let generation = entry.to_str().and_then(|entry| generation(name, entry));
            found.extend(generation.filter(|number| *number <= self.lease.generation()));
        }
        found.sort_unstable();
        let path = |number: u32| match number {
            0 => folder.join(name),
            number => folder.join(named(name, number)),
        };
        Ok(found.into_iter().map(path).collect())
    }
}

/// Returns the number in a name, or 0 for a name without a number.
fn generation(name: &str, entry: &str) -> Option<u32> {
    if entry == name {
        return Some(0);
    }
    let (stem, end) = name.split_at(name.find('.').unwrap_or(name.len()));
    let number = entry.strip_prefix(stem)?.strip_prefix('-')?.strip_suffix(end)?.parse().ok()?;
    (named(name, number) == entry && number > 0).then_some(number)
}
