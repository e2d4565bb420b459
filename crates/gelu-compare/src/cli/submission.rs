use super::Batch;
use crate::Result;
use crate::cluster::{self, SlurmJob};
use crate::output::print;
use clap::Args;
use std::ffi::OsString;
use std::path::Path;
use std::process::ExitCode;

/// What is asked of a cluster, as flags.
#[derive(Debug, Args)]
pub struct Submission {
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
    /// The same for runs that have so many seconds to end by themselves once they are given up.
    #[must_use]
    pub fn with_grace(self, seconds: u64) -> Self {
        Self { batch: self.batch.with_grace(seconds), ..self }
    }

    /// Hands the comparison of that name, whose folder `make` makes, to workers of the program `tool`, each
    /// of which is told `words`.
    ///
    /// # Errors
    ///
    /// What Slurm cannot be told, before anything is made; those of `make`; what `sbatch` says.
    pub fn run(
        self,
        tool: &str,
        name: &str,
        out: &Path,
        words: Vec<OsString>,
        make: impl FnOnce() -> Result<()>,
    ) -> Result<ExitCode> {
        let job = self.slurm.then(|| self.batch.job(tool, name, out, words)).transpose()?;
        let script = job.as_ref().map(SlurmJob::script).transpose()?;
        if let (true, Some(script)) = (self.dry_run, script) {
            print(&script)?;
            return Ok(ExitCode::SUCCESS);
        }
        make()?;
        let shown = out.display().to_string();
        // As a flag nobody could name it.
        let shown = if shown.starts_with('-') { format!("./{shown}") } else { shown };
        let shown = cluster::quoted(&shown);
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
