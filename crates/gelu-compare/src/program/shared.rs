//! The commands that every program has.

use super::log::Log;
use super::process::BecomeProgram;
use super::session::Session;
use super::{Judge, ProgramRecipe};
use crate::cli::{Completions, Man, Pack, Report, Runs, Unpack, Verdict, Watch};
use crate::comparison::SnapshotReader;
use crate::output::complain;
use crate::runs::Recipe;
use crate::{Error, Result};
use clap::Subcommand;
use std::process::ExitCode;

/// Returns the exit code, and prints the error if there is one.
pub(super) fn said(tool: &str, outcome: Result<ExitCode>) -> ExitCode {
    outcome.unwrap_or_else(|error| {
        complain(&format!("{tool}: {error}\n"));
        ExitCode::from(error.exit_code())
    })
}

/// Returns an error if the runs of a comparison are those of another program's loop.
pub(super) fn goes_on_with(reader: &SnapshotReader<ProgramRecipe>, program: &str) -> Result<()> {
    let made_by = reader.plan().recipe.program();
    match made_by == program {
        true => Ok(()),
        false => Err(Error::Usage(format!(
            "{} holds a comparison of {made_by}; work on it with: {made_by} work",
            reader.folder().path().display()
        ))),
    }
}

/// The commands that every program has.
#[derive(Debug, Subcommand)]
pub(super) enum Shared {
    Watch(Watch),
    Report(Report),
    Runs(Runs),
    Log(Log),
    Judge(Box<Judge>),
    Session(Session),
    Verdict(Box<Verdict>),
    Pack(Pack),
    Unpack(Unpack),
    Completions(Completions),
    Man(Man),
    #[command(hide = true)]
    BecomeProgram(BecomeProgram),
}

impl Shared {
    pub(super) fn run(self, command: clap::Command) -> Result<ExitCode> {
        match self {
            Self::Watch(watch) => watch.run::<ProgramRecipe>(),
            Self::Report(report) => report.run::<ProgramRecipe>(),
            Self::Runs(runs) => runs.run::<ProgramRecipe>(),
            Self::Log(log) => log.run(),
            Self::Judge(judge) => judge.run(),
            Self::Session(session) => session.run(),
            Self::Verdict(verdict) => verdict.run(str::to_owned),
            Self::Pack(pack) => pack.run::<ProgramRecipe>(),
            Self::Unpack(unpack) => unpack.run(),
            Self::Completions(completions) => completions.run(command),
            Self::Man(man) => man.run(command),
            Self::BecomeProgram(program) => Ok(program.run()),
        }
    }
}
