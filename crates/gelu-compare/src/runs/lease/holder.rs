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

/// The file in a lease's folder that names the holder.
pub(super) const HOLDER: &str = "holder.json";

/// The holder of a lease.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Holder {
    /// The host's name.
    pub host: String,
    /// The host's identity with regard to locks; see [`crate::host::identity`].
    pub identity: String,
    /// The process ID on that host.
    pub process: u32,
    /// The heartbeat's counter.
    pub beat: u64,
}

impl fmt::Display for Holder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "process {} on {}", self.process, printable(&self.host))
    }
}

/// The last known states of other hosts' leases, with the time since when each has been unchanged.
#[derive(Debug, Default)]
pub struct Watch {
    seen: HashMap<PathBuf, (Vec<u8>, Instant)>,
}

impl Watch {
    /// Returns how long `state` has been the unchanged state of `lease`.
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
    // The text has the same length for all beats, so that a new one completely overwrites the old one.
    let text = serde_json::to_string(holder).expect("a holder is plain data");
    format!("{text:<400}\n").into_bytes()
}

/// Returns the holder of a lease. Before the holder has written its file, this is the process that has made the lock
/// in order to take the lease.
pub(super) fn read_holder(lease: &Path, generation: u32) -> Result<Option<Holder>> {
    for file in [lease.join(HOLDER), lock_path(lease, generation)] {
        let content = match read_bytes(&file) {
            // On Windows a file that another process has locked cannot be read.
            Err(_) if cfg!(windows) => None,
            content => content?,
        };
        if let Some(holder) = content.and_then(|content| from_json(&content).ok()) {
            return Ok(Some(holder));
        }
    }
    Ok(None)
}

/// Returns whether a file was written less than `silence` ago.
pub(super) fn is_recent(file: &Path, silence: Duration) -> bool {
    is_recent_at(file, silence, SystemTime::now())
}

/// Returns whether a file was written less than `silence` before `now`. If not, uses the clock of the file's disk
/// instead of `now`, because the two clocks may differ by minutes.
fn is_recent_at(file: &Path, silence: Duration, now: SystemTime) -> bool {
    let Ok(modified) = fs::metadata(file).and_then(|metadata| metadata.modified()) else {
        return false;
    };
    let is_recent = |now: SystemTime| now.duration_since(modified).unwrap_or_default() < silence;
    is_recent(now) || clock_beside(file).is_some_and(is_recent)
}

/// Returns the time by the clock of the disk that holds a lease, or `None` if nothing can be written there.
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
