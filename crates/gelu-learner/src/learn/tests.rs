use super::*;
use crate::testing::{Net, Plus, below};
use crate::{Loader, Training, environment};
use burn::optim::SgdConfig;
use burn::tensor::{Tensor, TensorReadError};
use burn::train::metric::{Adaptor, Metric, MetricMetadata, MetricName, SerializedEntry};
use gelu_compare::program::StudyRun;
use gelu_compare::runs::{RunFolder, Watch};
use std::fs;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

/// A run of a folder that is gone after the test.
struct Sandbox {
    folder: tempfile::TempDir,
    run: Arc<ClaimedRun<StudyRun>>,
}

impl Sandbox {
    /// `silence` is how long another host's worker may be without a heartbeat.
    fn new(silence: Duration) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let spec =
            serde_json::json!({"version": 1, "experiment": "numbers", "seed": 3, "setting": {}});
        let spec: StudyRun = serde_json::from_value(spec).unwrap();
        let run = RunFolder::create(folder.path(), &spec).unwrap();
        let run = ClaimedRun::claim(&run, &spec, &mut Watch::default(), silence).unwrap().unwrap();
        Self { folder, run: Arc::new(run) }
    }

    /// Trains for two epochs of three batches.
    fn train(
        &self,
        control: &Control,
        training: impl FnOnce(Training<Net>) -> Training<Net> + Send + 'static,
        hears: impl Fn(&[usize]) + Send + Sync + 'static,
    ) -> Result<RunStatus> {
        let (device, environment) = (Device::default(), environment::here("flex", 1));
        let plan = Plan::default();
        let class =
            Class { run: &self.run, plan, device: &device, environment: &environment, control };
        let on = device.clone();
        let lesson = move |done| {
            let load = |plus| Loader::new(below(6), Plus(plus)).batch_size(2);
            let training_of = Training::of(Net::new(hears), SgdConfig::new().init(), 0.1);
            let training_of = training_of.train(load(0)).valid(load(10)).epochs(2);
            training(training_of).lesson(3, done, &on)
        };
        learn(class, lesson, |learned| learned.keep_model())
    }
}

const LONG: Duration = Duration::from_secs(600);

#[test]
fn a_stop_in_the_last_epoch_is_an_end_and_in_another_an_interruption() {
    for (batch, expected) in [(1, RunStatus::Interrupted), (5, RunStatus::Finished)] {
        let (sandbox, control) = (Sandbox::new(LONG), Control::default());
        let (of_net, heard) = (control.clone(), AtomicUsize::new(0));
        let status = sandbox.train(
            &control,
            |training| training,
            move |_| {
                if heard.fetch_add(1, Ordering::SeqCst) == batch {
                    of_net.stop_after_epoch();
                }
            },
        );
        assert_eq!(status.unwrap(), expected);
    }
}

#[test]
fn whoever_has_lost_the_run_trains_no_further_batch() {
    let sandbox = Sandbox::new(Duration::from_millis(60));
    let heard = Arc::new(AtomicUsize::new(0));
    let (of_net, run) = (heard.clone(), sandbox.run.clone());
    let trained = sandbox.train(
        &Control::default(),
        |training| training,
        move |_| {
            if of_net.fetch_add(1, Ordering::SeqCst) > 0 {
                return;
            }
            // As another host takes it over.
            let lease = format!("lease-{:04}", run.lease().generation());
            let theirs = format!("lease-{:04}", run.lease().generation() + 1);
            let of_run = run.folder().path();
            fs::rename(of_run.join(lease), of_run.join(theirs)).unwrap();
            let began = Instant::now();
            while !run.lease().is_marked_lost() {
                assert!(began.elapsed() < Duration::from_secs(60), "no heartbeat notices");
                std::thread::sleep(Duration::from_millis(2));
            }
        },
    );
    assert!(matches!(trained, Err(Error::LeaseLost { .. })), "{trained:?}");
    assert_eq!(heard.load(Ordering::SeqCst), 1);
    drop(sandbox.folder);
}

/// Counts what a display is told.
#[derive(Clone)]
struct Counting {
    batches: Arc<AtomicUsize>,
    losses: Arc<Mutex<Vec<f64>>>,
}

struct Loss(Tensor<1>);

impl Adaptor<Loss> for burn::train::ClassificationOutput {
    fn adapt(&self) -> Loss {
        Loss(self.loss.clone())
    }
}

impl Metric for Counting {
    type Input = Loss;

    fn name(&self) -> MetricName {
        Arc::new("counting".to_owned())
    }

    fn update(
        &mut self,
        item: &Loss,
        _: &MetricMetadata,
    ) -> std::result::Result<SerializedEntry, TensorReadError> {
        self.batches.fetch_add(1, Ordering::SeqCst);
        self.losses.lock().unwrap().push(item.0.clone().mean().try_into_scalar::<f64>()?);
        Ok(SerializedEntry::new(String::new(), String::new()))
    }

    fn compute(&mut self) -> std::result::Result<SerializedEntry, TensorReadError> {
        Ok(SerializedEntry::new(String::new(), String::new()))
    }

    fn clear(&mut self) {}
}

#[test]
fn burns_display_is_told_of_every_batch() {
    let counting = || Counting { batches: Arc::default(), losses: Arc::default() };
    let (trained, measured) = (counting(), counting());
    let (of_training, of_valid) = (trained.clone(), measured.clone());
    let sandbox = Sandbox::new(LONG);
    let shown = move |training: Training<Net>| {
        training.shown(|burn| burn.metric_train(of_training).metric_valid(of_valid))
    };
    let status = sandbox.train(&Control::default(), shown, |_| ()).unwrap();
    assert_eq!(status, RunStatus::Finished);
    for (told, column) in [(trained, "batch_loss"), (measured, "valid_loss")] {
        assert_eq!(told.batches.load(Ordering::SeqCst), 6, "{column}: two epochs of three batches");
        let losses = told.losses.lock().unwrap();
        for (losses, epoch) in losses.chunks(3).zip(sandbox.run.folder().metrics().unwrap()) {
            let mean = losses.iter().sum::<f64>() / 3.0;
            assert!((mean - epoch.get(column).unwrap()).abs() < 1e-6, "{column}: {losses:?}");
        }
    }
}
