//! Information about processes on Linux.

use crate::{Error, Result};
use std::ffi::OsStr;
use std::io::{self, ErrorKind};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::time::{Duration, Instant};

/// The time limit for killed processes to disappear.
const GRACE: Duration = Duration::from_secs(10);

/// Ends the remaining processes of a program on this machine. Returns whether certainly none is left. The first
/// process has usually ended with its worker, but its children continue.
pub(super) fn end_here(process: u32, began: Option<u64>, run: &Path) -> Result<bool> {
    use nix::sys::signal::{Signal, killpg};
    let members = || members(process);
    let is_of_run = |member: &u32| {
        (*member == process && began.is_some() && self::began(process) == began)
            || is_started_for(*member, run)
    };
    if !members().iter().any(is_of_run) {
        return Ok(true);
    }
    let failed = |source| Error::io("end the program that goes on in", run)(source);
    let group = i32::try_from(process).map(nix::unistd::Pid::from_raw);
    match group.map(|group| killpg(group, Signal::SIGKILL)) {
        Ok(Err(errno)) if errno != nix::Error::ESRCH => return Err(failed(errno.into())),
        _ => {}
    }
    let until = Instant::now() + GRACE;
    while members().iter().any(is_of_run) {
        if Instant::now() > until {
            let problem = format!("process {process} was killed and has not ended");
            return Err(failed(io::Error::new(ErrorKind::TimedOut, problem)));
        }
        std::thread::sleep(Duration::from_millis(10));
    }
    Ok(true)
}

/// Returns the living processes of a group.
fn members(group: u32) -> Vec<u32> {
    let all = std::fs::read_dir("/proc").into_iter().flatten().flatten();
    let ids = all.filter_map(|entry| entry.file_name().to_str()?.parse().ok());
    let is_member = |id: &u32| Stat::of(*id).is_some_and(|stat| stat.group == group);
    ids.filter(is_member).collect()
}

/// Returns whether a process was started for the run, by the folder in its environment. Only the run's name counts,
/// because the path to it may differ between workers.
fn is_started_for(process: u32, run: &Path) -> bool {
    let environment = std::fs::read(format!("/proc/{process}/environ")).unwrap_or_default();
    let mut kept = environment.split(|byte| *byte == 0).filter_map(|variable| {
        Some(Path::new(OsStr::from_bytes(variable.strip_prefix(b"GELU_RUN=")?)))
    });
    kept.any(|kept| kept.parent().and_then(Path::file_name) == run.file_name())
}

/// The system's information about a process that has not ended.
struct Stat {
    group: u32,
    began: u64,
}

impl Stat {
    fn of(process: u32) -> Option<Self> {
        let text = std::fs::read_to_string(format!("/proc/{process}/stat")).ok()?;
        // The name, in parentheses before the other fields, may contain any characters.
        let fields: Vec<&str> = text[text.rfind(')')? + 1..].split_whitespace().collect();
        if fields.first() == Some(&"Z") {
            return None;
        }
        Some(Self { group: fields.get(2)?.parse().ok()?, began: fields.get(19)?.parse().ok()? })
    }
}

/// Returns the start time of a living process, if the system reports it.
pub(super) fn began(process: u32) -> Option<u64> {
    Stat::of(process).map(|stat| stat.began)
}
