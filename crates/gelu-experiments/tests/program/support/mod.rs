//! Runs the real program in a temporary folder.

#![allow(
    dead_code,
    unreachable_pub,
    reason = "the tests of GPUs, a crate of their own, use a part of it"
)]

pub mod document;

use gelu_compare::extension::extend;
use gelu_compare::runs::{RunSnapshot, Snapshot};
pub use gelu_compare::testing::Outcome;
use gelu_experiments::comparison::SnapshotReader;
use gelu_learner::networks::{Networks, Outcomes, ReadRun};
use std::path::{Path, PathBuf};
use std::process::Command;

/// The program's executable.
pub const PROGRAM: &str = env!("CARGO_BIN_EXE_gelu");

/// Returns the snapshot of a comparison's folder.
pub fn snapshot(folder: &Path) -> Snapshot {
    extend(&[&Networks]);
    SnapshotReader::open(folder).unwrap().snapshot()
}

/// Returns the outcomes of a run's test examples.
pub fn outcomes(run: &RunSnapshot) -> Option<&Outcomes> {
    run.extras.get::<ReadRun>()?.outcomes.as_ref()
}

/// Returns the arguments of a comparison with one seed on few digits; three epochs take about a second.
pub fn small<'a>(activations: &'a str, epochs: &'a str, more: &[&'a str]) -> Vec<&'a str> {
    let mut arguments = vec!["compare", "--seeds", "1", "--train-limit", "600"];
    arguments.extend(["--activations", activations, "--epochs", epochs]);
    arguments.extend(more);
    arguments
}

/// A temporary folder in which the program runs.
pub struct Sandbox {
    folder: tempfile::TempDir,
}

impl Sandbox {
    pub fn new() -> Self {
        Self { folder: tempfile::tempdir().unwrap() }
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Returns a command that only finds the data that the test provides.
    pub fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(PROGRAM);
        command
            .args(arguments)
            .current_dir(self.folder.path())
            .env("GELU_DATA", self.path("data-home"))
            .env("GELU_CACHE", concat!(env!("CARGO_TARGET_TMPDIR"), "/cache"))
            .env_remove("RAYON_NUM_THREADS");
        command
    }

    pub fn run(&self, arguments: &[&str]) -> Outcome {
        Outcome(self.command(arguments).output().unwrap())
    }

    /// Returns the folders of all runs in a comparison's folder, sorted by name.
    pub fn runs(&self, comparison: &str) -> Vec<PathBuf> {
        runs_in(&self.path(comparison))
    }
}

/// Returns the folders of all runs of a comparison, sorted by name, except those that a killed process left
/// unfinished.
pub fn runs_in(comparison: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(comparison.join("runs")).into_iter().flatten();
    let entries = entries.map(|entry| entry.unwrap());
    let made = entries.filter(|entry| !entry.file_name().to_string_lossy().starts_with('.'));
    let mut runs: Vec<PathBuf> = made.map(|entry| entry.path()).collect();
    runs.sort();
    runs
}

/// Returns the bytes of a run's metrics, weights and outcomes.
pub fn results_of(run: &Path) -> (Vec<u8>, Vec<u8>, Vec<u8>) {
    let read = |name: &str| {
        let path = run.join(name);
        std::fs::read(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
    };
    (read("metrics.csv"), read("model.bpk"), read("outcomes.bin"))
}
