use super::{ProgramRecipe, ProgramSpec};
use crate::measure::EpochMetrics;
use crate::runs::{ClaimedRun, Phase, Progress, RunStatus};
use crate::suggestion::did_you_mean;
use crate::worker::Control;
use crate::{Error, Result};
use std::path::Path;
use std::str::FromStr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

/// Any error of a user's own code.
pub type BoxError = Box<dyn std::error::Error + Send + Sync>;

/// A run of your own training loop: it provides the setting and the seed, and takes the results.
///
/// ```
/// use gelu_compare::{Result, Run};
///
/// fn descend(run: &mut Run) -> Result<()> {
///     let step: f64 = run.get("step")?;
///     let saved = |folder: &std::path::Path| Ok(std::fs::read_to_string(folder.join("x"))?.parse()?);
///     let mut x: f64 = run.restore(saved)?.unwrap_or(run.seed() as f64);
///     for epoch in run.epochs(20) {
///         x -= step * 2.0 * x;
///         let save = |folder: &std::path::Path| Ok(std::fs::write(folder.join("x"), x.to_string())?);
///         run.report(epoch, [("height", x * x)], save)?;
///     }
///     Ok(())
/// }
/// ```
#[derive(Debug)]
pub struct Run {
    claimed: Arc<ClaimedRun<ProgramSpec>>,
    control: Control,
    /// The measures that must be finite numbers.
    required: Vec<String>,
    metrics: Vec<EpochMetrics>,
    restored: bool,
    stopped: Arc<AtomicBool>,
    diverged: Option<usize>,
    seconds: f64,
    epoch_began: Instant,
    planned: usize,
}

impl Run {
    pub(super) fn new(
        claimed: Arc<ClaimedRun<ProgramSpec>>,
        recipe: &ProgramRecipe,
        control: Control,
        seconds: f64,
    ) -> Self {
        Self {
            claimed,
            control,
            required: recipe.required().map(str::to_owned).collect(),
            metrics: Vec::new(),
            restored: false,
            stopped: Arc::default(),
            diverged: None,
            seconds,
            epoch_began: Instant::now(),
            planned: 0,
        }
    }

    /// Returns the seed. All random numbers should depend only on the seed and the epoch.
    pub fn seed(&self) -> u64 {
        self.claimed.spec().seed
    }

    /// Returns the value of an axis, parsed as `T`.
    ///
    /// # Errors
    ///
    /// Returns [`Error::Usage`] if there is no such axis or its value cannot be parsed.
    pub fn get<T: FromStr<Err: std::fmt::Display>>(&self, axis: &str) -> Result<T> {
        self.claimed.spec().setting.read(axis)
    }

    /// Returns the state that an earlier session saved after its last epoch, or `None` if there is none. `read` reads
    /// it from the given folder. If you do not call this function, a run begins anew.
    ///
    /// # Errors
    ///
    /// Returns an error if the state cannot be read.
    pub fn restore<T>(
        &mut self,
        read: impl FnOnce(&Path) -> Result<T, BoxError>,
    ) -> Result<Option<T>> {
        let (checkpoint, damaged) = self.claimed.folder().checkpoint()?;
        for error in damaged {
            let line = format!("gelu-compare: a checkpoint is damaged and left out: {error}\n");
            crate::output::complain(&line);
        }
        let Some(found) = checkpoint else { return Ok(None) };
        let value = read(&found.path).map_err(|error| Error::Run {
            run: found.path.clone(),
            problem: format!("what was saved cannot be read: {error}"),
        })?;
        self.metrics = found.metrics;
        self.restored = true;
        Ok(Some(value))
    }

    /// Returns the remaining epochs of a run of `all` epochs, numbered from 1. The iterator ends early when the run
    /// is asked to stop.
    pub fn epochs(&mut self, all: usize) -> Epochs {
        self.planned = all;
        self.epoch_began = Instant::now();
        self.tell_progress(self.metrics.len() + 1);
        Epochs {
            next: self.metrics.len() + 1,
            last: all,
            control: self.control.clone(),
            stopped: self.stopped.clone(),
        }
    }

