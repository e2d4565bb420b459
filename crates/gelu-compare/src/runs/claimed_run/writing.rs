//! Writes and removals in one step, protected by the lease.

use super::ClaimedRun;
use crate::files::{rename, sync_folder};
use crate::runs::Spec;
use crate::runs::lease::Durable;
use crate::{Error, Result};
use serde::Serialize;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering;

impl<S: Spec> ClaimedRun<S> {
    /// Writes a file of the run in one step.
    pub(super) fn place(
        &self,
        name: &str,
        bytes: impl AsRef<[u8]>,
        durable: Durable,
    ) -> Result<()> {
        let scratch = self.scratch_name(name);
        self.fenced(self.lease.place(&scratch, &self.folder.file(name), bytes, durable))?;
        if durable == Durable::Yes { self.root() } else { Ok(()) }
    }

    /// Waits until the name of the run's folder is on the disk. Only the first call does so, when the first durable
    /// file is written.
    pub(super) fn root(&self) -> Result<()> {
        match (self.folder.path().parent(), self.rooted.swap(true, Ordering::Relaxed)) {
            (Some(parent), false) => sync_folder(parent),
            _ => Ok(()),
        }
    }

    /// Removes a folder of the run. Moves it into the lease's folder first, so that a holder that has lost its lease
    /// removes nothing.
    pub(crate) fn discard(&self, path: &Path) -> Result<()> {
        let scratch = self.scratch_path("discarded");
        match rename(path, &scratch) {
            Ok(()) => fs::remove_dir_all(&scratch).map_err(Error::io("remove", scratch)),
            Err(_) if !path.exists() => Ok(()),
            Err(error) => Err(Error::io("remove", path)(error)),
        }
    }

    /// Returns an unused path in the lease's folder.
    pub(super) fn scratch_path(&self, name: &str) -> PathBuf {
        self.lease.scratch(&self.scratch_name(name))
    }

    fn scratch_name(&self, name: &str) -> String {
        let number = self.scratch.fetch_add(1, Ordering::Relaxed);
        format!("{number}-{name}")
    }

    /// Turns the error of a write into [`Error::LeaseLost`] if another process has taken the run.
    pub(crate) fn fenced<T>(&self, result: Result<T>) -> Result<T> {
        result.map_err(|error| match self.lease.is_lost() {
            true => Error::LeaseLost { run: self.folder.path().to_path_buf() },
            false => error,
        })
    }
}

/// Returns the name of a holder's version of a file, by the number of the lease: `told-0004.jsonl`.
pub(super) fn named(name: &str, generation: u32) -> String {
    let (stem, end) = name.split_at(name.find('.').unwrap_or(name.len()));
    format!("{stem}-{generation:04}{end}")
}

pub(super) fn to_json(value: &impl Serialize) -> Vec<u8> {
    let mut text = serde_json::to_vec_pretty(value).expect("the value holds plain data alone");
    text.push(b'\n');
    text
}
