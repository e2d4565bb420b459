use super::shell::quoted;
use crate::files::write_atomically;
use crate::{Error, Result};
use std::fmt::Write;
use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::process::Command;

/// A Slurm array of workers on a comparison's folder.
#[derive(Clone, Debug)]
pub struct SlurmJob {
    /// Name of the comparison.
    pub name: String,
    /// The comparison's folder, from the root.
    pub folder: PathBuf,
    /// The program, from the root; the nodes have to find it there too.
    pub program: PathBuf,
    /// How many workers.
    pub workers: usize,
    /// Device of each, as `--device` names it.
    pub device: String,
    /// Folder of the data, if not where the comparison says.
    pub data: Option<PathBuf>,
    /// Processor cores of each, which are its threads.
    pub cpus: usize,
    /// `--time`, as Slurm writes it.
    pub time: Option<String>,
    /// `--mem` of each, as Slurm writes it.
    pub memory: Option<String>,
    /// GPUs of each: a number, or a kind with a number.
    pub gpus: Option<String>,
    /// Where to run.
    pub partition: Option<String>,
    /// Who pays.
    pub account: Option<String>,
    /// Seconds before the time limit at which a worker is told to finish its epoch.
    pub notice: u32,
}

impl SlurmJob {
    /// The batch script.
    ///
    /// A worker ends with 130 when it was told to stop and runs are wanted; its job then goes back
    /// into the queue and another session goes on. A worker that was killed is started again.
    ///
    /// # Errors
    ///
    /// When a value cannot be written into a `#SBATCH` line.
    pub fn script(&self) -> Result<String> {
        let Self { workers, cpus, notice, .. } = self;
        let log = self.folder.join("slurm").join("%A_%a.log");
        let mut options = vec![
            format!("--job-name={}", word("the name", &format!("gelu-{}", self.name))?),
            format!("--array=1-{workers}"),
            format!("--cpus-per-task={cpus}"),
            "--requeue".to_owned(),
            "--open-mode=append".to_owned(),
            // To the script alone, which passes it on.
            format!("--signal=B:TERM@{notice}"),
            format!("--output={}", path(&log)?),
        ];
        for (option, value) in [
            ("time", &self.time),
            ("mem", &self.memory),
            ("gpus-per-task", &self.gpus),
            ("partition", &self.partition),
            ("account", &self.account),
        ] {
            if let Some(value) = value {
                options.push(format!("--{option}={}", word(option, value)?));
            }
        }
        if self.gpus.is_some() {
            // Slurm counts GPUs by tasks only where it is told how many tasks there are.
            options.push("--ntasks=1".to_owned());
        }
        let mut worker = format!(
            "{} work {} --device {}",
            quoted(&text(&self.program)?),
            quoted(&text(&self.folder)?),
            quoted(&self.device)
        );
        if let Some(data) = &self.data {
            write!(worker, " --data {}", quoted(&text(data)?)).expect("writing to memory");
        }
        let mut script = String::from("#!/bin/bash\n");
        for option in options {
            script.push_str(&format!("#SBATCH {option}\n"));
        }
        script.push_str(&format!(
            "# Workers on a comparison; `gelu watch` shows it. Made by `gelu submit`.\n\
             export RAYON_NUM_THREADS={cpus}\n\
             {BODY}",
            cpus = self.cpus,
        ));
        Ok(script.replace("WORKER", &worker))
    }
}

/// What a job does: keep a worker at work, pass on the signal to end, queue again while runs are
/// wanted.
const BODY: &str = r#"asked=
stop() { asked=1; kill -TERM "$worker" 2>/dev/null; }
trap stop TERM
while :; do
    WORKER &
    worker=$!
    # A signal ends `wait`, not the worker.
    while :; do
        wait "$worker"
        code=$?
        kill -0 "$worker" 2>/dev/null || break
    done
    echo "worker on $(hostname) ended with code $code"
    # Killed or crashed: another goes on where it was. The folder knows when a run is hopeless.
    if [ "$code" -gt 128 ] && [ "$code" -ne 130 ] && [ -z "$asked" ]; then
        sleep 1
        continue
    fi
    break
done
if [ "$code" -eq 130 ] || { [ -n "$asked" ] && [ "$code" -gt 128 ]; }; then
    echo "runs are wanted: the job is queued again"
    exec scontrol requeue "${SLURM_ARRAY_JOB_ID}_${SLURM_ARRAY_TASK_ID}"
