use super::*;
use crate::testing::{Net, Plus, below};
use crate::{Loader, environment};
use burn::optim::SgdConfig;
use burn::tensor::{Distribution, Tensor, TensorReadError};
use burn::train::metric::{Adaptor, Metric, MetricMetadata, MetricName, SerializedEntry};
use gelu_compare::program::ProgramSpec;
use gelu_compare::runs::{RunFolder, Watch};
use std::fs;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

/// A run in a folder that is deleted after the test.
struct Sandbox {
    folder: tempfile::TempDir,
    run: Arc<ClaimedRun<ProgramSpec>>,
}

impl Sandbox {
    /// `silence` is how long a worker on another host may go without a heartbeat.
    fn new(silence: Duration) -> Self {
        Self::of_seed(3, silence)
    }

    fn of_seed(seed: u64, silence: Duration) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let spec =
            serde_json::json!({"version": 1, "experiment": "numbers", "seed": seed, "setting": {}});
        let spec: ProgramSpec = serde_json::from_value(spec).unwrap();
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
        let options = RunOptions::default();
        let (run, environment) = (&self.run, &environment);
        let captures = true;
        let context = RunContext { run, options, device: &device, environment, control, captures };
        let training = move |_| {
            let load = |plus| Loader::new(below(6), Plus(plus)).batch_size(2);
            let net = Training::new(Net::new(hears), SgdConfig::new().init(), 0.1);
            Ok(training(net.train(load(0)).valid(load(10)).num_epochs(2)))
        };
        train_run(context, training, |finished| finished.save_model())
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
            // Another host takes the run over by renaming the lease.
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

/// Counts the updates of a display.
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
    let shown =
        move |training: Training<Net>| training.metric_train(of_training).metric_valid(of_valid);
    let status = sandbox.train(&Control::default(), shown, |_| ()).unwrap();
    assert_eq!(status, RunStatus::Finished);
    for (told, column) in [(trained, "train_loss"), (measured, "valid_loss")] {
        assert_eq!(told.batches.load(Ordering::SeqCst), 6, "{column}: two epochs of three batches");
        let losses = told.losses.lock().unwrap();
        for (losses, epoch) in losses.chunks(3).zip(sandbox.run.folder().metrics().unwrap()) {
            let mean = losses.iter().sum::<f64>() / 3.0;
            assert!((mean - epoch.get(column).unwrap()).abs() < 1e-6, "{column}: {losses:?}");
        }
    }
}

/// Returns the numbers of the network that a run has saved.
fn saved(sandbox: &Sandbox) -> Vec<f32> {
    let path = sandbox.run.folder().file("model.bpk");
    let tensors = burn_pack::Reader::from_file(path).unwrap().into_tensors().unwrap();
    let bytes = tensors.iter().flat_map(|tensor| tensor.to_bytes().unwrap().to_vec());
    let bytes: Vec<u8> = bytes.collect();
    bytes.chunks_exact(4).map(|b| f32::from_le_bytes([b[0], b[1], b[2], b[3]])).collect()
}

/// Trains for one epoch over six examples by steepest descent and returns the saved numbers.
fn descended(batch: usize, rate: f64, per_step: usize, clip: Option<f64>) -> Vec<f32> {
    let sandbox = Sandbox::new(LONG);
    let training = move |_| {
        let net = Training::new(Net::new(|_| ()), SgdConfig::new().init(), rate);
        let net = net.train(Loader::new(below(6), Plus(0)).batch_size(batch));
        let net = net.grads_accumulation(per_step).num_epochs(1);
        match clip {
            Some(largest) => net.clip_norm(largest),
            None => net,
        }
    };
    let status = sandbox.train(&Control::default(), training, |_| ()).unwrap();
    assert_eq!(status, RunStatus::Finished);
    saved(&sandbox)
}

/// The mean of the gradients of six examples is a third of the sum of the means of three pairs; a missing fourth
/// batch changes nothing.
#[test]
fn gradients_are_summed_over_the_batches_of_a_step() {
    let whole = descended(6, 0.03, 1, None);
    for per_step in [3, 4] {
        let summed = descended(2, 0.01, per_step, None);
        for (whole, summed) in whole.iter().zip(&summed) {
            assert!((whole - summed).abs() < 1e-6, "{per_step}: {whole} {summed}");
        }
    }
    assert_ne!(whole, descended(2, 0.01, 1, None), "three steps are not one");
}

/// The step has length η·c if the gradient's norm is above c; otherwise it is the plain step.
#[test]
fn the_norm_of_all_gradients_together_is_clipped() {
    let start = descended(6, 0.0, 1, None);
    let step = |clip| {
        let end = descended(6, 0.5, 1, clip);
        let squares = start.iter().zip(&end).map(|(a, b)| f64::from(b - a).powi(2));
        squares.sum::<f64>().sqrt()
    };
    let plain = step(None);
    assert!(plain > 0.1, "{plain}");
    assert!((step(Some(0.1)) - 0.05).abs() < 1e-6);
    assert!((step(Some(1e6)) - plain).abs() < 1e-6);
}

/// Other tests may draw from the device's generator in between, which changes what is drawn, but makes nothing equal.
#[test]
fn weights_differ_by_seed_and_masks_by_epoch() {
    let drawn: Arc<Mutex<Vec<u64>>> = Arc::default();
    for seed in [3, 4] {
        let draw = {
            let drawn = drawn.clone();
            move || {
                let device = Device::default();
                let numbers = Tensor::<1>::random([2], Distribution::Uniform(0.0, 1.0), &device);
                let bits: Vec<u32> = numbers.into_data().iter().map(f32::to_bits).collect();
                drawn.lock().unwrap().push(u64::from(bits[0]) << 32 | u64::from(bits[1]));
            }
        };
        let training = move |training: Training<Net>| {
            draw();
            training.on_epoch(move |_| draw())
        };
        let sandbox = Sandbox::of_seed(seed, LONG);
        let status = sandbox.train(&Control::default(), training, |_| ()).unwrap();
        assert_eq!(status, RunStatus::Finished);
    }
    let drawn = drawn.lock().unwrap();
    let different: std::collections::BTreeSet<_> = drawn.iter().collect();
    assert_eq!((drawn.len(), different.len()), (6, 6), "weights and two epochs of two seeds");
}

#[test]
fn splits_are_measured_as_often_as_asked_and_in_the_end() {
    let sandbox = Sandbox::new(LONG);
    let training = |training: Training<Net>| training.measure_every(2).num_epochs(3);
    sandbox.train(&Control::default(), training, |_| ()).unwrap();
    let epochs = sandbox.run.folder().metrics().unwrap();
    let measured: Vec<bool> = epochs.iter().map(|e| e.get("valid_loss").is_some()).collect();
    assert_eq!(measured, [false, true, true]);
    assert!(epochs.iter().all(|epoch| epoch.get("train_loss").is_some()));
}

#[test]
fn seconds_of_epochs_are_added_to_those_of_earlier_sessions() {
    let sandbox = Sandbox::new(LONG);
    sandbox.run.set_status(RunStatus::Interrupted, 5000.0).unwrap();
    sandbox.train(&Control::default(), |training| training, |_| ()).unwrap();
    let seconds = sandbox.run.status().seconds;
    assert!(seconds > 5000.0 && seconds < 5600.0, "{seconds}");
}
