use super::checkpoint::{EveryEpoch, PartCheckpointer, Parts, model_bytes, verify};
use super::classifier::{Classifier, classifier};
use super::epochs::{EpochByEpoch, Measuring};
use super::evaluate::{Score, evaluate};
use super::renderer::{ProgressSink, RunRenderer};
use super::session::{Control, Session};
use crate::data::{BatchLoader, Examples, ImageSet, Order};
use crate::error::Place;
use crate::recipe::OptimizerRecipe;
use crate::runs::{Checkpoint, RunFolder, RunSpec, RunStatus, write_atomically};
use crate::{Error, Result};
use burn::data::dataloader::DataLoader;
use burn::module::Module;
use burn::optim::{AdamConfig, ModuleOptimizer};
use burn::store::ModuleRecord;
use burn::tensor::Device;
use burn::train::logger::InMemoryMetricLogger;
use burn::train::metric::{AccuracyMetric, LossMetric};
use burn::train::{Learner, SupervisedTraining, TrainingStrategy};
use std::sync::Arc;

/// Examples in a batch when nothing is learnt: as many as caches like, the same for every run.
const MEASURING_BATCH: usize = 1000;

/// What is shown while a run trains.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Display {
    /// Nothing here: its folder tells, and a dashboard elsewhere shows it.
    Folder,
    /// Burn's own display: its terminal dashboard, or lines where there is no terminal.
    Burn,
}

/// A data set as a run uses it: split, scaled, on the device.
#[derive(Clone, Debug)]
pub struct Splits {
    /// What is trained on.
    pub train: Examples,
    /// What settings are chosen on; `None` where the recipe sets nothing aside.
    pub valid: Option<Examples>,
    /// What is reported.
    pub test: Examples,
    /// Number of classes.
    pub classes: usize,
}

impl Splits {
    /// Whether `data` can be split and trained on as `spec` says.
    ///
    /// # Errors
    ///
    /// When the data are not those of the run, or too few to set the validation examples aside or
    /// to fill a batch.
    pub fn check(data: &ImageSet, spec: &RunSpec) -> Result<()> {
        let recipe = &spec.data;
        let (name, available) = (&data.source.name, data.train.len());
        if data.source.fingerprint != spec.data_fingerprint {
            return Err(Error::Usage(format!(
                "the run was made with another content of {name}; name the data it was made with"
            )));
        }
        if recipe.validation >= available {
            return Err(Error::Usage(format!(
                "the {available} training examples of {name} leave none to train on after {} are \
                 set aside for validation",
                recipe.validation
            )));
        }
        let rest = available - recipe.validation;
        let left = recipe.train_limit.map_or(rest, |limit| limit.min(rest));
        if spec.batch_size > left {
            return Err(Error::Usage(format!(
                "the batch size is {}, but there are only {left} examples to train on",
                spec.batch_size
            )));
        }
        Ok(())
    }

    /// Splits `data` as `spec` says and puts it on `device`.
    ///
    /// # Errors
    ///
    /// As [`check`](Self::check).
    pub fn new(data: &ImageSet, spec: &RunSpec, device: &Device) -> Result<Self> {
        Self::check(data, spec)?;
        let recipe = &spec.data;
        let (mut train, valid) = data.train.clone().split_last(recipe.validation);
        if let Some(limit) = recipe.train_limit {
            train.truncate(limit);
        }
        Ok(Self {
            train: train.to_examples(recipe.pixels, device),
            valid: (!valid.is_empty()).then(|| valid.to_examples(recipe.pixels, device)),
            test: data.test.to_examples(recipe.pixels, device),
            classes: data.classes,
        })
    }

    fn features(&self) -> usize {
        self.train.inputs.dims()[1]
    }
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
    data: &ImageSet,
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
    if done < session.spec.epochs {
        launch(&session, &splits, device, checkpoint.as_ref(), display);
    }
    finish(&session)
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
    let order = Order::shuffled(spec.seed, done + 1);
    let train = Arc::new(BatchLoader::new(splits.train.clone(), spec.batch_size, order));
    let measuring = Measuring {
        train: measuring_loader(&splits.train),
        valid: splits.valid.as_ref().map(measuring_loader),
        test: Some(measuring_loader(&splits.test)),
    };
    let shown = measuring.valid.clone().or_else(|| measuring.test.clone());
    let parts = Arc::new(Parts::default());
    let [model, optimizer, scheduler] =
        PartCheckpointer::all(&parts, checkpoint.map(|found| found.path.as_path()));

    let mut training = SupervisedTraining::<Classifier>::new(
        session.folder.path(),
        train,
        shown.expect("the test set is always measured"),
    )
    .num_epochs(spec.epochs)
    .with_application_logger(None)
    .with_metric_logger(InMemoryMetricLogger::new())
    .with_interrupter(session.control.interrupter().clone())
    .with_checkpointing_strategy(EveryEpoch)
    .with_custom_checkpointers(model, optimizer, scheduler)
    .metrics((LossMetric::new(),))
    .label(&spec.key().to_string());
    training = match display {
        Display::Folder => training.renderer(Box::new(RunRenderer(session.progress.clone()))),
        Display::Burn => training.metrics((AccuracyMetric::new(),)),
    };
    if done > 0 {
        training = training.checkpoint(done);
    }
    let strategy =
        EpochByEpoch { session: session.clone(), parts, measuring, device: device.clone() };
    let network = classifier(spec, splits.features(), splits.classes, device);
    let learner = Learner::new(network.train(), optimizer_of(&spec.optimizer), spec.learning_rate);
    training.with_training_strategy(TrainingStrategy::Custom(Arc::new(strategy))).launch(learner);
}

/// Records the end of a sitting in the run's folder.
fn finish(session: &Session) -> Result<RunStatus> {
    let folder = &session.folder;
    let (outcome, seconds) = session.outcome();
    match &outcome {
        Ok(RunStatus::Finished) => {
            let last = folder.checkpoint()?;
            let last = last.expect("a run finishes with the checkpoint of its last epoch");
            write_atomically(&folder.file("model.bpk"), model_bytes(&last.path)?)?;
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
pub fn load_model(folder: &RunFolder, splits: &Splits, device: &Device) -> Result<Classifier> {
    let spec = folder.spec()?;
    let path = folder.file("model.bpk");
    if !path.exists() {
        let status = folder.snapshot()?.status;
        return Err(Error::Run {
            run: folder.path().to_path_buf(),
            problem: format!("has no trained model; it is {status}"),
        });
    }
    let record = ModuleRecord::load(&path)
        .map_err(|error| Error::data(&path, Place::File, error.to_string(), ""))?;
    let network = classifier(&spec, splits.features(), splits.classes, device);
    Ok(network.load_record(record))
}

/// Measures a trained network on one split, with dropout off.
///
/// # Errors
///
/// When a result cannot be read back from the device.
pub fn evaluate_split(model: &Classifier, examples: &Examples) -> Result<Score> {
    evaluate(model, measuring_loader(examples).as_ref(), |_, _| ())
}

fn measuring_loader(examples: &Examples) -> Arc<dyn DataLoader<Examples>> {
    Arc::new(BatchLoader::new(examples.clone(), MEASURING_BATCH, Order::Sequential))
}

fn optimizer_of(recipe: &OptimizerRecipe) -> ModuleOptimizer {
    match *recipe {
        OptimizerRecipe::Adam { beta_1, beta_2, epsilon } => {
            AdamConfig::new().with_beta_1(beta_1).with_beta_2(beta_2).with_epsilon(epsilon).init()
        }
    }
}
