//! Writing and removing checkpoints. A checkpoint appears as a whole.

use super::ClaimedRun;
use crate::files::{rename, sync_folder};
use crate::measure::EpochMetrics;
use crate::runs::tables::epochs_to_csv;
use crate::runs::{Spec, checkpoint};
use crate::{Error, Result};
use std::fs;
use std::path::Path;

/// The number of checkpoints to keep. If the newest is damaged, a run continues from the one before it.
const KEPT: usize = 2;

impl<S: Spec> ClaimedRun<S> {
    /// Writes the checkpoint of an epoch, then removes all but the one before it. `write` fills a temporary folder
    /// with the files of the model, optimiser and scheduler.
    ///
    /// # Errors
    ///
    /// Returns an error if writing fails; the earlier checkpoints then still exist.
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
            // Frees the space of the incomplete checkpoint, because the disk may be full.
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

    /// Removes the checkpoints of these epochs, for example damaged ones.
    ///
    /// # Errors
    ///
    /// Returns an error if a folder cannot be removed.
    pub fn discard_checkpoints(&self, epochs: impl IntoIterator<Item = usize>) -> Result<()> {
        epochs.into_iter().try_for_each(|epoch| {
            self.fenced(self.discard(&self.folder.file(&checkpoint::name(epoch))))
        })
    }

    /// Removes the checkpoints after `epoch`, from which the run cannot continue.
    ///
    /// # Errors
    ///
    /// Returns an error if a folder cannot be removed.
    pub fn discard_checkpoints_after(&self, epoch: usize) -> Result<()> {
        let newer = checkpoint::epochs(self.folder.path())?.into_iter().filter(|&e| e > epoch);
        self.discard_checkpoints(newer)
    }

    /// Removes all checkpoints, when the run no longer needs them.
    ///
    /// # Errors
    ///
    /// Returns an error if a folder cannot be removed.
    pub fn clear_checkpoints(&self) -> Result<()> {
        self.discard_checkpoints(checkpoint::epochs(self.folder.path())?)
    }
}
