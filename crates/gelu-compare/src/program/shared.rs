//! The commands that every program has.

use super::process::BecomeProgram;
use super::{Judge, Study};
use crate::Result;
use crate::cli::{Completions, Man, Report, Runs, Verdict, Watch};
use crate::output::complain;
use clap::Subcommand;
use std::process::ExitCode;

/// Says what went wrong, if anything did.
pub(super) fn said(tool: &str, outcome: Result<ExitCode>) -> ExitCode {
    outcome.unwrap_or_else(|error| {
        complain(&format!("{tool}: {error}\n"));
        ExitCode::from(error.exit_code())
    })
}

/// The commands that every program has.
#[derive(Debug, Subcommand)]
pub(super) enum Shared {
    Watch(Watch),
    Report(Report),
    Runs(Runs),
    Judge(Judge),
    Verdict(Verdict),
    Completions(Completions),
    Man(Man),
    #[command(hide = true)]
    BecomeProgram(BecomeProgram),
}

impl Shared {
    pub(super) fn run(self, command: clap::Command) -> Result<ExitCode> {
        match self {
            Self::Watch(watch) => watch.run::<Study>(),
            Self::Report(report) => report.run::<Study>(|_| Vec::new()),
            Self::Runs(runs) => runs.run::<Study>(),
            Self::Judge(judge) => judge.run(),
            Self::Verdict(verdict) => verdict.run(str::to_owned),
            Self::Completions(completions) => completions.run(command),
            Self::Man(man) => man.run(command),
            Self::BecomeProgram(program) => Ok(program.run()),
        }
    }
}
