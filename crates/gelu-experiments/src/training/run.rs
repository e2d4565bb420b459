use super::evaluate::{measuring_loader, probing_loader};
use super::interface::Shape;
use super::network::Network;
use super::optimizer::optimizer;
use super::outcomes::examine;
use super::output::BatchOutput;
use super::splits::Splits;
use crate::data::{BatchLoader, Examples, Order};
use crate::measure::LossKind;
use crate::recipe::TrainLoss;
use crate::runs::{ClaimedRun, RunSpec};
use crate::{Error, Result};
use burn::data::dataloader::DataLoader;
use burn::module::Module;
use burn::store::ModuleRecord;
use burn::tensor::Device;
use burn::train::metric::{AccuracyMetric, LossMetric};
use gelu_compare::error::Place;
use gelu_compare::measure::Criterion;
use gelu_compare::runs::{Environment, RunFolder, RunStatus, Spec};
use gelu_compare::worker::Control;
use gelu_learner::networks::{Confusion, check_outcomes, set_noise, set_outcomes};
use gelu_learner::{BatchSource, FinishedRun, RunContext, RunOptions, Training, log, train_run};
use std::path::Path;
use std::sync::Arc;

/// The column of the metric at the points outside the region of the training points.
const OUTSIDE: &str = "test_outside";

/// The display while a run trains.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Display {
    /// No display; the run reports to its folder, and a dashboard elsewhere shows it.
    Folder,
    /// Burn's own display: its terminal dashboard, or lines if there is no terminal.
    Burn,
}

/// Trains a run to its end, going on where an earlier session stopped. A complete run is left as
/// it is. `criterion` is what its comparison is decided by: outcomes are kept of that. `captures` says whether steps
/// may be recorded and replayed.
///
/// # Errors
///
/// If the results cannot be saved, the device fails, or another worker has taken the run over. Saved results of
/// earlier epochs stay.
///
/// # Panics
///
/// If Burn panics; the run then stays as its last epoch left it.
pub fn train(
    run: &Arc<ClaimedRun>,
    splits: &Splits,
    criterion: &Criterion,
    device: &Device,
    control: &Control,
    environment: &Environment,
    (display, captures): (Display, bool),
) -> Result<RunStatus> {
    splits.save_large_reader(run.folder())?;
    let options = options(run.spec(), splits);
    let context = RunContext { run, options, device, environment, control, captures };
    let (spec, of_run, on) = (run.spec().clone(), splits.clone(), device.clone());
    let training = move |done| Ok(training(&spec, &of_run, &on, done, display));
    train_run(context, training, |finished| keep_results(&finished, splits, criterion, device))
}

/// Returns what a run needs in order to count as finished.
pub(super) fn options(spec: &RunSpec, splits: &Splits) -> RunOptions {
    // A value there that is not finite means that the run has diverged, as with a loss.
    let required = splits.outside.iter().map(|_| OUTSIDE.to_owned()).collect();
    RunOptions { epochs: Some(spec.training.epochs), required, ..RunOptions::default() }
}

/// Creates the training of a run, `done` of whose epochs are finished.
pub(super) fn training(
    spec: &RunSpec,
    splits: &Splits,
    device: &Device,
    done: usize,
    display: Display,
) -> Training<Network> {
    let recipe = &spec.training;
    let batches = training_loader(splits, spec, done);
    let measured = |samples| BatchSource::from(measuring_loader(samples, &spec.network));
    let model = Network::new(spec, splits, device);
    let (optimizer, clock) = optimizer(&recipe.optimizer, recipe.epochs, &model);
    let schedule = recipe.schedule.clone();
    let rate = schedule.scheduler(spec.learning_rate, recipe.epochs, batches.batches());
    let batches: Arc<dyn DataLoader<Examples>> = Arc::new(batches);
    let mut training = Training::new(model, optimizer, rate)
        .train(batches)
        .test(measured(&splits.test))
        .num_epochs(recipe.epochs)
        .attach(&splits.interface())
        .captured()
        .on_epoch(move |epoch| clock.begin(epoch));
    if let Some(largest) = recipe.optimizer.clip_norm() {
        training = training.clip_norm(largest);
    }
    if recipe.train_loss == TrainLoss::DropoutOff {
        training = training.measure_train(measured(&splits.train));
    }
    if let Some(valid) = &splits.valid {
        training = training.valid(measured(valid));
    }
    if let Some(outside) = &splits.outside {
        training = training.measure_on(OUTSIDE, BatchOutput::RMSE, measured(outside));
    }
    if recipe.probes {
        let probed = splits.valid.as_ref().unwrap_or(&splits.test);
        training = training.probes_on(probing_loader(probed, &spec.network));
    }
    match (display, spec.loss()) {
        (Display::Folder, _) => training,
        (Display::Burn, LossKind::LogLoss) => {
            training.metrics((LossMetric::new(), AccuracyMetric::new()))
        }
        (Display::Burn, _) => training.metrics((LossMetric::new(),)),
    }
}

