//! The dry run of a comparison: its runs, and their time and disk space, estimated by training one run for an epoch
//! in a temporary folder.

use super::print;
use super::selection::SelectedRecipe;
use crate::comparison::SnapshotReader;
use crate::recipe::{Recipe, combinations};
use crate::runs::Plan;
use crate::{Error, Result};
use gelu_compare::measure::seconds;
use gelu_compare::runs::Recipe as _;
use gelu_compare::worker::{Cores, last_complaint};
use indicatif::HumanBytes;
use std::path::Path;
use std::process::{Command, ExitCode, Stdio};

pub(super) fn run(
    selected: &SelectedRecipe,
    plan: &Plan,
    chosen_jobs: Option<usize>,
) -> Result<ExitCode> {
    let recipe = &selected.recipe;
    let jobs = selected.jobs(chosen_jobs) * selected.devices.len();
    print(&format!("{}\n", counted(recipe)))?;
    let left = match SnapshotReader::foreseeing(&selected.out, plan)? {
        Some(mut reader) => {
            let left = RemainingRuns::of(&mut reader);
            let (there, out) = (left.complete, selected.out.display());
            print(&format!("{there} complete already in {out}, {} left\n", left.runs))?;
            left
        }
        None => RemainingRuns::all(recipe),
    };
    if left.runs == 0 {
        print("Nothing is left to train\n")?;
        return Ok(ExitCode::SUCCESS);
    }
    let threads = Cores::here(jobs).share(left.runs, recipe.comparison.threads);
    let timed = time_one_epoch(selected, threads)?;
    let whole = seconds(timed.seconds * left.epochs as f64 / jobs.min(left.runs) as f64);
    let disk = HumanBytes(timed.bytes * (left.complete + left.runs) as u64);
    print(&format!(
        "One epoch of {} took {:.1} s; with {jobs} at a time that makes about {whole}\n\
         About {disk} on disk once all are finished\n",
        recipe.comparison.activations[0].label(),
        timed.seconds,
    ))?;
    Ok(ExitCode::SUCCESS)
}

/// The runs that are still to be trained.
struct RemainingRuns {
    /// Number of runs that are finished or diverged already.
    complete: usize,
    /// Number of remaining runs.
    runs: usize,
    epochs: usize,
}

impl RemainingRuns {
    fn all(recipe: &Recipe) -> Self {
        let runs = runs(recipe);
        Self { complete: 0, runs, epochs: runs * recipe.training.epochs }
    }

    /// Counts the remaining runs. Runs after tuning are planned late, and seeds are added, so this takes the larger
    /// of the initial plan and the current plan.
    fn of(reader: &mut SnapshotReader) -> Self {
        let snapshot = reader.snapshot();
        let recipe = &reader.plan().recipe;
        let (complete, begun): (Vec<_>, Vec<_>) =
            snapshot.runs.iter().partition(|run| run.status.is_complete());
        let runs = snapshot.runs.len().max(runs(recipe)) - complete.len();
        let done: usize = begun.iter().map(|run| run.epochs.len()).sum();
        let epochs = (runs * recipe.training.epochs).saturating_sub(done);
        Self { complete: complete.len(), runs, epochs }
    }
}

/// Returns the number of runs of all stages in the initial plan.
pub(super) fn runs(recipe: &Recipe) -> usize {
    let varied = &recipe.comparison;
    let settings = varied.activations.len()
        * varied.dropout.len()
        * varied.formulas.len().max(1)
        * combinations(varied);
    let seeds = recipe.design().first_seeds() as usize;
    match varied.retrain {
        Some(tuning) => {
            settings * (varied.learning_rates.len() * tuning.tuning_seeds as usize + seeds)
        }
        None => settings * varied.learning_rates.len() * seeds,
    }
}

