//! Writing and removing checkpoints. A checkpoint appears as a whole.

use super::ClaimedRun;
use crate::files::{rename, sync_folder};
use crate::measure::EpochMetrics;
use crate::runs::tables::epochs_to_csv;
use crate::runs::{Spec, checkpoint};
use crate::{Error, Result};
use std::fs;
use std::path::Path;

/// The file with the metrics up to a checkpoint's epoch.
const METRICS: &str = "metrics.csv";

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
        let fill = || {
            fs::create_dir(&scratch).map_err(Error::io("create the folder", &scratch))?;
            write(&scratch)?;
            let path = scratch.join(METRICS);
            fs::write(&path, epochs_to_csv(metrics)).map_err(Error::io("write", &path))?;
            checkpoint::seal(&scratch)
        };
        self.commit(epoch, &scratch, fill)?;
        self.discard_checkpoints(self.older()?)
    }

    /// Does the same as [`commit_checkpoint`](Self::commit_checkpoint) with these files, each a name and its content,
    /// in less time: it overwrites the files of the checkpoint that it removed last.
    ///
    /// # Errors
    ///
    /// Returns the errors of [`commit_checkpoint`](Self::commit_checkpoint).
    pub fn commit_files(
        &self,
        epoch: usize,
        metrics: &[EpochMetrics],
        files: &[(&str, &[u8])],
    ) -> Result<()> {
        let (spare, metrics) = (self.lease.spare(), epochs_to_csv(metrics));
        let files = [files, &[(METRICS, metrics.as_slice())]].concat();
        self.commit(epoch, &spare, || checkpoint::overwrite(&spare, files))?;
        let mut older = self.older()?;
        // The oldest first, as the others are gone except after a loss of power.
        if let Some(oldest) = older.pop() {
            let path = self.folder.file(&checkpoint::name(oldest));
            self.fenced(rename(&path, &spare).map_err(Error::io("set aside", path)))?;
        }
        self.discard_checkpoints(older)
    }

    /// Puts the checkpoint in place that `fill` makes in the folder `scratch`.
    fn commit(
        &self,
        epoch: usize,
        scratch: &Path,
        fill: impl FnOnce() -> Result<()>,
    ) -> Result<()> {
        let placed = fill().and_then(|()| {
            let target = self.folder.file(&checkpoint::name(epoch));
            self.discard(&target)?;
            rename(scratch, &target).map_err(Error::io("put in place", &target))
        });
        if placed.is_err() {
            // Frees the space of the incomplete checkpoint, because the disk may be full.
            let _ = fs::remove_dir_all(scratch);
        }
        self.fenced(placed)?;
        sync_folder(self.folder.path())?;
        self.root()
    }

    /// Returns the epochs of the checkpoints that are not [`KEPT`], the newest first.
    fn older(&self) -> Result<Vec<usize>> {
        Ok(checkpoint::epochs(self.folder.path())?.into_iter().skip(KEPT).collect())
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
