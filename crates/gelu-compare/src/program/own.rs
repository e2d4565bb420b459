use super::execution::{Execution, Workers};
use super::flags::{AxisFlags, DecisionFlags};
use super::shared::{Shared, goes_on_with, said};
use super::train::Train;
use super::{Processes, ProgramBody, ProgramRecipe, Work, WrapsFunction, executable};
use crate::Result;
use crate::cli::{Submission, Workforce};
use crate::measure::Measure;
use crate::runs::Comparison;
use crate::setting::{Axis, Role, Value};
use crate::worker::Cores;
use clap::{Args, CommandFactory, FromArgMatches, Parser, Subcommand};
use std::process::ExitCode;

/// A program that compares settings by the measures of its runs. It has the whole command line, and starts itself as
/// a worker. [`Program`](crate::Program) wraps your own training loop:
///
/// ```no_run
/// # use gelu_compare::{Program, Result, Run};
/// # fn descend(run: &mut Run) -> Result<()> { Ok(()) }
/// fn main() -> std::process::ExitCode {
///     Program::new("descent", descend).compare("step", [0.01, 0.02, 0.05]).primary("height").main()
/// }
/// ```
#[derive(Debug)]
#[must_use = "a program does nothing until it is run"]
pub struct ProgramOf<B> {
    recipe: ProgramRecipe,
    body: B,
}

impl<B: ProgramBody> ProgramOf<B> {
    /// Creates a program of the given name around a function. The body passes a [`Run`](crate::Run) or similar to the
    /// function.
    pub fn new<F, Marker>(name: &str, function: F) -> Self
    where
        B: WrapsFunction<F, Marker>,
    {
        Self { recipe: ProgramRecipe::new(name, ""), body: B::wrapping(function) }
    }

    fn axis(
        mut self,
        name: &str,
        role: Role,
        values: impl IntoIterator<Item = impl Into<Value>>,
    ) -> Self {
        self.recipe.axis(Axis::new(name, role, values));
        self
    }

    /// Compares these values of an axis; for several axes, all combinations. The first value is the baseline.
    pub fn compare(self, axis: &str, values: impl IntoIterator<Item = impl Into<Value>>) -> Self {
        self.axis(axis, Role::Compared, values)
    }

    /// Chooses the best of these values for each compared setting.
    pub fn tune(self, axis: &str, values: impl IntoIterator<Item = impl Into<Value>>) -> Self {
        self.axis(axis, Role::Tuned, values)
    }

    /// Makes a separate verdict at each of these values.
    pub fn each(self, axis: &str, values: impl IntoIterator<Item = impl Into<Value>>) -> Self {
        self.axis(axis, Role::Each, values)
    }

    /// Gives an axis one value, which the command line can change.
    pub fn set(self, axis: &str, value: impl Into<Value>) -> Self {
        self.axis(axis, Role::Each, [value])
    }

    /// Sets the measure that decides.
    pub fn primary(mut self, measure: &str) -> Self {
        self.recipe.primary = measure.to_owned();
        self
    }

    /// Sets the measure that selects the tuned values.
    pub fn select(mut self, measure: &str) -> Self {
        self.recipe.selection = Some(measure.to_owned());
        self
    }

    /// Declares that higher values of a measure are better.
    pub fn higher(mut self, measure: &str) -> Self {
        self.recipe.higher.push(measure.to_owned());
        self
    }

    /// Declares a measure: whether higher or lower values are better, and its unit.
    ///
    /// ```
    /// # use gelu_compare::measure::{Measure, Unit};
    /// let time = Measure::named("seconds").in_unit(Unit::named("s"));
    /// let accuracy = Measure::named("test_accuracy").higher().points();
    /// ```
    pub fn measure(mut self, measure: Measure) -> Self {
        self.recipe.declare(measure);
        self
    }

    /// Sets the number of runs of each setting.
    pub fn seeds(mut self, seeds: u64) -> Self {
        self.recipe.seeds = seeds;
        self
    }

    /// Sets the largest difference of the primary measure that is too small to care about.
    pub fn negligible(mut self, difference: f64) -> Self {
        self.recipe.negligible = difference;
        self
    }

    /// Parses the command line, carries it out, and returns the exit code. Without arguments it runs `compare`.
    pub fn main(self) -> ExitCode {
        let Self { recipe, body } = self;
        let name: &'static str = recipe.name.clone().leak();
        let command = || OwnArguments::<B::Flags>::command().name(name).bin_name(name);
        let matches = match std::env::args_os().len() {
            1 => command().get_matches_from([name, "compare"]),
            _ => command().get_matches(),
        };
        let arguments =
            OwnArguments::from_arg_matches(&matches).unwrap_or_else(|error| error.exit());
        let outcome = match arguments.command {
            OwnCommand::Compare(compare) => compare.run(recipe, &body),
            OwnCommand::Submit(submit) => submit.run(recipe, &body, name),
            OwnCommand::Train(train) => train.run(recipe, &body),
            OwnCommand::Work(work) => work.run(&body, name),
            OwnCommand::Shared(shared) => shared.run(command()),
        };
        said(name, outcome)
    }
}

