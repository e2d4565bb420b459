use super::flags::{Varied, needs_measure};
use super::loops::{Loop, Loops};
use super::shared::{Shared, Submission, said};
use super::{BoxError, Processes, Run, Study};
use crate::Result;
use crate::cli::{Shown, Workforce};
use crate::runs::{ComparisonFolder, Experiment};
use crate::setting::{Axis, Role, Value};
use crate::worker::Cores;
use clap::{Args, CommandFactory, FromArgMatches, Parser, Subcommand};
use std::process::ExitCode;

/// A program around a loop of one's own: it compares what the loop measures at some settings, with the
/// whole command line, and is its own worker.
///
/// ```no_run
/// # use gelu_compare::{Program, Result, Run};
/// # fn descend(run: &mut Run) -> Result<()> { Ok(()) }
/// fn main() -> std::process::ExitCode {
///     Program::new("descent", descend).compare("step", [0.01, 0.02, 0.05]).primary("height").main()
/// }
/// ```
#[must_use = "a program does nothing until it is run"]
pub struct Program {
    study: Study,
    body: Loop,
}

impl std::fmt::Debug for Program {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Program").field("study", &self.study).finish_non_exhaustive()
    }
}

impl Program {
    /// A program of that name around a loop; see [`Run`] for what it has.
    pub fn new<E: Into<BoxError>>(
        name: &str,
        body: impl Fn(&mut Run) -> Result<(), E> + 'static,
    ) -> Self {
        let study = Study::new(name, "");
        Self { study, body: Box::new(move |run| body(run).map_err(Into::into)) }
    }

    fn axis(
        mut self,
        name: &str,
        role: Role,
        values: impl IntoIterator<Item = impl Into<Value>>,
    ) -> Self {
        self.study.axis(Axis::new(name, role, values));
        self
    }

    /// Compares these values of an axis; of several axes, all combinations. The first is the baseline.
    pub fn compare(self, axis: &str, values: impl IntoIterator<Item = impl Into<Value>>) -> Self {
        self.axis(axis, Role::Compared, values)
    }

    /// Chooses the best of these values for everything that is compared.
    pub fn tune(self, axis: &str, values: impl IntoIterator<Item = impl Into<Value>>) -> Self {
        self.axis(axis, Role::Tuned, values)
    }

    /// Makes a verdict at each of these values.
    pub fn each(self, axis: &str, values: impl IntoIterator<Item = impl Into<Value>>) -> Self {
        self.axis(axis, Role::Each, values)
    }

    /// Gives an axis one value, which the command line can change.
    pub fn set(self, axis: &str, value: impl Into<Value>) -> Self {
        self.axis(axis, Role::Each, [value])
    }

    /// Names the measure that decides.
    pub fn primary(mut self, measure: &str) -> Self {
        self.study.primary = measure.to_owned();
        self
    }

    /// Names the measure that what is tuned is chosen by.
    pub fn select(mut self, measure: &str) -> Self {
        self.study.selection = Some(measure.to_owned());
        self
    }

    /// Says of a measure that higher values are better.
    pub fn higher(mut self, measure: &str) -> Self {
        self.study.higher.push(measure.to_owned());
        self
    }

    /// So many runs of each setting.
    pub fn seeds(mut self, seeds: u64) -> Self {
        self.study.seeds = seeds;
        self
    }

    /// A difference of the primary measure that nobody would care about.
    pub fn negligible(mut self, difference: f64) -> Self {
        self.study.negligible = difference;
        self
    }

    /// Parses the command line, carries it out, and says how it went. Without arguments it is `compare`.
    pub fn main(self) -> ExitCode {
        let Self { study, body } = self;
        let name: &'static str = study.name.clone().leak();
        let command = || OwnArguments::command().name(name).bin_name(name);
        let matches = match std::env::args_os().len() {
            1 => command().get_matches_from([name, "compare"]),
            _ => command().get_matches(),
        };
        let arguments =
            OwnArguments::from_arg_matches(&matches).unwrap_or_else(|error| error.exit());
        let outcome = match arguments.command {
            OwnCommand::Compare(compare) => compare.run(study),
            OwnCommand::Submit(submit) => submit.run(study, name),
            // What `judge` compares are commands, here as well.
            OwnCommand::Work(workforce) if has_commands(&workforce) => {
                workforce.work::<Processes>(|_| Ok(Processes))
            }
            OwnCommand::Work(workforce) => {
                let cores = Cores::here(workforce.slots);
                let program = study.name.clone();
                workforce.work(|_| Ok(Loops { body: &body, program, cores }))
            }
            OwnCommand::Shared(shared) => shared.run(command()),
        };
        said(name, outcome)
    }
}

/// Whether the runs of a comparison are those of commands; not where there is none.
fn has_commands(workforce: &Workforce) -> bool {
    let comparison =
        ComparisonFolder::<Study>::open(&workforce.folder).and_then(|f| f.comparison());
    comparison.is_ok_and(|comparison| comparison.recipe.has_commands())
}

/// Compares settings of this program by the results of its runs over seeds.
///
/// Exit codes: 0 done, 1 a run failed or was refused, 2 wrong usage, 130 interrupted (everything
/// finished so far is on disk, and the same command goes on from there).
#[derive(Debug, Parser)]
#[command(propagate_version = false)]
struct OwnArguments {
    #[command(subcommand)]
    command: OwnCommand,
}

#[derive(Debug, Subcommand)]
enum OwnCommand {
    Compare(OwnCompare),
    Submit(OwnSubmit),
    /// Work on a comparison's folder, beside any number of other workers
    Work(Workforce),
    #[command(flatten)]
    Shared(Shared),
}

/// Run the program at all settings and seeds, and say which is better
#[derive(Debug, Args)]
struct OwnCompare {
    #[command(flatten)]
    varied: Varied,
    #[command(flatten)]
    shown: Shown,
    /// Runs at the same time [default: one a processor core]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    jobs: Option<u16>,
}

impl OwnCompare {
    fn run(self, mut study: Study) -> Result<ExitCode> {
        let Self { varied, shown, jobs } = self;
        let decided = varied.decided.clone();
        decided.change(&mut study);
        varied.change(&mut study);
        needs_measure(&study)?;
        study.validate()?;
        let folder = decided.make_folder(&study)?;
        let jobs = jobs.map_or_else(
            || std::thread::available_parallelism().map_or(1, std::num::NonZero::get),
            usize::from,
        );
        let places = std::iter::repeat_n(Vec::new(), jobs);
        shown.carry_out::<Study>(folder.path(), places, |_| Vec::new())?.exit_code()
    }
}

/// Hand a comparison to a cluster, whose engine starts workers on its folder
#[derive(Debug, Args)]
struct OwnSubmit {
    #[command(flatten)]
    varied: Varied,
    #[command(flatten)]
    submission: Submission,
}

impl OwnSubmit {
    fn run(self, mut study: Study, tool: &str) -> Result<ExitCode> {
        let Self { varied, submission } = self;
        let decided = varied.decided.clone();
        decided.change(&mut study);
        varied.change(&mut study);
        needs_measure(&study)?;
        study.validate()?;
        submission.run(tool, &study, &decided)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn command_line_is_consistent() {
        OwnArguments::command().debug_assert();
    }
}
