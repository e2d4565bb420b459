use super::listing::listing;
use super::print;
use crate::Result;
use crate::comparison::{ComparisonReader, label};
use crate::measure::seconds;
use crate::runs::{ComparisonSnapshot, RunSnapshot, RunStatus};
use clap::Args;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

#[derive(Debug, Args)]
pub(super) struct Runs {
    /// A comparison's folder, or one that holds several
    #[arg(default_value = "results")]
    folder: PathBuf,
}

impl Runs {
    pub(super) fn run(self) -> Result<ExitCode> {
        let inner = comparisons_in(&self.folder);
        let text = match (ComparisonReader::open_any_version(&self.folder), inner.is_empty()) {
            (Ok(mut reader), _) => list(&mut reader),
            (Err(_), false) => overview(&inner),
            (Err(error), true) => return Err(error),
        };
        print(&text)?;
        Ok(ExitCode::SUCCESS)
    }
}

/// The comparisons in the folders of a folder.
fn comparisons_in(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let mut found: Vec<PathBuf> = entries
        .map(|entry| entry.path())
        .filter(|path| path.join("comparison.toml").exists())
        .collect();
    found.sort();
    found
}

/// A line for every comparison; what is wrong with one that cannot be read.
fn overview(folders: &[PathBuf]) -> String {
    let line = |path: &PathBuf| match ComparisonReader::open_any_version(path) {
        Ok(mut reader) => format!("{}: {}\n", path.display(), summary(&reader.snapshot())),
        Err(error) => format!("{}: {error}\n", path.display()),
    };
    folders.iter().map(line).collect()
}

fn list(reader: &mut ComparisonReader) -> String {
    let snapshot = reader.snapshot();
    let header =
        ["activation", "dropout", "lr", "seed", "epochs", "time", "how it ended", "folder"];
    let row = |run: &RunSnapshot| {
        vec![
            label(&run.key.activation),
            run.key.dropout.to_string(),
            format!("{:e}", run.key.learning_rate),
            run.key.seed.to_string(),
            format!("{}/{}", run.epochs.len(), run.epochs_planned),
            seconds(run.seconds),
            one_line(run),
            format!("runs/{}", run.folder),
        ]
    };
    let table = listing(&header, &[1, 2, 3, 4, 5], snapshot.runs.iter().map(row).collect());
    let warnings = super::warnings(&snapshot);
    let path = reader.folder().path().display();
    format!("{path}: {}\n\n{table}\n{warnings}", summary(&snapshot))
}

fn one_line(run: &RunSnapshot) -> String {
    let stage = run.key.stage.word().map_or_else(String::new, |word| format!(" ({word})"));
    format!("{}{stage}", run.status)
}

/// `digits (SYNTHETIC DATA), 12 runs: 10 finished, 2 waiting; 1 min 20 s of training`.
fn summary(snapshot: &ComparisonSnapshot) -> String {
    let mut counts: Vec<(&str, usize)> = Vec::new();
    for run in &snapshot.runs {
        let word = run.status.word();
        match counts.iter_mut().find(|(known, _)| *known == word) {
            Some((_, count)) => *count += 1,
            None => counts.push((word, 1)),
        }
    }
    let counts: Vec<String> =
        counts.iter().map(|(word, count)| format!("{count} {word}")).collect();
    let mark = if snapshot.synthetic { " (SYNTHETIC DATA)" } else { "" };
    let spent = snapshot.runs.iter().map(|run| run.seconds).sum();
    let failed = snapshot.runs.iter().any(|run| matches!(run.status, RunStatus::Failed { .. }));
    let advice = if failed { "; the same command tries the failed ones again" } else { "" };
    format!(
        "{}{mark}, {} runs: {}; {} of training{advice}",
        snapshot.experiment,
        snapshot.runs.len(),
        counts.join(", "),
        seconds(spent)
    )
}
