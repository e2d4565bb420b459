use super::compare::Varied;
use super::print;
use super::selection::{Selected, Selection};
use crate::Result;
use crate::cluster::{self, SlurmJob};
use clap::Args;
use gelu_compare::cli::{Batch, absolute};
use std::process::ExitCode;

/// Workers on a cluster.
#[derive(Debug, Args)]
pub(super) struct Submit {
    #[command(flatten)]
    selection: Selection,
    #[command(flatten)]
    varied: Varied,
    /// Submit an array of Slurm jobs; without it, only the folder is made, for another engine
    #[arg(long)]
    slurm: bool,
    /// Print the script, and submit nothing
    #[arg(long, requires = "slurm")]
    dry_run: bool,
    #[command(flatten)]
    batch: Batch,
}

impl Submit {
    pub(super) fn run(self) -> Result<ExitCode> {
        let Self { selection, varied, slurm, dry_run, batch } = self;
        let (selected, comparison) = varied.select(selection)?;
        let job = slurm.then(|| Self::job(batch, &selected)).transpose()?;
        // What Slurm cannot be told is refused before anything is made.
        let script = job.as_ref().map(SlurmJob::script).transpose()?;
        if let (true, Some(script)) = (dry_run, script) {
            print(&script)?;
            return Ok(ExitCode::SUCCESS);
        }
        selected.make_folder(&comparison)?;
        let out = cluster::quoted(&selected.out.display().to_string());
        print(&match job {
            Some(job) => {
                let said = cluster::submit(&job)?;
                format!("{said}\nSee how it goes with: gelu watch {out}\n")
            }
            None => format!(
                "Made {out}; start workers on it, on this machine or on others, with: gelu work {out}\n"
            ),
        })?;
        Ok(ExitCode::SUCCESS)
    }
}

impl Submit {
    fn job(batch: Batch, selected: &Selected) -> Result<SlurmJob> {
        let mut arguments = vec!["--device".into(), selected.devices[0].to_string().into()];
        if let Some(data) = &selected.data_folder {
            arguments.extend(["--data".into(), absolute(data)?.into()]);
        }
        batch.job("gelu", &selected.recipe.name, &selected.out, arguments)
    }
}
