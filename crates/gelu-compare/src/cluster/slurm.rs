use super::directive::Directive;
use super::shell::{quoted, utf8};
use super::time_limit::TimeLimit;
use crate::files::write_atomically;
use crate::names::message_lines;
use crate::{Error, Result};
use std::ffi::OsString;
use std::fmt::Write;
use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The part of the script that runs the program in `worker`. The file explains how.
const BODY: &str = include_str!("workers.sh");
/// Seconds before the time limit at which an unfinished epoch is given up.
const MARGIN: u16 = 10;
/// Slurm may send its notice up to this many seconds early.
const EARLY: u64 = 60;

/// A Slurm array of workers on a comparison's folder.
#[derive(Clone, Debug)]
pub struct SlurmJob {
    /// The comparison's name.
    pub name: String,
    /// The program's name for users. It begins the jobs' names, and `TOOL watch` shows the comparison.
    pub tool: String,
    /// The comparison's folder, as an absolute path.
    pub folder: PathBuf,
    /// The program, as an absolute path that also exists on the nodes.
    pub program: PathBuf,
    /// The number of workers.
    pub workers: u16,
    /// The program's arguments after `work FOLDER`, with absolute paths.
    pub arguments: Vec<OsString>,
    /// CPU cores per worker, which are the worker's threads.
    pub cpus: u16,
    /// The time limit of each job.
    pub time: Option<TimeLimit>,
    /// `--mem` per worker, in Slurm's format.
    pub memory: Option<String>,
    /// GPUs per worker: a number, or a kind with a number.
    pub gpus: Option<String>,
    /// The partition to run in.
    pub partition: Option<String>,
    /// The account to charge.
    pub account: Option<String>,
    /// Seconds before the time limit at which Slurm asks a worker to finish its epoch.
    pub notice: u16,
    /// Seconds that a run has to end by itself after the worker gives it up.
    pub grace: u16,
}

impl SlurmJob {
    /// Returns the batch script.
    ///
    /// Before the time limit, Slurm sends the script a notice, SIGUSR1. The worker then finishes its epoch, and if
    /// runs are left to do, the script puts the job back into the queue. SIGTERM ends the worker in the same way, but
    /// the script does not queue the job again: Slurm sends SIGTERM for a cancellation, and also for a pre-emption or
    /// a requeue, after which Slurm queues the job itself. The script restarts a worker that was killed.
    ///
    /// # Errors
    ///
    /// Returns [`Error::Usage`] if a value cannot be written into a `#SBATCH` line, or if the time limit leaves no
    /// time before the notice.
    pub fn script(&self) -> Result<String> {
        let mut script = String::from("#!/bin/bash\n");
        for directive in self.directives()? {
            writeln!(script, "{directive}").expect("writing to memory");
        }
        let patience = self.notice - self.grace - MARGIN.min((self.notice - self.grace) / 2);
        write!(
            script,
            "# Workers on a comparison; `{tool} watch` shows it. Made by `{tool} submit`.\n\
             export RAYON_NUM_THREADS={}\n\
             worker=({})\n\
             patience={patience}\n\n{BODY}",
            self.cpus,
            self.worker()?.join(" "),
            tool = self.tool,
        )
        .expect("writing to memory");
        Ok(script)
    }

    fn directives(&self) -> Result<Vec<Directive>> {
        self.check_notice()?;
        let mut directives = vec![
            Directive::word("job-name", &format!("{}-{}", self.tool, self.name))?,
            Directive::plain("array", format_args!("1-{}", self.workers)),
            Directive::plain("cpus-per-task", self.cpus),
            Directive::flag("requeue"),
            Directive::plain("open-mode", "append"),
            // `B:` sends the signal only to the script, which passes it on.
            Directive::plain("signal", format_args!("B:USR1@{}", self.notice)),
            Directive::file("output", &logs(&self.folder), "%A_%a.log")?,
        ];
        directives.extend(self.time.as_ref().map(|time| Directive::plain("time", time)));
        for (option, value) in [
            ("mem", &self.memory),
            ("gpus-per-task", &self.gpus),
            ("partition", &self.partition),
            ("account", &self.account),
        ] {
            if let Some(value) = value {
                directives.push(Directive::word(option, value)?);
            }
        }
        if self.gpus.is_some() {
            // Slurm applies a number of GPUs per task only if the number of tasks is given.
            directives.push(Directive::plain("ntasks", 1));
        }
        Ok(directives)
    }

    /// Checks that there is time before the notice. A job that gets its notice when it begins would queue itself
    /// again and again without training anything.
    fn check_notice(&self) -> Result<()> {
        let notice = u64::from(self.notice);
        if self.grace >= self.notice {
            return Err(Error::Usage(format!(
                "--grace {} leaves no time before the time limit: the job is told of it {notice} seconds before \
                 (--notice); give it a longer notice",
                self.grace
            )));
        }
        match &self.time {
            Some(time) if time.seconds() <= notice + EARLY => Err(Error::Usage(format!(
                "--time {time} leaves no time to train: the job is told to finish {notice} seconds before \
                 its end (--notice), and Slurm may tell it a minute early; give it more time, or a \
                 shorter notice"
            ))),
            _ => Ok(()),
        }
    }

    /// Returns the words of the worker's command, quoted for the shell.
    fn worker(&self) -> Result<Vec<String>> {
        let mut words = vec![utf8(&self.program)?, "work", utf8(&self.folder)?];
        for argument in &self.arguments {
            words.push(utf8(Path::new(argument))?);
        }
        Ok(words.into_iter().map(quoted).collect())
    }
}

/// Returns the folder of the script and of its jobs' output.
fn logs(comparison: &Path) -> PathBuf {
    comparison.join("slurm")
}

/// Writes the script into the comparison's folder and submits it to Slurm. Returns Slurm's answer.
///
/// # Errors
///
/// Returns an error if the script cannot be written, Slurm is not installed here, or Slurm refuses the job.
pub fn submit(job: &SlurmJob) -> Result<String> {
    let folder = logs(&job.folder);
    let text = job.script()?;
    fs::create_dir_all(&folder).map_err(Error::io("create the folder", &folder))?;
    let script = folder.join("workers.sh");
    write_atomically(&script, text)?;
    let output = match Command::new("sbatch").arg(&script).output() {
        Ok(output) => output,
        Err(error) if error.kind() == ErrorKind::NotFound => {
            return Err(Error::Usage(format!(
                "there is no Slurm here (no `sbatch`); run this on the cluster's login node, or \
                 hand {} to it there",
                script.display()
            )));
        }
        Err(error) => return Err(Error::io("start", "sbatch")(error)),
    };
    let said = |bytes: &[u8]| message_lines(&String::from_utf8_lossy(bytes));
    match output.status.success() {
        true => Ok(said(&output.stdout)),
        false => Err(Error::Usage(format!("Slurm refuses the job: {}", said(&output.stderr)))),
    }
}

#[cfg(test)]
mod tests;
