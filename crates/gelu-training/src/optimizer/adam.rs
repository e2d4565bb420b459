use crate::TrainingOps;
use crate::backends::dispatched;
use burn::config::Config;
use burn::tensor::{Device, Tensor};
use burn_core as burn;
use burn_core::backend::Dispatch;
use burn_optim::{AdamState, AdaptiveMomentumState, LearningRate, ModuleOptimizer, Optimizer};

/// Where Adam adds ε.
#[derive(Config, Copy, Debug, PartialEq, Eq)]
pub enum EpsilonPlace {
    /// `m̂ / (√v̂ + ε)`, as the paper and all frameworks have it.
    Outside,
    /// `m̂ / √(v̂ + ε)`: the divisor is at least √ε.
    Inside,
}

/// Configuration of [`Adam`].
#[derive(Config, Debug)]
pub struct AdamConfig {
    /// Decay of the first moment.
    #[config(default = 0.9)]
    pub beta_1: f64,
    /// Decay of the second moment.
    #[config(default = 0.999)]
    pub beta_2: f64,
    /// What keeps the divisor from 0. PyTorch's default; Burn's own Adam has 1e-5.
    #[config(default = 1e-8)]
    pub epsilon: f64,
    /// Where it is added.
    #[config(default = "EpsilonPlace::Outside")]
    pub epsilon_place: EpsilonPlace,
}

impl AdamConfig {
    /// The optimiser of one parameter, for a group of them
    /// ([`ModuleOptimizer::with_group`]).
    ///
    /// # Panics
    ///
    /// If a β is not in `[0, 1)`, or ε is negative or not finite.
    pub fn build(&self) -> Adam {
        let Self { beta_1, beta_2, epsilon, epsilon_place } = *self;
        assert!(
            [beta_1, beta_2].iter().all(|beta| (0.0..1.0).contains(beta)),
            "the decays of Adam's moments have to be in [0, 1), got {beta_1} and {beta_2}"
        );
        assert!(
            epsilon >= 0.0 && epsilon.is_finite(),
            "Adam's ε has to be finite and not negative, got {epsilon}"
        );
        Adam { beta_1, beta_2, epsilon, epsilon_place }
    }

    /// The optimiser of a whole module.
    ///
    /// # Panics
    ///
    /// As [`build`](Self::build) does.
    pub fn init(&self) -> ModuleOptimizer {
        self.build().into()
    }
}

/// Adam (Kingma & Ba, arXiv 1412.6980), with bias correction, in one pass over parameter, gradient
/// and moments:
///
/// ```text
/// m ← β₁·m + (1 − β₁)·g        v ← β₂·v + (1 − β₂)·g²
/// w ← w − η·m̂ / (√v̂ + ε)       with  m̂ = m / (1 − β₁ᵗ),  v̂ = v / (1 − β₂ᵗ)
/// ```
///
/// The state is that of Burn's own [`Adam`](burn_optim::Adam), so records of one load into the
/// other. Made by [`AdamConfig`].
#[derive(Clone, Debug)]
pub struct Adam {
    beta_1: f64,
    beta_2: f64,
    epsilon: f64,
    epsilon_place: EpsilonPlace,
}

/// The numbers of one step, bias correction included:
/// `w − rate·m / (√v + ε)`, or with `√(v + ε)`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct AdamStep {
    /// What `m` is scaled by: η·√(1 − β₂ᵗ) / (1 − β₁ᵗ).
    pub rate: f64,
    /// Decay of the first moment.
    pub beta_1: f64,
    /// Decay of the second moment.
    pub beta_2: f64,
    /// ε·√(1 − β₂ᵗ) outside of the root, ε·(1 − β₂ᵗ) inside.
    pub epsilon: f64,
    /// Where ε is added.
    pub epsilon_place: EpsilonPlace,
}

impl Adam {
    /// The numbers of step `time`, counted from 1.
    fn numbers(&self, rate: LearningRate, time: usize) -> AdamStep {
        let Self { beta_1, beta_2, epsilon, epsilon_place } = *self;
        let correction = |beta: f64| 1.0 - beta.powf(time as f64);
        let epsilon = match epsilon_place {
            EpsilonPlace::Outside => epsilon * correction(beta_2).sqrt(),
            EpsilonPlace::Inside => epsilon * correction(beta_2),
        };
        let rate = rate * correction(beta_2).sqrt() / correction(beta_1);
        AdamStep { rate, beta_1, beta_2, epsilon, epsilon_place }
    }
}

impl Optimizer for Adam {
    type State<const D: usize> = AdamState<D>;

    fn step<const D: usize>(
        &self,
        rate: LearningRate,
        parameter: Tensor<D>,
        gradient: Tensor<D>,
        state: Option<AdamState<D>>,
    ) -> (Tensor<D>, Option<AdamState<D>>) {
        let AdaptiveMomentumState { time, moment_1, moment_2, max_moment_2 } = match state {
            Some(state) => state.momentum,
            None => {
                let zeros = gradient.zeros_like();
                AdaptiveMomentumState::new(0, zeros.clone(), zeros)
            }
        };
        let time = time + 1;
        let (parameter, moment_1, moment_2) = Dispatch::adam_step(
            dispatched(parameter),
            dispatched(gradient),
            dispatched(moment_1),
            dispatched(moment_2),
            self.numbers(rate, time),
        );
        let [moment_1, moment_2] = [moment_1, moment_2].map(Tensor::from_dispatch);
        let momentum = AdaptiveMomentumState { time, moment_1, moment_2, max_moment_2 };
        (Tensor::from_dispatch(parameter), Some(AdamState::new(momentum)))
    }

    fn to_device<const D: usize>(state: AdamState<D>, device: &Device) -> AdamState<D> {
        AdamState::new(state.momentum.to_device(device))
    }
}
