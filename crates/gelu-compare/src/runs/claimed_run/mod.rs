//! A run that this process may write to: what it writes, by files, checkpoints and sessions.

mod checkpoints;
mod files;
mod generations;
mod sessions;
mod writing;

use super::lease::{Before, Claim, Durable, Lease, Watch};
use super::provenance::Provenance;
use super::{Holder, RunFolder, Spec, StatusFile};
use crate::Result;
use std::fs;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64};
use std::time::Duration;

/// A run that this process holds, and so may write to. It is given back when this is dropped.
///
/// Every write is made in the lease's own folder and moved to its place in one step, so a process
/// that has lost its lease writes nothing; it gets [`Error::LeaseLost`](crate::Error::LeaseLost). What
/// cannot be derived from other files is on the disk before a function returns; the rest is not waited
/// for.
#[derive(Debug)]
pub struct ClaimedRun<S> {
    folder: RunFolder,
    lease: Lease,
    spec: S,
    session: Mutex<Option<Provenance>>,
    /// Makes the names of scratch files unique.
    scratch: AtomicU64,
    /// Whether the name of the run's own folder is on the disk.
    rooted: AtomicBool,
}

impl<S: Spec> ClaimedRun<S> {
    /// Takes a run, if nobody holds it: `Err` of the holder, where that is known, if somebody does.
    ///
    /// # Errors
    ///
    /// When the run's folder cannot be read or written.
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
        if before == Before::Died {
            run.record_death()?;
        }
        let text = spec.to_toml();
        if fs::read(run.folder.file("run.toml")).ok().as_deref() != Some(text.as_bytes()) {
            run.place("run.toml", text, Durable::No)?;
        }
        Ok(Ok(run))
    }

    /// Its folder, for reading.
    pub fn folder(&self) -> &RunFolder {
        &self.folder
    }

    /// Its specification.
    pub fn spec(&self) -> &S {
        &self.spec
    }

    /// Its lease.
    pub fn lease(&self) -> &Lease {
        &self.lease
    }

    /// Where it stands: `status.json`, or what the other files say where that is damaged.
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
