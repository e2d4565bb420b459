use super::checkpoint::{EveryEpoch, PartCheckpointer, Parts, model_bytes, verify};
use super::control::Control;
use super::epochs::{EpochByEpoch, Measuring};
use super::evaluate::measuring_loader;
use super::network::Network;
use super::noise::measure_noise;
use super::optimizer::optimizer;
use super::progress::ProgressSink;
use super::schedule::Schedule;
use super::session::Session;
use super::silent::Silent;
use super::splits::Splits;
use super::threads::pool;
use crate::data::{BatchLoader, Order};
use crate::environment::Environment;
use crate::error::Place;
use crate::measure::LossKind;
use crate::output::complain;
use crate::runs::{Checkpoint, ClaimedRun, RunFolder, RunSpec, RunStatus};
use crate::{Error, Result};
use burn::module::Module;
use burn::optim::lr_scheduler::module_lr_scheduler::ModuleLrScheduler;
use burn::store::ModuleRecord;
use burn::tensor::Device;
use burn::train::logger::InMemoryMetricLogger;
use burn::train::metric::{AccuracyMetric, LossMetric};
use burn::train::{Learner, SupervisedTraining, TrainingStrategy};
use rayon::ThreadPool;
use std::path::Path;
use std::sync::Arc;
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::Duration;

/// What is shown while a run trains.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Display {
    /// Nothing here: its folder tells, and a dashboard elsewhere shows it.
    Folder,
    /// Burn's own display: its terminal dashboard, or lines where there is no terminal.
    Burn,
}

/// Trains a run to its end, going on where an earlier session stopped. A complete run is left as
/// it is.
///
/// # Errors
///
/// When its results cannot be saved, the device fails, or another worker has taken the run over.
/// What an earlier epoch saved stays.
///
/// # Panics
///
/// When Burn does; the run is then as its last epoch left it.
pub fn train(
    run: &Arc<ClaimedRun>,
    splits: &Splits,
    device: &Device,
    control: &Control,
    environment: &Environment,
    display: Display,
) -> Result<RunStatus> {
    let before = run.status();
    if before.status.is_complete() {
        return Ok(before.status);
    }
    let checkpoint = sound_checkpoint(run)?;
    let metrics = checkpoint.as_ref().map_or_else(Vec::new, |found| found.metrics.clone());
    run.begin_session(environment, metrics.len())?;
    run.publish_metrics(&metrics)?;
    run.set_status(RunStatus::Running, before.seconds)?;

    let progress = Arc::new(ProgressSink::new(run.clone()));
    let session = Session::new(run.clone(), control.clone(), progress, metrics, before.seconds);
    let session = Arc::new(session);
    let done = checkpoint.as_ref().map_or(0, |found| found.epoch);
    if done < session.spec().training.epochs {
        carry_out(&session, splits, device, checkpoint, display, pool(environment.threads)?);
    }
    // Other threads than before: a display of Burn's that was left behind holds those.
    pool(environment.threads)?.install(|| finish(&session, splits, device))
}

/// The newest checkpoint that can be gone on from. Damaged ones that are newer are removed.
fn sound_checkpoint(run: &ClaimedRun) -> Result<Option<Checkpoint>> {
    loop {
        let (checkpoint, damaged) = run.folder().checkpoint()?;
        for error in damaged {
            log(&format!("a checkpoint is damaged and left out: {error}"));
        }
        let epoch = checkpoint.as_ref().map_or(0, |found| found.epoch);
        run.discard_checkpoints_after(epoch)?;
        let Some(found) = checkpoint else { return Ok(None) };
        match verify(&found.path) {
            Ok(()) => return Ok(Some(found)),
            Err(error) => {
                log(&format!("a checkpoint cannot be loaded and is left out: {error}"));
                run.discard_checkpoints([found.epoch])?;
            }
        }
    }
}

fn log(line: &str) {
    complain(&format!("gelu: {line}\n"));
}

