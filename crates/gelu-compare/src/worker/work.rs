use super::log::Redirected;
use super::{Control, SpecOf, Trainer, fail};
use crate::comparison::{SnapshotReader, common_failure, plan};
use crate::error::Place;
use crate::runs::{ClaimedRun, Provenance, Recipe, RunFolder, RunKey, RunStatus, Spec, Watch};
use crate::{Error, Result};
use std::collections::{HashMap, VecDeque};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::time::Duration;

/// The shortest and the longest wait while other workers hold all remaining runs. The first wait is short, because
/// runs that began together end together.
const PAUSES: [Duration; 2] = [Duration::from_millis(20), Duration::from_millis(500)];
/// The number of crashes in the same epoch of a run after which the run counts as their cause.
const CRASHES: usize = 3;
/// The number of processes that may disappear without a message in the same epoch of a run. Most of them were killed
/// for other reasons: a pre-empted job, a machine that was switched off. But a process also disappears without a
/// message when memory runs out.
const DEATHS: usize = 25;

/// The reason why a worker ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// Nothing is left to do.
    Done,
    /// The worker was asked to end, and more is left to do.
    Interrupted,
    /// A run panicked, so this process should not train another run. A new process can continue.
    Panicked,
}

/// A worker; see the [module](super).
#[derive(Debug)]
pub(crate) struct Worker<T: Trainer> {
    reader: SnapshotReader<T::Recipe>,
    trainer: T,
    watch: Watch,
    control: Control,
    /// Runs that this process could not work on, with the reasons. It does not try them again.
    given_up: HashMap<RunKey, String>,
    /// Whether to continue when the first runs of all arms fail alike.
    keep_going: bool,
}

/// The result of an attempt to work on a run.
enum Attempt {
    /// This worker trained or ended the run.
    Worked,
    /// This worker tried the run, and the run failed.
    Failed,
    /// Another worker works on the run, or has finished it.
    Passed,
    Panicked,
}

/// A claimed run, or what became of it.
type Claim<S> = std::result::Result<ClaimedRun<S>, Attempt>;

impl<T: Trainer> Worker<T> {
    /// Creates a worker on the comparison of `reader`.
    pub(crate) fn new(reader: SnapshotReader<T::Recipe>, trainer: T, control: Control) -> Self {
        Self {
            reader,
            trainer,
            watch: Watch::default(),
            control,
            given_up: HashMap::new(),
            keep_going: false,
        }
    }

    /// Sets whether the worker continues when the first runs of all arms have failed alike.
    #[must_use]
    pub(crate) fn keep_going(self, keep_going: bool) -> Self {
        Self { keep_going, ..self }
    }

    /// Works until nothing is left to do or the worker is asked to stop.
    ///
    /// # Errors
    ///
    /// Returns an error if only runs are left that could not be worked on; it describes the first problem. Also
    /// returns an error if the first runs of all arms have failed [alike](common_failure).
    pub(crate) fn work(&mut self) -> Result<Outcome> {
        let mut pause = PAUSES[0];
        loop {
            let snapshot = self.reader.snapshot();
            let wanted = plan::next(self.reader.plan(), &snapshot);
            if wanted.is_empty() {
                return Ok(Outcome::Done);
            }
            if let (false, Some(run)) = (self.keep_going, common_failure(&snapshot)) {
                return Err(Error::Failed(format!(
                    "{}: {}; the first run of every setting failed like this, so no other is started",
                    run.name, run.status
                )));
            }
            let mine = |key: &&RunKey| !self.given_up.contains_key(*key);
            let mut mine: Vec<RunKey> = wanted.iter().filter(mine).cloned().collect();
            // Runs that have killed processes come last, so that the others get done.
            let deaths: HashMap<&RunKey, usize> =
                snapshot.runs.iter().map(|run| (&run.key, run.deaths())).collect();
            mine.sort_by_key(|key| deaths.get(key).copied().unwrap_or(0));
            if mine.is_empty() {
                return Err(self.trouble());
            }
            let mut worked = false;
            let (mut mine, mut may_go_on) = (VecDeque::from(mine), true);
            while let (Some(key), true) = (mine.pop_front(), may_go_on) {
                if self.control.wants_stop() {
                    return Ok(Outcome::Interrupted);
                }
                for (key, attempt) in self.attempt(key, &mut mine, wanted.len()) {
                    match attempt {
                        Ok(Attempt::Worked) => worked = true,
                        Ok(Attempt::Passed) => {}
                        Ok(Attempt::Panicked) => return Ok(Outcome::Panicked),
                        // The failures may be alike, which the loop checks first.
                        Ok(Attempt::Failed) => (worked, may_go_on) = (true, false),
                        Err(error) => {
                            self.given_up.insert(key, error.to_string());
                            (worked, may_go_on) = (true, false);
                        }
                    }
                }
            }
            pause = match worked {
                true => PAUSES[0],
                false => {
                    self.wait(pause);
                    PAUSES[1].min(2 * pause)
                }
            };
        }
    }

