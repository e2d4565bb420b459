use super::interface::Shape;
use super::output::BatchOutput;
use super::splits::Splits;
use crate::data::{BatchInputs, Examples};
use crate::measure::LossKind;
use crate::randomness::device_seed;
use crate::recipe::NetworkRecipe;
use crate::runs::RunSpec;
use crate::{Error, Result};
use burn::module::Module;
use burn::nn::loss::{CrossEntropyLossConfig, MseLoss, Reduction};
use burn::tensor::activation::log_softmax;
use burn::tensor::{Device, Tensor};
use burn::train::{InferenceStep, TrainOutput, TrainStep};
use gelu_learner::activation::Nonlinearity;
use gelu_learner::numbered;
use gelu_learner::randomness::Purpose;
use gelu_models::{
    Airbench, AirbenchConfig, Autoencoder, AutoencoderConfig, Cnn, CnnConfig, Gpt, GptConfig,
    GptMlp, Mlp, MlpConfig, PatchWhitening, WideResNet, WideResNetConfig, save_state_dict,
};
use std::path::Path;

/// Any of the networks, with its task. A classifier predicts the class of its input and a transformer the next
/// character, both by the log loss. An autoencoder reproduces its input and a regression predicts a number, both by
/// the mean squared error.
#[derive(Module, Debug)]
pub struct Network {
    pub(super) architecture: Architecture,
    /// Channels, height and width, for networks of images.
    #[module(skip)]
    pub(super) picture: [usize; 3],
    /// The share of the training targets that is spread over all classes.
    #[module(skip)]
    pub(super) label_smoothing: f64,
}

#[derive(Module, Debug)]
#[allow(clippy::large_enum_variant, reason = "there is one network, and Burn boxes no modules")]
pub(super) enum Architecture {
    Mlp(Mlp),
    Regression(Mlp),
    Autoencoder(Autoencoder),
    Cnn(Cnn),
    WideResNet(WideResNet),
    Airbench(Airbench),
    Gpt(Gpt),
}

impl Network {
    /// Creates the untrained network of a run. The same seed gives the same weights for every activation.
    ///
    /// # Panics
    ///
    /// If the specification is not valid ([`Recipe::validate`](crate::recipe::Recipe::validate)).
    pub fn new(spec: &RunSpec, splits: &Splits, device: &Device) -> Self {
        Self::of_shape(spec, &splits.shape(), || whitening(splits), device)
    }

    /// Creates the network of a run for loading its parameters.
    ///
    /// # Panics
    ///
    /// If [`new`](Self::new) would panic.
    pub(super) fn to_load(spec: &RunSpec, shape: &Shape, device: &Device) -> Self {
        let channels = shape.picture.map_or(1, |[channels, ..]| channels);
        Self::of_shape(spec, shape, || PatchWhitening::identity(channels, device), device)
    }

    fn of_shape(
        spec: &RunSpec,
        shape: &Shape,
        whitening: impl FnOnce() -> PatchWhitening,
        device: &Device,
    ) -> Self {
        device.seed(device_seed(spec.seed, Purpose::Weights));
        let nonlinearity = spec.activation.nonlinearity();
        let nonlinearity = nonlinearity.expect("an unknown activation is refused before");
        let activation = || match nonlinearity {
            Nonlinearity::Function(activation) => activation.clone(),
            Nonlinearity::Gate(_) | Nonlinearity::PolyNorm => {
                unreachable!("a recipe refuses {} for this network", spec.activation)
            }
        };
        let Shape { features, classes, picture } = *shape;
        let channels = picture.map_or(1, |[channels, ..]| channels);
        let architecture = match &spec.network {
            &NetworkRecipe::Classifier { depth, width } => Architecture::Mlp(
                MlpConfig::new(features, classes)
                    .with_depth(depth)
                    .with_width(width)
                    .with_dropout(spec.dropout)
                    .with_activation(activation())
                    .init(device),
            ),
            &NetworkRecipe::Regression { depth, width } => Architecture::Regression(
                MlpConfig::new(features, 1)
                    .with_depth(depth)
                    .with_width(width)
                    .with_dropout(spec.dropout)
                    .with_activation(activation())
                    .init(device),
            ),
            NetworkRecipe::Autoencoder { encoder } => Architecture::Autoencoder(
                AutoencoderConfig::new(features)
                    .with_encoder(encoder.clone())
                    .with_activation(activation())
                    .init(device),
            ),
            &NetworkRecipe::Cnn { widths, noise } => Architecture::Cnn(
                CnnConfig::new()
                    .with_classes(classes)
                    .with_channels(channels)
                    .with_widths(widths)
                    .with_noise(noise)
                    .with_dropout(spec.dropout)
                    .with_activation(activation())
                    .init(device),
            ),
            &NetworkRecipe::WideResNet { depth, width, order } => Architecture::WideResNet(
                WideResNetConfig::new(classes)
                    .with_depth(depth)
                    .with_width(width)
                    .with_channels(channels)
                    .with_dropout(spec.dropout)
                    .with_order(order)
                    .with_activation(activation())
                    .init(device),
            ),
            &NetworkRecipe::Airbench { widths } => {
                let whitening = whitening().to_device(device);
                let config = AirbenchConfig::new().with_classes(classes).with_channels(channels);
                let config = config.with_widths(widths).with_activation(activation());
                Architecture::Airbench(config.init(whitening, device))
            }
            &NetworkRecipe::Gpt { layers, heads, width, context, norm } => Architecture::Gpt(
                GptConfig::new(classes)
                    .with_layers(layers)
                    .with_heads(heads)
                    .with_width(width)
                    .with_context(context)
                    .with_norm(norm)
                    .with_mlp(match nonlinearity {
                        Nonlinearity::Function(activation) => GptMlp::Plain(activation.clone()),
                        Nonlinearity::Gate(activation) => GptMlp::Gated(activation.clone()),
                        Nonlinearity::PolyNorm => GptMlp::PolyNorm,
                    })
                    .init(device),
            ),
        };
        let picture = picture.unwrap_or([1, 1, features]);
        let label_smoothing = spec.training.label_smoothing;
        numbered(Self { architecture, picture, label_smoothing })
    }

