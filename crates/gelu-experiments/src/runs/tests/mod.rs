//! Tests of the folders of recipes' runs.

mod files;
mod folders;
mod widening;

use super::*;
use crate::recipe::Recipe;
use gelu_compare::measure::EpochMetrics;
use gelu_compare::runs::{RunFolder, Watch};
use gelu_core::Activation;
use std::time::Duration;

/// The lease time; its value does not matter without workers on other hosts.
const SILENCE: Duration = Duration::from_secs(600);

fn spec() -> RunSpec {
    let recipe = Recipe::named("digits").unwrap();
    RunSpec::new(&recipe, &Activation::Gelu, 1e-3, 0.0, 1, "flex", "abc")
}

fn folder() -> (tempfile::TempDir, RunFolder) {
    let parent = tempfile::tempdir().unwrap();
    let folder = RunFolder::create(parent.path(), &spec()).unwrap();
    (parent, folder)
}

fn claim(folder: &RunFolder) -> ClaimedRun {
    ClaimedRun::claim(folder, &spec(), &mut Watch::default(), SILENCE).unwrap().unwrap()
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
