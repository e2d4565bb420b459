use super::numbers::whole;
use crate::cluster::{SlurmJob, TimeLimit};
use crate::{Error, Result};
use clap::Args;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

/// Flags for the array of Slurm jobs.
#[derive(Clone, Debug, Args)]
pub struct Batch {
    /// Number of workers; each is one job of the array
    #[arg(long, value_name = "N", default_value_t = 4,
          value_parser = whole::<u16>(1..=65535))]
    workers: u16,
    /// CPU cores per worker
    #[arg(long, value_name = "N", default_value_t = 1,
          value_parser = whole::<u16>(1..=65535))]
    cpus: u16,
    /// Time limit of each job in Slurm's format: 30, 1:00:00, 2-12; a job that is not done queues itself again before
    /// the limit
    #[arg(long, value_name = "TIME")]
    time: Option<TimeLimit>,
    /// Memory per worker in Slurm's format: 4G
    #[arg(long, value_name = "SIZE")]
    mem: Option<String>,
    /// GPUs per worker: 1, or a100:1
    #[arg(long, value_name = "GPUS")]
    gpus: Option<String>,
    /// Partition to run in
    #[arg(long, value_name = "NAME")]
    partition: Option<String>,
    /// Account to charge
    #[arg(long, value_name = "NAME")]
    account: Option<String>,
    /// Ask workers to finish their epoch this many seconds before the time limit; choose more than an epoch takes
    #[arg(long, value_name = "SECONDS", default_value_t = 120,
          value_parser = whole::<u16>(1..=65535))]
    notice: u16,
    #[arg(skip)]
    grace: u16,
}

impl Batch {
    /// Returns these flags for runs that need up to `seconds` to end by themselves after the worker gives them up.
    #[must_use]
    pub fn with_grace(self, seconds: u64) -> Self {
        Self { grace: u16::try_from(seconds).unwrap_or(u16::MAX), ..self }
    }

    /// Returns the job of the comparison `name` in the folder `out`. Its workers get `arguments`; `tool` is the
    /// program's name.
    ///
    /// # Errors
    ///
    /// Returns an error if the current folder or the path of this program is unknown.
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

/// Returns `path` as an absolute path, which workers in other folders can use.
///
/// # Errors
///
/// Returns an error if there is no current folder.
pub fn absolute(path: &Path) -> Result<PathBuf> {
    std::path::absolute(path).map_err(Error::io("find", path))
}