    /// Returns the outputs, targets and loss of a batch.
    pub fn score(&self, batch: Examples) -> BatchOutput {
        self.scored(batch, 0.0)
    }

    /// Returns the outputs, targets and loss of a batch; the log loss is that of smoothed targets.
    fn scored(&self, batch: Examples, smoothing: f64) -> BatchOutput {
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
                let kind = LossKind::SquaredError;
                return BatchOutput { loss, output, labels, kind, variance: None };
            }
            Architecture::Regression(network) => {
                let output = network.forward(inputs.numbers());
                let targets = targets.expect("there are numbers to be found");
                let kind = match targets.variance {
                    Some(_) => LossKind::UnexplainedVariance,
                    None => LossKind::ScaledSquaredError,
                };
                let variance = targets.variance;
                let targets = targets.numbers.reshape(output.dims());
                let loss = MseLoss::new().forward(output.clone(), targets, Reduction::Mean);
                return BatchOutput { loss, output, labels, kind, variance };
            }
            Architecture::Mlp(network) => network.forward(inputs.numbers()),
            Architecture::Cnn(network) => network.forward(pictures(inputs)),
            Architecture::WideResNet(network) => network.forward(pictures(inputs)),
            Architecture::Airbench(network) => network.forward(pictures(inputs)),
            Architecture::Gpt(network) => {
                let logits = network.forward(inputs.tokens());
                let [windows, context, vocabulary] = logits.dims();
                logits.reshape([windows * context, vocabulary])
            }
        };
        let loss = CrossEntropyLossConfig::new()
            .with_smoothing((smoothing > 0.0).then_some(smoothing as f32))
            .init(&logits.device())
            .forward(logits.clone(), labels.clone());
        BatchOutput { loss, output: logits, labels, kind: LossKind::LogLoss, variance: None }
    }

    /// Writes the parameters as a safetensors file with PyTorch's names and layouts: the `state_dict` of the twin
    /// that [`gelu_models::StateDict`] describes.
    ///
    /// # Errors
    ///
    /// If the file cannot be written.
    pub fn save_state_dict(&self, path: &Path) -> Result<()> {
        let saved = match &self.architecture {
            Architecture::Mlp(network) | Architecture::Regression(network) => {
                save_state_dict(network, path)
            }
            Architecture::Autoencoder(network) => save_state_dict(network, path),
            Architecture::Cnn(network) => save_state_dict(network, path),
            Architecture::WideResNet(network) => save_state_dict(network, path),
            Architecture::Airbench(network) => save_state_dict(network, path),
            Architecture::Gpt(network) => save_state_dict(network, path),
        };
        saved.map_err(|error| Error::Failed(error.to_string()))
    }

    /// Returns the transformer, if the network is one.
    pub fn gpt(&self) -> Option<&Gpt> {
        match &self.architecture {
            Architecture::Gpt(network) => Some(network),
            _ => None,
        }
    }

    /// Returns the loss of each example of a batch, `[examples]`; [`score`](Self::score) returns their mean.
    pub fn losses(&self, batch: Examples) -> Tensor<1> {
        let (inputs, targets) = (batch.inputs.clone(), batch.targets.clone());
        let BatchOutput { output, labels, kind, .. } = self.score(batch);
        let examples = labels.dims()[0];
        let losses = match kind {
            LossKind::SquaredError => {
                MseLoss::new().forward_no_reduction(output, inputs.numbers()).mean_dim(1)
            }
            LossKind::ScaledSquaredError | LossKind::UnexplainedVariance => {
                let targets = targets.expect("there are numbers to be found").numbers;
                MseLoss::new().forward_no_reduction(output, targets.reshape([examples, 1]))
            }
            LossKind::LogLoss => {
                log_softmax(output, 1).gather(1, labels.reshape([examples, 1])).neg()
            }
        };
        losses.reshape([examples])
    }
}

