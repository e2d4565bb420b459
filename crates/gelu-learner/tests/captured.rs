//! Runs whose steps are recorded and replayed, beside eager ones.

#![allow(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]

use burn::data::dataloader::batcher::Batcher;
use burn::data::dataset::InMemDataset;
use burn::module::Module;
use burn::nn::{BatchNorm, BatchNormConfig, Dropout, DropoutConfig, Linear, LinearConfig};
use burn::optim::ModuleOptimizer;
use burn::optim::lr_scheduler::cosine::CosineAnnealingLrSchedulerConfig;
use burn::tensor::{Device, Tensor, TensorData};
use burn::train::{InferenceStep, TrainOutput, TrainStep};
use gelu_compare::measure::EpochMetrics;
use gelu_compare::program::ProgramSpec;
use gelu_compare::runs::{ClaimedRun, RunFolder, RunStatus, Watch};
use gelu_compare::worker::Control;
use gelu_learner::{
    BatchMetrics, Loader, RunContext, RunOptions, Training, environment, train_run,
};
use gelu_training::{AdamConfig, AdamWConfig, SgdConfig, layers};
use std::fs;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// What a step does that a recording knows nothing of.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Habit {
    None,
    /// It draws by Burn's dropout.
    Draws,
    /// It reads its loss.
    Reads,
    /// It weighs its loss by the number of the step.
    Counts,
}

#[derive(Module, Debug)]
struct Net {
    input: Linear,
    norms: [BatchNorm; 2],
    dropout: Dropout,
    output: Linear,
    #[module(skip)]
    habit: Habit,
    #[module(skip)]
    steps: Arc<AtomicUsize>,
}

impl Net {
    fn new(habit: Habit, device: &Device) -> Self {
        Self {
            input: LinearConfig::new(4, 8).init(device),
            norms: [0.1, 0.3]
                .map(|momentum| BatchNormConfig::new(8).with_momentum(momentum).init(device)),
            dropout: DropoutConfig::new(0.2).init(),
            output: LinearConfig::new(8, 1).init(device),
            habit,
            steps: Arc::default(),
        }
    }

    fn score(&self, [x, y]: [Tensor<2>; 2]) -> BatchMetrics {
        let x = gelu_core::gelu(layers::batch_norm(&self.norms[0], self.input.forward(x)));
        let x = match self.habit {
            Habit::Draws => self.dropout.forward(x),
            _ => layers::dropout(&self.dropout, x),
        };
        let error = self.output.forward(self.norms[1].forward(x)) - y;
        let near = error.clone().abs().lower_elem(0.5).int().sum();
        BatchMetrics::new(error.dims()[0], error.square().mean()).count("accuracy", near)
    }
}

impl TrainStep for Net {
    type Input = [Tensor<2>; 2];
    type Output = BatchMetrics;

    fn step(&self, batch: [Tensor<2>; 2]) -> TrainOutput<BatchMetrics> {
        let output = self.score(batch);
        let step = self.steps.fetch_add(1, Ordering::SeqCst);
        let loss = match self.habit {
            Habit::Reads if output.loss().into_scalar::<f32>() > 1e9 => output.loss() * 0.5,
            Habit::Counts => output.loss() / (1 + step % 5) as f32,
            _ => output.loss(),
        };
        TrainOutput::new(self, loss.backward(), output)
    }
}

impl InferenceStep for Net {
    type Input = [Tensor<2>; 2];
    type Output = BatchMetrics;

    fn step(&self, batch: [Tensor<2>; 2]) -> BatchMetrics {
        self.score(batch)
    }
}

/// Makes features and a target of numbers.
struct Waves;

impl Batcher<usize, [Tensor<2>; 2]> for Waves {
    fn batch(&self, items: Vec<usize>, device: &Device) -> [Tensor<2>; 2] {
        let wave = |width: usize, frequency: f32| {
            let numbers = items.iter().flat_map(|&item| (0..width).map(move |i| (item, i)));
            let numbers = numbers.map(|(item, i)| (frequency * (item * 5 + i) as f32).sin());
            let data = TensorData::new(numbers.collect::<Vec<f32>>(), [items.len(), width]);
            Tensor::from_data(data, device)
        };
        [wave(4, 0.7), wave(1, 0.3)]
    }
}

const EPOCHS: usize = 4;

/// A device has one generator of random numbers, whichever test asks for it: one at a time.
fn alone() -> MutexGuard<'static, ()> {
    static ALONE: Mutex<()> = Mutex::new(());
    ALONE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// What a run of 44 steps, four of them with smaller batches, has come to: its metrics, its network, and what its
