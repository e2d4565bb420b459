//! Reads a results folder: its finished runs, the location of their data, and the deciding metric.

use crate::comparison::SnapshotReader;
use crate::data::{self, DataSet};
use crate::runs::{Comparison, RunSpec};
use crate::{Error, Result};
use gelu_compare::measure::Criterion;
use gelu_compare::output::complain;
use gelu_compare::runs::{Recipe as _, RunFolder, RunSnapshot, RunStatus};
use gelu_learner::Trained;
use std::path::{Path, PathBuf};

/// Returns the finished runs of a comparison, or the run if `folder` is a run's folder.
pub(super) fn finished_runs(folder: &Path) -> Result<Vec<RunFolder>> {
    let runs = match folder.join("run.toml").exists() {
        true => vec![RunFolder::at(folder)],
        false => {
            let mut reader = SnapshotReader::open_any_version(folder)?;
            let snapshot = reader.snapshot();
            complain(&gelu_compare::cli::warnings("gelu", &snapshot));
            let of_run = |run: &RunSnapshot| reader.folder().runs().join(&run.folder);
            snapshot.runs.iter().map(|run| RunFolder::at(&of_run(run))).collect()
        }
    };
    let mut finished = Vec::new();
    for run in runs {
        if run.status().is_ok_and(|file| file.status == RunStatus::Finished) {
            finished.push(run);
        }
    }
    match finished.is_empty() {
        true => Err(Error::Run {
            run: folder.to_path_buf(),
            problem: "no finished run here; the same `gelu compare` finishes what is missing"
                .to_owned(),
        }),
        false => Ok(finished),
    }
}

/// Returns the run if `folder` is a run's folder, otherwise the best run of the comparison.
pub(in crate::cli) fn run_of(folder: &Path) -> Result<RunFolder> {
    match folder.join("run.toml").exists() {
        true => Ok(RunFolder::at(folder)),
        false => Ok(RunFolder::at(Trained::best(folder)?.folder())),
    }
}

/// Loads the data that a run was trained on.
pub(in crate::cli) fn data_of(
    folder: &Path,
    run: &RunFolder,
    place: Option<PathBuf>,
) -> Result<DataSet> {
    let spec: RunSpec = run.spec_of_any_version()?;
    let place = place.or_else(|| location(folder, &spec.data.set));
    data::load(&spec.asked(), place.as_deref())
}

/// Returns the folder that the comparison's data were read from, if it still exists, or if the data are the user's
/// own.
pub(super) fn location(folder: &Path, set: &str) -> Option<PathBuf> {
    let comparison = Comparison::open(&comparison_of(folder)).ok()?.plan().ok()?;
    let is_own = data::own::kinds().iter().any(|kind| kind.name == set);
    comparison.data.location.filter(|place| is_own || place.exists())
}

/// Returns the criterion of the comparison's verdicts.
pub(super) fn criterion(folder: &Path) -> Result<Criterion> {
    let comparison = comparison_of(folder);
    let criterion = Comparison::open(&comparison)?.plan()?.recipe.design().criterion();
    match criterion.primary.as_str() {
        "train-loss" => Err(Error::Usage(format!(
            "{} is decided by the training loss, which is no mean over test examples; there is nothing to keep",
            comparison.display()
        ))),
        _ => Ok(criterion),
    }
}

/// Returns the comparison's folder: `folder`, or the comparison of the run in `folder`.
fn comparison_of(folder: &Path) -> PathBuf {
    match folder.join("run.toml").exists() {
        true => folder.join("../.."),
        false => folder.to_path_buf(),
    }
}
