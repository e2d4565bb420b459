//! Runs of one fully connected network, trained as one program.

use super::network::{Architecture, Network};
use super::optimizer::adam;
use super::output::BatchOutput;
use super::run::{keep_results, options, training};
use super::{Display, Splits};
use crate::data::Examples;
use crate::measure::LossKind;
use crate::recipe::NetworkRecipe;
use crate::runs::{ClaimedRun, RunSpec};
use crate::{Error, Result};
use burn::module::Module;
use burn::optim::GradientsParams;
use burn::tensor::{Device, Int, Tensor};
use gelu_compare::measure::Criterion;
use gelu_compare::runs::{Environment, RunStatus};
use gelu_compare::worker::Control;
use gelu_core::random::Draw;
use gelu_learner::{Cohort, RunContext, numbered, train_cohort};
use gelu_models::MlpCohort;
use gelu_training::cohort::{cross_entropies, squared_errors};
use std::sync::Arc;

/// The most runs that train as one where nobody says how many: as many as make a step of one network fastest, by its
/// width and its batch size (`cargo run --release --bin cohort-times`), and 1 where they make it no faster. On the CPU
/// alone, where a run has the bits that it has alone.
pub fn cohort_size(spec: &RunSpec) -> usize {
    /// The largest layers whose steps take longer to call than to compute: neurons times examples.
    const SMALL: usize = 128 * 64;
    let (NetworkRecipe::Classifier { width, .. } | NetworkRecipe::Regression { width, .. }) =
        spec.network
    else {
        return 1;
    };
    let is_small = width.saturating_mul(spec.training.batch_size) <= SMALL;
    if is_small && can_join(spec) { 8 } else { 1 }
}

/// Whether a run may train with others as one program.
pub fn can_join(spec: &RunSpec) -> bool {
    let is_mlp =
        matches!(spec.network, NetworkRecipe::Classifier { .. } | NetworkRecipe::Regression { .. });
    let activation = spec.activation.activation();
    is_mlp
        && spec.backend == "flex"
        && activation.is_ok_and(|activation| activation.unit().is_some())
        && adam(&spec.training.optimizer).is_some()
}

/// Whether two runs that may may do so together: they differ in seed, activation, rates and points alone.
pub fn join(first: &RunSpec, other: &RunSpec) -> bool {
    let variables = |spec: &RunSpec| spec.formula.as_ref().map(|formula| formula.variables());
    let alike = RunSpec {
        activation: first.activation.clone(),
        seed: first.seed,
        learning_rate: first.learning_rate,
        dropout: first.dropout,
        formula: first.formula.clone(),
        stage: first.stage,
        ..other.clone()
    };
    alike == *first && variables(first) == variables(other) && can_join(other)
}

/// Trains runs as one program, each into its own folder: as [`train`](super::train), with the splits of each.
pub fn train_together(
    runs: &[(Arc<ClaimedRun>, Splits)],
    criterion: &Criterion,
    device: &Device,
    control: &Control,
    environment: &Environment,
) -> Vec<Result<RunStatus>> {
    let Some((first, _)) = runs.first() else { return Vec::new() };
    let Some(adam) = adam(&first.spec().training.optimizer) else {
        let problem = || Err(Error::Usage("a cohort is trained by Adam".to_owned()));
        return runs.iter().map(|_| problem()).collect();
    };
    let contexts = runs.iter().map(|(run, splits)| RunContext {
        run,
        options: options(run.spec(), splits),
        device,
        environment,
        control,
        captures: false,
    });
    let contexts = contexts.collect();
    let (of_runs, on) = (runs.to_vec(), device.clone());
    let training = move |index: usize, done| {
        let (run, splits) = &of_runs[index];
        splits.save_large_reader(run.folder())?;
        Ok(training(run.spec(), splits, &on, done, Display::Folder))
    };
    train_cohort::<RunSpec, NetworkCohort>(contexts, adam, training, |index, finished| {
        keep_results(&finished, &runs[index].1, criterion, device)
    })
}