/// folder says of its steps.
fn trained(
    optimizer: &ModuleOptimizer,
    habit: Habit,
    captures: bool,
    sessions: &[Option<usize>],
) -> (Vec<EpochMetrics>, Vec<u8>, String) {
    let place = tempfile::tempdir().unwrap();
    let spec = serde_json::json!({"version": 1, "experiment": "waves", "seed": 3, "setting": {}});
    let spec: ProgramSpec = serde_json::from_value(spec).unwrap();
    let folder = RunFolder::create(place.path(), &spec).unwrap();
    let long = Duration::from_secs(600);
    let run = ClaimedRun::claim(&folder, &spec, &mut Watch::default(), long).unwrap().unwrap();
    let run = Arc::new(run);
    for &stop in sessions {
        let (device, environment) = (Device::default(), environment::here("any", 1));
        let (control, optimizer) = (Control::default(), optimizer.clone());
        let context = RunContext {
            run: &run,
            options: RunOptions::default(),
            device: &device,
            environment: &environment,
            control: &control,
            captures,
        };
        let (of_epochs, on) = (control.clone(), device.clone());
        let training = move |_| {
            let rate = CosineAnnealingLrSchedulerConfig::new(1e-2, 11 * EPOCHS).init().unwrap();
            let load = |count, size| {
                Loader::new(InMemDataset::new((0..count).collect()), Waves).batch_size(size)
            };
            Ok(Training::new(Net::new(habit, &on), optimizer, rate)
                .train(load(84, 8))
                .valid(load(40, 8))
                .num_epochs(EPOCHS)
                .clip_norm(0.5)
                .captured()
                .on_epoch(move |epoch| {
                    if Some(epoch) == stop {
                        of_epochs.stop_after_epoch();
                    }
                }))
        };
        let status = train_run(context, training, |finished| finished.save_model()).unwrap();
        let expected = stop.map_or(RunStatus::Finished, |_| RunStatus::Interrupted);
        assert_eq!(status, expected);
    }
    let folder = run.folder();
    let said = serde_json::to_string(&folder.provenance().unwrap()).unwrap();
    (folder.metrics().unwrap(), fs::read(folder.file("model.bpk")).unwrap(), said)
}

/// Whether the tests' device can replay steps.
fn replays() -> bool {
    format!("{:?}", Device::default()).contains("Wgpu")
}

#[test]
fn a_captured_run_is_the_eager_one_even_if_it_was_interrupted() {
    let _alone = alone();
    let optimizers: [(&str, ModuleOptimizer); 3] = [
        ("adam", AdamConfig::new().init()),
        ("adamw", AdamWConfig::new().with_weight_decay(0.3).init()),
        ("sgd", SgdConfig::new().with_nesterov(true).init()),
    ];
    for (name, optimizer) in optimizers {
        let (metrics, network, said) = trained(&optimizer, Habit::None, false, &[None]);
        assert!(!said.contains("\"steps\""), "{said}");
        for sessions in [&[None][..], &[Some(1), Some(3), None]] {
            let found = trained(&optimizer, Habit::None, true, sessions);
            assert_eq!(found.0, metrics, "{name} {sessions:?}");
            assert_eq!(found.1, network, "{name} {sessions:?}");
            let is_replayed = found.2.contains(r#""steps":"recorded and replayed""#);
            assert_eq!(is_replayed, replays(), "{}", found.2);
        }
    }
}

#[test]
fn a_step_that_cannot_be_recorded_is_made_eagerly_and_the_folder_says_why() {
    let _alone = alone();
    let ours = AdamConfig::new().init();
    let cases = [
        (ours.clone(), Habit::Draws, "eager: a step draws random numbers"),
        (
            ours.clone(),
            Habit::Reads,
            "eager: a step panics while it is recorded, as one that reads",
        ),
        (ours, Habit::Counts, "eager: step 1 came to other numbers"),
        (burn::optim::AdamConfig::new().init(), Habit::None, "eager: 8 of 8 parameters"),
    ];
    for (optimizer, habit, reason) in cases {
        let (metrics, network, _) = trained(&optimizer, habit, false, &[None]);
        let found = trained(&optimizer, habit, true, &[None]);
        // What counts steps on the host counts those of the trial, too.
        if habit != Habit::Counts {
            assert_eq!((found.0, found.1), (metrics, network), "{habit:?}");
        }
        assert_eq!(found.2.contains(reason), replays(), "{habit:?}: {}", found.2);
    }
}
