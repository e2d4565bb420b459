//! Programs whose worker was killed: whoever takes their run ends what is left of them first, so that two never write
//! into one folder. What cannot be ended from here, on another host above all, is left a folder of its own.

#[cfg(any(target_os = "linux", target_os = "android"))]
mod processes;

use super::StudyRun;
use crate::files::{from_json, read_bytes};
use crate::host;
use crate::runs::ClaimedRun;
use crate::{Error, Result};
#[cfg(any(target_os = "linux", target_os = "android"))]
use processes::{began, end_here};
use serde::{Deserialize, Serialize};
#[cfg(not(any(target_os = "linux", target_os = "android")))]
use std::path::Path;

/// What the note of a holder's program is called.
const NOTE: &str = "process.json";

/// The program of a run, from before it is started until it has ended.
#[derive(Debug, PartialEq, Serialize, Deserialize)]
struct Noted {
    /// Which machine it is on; see [`host::identity`].
    host: String,
    /// Its process, and the group of all that it starts; none while it is about to be started.
    process: Option<u32>,
    /// When it began, in the system's ticks, where the system says so: numbers of processes are given again.
    began: Option<u64>,
}

/// Notes that a program is about to be started, so that whoever takes the run from here on knows of it.
///
/// # Errors
///
/// When that cannot be written, or the lease is lost: then no program may be started.
pub(super) fn announce(run: &ClaimedRun<StudyRun>) -> Result<()> {
    put(run, None)
}

/// Notes the program that was started.
///
/// # Errors
///
/// As [`announce`]; the program has to be ended then.
pub(super) fn note(run: &ClaimedRun<StudyRun>, process: u32) -> Result<()> {
    put(run, Some(process))
}

fn put(run: &ClaimedRun<StudyRun>, process: Option<u32>) -> Result<()> {
    let noted = Noted { host: host::identity(), process, began: process.and_then(began) };
    // A power cut ends the program, too, so nothing waits for the disk.
    run.place_own(NOTE, serde_json::to_vec(&noted).unwrap_or_default()).map(drop)
}

/// The program of this holder has ended.
pub(super) fn forget(run: &ClaimedRun<StudyRun>) {
    let _ = std::fs::remove_file(run.own_path(NOTE));
}

/// What became of the programs that holders before may have left.
#[derive(Debug)]
pub(super) enum Left {
    /// None goes on.
    Nothing,
    /// One may go on where it cannot be ended from here.
    Program,
}

/// Ends the programs that workers have left which were killed.
///
/// # Errors
///
/// When one cannot be ended.
pub(super) fn end(run: &ClaimedRun<StudyRun>) -> Result<Left> {
    let mut left = Left::Nothing;
    for note in run.generations(NOTE)? {
        let noted = read_bytes(&note)?.and_then(|bytes| from_json::<Noted>(&bytes).ok());
        match noted {
            Some(Noted { host, process: Some(process), began }) if host == host::identity() => {
                if !end_here(process, began, run.folder().path())? {
                    left = Left::Program;
                }
            }
            _ => left = Left::Program,
        }
    }
    Ok(left)
}

/// Forgets the programs that holders before have left, once nothing of theirs is in the way.
pub(super) fn forget_all(run: &ClaimedRun<StudyRun>) -> Result<()> {
    for note in run.generations(NOTE)? {
        std::fs::remove_file(&note).map_err(Error::io("remove", &note))?;
    }
    Ok(())
}

/// There a program's job ends with its worker; elsewhere nobody can tell whether a process of that number is still the
/// same.
#[cfg(not(any(target_os = "linux", target_os = "android")))]
fn end_here(_process: u32, _began: Option<u64>, _run: &Path) -> Result<bool> {
    Ok(cfg!(windows))
}

/// When a process began, where the system says so.
#[cfg(not(any(target_os = "linux", target_os = "android")))]
fn began(_process: u32) -> Option<u64> {
    None
}
