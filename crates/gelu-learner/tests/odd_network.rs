//! A small classifier for tests. Its axis `fault` names a fault or a special feature.

use burn::data::dataloader::batcher::Batcher;
use burn::data::dataset::InMemDataset;
use burn::module::Module;
use burn::nn::loss::CrossEntropyLossConfig;
use burn::nn::{Linear, LinearConfig};
use burn::optim::lr_scheduler::cosine::CosineAnnealingLrSchedulerConfig;
use burn::optim::lr_scheduler::module_lr_scheduler::ModuleLearningRate;
use burn::optim::{AdamConfig, GradientsParams, ModuleOptimizer};
use burn::tensor::{Device, Distribution, ExecutionError, Int, Tensor, TensorData};
use burn::train::metric::{
    AccuracyInput, AccuracyMetric, Adaptor, AurocMetric, ClassReduction, ConfusionStatsInput,
    LossInput, LossMetric,
};
use burn::train::{
    ClassificationOutput, InferenceStep, ItemLazy, StoppingCondition, TrainOutput, TrainStep,
};
use gelu_learner::{
    BatchMetrics, EarlyStopping, Error, Loader, Measure, ModelOutput, Program, Result, Run,
    Training, metrics,
};
use rand::RngExt;
use std::sync::atomic::{AtomicUsize, Ordering};

#[derive(Module, Debug)]
struct Odd {
    linear: Linear,
    spare: Linear,
    #[module(skip)]
    fault: Fault,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Fault {
    Grows,
    NoNumber,
    ManyLosses,
    Draws,
    None,
}

impl Odd {
    fn score(&self, (inputs, classes): Batch) -> Scored {
        let logits = self.linear.forward(inputs);
        let loss = CrossEntropyLossConfig::new().init(&logits.device());
        let loss = loss.forward(logits.clone(), classes.clone());
        let loss = match self.fault {
            Fault::NoNumber => loss * f32::NAN,
            Fault::ManyLosses => loss.repeat(&[3]),
            // A random loss, both in training and in measuring.
            Fault::Draws => {
                let drawn = loss.random_like(Distribution::Uniform(0.0, 1.0));
                loss * 0.0 + drawn
            }
            Fault::Grows | Fault::None => loss,
        };
        Scored(ClassificationOutput::new(loss, logits, classes))
    }
}

/// Burn's output, with a metric that is not a ratio of sums.
struct Scored(ClassificationOutput);

impl ItemLazy for Scored {
    fn sync(self) -> std::result::Result<Self, ExecutionError> {
        self.0.sync().map(Self)
    }
}

impl Adaptor<LossInput> for Scored {
    fn adapt(&self) -> LossInput {
        self.0.adapt()
    }
}

impl Adaptor<AccuracyInput> for Scored {
    fn adapt(&self) -> AccuracyInput {
        self.0.adapt()
    }
}

impl Adaptor<ConfusionStatsInput> for Scored {
    fn adapt(&self) -> ConfusionStatsInput {
        self.0.adapt()
    }
}

impl ModelOutput for Scored {
    fn metrics() -> Vec<Measure> {
        let auroc = Measure::named("auroc").higher();
        ClassificationOutput::metrics().into_iter().chain([auroc]).collect()
    }

    fn measure(&self) -> BatchMetrics {
        let classes = self.0.targets.clone().float().unsqueeze_dim::<2>(1);
        let score = self.0.output.clone().without_autodiff().narrow(1, 1, 1);
        self.0.measure().gather("auroc", Tensor::cat(vec![score, classes], 1), metrics::auroc)
    }

    fn classes(&self) -> Option<[Tensor<1, Int>; 2]> {
        self.0.classes()
    }
}

/// Aborts the process in the training step numbered `$ODD_DIES_AT`, if the variable is set.
fn die_where_asked() {
    static STEPS: AtomicUsize = AtomicUsize::new(0);
    let step = STEPS.fetch_add(1, Ordering::Relaxed) + 1;
    if std::env::var("ODD_DIES_AT").is_ok_and(|asked| asked == step.to_string()) {
        std::process::abort();
    }
}

type Batch = (Tensor<2>, Tensor<1, Int>);

impl TrainStep for Odd {
    type Input = Batch;
    type Output = Scored;

    fn step(&self, batch: Batch) -> TrainOutput<Scored> {
        die_where_asked();
        let output = self.score(batch);
        TrainOutput::new(self, output.0.loss.clone().sum().backward(), output)
    }

