//! Programs whose worker was killed. The next holder of their run ends them first, so that two programs never write
//! into one folder. If the holder cannot end one, as on another host, that program keeps its folder and the run gets
//! a new one.

#[cfg(any(target_os = "linux", target_os = "android"))]
mod processes;

use super::ProgramSpec;
use crate::files::{from_json, read_bytes};
use crate::host;
use crate::runs::ClaimedRun;
use crate::{Error, Result};
#[cfg(any(target_os = "linux", target_os = "android"))]
use processes::{began, end_here};
use serde::{Deserialize, Serialize};
#[cfg(not(any(target_os = "linux", target_os = "android")))]
use std::path::Path;

/// The file name of the note about a holder's program.
const NOTE: &str = "process.json";

/// A run's program, from before its start until its end.
#[derive(Debug, PartialEq, Serialize, Deserialize)]
struct Noted {
    /// The machine on which the program runs; see [`host::identity`].
    host: String,
    /// The process ID, which is also the ID of its process group; `None` before the start.
    process: Option<u32>,
    /// The start time in the system's ticks, if the system reports it. It distinguishes processes, because systems
    /// reuse IDs.
    began: Option<u64>,
}

/// Records that a program is about to be started, so that the next holder of the run knows about it.
///
/// # Errors
///
/// Returns an error if the note cannot be written or the lease is lost. Then the program must not be started.
pub(super) fn announce(run: &ClaimedRun<ProgramSpec>) -> Result<()> {
    put(run, None)
}

/// Records the started program.
///
/// # Errors
///
/// Returns the errors of [`announce`]. Then the program must be ended.
pub(super) fn note(run: &ClaimedRun<ProgramSpec>, process: u32) -> Result<()> {
    put(run, Some(process))
}

fn put(run: &ClaimedRun<ProgramSpec>, process: Option<u32>) -> Result<()> {
    let noted = Noted { host: host::identity(), process, began: process.and_then(began) };
    // The note need not survive a power cut, because that also ends the program.
    run.place_own(NOTE, serde_json::to_vec(&noted).unwrap_or_default()).map(drop)
}

/// Deletes this holder's note, when its program has ended.
pub(super) fn forget(run: &ClaimedRun<ProgramSpec>) {
    let _ = std::fs::remove_file(run.own_path(NOTE));
}

/// Whether earlier holders' programs may still run.
#[derive(Debug)]
pub(super) enum Survivors {
    /// None still runs.
    Nothing,
    /// A program may still run that this process cannot end.
    Program,
}

/// Ends the programs that killed workers have left.
///
/// # Errors
///
/// Returns an error if a program cannot be ended.
pub(super) fn end(run: &ClaimedRun<ProgramSpec>) -> Result<Survivors> {
    let mut left = Survivors::Nothing;
    for note in run.generations(NOTE)? {
        let noted = read_bytes(&note)?.and_then(|bytes| from_json::<Noted>(&bytes).ok());
        match noted {
            Some(Noted { host, process: Some(process), began }) if host == host::identity() => {
                if !end_here(process, began, run.folder().path())? {
                    left = Survivors::Program;
                }
            }
            _ => left = Survivors::Program,
        }
    }
    Ok(left)
}

/// Deletes the notes of earlier holders, when their programs can no longer interfere.
pub(super) fn forget_all(run: &ClaimedRun<ProgramSpec>) -> Result<()> {
    for note in run.generations(NOTE)? {
        std::fs::remove_file(&note).map_err(Error::io("remove", &note))?;
    }
    Ok(())
}

/// Returns whether no such program can still run. On Windows, the program's job ends with its worker. On other
/// systems, nothing shows whether a process ID still belongs to the same process.
#[cfg(not(any(target_os = "linux", target_os = "android")))]
fn end_here(_process: u32, _began: Option<u64>, _run: &Path) -> Result<bool> {
    Ok(cfg!(windows))
}

/// Returns the start time of a process, if the system reports it.
#[cfg(not(any(target_os = "linux", target_os = "android")))]
fn began(_process: u32) -> Option<u64> {
    None
}
