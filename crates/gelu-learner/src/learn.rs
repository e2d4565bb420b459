//! One run: training a network into its folder, exactly resumable.
//!
//! Training goes through Burn's [`Learner`] and [`SupervisedTraining`] with a learning strategy of its own
//! (`epochs`), which measures every split after an epoch and ends the epoch with one atomic checkpoint.

use crate::checkpoint::{
    EveryEpoch, PartCheckpointer, Parts, model_bytes, numbered, outcomes_bytes, verify,
};
use crate::epochs::{Clock, EpochByEpoch, Measuring, Trainable};
use crate::randomness::{Purpose, device_seed};
use crate::session::{Plan, Session};
use crate::silent::Silent;
use crate::{Error, Result};
use burn::module::Module;
use burn::optim::ModuleOptimizer;
use burn::optim::lr_scheduler::module_lr_scheduler::ModuleLrScheduler;
use burn::store::ModuleRecord;
use burn::tensor::Device;
use burn::train::logger::InMemoryMetricLogger;
use burn::train::{Learner, SupervisedTraining, TrainLoader, TrainingStrategy};
use gelu_compare::output::complain;
use gelu_compare::runs::{Checkpoint, ClaimedRun, Environment, RunStatus, Spec};
use gelu_compare::worker::{Control, Redirected, conclude};
use rayon::ThreadPool;
use std::io::IsTerminal;
use std::sync::Arc;
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::Duration;

/// All that an untrained network needs to be trained.
pub struct Lesson<M: Trainable> {
    /// The network, on its device.
    pub model: M,
    /// What steps its parameters.
    pub optimizer: ModuleOptimizer,
    /// The learning rate, batch by batch.
    pub rates: ModuleLrScheduler,
    /// How many epochs it is trained for.
    pub epochs: usize,
    /// The batches to train on: those of the epochs that are left, one pass after the other.
    pub train: TrainLoader<M>,
    /// What is measured after every epoch.
    pub measuring: Measuring<M>,
    /// Hears which epoch begins, from 1.
    pub clock: Clock,
    /// Where given, Burn's display shows the training: its terminal dashboard, or lines where there is no
    /// terminal, with the metrics that this registers.
    pub shown: Option<Shown<M>>,
}

/// Registers what Burn's display shows.
pub type Shown<M> = Box<dyn FnOnce(SupervisedTraining<M>) -> SupervisedTraining<M> + Send>;

impl<M: Trainable> std::fmt::Debug for Lesson<M> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Lesson").finish_non_exhaustive()
    }
}

/// A run, and what it is trained on and asked to do.
#[derive(Debug)]
pub struct Class<'a, S> {
    /// The run.
    pub run: &'a Arc<ClaimedRun<S>>,
    /// What it is to have.
    pub plan: Plan,
    /// What it is trained on.
    pub device: &'a Device,
    /// The same for its folder; the `threads` of it are those of the kernels.
    pub environment: &'a Environment,
    /// How it is stopped.
    pub control: &'a Control,
}

/// Where the results of a run are once it has all its epochs.
#[derive(Debug)]
pub struct Learned<'a, S> {
    /// The run.
    pub run: &'a ClaimedRun<S>,
    /// The checkpoint of its last epoch.
    pub last: Checkpoint,
}

impl<S: Spec> Learned<'_, S> {
    /// Keeps the network of the reported epoch in the run's folder.
    ///
    /// # Errors
    ///
    /// When it cannot be read or written.
    pub fn keep_model(&self) -> Result<()> {
        let of_best = self.run.spec().reports_best_epoch();
        self.run.set_model(&model_bytes(&self.last.path, of_best)?)
    }

    /// What was made of each test example in the reported epoch, as the bytes of a file, where that was kept.
    ///
    /// # Errors
    ///
    /// When it cannot be read.
    pub fn outcomes(&self) -> Result<Option<Vec<u8>>> {
        outcomes_bytes(&self.last.path)
    }
}

