//! What Linux says of processes.

use crate::{Error, Result};
use std::ffi::OsStr;
use std::io::{self, ErrorKind};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::time::{Duration, Instant};

/// How long what was killed may take to be gone.
const GRACE: Duration = Duration::from_secs(10);

/// Ends what is left of a program of this machine; whether it is sure that nothing is. Its first process has ended with
/// its worker, as a rule, and what that started goes on.
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

/// The living processes of a group.
fn members(group: u32) -> Vec<u32> {
    let all = std::fs::read_dir("/proc").into_iter().flatten().flatten();
    let ids = all.filter_map(|entry| entry.file_name().to_str()?.parse().ok());
    let is_member = |id: &u32| Stat::of(*id).is_some_and(|stat| stat.group == group);
    ids.filter(is_member).collect()
}

/// Whether a process was started for that run, by the folder that it was told to keep its files in: its path may be
/// another for every worker, and the run's own name is of no other.
fn is_started_for(process: u32, run: &Path) -> bool {
    let environment = std::fs::read(format!("/proc/{process}/environ")).unwrap_or_default();
    let mut kept = environment.split(|byte| *byte == 0).filter_map(|variable| {
        Some(Path::new(OsStr::from_bytes(variable.strip_prefix(b"GELU_RUN=")?)))
    });
    kept.any(|kept| kept.parent().and_then(Path::file_name) == run.file_name())
}

/// What the system says of a process that has not ended.
struct Stat {
    group: u32,
    began: u64,
}

impl Stat {
    fn of(process: u32) -> Option<Self> {
        let text = std::fs::read_to_string(format!("/proc/{process}/stat")).ok()?;
        // The name may be anything, and stands in parentheses before all else.
        let fields: Vec<&str> = text[text.rfind(')')? + 1..].split_whitespace().collect();
        if fields.first() == Some(&"Z") {
            return None;
        }
        Some(Self { group: fields.get(2)?.parse().ok()?, began: fields.get(19)?.parse().ok()? })
    }
}

/// When a process began, where the system says so and it has not ended.
pub(super) fn began(process: u32) -> Option<u64> {
    Stat::of(process).map(|stat| stat.began)
}