/// Trains in a thread of its own: a panic ends that alone, and a display of Burn's that has lost
/// its terminal, and never ends, is left behind.
fn carry_out(
    session: &Arc<Session>,
    splits: &Splits,
    device: &Device,
    checkpoint: Option<Checkpoint>,
    display: Display,
    kernels: ThreadPool,
) {
    let (splits, device, of_thread) = (splits.clone(), device.clone(), session.clone());
    let (ended, end) = channel::<()>();
    let thread = std::thread::Builder::new().name("training".to_owned()).spawn(move || {
        let _ended = ended;
        kernels.install(|| launch(&of_thread, &splits, &device, checkpoint.as_ref(), display));
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
fn launch(
    session: &Arc<Session>,
    splits: &Splits,
    device: &Device,
    checkpoint: Option<&Checkpoint>,
    display: Display,
) {
    let spec = session.spec();
    let done = checkpoint.map_or(0, |found| found.epoch);
    let (train, training_recipe) = (training_loader(splits, spec, done), &spec.training);
    let batches = train.batches();
    let measuring_loader = |samples| measuring_loader(samples, &spec.network);
    let measuring = Measuring {
        train: measuring_loader(&splits.train),
        valid: splits.valid.as_ref().map(measuring_loader),
        test: Some(measuring_loader(&splits.test)),
    };
    let shown = measuring.valid.clone().or_else(|| measuring.test.clone());
    let parts = Arc::new(Parts::default());
    let [model, optimizer_part, scheduler] =
        PartCheckpointer::all(&parts, checkpoint.map(|found| found.path.as_path()));

    let mut training = SupervisedTraining::<Network>::new(
        session.run.folder().path(),
        Arc::new(train),
        shown.expect("the test set is always measured"),
    )
    .num_epochs(training_recipe.epochs)
    .with_application_logger(None)
    .with_metric_logger(InMemoryMetricLogger::new())
    .with_interrupter(session.interrupter.clone())
    .with_checkpointing_strategy(EveryEpoch)
    .with_custom_checkpointers(model, optimizer_part, scheduler)
    .label(&spec.key().to_string());
    training = match (display, spec.network.loss()) {
        (Display::Folder, _) => training.renderer(Box::new(Silent)),
        (Display::Burn, LossKind::LogLoss) => {
            training.metrics((LossMetric::new(), AccuracyMetric::new()))
        }
        (Display::Burn, LossKind::SquaredError) => training.metrics((LossMetric::new(),)),
    };
    if done > 0 {
        training = training.checkpoint(done);
    }
    let (optimizer, clock) = optimizer(&training_recipe.optimizer, training_recipe.epochs);
    let schedule = Schedule::new(
        training_recipe.schedule.clone(),
        spec.learning_rate,
        training_recipe.epochs,
        batches,
    );
    let device = device.clone();
    let strategy =
        EpochByEpoch { session: session.clone(), parts, measuring, clock, device, display };
    let network = Network::new(spec, splits, &strategy.device);
    let learner = Learner::new(network.train(), optimizer, ModuleLrScheduler::new(schedule));
    training.with_training_strategy(TrainingStrategy::Custom(Arc::new(strategy))).launch(learner);
}

/// The batches of the epochs after `done`.
fn training_loader(splits: &Splits, spec: &RunSpec, done: usize) -> BatchLoader {
    let order = Order::shuffled(spec.seed, done + 1);
    let loader = BatchLoader::new(splits.train.clone(), spec.training.batch_size, order);
    match (spec.data.augmentation, splits.picture) {
        (Some(augmentation), Some(picture)) => loader.with_augmentation(augmentation, picture),
        _ => loader,
    }
}

/// Records the end of a session in the run's folder.
fn finish(session: &Session, splits: &Splits, device: &Device) -> Result<RunStatus> {
    let run = &session.run;
    let (outcome, seconds, epochs) = session.outcome();
    let outcome = outcome.and_then(|status| {
        if status == RunStatus::Finished {
            keep_results(session, splits, device)?;
        }
        if status.is_complete() {
            run.keep_metrics(&session.metrics())?;
        }
        run.set_status(status.clone(), seconds)?;
        if status.is_complete() {
            run.clear_checkpoints()?;
        }
        run.end_session(&status, epochs)?;
        Ok(status)
    });
    match &outcome {
        Ok(_) | Err(Error::LeaseLost { .. }) => {}
        Err(error) => {
            // On a full disk this may fail too; the error itself still reaches the caller.
            let _ = fail(run, &error.to_string(), seconds, epochs);
        }
    }
    outcome
}

/// Records that a run failed.
///
/// # Errors
///
/// When that cannot be written.
pub fn fail(run: &ClaimedRun, reason: &str, seconds: f64, epochs: usize) -> Result<()> {
    let status = RunStatus::Failed { reason: crate::names::printable(reason) };
    run.end_session(&status, epochs)?;
    run.set_status(status, seconds)
}

/// The trained network, and what it achieves under noise.
fn keep_results(session: &Session, splits: &Splits, device: &Device) -> Result<()> {
    let (run, spec) = (&session.run, session.spec());
    let (last, _) = run.folder().checkpoint()?;
    let last = last.filter(|last| last.epoch == spec.training.epochs);
    let last = last.ok_or_else(|| Error::Run {
        run: run.folder().path().to_path_buf(),
        problem: "the checkpoint of its last epoch is gone".to_owned(),
    })?;
    run.set_model(&model_bytes(&last.path, spec)?)?;
    if let Some(noise) = &spec.noise {
        let model = load_model(run.folder(), splits, device)?;
        run.set_noise(&measure_noise(&model, spec, splits, &noise.amplitudes, device)?)?;
    }
    Ok(())
}

/// The trained network of a finished run.
///
/// # Errors
///
/// When the run is not finished, or its model cannot be read.
pub fn load_model(folder: &RunFolder, splits: &Splits, device: &Device) -> Result<Network> {
    let spec = folder.spec_of_any_version()?;
    let path = folder.file("model.bpk");
    if !path.exists() {
        let problem = match folder.status()?.status {
            RunStatus::Finished => "its trained network, model.bpk, is not kept with it; to train \
                it anew, remove the run's folder and make the comparison again"
                .to_owned(),
            status => format!("there is no trained network; the run is {status}"),
        };
        return Err(Error::Run { run: folder.path().to_path_buf(), problem });
    }
    let record = load_record(&path)?;
    Ok(Network::new(&spec, splits, device).load_record(record))
}

fn load_record(path: &Path) -> Result<ModuleRecord> {
    ModuleRecord::load(path).map_err(|error| Error::data(path, Place::File, error.to_string(), ""))
}
