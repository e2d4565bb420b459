//! The real program in a folder of its own.

#![allow(
    dead_code,
    unreachable_pub,
    reason = "the tests of GPUs, a crate of their own, use a part of it"
)]

pub mod document;

use gelu_compare::extension::extend;
use gelu_compare::runs::{ComparisonSnapshot, RunSnapshot};
pub use gelu_compare::testing::Outcome;
use gelu_experiments::comparison::ComparisonReader;
use gelu_learner::networks::{Networks, Outcomes, ReadRun};
use std::path::{Path, PathBuf};
use std::process::Command;

/// The program.
pub const PROGRAM: &str = env!("CARGO_BIN_EXE_gelu");

/// Everything that the folder of a comparison says.
pub fn snapshot(folder: &Path) -> ComparisonSnapshot {
    extend(&[&Networks]);
    ComparisonReader::open(folder).unwrap().snapshot()
}

/// What a run made of the test examples.
pub fn outcomes(run: &RunSnapshot) -> Option<&Outcomes> {
    run.extras.get::<ReadRun>()?.outcomes.as_ref()
}

/// A comparison of one seed on few digits: three epochs take about a second.
pub fn small<'a>(activations: &'a str, epochs: &'a str, more: &[&'a str]) -> Vec<&'a str> {
    let mut arguments = vec!["compare", "--seeds", "1", "--train-limit", "600"];
    arguments.extend(["--activations", activations, "--epochs", epochs]);
    arguments.extend(more);
    arguments
}

/// A folder that is gone after the test, and the program started in it.
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

    /// A command that knows no data but what the test gives it.
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

    /// The folders of all runs below a comparison's folder, by name.
    pub fn runs(&self, comparison: &str) -> Vec<PathBuf> {
        runs_in(&self.path(comparison))
    }
}

/// The folders of all runs of a comparison, by name, but for those that a killed process was about
/// to make.
pub fn runs_in(comparison: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(comparison.join("runs")).into_iter().flatten();
    let entries = entries.map(|entry| entry.unwrap());
    let made = entries.filter(|entry| !entry.file_name().to_string_lossy().starts_with('.'));
    let mut runs: Vec<PathBuf> = made.map(|entry| entry.path()).collect();
    runs.sort();
    runs
}

/// Metrics, weights and outcomes of a run, to the byte.
pub fn results_of(run: &Path) -> (Vec<u8>, Vec<u8>, Vec<u8>) {
    let read = |name: &str| {
        let path = run.join(name);
        std::fs::read(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
    };
    (read("metrics.csv"), read("model.bpk"), read("outcomes.bin"))
}
