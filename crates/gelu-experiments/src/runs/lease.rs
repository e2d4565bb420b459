use crate::files::{from_json, read_bytes};
use crate::host;
use crate::{Error, Result};
use serde::{Deserialize, Serialize};
use std::collections::HashMap;
use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{ErrorKind, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::thread::JoinHandle;
use std::time::{Duration, Instant, SystemTime};

/// Heartbeats in the time after which silence is taken for death.
const BEATS: u32 = 6;
/// What a folder is called that nobody holds, and one that somebody does.
const FREE: &str = "free-";
const HELD: &str = "lease-";
/// Who holds it.
const HOLDER: &str = "holder.json";

/// The right to write into a run's folder.
///
/// A run's folder always has one state folder: `free-0003` while nobody works on the run,
/// `lease-0004` while somebody does. Taking the run is renaming the one to the other, and of two
/// takers one wins, on every file system and across hosts. The number grows with every change.
///
/// - **On one host** the kernel's lock decides: the holder keeps a lock on a file in there, which
///   the system takes back when the process ends, however it ends. Only then is a lease of this
///   host taken over, and at once.
/// - **From another host**, whose locks cannot be trusted, a lease is taken over when its holder's
///   heartbeat has not changed for the lease's duration, measured by the taker's own clock.
///
/// Whatever the holder writes is made inside the lease's folder and moved out of it in one step
/// (`scratch`). A holder that was taken over, say after it had been frozen for
/// long, has no such folder any more, so its writes fail: it cannot undo what its successor did.
#[derive(Debug)]
pub struct Lease {
    run: PathBuf,
    generation: u32,
    /// Kept for as long as the lease is; `None` where the file system has no locks.
    _lock: Option<File>,
    lost: Arc<AtomicBool>,
    heartbeat: Option<(Sender<()>, JoinHandle<()>)>,
}

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

/// What became of an attempt to take a run.
#[derive(Debug)]
pub enum Claim {
    /// It is ours; whether whoever held it before died without giving it back.
    Held(Lease, Before),
    /// Somebody works on it; `None` where that cannot be read.
    Busy(Option<Holder>),
}

/// How the lease before this one ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Before {
    /// Given back, or there was none.
    GivenBack,
    /// Its holder died or fell silent.
    Died,
}

/// What has been seen of the leases of other hosts, and since when.
#[derive(Debug, Default)]
pub struct Watch {
    seen: HashMap<PathBuf, (Vec<u8>, Instant)>,
}

impl Watch {
    /// How long this state of a lease has been seen without a change.
    fn unchanged_for(&mut self, lease: &Path, state: Vec<u8>) -> Duration {
        let (known, since) =
            self.seen.entry(lease.to_path_buf()).or_insert_with(|| (state.clone(), Instant::now()));
        if *known != state {
            (*known, *since) = (state, Instant::now());
        }
        since.elapsed()
    }
}

/// The state folder of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct State {
    generation: u32,
    held: bool,
}

impl State {
    fn of(run: &Path) -> Result<Self> {
        let mut newest = None;
        for entry in fs::read_dir(run).map_err(Error::io("list", run))? {
            let name = entry.map_err(Error::io("list", run))?.file_name();
            let Some(name) = name.to_str() else { continue };
            let state = [(FREE, false), (HELD, true)].into_iter().find_map(|(prefix, held)| {
                let generation = name.strip_prefix(prefix)?.parse().ok()?;
                // No run changes hands so often; the next number has to be one, too.
                (generation < u32::MAX).then_some(Self { generation, held })
            });
            newest = newest.max(state);
        }
        match newest {
            Some(state) => Ok(state),
            // Somebody has removed it; a folder can only be made once.
            None => {
                let state = Self { generation: 0, held: false };
                let path = state.path(run);
                match fs::create_dir(&path) {
                    Err(error) if error.kind() != ErrorKind::AlreadyExists => {
                        Err(Error::io("create the folder", path)(error))
                    }
                    _ => Ok(state),
                }
            }
        }
    }

    fn path(self, run: &Path) -> PathBuf {
        run.join(format!("{}{:04}", if self.held { HELD } else { FREE }, self.generation))
    }
}

/// The state folder that a new run's folder begins with.
pub(super) fn create_state(run: &Path) -> Result<()> {
    let path = State { generation: 0, held: false }.path(run);
    fs::create_dir(&path).map_err(Error::io("create the folder", path))
}

