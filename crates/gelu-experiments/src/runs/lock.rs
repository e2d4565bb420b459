use crate::{Error, Result};
use std::fs::{File, TryLockError};
use std::path::Path;
use std::time::{Duration, Instant};

/// How long to wait for a lock: long enough for a process that is just dying, or for somebody
/// who only looks whether the run is alive.
const PATIENCE: Duration = Duration::from_secs(3);

/// The right to work on a run. The operating system takes it back when the process ends, however
/// it ends, so a dead process keeps nothing.
#[derive(Debug)]
pub struct RunLock {
    _file: File,
}

impl RunLock {
    /// Takes the lock of a run's folder.
    ///
    /// # Errors
    ///
    /// When another living process holds it, or the file system has no locks.
    pub fn acquire(folder: &Path) -> Result<Self> {
        let path = folder.join("lock");
        let file = open(&path)?;
        let deadline = Instant::now() + PATIENCE;
        loop {
            match file.try_lock() {
                Ok(()) => return Ok(Self { _file: file }),
                Err(TryLockError::WouldBlock) if Instant::now() < deadline => {
                    std::thread::sleep(Duration::from_millis(25));
                }
                Err(TryLockError::WouldBlock) => {
                    return Err(Error::Run {
                        run: folder.to_path_buf(),
                        problem: "another process is working on it; wait for it or stop it"
                            .to_owned(),
                    });
                }
                Err(TryLockError::Error(error)) => return Err(Error::io("lock", &path)(error)),
            }
        }
    }

    /// Whether a living process holds the lock of this folder.
    pub fn is_held(folder: &Path) -> bool {
        let path = folder.join("lock");
        match File::open(&path) {
            Ok(file) => matches!(file.try_lock_shared(), Err(TryLockError::WouldBlock)),
            Err(_) => false,
        }
    }
}

fn open(path: &Path) -> Result<File> {
    File::options()
        .create(true)
        .truncate(false)
        .write(true)
        .open(path)
        .map_err(Error::io("open", path))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lock_is_held_until_dropped_and_refused_meanwhile() {
        let folder = tempfile::tempdir().unwrap();
        assert!(!RunLock::is_held(folder.path()));
        let lock = RunLock::acquire(folder.path()).unwrap();
        assert!(RunLock::is_held(folder.path()));
        let error = RunLock::acquire(folder.path()).unwrap_err().to_string();
        assert!(error.contains("another process"), "{error}");
        drop(lock);
        assert!(!RunLock::is_held(folder.path()));
        RunLock::acquire(folder.path()).unwrap();
    }
}
