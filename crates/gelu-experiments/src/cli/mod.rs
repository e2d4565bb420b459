//! The command line, one file per command. It only parses and prints.

mod chance;
mod compare;
mod data;
mod devices;
mod dry_run;
mod eval;
mod export;
mod own;
mod predict;
mod program;
#[cfg(test)]
mod quoted;
mod recipe;
mod selection;
mod submit;
mod suggested;
mod train;
mod work;
mod written;

use crate::Error;
use crate::comparison::label;
use crate::recipe::Recipe;
use crate::report::Functions;
use clap::{CommandFactory, Parser, Subcommand};
use gelu_compare::cli::{Completions, Man, Pack, Report, Runs, Unpack, Verdict, Watch};
use gelu_compare::extension::extend;
use gelu_compare::output::{complain, print};
use gelu_learner::networks::Networks;
use std::process::ExitCode;

pub use program::Program;

/// Trains and compares activation functions on the GELU paper's experiments.
///
/// Exit codes: 0 done, 1 a run failed or was refused, 2 wrong usage, 130 interrupted (all finished work is on disk;
/// run the same command to resume).
#[derive(Debug, Parser)]
#[command(name = "gelu", version, propagate_version = true)]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Train a network with several activations, settings and seeds, and compare them
    Compare(compare::Compare),
    /// Train one run, in Burn's own terminal display
    Train(train::Train),
    /// Measure trained networks on every split of their data
    Eval(eval::Eval),
    /// Predict with the best network of a comparison, from an image, a row of a table, a recording, words, a text or
    /// a point
    Predict(predict::Predict),
    /// Write a trained network as a safetensors file with PyTorch's names
    Export(export::Export),
    Watch(Watch),
    Verdict(Verdict),
    Report(Report),
    Runs(Runs),
    Pack(Pack),
    Unpack(Unpack),
    /// List the built-in experiments, print one as a recipe to edit, or write a recipe for your own data
    Recipe(recipe::RecipeCommand),
    /// List, fetch, check and generate data sets
    Data(data::Data),
    /// List the devices of this build, and whether each works
    Devices(devices::Devices),
    /// Hand a comparison to a cluster, whose engine starts workers on its folder
    Submit(submit::Submit),
    /// Work on a comparison's folder: train its missing runs one after the other, along with any number of other
    /// workers, on this machine and on others
    Work(work::Work),
    Completions(Completions),
    Man(Man),
}

/// Runs the program `gelu`: parses the command line, executes it, and returns the exit code. To add activations of
/// your own, use a [`Program`].
pub fn main() -> ExitCode {
    Program::new().run()
}

fn run() -> ExitCode {
    extend(&[&Networks, &Functions]);
    let arguments = Arguments::parse();
    if let Err(refusal) = gelu_kernels::Level::chosen() {
        return refuse(&Error::Usage(refusal));
    }
    #[cfg(feature = "flex")]
    if let Err(refusal) = gelu_training::kernels::convolution::Method::chosen() {
        return refuse(&Error::Usage(refusal));
    }
    let outcome = match arguments.command {
        Command::Compare(command) => command.run(),
        Command::Train(command) => command.run(),
        Command::Eval(command) => command.run(),
        Command::Predict(command) => command.run(),
        Command::Export(command) => command.run(),
        Command::Watch(command) => command.run::<Recipe>(),
        Command::Verdict(command) => command.run(label),
        Command::Report(command) => command.run::<Recipe>(),
        Command::Runs(command) => command.run::<Recipe>(),
        Command::Pack(command) => command.run::<Recipe>(),
        Command::Unpack(command) => command.run(),
        Command::Recipe(command) => command.run(),
        Command::Completions(completions) => completions.run(command()),
        Command::Man(man) => man.run(command()),
        Command::Data(command) => command.run(),
        Command::Devices(command) => command.run(),
        Command::Submit(command) => command.run(),
        Command::Work(command) => command.run(),
    };
    outcome.unwrap_or_else(|error| refuse(&error))
}

/// Prints the error and returns its exit code.
fn refuse(error: &Error) -> ExitCode {
    complain(&format!("gelu: {error}\n"));
    ExitCode::from(error.exit_code())
}

/// Returns clap's command, for completions and the manual.
fn command() -> clap::Command {
    Arguments::command()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn command_line_is_consistent() {
        command().debug_assert();
    }
}
