use super::moment::{self, fitted};
use crate::TrainingOps;
use crate::backends::dispatched;
use crate::captured::{self, Place};
use crate::{AdamStep, EpsilonPlace, WeightDecay};
use burn::config::Config;
use burn::tensor::{Device, Tensor};
use burn_core as burn;
use burn_core::backend::Dispatch;
use burn_optim::grad_clipping::GradientClippingConfig;
use burn_optim::{
    LearningRate, ModuleOptimizer, Optimizer, RecordState, StateSink, StateSource, join_path,
};

/// Configuration of [`Adam`].
#[derive(Config, Debug)]
pub struct AdamConfig {
    /// The decay of the first moment.
    #[config(default = 0.9)]
    pub beta_1: f64,
    /// The decay of the second moment.
    #[config(default = 0.999)]
    pub beta_2: f64,
    /// The number ε that keeps the divisor from 0. The default is PyTorch's; that of Burn's Adam is 1e-5.
    #[config(default = 1e-8)]
    pub epsilon: f64,
    /// The position of ε.
    #[config(default = "EpsilonPlace::Outside")]
    pub epsilon_place: EpsilonPlace,
    /// Whether the divisor uses the greatest second moment so far.
    #[config(default = false)]
    pub amsgrad: bool,
    /// The factor of a weight that is added to its gradient: twice the factor of an L2 penalty in the loss. For
    /// decay that is decoupled from the moments, see [`AdamWConfig`](super::AdamWConfig).
    #[config(default = 0.0)]
    pub weight_decay: f64,
    /// How the gradients of each parameter are clipped, independently of other parameters.
    pub grad_clipping: Option<GradientClippingConfig>,
}

impl AdamConfig {
    /// Creates the optimiser of one parameter, for use with a group of parameters
    /// ([`ModuleOptimizer::with_group`]). Only [`init`](Self::init) clips gradients, as in Burn.
    ///
    /// # Panics
    ///
    /// If a β is not in `[0, 1)`, or ε or the weight decay is negative or not finite.
    pub fn build(&self) -> Adam {
        let Self { beta_1, beta_2, epsilon, epsilon_place, amsgrad, .. } = *self;
        Adam {
            beta_1,
            beta_2,
            epsilon,
            epsilon_place,
            amsgrad,
            decay: WeightDecay::Penalty(self.weight_decay),
        }
        .checked()
    }

    /// Creates the optimiser of a whole module.
    ///
    /// # Panics
    ///
    /// If a β is not in `[0, 1)`, or ε or the weight decay is negative or not finite.
    pub fn init(&self) -> ModuleOptimizer {
        super::clipped(self.build().into(), self.grad_clipping.as_ref())
    }
}

/// Adam (Kingma & Ba, arXiv 1412.6980) with bias correction, in one pass over parameter, gradient and moments:
///
/// ```text
/// m ← β₁·m + (1 − β₁)·g        v ← β₂·v + (1 − β₂)·g²
/// w ← w − η·m̂ / (√v̂ + ε)       with  m̂ = m / (1 − β₁ᵗ),  v̂ = v / (1 − β₂ᵗ)
/// ```
///
/// With an L2 penalty, g is `g + λ·w`. As AdamW, w is `(1 − η·λ)·w` before the step is subtracted. AMSGrad uses
/// the greatest v so far instead of v.
///
/// A weight whose v is 0 does not change if ε is too small to divide by: below 2⁻⁴⁰ (2⁻¹⁰² inside the root).
///
/// For 16-bit parameters, the moments are f32 and the step is computed in f32. The new parameter is rounded to
/// 16 bits; see [16 bits](crate#16-bits). The state has the names of Burn's own [`Adam`](burn_optim::Adam) and
/// [`AdamW`](burn_optim::AdamW) in records, so the records of one load into the other. Create it with
/// [`AdamConfig`] or [`AdamWConfig`](super::AdamWConfig).
#[derive(Clone, Debug)]
pub struct Adam {
    pub(super) beta_1: f64,
    pub(super) beta_2: f64,
    pub(super) epsilon: f64,
    pub(super) epsilon_place: EpsilonPlace,
    pub(crate) amsgrad: bool,
    pub(super) decay: WeightDecay,
}

impl Adam {
    /// Returns the same optimiser if its numbers are valid.
    ///
    /// # Panics
    ///
    /// If one of its numbers is out of range.
    pub(super) fn checked(self) -> Self {
        let Self { beta_1, beta_2, epsilon, decay, .. } = self;
        assert!(
            [beta_1, beta_2].iter().all(|beta| (0.0..1.0).contains(beta)),
            "the decays of Adam's moments have to be in [0, 1), got {beta_1} and {beta_2}"
        );
        assert!(
            epsilon >= 0.0 && epsilon.is_finite(),
            "Adam's ε has to be finite and not negative, got {epsilon}"
        );
        let (WeightDecay::Penalty(decay)
        | WeightDecay::Decoupled(decay)
        | WeightDecay::Cautious(decay)) = decay;
        assert!(
            decay >= 0.0 && decay.is_finite(),
            "weight decay has to be finite and not negative, got {decay}"
        );
        self
    }

