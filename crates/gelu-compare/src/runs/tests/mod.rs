//! Properties of a run's folder, for all readers and writers.

mod files;
mod leases;

use super::claimed_run::examples::{self, specs};
use super::*;
use crate::measure::EpochMetrics;
use crate::program::ProgramSpec;
use std::path::Path;
use std::time::Duration;

/// Long, because these tests have no workers of other hosts.
const SILENCE: Duration = Duration::from_secs(600);

type ClaimedRun = super::ClaimedRun<ProgramSpec>;

fn spec() -> ProgramSpec {
    specs().swap_remove(0)
}

fn folder() -> (tempfile::TempDir, RunFolder) {
    let parent = tempfile::tempdir().unwrap();
    let folder = RunFolder::create(parent.path(), &spec()).unwrap();
    (parent, folder)
}

fn claim(folder: &RunFolder) -> ClaimedRun {
    examples::claim(folder, &spec())
}

fn epochs(count: usize) -> Vec<EpochMetrics> {
    let epoch = |epoch| {
        EpochMetrics::new(epoch)
            .with("learning_rate", 1e-3)
            .with("batch_loss", 0.1 + 0.2)
            .with("train_loss", 1.0 / 3.0)
            .with("train_error", f64::MIN_POSITIVE)
            .with("valid_loss", None)
            .with("valid_error", 0.25)
            .with("test_loss", 2.0)
            .with("test_error", None)
    };
    (1..=count).map(epoch).collect()
}

fn write_model(content: &'static str) -> impl FnOnce(&Path) -> crate::Result<()> {
    move |folder| {
        let path = folder.join("model.bpk");
        std::fs::write(&path, content).map_err(crate::Error::io("write", path))
    }
}

/// Returns the names of a folder's entries, in order.
fn names(folder: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(folder).unwrap();
    let mut names: Vec<String> =
        entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}
