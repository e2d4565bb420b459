use super::numbers::whole;
use crate::cluster::{SlurmJob, TimeLimit};
use crate::{Error, Result};
use clap::Args;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

/// What is asked of Slurm.
#[derive(Clone, Debug, Args)]
pub struct Batch {
    /// Workers: jobs of the array
    #[arg(long, value_name = "N", default_value_t = 4,
          value_parser = whole::<u16>(1..=65535))]
    workers: u16,
    /// Processor cores of each worker
    #[arg(long, value_name = "N", default_value_t = 1,
          value_parser = whole::<u16>(1..=65535))]
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
          value_parser = whole::<u16>(1..=65535))]
    notice: u16,
    #[arg(skip)]
    grace: u16,
}

impl Batch {
    /// The same for runs that have so many seconds to end by themselves once they are given up.
    #[must_use]
    pub fn with_grace(self, seconds: u64) -> Self {
        Self { grace: u16::try_from(seconds).unwrap_or(u16::MAX), ..self }
    }

    /// The job of a comparison in that folder, whose workers are told these arguments.
    ///
    /// # Errors
    ///
    /// When there is no current folder.
    pub fn job(
        self,
        tool: &str,
        name: &str,
        out: &Path,
        arguments: Vec<OsString>,
    ) -> Result<SlurmJob> {
        let Self { workers, cpus, time, mem: memory, gpus, partition, account, notice, grace } =
            self;
        Ok(SlurmJob {
            name: name.to_owned(),
            tool: tool.to_owned(),
            folder: absolute(out)?,
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
            grace,
        })
    }
}

/// A path as workers in other folders need it.
///
/// # Errors
///
/// When there is no current folder.
pub fn absolute(path: &Path) -> Result<PathBuf> {
    std::path::absolute(path).map_err(Error::io("find", path))
}
