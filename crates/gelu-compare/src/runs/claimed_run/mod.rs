//! A run that this process may write to: files, checkpoints and sessions.

mod checkpoints;
mod files;
mod generations;
mod sessions;
mod writing;

use super::lease::{Claim, Durable, Lease, PreviousLease, Watch};
use super::provenance::Provenance;
use super::{Holder, RunFolder, Spec, StatusFile};
use crate::Result;
use std::fs;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64};
use std::time::Duration;

/// A run that this process holds, and so may write to. Dropping the value releases the run.
///
/// Every write goes to the lease's folder first and is moved to its target in one step. So a process that has lost
/// its lease changes nothing; it gets [`Error::LeaseLost`](crate::Error::LeaseLost). Data that cannot be derived from
/// other files is on the disk before a function returns; other data may reach the disk later.
#[derive(Debug)]
pub struct ClaimedRun<S> {
    folder: RunFolder,
    lease: Lease,
    spec: S,
    session: Mutex<Option<Provenance>>,
    /// A counter that makes the names of temporary files unique.
    scratch: AtomicU64,
    /// Whether the name of the run's folder is on the disk.
    rooted: AtomicBool,
}

impl<S: Spec> ClaimedRun<S> {
    /// Claims a run for this process. If another process holds the run, returns `Err` with that holder, or with
    /// `None` if the holder cannot be read. `watch` stores the states of other hosts' leases between attempts.
    /// `silence` is how long a lease may be without a heartbeat.
    ///
    /// # Errors
    ///
    /// Returns an error if the run's folder cannot be read or written.
    pub fn claim(
        folder: &RunFolder,
        spec: &S,
        watch: &mut Watch,
        silence: Duration,
    ) -> Result<std::result::Result<Self, Option<Holder>>> {
        let (lease, before) = match Lease::claim(folder.path(), watch, silence)? {
            Claim::Busy(holder) => return Ok(Err(holder)),
            Claim::Held(lease, before) => (lease, before),
        };
        let run = Self {
            folder: folder.clone(),
            lease,
            spec: spec.clone(),
            session: Mutex::default(),
            scratch: AtomicU64::new(0),
            rooted: AtomicBool::new(false),
        };
        if before == PreviousLease::Died {
            run.record_death()?;
        }
        let text = spec.to_toml();
        if fs::read(run.folder.file("run.toml")).ok().as_deref() != Some(text.as_bytes()) {
            run.place("run.toml", text, Durable::No)?;
        }
        Ok(Ok(run))
    }

    /// Returns the run's folder, for reading.
    pub fn folder(&self) -> &RunFolder {
        &self.folder
    }

    /// Returns the run's specification.
    pub fn spec(&self) -> &S {
        &self.spec
    }

    /// Returns the run's lease.
    pub fn lease(&self) -> &Lease {
        &self.lease
    }

    /// Returns the run's status. If `status.json` is damaged, derives the status from the other files.
    pub fn status(&self) -> StatusFile {
        self.folder.status().unwrap_or_else(|_| {
            let epochs = self.folder.metrics().unwrap_or_default();
            self.folder.status_by_evidence(&self.spec, &epochs)
        })
    }
}

#[cfg(test)]
pub(crate) mod examples;
#[cfg(test)]
mod tests;
