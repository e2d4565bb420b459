use super::listing::listing;
use super::warnings;
use crate::Result;
use crate::comparison::AnyReader;
use crate::measure::seconds;
use crate::output::{complain, print};
use crate::pack;
use crate::runs::{Recipe, RunSnapshot, RunStatus, Snapshot, Spec, comparisons_in};
use crate::setting::{Axis, Role};
use clap::Args;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// List the runs of a comparison: settings, how each run ended, and how long it took
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
    /// Returns an error if there is no comparison in the folder, or it cannot be read.
    pub fn run<R: Recipe>(self) -> Result<ExitCode> {
        let inner = comparisons_in(&self.folder);
        if inner.is_empty() || self.folder.join("comparison.toml").exists() {
            let opened = pack::open(&self.folder)?;
            let snapshot = AnyReader::<R>::open(opened.path())?.snapshot();
            print(&list(R::Spec::TOOL, &self.folder, &snapshot))?;
            return Ok(ExitCode::SUCCESS);
        }
        let mut ended = ExitCode::SUCCESS;
        for path in inner {
            let snapshot = pack::open(&path)
                .and_then(|opened| Ok(AnyReader::<R>::open(opened.path())?.snapshot()));
            match snapshot {
                Ok(snapshot) => {
                    print(&format!("{}: {}\n", path.display(), summary(&snapshot)))?;
                }
                Err(error) => {
                    complain(&format!("{}: {error}\n", R::Spec::TOOL));
                    ended = ExitCode::FAILURE;
                }
            }
        }
        Ok(ended)
    }
}

fn list(tool: &str, folder: &Path, snapshot: &Snapshot) -> String {
    let roles = [Role::Compared, Role::Each, Role::Tuned].into_iter();
    let axes: Vec<&Axis> = roles.flat_map(|role| role.of(&snapshot.design.axes)).collect();
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

/// Returns a line such as `digits (SYNTHETIC DATA), 12 runs: 10 finished, 2 waiting; 1 min 20 s of training`.
fn summary(snapshot: &Snapshot) -> String {
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
    let advice = if failed { "; --retry-failed tries the failed ones again" } else { "" };
    format!(
        "{}{mark}, {} runs: {}; {} of training{}{advice}",
        snapshot.design.name,
        snapshot.runs.len(),
        counts.join(", "),
        seconds(spent),
        time_left(&snapshot.runs)
            .map_or_else(String::new, |left| format!(", about {} left", seconds(left)))
    )
}

/// Returns the seconds until all runs are over, if the remaining runs take as long as the finished ones and the
/// number of parallel runs stays as it is. Returns `None` if no run is running or none has finished.
fn time_left(runs: &[RunSnapshot]) -> Option<f64> {
    let count = |of: &dyn Fn(&RunSnapshot) -> bool| runs.iter().filter(|run| of(run)).count();
    let finished = count(&|run| run.status == RunStatus::Finished);
    let under_way = count(&|run| run.status == RunStatus::Running);
    let spent: f64 =
        runs.iter().filter(|run| run.status == RunStatus::Finished).map(|run| run.seconds).sum();
    let mean = spent / finished as f64;
    let left = runs.iter().filter(|run| !run.status.is_over());
    let left: f64 = left.map(|run| (mean - run.seconds).max(0.0)).sum();
    (finished > 0 && under_way > 0).then(|| left / under_way as f64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::example;

    #[test]
    fn runs_that_are_left_take_as_long_as_those_that_finished() {
        let mut runs = example().runs;
        runs.truncate(6);
        for (index, run) in runs.iter_mut().enumerate() {
            run.seconds = if index < 2 { 10.0 } else { 0.0 };
            run.status = if index < 2 { RunStatus::Finished } else { RunStatus::Waiting };
        }
        assert_eq!(time_left(&runs), None, "no worker has them");
        for run in &mut runs[2..4] {
            (run.status, run.seconds) = (RunStatus::Running, 4.0);
        }
        assert_eq!(time_left(&runs), Some((6.0 + 6.0 + 10.0 + 10.0) / 2.0));
    }
}
