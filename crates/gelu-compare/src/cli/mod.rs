//! The command line: one file a command. Parses and prints, nothing else. Other programs take single
//! commands into theirs.

mod completions;
mod verdict;

pub use completions::{Completions, Man};
pub use verdict::Verdict;

use crate::output::complain;
use clap::{CommandFactory, Parser, Subcommand};
use std::process::ExitCode;

/// Says which setting is better, from results over seeds.
///
/// Exit codes: 0 done, 1 refused, 2 wrong usage.
#[derive(Debug, Parser)]
#[command(name = "gelu-compare", version, propagate_version = true)]
struct Arguments {
    #[command(subcommand)]
    command: Commands,
}

#[derive(Debug, Subcommand)]
enum Commands {
    Verdict(Verdict),
    Completions(Completions),
    Man(Man),
}

/// The program `gelu-compare`: parses the command line, carries it out, and says how it went.
pub fn main() -> ExitCode {
    let outcome = match Arguments::parse().command {
        Commands::Verdict(verdict) => verdict.run(str::to_owned),
        Commands::Completions(completions) => completions.run(command()),
        Commands::Man(man) => man.run(command()),
    };
    outcome.unwrap_or_else(|error| {
        complain(&format!("gelu-compare: {error}\n"));
        ExitCode::from(error.exit_code())
    })
}

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
