//! Who may write into a folder.

mod holder;
mod lock;
mod state;

pub use holder::{Holder, Watch};
pub(super) use state::create_state;

use crate::files::{once_free, read_bytes, rename, sync, sync_folder};
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

/// What a worker says while it works on a run.
pub(super) const LOG: &str = "worker.log";
/// Heartbeats in the time after which silence is taken for death.
const BEATS: u32 = 6;

/// The right to write into a folder: that of a run, or that of a comparison's plan.
///
/// Such a folder always has one state folder: `free-0003` while nobody works on it, `lease-0004`
/// while somebody does. Taking it is renaming the one to the other, and of two takers one wins, on
/// every file system and across hosts. The number grows with every change.
///
/// - **On one host** the kernel's lock decides: the holder keeps a lock on a file in there (on Windows beside it), which
///   the system takes back when the process ends, however it ends. Only then is a lease of this
///   host taken over, and at once.
/// - **From another host**, whose locks cannot be trusted, a lease is taken over when its holder's
///   heartbeat has not changed for the lease's duration, measured by the taker's own clock.
///
/// Whatever the holder writes is made inside the lease's folder and moved out of it in one step
/// (`place`). A holder that was taken over, say after it had been frozen for long, has no such folder
/// any more, so its writes fail: it cannot undo what its successor did. On a network file system that
/// takes a lease longer than names are remembered there; see `default_seconds`.
#[derive(Debug)]
pub struct Lease {
    folder: PathBuf,
    generation: u32,
    /// Kept for as long as the lease is; `None` where the file system has no locks.
    _lock: Option<File>,
    lost: Arc<AtomicBool>,
    heartbeat: Option<(Sender<()>, JoinHandle<()>)>,
}

/// What became of an attempt to take a folder.
#[derive(Debug)]
pub enum Claim {
    /// It is ours; whether whoever held it before died without giving it back.
    Held(Lease, Before),
    /// Somebody holds it; `None` where who does cannot be read.
    Busy(Option<Holder>),
}

/// Whether a file has to survive a power cut.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Durable {
    Yes,
    /// What is in it, but not yet its name: another file of the folder follows, and takes the name with it.
    Content,
    /// It can be derived from others, or is a hint.
    No,
}

/// How the lease before this one ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Before {
    /// Given back, or there was none.
    GivenBack,
    /// Its holder died or fell silent.
    Died,
}

/// Seconds without a heartbeat after which a lease in that folder is taken over, if nobody says.
///
/// A client of a network file system remembers names for a while, 60 seconds at most unless it is
/// mounted otherwise (`acdirmax` of NFS). A holder that wakes up could write by a name that is no longer
/// its own for so long after it last asked for it, which it does whenever it shows a sign of life: six
/// times in a lease. After two minutes nothing is remembered.
pub(super) fn default_seconds(folder: &Path) -> u64 {
    if crate::network::is_remembered(folder) { 120 } else { 60 }
}

/// Who holds a folder at this moment, as far as can be seen from here. Changes nothing in it.
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
    /// Takes a folder, if nobody holds it. `watch` remembers what was seen of other hosts' leases
    /// from one attempt to the next; `silence` is how long one may be without a heartbeat.
    ///
    /// # Errors
    ///
    /// When the folder cannot be read or written.
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
        let lock = match lock(&path, next.generation, &holder) {
            Ok(lock) => lock,
            // Somebody on this host is about to take it, or has just done so.
            Err(Refused::Busy) => return Ok(Claim::Busy(None)),
            Err(Refused::Failed(error)) if error.kind() == ErrorKind::NotFound => {
                return Ok(Claim::Busy(None));
            }
            Err(Refused::Failed(error)) => return Err(Error::io("lock a file in", path)(error)),
        };
        let taken = next.path(folder);
        match rename(&path, &taken) {
            Ok(()) => {}
            // Another taker was faster: of this state, or of one that was restored beside it.
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
        let before = if state.held { Before::Died } else { Before::GivenBack };
        Ok(Claim::Held(lease, before))
    }

    /// Whether nobody stands behind a lease any more.
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

    /// A place for something that is to be moved to where it belongs in one step.
    pub(super) fn scratch(&self, name: &str) -> PathBuf {
        self.path().join(name)
    }

    /// Writes `target` in one step: as `scratch` in the lease's folder, then moved.
    ///
    /// # Errors
    ///
    /// When it cannot be written, or [is lost](Self::is_lost); what stood there before still stands.
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

    /// The number of this lease: grows whenever the folder changes hands.
    pub fn generation(&self) -> u32 {
        self.generation
    }

    /// Whether somebody else has taken the folder.
    pub fn is_lost(&self) -> bool {
        self.lost.load(Ordering::SeqCst) || !self.path().exists()
    }

    /// Whether the heartbeat has found the folder taken: [`is_lost`](Self::is_lost) without asking the
    /// disk.
    pub fn is_marked_lost(&self) -> bool {
        self.lost.load(Ordering::SeqCst)
    }

    fn path(&self) -> PathBuf {
        State { generation: self.generation, held: true }.path(&self.folder)
    }

    /// Removes what the holder before has left half done, but not its log.
    fn clear_scratch(&self) -> Result<()> {
        let path = self.path();
        let lock = lock_path(&path, self.generation);
        for entry in once_free(|| fs::read_dir(&path)).map_err(Error::io("list", &path))? {
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
                // Opened anew, so that a network file system hands it to the server; never
                // created, so that it is not written into a lease that is no longer this one. A
                // disk that hiccups is tried again at the next beat.
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

/// Removes a folder in which another taker, who found it by the name it had before, may be making its lock at this
/// moment.
fn remove(folder: &Path) -> io::Result<()> {
    /// Others are there for one file at most.
    const ATTEMPTS: u32 = 1000;
    for _ in 1..ATTEMPTS {
        match fs::remove_dir_all(folder) {
            Err(error) if error.kind() == ErrorKind::DirectoryNotEmpty => {
                std::thread::yield_now();
            }
            // Somebody has taken it over.
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
        // Where this fails, somebody else has taken the folder, or will once the lock is gone.
        if rename(self.path(), &free).is_ok() {
            let lock = lock_path(&free, self.generation);
            for path in [free.join(HOLDER), lock, free.join(LOG)] {
                let _ = fs::remove_file(path);
            }
        }
    }
}

#[cfg(test)]
mod tests;
