//! A GRU that says whether a noisy walk has risen or fallen, with the names of both classes.

use burn::data::dataloader::batcher::Batcher;
use burn::data::dataset::InMemDataset;
use burn::module::Module;
use burn::nn::gru::{Gru, GruConfig};
use burn::nn::loss::CrossEntropyLossConfig;
use burn::nn::{Linear, LinearConfig};
use burn::optim::AdamConfig;
use burn::tensor::{Device, Int, Tensor, TensorData};
use burn::train::{ClassificationOutput, InferenceStep, StoppingCondition, TrainOutput, TrainStep};
use gelu_core::{Activation, ActivationLayer, Channels};
use gelu_learner::{EarlyStopping, Loader, Program, Result, Run, Training};

const STEPS: usize = 12;

#[derive(Module, Debug)]
struct Reader {
    gru: Gru,
    hidden: Linear,
    activation: ActivationLayer,
    output: Linear,
}

impl Reader {
    fn new(activation: &Activation, device: &Device) -> Self {
        Self {
            gru: GruConfig::new(1, 16, true).init(device),
            hidden: LinearConfig::new(16, 16).init(device),
            activation: activation.init(Channels::Shared, device),
            output: LinearConfig::new(16, 2).init(device),
        }
    }
}

impl InferenceStep for Reader {
    type Input = (Tensor<3>, Tensor<1, Int>);
    type Output = ClassificationOutput;
    fn step(&self, (walks, classes): Self::Input) -> ClassificationOutput {
        let last = self.gru.forward(walks, None).narrow(1, STEPS - 1, 1).squeeze_dim::<2>(1);
        let hidden = self.activation.forward(self.hidden.forward(last));
        let logits = self.output.forward(hidden);
        let loss = CrossEntropyLossConfig::new().init(&logits.device());
        let loss = loss.forward(logits.clone(), classes.clone());
        ClassificationOutput::new(loss, logits, classes)
    }
}
impl TrainStep for Reader {
    type Input = (Tensor<3>, Tensor<1, Int>);
    type Output = ClassificationOutput;
    fn step(&self, batch: Self::Input) -> TrainOutput<ClassificationOutput> {
        let output = InferenceStep::step(self, batch);
        TrainOutput::new(self, output.loss.backward(), output)
    }
}

type Walk = [f32; STEPS];

struct Walks;
impl Batcher<Walk, (Tensor<3>, Tensor<1, Int>)> for Walks {
    fn batch(&self, walks: Vec<Walk>, device: &Device) -> (Tensor<3>, Tensor<1, Int>) {
        let rises = |walk: &Walk| i32::from(walk.iter().sum::<f32>() > 0.0);
        let classes: Vec<i32> = walks.iter().map(rises).collect();
        let (count, steps) = (walks.len(), walks.concat());
        let classes = Tensor::from_data(TensorData::new(classes, [count]), device);
        (Tensor::from_data(TensorData::new(steps, [count, STEPS, 1]), device), classes)
    }
}
fn walks(count: usize, start: f32) -> InMemDataset<Walk> {
    let step = |walk: usize, step: usize| ((start + (walk * STEPS + step) as f32) * 12.9).sin();
    InMemDataset::new((0..count).map(|i| std::array::from_fn(|j| step(i, j))).collect())
}

fn training(run: &Run) -> Result<Training<Reader>> {
    let net = Reader::new(&run.activation("activation")?, run.device());
    let patient = StoppingCondition::NoImprovementSince { n_epochs: 3 };
    Ok(Training::new(net, AdamConfig::new().init(), 1e-2)
        .train(Loader::new(walks(512, 0.0), Walks).batch_size(32).drop_last())
        .valid(Loader::new(walks(128, 0.3), Walks))
        .test(Loader::new(walks(128, 0.7), Walks))
        .num_epochs(run.get("epochs")?)
        .early_stopping(EarlyStopping::new("valid_loss", patient))
        .clip_norm(1.0)
        .class_names(["falls", "rises"]))
}

fn main() -> std::process::ExitCode {
    Program::new("gru", training).compare("activation", ["gelu", "relu"]).set("epochs", 8).main()
}
