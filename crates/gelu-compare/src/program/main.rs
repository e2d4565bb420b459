use super::execution::{Execution, Workers};
use super::flags::{AxisFlags, DecisionFlags, ReadingFlags};
use super::shared::{Shared, goes_on_with, said};
use super::{DeviceNames, Processes, ProgramRecipe, Template};
use crate::Result;
use crate::cli::{Submission, Workforce};
use clap::{Args, CommandFactory, Parser, Subcommand};
use std::process::ExitCode;

/// Say which setting of a program is better, from its results over several seeds.
///
/// Exit codes: 0 done, 1 a run failed or was refused, 2 wrong usage, 130 interrupted (finished work is saved, and the
/// same command continues).
#[derive(Debug, Parser)]
#[command(name = "gelu-compare", version, propagate_version = true)]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    Compare(Compare),
    Submit(Submit),
    /// Work on a comparison's folder, together with any number of other workers
    Work(Workforce),
    #[command(flatten)]
    Shared(Shared),
}

/// A command and its axes.
#[derive(Debug, Args)]
struct Varying {
    /// The command, with {AXIS} and {seed} in place of values: 'python train.py --lr {lr} --seed {seed}'
    #[arg(value_name = "COMMAND")]
    command: String,
    #[command(flatten)]
    varied: AxisFlags,
    #[command(flatten)]
    reading: ReadingFlags,
    /// The program reads its values from $GELU_SETTING, which holds them as JSON
    #[arg(long)]
    environment: bool,
    /// Name of the comparison [default: the program's name]
    #[arg(long, value_name = "NAME")]
    name: Option<String>,
}

impl Varying {
    fn recipe(self) -> Result<(ProgramRecipe, DecisionFlags)> {
        let Self { command, varied, reading, environment, name } = self;
        let template = Template::parse(&command)?;
        let name = name.unwrap_or_else(|| template.name());
        let mut recipe = ProgramRecipe::new(&name, "");
        recipe.command = Some(command);
        recipe.environment = environment;
        reading.change(&mut recipe);
        let decided = varied.decided.clone();
        decided.change(&mut recipe)?;
        varied.change(&mut recipe);
        decided.say_units(&mut recipe);
        decided.check(&recipe)?;
        reading.read_contents(&mut recipe)?;
        template.warn_of_shell();
        Ok((recipe, decided))
    }
}

/// Run a command at all settings and seeds, and say which setting is better
#[derive(Debug, Args)]
struct Compare {
    #[command(flatten)]
    varying: Varying,
    #[command(flatten)]
    execution: Execution,
}

/// Submit a comparison to a cluster, whose engine starts workers on its folder
#[derive(Debug, Args)]
struct Submit {
    #[command(flatten)]
    varying: Varying,
    #[command(flatten)]
    submission: Submission,
}

impl Command {
    fn run(self) -> Result<ExitCode> {
        match self {
            Self::Compare(Compare { varying, execution }) => {
                let (recipe, decided) = varying.recipe()?;
                let done = execution.carry_out(
                    &recipe,
                    &decided,
                    &DeviceNames::default(),
                    Workers::of_commands(),
                )?;
                done.map_or(Ok(ExitCode::SUCCESS), |done| done.exit_code())
            }
            Self::Submit(Submit { varying, submission }) => {
                let (recipe, decided) = varying.recipe()?;
                submission.with_grace(recipe.grace.unwrap_or(0)).run(
                    "gelu-compare",
                    &recipe.name,
                    &decided.out(&recipe)?,
                    Vec::new(),
                    || decided.make_folder(&recipe, &DeviceNames::default()).map(drop),
                )
            }
            Self::Work(workforce) => workforce.work::<Processes>(|reader| {
                goes_on_with(reader, "gelu-compare").map(|()| Processes)
            }),
            Self::Shared(shared) => shared.run(Arguments::command()),
        }
    }
}

/// Returns the command line of `gelu-compare`, as clap's type.
#[cfg(test)]
pub(crate) fn command() -> clap::Command {
    Arguments::command()
}

/// Runs the program `gelu-compare`: parses the command line, carries it out, and returns the exit code.
pub fn compare_processes() -> ExitCode {
    said("gelu-compare", Arguments::parse().command.run())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn command_line_is_consistent() {
        Arguments::command().debug_assert();
    }

    #[test]
    fn no_argument_answers_with_a_parsers_own_error() {
        assert_eq!(crate::cli::raw_refusals(&Arguments::command()), [""; 0]);
    }
}
