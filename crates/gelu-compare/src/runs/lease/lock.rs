use std::fs::{File, OpenOptions, TryLockError};
use std::io::Write;
use std::path::{Path, PathBuf};

/// Returns the path of the lock file of a generation. It is in the state folder; on Windows it is next to it, because
/// Windows cannot rename a folder with an open file.
pub(super) fn lock_path(state: &Path, generation: u32) -> PathBuf {
    let folder = state.parent().filter(|_| cfg!(windows)).unwrap_or(state);
    folder.join(format!("lock-{generation:04}"))
}

pub(super) enum Refused {
    Busy,
    Failed(std::io::Error),
}

/// Locks the lock file of a generation, and writes the taker's identity to it. Returns `None` if the file system has
/// no locks.
pub(super) fn lock(
    state: &Path,
    generation: u32,
    taker: &[u8],
) -> std::result::Result<Option<File>, Refused> {
    let path = lock_path(state, generation);
    let options = OpenOptions::new().create(true).truncate(false).write(true).open(path);
    let mut file = options.map_err(Refused::Failed)?;
    match file.try_lock() {
        Ok(()) => {
            // Only a hint. Without it, the next taker waits longer if this one dies.
            let _ = file.write_all(taker);
            Ok(Some(file))
        }
        Err(TryLockError::WouldBlock) => Err(Refused::Busy),
        Err(TryLockError::Error(_)) => Ok(None),
    }
}

/// Returns whether a living process of this host holds the lock of a generation, or `None` if the file system has no
/// locks.
pub(super) fn is_locked(state: &Path, generation: u32) -> Option<bool> {
    let Ok(file) = File::open(lock_path(state, generation)) else { return Some(false) };
    match file.try_lock_shared() {
        Ok(()) => Some(false),
        Err(TryLockError::WouldBlock) => Some(true),
        Err(TryLockError::Error(_)) => None,
    }
}
