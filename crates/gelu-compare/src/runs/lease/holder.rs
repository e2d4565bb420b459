use super::lock::lock_path;
use crate::Result;
use crate::files::{from_json, read_bytes};
use crate::names::printable;
use serde::{Deserialize, Serialize};
use std::collections::HashMap;
use std::fmt;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant, SystemTime};

/// The file in a lease's folder that says who holds it.
pub(super) const HOLDER: &str = "holder.json";

/// Who holds a lease.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Holder {
    /// The host's name.
    pub host: String,
    /// What tells it from others as far as locks are concerned.
    pub identity: String,
    /// Process on that host.
    pub process: u32,
    /// Counted up while the holder lives.
    pub beat: u64,
}

impl fmt::Display for Holder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "process {} on {}", self.process, printable(&self.host))
    }
}

/// What has been seen of the leases of other hosts, and since when.
#[derive(Debug, Default)]
pub struct Watch {
    seen: HashMap<PathBuf, (Vec<u8>, Instant)>,
}

impl Watch {
    /// How long this state of a lease has been seen without a change.
    pub(super) fn unchanged_for(&mut self, lease: &Path, state: Vec<u8>) -> Duration {
        let (known, since) =
            self.seen.entry(lease.to_path_buf()).or_insert_with(|| (state.clone(), Instant::now()));
        if *known != state {
            (*known, *since) = (state, Instant::now());
        }
        since.elapsed()
    }
}

pub(super) fn to_json(holder: &Holder) -> Vec<u8> {
    // Of one length for all beats, so that a new one covers the old one whole.
    let text = serde_json::to_string(holder).expect("a holder is plain data");
    format!("{text:<400}\n").into_bytes()
}

/// Who holds a lease: who says so in it, or while nobody does, who was about to take it when its lock was made.
pub(super) fn read_holder(lease: &Path, generation: u32) -> Result<Option<Holder>> {
    for file in [lease.join(HOLDER), lock_path(lease, generation)] {
        let content = match read_bytes(&file) {
            // Nobody reads there what another has locked.
            Err(_) if cfg!(windows) => None,
            content => content?,
        };
        if let Some(holder) = content.and_then(|content| from_json(&content).ok()) {
            return Ok(Some(holder));
        }
    }
    Ok(None)
}

/// Whether a file was written less than `silence` ago.
pub(super) fn is_recent(file: &Path, silence: Duration) -> bool {
    is_recent_at(file, silence, SystemTime::now())
}

/// The same by a clock that says `now`. Where that makes it old, the clock of the disk decides, by which the file has
/// its time: the two may be minutes apart.
fn is_recent_at(file: &Path, silence: Duration, now: SystemTime) -> bool {
    let Ok(modified) = fs::metadata(file).and_then(|metadata| metadata.modified()) else {
        return false;
    };
    let is_recent = |now: SystemTime| now.duration_since(modified).unwrap_or_default() < silence;
    is_recent(now) || clock_beside(file).is_some_and(is_recent)
}

/// The time by the clock of the disk that a lease is on; `None` where nothing may be written there.
fn clock_beside(holder: &Path) -> Option<SystemTime> {
    let folder = holder.parent()?.parent()?;
    let file = tempfile::Builder::new().prefix(".clock-").tempfile_in(folder).ok()?;
    file.as_file().metadata().and_then(|metadata| metadata.modified()).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_clock_that_is_ahead_makes_no_living_worker_silent() {
        let run = tempfile::tempdir().unwrap();
        let lease = run.path().join("lease-0001");
        fs::create_dir(&lease).unwrap();
        let file = lease.join(HOLDER);
        fs::write(&file, "{}").unwrap();
        let (silence, later) = (Duration::from_secs(60), Duration::from_secs(300));
        let ahead = SystemTime::now() + later;
        assert!(is_recent_at(&file, silence, ahead));
        let written = fs::File::options().write(true).open(&file).unwrap();
        written.set_modified(SystemTime::now() - later).unwrap();
        assert!(!is_recent_at(&file, silence, ahead));
        assert!(!is_recent(&file, silence));
        assert_eq!(fs::read_dir(run.path()).unwrap().count(), 1, "it leaves nothing");
    }
}
