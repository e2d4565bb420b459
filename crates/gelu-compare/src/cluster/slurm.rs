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

/// What a job does with the program in `worker`: see there.
const BODY: &str = include_str!("workers.sh");
/// So many seconds before the time limit an epoch that is not finished is given up.
const MARGIN: u16 = 10;
/// Slurm may give its notice so many seconds early.
const EARLY: u64 = 60;

/// A Slurm array of workers on a comparison's folder.
#[derive(Clone, Debug)]
pub struct SlurmJob {
    /// Name of the comparison.
    pub name: String,
    /// What people call the program: jobs are named for it, and its `watch` shows the comparison.
    pub tool: String,
    /// The comparison's folder, from the root.
    pub folder: PathBuf,
    /// The program, from the root; the nodes have to find it there too.
    pub program: PathBuf,
    /// How many workers.
    pub workers: u16,
    /// What the program is told besides `work FOLDER`; paths from the root.
    pub arguments: Vec<OsString>,
    /// Processor cores of each, which are its threads.
    pub cpus: u16,
    /// How long a job may take.
    pub time: Option<TimeLimit>,
    /// `--mem` of each, as Slurm writes it.
    pub memory: Option<String>,
    /// GPUs of each: a number, or a kind with a number.
    pub gpus: Option<String>,
    /// Where to run.
    pub partition: Option<String>,
    /// Who pays.
    pub account: Option<String>,
    /// Seconds before the time limit at which a worker is told to finish its epoch.
    pub notice: u16,
    /// Seconds that a run has to end by itself once it is given up.
    pub grace: u16,
}

impl SlurmJob {
    /// The batch script.
    ///
    /// Before the time limit Slurm sends it a notice of its own, SIGUSR1: the worker finishes its epoch,
    /// and where runs are wanted still, the job goes back into the queue. SIGTERM, which a cancellation
    /// sends, and so do a pre-emption and a requeue, ends the worker in the same way, but never makes
    /// the script queue the job again: after the latter two Slurm does. A worker that was killed is
    /// started again.
    ///
    /// # Errors
    ///
    /// [`Error::Usage`] when a value cannot be written into a `#SBATCH` line, or the time limit leaves
    /// no time before the notice.
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
            // To the script alone, which passes it on.
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
            // Slurm counts GPUs by tasks only where it is told how many tasks there are.
            directives.push(Directive::plain("ntasks", 1));
        }
        Ok(directives)
    }

    /// A job that is given its notice when it begins would queue itself again and again, and train
    /// nothing.
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

    /// The words of the command that is a worker, as the shell reads them.
    fn worker(&self) -> Result<Vec<String>> {
        let mut words = vec![utf8(&self.program)?, "work", utf8(&self.folder)?];
        for argument in &self.arguments {
            words.push(utf8(Path::new(argument))?);
        }
        Ok(words.into_iter().map(quoted).collect())
    }
}

/// Where the script is, and what its jobs say.
fn logs(comparison: &Path) -> PathBuf {
    comparison.join("slurm")
}

/// Writes the script into the comparison's folder and hands it to Slurm; what Slurm says.
///
/// # Errors
///
/// When the script cannot be written, there is no Slurm here, or it refuses the job.
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
