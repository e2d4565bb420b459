//! Sessions: many judgements after one another, with one budget of errors. The rules are those of
//! [`statistics::session`](crate::comparison::statistics::session).
//!
//! A session is its ledger, and a folder beside that with a comparison for each judgement.

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

/// The folder of a session's runs: `research.runs` beside `research.toml`.
fn folder(file: &Path) -> PathBuf {
    file.with_extension("runs")
}

/// The folder of a judgement.
fn folder_of(file: &Path, number: u64) -> PathBuf {
    folder(file).join(format!("{number:04}"))
}

/// This machine, as far as results may depend on it.
fn machine() -> String {
    let cores = std::thread::available_parallelism().map_or(1, NonZero::get);
    let (system, processor) = (std::env::consts::OS, std::env::consts::ARCH);
    format!("{} ({system}, {cores} cores of {processor})", crate::host::name())
}
