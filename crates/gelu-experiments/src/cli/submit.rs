use super::compare::Varied;
use super::print;
use super::selection::{Selected, Selection};
use crate::cluster::{self, SlurmJob, TimeLimit};
use crate::{Error, Result};
use clap::Args;
use std::path::{Path, PathBuf};
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

/// What is asked of Slurm.
#[derive(Debug, Args)]
struct Batch {
    /// Workers: jobs of the array
    #[arg(long, value_name = "N", default_value_t = 4,
          value_parser = clap::value_parser!(u16).range(1..))]
    workers: u16,
    /// Processor cores of each worker
    #[arg(long, value_name = "N", default_value_t = 1,
          value_parser = clap::value_parser!(u16).range(1..))]
    cpus: u16,
    /// Time limit of a job, as Slurm writes it: 30, 1:00:00, 2-12; before it, a job queues itself again
    #[arg(long, value_name = "TIME")]
    time: Option<TimeLimit>,
    /// Memory of each worker, as Slurm writes it: 4G
    #[arg(long, value_name = "SIZE")]
    mem: Option<String>,
    /// GPUs of each worker: 1, or a100:1
    #[arg(long, value_name = "GPUS")]
    gpus: Option<String>,
    /// Partition to run in
    #[arg(long, value_name = "NAME")]
    partition: Option<String>,
    /// Account to charge
    #[arg(long, value_name = "NAME")]
    account: Option<String>,
    /// Seconds before the time limit at which a worker finishes its epoch: more than one takes
    #[arg(long, value_name = "SECONDS", default_value_t = 120,
          value_parser = clap::value_parser!(u16).range(1..))]
    notice: u16,
}

impl Submit {
    pub(super) fn run(self) -> Result<ExitCode> {
        let Self { selection, varied, slurm, dry_run, batch } = self;
        let (selected, comparison) = varied.select(selection)?;
        let job = slurm.then(|| batch.job(&selected)).transpose()?;
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

impl Batch {
    fn job(self, selected: &Selected) -> Result<SlurmJob> {
        let Self { workers, cpus, time, mem: memory, gpus, partition, account, notice } = self;
        let mut arguments = vec!["--device".into(), selected.devices[0].to_string().into()];
        if let Some(data) = &selected.data_folder {
            arguments.extend(["--data".into(), absolute(data)?.into()]);
        }
        Ok(SlurmJob {
            name: selected.recipe.name.clone(),
            tool: "gelu".to_owned(),
            folder: absolute(&selected.out)?,
            program: std::env::current_exe().map_err(Error::io("find", "this program"))?,
            workers,
            arguments,
            cpus,
            time,
            memory,
            gpus,
            partition,
            account,
            notice,
        })
    }
}

fn absolute(path: &Path) -> Result<PathBuf> {
    std::path::absolute(path).map_err(Error::io("find", path))
}
