use super::moment::{self, fitted};
use crate::TrainingOps;
use crate::backends::dispatched;
use burn::config::Config;
use burn::tensor::{Device, Tensor};
use burn_core as burn;
use burn_core::backend::Dispatch;
use burn_optim::{
    LearningRate, ModuleOptimizer, Optimizer, RecordState, StateSink, StateSource, join_path,
};
use gelu_kernels::{AdamStep, EpsilonPlace};

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
/// Moments and the step are f32 for parameters of 16 bits. The state is recorded under the names of
/// Burn's own [`Adam`](burn_optim::Adam), so records of one load into the other. Made by
/// [`AdamConfig`].
#[derive(Clone, Debug)]
pub struct Adam {
    beta_1: f64,
    beta_2: f64,
    epsilon: f64,
    epsilon_place: EpsilonPlace,
}

impl Adam {
    /// The numbers of step `time`, counted from 1.
    pub(crate) fn numbers(&self, rate: LearningRate, time: usize) -> AdamStep {
        AdamStep::of(time, rate, [self.beta_1, self.beta_2], self.epsilon, self.epsilon_place)
    }
}

/// State of [`Adam`].
#[derive(Clone, Debug)]
pub struct AdamState<const D: usize> {
    /// How many steps there have been.
    pub time: usize,
    /// The decayed mean of the gradients.
    pub moment_1: Tensor<D>,
    /// The decayed mean of their squares.
    pub moment_2: Tensor<D>,
}

/// Where Burn's own Adam records its moments.
const MOMENTUM: &str = "momentum";
const NAMES: [&str; 3] = ["time", "moment_1", "moment_2"];

impl<const D: usize> RecordState for AdamState<D> {
    fn state_flatten(&self, prefix: &str, out: &mut StateSink) {
        let (prefix, [time, first, second]) = (join_path(prefix, MOMENTUM), NAMES);
        out.push_scalar(&prefix, time, self.time.into());
        moment::record(&self.moment_1, &prefix, first, out);
        moment::record(&self.moment_2, &prefix, second, out);
    }

    fn state_unflatten(prefix: &str, source: &mut StateSource, device: &Device) -> Option<Self> {
        let (prefix, [time, first, second]) = (join_path(prefix, MOMENTUM), NAMES);
        let time = source.take_scalar(&prefix, time)?.try_into().ok()?;
        let moment_1 = moment::read(&prefix, first, source, device)?;
        let moment_2 = moment::read(&prefix, second, source, device)?;
        Some(Self { time, moment_1, moment_2 })
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
        let AdamState { time, moment_1, moment_2 } = state.unwrap_or_else(|| {
            let [moment_1, moment_2] = [(); 2].map(|()| moment::zeros(&gradient));
            AdamState { time: 0, moment_1, moment_2 }
        });
        let [moment_1, moment_2] = [moment_1, moment_2].map(|moment| fitted(moment, &gradient));
        let time = time + 1;
        let (parameter, moment_1, moment_2) = Dispatch::adam_step(
            dispatched(parameter),
            dispatched(gradient),
            dispatched(moment_1),
            dispatched(moment_2),
            self.numbers(rate, time),
        );
        let [moment_1, moment_2] = [moment_1, moment_2].map(Tensor::from_dispatch);
        (Tensor::from_dispatch(parameter), Some(AdamState { time, moment_1, moment_2 }))
    }

    fn to_device<const D: usize>(state: AdamState<D>, device: &Device) -> AdamState<D> {
        let [moment_1, moment_2] =
            [state.moment_1, state.moment_2].map(|moment| moment.to_device(device));
        AdamState { moment_1, moment_2, ..state }
    }
}
