//! Sessions: many judgements, one after the other, with one budget of errors. The rules are those of
//! [`statistics::session`](crate::comparison::statistics::session).
//!
//! A session consists of its ledger and a folder next to it, with a comparison for each judgement.

mod entry;
mod judging;
mod ledger;
mod reuse;
mod show;
mod turn;

pub(super) use judging::Judging;
pub(super) use show::Session;

use entry::{Entry, Outcome, Side};
use ledger::{Decisive, Ledger};
use std::num::NonZero;
use std::path::{Path, PathBuf};
use turn::Turn;

/// Returns the folder of a session's runs: `research.runs` next to `research.toml`.
fn folder(file: &Path) -> PathBuf {
    file.with_extension("runs")
}

/// Returns the folder of a judgement.
fn folder_of(file: &Path, number: u64) -> PathBuf {
    folder(file).join(format!("{number:04}"))
}

/// Returns a description of this machine, as far as results may depend on it.
fn machine() -> String {
    let cores = std::thread::available_parallelism().map_or(1, NonZero::get);
    let (system, processor) = (std::env::consts::OS, std::env::consts::ARCH);
    format!("{} ({system}, {cores} cores of {processor})", crate::host::name())
}
