use super::checkpoint::{EveryEpoch, PartCheckpointer, Parts, model_bytes, verify};
use super::epochs::{EpochByEpoch, Measuring};
use super::evaluate::measuring_loader;
use super::network::Network;
use super::noise::measure_noise;
use super::optimizer::optimizer;
use super::progress::ProgressSink;
use super::schedule::Schedule;
use super::session::{Control, Session};
use super::silent::Silent;
use super::splits::Splits;
use crate::data::{BatchLoader, DataSet, Order};
use crate::error::Place;
use crate::measure::LossKind;
use crate::runs::{Checkpoint, RunFolder, RunSpec, RunStatus, write_atomically};
use crate::{Error, Result};
use burn::module::Module;
use burn::optim::lr_scheduler::module_lr_scheduler::ModuleLrScheduler;
use burn::store::ModuleRecord;
use burn::tensor::Device;
use burn::train::logger::InMemoryMetricLogger;
use burn::train::metric::{AccuracyMetric, LossMetric};
use burn::train::{Learner, SupervisedTraining, TrainingStrategy};
use std::path::Path;
use std::sync::Arc;

/// What is shown while a run trains.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Display {
    /// Nothing here: its folder tells, and a dashboard elsewhere shows it.
    Folder,
    /// Burn's own display: its terminal dashboard, or lines where there is no terminal.
    Burn,
}

/// Trains a run to its end, going on where an earlier sitting stopped. A complete run is left as
/// it is.
///
/// # Errors
///
/// When another process works on it, its files are damaged, the data are not its own, or its
/// results cannot be saved. What an earlier epoch saved stays.
pub fn train(
    folder: &RunFolder,
    data: &DataSet,
    device: &Device,
    control: &Control,
    display: Display,
) -> Result<RunStatus> {
    let _lock = folder.lock()?;
    let before = folder.status()?;
    if before.status.is_complete() {
        return Ok(before.status);
    }
    let spec = folder.spec()?;
    let splits = Splits::new(data, &spec, device)?;
    let checkpoint = folder.checkpoint()?;
    if let Some(checkpoint) = &checkpoint {
        verify(folder, &checkpoint.path)?;
    }
    let metrics = checkpoint.as_ref().map_or_else(Vec::new, |found| found.metrics.clone());
    folder.publish_metrics(&metrics)?;
    folder.set_status(RunStatus::Running, before.seconds)?;

    let progress = Arc::new(ProgressSink::new(folder.clone()));
    let session =
        Session::new(folder.clone(), spec, control.clone(), progress, metrics, before.seconds);
    let session = Arc::new(session);
    let done = checkpoint.as_ref().map_or(0, |found| found.epoch);
    if done < session.spec.training.epochs {
        launch(&session, &splits, device, checkpoint.as_ref(), display);
    }
    finish(&session, &splits, device)
}

/// Trains through Burn until the strategy ends it; how, the session knows.
fn launch(
    session: &Arc<Session>,
    splits: &Splits,
    device: &Device,
    checkpoint: Option<&Checkpoint>,
    display: Display,
) {
    let spec = &session.spec;
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
        session.folder.path(),
        Arc::new(train),
        shown.expect("the test set is always measured"),
    )
    .num_epochs(training_recipe.epochs)
    .with_application_logger(None)
    .with_metric_logger(InMemoryMetricLogger::new())
    .with_interrupter(session.control.interrupter().clone())
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
        training_recipe.schedule,
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

/// Records the end of a sitting in the run's folder.
fn finish(session: &Session, splits: &Splits, device: &Device) -> Result<RunStatus> {
    let folder = &session.folder;
    let (outcome, seconds) = session.outcome();
    match &outcome {
        Ok(RunStatus::Finished) => {
            let last = folder.checkpoint()?;
            let last = last.expect("a run finishes with the checkpoint of its last epoch");
            write_atomically(&folder.file("model.bpk"), model_bytes(&last.path)?)?;
            if let Some(noise) = &session.spec.noise {
                let model = load_model(folder, splits, device)?;
                let spec = &session.spec;
                folder.set_noise(&measure_noise(
                    &model,
                    spec,
                    splits,
                    &noise.amplitudes,
                    device,
                )?)?;
            }
            folder.set_status(RunStatus::Finished, seconds)?;
            folder.clear_checkpoints()?;
        }
        Ok(RunStatus::Diverged { epoch }) => {
            folder.set_status(RunStatus::Diverged { epoch: *epoch }, seconds)?;
            folder.clear_checkpoints()?;
        }
        Ok(status) => folder.set_status(status.clone(), seconds)?,
        Err(error) => {
            let status = RunStatus::Failed { reason: error.to_string() };
            // On a full disk this may fail too; the error itself still reaches the caller.
            let _ = folder.set_status(status, seconds);
        }
    }
    outcome
}

/// The trained network of a finished run.
///
/// # Errors
///
/// When the run is not finished, or its model cannot be read.
pub fn load_model(folder: &RunFolder, splits: &Splits, device: &Device) -> Result<Network> {
    let spec = folder.spec()?;
    let path = folder.file("model.bpk");
    if !path.exists() {
        let status = folder.snapshot()?.status;
        return Err(Error::Run {
            run: folder.path().to_path_buf(),
            problem: format!("has no trained model; it is {status}"),
        });
    }
    let record = load_record(&path)?;
    Ok(Network::new(&spec, splits, device).load_record(record))
}

fn load_record(path: &Path) -> Result<ModuleRecord> {
    ModuleRecord::load(path).map_err(|error| Error::data(path, Place::File, error.to_string(), ""))
}
