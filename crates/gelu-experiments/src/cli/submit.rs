use super::compare::Varied;
use super::print;
use super::selection::Selection;
use crate::cluster::{self, SlurmJob};
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
    /// Workers: jobs of the array
    #[arg(long, value_name = "N", default_value_t = 4,
          value_parser = clap::value_parser!(u16).range(1..))]
    workers: u16,
    /// Processor cores of each worker
    #[arg(long, value_name = "N", default_value_t = 1,
          value_parser = clap::value_parser!(u16).range(1..))]
    cpus: u16,
    /// Time limit of a job, as Slurm writes it: 30, 1:00:00, 2-12; jobs queue themselves again
    #[arg(long, value_name = "TIME")]
    time: Option<String>,
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
    #[arg(long, value_name = "SECONDS", default_value_t = 120)]
    notice: u32,
}

impl Submit {
    pub(super) fn run(self) -> Result<ExitCode> {
        let data = self.selection.data.as_deref().map(absolute).transpose()?;
        let (selected, folder) = match self.dry_run {
            true => (self.varied.select(self.selection)?.0, None),
            false => {
                let (selected, folder) = self.varied.prepare(self.selection)?;
                (selected, Some(folder))
            }
        };
        let out = cluster::quoted(&selected.out.display().to_string());
        if !self.slurm {
            print(&format!(
                "Made {out}; start workers on it, on this machine or on others, with: gelu work {out}\n"
            ))?;
            return Ok(ExitCode::SUCCESS);
        }
        let job = SlurmJob {
            name: selected.recipe.name.clone(),
            folder: absolute(&selected.out)?,
            program: std::env::current_exe().map_err(Error::io("find", "this program"))?,
            workers: usize::from(self.workers),
            device: selected.devices[0].to_string(),
            data,
            cpus: usize::from(self.cpus),
            time: self.time,
            memory: self.mem,
            gpus: self.gpus,
            partition: self.partition,
            account: self.account,
            notice: self.notice,
        };
        if folder.is_none() {
            print(&job.script()?)?;
            return Ok(ExitCode::SUCCESS);
        }
        let said = cluster::submit(&job)?;
        print(&format!("{said}\nSee how it goes with: gelu watch {out}\n"))?;
        Ok(ExitCode::SUCCESS)
    }
}

fn absolute(path: &Path) -> Result<PathBuf> {
    std::path::absolute(path).map_err(Error::io("find", path))
}
