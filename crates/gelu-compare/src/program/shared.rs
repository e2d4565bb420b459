//! The commands that every program has.

use super::flags::Decided;
use super::{Judge, On, Study};
use crate::Result;
use crate::cli::{Batch, Completions, Man, Report, Runs, Verdict, Watch, absolute};
use crate::cluster::{self, SlurmJob};
use crate::output::{complain, print};
use clap::{Args, Subcommand};
use std::ffi::OsString;
use std::process::ExitCode;

/// Says what went wrong, if anything did.
pub(super) fn said(tool: &str, outcome: Result<ExitCode>) -> ExitCode {
    outcome.unwrap_or_else(|error| {
        complain(&format!("{tool}: {error}\n"));
        ExitCode::from(error.exit_code())
    })
}

/// What is asked of a cluster.
#[derive(Debug, Args)]
pub(super) struct Submission {
    /// Submit an array of Slurm jobs; without it, only the folder is made, for another engine
    #[arg(long)]
    slurm: bool,
    /// Print the script, and submit nothing
    #[arg(long, requires = "slurm")]
    dry_run: bool,
    #[command(flatten)]
    batch: Batch,
}

impl Submission {
    /// `words` are told to every worker.
    pub(super) fn run(
        self,
        tool: &str,
        study: &Study,
        decided: &Decided,
        on: &On,
        words: Vec<OsString>,
    ) -> Result<ExitCode> {
        let out = absolute(&decided.out(study))?;
        let job = self.batch.job(tool, &study.name, &out, words);
        let job = self.slurm.then_some(job).transpose()?;
        // What Slurm cannot be told is refused before anything is made.
        let script = job.as_ref().map(SlurmJob::script).transpose()?;
        if let (true, Some(script)) = (self.dry_run, script) {
            print(&script)?;
            return Ok(ExitCode::SUCCESS);
        }
        decided.make_folder(study, on)?;
        let shown = cluster::quoted(&decided.out(study).display().to_string());
        print(&match job {
            Some(job) => {
                let said = cluster::submit(&job)?;
                format!("{said}\nSee how it goes with: {tool} watch {shown}\n")
            }
            None => format!(
                "Made {shown}; start workers on it, on this machine or on others, with: {tool} work \
                 {shown}\n"
            ),
        })?;
        Ok(ExitCode::SUCCESS)
    }
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
        }
    }
}
