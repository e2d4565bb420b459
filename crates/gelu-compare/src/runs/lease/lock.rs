use super::holder::{Holder, to_json};
use std::fs::{File, OpenOptions, TryLockError};
use std::io::Write;
use std::path::{Path, PathBuf};

/// The file that stands for a generation: in its state folder, or beside it on Windows, which renames no folder in
/// which a file is open.
pub(super) fn lock_path(state: &Path, generation: u32) -> PathBuf {
    let folder = state.parent().filter(|_| cfg!(windows)).unwrap_or(state);
    folder.join(format!("lock-{generation:04}"))
}

pub(super) enum Refused {
    Busy,
    Failed(std::io::Error),
}

/// Locks the file that stands for a generation, and says in it who is about to take that; `None` where the file system
/// has no locks.
pub(super) fn lock(
    state: &Path,
    generation: u32,
    taker: &Holder,
) -> std::result::Result<Option<File>, Refused> {
    let path = lock_path(state, generation);
    let options = OpenOptions::new().create(true).truncate(false).write(true).open(path);
    let mut file = options.map_err(Refused::Failed)?;
    match file.try_lock() {
        Ok(()) => {
            // A hint: without it, whoever comes after a taker that died waits for longer.
            let _ = file.write_all(&to_json(taker));
            Ok(Some(file))
        }
        Err(TryLockError::WouldBlock) => Err(Refused::Busy),
        Err(TryLockError::Error(_)) => Ok(None),
    }
}

/// Whether a living process of this host holds a generation's lock; `None` where the file system
/// has no locks.
pub(super) fn is_locked(state: &Path, generation: u32) -> Option<bool> {
    let Ok(file) = File::open(lock_path(state, generation)) else { return Some(false) };
    match file.try_lock_shared() {
        Ok(()) => Some(false),
        Err(TryLockError::WouldBlock) => Some(true),
        Err(TryLockError::Error(_)) => None,
    }
}
