use super::decayed::{matrices, matrices_and_scales};
use crate::recipe::{BetaChange, OptimizerRecipe};
use burn::module::Module;
use burn::optim::{ModuleOptimizer, Optimizer};
use burn::tensor::{Device, Tensor};
use gelu_training::{Adam, AdamConfig, AdamState, AdamWConfig, SgdConfig};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Tells an optimiser whether a change of its constants is due.
#[derive(Clone, Debug, Default)]
pub(super) struct EpochClock {
    late: Arc<AtomicBool>,
    /// Number of epochs before the change.
    change_after: Option<usize>,
}

impl EpochClock {
    /// Informs the optimiser that an epoch begins, from 1.
    pub(super) fn begin(&self, epoch: usize) {
        let late = self.change_after.is_some_and(|change| epoch > change);
        self.late.store(late, Ordering::Relaxed);
    }
}

/// Adam whose β₁ changes during training. The moments stay as they are.
#[derive(Clone)]
struct ChangingAdam {
    early: Adam,
    later: Adam,
    late: Arc<AtomicBool>,
}

impl Optimizer for ChangingAdam {
    type State<const D: usize> = AdamState<D>;

    fn step<const D: usize>(
        &self,
        rate: f64,
        parameter: Tensor<D>,
        gradient: Tensor<D>,
        state: Option<AdamState<D>>,
    ) -> (Tensor<D>, Option<AdamState<D>>) {
        let adam = if self.late.load(Ordering::Relaxed) { &self.later } else { &self.early };
        adam.step(rate, parameter, gradient, state)
    }

    fn to_device<const D: usize>(state: AdamState<D>, device: &Device) -> AdamState<D> {
        Adam::to_device(state, device)
    }
}

/// Adam, where the optimiser is that of all parameters in all epochs.
pub(super) fn adam(recipe: &OptimizerRecipe) -> Option<Adam> {
    match *recipe {
        OptimizerRecipe::Adam { beta_1, beta_2, epsilon, epsilon_place, beta_1_change: None } => {
            let config = AdamConfig::new().with_beta_1(beta_1).with_beta_2(beta_2);
            Some(config.with_epsilon(epsilon).with_epsilon_place(epsilon_place).build())
        }
        _ => None,
    }
}