    /// Returns the numbers of step `time`, counted from 1.
    pub(crate) fn numbers(&self, rate: LearningRate, time: usize) -> AdamStep {
        AdamStep::of(time, rate, [self.beta_1, self.beta_2], self.epsilon, self.epsilon_place)
            .with_decay(self.decay, rate)
    }
}

/// The state of [`Adam`].
#[derive(Clone, Debug)]
pub struct AdamState<const D: usize> {
    /// The number of steps so far.
    pub time: usize,
    /// The decayed mean of the gradients.
    pub moment_1: Tensor<D>,
    /// The decayed mean of the gradients' squares.
    pub moment_2: Tensor<D>,
    /// The greatest `moment_2` so far, for AMSGrad.
    pub max_moment_2: Option<Tensor<D>>,
}

/// The name under which Burn's own Adam records its moments.
const MOMENTUM: &str = "momentum";
const NAMES: [&str; 4] = ["time", "moment_1", "moment_2", "max_moment_2"];

impl<const D: usize> RecordState for AdamState<D> {
    fn state_flatten(&self, prefix: &str, out: &mut StateSink) {
        let (prefix, [time, first, second, greatest]) = (join_path(prefix, MOMENTUM), NAMES);
        out.push_scalar(&prefix, time, self.time.into());
        moment::record(&self.moment_1, &prefix, first, out);
        moment::record(&self.moment_2, &prefix, second, out);
        if let Some(moment) = &self.max_moment_2 {
            moment::record(moment, &prefix, greatest, out);
        }
    }

    fn state_unflatten(prefix: &str, source: &mut StateSource, device: &Device) -> Option<Self> {
        let (prefix, [time, first, second, greatest]) = (join_path(prefix, MOMENTUM), NAMES);
        let time = source.take_scalar(&prefix, time)?.try_into().ok()?;
        let moment_1 = moment::read(&prefix, first, source, device)?;
        let moment_2 = moment::read(&prefix, second, source, device)?;
        let max_moment_2 = moment::read(&prefix, greatest, source, device);
        Some(Self { time, moment_1, moment_2, max_moment_2 })
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
        let AdamState { time, moment_1, moment_2, max_moment_2 } = state.unwrap_or_else(|| {
            let [moment_1, moment_2] = [(); 2].map(|()| moment::zeros(&gradient));
            AdamState { time: 0, moment_1, moment_2, max_moment_2: None }
        });
        let time = time + 1;
        let step = self.numbers(rate, time);
        let place = match captured::place(&step.changing(), &gradient) {
            None => None,
            Some(Place::At(numbers, first)) => Some((dispatched(*numbers), first)),
            // The device makes the step, or has made it.
            Some(Place::Elsewhere) => {
                return (parameter, Some(AdamState { time, moment_1, moment_2, max_moment_2 }));
            }
        };
        let [moment_1, moment_2] =
            [moment_1, moment_2].map(|moment| dispatched(fitted(moment, &gradient)));
        // A record of Adam has no maximum. The maximum then starts at this step, as in Burn.
        let maximum = self.amsgrad.then(|| {
            let maximum = max_moment_2.unwrap_or_else(|| moment::zeros(&gradient));
            dispatched(fitted(maximum, &gradient))
        });
        let (parameter, gradient) = (dispatched(parameter), dispatched(gradient));
        let (parameter, moment_1, moment_2, maximum) = match (maximum, place) {
            (None, None) => {
                let (w, m, v) = Dispatch::adam_step(parameter, gradient, moment_1, moment_2, step);
                (w, m, v, None)
            }
            (None, Some((numbers, first))) => {
                let (w, m, v) = Dispatch::adam_step_in_place(
                    parameter, gradient, moment_1, moment_2, numbers, first, step,
                );
                (w, m, v, None)
            }
            (Some(maximum), None) => {
                let (w, m, v, maximum) =
                    Dispatch::amsgrad_step(parameter, gradient, moment_1, moment_2, maximum, step);
                (w, m, v, Some(maximum))
            }
            (Some(maximum), Some((numbers, first))) => {
                let (w, m, v, maximum) = Dispatch::amsgrad_step_in_place(
                    parameter, gradient, moment_1, moment_2, maximum, numbers, first, step,
                );
                (w, m, v, Some(maximum))
            }
        };
        let [moment_1, moment_2] = [moment_1, moment_2].map(Tensor::from_dispatch);
        let max_moment_2 = maximum.map(Tensor::from_dispatch);
        let state = AdamState { time, moment_1, moment_2, max_moment_2 };
        (Tensor::from_dispatch(parameter), Some(state))
    }

    fn to_device<const D: usize>(state: AdamState<D>, device: &Device) -> AdamState<D> {
        let [moment_1, moment_2] =
            [state.moment_1, state.moment_2].map(|moment| moment.to_device(device));
        let max_moment_2 = state.max_moment_2.map(|moment| moment.to_device(device));
        AdamState { moment_1, moment_2, max_moment_2, ..state }
    }
}
