//! The command line: one file a command. Parses and prints, nothing else.

mod compare;
mod data;
mod devices;
mod eval;
mod report;
mod selection;
mod signals;
mod train;
mod watch;
mod worker;

use crate::{Error, Result};
use clap::{Parser, Subcommand};
use std::process::ExitCode;

/// Trains and compares activation functions on the GELU paper's experiments.
///
/// Exit codes: 0 done, 1 a run failed or was refused, 2 wrong usage, 130 interrupted (everything
/// finished so far is on disk, and the same command goes on from there).
#[derive(Debug, Parser)]
#[command(name = "gelu", version, propagate_version = true)]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Train an experiment with several activations, seeds and settings, and compare them
    Compare(compare::Compare),
    /// Train one run, in Burn's own terminal display
    Train(train::Train),
    /// Measure trained networks on every split of their data
    Eval(eval::Eval),
    /// Show the dashboard of a comparison that another process makes, or that is finished
    Watch(watch::Watch),
    /// Write the table, figures and data of a comparison's finished runs again
    Report(report::Report),
    /// List, fetch, check and generate data sets
    Data(data::Data),
    /// List the devices of this build
    Devices(devices::Devices),
    /// Carry out one run of a comparison (what `compare` starts)
    #[command(hide = true)]
    Worker(worker::Worker),
}

/// Parses the command line, carries it out, and says how it went.
pub fn main() -> ExitCode {
    let outcome = match Arguments::parse().command {
        Command::Compare(command) => command.run(),
        Command::Train(command) => command.run(),
        Command::Eval(command) => command.run(),
        Command::Watch(command) => command.run(),
        Command::Report(command) => command.run(),
        Command::Data(command) => command.run(),
        Command::Devices(command) => command.run(),
        Command::Worker(command) => command.run(),
    };
    outcome.unwrap_or_else(|error| {
        eprintln!("gelu: {error}");
        ExitCode::from(error.exit_code())
    })
}

/// Prints to standard output. A reader that has gone away (`gelu report … | head`) is no error.
fn print(text: &str) -> Result<()> {
    use std::io::{ErrorKind, Write};
    match std::io::stdout().lock().write_all(text.as_bytes()) {
        Err(error) if error.kind() != ErrorKind::BrokenPipe => {
            Err(Error::io("write to", "standard output")(error))
        }
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    #[test]
    fn command_line_is_consistent() {
        Arguments::command().debug_assert();
    }
}
