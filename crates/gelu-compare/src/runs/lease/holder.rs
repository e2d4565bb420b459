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

pub(super) fn read_holder(lease: &Path) -> Result<Option<Holder>> {
    let content = read_bytes(&lease.join(HOLDER))?;
    Ok(content.and_then(|content| from_json(&content).ok()))
}

pub(super) fn is_recent(file: &Path, silence: Duration) -> bool {
    let modified = fs::metadata(file).and_then(|metadata| metadata.modified());
    let age = modified.map(|time| SystemTime::now().duration_since(time).unwrap_or_default());
    age.is_ok_and(|age| age < silence)
}