fn counted(recipe: &Recipe) -> String {
    let varied = &recipe.comparison;
    let several = |count: usize, one: &str| match count {
        1 => format!("1 {one}"),
        _ => format!("{count} {one}s"),
    };
    let (at, each) = match varied.formulas.len() {
        0 => (several(varied.dropout.len(), "dropout rate"), "dropout rate"),
        count => (several(count, "formula"), "formula"),
    };
    let further = [
        (varied.widths.len(), "width"),
        (varied.depths.len(), "depth"),
        (varied.batch_sizes.len(), "batch size"),
        (varied.tables.len(), "table"),
    ];
    let further = further.into_iter().filter(|(count, _)| *count > 0);
    let further: String =
        further.map(|(count, one)| format!("{} × ", several(count, one))).collect();
    let settings = format!(
        "{} × {further}{at} × {}",
        several(varied.activations.len(), "activation"),
        several(varied.learning_rates.len(), "learning rate"),
    );
    let seeds = several(recipe.design().first_seeds() as usize, "seed");
    let how = match varied.retrain {
        Some(tuning) => format!(
            "{settings} × {} to tune, then {seeds} of each activation and {each} at its best \
             learning rate",
            several(tuning.tuning_seeds as usize, "seed")
        ),
        None => match varied.until_decided {
            Some(until) => format!("{settings} × {seeds}, up to {} until decided", until.max_seeds),
            None => format!("{settings} × {seeds}"),
        },
    };
    let epochs = recipe.training.epochs;
    let count = runs(recipe);
    format!(
        "{}: {how}\n{} of {}\n{}",
        recipe.title,
        several(count, "run"),
        several(epochs, "epoch"),
        recipe.design().prospect()
    )
}

/// The cost of one epoch.
struct Timed {
    seconds: f64,
    /// The disk space of a finished run.
    bytes: u64,
}

/// Trains the first setting for one epoch like `compare`, in a separate process with as many threads as each run
/// would have.
fn time_one_epoch(selected: &SelectedRecipe, threads: usize) -> Result<Timed> {
    let scratch = tempfile::tempdir().map_err(Error::io("create", "a temporary folder"))?;
    let mut recipe = selected.recipe.clone();
    recipe.training.epochs = 1;
    let varied = &mut recipe.comparison;
    varied.activations.truncate(1);
    varied.dropout.truncate(1);
    varied.formulas.truncate(1);
    varied.widths.truncate(1);
    varied.depths.truncate(1);
    varied.batch_sizes.truncate(1);
    varied.tables.truncate(1);
    varied.learning_rates.truncate(1);
    varied.seeds = 1;
    varied.retrain = None;
    varied.baseline = None;
    varied.until_decided = None;
    varied.over = None;
    let file = scratch.path().join("recipe.toml");
    let text = toml::to_string(&recipe).expect("a recipe holds plain values alone");
    std::fs::write(&file, text).map_err(Error::io("write", &file))?;
    let out = scratch.path().join("out");
    let program = std::env::current_exe().map_err(Error::io("find", "this program"))?;
    let mut command = Command::new(&program);
    command.arg("compare").arg("--recipe").arg(&file).arg("--out").arg(&out);
    command.args(["--jobs", "1", "--json"]).args(selected.words(&selected.devices[0]));
    if let Some(data) = &selected.data_folder {
        command.arg("--data").arg(data);
    }
    command.env("RAYON_NUM_THREADS", threads.to_string());
    let output = command.stdin(Stdio::null()).output().map_err(Error::io("start", &program))?;
    if !output.status.success() {
        let said = last_complaint("gelu", &output.stderr[..]);
        let said = said.unwrap_or_else(|| format!("it ended by {}", output.status));
        let problem = format!("the run that was to be timed failed: {said}");
        return Err(Error::Failed(problem));
    }
    let mut reader = SnapshotReader::open(&out)?;
    let seconds = reader.snapshot().runs.iter().map(|run| run.seconds).sum();
    Ok(Timed { seconds, bytes: size(&reader.folder().runs()) })
}

/// Returns the bytes of all files in a folder; unreadable files count as 0.
fn size(folder: &Path) -> u64 {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    entries
        .map(|entry| match entry.metadata() {
            Ok(metadata) if metadata.is_dir() => size(&entry.path()),
            Ok(metadata) => metadata.len(),
            Err(_) => 0,
        })
        .sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_of_both_stages_are_counted() {
        let classifier = Recipe::named("mnist-classifier").unwrap();
        let varied = &classifier.comparison;
        let rates = varied.learning_rates.len() * varied.dropout.len();
        assert_eq!(runs(&classifier), 3 * rates * classifier.design().first_seeds() as usize);
        let all = RemainingRuns::all(&classifier);
        assert_eq!(all.epochs, all.runs * classifier.training.epochs);
        let cnn = Recipe::named("cifar10-cnn").unwrap();
        let varied = &cnn.comparison;
        let tuning = varied.retrain.unwrap().tuning_seeds as usize;
        let last = cnn.design().first_seeds() as usize;
        assert_eq!(runs(&cnn), 3 * (varied.learning_rates.len() * tuning + last));
        assert!(counted(&cnn).contains("to tune, then"), "{}", counted(&cnn));
    }
}