    fn optimize(
        self,
        optimizer: &mut ModuleOptimizer,
        rate: ModuleLearningRate,
        gradients: GradientsParams,
    ) -> Self {
        let mut after = optimizer.step(rate, self, gradients);
        if after.fault == Fault::Grows {
            after.spare = LinearConfig::new(2, 3).init(&after.linear.weight.device());
        }
        after
    }
}

impl InferenceStep for Odd {
    type Input = Batch;
    type Output = Scored;

    fn step(&self, batch: Batch) -> Scored {
        self.score(batch)
    }
}

struct Classes;

impl Batcher<[f32; 2], Batch> for Classes {
    fn batch(&self, points: Vec<[f32; 2]>, device: &Device) -> Batch {
        let classes: Vec<i32> = points.iter().map(|[a, b]| i32::from(a * b > 0.2)).collect();
        let (count, inputs) = (points.len(), points.concat());
        (
            Tensor::from_data(TensorData::new(inputs, [count, 2]), device),
            Tensor::from_data(TensorData::new(classes, [count]), device),
        )
    }
}

fn points(count: usize) -> InMemDataset<[f32; 2]> {
    let point = |i: usize| [(i as f32 * 1.7).sin(), (i as f32 * 0.9).cos()];
    InMemDataset::new((0..count).map(point).collect())
}

fn training(run: &Run) -> Result<Training<Odd>> {
    let fault: String = run.get("fault")?;
    let device = run.device();
    let linear = |outputs| LinearConfig::new(2, outputs).init(device);
    // `$ODD_SPARE` changes the network, as an edit of the program would.
    let changed = std::env::var("ODD_SPARE").map(|outputs| outputs.parse().unwrap_or(2));
    let (linear, spare) = (linear(2), linear(changed.unwrap_or(2)));
    let kind = match fault.as_str() {
        "grows" => Fault::Grows,
        "nan" => Fault::NoNumber,
        "many-losses" => Fault::ManyLosses,
        "draws" | "draws-more" => Fault::Draws,
        _ => Fault::None,
    };
    if fault == "asks" {
        run.get::<usize>("depth")?;
    }
    let count = |of: &str, count: usize| if fault == of { 0 } else { count };
    let net = Odd { linear, spare, fault: kind };
    let rate = if fault == "rate" { -1.0 } else { 1e-2 };
    let epochs: usize = run.get("epochs")?;
    let adam = AdamConfig::new().init();
    let training = match fault.as_str() {
        // 13 batches per epoch.
        "scheduled" => {
            let falling = CosineAnnealingLrSchedulerConfig::new(rate, 13 * epochs);
            Training::new(net, adam, falling.init().map_err(Error::Failed)?)
        }
        _ => Training::new(net, adam, rate),
    };
    let load = |examples| Loader::new(points(examples), Classes);
    let train = load(count("train", 200));
    let train = match fault.as_str() {
        "no-batch" => train,
        "large-batch" => train.batch_size(201),
        "prefetches" => train.batch_size(16).num_workers(3).drop_last(),
        "augmented" => train.batch_size(16).num_workers(2).augment(|[x, y], epoch, random| {
            let reach = 0.5 / epoch as f32;
            [x + random.random_range(-reach..reach), y]
        }),
        _ => train.batch_size(count("batch", 16)),
    };
    let valid = load(count("valid", if fault == "draws-more" { 100 } else { 50 }));
    let mut training = training.train(train).valid(valid).num_epochs(count("epochs", epochs));
    if fault != "no-test" {
        training = training.test(load(count("test", 40)));
    }
    // The features that change the result of a run, one by one, for the tests that resume runs.
    Ok(match fault.as_str() {
        "stops" => {
            let patient = StoppingCondition::NoImprovementSince { n_epochs: 4 };
            training.early_stopping(EarlyStopping::new("valid_error", patient))
        }
        "stops-unreported" => {
            let patient = StoppingCondition::NoImprovementSince { n_epochs: 4 };
            training.early_stopping(EarlyStopping::new("valid_f1", patient))
        }
        "accumulates" => training.grads_accumulation(4),
        "clipped" => training.clip_norm(0.01),
        "classes" => training.class_names(["below", "above"]),
        "seldom" => training.measure_every(7),
        "recorded" => training
            .record((AccuracyMetric::new(), AurocMetric::multiclass(ClassReduction::Macro)))
            .attach(&"what stands before and behind it"),
        _ => training.metrics((LossMetric::new(), AccuracyMetric::new())),
    })
}

fn main() -> std::process::ExitCode {
    Program::new("odd", training).compare("fault", ["none", "other"]).set("epochs", 3).main()
}
