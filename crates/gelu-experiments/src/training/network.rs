use super::splits::Splits;
use crate::data::{BatchInputs, Examples};
use crate::measure::LossKind;
use crate::randomness::device_seed;
use crate::recipe::NetworkRecipe;
use crate::runs::RunSpec;
use burn::module::Module;
use burn::nn::loss::{CrossEntropyLossConfig, MseLoss, Reduction};
use burn::tensor::activation::log_softmax;
use burn::tensor::{Bool, Device, ExecutionError, Int, Tensor};
use burn::train::metric::{AccuracyInput, Adaptor, LossInput};
use burn::train::{InferenceStep, ItemLazy, TrainOutput, TrainStep};
use gelu_learner::randomness::Purpose;
use gelu_learner::{Measure, Measured, Measurement, numbered};
use gelu_models::{
    Autoencoder, AutoencoderConfig, Cnn, CnnConfig, Gpt, GptConfig, Mlp, MlpConfig, WideResNet,
    WideResNetConfig,
};
use gelu_training::clip_by_global_norm;

/// Any of the networks, with what it is trained to do: to name the class of its input, or the character
/// that follows, by the log loss; an autoencoder to return its input, and a regression to find a number, by the
/// mean squared error.
#[derive(Module, Debug)]
pub struct Network {
    architecture: Architecture,
    /// Channels, height and width, for networks of pictures.
    #[module(skip)]
    picture: [usize; 3],
    /// The largest norm of its gradients together.
    #[module(skip)]
    clip_norm: Option<f64>,
}

#[derive(Module, Debug)]
#[allow(clippy::large_enum_variant, reason = "there is one network, and Burn boxes no modules")]
enum Architecture {
    Mlp(Mlp),
    Regression(Mlp),
    Autoencoder(Autoencoder),
    Cnn(Cnn),
    WideResNet(WideResNet),
    Gpt(Gpt),
}

impl Network {
    /// The untrained network of a run: same seed, same weights, whatever the activation.
    ///
    /// # Panics
    ///
    /// If the specification is not valid ([`Recipe::validate`](crate::recipe::Recipe::validate)).
    pub fn new(spec: &RunSpec, splits: &Splits, device: &Device) -> Self {
        device.seed(device_seed(spec.seed, Purpose::Weights));
        let activation = spec.activation.activation();
        let activation = activation.expect("an unknown activation is refused before").clone();
        let (features, classes) = (splits.features(), splits.classes);
        let channels = splits.picture.map_or(1, |[channels, ..]| channels);
        let architecture = match &spec.network {
            &NetworkRecipe::Classifier { depth, width } => Architecture::Mlp(
                MlpConfig::new(features, classes)
                    .with_depth(depth)
                    .with_width(width)
                    .with_dropout(spec.dropout)
                    .with_activation(activation)
                    .init(device),
            ),
            &NetworkRecipe::Regression { depth, width } => Architecture::Regression(
                MlpConfig::new(features, 1)
                    .with_depth(depth)
                    .with_width(width)
                    .with_activation(activation)
                    .init(device),
            ),
            NetworkRecipe::Autoencoder { encoder } => Architecture::Autoencoder(
                AutoencoderConfig::new(features)
                    .with_encoder(encoder.clone())
                    .with_activation(activation)
                    .init(device),
            ),
            &NetworkRecipe::Cnn { widths, noise } => Architecture::Cnn(
                CnnConfig::new()
                    .with_classes(classes)
                    .with_channels(channels)
                    .with_widths(widths)
                    .with_noise(noise)
                    .with_dropout(spec.dropout)
                    .with_activation(activation)
                    .init(device),
            ),
            &NetworkRecipe::WideResNet { depth, width, order } => Architecture::WideResNet(
                WideResNetConfig::new(classes)
                    .with_depth(depth)
                    .with_width(width)
                    .with_channels(channels)
                    .with_dropout(spec.dropout)
                    .with_order(order.into())
                    .with_activation(activation)
                    .init(device),
            ),
            &NetworkRecipe::Gpt { layers, heads, width, context, norm } => Architecture::Gpt(
                GptConfig::new(classes)
                    .with_layers(layers)
                    .with_heads(heads)
                    .with_width(width)
                    .with_context(context)
                    .with_norm(norm.into())
                    .with_gated(spec.activation.is_gate())
                    .with_activation(activation)
                    .init(device),
            ),
        };
        let clip_norm = spec.training.optimizer.clip_norm();
        let picture = splits.picture.unwrap_or([1, 1, features]);
        numbered(Self { architecture, picture, clip_norm })
    }

