//! The folder of a run: made, found and read. Only [`ClaimedRun`](super::ClaimedRun) writes to it.

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

/// The folder of one run, as everybody may read it:
///
/// ```text
/// run.toml              the specification, written once
/// free-0003/            or lease-0004/: whether a process works on it; see Lease
/// status.json           where it stands
/// metrics.csv           one line per finished epoch
/// progress.json         the epoch under way: a hint, not a result
/// checkpoint-0007/      all that is needed to go on after epoch 7, while the run is not complete;
///   model.bpk  optimizer.bpk  scheduler.bpk  metrics.csv  SHA256SUMS      the last two are kept
/// model.bpk             the trained network, once finished
/// …                     the further files of the program's extensions
/// provenance-0004.json  what each session ran on
/// worker.log            what the last worker said, where it died or failed
/// ```
///
/// Only [`ClaimedRun`](super::ClaimedRun) writes here. A checkpoint appears whole. `metrics.csv` of
/// the run is only a copy of the checkpoint's for readers, so the two can never disagree about what
/// a resumed run starts from. A run of a command has `told-0004.jsonl` in place of checkpoints.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RunFolder {
    path: PathBuf,
}

impl RunFolder {
    /// The folder of that run under `parent`, created with its specification if it is new.
    ///
    /// # Errors
    ///
    /// When the folder cannot be made.
    pub fn create(parent: &Path, spec: &impl Spec) -> Result<Self> {
        Self::create_with(parent, spec, |_| Ok(()))
    }

    /// The folder of that run under `parent`. If it is new, it has the results of `from`, a complete run of another
    /// comparison that computed the same.
    ///
    /// # Errors
    ///
    /// When the folder cannot be made, or the other one cannot be read.
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
        // It appears with all that a run's folder has, or not at all: of two processes that make
        // it one wins, and the other finds it.
        let scratch = scratch_folder(parent, &name)?;
        let filled = lease::create_state(&scratch).and_then(|()| {
            let file = scratch.join("run.toml");
            // Nothing waits for the disk: whoever takes the run writes what is missing of it.
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

    /// The folder at that path, whatever is in it.
    pub fn at(path: &Path) -> Self {
        Self { path: path.to_path_buf() }
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The path of one of its files.
    pub fn file(&self, name: &str) -> PathBuf {
        self.path.join(name)
    }

    /// Where the checkpoint of an epoch is, if there is one.
    pub fn checkpoint_path(&self, epoch: usize) -> PathBuf {
        self.file(&checkpoint::name(epoch))
    }
}
