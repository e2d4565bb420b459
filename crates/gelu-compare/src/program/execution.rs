use super::dry_run::dry_run;
use super::flags::Decided;
use super::{On, Study};
use crate::Result;
use crate::cli::whole;
use crate::cli::{CarriedOut, Shown};
use clap::Args;
use std::ffi::OsString;

/// How a comparison is carried out, as flags.
#[derive(Debug, Args)]
pub(super) struct Execution {
    #[command(flatten)]
    pub(super) shown: Shown,
    /// Runs at the same time [default: 1 of a command; of a loop of the program's own, one a processor
    /// core]
    #[arg(long, value_name = "N", value_parser = whole::<u16>(1..=65535))]
    jobs: Option<u16>,
    /// Say what would be run, and run nothing
    #[arg(long)]
    dry_run: bool,
}

impl Execution {
    /// Runs what is wanted, where nothing else was chosen so many at a time, and tells every worker
    /// `words`; `None` where it is only said what that would be.
    pub(super) fn carry_out(
        self,
        study: &Study,
        decided: &Decided,
        on: &On,
        words: Vec<OsString>,
        jobs: usize,
    ) -> Result<Option<CarriedOut>> {
        if self.dry_run {
            let out = decided.out(study);
            dry_run(&decided.comparison(study, on, &out)?, &out)?;
            return Ok(None);
        }
        let folder = decided.make_folder(study, on)?;
        let places = std::iter::repeat_n(words, self.jobs.map_or(jobs, usize::from));
        self.shown.carry_out::<Study>(folder.path(), places, |_| Vec::new()).map(Some)
    }
}
