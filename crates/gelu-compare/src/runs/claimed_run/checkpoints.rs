//! Checkpoints: put in place as a whole, and removed once nothing goes on from them.

use super::ClaimedRun;
use crate::files::{rename, sync_folder};
use crate::measure::EpochMetrics;
use crate::runs::tables::epochs_to_csv;
use crate::runs::{Spec, checkpoint};
use crate::{Error, Result};
use std::fs;
use std::path::Path;

/// Checkpoints that are kept: where the newest is damaged, the one before it serves.
const KEPT: usize = 2;

impl<S: Spec> ClaimedRun<S> {
    /// Puts a checkpoint in place, then removes all but the one before it. `write` fills a scratch
    /// folder with the model's, optimiser's and scheduler's files.
    ///
    /// # Errors
    ///
    /// When anything cannot be written; the checkpoints before then still stand.
    pub fn commit_checkpoint(
        &self,
        epoch: usize,
        metrics: &[EpochMetrics],
        write: impl FnOnce(&Path) -> Result<()>,
    ) -> Result<()> {
        let scratch = self.scratch_path("checkpoint");
        let placed = self.fill_checkpoint(&scratch, metrics, write).and_then(|()| {
            let target = self.folder.file(&checkpoint::name(epoch));
            self.discard(&target)?;
            rename(&scratch, &target).map_err(Error::io("put in place", &target))
        });
        if placed.is_err() {
            // Frees what the half checkpoint takes: the disk may be full.
            let _ = fs::remove_dir_all(&scratch);
        }
        self.fenced(placed)?;
        sync_folder(self.folder.path())?;
        self.root()?;
        let older = checkpoint::epochs(self.folder.path())?.into_iter().skip(KEPT);
        self.discard_checkpoints(older)
    }

    fn fill_checkpoint(
        &self,
        scratch: &Path,
        metrics: &[EpochMetrics],
        write: impl FnOnce(&Path) -> Result<()>,
    ) -> Result<()> {
        fs::create_dir(scratch).map_err(Error::io("create the folder", scratch))?;
        write(scratch)?;
        let path = scratch.join("metrics.csv");
        fs::write(&path, epochs_to_csv(metrics)).map_err(Error::io("write", &path))?;
        checkpoint::seal(scratch)
    }

    /// Removes the checkpoints of these epochs, damaged ones for example.
    ///
    /// # Errors
    ///
    /// When a folder cannot be removed.
    pub fn discard_checkpoints(&self, epochs: impl IntoIterator<Item = usize>) -> Result<()> {
        epochs.into_iter().try_for_each(|epoch| {
            self.fenced(self.discard(&self.folder.file(&checkpoint::name(epoch))))
        })
    }

    /// Removes the checkpoints after `epoch`: what cannot be gone on from.
    ///
    /// # Errors
    ///
    /// When a folder cannot be removed.
    pub fn discard_checkpoints_after(&self, epoch: usize) -> Result<()> {
        let newer = checkpoint::epochs(self.folder.path())?.into_iter().filter(|&e| e > epoch);
        self.discard_checkpoints(newer)
    }

    /// Removes all checkpoints, once nothing will go on from them.
    ///
    /// # Errors
    ///
    /// When a folder cannot be removed.
    pub fn clear_checkpoints(&self) -> Result<()> {
        self.discard_checkpoints(checkpoint::epochs(self.folder.path())?)
    }
}