    /// Waits, in ten steps so that it notices a request to stop.
    fn wait(&self, pause: Duration) {
        let step = pause / 10;
        for _ in 0..10 {
            if !self.control.wants_stop() {
                std::thread::sleep(step);
            }
        }
    }

    fn trouble(&self) -> Error {
        let first = self.given_up.values().min().cloned().unwrap_or_default();
        let problem = match self.given_up.len() {
            1 => first,
            count => format!("{first} (and {} more runs like that)", count - 1),
        };
        Error::data(self.reader.folder().path(), Place::File, problem, "")
    }

    /// Works on the run of `key` and on those of `others` that are trained as one program with it; these leave `others`.
    /// `left` is the number of runs that are not over, this one included.
    fn attempt(
        &mut self,
        key: RunKey,
        others: &mut VecDeque<RunKey>,
        left: usize,
    ) -> Vec<(RunKey, Result<Attempt>)> {
        let first = match self.claim(&key) {
            Ok(Ok(run)) => run,
            Ok(Err(attempt)) => return vec![(key, Ok(attempt))],
            Err(error) => return vec![(key, Err(error))],
        };
        // A run that processes have died on takes no other runs with it.
        let most = match has_deaths(&first) {
            true => 1,
            false => self.trainer.cohort(first.spec(), left),
        };
        let (mut keys, mut runs, mut attempts) = (vec![key], vec![Arc::new(first)], Vec::new());
        let mut passed = VecDeque::new();
        while runs.len() < most
            && let Some(other) = others.pop_front()
        {
            let spec = self.reader.plan().spec(&other);
            if !spec.is_some_and(|spec| self.trainer.join(runs[0].spec(), &spec)) {
                passed.push_back(other);
                continue;
            }
            match self.claim(&other) {
                Ok(Ok(run)) if has_deaths(&run) => passed.push_back(other),
                Ok(Ok(run)) => {
                    keys.push(other);
                    runs.push(Arc::new(run));
                }
                Ok(Err(attempt)) => attempts.push((other, Ok(attempt))),
                Err(error) => attempts.push((other, Err(error))),
            }
        }
        passed.append(others);
        *others = passed;
        attempts.extend(keys.into_iter().zip(self.train(&runs, left)));
        attempts
    }

    /// Claims a run. Returns the attempt if there is nothing to do.
    fn claim(&mut self, key: &RunKey) -> Result<Claim<SpecOf<T>>> {
        let spec = self
            .reader
            .plan()
            .spec(key)
            .ok_or_else(|| Error::Usage(format!("this program cannot train a run of {key}")))?;
        // A run that cannot be trained must not get a folder.
        self.trainer.check(&spec)?;
        let folder = self.reader.folder().run(&spec)?;
        if folder.status().is_ok_and(|file| file.status.is_over() && is_whole(&folder, &spec)) {
            return Ok(Err(Attempt::Passed));
        }
        let silence = self.reader.plan().silence();
        let Some(run) = take(&folder, &spec, &mut self.watch, silence)? else {
            return Ok(Err(Attempt::Passed));
        };
        let before = run.status();
        if let Some(reason) = hopeless(&run.deaths_in_this_epoch()?) {
            run.set_status(RunStatus::Failed { reason }, before.seconds)?;
            return Ok(Err(Attempt::Failed));
        }
        Ok(Ok(run))
    }