    /// Reports the measures of an epoch, and saves the state needed to continue after it. `save` writes the state
    /// into the given folder, in files with plain names and without subfolders. Either both are stored, or neither.
    ///
    /// # Errors
    ///
    /// Returns an error if saving fails, or if another worker has taken the run over. Also returns an error if a
    /// measure that decides is not a finite number: the run then ends as diverged, and your loop should return the
    /// error.
    pub fn report<N: Into<String>>(
        &mut self,
        epoch: usize,
        measures: impl IntoIterator<Item = (N, f64)>,
        save: impl FnOnce(&Path) -> Result<(), BoxError>,
    ) -> Result<()> {
        if epoch != self.metrics.len() + 1 {
            return Err(Error::Usage(format!(
                "epoch {epoch} is reported where {} belongs; epochs are reported one by one",
                self.metrics.len() + 1
            )));
        }
        let mut metrics = EpochMetrics::new(epoch);
        for (name, value) in measures {
            let name = name.into();
            if !value.is_finite() && self.required.contains(&name) {
                self.diverged = Some(epoch);
                return Err(Error::Failed(format!("the run diverged: {name} is {value}")));
            }
            metrics.set(&name, Some(value).filter(|value| value.is_finite()));
        }
        if epoch == 1 && !self.restored {
            self.claimed.clear_checkpoints()?;
        }
        self.metrics.push(metrics);
        self.claimed.commit_checkpoint(epoch, &self.metrics, |folder| {
            save(folder).map_err(|error| Error::Failed(format!("it cannot be saved: {error}")))
        })?;
        self.claimed.publish_metrics(&self.metrics)?;
        self.seconds += self.epoch_began.elapsed().as_secs_f64();
        self.epoch_began = Instant::now();
        self.tell_progress(epoch + 1);
        self.claimed.set_status(RunStatus::Running, self.seconds)
    }

    fn tell_progress(&self, epoch: usize) {
        let epoch = epoch.min(self.planned);
        let phase = Phase::Train;
        self.claimed.set_progress(&Progress { epoch, phase, done: 0, total: 0, batch_loss: None });
    }

    /// Returns the outcome of the loop that has returned `returned`: the status, the epochs, and the seconds they
    /// took.
    pub(super) fn ended(
        self,
        returned: Result<(), BoxError>,
    ) -> (Result<RunStatus>, Vec<EpochMetrics>, f64) {
        let Self { metrics, seconds, .. } = self;
        let missing = |name: &&String| {
            metrics.last().is_none_or(|epoch: &EpochMetrics| epoch.get(name).is_none())
        };
        let status = match (self.diverged, returned) {
            (Some(epoch), _) => Ok(RunStatus::Diverged { epoch }),
            (None, Err(error)) => Err(match error.downcast::<Error>() {
                Ok(error) => *error,
                Err(error) => Error::Failed(error.to_string()),
            }),
            (None, Ok(())) if self.stopped.load(Ordering::SeqCst) => Ok(RunStatus::Interrupted),
            (None, Ok(())) => match self.required.iter().find(missing) {
                None => Ok(RunStatus::Finished),
                Some(name) => Err(Error::Failed(never_reported(name, &metrics))),
            },
        };
        (status, metrics, seconds)
    }
}

fn never_reported(name: &str, metrics: &[EpochMetrics]) -> String {
    let there = crate::runs::columns(metrics.iter());
    let reported = match there.is_empty() {
        true => "nothing".to_owned(),
        false => there.join(", "),
    };
    let question = did_you_mean(name, &there).map(|question| format!("; {question}"));
    format!("it never reported {name}; it reported {reported}{}", question.unwrap_or_default())
}

/// The remaining epochs of a run.
#[derive(Debug)]
pub struct Epochs {
    next: usize,
    last: usize,
    control: Control,
    stopped: Arc<AtomicBool>,
}

impl Iterator for Epochs {
    type Item = usize;

    fn next(&mut self) -> Option<usize> {
        if self.next > self.last {
            return None;
        }
        if self.control.wants_stop() {
            self.stopped.store(true, Ordering::SeqCst);
            return None;
        }
        self.next += 1;
        Some(self.next - 1)
    }
}