/// Returns the optimiser of a network for a run of `epochs` epochs, and the clock that informs it of each epoch.
pub(super) fn optimizer(
    recipe: &OptimizerRecipe,
    epochs: usize,
    network: &impl Module,
) -> (ModuleOptimizer, EpochClock) {
    match *recipe {
        OptimizerRecipe::Adam { beta_1, beta_2, epsilon, epsilon_place, beta_1_change } => {
            let config = AdamConfig::new()
                .with_beta_2(beta_2)
                .with_epsilon(epsilon)
                .with_epsilon_place(epsilon_place);
            let early = config.clone().with_beta_1(beta_1);
            let Some(BetaChange { to, after }) = beta_1_change else {
                return (early.init(), EpochClock::default());
            };
            let late = Arc::new(AtomicBool::new(false));
            let adam = ChangingAdam {
                early: early.build(),
                later: config.with_beta_1(to).build(),
                late: late.clone(),
            };
            let change_after = Some((after * epochs as f64).round() as usize);
            (adam.into(), EpochClock { late, change_after })
        }
        // The training clips the gradients together before the optimiser gets them.
        OptimizerRecipe::AdamW { beta_1, beta_2, epsilon, weight_decay, clip_norm: _ } => {
            let plain = AdamWConfig::new()
                .with_beta_1(beta_1)
                .with_beta_2(beta_2)
                .with_epsilon(epsilon)
                .with_weight_decay(0.0);
            let decayed = plain.clone().with_weight_decay(weight_decay).build();
            (plain.init().with_group(matrices(network), decayed, None), EpochClock::default())
        }
        OptimizerRecipe::Sgd { momentum, l2 } => {
            // Nesterov's method requires momentum.
            let plain = SgdConfig::new().with_momentum(momentum).with_nesterov(momentum > 0.0);
            // The gradient of λ·Σw² is 2λ per weight.
            let decayed = plain.clone().with_weight_decay(2.0 * l2).build();
            let group = matrices_and_scales(network);
            (plain.init().with_group(group, decayed, None), EpochClock::default())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use burn::nn::{BatchNorm, BatchNormConfig, Linear, LinearConfig};
    use burn::optim::GradientsParams;
    use gelu_training::EpsilonPlace;

    #[derive(Module, Debug)]
    struct Both {
        linear: Linear,
        norm: BatchNorm,
    }

    fn both() -> Both {
        let device = Device::default().autodiff();
        device.seed(5);
        let norm = BatchNormConfig::new(2).init(&device);
        Both { linear: LinearConfig::new(3, 2).init(&device), norm }
    }

    /// Takes one step on a loss whose gradient is 1 for every parameter.
    fn step(optimizer: &mut ModuleOptimizer, model: Both, rate: f64) -> Both {
        let bias = model.linear.bias.as_ref().unwrap().val();
        let loss = model.linear.weight.val().sum()
            + bias.sum()
            + model.norm.gamma.val().sum()
            + model.norm.beta.val().sum();
        let gradients = GradientsParams::from_grads(loss.backward(), &model);
        optimizer.step(rate, model, gradients)
    }

    fn values<const D: usize>(tensor: Tensor<D>) -> Vec<f64> {
        tensor.into_data().iter::<f64>().collect()
    }

    fn near(found: &[f64], expected: &[f64]) {
        for (f, e) in found.iter().zip(expected) {
            assert!((f - e).abs() < 1e-6, "{found:?}, not {expected:?}");
        }
    }

    #[test]
    fn nesterov_steps_and_the_penalty_are_those_of_the_definitions() {
        let recipe = OptimizerRecipe::Sgd { momentum: 0.9, l2: 0.05 };
        let start = both();
        let (mut sgd, _) = optimizer(&recipe, 1, &start);
        // w, v ↦ g = 1 + 2λw, v' = 0.9v + g, w' = w − η(g + 0.9v'), twice; λ = 0 for biases.
        let twice = |w: f64, l2: f64| {
            let (mut w, mut v) = (w, 0.0);
            for _ in 0..2 {
                let g = 1.0 + 2.0 * l2 * w;
                v = 0.9 * v + g;
                w -= 0.1 * (g + 0.9 * v);
            }
            w
        };
        let expect = |values: Vec<f64>, l2| -> Vec<f64> {
            values.into_iter().map(|w| twice(w, l2)).collect()
        };
        let bias = |model: &Both| values(model.linear.bias.as_ref().unwrap().val());
        let weights = expect(values(start.linear.weight.val()), 0.05);
        let (biases, scales) = (expect(bias(&start), 0.0), expect(vec![1.0; 2], 0.05));
        let shifts = expect(vec![0.0; 2], 0.0);
        let model = step(&mut sgd, start, 0.1);
        let model = step(&mut sgd, model, 0.1);
        near(&values(model.linear.weight.val()), &weights);
        near(&bias(&model), &biases);
        near(&values(model.norm.gamma.val()), &scales);
        near(&values(model.norm.beta.val()), &shifts);
    }

    #[test]
    fn first_moment_decays_faster_after_the_change() {
        let change = Some(BetaChange { to: 0.5, after: 0.5 });
        let recipe = OptimizerRecipe::Adam {
            beta_1: 0.9,
            beta_2: 0.999,
            epsilon: 1e-8,
            epsilon_place: EpsilonPlace::Outside,
            beta_1_change: change,
        };
        let mut model = both();
        let (_, clock) = optimizer(&recipe, 200, &model);
        let late = |epoch| {
            clock.begin(epoch);
            clock.late.load(Ordering::Relaxed)
        };
        assert!(!late(1) && !late(100) && late(101) && late(200));

        let (mut adam, clock) = optimizer(&recipe, 2, &model);
        for epoch in [1, 2] {
            clock.begin(epoch);
            model = step(&mut adam, model, 0.1);
        }
        // The gradient is 1 throughout: m = 0.5·0.1 + 0.5, corrected by 1 − 0.5², v corrected is 1.
        let expected = 0.1 + 0.1 * (0.5 * 0.1 + 0.5) / 0.75;
        near(&values(model.norm.beta.val()), &[-expected; 2]);
    }
}
