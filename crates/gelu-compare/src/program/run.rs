use super::{Study, StudyRun};
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

/// What anything may go wrong with in a user's own code.
pub type BoxError = Box<dyn std::error::Error + Send + Sync>;

/// A run of a loop of one's own: its setting and seed, and where its results go.
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
    claimed: Arc<ClaimedRun<StudyRun>>,
    control: Control,
    /// What has to be a finite number.
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
        claimed: Arc<ClaimedRun<StudyRun>>,
        study: &Study,
        control: Control,
        seconds: f64,
    ) -> Self {
        Self {
            claimed,
            control,
            required: study.required().map(str::to_owned).collect(),
            metrics: Vec::new(),
            restored: false,
            stopped: Arc::default(),
            diverged: None,
            seconds,
            epoch_began: Instant::now(),
            planned: 0,
        }
    }

    /// The seed: whatever is drawn at random should follow from it and from the epoch alone.
    pub fn seed(&self) -> u64 {
        self.claimed.spec().seed
    }

    /// The value of an axis, as whatever it can be read as.
    ///
    /// # Errors
    ///
    /// [`Error::Usage`] where there is no such axis, or its value is no such thing.
    pub fn get<T: FromStr<Err: std::fmt::Display>>(&self, axis: &str) -> Result<T> {
        self.claimed.spec().setting.read(axis)
    }

    /// What an earlier session saved after its last epoch, read by `read` from its folder; `None` where
    /// there is nothing to go on from. Without it a run begins anew.
    ///
    /// # Errors
    ///
    /// When it cannot be read.
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

    /// The epochs that are left of so many, from 1; they end early when somebody asks for it.
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

    /// Reports what an epoch measured, once `save` has put into a folder what is needed to go on after it:
    /// both count, or neither. Files have plain names, and there are no folders among them.
    ///
    /// # Errors
    ///
    /// When it cannot be saved, when another worker has taken the run over, and when a measure that decides
    /// is no finite number: the run ends there, as one that diverged, and the error should be passed on.
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

    /// How the loop has ended that returned this: the status, the epochs, and the seconds they took.
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

/// The epochs that are left of a run.
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
