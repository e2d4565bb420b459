//! Leases: which process may write into a folder.

mod holder;
mod lock;
mod state;

pub(crate) use holder::Holder;
pub use holder::Watch;
pub(super) use state::create_state;

use crate::files::{read_bytes, rename, retry_while_in_use, sync, sync_folder};
use crate::{Error, Result, host};
use holder::{HOLDER, is_recent, read_holder, to_json};
use lock::{Refused, is_locked, lock, lock_path};
use state::State;
use std::fs::{self, File, OpenOptions};
use std::io::{self, ErrorKind, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::thread::JoinHandle;
use std::time::Duration;

/// The file for a worker's messages while it works on a run.
pub(super) const LOG: &str = "worker.log";
/// The folder of [`Lease::spare`].
const SPARE: &str = "spare";
/// The number of heartbeats per lease duration.
const BEATS: u32 = 6;

/// The right to write into a folder: that of a run, or that of a comparison's plan.
///
/// Such a folder always has one state folder: `free-0003` while no process holds it, `lease-0004` while a process
/// does. To take the lease, a process renames the state folder. If two processes try, one of them wins, on every file
/// system and across hosts. The number grows with every change.
///
/// - **On one host** the kernel's lock decides. The holder keeps a lock on a file in the state folder (on Windows
///   next to it). The system releases the lock when the process ends, for whatever reason. Other processes of the host
///   take over the lease at once then, and never before.
/// - **From another host**, whose locks cannot be trusted, a process takes over a lease when the holder's heartbeat
///   has not changed for the lease's duration, measured by the taker's own clock.
///
/// The holder writes files inside the lease's folder and moves them out in one step (`place`). A holder whose lease
/// was taken over, for example after it was frozen for a long time, no longer has that folder. So its writes fail,
/// and it cannot undo its successor's work. On a network file system this requires a lease that is longer than
/// clients cache names; see `default_seconds`.
#[derive(Debug)]
pub struct Lease {
    folder: PathBuf,
    generation: u32,
    /// Held for as long as the lease; `None` if the file system has no locks.
    _lock: Option<File>,
    lost: Arc<AtomicBool>,
    heartbeat: Option<(Sender<()>, JoinHandle<()>)>,
}

/// The result of an attempt to take a folder.
#[derive(Debug)]
pub enum Claim {
    /// This process holds the folder. The second value says how the previous lease ended.
    Held(Lease, PreviousLease),
    /// Another process holds the folder; `None` if that process is unknown.
    Busy(Option<Holder>),
}

/// Whether a file must survive a power cut.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Durable {
    Yes,
    /// The content must survive, but not yet the name: another file of the folder follows, which makes the name
    /// durable too.
    Content,
    /// The file can be derived from others, or is only a hint.
    No,
}

/// The end of the previous lease.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PreviousLease {
    /// The holder gave it back, or there was no holder.
    GivenBack,
    /// The holder died, or its heartbeat stopped.
    Died,
}

/// Returns the default for the seconds without a heartbeat after which a lease in the folder is taken over.
///
/// A client of a network file system caches names for a while: at most 60 seconds, unless it is mounted otherwise
/// (`acdirmax` of NFS). A frozen holder that continues could still write by a cached name that is no longer its own,
/// for as long as that after its last lookup. It looks the name up with every heartbeat, six times per lease. After
/// two minutes no cached name is left.
pub(super) fn default_seconds(folder: &Path) -> u64 {
    if crate::network::is_remembered(folder) { 120 } else { 60 }
}

/// Returns the current holder of a folder, as far as this process can know. Changes nothing in the folder.
pub(super) fn holder(folder: &Path, silence: Duration) -> Result<Option<Holder>> {
    let Some(state) = State::of(folder)?.filter(|state| state.held) else { return Ok(None) };
    let path = state.path(folder);
    let Some(holder) = read_holder(&path, state.generation)? else { return Ok(None) };
    let alive = match holder.identity == host::identity() {
        true => match is_locked(&path, state.generation) {
            Some(locked) => locked,
            None => is_recent(&path.join(HOLDER), silence),
        },
        false => is_recent(&path.join(HOLDER), silence),
    };
    Ok(alive.then_some(holder))
}

