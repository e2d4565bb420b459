use crate::checkpoint::{BEST, PARTS, of_reported};
use crate::networks::{OUTCOMES, Outcomes, TestGroups, outcomes_to_bytes};
use crate::randomness::{Purpose, device_seed};
use crate::{Confusion, Error, Result};
use burn::tensor::{Bytes, Device};
use burn::train::Interrupter;
use gelu_compare::measure::EpochMetrics;
use gelu_compare::runs::{ClaimedRun, Environment, ProgressSink, RunStatus, Spec};
use gelu_compare::suggestion::did_you_mean;
use gelu_compare::worker::Control;
use std::borrow::Cow;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

/// The state of one session of a run that the training loop shares with the code around it.
pub(crate) struct Session<S> {
    pub(crate) run: Arc<ClaimedRun<S>>,
    pub(crate) control: Control,
    /// Burn's own stop signal, set by a key in its display or by an error.
    pub(crate) interrupter: Interrupter,
    pub(crate) progress: Arc<ProgressSink<S>>,
    options: RunOptions,
    /// What the run's folder says of device and machine.
    environment: Environment,
    /// The number of epochs that the run will have, once it is known.
    epochs: AtomicUsize,
    /// How many runs train at the same time as one program, and share its time.
    sharing: usize,
    state: Mutex<State>,
}

/// Options for training a run.
#[derive(Clone, Debug, Default)]
pub struct RunOptions {
    /// The number of epochs, if it is known before the training is created.
    pub epochs: Option<usize>,
    /// Metrics that every measured epoch must have. If one of them is not a finite number, the run has diverged.
    pub required: Vec<String>,
    /// Whether to save the outcome of each test example, if the outputs report it.
    pub outcomes: bool,
    /// Metrics where higher is better, in addition to those that the network's output declares. Early stopping uses
    /// them.
    pub higher: Vec<String>,
}

/// The results of measuring after an epoch.
pub(crate) type Measured = (EpochMetrics, Tested);

/// The results of the test examples, if the run saves them.
#[derive(Debug, Default)]
pub(crate) struct Tested {
    /// Whether each example was classified wrongly.
    pub(crate) wrong: Option<Vec<bool>>,
    /// The confusion table.
    pub(crate) confusion: Option<Confusion>,
}

struct State {
    metrics: Vec<EpochMetrics>,
    /// When readers were last shown the metrics.
    published: Option<Instant>,
    seconds: f64,
    epoch_started: Instant,
    outcome: Option<Result<RunStatus>>,
}

impl<S: Spec> Session<S> {
    pub(crate) fn new(
        run: Arc<ClaimedRun<S>>,
        control: Control,
        metrics: Vec<EpochMetrics>,
        seconds: f64,
        options: RunOptions,
        environment: Environment,
    ) -> Self {
        let (published, epoch_started) = (None, Instant::now());
        let state = State { metrics, published, seconds, epoch_started, outcome: None };
        let progress = Arc::new(ProgressSink::new(run.clone(), 1));
        let interrupter = Interrupter::new();
        let epochs = AtomicUsize::new(options.epochs.unwrap_or(usize::MAX));
        let state = Mutex::new(state);
        Self {
            run,
            control,
            interrupter,
            progress,
            options,
            environment,
            epochs,
            sharing: 1,
            state,
        }
    }

    /// The same for one of `runs` runs that train as one program.
    pub(crate) fn sharing(self, runs: usize) -> Self {
        let sharing = runs.max(1);
        Self { sharing, progress: Arc::new(ProgressSink::new(self.run.clone(), sharing)), ..self }
    }

    pub(crate) fn spec(&self) -> &S {
        self.run.spec()
    }

    /// Sets the number of epochs that the training asks for.
    pub(crate) fn set_epochs(&self, epochs: usize) {
        self.epochs.store(epochs, Ordering::SeqCst);
    }

    pub(crate) fn epochs(&self) -> usize {
        self.epochs.load(Ordering::SeqCst)
    }

    pub(crate) fn options(&self) -> &RunOptions {
        &self.options
    }

    /// Adds to what the run's folder says of this session, before its first epoch.
    pub(crate) fn note(&self, what: &str, is: &str) -> Result<()> {
        let mut environment = self.environment.clone();
        environment.0.insert(what.to_owned(), is.into());
        self.run.begin_session(&environment, self.state().metrics.len())
    }

    /// Starts an epoch. The network's random numbers in it depend only on seed and epoch.
    pub(crate) fn begin_epoch(&self, epoch: usize, device: &Device) {
        device.seed(device_seed(self.spec().key().seed, Purpose::Training { epoch }));
        self.state().epoch_started = Instant::now();
    }

    /// Starts to measure a part of the data, by its number ([`Purpose::Measuring`]). The random numbers of the
    /// network or a batcher do not depend on earlier measuring.
    pub(crate) fn begin_part(&self, epoch: usize, part: usize, device: &Device) {
        device.seed(device_seed(self.spec().key().seed, Purpose::Measuring { epoch, part }));
    }