    /// Outputs, targets and loss of a batch.
    pub fn score(&self, batch: Examples) -> BatchOutput {
        let Examples { inputs, labels, targets } = batch;
        let pictures = |inputs: BatchInputs| {
            let ([channels, height, width], inputs) = (self.picture, inputs.numbers());
            let count = inputs.dims()[0];
            inputs.reshape([count, channels, height, width])
        };
        let logits = match &self.architecture {
            Architecture::Autoencoder(network) => {
                let inputs = inputs.numbers();
                let output = network.forward(inputs.clone());
                let loss = MseLoss::new().forward(output.clone(), inputs, Reduction::Mean);
                return BatchOutput { loss, output, labels, kind: LossKind::SquaredError };
            }
            Architecture::Regression(network) => {
                let output = network.forward(inputs.numbers());
                let targets = targets.expect("points have numbers to be found");
                let targets = targets.reshape(output.dims());
                let loss = MseLoss::new().forward(output.clone(), targets, Reduction::Mean);
                return BatchOutput { loss, output, labels, kind: LossKind::ScaledSquaredError };
            }
            Architecture::Mlp(network) => network.forward(inputs.numbers()),
            Architecture::Cnn(network) => network.forward(pictures(inputs)),
            Architecture::WideResNet(network) => network.forward(pictures(inputs)),
            Architecture::Gpt(network) => {
                let logits = network.forward(inputs.tokens());
                let [windows, context, vocabulary] = logits.dims();
                logits.reshape([windows * context, vocabulary])
            }
        };
        let loss = CrossEntropyLossConfig::new()
            .init(&logits.device())
            .forward(logits.clone(), labels.clone());
        BatchOutput { loss, output: logits, labels, kind: LossKind::LogLoss }
    }

    /// The transformer, where it is one.
    pub fn gpt(&self) -> Option<&Gpt> {
        match &self.architecture {
            Architecture::Gpt(network) => Some(network),
            _ => None,
        }
    }

    /// The loss of each example of a batch, `[examples]`: [`score`](Self::score) has their mean.
    pub fn losses(&self, batch: Examples) -> Tensor<1> {
        let (inputs, targets) = (batch.inputs.clone(), batch.targets.clone());
        let BatchOutput { output, labels, kind, .. } = self.score(batch);
        let examples = labels.dims()[0];
        let losses = match kind {
            LossKind::SquaredError => {
                MseLoss::new().forward_no_reduction(output, inputs.numbers()).mean_dim(1)
            }
            LossKind::ScaledSquaredError => {
                let targets = targets.expect("points have numbers to be found");
                MseLoss::new().forward_no_reduction(output, targets.reshape([examples, 1]))
            }
            LossKind::LogLoss => {
                log_softmax(output, 1).gather(1, labels.reshape([examples, 1])).neg()
            }
        };
        losses.reshape([examples])
    }
}

/// What a network made of a batch.
#[derive(Debug)]
pub struct BatchOutput {
    /// Mean over the batch, of shape `[1]`.
    pub loss: Tensor<1>,
    /// Logits `[examples, classes]`, the reconstruction `[examples, features]`, or numbers `[examples, 1]`.
    pub output: Tensor<2>,
    /// The class of each example.
    pub labels: Tensor<1, Int>,
    /// What the loss is.
    pub kind: LossKind,
}

impl BatchOutput {
    /// The share of examples that are classified wrongly.
    pub(super) const ERROR: &str = "error";
    /// The root of the mean squared error, of a regression.
    pub(super) const RMSE: &str = "rmse";

    /// Which examples were classified wrongly, `[examples]`; `None` where nothing is classified.
    pub fn wrong(&self) -> Option<Tensor<1, Bool>> {
        if self.kind != LossKind::LogLoss {
            return None;
        }
        let labels = self.labels.clone().without_autodiff();
        let chosen = self.output.clone().without_autodiff().argmax(1);
        Some(chosen.reshape([labels.dims()[0]]).not_equal(labels))
    }
}

impl TrainStep for Network {
    type Input = Examples;
    type Output = BatchOutput;

    fn step(&self, batch: Examples) -> TrainOutput<BatchOutput> {
        let output = self.score(batch);
        let mut output = TrainOutput::new(self, output.loss.backward(), output);
        if let Some(largest) = self.clip_norm {
            output.grads = clip_by_global_norm(output.grads, self, largest);
        }
        output
    }
}

impl InferenceStep for Network {
    type Input = Examples;
    type Output = BatchOutput;

    fn step(&self, batch: Examples) -> BatchOutput {
        self.score(batch)
    }
}

impl ItemLazy for BatchOutput {
    fn sync(self) -> Result<Self, ExecutionError> {
        // As Burn's own outputs do: nothing is read back, and the metrics do not hold the tape.
        self.loss.device().flush()?;
        Ok(Self {
            loss: self.loss.without_autodiff(),
            output: self.output.without_autodiff(),
            labels: self.labels.without_autodiff(),
            kind: self.kind,
        })
    }
}

impl Adaptor<LossInput> for BatchOutput {
    fn adapt(&self) -> LossInput {
        LossInput::new(self.loss.clone())
    }
}

impl Adaptor<AccuracyInput> for BatchOutput {
    fn adapt(&self) -> AccuracyInput {
        AccuracyInput::new(self.output.clone(), self.labels.clone())
    }
}

impl Measured for BatchOutput {
    fn measures() -> Vec<Measure> {
        vec![Measure::named(Self::ERROR).points()]
    }

    fn measure(&self) -> Measurement {
        let loss = self.measure_loss();
        if self.kind == LossKind::ScaledSquaredError {
            return loss.root_of_mean(Self::RMSE, self.loss.clone());
        }
        match self.wrong() {
            Some(wrong) => loss.count(Self::ERROR, wrong.int().sum()),
            None => loss,
        }
    }

    fn measure_loss(&self) -> Measurement {
        Measurement::new(self.labels.dims()[0], self.loss.clone())
    }
}