impl Lease {
    /// Takes a folder, unless another process holds it. `watch` stores the states of other hosts' leases between
    /// attempts. `silence` is how long a lease may be without a heartbeat.
    ///
    /// # Errors
    ///
    /// Returns an error if the folder cannot be read or written.
    pub fn claim(folder: &Path, watch: &mut Watch, silence: Duration) -> Result<Claim> {
        let state = match State::of(folder)? {
            Some(state) => state,
            None => State::restored(folder)?,
        };
        let path = state.path(folder);
        if state.held && !Self::is_abandoned(&path, state.generation, watch, silence)? {
            return Ok(Claim::Busy(read_holder(&path, state.generation)?));
        }
        let next = state.next(folder)?;
        let holder = Holder {
            host: host::name(),
            identity: host::identity(),
            process: std::process::id(),
            beat: 0,
        };
        let lock = match lock(&path, next.generation, &to_json(&holder)) {
            Ok(lock) => lock,
            // Another process on this host is about to take it, or has just taken it.
            Err(Refused::Busy) => return Ok(Claim::Busy(None)),
            Err(Refused::Failed(error)) if error.kind() == ErrorKind::NotFound => {
                return Ok(Claim::Busy(None));
            }
            Err(Refused::Failed(error)) => return Err(Error::io("lock a file in", path)(error)),
        };
        let taken = next.path(folder);
        match rename(&path, &taken) {
            Ok(()) => {}
            // Another process was faster. It took this state, or one that was restored next to it.
            Err(error)
                if matches!(
                    error.kind(),
                    ErrorKind::NotFound | ErrorKind::DirectoryNotEmpty | ErrorKind::AlreadyExists
                ) =>
            {
                return Ok(Claim::Busy(None));
            }
            Err(error) => return Err(Error::io("take over", path)(error)),
        }
        if !next.prevails(folder)? {
            remove(&taken).map_err(Error::io("remove", taken))?;
            return Ok(Claim::Busy(None));
        }
        let mut lease = Self {
            folder: folder.to_path_buf(),
            generation: next.generation,
            _lock: lock,
            lost: Arc::default(),
            heartbeat: None,
        };
        lease.clear_scratch()?;
        let file = taken.join(HOLDER);
        fs::write(&file, to_json(&holder)).map_err(Error::io("write", file))?;
        lease.start_heartbeat(holder, silence)?;
        let before = if state.held { PreviousLease::Died } else { PreviousLease::GivenBack };
        Ok(Claim::Held(lease, before))
    }

    /// Returns whether the holder of a lease is gone.
    fn is_abandoned(
        path: &Path,
        generation: u32,
        watch: &mut Watch,
        silence: Duration,
    ) -> Result<bool> {
        let content = read_bytes(&path.join(HOLDER))?.unwrap_or_default();
        let holder = read_holder(path, generation)?;
        if holder.is_some_and(|holder| holder.identity == host::identity())
            && let Some(locked) = is_locked(path, generation)
        {
            return Ok(!locked);
        }
        Ok(watch.unchanged_for(path, content) >= silence)
    }

    /// Returns the path of a temporary file in the lease's folder, to be moved to its target in one step.
    pub(super) fn scratch(&self, name: &str) -> PathBuf {
        self.path().join(name)
    }

    /// Returns the path of a folder in the lease's folder that is kept for writing the next checkpoint in it. It goes
    /// with the lease.
    pub(super) fn spare(&self) -> PathBuf {
        self.scratch(SPARE)
    }

    /// Writes `target` in one step: writes `scratch` in the lease's folder, then moves it.
    ///
    /// # Errors
    ///
    /// Returns an error if the file cannot be written or the lease [is lost](Self::is_lost). An earlier `target` then
    /// still exists.
    pub(crate) fn place(
        &self,
        scratch: &str,
        target: &Path,
        bytes: impl AsRef<[u8]>,
        durable: Durable,
    ) -> Result<()> {
        let scratch = self.scratch(scratch);
        let written = || -> Result<()> {
            let mut file = File::create(&scratch).map_err(Error::io("create", &scratch))?;
            file.write_all(bytes.as_ref()).map_err(Error::io("write", target))?;
            if durable != Durable::No {
                sync(&file, target)?;
            }
            rename(&scratch, target).map_err(Error::io("replace", target))?;
            match (durable, target.parent()) {
                (Durable::Yes, Some(folder)) => sync_folder(folder),
                _ => Ok(()),
            }
        };
        written().inspect_err(|_| {
            let _ = fs::remove_file(&scratch);
        })
    }

