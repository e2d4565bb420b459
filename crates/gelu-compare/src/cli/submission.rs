use super::Batch;
use crate::Result;
use crate::cluster::{self, SlurmJob};
use crate::output::print;
use clap::Args;
use std::ffi::OsString;
use std::path::Path;
use std::process::ExitCode;

/// Flags for submitting a comparison to a cluster.
#[derive(Debug, Args)]
pub struct Submission {
    /// Submit an array of Slurm jobs; without this flag, only create the folder, for another cluster engine
    #[arg(long)]
    slurm: bool,
    /// Print the script and submit nothing
    #[arg(long, requires = "slurm")]
    dry_run: bool,
    #[command(flatten)]
    batch: Batch,
}

impl Submission {
    /// Returns these flags for runs that need up to `seconds` to end by themselves after the worker gives them up.
    #[must_use]
    pub fn with_grace(self, seconds: u64) -> Self {
        Self { batch: self.batch.with_grace(seconds), ..self }
    }

    /// Creates the comparison's folder `out` with `make`, and submits workers on it or prints how to start them.
    /// `name` is the comparison's name; the workers run the program `tool` with the additional arguments `words`.
    ///
    /// # Errors
    ///
    /// Returns an error if Slurm cannot take a value, which is checked before anything is created; if `make` fails;
    /// or if `sbatch` refuses the job.
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
        // Without `./`, the folder would be taken for a flag.
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
