use super::checkpoint::{EveryEpoch, PartCheckpointer, Parts, model_bytes, verify};
use super::epochs::{EpochByEpoch, Measuring};
use super::evaluate::measuring_loader;
use super::network::Network;
use super::optimizer::optimizer;
use super::outcomes::examine;
use super::schedule::Schedule;
use super::session::Session;
use super::silent::Silent;
use super::splits::Splits;
use crate::data::{BatchLoader, Order};
use crate::error::Place;
use crate::measure::{Criterion, LossKind, check_outcomes};
use crate::output::complain;
use crate::runs::{Checkpoint, ClaimedRun, Environment, RunFolder, RunSpec, RunStatus, Spec};
use crate::worker::Control;
use crate::{Error, Result};
use burn::module::Module;
use burn::optim::lr_scheduler::module_lr_scheduler::ModuleLrScheduler;
use burn::store::ModuleRecord;
use burn::tensor::Device;
use burn::train::logger::InMemoryMetricLogger;
use burn::train::metric::{AccuracyMetric, LossMetric};
use burn::train::{Learner, SupervisedTraining, TrainingStrategy};
use gelu_compare::runs::ProgressSink;
use gelu_compare::worker::conclude;
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
/// it is. `criterion` is what its comparison is decided by: outcomes are kept of that.
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
    criterion: &Criterion,
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
        carry_out(&session, splits, device, checkpoint, display, pool(threads(environment))?);
    }
    // Other threads than before: a display of Burn's that was left behind holds those.
    pool(threads(environment))?.install(|| finish(&session, splits, criterion, device))
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
    .label(&spec.name());
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
    if let Some(batches) = spec.training.batches {
        return loader.with_drawn_batches(batches);
    }
    match (spec.data.augmentation, splits.picture) {
        (Some(augmentation), Some(picture)) => loader.with_augmentation(augmentation, picture),
        _ => loader,
    }
}

/// Records the end of a session in the run's folder.
fn finish(
    session: &Session,
    splits: &Splits,
    criterion: &Criterion,
    device: &Device,
) -> Result<RunStatus> {
    let (outcome, seconds) = session.outcome();
    let outcome = outcome.and_then(|status| {
        if status == RunStatus::Finished {
            keep_results(session, splits, criterion, device)?;
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

/// The trained network, what it achieves under noise, and what it makes of each test example.
fn keep_results(
    session: &Session,
    splits: &Splits,
    criterion: &Criterion,
    device: &Device,
) -> Result<()> {
    let (run, spec) = (&session.run, session.spec());
    let (last, _) = run.folder().checkpoint()?;
    let last = last.filter(|last| last.epoch == spec.training.epochs);
    let last = last.ok_or_else(|| Error::Run {
        run: run.folder().path().to_path_buf(),
        problem: "the checkpoint of its last epoch is gone".to_owned(),
    })?;
    run.set_model(&model_bytes(&last.path, spec)?)?;
    let Some(reported) = spec.reported_epoch(&last.metrics) else { return Ok(()) };
    let model = load_model(run.folder(), splits, device)?;
    let examined = examine(&model, spec, splits, criterion, reported, device)?;
    if spec.noise.is_some() {
        run.set_noise(&examined.noise)?;
    }
    let Some(outcomes) = examined.outcomes else { return Ok(()) };
    match check_outcomes(&outcomes, reported, &examined.noise) {
        Ok(()) => run.set_outcomes(&outcomes),
        // On a device that computes the same thing twice in two ways.
        Err(problem) => {
            log(&format!("the outcomes of the test examples are not kept: the file {problem}"));
            Ok(())
        }
    }
}

/// The trained network of a finished run.
///
/// # Errors
///
/// When the run is not finished, or its model cannot be read.
pub fn load_model(folder: &RunFolder, splits: &Splits, device: &Device) -> Result<Network> {
    let spec: RunSpec = folder.spec_of_any_version()?;
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

#[cfg(all(test, feature = "flex"))]
mod tests {
    use super::*;
    use crate::recipe::Recipe;
    use crate::runs::Watch;
    use gelu_core::Activation;

    #[test]
    fn what_is_complete_stays_so_and_what_is_not_fails() {
        let parent = tempfile::tempdir().unwrap();
        let recipe = Recipe::named("digits").unwrap();
        let spec = RunSpec::new(&recipe, &Activation::Gelu, 1e-3, 0.0, 1, "flex", "abc");
        let folder = RunFolder::create(parent.path(), &spec).unwrap();
        let silence = Duration::from_secs(60);
        let run = ClaimedRun::claim(&folder, &spec, &mut Watch::default(), silence);
        let run = run.unwrap().unwrap();
        let here = crate::environment::here(&"flex".parse().unwrap(), 1);
        let failed = RunStatus::Failed { reason: "one: two".to_owned() };
        for (status, expected, said) in [
            (RunStatus::Running, failed, "failed"),
            (RunStatus::Finished, RunStatus::Finished, "finished"),
            (RunStatus::Diverged { epoch: 2 }, RunStatus::Diverged { epoch: 2 }, "diverged"),
        ] {
            run.begin_session(&here, 0).unwrap();
            run.set_status(status, 1.0).unwrap();
            assert_eq!(crate::worker::fail(&run, "one:\n  two", 1.0, 0).unwrap(), expected);
            assert_eq!(folder.status().unwrap().status, expected);
            assert_eq!(folder.provenance().unwrap()[0].outcome.as_deref(), Some(said));
        }
    }
}
