//! The folder of a run: creating, finding and reading it. Only [`ClaimedRun`](super::ClaimedRun) writes to it.

mod read;
mod scratch;
mod snapshot;

pub(crate) use snapshot::is_whole;

use super::checkpoint;
use super::{Spec, lease};
use crate::files::{remove_folder, rename};
use crate::{Error, Result};
use scratch::{remove_scratch_folders, scratch_folder};
use std::fs;
use std::path::{Path, PathBuf};

/// The folder of one run, for reading:
///
/// ```text
/// run.toml              the specification, written once
/// free-0003/            or lease-0004/: whether a process works on the run; see Lease
/// status.json           the run's status
/// metrics.csv           one line per finished epoch
/// progress.json         the current epoch: a hint, not a result
/// checkpoint-0007/      everything needed to continue after epoch 7, while the run is not complete;
///   model.bpk  optimizer.bpk  scheduler.bpk  metrics.csv  SHA256SUMS      (the last two checkpoints)
/// model.bpk             the trained network, once finished
/// …                     the further files of the program's extensions
/// provenance-0004.json  the environment of each session
/// worker.log            the last worker's messages, if it died or failed
/// ```
///
/// Only [`ClaimedRun`](super::ClaimedRun) writes here. A checkpoint appears as a whole. The run's `metrics.csv` is
/// only a copy of the checkpoint's for readers, so the two never disagree about the start of a resumed run. A run of
/// a command has `told-0004.jsonl` instead of checkpoints.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RunFolder {
    path: PathBuf,
}

impl RunFolder {
    /// Returns the folder of a run under `parent`. Creates the folder with its specification if it does not exist.
    ///
    /// # Errors
    ///
    /// Returns an error if the folder cannot be created.
    pub fn create(parent: &Path, spec: &impl Spec) -> Result<Self> {
        Self::create_with(parent, spec, |_| Ok(()))
    }

    /// Returns the folder of a run under `parent`. If it does not exist, creates it with the results of `from`, a
    /// complete run of another comparison that computed the same.
    ///
    /// # Errors
    ///
    /// Returns an error if the folder cannot be created or `from` cannot be read.
    pub(crate) fn create_from(parent: &Path, spec: &impl Spec, from: &Self) -> Result<Self> {
        Self::create_with(parent, spec, |scratch| {
            for entry in fs::read_dir(&from.path).map_err(Error::io("list", &from.path))? {
                let entry = entry.map_err(Error::io("list", &from.path))?;
                let (path, name) = (entry.path(), entry.file_name());
                if path.is_file() && name != "run.toml" {
                    fs::copy(&path, scratch.join(name)).map_err(Error::io("copy", &path))?;
                }
            }
            Ok(())
        })
    }

    fn create_with(
        parent: &Path,
        spec: &impl Spec,
        fill: impl FnOnce(&Path) -> Result<()>,
    ) -> Result<Self> {
        let name = spec.folder_name();
        let path = parent.join(&name);
        if path.is_dir() {
            return Ok(Self { path });
        }
        // The folder appears complete or not at all. If two processes create it, one wins, and the other finds it.
        let scratch = scratch_folder(parent, &name)?;
        let filled = lease::create_state(&scratch).and_then(|()| {
            let file = scratch.join("run.toml");
            // The file need not be on the disk yet: a process that claims the run writes what is missing.
            fs::write(&file, spec.to_toml()).map_err(Error::io("write", &file))?;
            fill(&scratch)
        });
        let placed =
            filled.and_then(|()| rename(&scratch, &path).map_err(Error::io("put in place", &path)));
        if let Err(error) = placed {
            remove_folder(&scratch)?;
            return if path.is_dir() { Ok(Self { path }) } else { Err(error) };
        }
        remove_scratch_folders(parent, &name);
        Ok(Self { path })
    }

    /// Returns the folder at `path`, without checking its content.
    pub fn at(path: &Path) -> Self {
        Self { path: path.to_path_buf() }
    }

    /// Returns the path of the folder.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Returns the path of a file in the folder.
    pub fn file(&self, name: &str) -> PathBuf {
        self.path.join(name)
    }

    /// Returns the path for the checkpoint of an epoch.
    pub fn checkpoint_path(&self, epoch: usize) -> PathBuf {
        self.file(&checkpoint::name(epoch))
    }
}