/// Number of images whose patches the whitening of an airbench is fitted to, as in airbench94.
const WHITENED: usize = 5_000;
/// The number added to the eigenvalues of their covariance, as in airbench94.
const WHITENING_REGULARISER: f64 = 5e-4;

/// Fits the whitening to the patches of training images.
fn whitening(splits: &Splits) -> PatchWhitening {
    let [channels, height, width] = splits.picture.expect("an airbench is given images");
    let pictures = splits.train.first_inputs(WHITENED);
    let count = pictures.dims()[0];
    let pictures = pictures.reshape([count, channels, height, width]);
    PatchWhitening::fit(&pictures, WHITENING_REGULARISER).expect("images are finite numbers")
}

impl TrainStep for Network {
    type Input = Examples;
    type Output = BatchOutput;

    fn step(&self, batch: Examples) -> TrainOutput<BatchOutput> {
        let output = self.scored(batch, self.label_smoothing);
        TrainOutput::new(self, output.loss.backward(), output)
    }
}

impl InferenceStep for Network {
    type Input = Examples;
    type Output = BatchOutput;

    fn step(&self, batch: Examples) -> BatchOutput {
        self.score(batch)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::recipe::{NetworkRecipe, Recipe};
    use gelu_core::Activation;
    use gelu_learner::networks::TestGroups;

    /// Compares with −Σ q·ln p for q = (1 − s)·[class] + s/K, computed in f64 from the logits.
    #[test]
    fn training_smooths_the_targets_and_measuring_does_not() {
        let mut recipe = Recipe::named("digits").unwrap();
        recipe.network = NetworkRecipe::Classifier { depth: 1, width: 5 };
        recipe.training.label_smoothing = 0.2;
        let spec = RunSpec::new(&recipe, &Activation::Gelu, 1e-3, 0.0, 1, "flex", "");
        let device = Device::default();
        let inputs = Tensor::<2>::from_floats([[1.0, -2.0, 0.5], [0.3, 4.0, -1.0]], &device);
        let labels = Tensor::from_ints([2, 0], &device);
        let batch = Examples { inputs: inputs.into(), labels, targets: None };
        let samples: crate::data::Samples = batch.clone().into();
        let splits = Splits {
            train: samples.clone(),
            valid: None,
            test_groups: TestGroups::singles(2),
            is_shared: true,
            test: samples,
            outside: None,
            classes: 4,
            picture: None,
            names: Vec::new(),
            reader: None,
            large: None,
        };
        let network = Network::new(&spec, &splits, &device);
        let measured = network.score(batch.clone());
        let logits: Vec<f64> = measured.output.clone().into_data().iter::<f64>().collect();
        let loss = |smoothing: f64| {
            let of = |(row, class): (&[f64], usize)| {
                let sum = row.iter().map(|logit| logit.exp()).sum::<f64>();
                let term = |(index, logit): (usize, &f64)| {
                    let one = if index == class { 1.0 - smoothing } else { 0.0 };
                    -(one + smoothing / 4.0) * (logit.exp() / sum).ln()
                };
                row.iter().enumerate().map(term).sum::<f64>()
            };
            logits.chunks(4).zip([2, 0]).map(of).sum::<f64>() / 2.0
        };
        assert!((loss(0.0) - loss(0.2)).abs() > 1e-2, "the two differ");
        let plain = measured.loss.into_scalar::<f64>();
        assert!((plain - loss(0.0)).abs() < 1e-5, "{plain} {}", loss(0.0));
        let network = Network::new(&spec, &splits, &device.autodiff());
        let inputs = batch.inputs.numbers().autodiff();
        let labels = batch.labels.autodiff();
        let batch = Examples { inputs: inputs.into(), labels, targets: None };
        let smoothed = TrainStep::step(&network, batch).item.loss.into_scalar::<f64>();
        assert!((smoothed - loss(0.2)).abs() < 1e-5, "{smoothed} {}", loss(0.2));
    }
}
