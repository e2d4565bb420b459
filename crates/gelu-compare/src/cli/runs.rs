use super::listing::listing;
use super::warnings;
use crate::Result;
use crate::comparison::AnyReader;
use crate::measure::seconds;
use crate::output::{complain, print};
use crate::pack;
use crate::runs::{ComparisonSnapshot, Experiment, RunSnapshot, RunStatus, Spec};
use crate::setting::{Axis, Role};
use clap::Args;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// List the runs of a comparison: what there is, how it ended, how long it took
#[derive(Debug, Args)]
pub struct Runs {
    /// A comparison's folder, a packed comparison, or a folder that holds several
    #[arg(default_value = "results")]
    folder: PathBuf,
}

impl Runs {
    /// Prints the list.
    ///
    /// # Errors
    ///
    /// When there is no comparison in the folder, or one that cannot be read.
    pub fn run<E: Experiment>(self) -> Result<ExitCode> {
        let inner = comparisons_in(&self.folder);
        if inner.is_empty() || self.folder.join("comparison.toml").exists() {
            let opened = pack::open(&self.folder)?;
            let snapshot = AnyReader::<E>::open(opened.path())?.snapshot();
            print(&list(E::Spec::TOOL, &self.folder, &snapshot))?;
            return Ok(ExitCode::SUCCESS);
        }
        let mut ended = ExitCode::SUCCESS;
        for path in inner {
            let snapshot = pack::open(&path)
                .and_then(|opened| Ok(AnyReader::<E>::open(opened.path())?.snapshot()));
            match snapshot {
                Ok(snapshot) => {
                    print(&format!("{}: {}\n", path.display(), summary(&snapshot)))?;
                }
                Err(error) => {
                    complain(&format!("{}: {error}\n", E::Spec::TOOL));
                    ended = ExitCode::FAILURE;
                }
            }
        }
        Ok(ended)
    }
}

/// The comparisons in a folder: its folders and packed files.
fn comparisons_in(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let mut found: Vec<PathBuf> = entries
        .map(|entry| entry.path())
        .filter(|path| path.join("comparison.toml").exists() || pack::is_packed(path))
        .collect();
    found.sort();
    found
}

fn list(tool: &str, folder: &Path, snapshot: &ComparisonSnapshot) -> String {
    let roles = [Role::Compared, Role::Each, Role::Tuned].into_iter();
    let axes: Vec<&Axis> = roles.flat_map(|role| role.of(&snapshot.axes)).collect();
    let mut header: Vec<&str> = axes.iter().map(|axis| axis.name.as_str()).collect();
    header.extend(["seed", "epochs", "time", "how it ended", "folder"]);
    let numbers: Vec<usize> = (1..axes.len() + 3).collect();
    let row = |run: &RunSnapshot| {
        let mut row: Vec<String> =
            axes.iter().map(|axis| axis.label_in(&run.key.setting)).collect();
        row.extend([
            run.key.seed.to_string(),
            match snapshot.epochs_of(run) {
                Some(planned) => format!("{}/{planned}", run.epochs.len()),
                None => run.epochs.len().to_string(),
            },
            seconds(run.seconds),
            one_line(run),
            format!("runs/{}", run.folder),
        ]);
        row
    };
    let table = listing(&header, &numbers, snapshot.runs.iter().map(row).collect());
    let warnings = warnings(tool, snapshot);
    format!("{}: {}\n\n{table}\n{warnings}", folder.display(), summary(snapshot))
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