fi
exit "$code"
"#;

/// Writes the script into the comparison's folder and hands it to Slurm; what Slurm says.
///
/// # Errors
///
/// When the script cannot be written, there is no Slurm here, or it refuses the job.
pub fn submit(job: &SlurmJob) -> Result<String> {
    let folder = job.folder.join("slurm");
    fs::create_dir_all(&folder).map_err(Error::io("create the folder", &folder))?;
    let script = folder.join("workers.sh");
    write_atomically(&script, job.script()?)?;
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
    let said = |bytes: &[u8]| crate::names::printable(String::from_utf8_lossy(bytes).trim());
    match output.status.success() {
        true => Ok(said(&output.stdout)),
        false => Err(Error::Usage(format!("Slurm refuses the job: {}", said(&output.stderr)))),
    }
}

/// A value of a `#SBATCH` line, which no shell quotes.
fn word<'a>(what: &str, value: &'a str) -> Result<&'a str> {
    let allowed = |c: char| c.is_ascii_alphanumeric() || "-_.:,+@".contains(c);
    match !value.is_empty() && value.chars().all(allowed) {
        true => Ok(value),
        false => Err(Error::Usage(format!(
            "{what} `{}` cannot stand in a Slurm script; it takes letters, digits and -_.:,+@",
            crate::names::printable(value)
        ))),
    }
}

/// A path of a `#SBATCH` line: Slurm takes it in quotes.
fn path(path: &Path) -> Result<String> {
    let text = text(path)?;
    match text.chars().any(|c| c.is_control() || c == '"' || c == '\\') {
        true => Err(Error::Usage(format!(
            "the path {} cannot stand in a Slurm script; choose a folder without quotes, \
             backslashes and control characters",
            crate::names::printable(&text)
        ))),
        false => Ok(format!("\"{text}\"")),
    }
}

fn text(path: &Path) -> Result<String> {
    path.to_str().map(str::to_owned).ok_or_else(|| {
        Error::Usage(format!("the path {} is not UTF-8, as scripts have to be", path.display()))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn job() -> SlurmJob {
        SlurmJob {
            name: "digits".to_owned(),
            folder: "/data/it's mine/results".into(),
            program: "/opt/gelu".into(),
            workers: 4,
            device: "cuda:0".to_owned(),
            data: Some("/data/mnist".into()),
            cpus: 2,
            time: Some("1:00:00".to_owned()),
            memory: Some("4G".to_owned()),
            gpus: Some("a100:1".to_owned()),
            partition: None,
            account: None,
            notice: 90,
        }
    }

    #[test]
    fn what_was_asked_for_is_in_the_script() {
        let script = job().script().unwrap();
        for line in [
            "#SBATCH --array=1-4",
            "#SBATCH --time=1:00:00",
            "#SBATCH --gpus-per-task=a100:1",
            "#SBATCH --signal=B:TERM@90",
            "#SBATCH --output=\"/data/it's mine/results/slurm/%A_%a.log\"",
            r"/opt/gelu work '/data/it'\''s mine/results' --device cuda:0 --data /data/mnist &",
        ] {
            assert!(script.contains(line), "{line}:\n{script}");
        }
        assert!(!script.contains("WORKER") && !script.contains("--partition"), "{script}");
    }

    #[cfg(unix)]
    #[test]
    fn the_script_is_one_that_bash_can_read() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("script.sh");
        fs::write(&path, job().script().unwrap()).unwrap();
        match Command::new("bash").arg("-n").arg(&path).output() {
            Ok(output) => assert!(output.status.success(), "{output:?}"),
            Err(error) => eprintln!("skipped: there is no bash here: {error}"),
        }
    }

    #[test]
    fn nothing_can_be_smuggled_into_the_script() {
        let refused = |change: fn(&mut SlurmJob)| {
            let mut job = job();
            change(&mut job);
            job.script().unwrap_err().to_string()
        };
        let partition = |job: &mut SlurmJob| job.partition = Some("main\ntouch evil".to_owned());
        assert!(refused(partition).contains("partition"), "{}", refused(partition));
        assert!(refused(|job| job.time = Some("1 --uid=0".to_owned())).contains("time"));
        assert!(refused(|job| job.folder = "/data/\"x".into()).contains("quotes"));
        assert!(refused(|job| job.folder = "/data/a\nb".into()).contains("control"));
    }
}