    /// Trains claimed runs; several runs as one program. Returns an attempt for each run, in their order.
    fn train(&mut self, runs: &[Arc<ClaimedRun<SpecOf<T>>>], left: usize) -> Vec<Result<Attempt>> {
        let mut environment = self.trainer.environment(self.reader.plan(), left);
        if runs.len() > 1 {
            environment.0.insert("cohort".to_owned(), runs.len().into());
        }
        let epochs = |run: &ClaimedRun<_>| run.folder().metrics().map_or(0, |epochs| epochs.len());
        // The session begins before any step for which memory may not suffice.
        let begun = runs.iter().try_for_each(|run| run.begin_session(&environment, epochs(run)));
        let log = match begun.and_then(|()| Redirected::to(&runs[0].log_file())) {
            Ok(log) => log,
            Err(error) => {
                let problem = error.to_string();
                return runs.iter().map(|_| Err(Error::Failed(problem.clone()))).collect();
            }
        };
        let trained = catch_unwind(AssertUnwindSafe(|| {
            let plan = self.reader.plan();
            match runs {
                [run] => vec![self.trainer.train(run, plan, &environment, &self.control)],
                _ => self.trainer.train_together(runs, plan, &environment, &self.control),
            }
        }));
        let attempt = |trained| match trained {
            Ok(RunStatus::Failed { .. }) => Ok(Attempt::Failed),
            Ok(_) | Err(Error::LeaseLost { .. }) => Ok(Attempt::Worked),
            // The run's folder contains the error too, unless the disk refused it.
            Err(error) => Err(error),
        };
        match (trained, runs) {
            (Ok(trained), _) => trained.into_iter().map(attempt).collect(),
            (Err(panic), [run]) => {
                let reason = format!("panicked: {}", panic_message(panic.as_ref()));
                let failed = fail(run, &reason, run.status().seconds, epochs(run));
                vec![failed.map(|_| Attempt::Panicked)]
            }
            // Only a run that trains alone shows whether it is the cause.
            (Err(_), runs) => {
                drop(log);
                runs.chunks(1).flat_map(|run| self.train(run, left)).collect()
            }
        }
    }
}

/// Returns `true` if processes have died on the run since its last epoch, or if that is not known.
fn has_deaths<S: Spec>(run: &ClaimedRun<S>) -> bool {
    run.deaths_in_this_epoch().map_or(true, |deaths| !deaths.is_empty())
}

/// Claims a run, unless another worker works on it or has ended it in the meantime.
fn take<S: Spec>(
    folder: &RunFolder,
    spec: &S,
    watch: &mut Watch,
    silence: Duration,
) -> Result<Option<ClaimedRun<S>>> {
    let Ok(run) = ClaimedRun::claim(folder, spec, watch, silence)? else { return Ok(None) };
    let before = run.status();
    if before.status.is_over() {
        if is_whole(folder, spec) {
            return Ok(None);
        }
        run.set_status(RunStatus::Interrupted, before.seconds)?;
    }
    Ok(Some(run))
}

/// Returns whether a run is not finished or has all its epochs. A finished run whose table was cut short is trained
/// again.
fn is_whole(folder: &RunFolder, spec: &impl Spec) -> bool {
    let finished = folder.status().is_ok_and(|file| file.status == RunStatus::Finished);
    let epochs = folder.metrics().map_or(0, |epochs| epochs.len());
    !finished || crate::runs::is_whole(spec, epochs)
}

/// Returns the reason to give up a run after these `deaths`, if there is one.
fn hopeless(deaths: &[Provenance]) -> Option<String> {
    let crashes = deaths.iter().filter(|session| !session.log.is_empty()).count();
    if crashes < CRASHES && deaths.len() < DEATHS {
        return None;
    }
    let last = deaths.iter().rev().find_map(|session| session.log.last());
    let said = last.map_or_else(String::new, |line| format!("; the last words: {line}"));
    Some(format!("{} processes died in the same epoch{said}", deaths.len()))
}

/// Returns the message of a panic.
pub(crate) fn panic_message(panic: &(dyn std::any::Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().map(|text| (*text).to_owned());
    let text = text.or_else(|| panic.downcast_ref::<String>().cloned());
    text.unwrap_or_else(|| "without a message".to_owned())
}

/// Marks all failed runs as interrupted, so that workers try them again.
///
/// # Errors
///
/// Returns an error if a run's folder cannot be read or written.
pub(crate) fn retry_failed_runs<R: Recipe>(reader: &mut SnapshotReader<R>) -> Result<()> {
    let mut watch = Watch::default();
    for run in reader.snapshot().runs {
        let RunStatus::Failed { .. } = run.status else { continue };
        let Some(spec) = reader.plan().spec(&run.key) else { continue };
        let folder = reader.folder().run(&spec)?;
        let silence = reader.plan().silence();
        // If another worker holds the run, it is already being retried.
        if let Ok(claimed) = ClaimedRun::claim(&folder, &spec, &mut watch, silence)? {
            claimed.reset_deaths()?;
            claimed.set_status(RunStatus::Interrupted, run.seconds)?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests;