/// Trains a run to its end, going on where an earlier session stopped; a complete run is left as it is.
/// `lesson` makes what is trained, after so many epochs that are done: with the device's generator seeded
/// for the initial weights, in the thread that trains. `keep` puts what is left of a run that has all its
/// epochs into its folder.
///
/// # Errors
///
/// When its results cannot be saved, the device fails, or another worker has taken the run over; those of
/// `lesson` and `keep`. What an earlier epoch saved stays.
///
/// # Panics
///
/// When Burn does; the run is then as its last epoch left it.
pub fn learn<S: Spec, M: Trainable>(
    class: Class<'_, S>,
    lesson: impl FnOnce(usize) -> Result<Lesson<M>> + Send + 'static,
    keep: impl FnOnce(Learned<'_, S>) -> Result<()> + Send,
) -> Result<RunStatus> {
    let Class { run, plan, device, environment, control } = class;
    let before = run.status();
    if before.status.is_complete() {
        return Ok(before.status);
    }
    let checkpoint = sound_checkpoint(run)?;
    let metrics = checkpoint.as_ref().map_or_else(Vec::new, |found| found.metrics.clone());
    run.begin_session(environment, metrics.len())?;
    run.publish_metrics(&metrics)?;
    run.set_status(RunStatus::Running, before.seconds)?;

    let epochs = plan.epochs;
    let done = checkpoint.as_ref().map_or(0, |found| found.epoch);
    let session = Session::new(run.clone(), control.clone(), metrics, before.seconds, plan);
    let session = Arc::new(session);
    if epochs != Some(done) {
        let kernels = pool(threads(environment))?;
        carry_out(&session, device, checkpoint, kernels, lesson);
    }
    // Other threads than before: a display of Burn's that was left behind holds those.
    pool(threads(environment))?.install(|| finish(&session, keep))
}

/// The newest checkpoint that can be gone on from. Damaged ones that are newer are removed.
fn sound_checkpoint<S: Spec>(run: &ClaimedRun<S>) -> Result<Option<Checkpoint>> {
    loop {
        let (checkpoint, damaged) = run.folder().checkpoint()?;
        for error in damaged {
            log::<S>(&format!("a checkpoint is damaged and left out: {error}"));
        }
        let epoch = checkpoint.as_ref().map_or(0, |found| found.epoch);
        run.discard_checkpoints_after(epoch)?;
        let Some(found) = checkpoint else { return Ok(None) };
        match verify(&found.path) {
            Ok(()) => return Ok(Some(found)),
            Err(error) => {
                log::<S>(&format!("a checkpoint cannot be loaded and is left out: {error}"));
                run.discard_checkpoints([found.epoch])?;
            }
        }
    }
}

/// Says something in a run's log.
pub fn log<S: Spec>(line: &str) {
    complain(&format!("{}: {line}\n", S::TOOL));
}

/// Trains in a thread of its own: a panic ends that alone, and a display of Burn's that has lost
/// its terminal, and never ends, is left behind.
fn carry_out<S: Spec, M: Trainable>(
    session: &Arc<Session<S>>,
    device: &Device,
    checkpoint: Option<Checkpoint>,
    kernels: ThreadPool,
    lesson: impl FnOnce(usize) -> Result<Lesson<M>> + Send + 'static,
) {
    let (device, of_thread) = (device.clone(), session.clone());
    let (ended, end) = channel::<()>();
    let thread = std::thread::Builder::new().name("training".to_owned()).spawn(move || {
        let _ended = ended;
        kernels.install(|| {
            if let Err(error) = launch(&of_thread, &device, checkpoint.as_ref(), lesson) {
                of_thread.end(Err(error));
            }
        });
    });
    let thread = match thread {
        Ok(thread) => thread,
        Err(error) => {
            return session.end(Err(Error::io("start a thread for", "training")(error)));
        }
    };
    while let Err(RecvTimeoutError::Timeout) = end.recv_timeout(Duration::from_millis(100)) {
        if session.control.has_no_terminal() && session.has_ended() {
            return;
        }
    }
    if let Err(panic) = thread.join() {
        std::panic::resume_unwind(panic);
    }
}

/// Trains through Burn until the strategy ends it; how, the session knows.
fn launch<S: Spec, M: Trainable>(
    session: &Arc<Session<S>>,
    device: &Device,
    checkpoint: Option<&Checkpoint>,
    lesson: impl FnOnce(usize) -> Result<Lesson<M>>,
) -> Result<()> {
    let done = checkpoint.map_or(0, |found| found.epoch);
    let seed = session.spec().key().seed;
    device.seed(device_seed(seed, Purpose::Weights));
    let Lesson { model, optimizer, rates, epochs, train, measuring, clock, shown } = lesson(done)?;
    session.set_epochs(epochs);
    if done == epochs {
        return Ok(());
    }
    if done > epochs {
        return Err(Error::Usage(format!(
            "the run has {done} epochs already, and {epochs} are asked for now; name another folder with \
             --out"
        )));
    }
    let model = numbered(model);
    if let Some(checkpoint) = checkpoint {
        check_fit(&model, checkpoint)?;
    }
    // Burn wants one: that of its display, where there is one.
    let beside = [&measuring.valid, &measuring.test].into_iter().flatten().next().cloned();
    let beside = beside.unwrap_or_else(|| train.to_device(device));
    let parts = Arc::new(Parts::default());
    let [model_part, optimizer_part, scheduler] =
        PartCheckpointer::all(&parts, checkpoint.map(|found| found.path.as_path()));
    let mut training = SupervisedTraining::<M>::new(session.run.folder().path(), train, beside)
        .num_epochs(epochs)
        .with_application_logger(None)
        .with_metric_logger(InMemoryMetricLogger::new())
        .with_interrupter(session.interrupter.clone())
        .with_checkpointing_strategy(EveryEpoch)
        .with_custom_checkpointers(model_part, optimizer_part, scheduler)
        .label(&session.spec().name());
    let strategy = EpochByEpoch {
        session: session.clone(),
        parts,
        measuring,
        clock,
        device: device.clone(),
        shown: shown.is_some(),
    };
    training = match shown {
        Some(register) => register(training),
        None => training.renderer(Box::new(Silent)),
    };
    if done > 0 {
        training = training.checkpoint(done);
    }
    let _aside = match strategy.shown && std::io::stderr().is_terminal() {
        true => Some(Aside::of(session)?),
        false => None,
    };
    let learner = Learner::new(model.train(), optimizer, rates);
    training.with_training_strategy(TrainingStrategy::Custom(Arc::new(strategy))).launch(learner);
    Ok(())
}

/// Standard error while Burn's display fills the terminal: it goes into the run's log, or what libraries say
/// there once the terminal is gone would be a panic within a panic.
struct Aside {
    log: Option<Redirected>,
    control: Control,
}

impl Aside {
    fn of<S: Spec>(session: &Session<S>) -> Result<Self> {
        let log = Redirected::to(&session.run.log_file())?;
        Ok(Self { log: Some(log), control: session.control.clone() })
    }
}

impl Drop for Aside {
    fn drop(&mut self) {
        if self.control.has_no_terminal() {
            std::mem::forget(self.log.take());
        }
    }
}

/// Refuses a network that its checkpoint is none of.
fn check_fit<M: Module>(model: &M, checkpoint: &Checkpoint) -> Result<()> {
    let path = checkpoint.path.join("model.bpk");
    let fits = ModuleRecord::load(&path).and_then(|record| model.clone().try_load_record(record));
    fits.map(|_| ()).map_err(|error| {
        Error::Failed(format!(
            "the network that is built now is not the one that was saved after epoch {}: {error}\nThe \
             program has changed since, or the network changes its parameters while it trains, which \
             cannot be gone on from. Name another folder with --out, or delete {}",
            checkpoint.epoch,
            checkpoint.path.parent().unwrap_or(&path).display()
        ))
    })
}

/// Records the end of a session in the run's folder.
fn finish<S: Spec>(
    session: &Session<S>,
    keep: impl FnOnce(Learned<'_, S>) -> Result<()>,
) -> Result<RunStatus> {
    let (outcome, seconds) = session.outcome();
    let outcome = outcome.and_then(|status| {
        if status == RunStatus::Finished {
            let run = &session.run;
            let (last, _) = run.folder().checkpoint()?;
            let last = last.filter(|last| last.epoch == session.epochs());
            let last = last.ok_or_else(|| Error::Run {
                run: run.folder().path().to_path_buf(),
                problem: "the checkpoint of its last epoch is gone".to_owned(),
            })?;
            keep(Learned { run, last })?;
        }
        Ok(status)
    });
    conclude(&session.run, outcome, &session.metrics(), seconds)
}

/// The threads that a run may use.
fn threads(environment: &Environment) -> usize {
    let threads = environment.0.get("threads").and_then(serde_json::Value::as_u64);
    threads.and_then(|threads| usize::try_from(threads).ok()).unwrap_or(1)
}

/// Threads that a run's kernels share.
fn pool(threads: usize) -> Result<ThreadPool> {
    let pool = rayon::ThreadPoolBuilder::new()
        .num_threads(threads)
        .thread_name(|index| format!("kernels-{index}"))
        .build();
    pool.map_err(|error| Error::Failed(format!("cannot start {threads} threads: {error}")))
}