/// Returns the batches of the epochs after `done`.
fn training_loader(splits: &Splits, spec: &RunSpec, done: usize) -> BatchLoader {
    let order = Order::shuffled(spec.seed, done + 1);
    let loader = BatchLoader::new(splits.train.clone(), spec.training.batch_size, order);
    if let Some(batches) = spec.training.batches {
        return match spec.data.is_of_tables() {
            true => loader.with_least_batches(batches, spec.seed, done),
            false => loader.with_drawn_batches(batches),
        };
    }
    match (spec.data.augmentation, splits.picture) {
        (Some(augmentation), Some(picture)) => loader.with_augmentation(augmentation, picture),
        _ => loader,
    }
}

/// Saves the trained network, its metrics under noise, and the outcome of each test example.
pub(super) fn keep_results(
    finished: &FinishedRun<'_, RunSpec>,
    splits: &Splits,
    criterion: &Criterion,
    device: &Device,
) -> Result<()> {
    finished.save_model()?;
    let (run, last) = (finished.run, &finished.last);
    let spec = run.spec();
    let Some(reported) = spec.reported_epoch(&last.metrics) else { return Ok(()) };
    let model = load_model(run.folder(), &splits.shape(), device)?;
    let examined = examine(&model, spec, splits, criterion, reported, device)?;
    if spec.noise.is_some() {
        set_noise(run, &examined.noise)?;
    }
    if let Some(confusion) = &examined.confusion {
        run.set_file(Confusion::FILE, &confusion.to_csv())?;
    }
    let Some(outcomes) = examined.outcomes else { return Ok(()) };
    match check_outcomes(&outcomes, reported, &examined.noise) {
        Ok(()) => set_outcomes(run, &outcomes),
        // This can happen on a device that computes the same thing in two different ways.
        Err(problem) => {
            log::<RunSpec>(&format!(
                "the outcomes of the test examples are not saved: the file {problem}"
            ));
            Ok(())
        }
    }
}

/// Returns the trained network of a finished run.
///
/// # Errors
///
/// If the run is not finished, or its model cannot be read.
pub fn load_model(folder: &RunFolder, shape: &Shape, device: &Device) -> Result<Network> {
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
    let network = Network::to_load(&spec, shape, device);
    network.try_load_record(record).map_err(|error| {
        let problem = format!("does not fit the network of its run: {error}");
        Error::data(&path, Place::File, problem, "train the run anew, or restore its folder")
    })
}

fn load_record(path: &Path) -> Result<ModuleRecord> {
    ModuleRecord::load(path).map_err(|error| Error::data(path, Place::File, error.to_string(), ""))
}

#[cfg(all(test, feature = "flex"))]
mod tests {
    use super::*;
    use crate::recipe::Recipe;
    use gelu_compare::runs::Watch;
    use gelu_core::Activation;
    use std::time::Duration;

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
            assert_eq!(gelu_compare::worker::fail(&run, "one:\n  two", 1.0, 0).unwrap(), expected);
            assert_eq!(folder.status().unwrap().status, expected);
            assert_eq!(folder.provenance().unwrap()[0].outcome.as_deref(), Some(said));
        }
    }
}