    /// Returns the number of this lease, which grows whenever the folder's holder changes.
    pub fn generation(&self) -> u32 {
        self.generation
    }

    /// Returns whether another process has taken the folder.
    pub fn is_lost(&self) -> bool {
        self.lost.load(Ordering::SeqCst) || !self.path().exists()
    }

    /// Returns whether the heartbeat has noticed that the folder was taken. Unlike [`is_lost`](Self::is_lost), it
    /// does not access the disk.
    pub fn is_marked_lost(&self) -> bool {
        self.lost.load(Ordering::SeqCst)
    }

    fn path(&self) -> PathBuf {
        State { generation: self.generation, held: true }.path(&self.folder)
    }

    /// Removes the previous holder's temporary files, except its log.
    fn clear_scratch(&self) -> Result<()> {
        let path = self.path();
        let lock = lock_path(&path, self.generation);
        for entry in retry_while_in_use(|| fs::read_dir(&path)).map_err(Error::io("list", &path))? {
            let entry = entry.map_err(Error::io("list", &path))?;
            let path = entry.path();
            if path == lock || entry.file_name() == LOG {
                continue;
            }
            let removed = match entry.file_type().is_ok_and(|kind| kind.is_dir()) {
                true => fs::remove_dir_all(&path),
                false => fs::remove_file(&path),
            };
            removed.map_err(Error::io("remove", path))?;
        }
        if cfg!(windows) {
            let _ = fs::remove_file(lock_path(&path, self.generation.saturating_sub(1)));
        }
        Ok(())
    }

    fn start_heartbeat(&mut self, holder: Holder, silence: Duration) -> Result<()> {
        let (stop, stopped) = channel::<()>();
        let (file, lost) = (self.path().join(HOLDER), self.lost.clone());
        let beat = move || {
            let mut holder = holder;
            while let Err(RecvTimeoutError::Timeout) = stopped.recv_timeout(silence / BEATS) {
                holder.beat += 1;
                // The file is opened anew, so that a network file system sends it to the server. It is never created,
                // so that nothing is written into a lease that has changed hands. After other errors the next beat
                // tries again.
                let opened = OpenOptions::new().write(true).open(&file);
                match opened.and_then(|mut file| file.write_all(&to_json(&holder))) {
                    Err(error) if error.kind() == ErrorKind::NotFound => {
                        return lost.store(true, Ordering::SeqCst);
                    }
                    _ => {}
                }
            }
        };
        let thread = std::thread::Builder::new().name("heartbeat".to_owned()).spawn(beat);
        let thread = thread.map_err(Error::io("start a thread for", &self.folder))?;
        self.heartbeat = Some((stop, thread));
        Ok(())
    }
}

/// Removes a folder. Another taker that found the folder under its earlier name may be creating its lock there at the
/// same time.
fn remove(folder: &Path) -> io::Result<()> {
    /// Other takers create one file at most.
    const ATTEMPTS: u32 = 1000;
    for _ in 1..ATTEMPTS {
        match fs::remove_dir_all(folder) {
            Err(error) if error.kind() == ErrorKind::DirectoryNotEmpty => {
                std::thread::yield_now();
            }
            // Another process has taken it over.
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(()),
            result => return result,
        }
    }
    fs::remove_dir_all(folder)
}

impl Drop for Lease {
    /// Gives the folder back.
    fn drop(&mut self) {
        if let Some((stop, thread)) = self.heartbeat.take() {
            drop(stop);
            let _ = thread.join();
        }
        let free = State { generation: self.generation, held: false }.path(&self.folder);
        // If this fails, another process has taken the folder, or will once the lock is gone.
        if rename(self.path(), &free).is_ok() {
            let lock = lock_path(&free, self.generation);
            for path in [free.join(HOLDER), lock, free.join(LOG)] {
                let _ = fs::remove_file(path);
            }
            let _ = fs::remove_dir_all(free.join(SPARE));
        }
    }
}

#[cfg(test)]
mod tests;
