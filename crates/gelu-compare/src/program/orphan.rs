//! Programs whose worker was killed go on alone; whoever takes their run ends them first, so that two never
//! write into one folder.

use crate::files::{from_json, read_bytes};
use crate::host;
use crate::{Error, Result};
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};
use std::process::Child;

/// The program of a run, while it runs.
#[derive(Debug, PartialEq, Serialize, Deserialize)]
struct Noted {
    /// Which machine it is on; see [`host::identity`].
    host: String,
    /// Its process, and the group of all that it starts.
    process: u32,
    /// When it began, in the system's ticks: numbers of processes are given again.
    began: u64,
}

fn file(run: &Path) -> PathBuf {
    run.join("process.json")
}

/// Notes the program of a run.
///
/// # Errors
///
/// When the file cannot be written.
pub(super) fn note(run: &Path, process: &Child) -> Result<()> {
    let id = process.id();
    // Where nobody can tell when it began, nobody may end it later.
    let Some(began) = began(id) else { return Ok(()) };
    let noted = Noted { host: host::identity(), process: id, began };
    // A power cut ends the program, too, so nothing waits for the disk.
    let (file, text) = (file(run), serde_json::to_vec(&noted).unwrap_or_default());
    std::fs::write(&file, text).map_err(Error::io("write", file))
}

/// Forgets it.
pub(super) fn forget(run: &Path) {
    let _ = std::fs::remove_file(file(run));
}

/// Ends the program that a worker has left which was killed.
///
/// # Errors
///
/// When it cannot be ended.
pub(super) fn end(run: &Path) -> Result<()> {
    let Some(bytes) = read_bytes(&file(run))? else { return Ok(()) };
    let noted: Option<Noted> = from_json(&bytes).ok();
    let goes_on =
        |noted: &Noted| noted.host == host::identity() && began(noted.process) == Some(noted.began);
    if let Some(noted) = noted.filter(goes_on) {
        kill(noted.process).map_err(Error::io("end the program that goes on in", run))?;
        let gone = || began(noted.process) != Some(noted.began);
        for _ in 0..200 {
            if gone() {
                break;
            }
            std::thread::sleep(std::time::Duration::from_millis(10));
        }
    }
    forget(run);
    Ok(())
}

#[cfg(unix)]
fn kill(process: u32) -> std::io::Result<()> {
    use nix::sys::signal::{Signal, killpg};
    let Ok(group) = i32::try_from(process) else { return Ok(()) };
    match killpg(nix::unistd::Pid::from_raw(group), Signal::SIGKILL) {
        Ok(()) | Err(nix::Error::ESRCH) => Ok(()),
        Err(errno) => Err(errno.into()),
    }
}

#[cfg(not(unix))]
fn kill(_process: u32) -> std::io::Result<()> {
    Ok(())
}

/// When a process began, where the system says so and it has not ended.
fn began(process: u32) -> Option<u64> {
    let text = std::fs::read_to_string(format!("/proc/{process}/stat")).ok()?;
    // The name may be anything, and stands in parentheses before all else.
    let fields: Vec<&str> = text[text.rfind(')')? + 1..].split_whitespace().collect();
    if fields.first() == Some(&"Z") {
        return None;
    }
    fields.get(19)?.parse().ok()
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;
    use std::os::unix::process::CommandExt;
    use std::process::Command;

    #[test]
    fn what_a_killed_worker_left_is_ended_and_nothing_else() {
        let run = tempfile::tempdir().unwrap();
        let mut program = Command::new("sleep").arg("60").process_group(0).spawn().unwrap();
        end(run.path()).unwrap();
        note(run.path(), &program).unwrap();
        let text = std::fs::read_to_string(file(run.path())).unwrap();
        // Another process that has been given its number since, and one of another machine.
        for (from, to) in [("\"began\":", "\"began\":9"), ("\"host\":\"", "\"host\":\"x")] {
            std::fs::write(file(run.path()), text.replace(from, to)).unwrap();
            end(run.path()).unwrap();
            assert!(program.try_wait().unwrap().is_none());
        }
        std::fs::write(file(run.path()), &text).unwrap();
        end(run.path()).unwrap();
        assert!(!program.wait().unwrap().success());
        assert!(!file(run.path()).exists());
    }
}