/// Fully connected networks as one.
#[derive(Module, Debug)]
struct NetworkCohort {
    networks: MlpCohort,
    /// Whether they find numbers; else they name classes.
    #[module(skip)]
    is_regression: bool,
    #[module(skip)]
    picture: [usize; 3],
    #[module(skip)]
    label_smoothing: f64,
}

impl Cohort for NetworkCohort {
    type Network = Network;

    fn of(networks: &[Network]) -> Result<Self> {
        let mlps = networks.iter().map(|network| match &network.architecture {
            Architecture::Mlp(mlp) | Architecture::Regression(mlp) => Ok(mlp.clone()),
            _ => Err(Error::Failed("only fully connected networks train as one".to_owned())),
        });
        let mlps = mlps.collect::<Result<Vec<_>>>()?;
        let cohort = MlpCohort::of(&mlps).map_err(|error| Error::Failed(error.to_string()))?;
        let Network { architecture, picture, label_smoothing } = &networks[0];
        Ok(Self {
            networks: cohort,
            is_regression: matches!(architecture, Architecture::Regression(_)),
            picture: *picture,
            label_smoothing: *label_smoothing,
        })
    }

    fn network(&self, index: usize) -> Network {
        let mlp = self.networks.network(index);
        numbered(Network {
            architecture: match self.is_regression {
                true => Architecture::Regression(mlp),
                false => Architecture::Mlp(mlp),
            },
            picture: self.picture,
            label_smoothing: self.label_smoothing,
        })
    }

    fn draws(&self, index: usize) -> usize {
        self.networks.draws(index)
    }

    fn train_step(
        &self,
        batches: Vec<Examples>,
        draw: impl FnMut(usize) -> Draw,
    ) -> Result<(GradientsParams, Vec<BatchOutput>)> {
        let sizes = batches.iter().map(|batch| batch.labels.dims()[0]);
        let (count, sizes) = (batches.len(), sizes.collect::<Vec<_>>());
        if sizes.iter().any(|&size| size != sizes[0]) {
            return Err(Error::Failed(format!("the batches of a cohort have {sizes:?} examples")));
        }
        let (mut inputs, mut labels, mut targets) = (Vec::new(), Vec::new(), Vec::new());
        for Examples { inputs: of_one, labels: classes, targets: numbers } in batches {
            inputs.push(of_one.numbers());
            labels.push(classes);
            targets.extend(numbers);
        }
        let outputs = self.networks.forward_train(Tensor::stack(inputs, 0), draw);
        let losses = match self.is_regression {
            true => {
                let numbers = targets.iter().map(|targets| targets.numbers.clone()).collect();
                let numbers = Tensor::<1>::stack::<2>(numbers, 0).reshape([count, sizes[0], 1]);
                squared_errors(outputs.clone(), numbers)
            }
            false => {
                let classes = Tensor::<1, Int>::stack::<2>(labels.clone(), 0);
                cross_entropies(outputs.clone(), classes, self.label_smoothing as f32)
            }
        };
        let gradients = GradientsParams::from_grads(losses.clone().sum().backward(), self);
        let (losses, outputs) = (losses.without_autodiff(), outputs.without_autodiff());
        let output = |(index, labels): (usize, Tensor<1, Int>)| {
            let variance = targets.get(index).and_then(|targets| targets.variance);
            BatchOutput {
                loss: losses.clone().slice(index..index + 1),
                output: outputs.clone().slice(index..index + 1).squeeze_dim(0),
                labels: labels.without_autodiff(),
                kind: match (self.is_regression, variance) {
                    (false, _) => LossKind::LogLoss,
                    (true, Some(_)) => LossKind::UnexplainedVariance,
                    (true, None) => LossKind::ScaledSquaredError,
                },
                variance,
            }
        };
        Ok((gradients, labels.into_iter().enumerate().map(output).collect()))
    }
}