/// Returns whether the runs of a comparison are those of commands; `false` if there is no comparison.
fn has_commands(workforce: &Workforce) -> bool {
    let plan = Comparison::<ProgramRecipe>::open(&workforce.folder).and_then(|f| f.plan());
    plan.is_ok_and(|plan| plan.recipe.has_commands())
}

/// Compare settings of this program by the results of its runs over several seeds.
///
/// Exit codes: 0 done, 1 a run failed or was refused, 2 wrong usage, 130 interrupted (finished work is saved, and the
/// same command continues).
#[derive(Debug, Parser)]
#[command(propagate_version = false)]
struct OwnArguments<F: Args> {
    #[command(subcommand)]
    command: OwnCommand<F>,
}

#[derive(Debug, Subcommand)]
#[allow(clippy::large_enum_variant, reason = "there is one, and it lives as long as the program")]
enum OwnCommand<F: Args> {
    Compare(OwnCompare<F>),
    Submit(OwnSubmit<F>),
    Train(Train<F>),
    Work(OwnWork<F>),
    #[command(flatten)]
    Shared(Shared),
}

/// Applies the flags to the program's own recipe.
fn asked<B: ProgramBody>(
    mut recipe: ProgramRecipe,
    varied: AxisFlags,
    body: &B,
) -> Result<(ProgramRecipe, DecisionFlags)> {
    let varied = varied.of(&recipe)?;
    let decided = varied.decided.clone();
    decided.change(&mut recipe)?;
    varied.change(&mut recipe);
    body.declare(&mut recipe);
    decided.say_units(&mut recipe);
    decided.check(&recipe)?;
    Ok((recipe, decided))
}

/// Run the program at all settings and seeds, and say which setting is better
#[derive(Debug, Args)]
struct OwnCompare<F: Args> {
    #[command(flatten)]
    varied: AxisFlags,
    #[command(flatten)]
    execution: Execution,
    #[command(flatten)]
    flags: F,
}

impl<F: Args> OwnCompare<F> {
    fn run<B: ProgramBody<Flags = F>>(self, recipe: ProgramRecipe, body: &B) -> Result<ExitCode> {
        let Self { varied, execution, flags } = self;
        let on = body.on(&flags)?;
        let (recipe, decided) = asked(recipe, varied, body)?;
        let cores = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
        let workers = Workers { words: body.places(&flags), jobs: cores };
        let done = execution.carry_out(&recipe, &decided, &on, workers)?;
        done.map_or(Ok(ExitCode::SUCCESS), |done| done.exit_code())
    }
}

/// Submit a comparison to a cluster, whose engine starts workers on its folder
#[derive(Debug, Args)]
struct OwnSubmit<F: Args> {
    #[command(flatten)]
    varied: AxisFlags,
    #[command(flatten)]
    flags: F,
    #[command(flatten)]
    submission: Submission,
}

impl<F: Args> OwnSubmit<F> {
    fn run<B: ProgramBody<Flags = F>>(
        self,
        recipe: ProgramRecipe,
        body: &B,
        tool: &str,
    ) -> Result<ExitCode> {
        let Self { varied, flags, submission } = self;
        let on = body.on(&flags)?;
        let (recipe, decided) = asked(recipe, varied, body)?;
        submission.run(tool, &recipe.name, &decided.out(&recipe)?, body.words(&flags), || {
            decided.make_folder(&recipe, &on).map(drop)
        })
    }
}

/// Work on a comparison's folder, together with any number of other workers
#[derive(Debug, Args)]
struct OwnWork<F: Args> {
    #[command(flatten)]
    workforce: Workforce,
    #[command(flatten)]
    flags: F,
}

impl<F: Args> OwnWork<F> {
    fn run<B: ProgramBody<Flags = F>>(self, body: &B, name: &str) -> Result<ExitCode> {
        let Self { workforce, flags } = self;
        // A comparison by `judge` has commands, in this program too.
        if has_commands(&workforce) {
            return workforce.work::<Processes>(|_| Ok(Processes));
        }
        let (cores, is_supervised) = (Cores::here(workforce.slots), workforce.supervised);
        workforce.work(|reader| {
            goes_on_with(reader, name)?;
            if !is_supervised {
                executable::announce_change(reader.folder().path());
            }
            let plan = reader.plan();
            let flags = &flags;
            body.trainer(Work { program: name, plan, flags, cores, display: None })
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::program::NoFlags;

    #[test]
    fn command_line_is_consistent() {
        OwnArguments::<NoFlags>::command().debug_assert();
    }
}