    /// Returns the name of a loss or required metric of an epoch that is not a finite number, if there is one.
    ///
    /// # Errors
    ///
    /// If the splits were measured in this epoch and a required metric is missing.
    pub(crate) fn lost(&self, metrics: &EpochMetrics, is_measured: bool) -> Result<Option<String>> {
        let required = &self.options.required;
        let has_to = |name: &str| required.iter().any(|required| required == name);
        let is_lost = |(name, value): &(&str, f64)| {
            (name.ends_with("_loss") || has_to(name)) && !value.is_finite()
        };
        if let Some((name, _)) = metrics.measured().find(is_lost) {
            return Ok(Some(name.to_owned()));
        }
        if is_measured {
            required.iter().try_for_each(|name| self.check_reported(name, metrics))?;
        }
        Ok(None)
    }

    /// Checks that the metric `name` exists.
    pub(crate) fn check_reported(&self, name: &str, metrics: &EpochMetrics) -> Result<()> {
        match metrics.get(name) {
            Some(_) => Ok(()),
            None => Err(Error::Failed(never_measured(name, metrics))),
        }
    }

    /// Ends an epoch: saves its results with the three `parts` of its checkpoint, then publishes them.
    pub(crate) fn end_epoch(&self, (epoch, tested): Measured, parts: [Bytes; 3]) -> Result<()> {
        let mut state = self.state();
        let number = epoch.epoch;
        state.metrics.push(epoch);
        let (spec, folder) = (self.spec(), self.run.folder());
        let reported = spec.reported_epoch(&state.metrics).map_or(number, |epoch| epoch.epoch);
        // With early stopping, the run restores the best epoch whichever epoch the comparison reports.
        let restores = state.metrics.last().is_some_and(|last| last.restored().is_some());
        let best = (spec.reports_best_epoch() || restores).then(|| Cow::from(&parts[0][..]));
        let outcomes = tested.wrong.map(|wrong| {
            let groups = TestGroups::singles(wrong.len());
            outcomes_to_bytes(&Outcomes::of_errors(number, groups, wrong)).into()
        });
        let confusion = tested.confusion.as_ref().map(|table| table.to_csv().into());
        let of_epoch = [(BEST, best), (OUTCOMES, outcomes), (Confusion::FILE, confusion)];
        let mut kept = Vec::with_capacity(of_epoch.len());
        for (name, content) in of_epoch {
            let content = of_reported(folder, (name, content), number, reported)?;
            kept.extend(content.map(|content| (name, content)));
        }
        let parts = PARTS.into_iter().zip(&parts).map(|(name, bytes)| (name, &bytes[..]));
        let kept = kept.iter().map(|(name, content)| (*name, &content[..]));
        let files: Vec<(&str, &[u8])> = parts.chain(kept).collect();
        self.run.commit_files(number, &state.metrics, &files)?;
        state.seconds += state.epoch_started.elapsed().as_secs_f64() / self.sharing as f64;
        // Checkpoints have every epoch; readers are shown no more than they can see.
        let interval = self.progress.interval();
        if state.published.is_none_or(|published| published.elapsed() >= interval) {
            self.run.publish_metrics(&state.metrics)?;
            self.run.set_status(RunStatus::Running, state.seconds)?;
            state.published = Some(Instant::now());
        }
        Ok(())
    }

    /// Returns whether the run should stop here although epochs are left.
    pub(crate) fn stops_after_epoch(&self) -> bool {
        self.control.wants_stop() || self.stops_now()
    }

    /// Returns whether to abandon the current epoch: because the user asked for it, because a part of Burn failed, or
    /// because another worker has taken the run over.
    pub(crate) fn stops_now(&self) -> bool {
        self.control.wants_stop_now()
            || self.interrupter.should_stop()
            || self.run.lease().is_marked_lost()
    }

    /// Records how the session ended; only the first call counts.
    pub(crate) fn end(&self, outcome: Result<RunStatus>) {
        self.state().outcome.get_or_insert(outcome);
    }

    /// Returns whether the training loop has ended; Burn may still be running.
    pub(crate) fn has_ended(&self) -> bool {
        self.state().outcome.is_some()
    }

    /// Returns how the session ended, and the seconds of its epochs.
    pub(crate) fn outcome(&self) -> (Result<RunStatus>, f64) {
        let mut state = self.state();
        let outcome = match (state.outcome.take(), self.interrupter.error()) {
            _ if self.run.lease().is_marked_lost() => {
                Err(Error::LeaseLost { run: self.run.folder().path().to_path_buf() })
            }
            (Some(outcome), _) => outcome,
            (None, Some(error)) => Err(Error::Failed(error.to_string())),
            (None, None) if state.metrics.len() == self.epochs() => Ok(RunStatus::Finished),
            (None, None) => Ok(RunStatus::Interrupted),
        };
        (outcome, state.seconds)
    }

    pub(crate) fn metrics(&self) -> Vec<EpochMetrics> {
        self.state().metrics.clone()
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn never_measured(name: &str, metrics: &EpochMetrics) -> String {
    let there: Vec<&str> = metrics.measured().map(|(name, _)| name).collect();
    let advice = match name.split('_').next() {
        Some(split @ ("test" | "valid")) if !there.iter().any(|name| name.starts_with(split)) => {
            format!("; give it data with .{split}(…), or decide by another metric")
        }
        _ => "; decide by one of these, or report it (ModelOutput::measure, Training::record)"
            .to_owned(),
    };
    let reported = there.join(", ");
    match did_you_mean(name, &there) {
        Some(question) => {
            format!("{name} is never reported; {question} Reported are: {reported}{advice}")
        }
        None => format!("{name} is never reported; reported are: {reported}{advice}"),
    }
}