/// Who works on a run at this moment, as far as can be seen from here.
pub(super) fn holder(run: &Path, silence: Duration) -> Result<Option<Holder>> {
    let state = State::of(run)?;
    if !state.held {
        return Ok(None);
    }
    let path = state.path(run);
    let Some(holder) = read_holder(&path)? else { return Ok(None) };
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
    /// Takes a run, if nobody holds it. `watch` remembers what was seen of other hosts' leases
    /// from one attempt to the next; `silence` is how long one may be without a heartbeat.
    ///
    /// # Errors
    ///
    /// When the run's folder cannot be read or written.
    pub fn claim(run: &Path, watch: &mut Watch, silence: Duration) -> Result<Claim> {
        let state = State::of(run)?;
        let path = state.path(run);
        if state.held && !Self::is_abandoned(&path, state.generation, watch, silence)? {
            return Ok(Claim::Busy(read_holder(&path)?));
        }
        let next = State { generation: state.generation + 1, held: true };
        let lock = match lock(&path, next.generation) {
            Ok(lock) => lock,
            // Somebody on this host is about to take it, or has just done so.
            Err(Refused::Busy) => return Ok(Claim::Busy(None)),
            Err(Refused::Failed(error)) if error.kind() == ErrorKind::NotFound => {
                return Ok(Claim::Busy(None));
            }
            Err(Refused::Failed(error)) => return Err(Error::io("lock a file in", path)(error)),
        };
        let taken = next.path(run);
        match fs::rename(&path, &taken) {
            Ok(()) => {}
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Claim::Busy(None)),
            Err(error) => return Err(Error::io("take over", path)(error)),
        }
        let mut lease = Self {
            run: run.to_path_buf(),
            generation: next.generation,
            _lock: lock,
            lost: Arc::default(),
            heartbeat: None,
        };
        let holder = Holder {
            host: host::name(),
            identity: host::identity(),
            process: std::process::id(),
            beat: 0,
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
        let holder: Option<Holder> = from_json(&content).ok();
        if holder.is_some_and(|holder| holder.identity == host::identity())
            && let Some(locked) = is_locked(path, generation)
        {
            return Ok(!locked);
        }
        Ok(watch.unchanged_for(path, content) >= silence)
    }

    /// A place for something that is to be moved into the run's folder in one step.
    pub(super) fn scratch(&self, name: &str) -> PathBuf {
        self.path().join(name)
    }

    /// The number of this lease: grows whenever the run changes hands.
    pub fn generation(&self) -> u32 {
        self.generation
    }

    /// Whether somebody else has taken the run.
    pub fn is_lost(&self) -> bool {
        self.lost.load(Ordering::SeqCst) || !self.path().exists()
    }

    /// Whether the heartbeat has found the run taken: [`is_lost`](Self::is_lost) without asking the
    /// disk.
    pub fn is_marked_lost(&self) -> bool {
        self.lost.load(Ordering::SeqCst)
    }

    fn path(&self) -> PathBuf {
        State { generation: self.generation, held: true }.path(&self.run)
    }

    /// Removes what the holder before has left half done, but not its log.
    fn clear_scratch(&self) -> Result<()> {
        let (path, lock) = (self.path(), lock_name(self.generation));
        for entry in fs::read_dir(&path).map_err(Error::io("list", &path))? {
            let entry = entry.map_err(Error::io("list", &path))?;
            if entry.file_name() == lock.as_str() || entry.file_name() == super::LOG {
                continue;
            }
            let path = entry.path();
            let removed = match entry.file_type().is_ok_and(|kind| kind.is_dir()) {
                true => fs::remove_dir_all(&path),
                false => fs::remove_file(&path),
            };
            removed.map_err(Error::io("remove", path))?;
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
        let thread = thread.map_err(Error::io("start a thread for", &self.run))?;
        self.heartbeat = Some((stop, thread));
        Ok(())
    }
}

impl Drop for Lease {
    /// Gives the run back.
    fn drop(&mut self) {
        if let Some((stop, thread)) = self.heartbeat.take() {
            drop(stop);
            let _ = thread.join();
        }
        let free = State { generation: self.generation, held: false }.path(&self.run);
        // Where this fails, somebody else has taken the run, or will once the lock is gone.
        if fs::rename(self.path(), &free).is_ok() {
            for name in [HOLDER, &lock_name(self.generation), super::LOG] {
                let _ = fs::remove_file(free.join(name));
            }
        }
    }
}

fn to_json(holder: &Holder) -> Vec<u8> {
    // Of one length for all beats, so that a new one covers the old one whole.
    let text = serde_json::to_string(holder).expect("a holder is plain data");
    format!("{text:<400}\n").into_bytes()
}

fn read_holder(lease: &Path) -> Result<Option<Holder>> {
    let content = read_bytes(&lease.join(HOLDER))?;
    Ok(content.and_then(|content| from_json(&content).ok()))
}

fn lock_name(generation: u32) -> String {
    format!("lock-{generation:04}")
}

enum Refused {
    Busy,
    Failed(std::io::Error),
}

/// Locks the file that stands for a generation; `None` where the file system has no locks.
fn lock(state: &Path, generation: u32) -> std::result::Result<Option<File>, Refused> {
    let path = state.join(lock_name(generation));
    let options = OpenOptions::new().create(true).truncate(false).write(true).open(path);
    let file = options.map_err(Refused::Failed)?;
    match file.try_lock() {
        Ok(()) => Ok(Some(file)),
        Err(TryLockError::WouldBlock) => Err(Refused::Busy),
        Err(TryLockError::Error(_)) => Ok(None),
    }
}

/// Whether a living process of this host holds a generation's lock; `None` where the file system
/// has no locks.
fn is_locked(state: &Path, generation: u32) -> Option<bool> {
    let Ok(file) = File::open(state.join(lock_name(generation))) else { return Some(false) };
    match file.try_lock_shared() {
        Ok(()) => Some(false),
        Err(TryLockError::WouldBlock) => Some(true),
        Err(TryLockError::Error(_)) => None,
    }
}

fn is_recent(file: &Path, silence: Duration) -> bool {
    let modified = fs::metadata(file).and_then(|metadata| metadata.modified());
    let age = modified.map(|time| SystemTime::now().duration_since(time).unwrap_or_default());
    age.is_ok_and(|age| age < silence)
}
