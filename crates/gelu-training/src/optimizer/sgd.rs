use super::moment::{self, fitted};
use crate::SgdStep;
use crate::TrainingOps;
use crate::backends::dispatched;
use crate::captured::{self, Place};
use burn::config::Config;
use burn::tensor::{Device, Tensor};
use burn_core as burn;
use burn_core::backend::Dispatch;
use burn_optim::grad_clipping::GradientClippingConfig;
use burn_optim::{
    LearningRate, ModuleOptimizer, Optimizer, RecordState, StateSink, StateSource, join_path,
};

/// The configuration of [`Sgd`].
#[derive(Config, Debug)]
pub struct SgdConfig {
    /// The share of the velocity that remains from step to step.
    #[config(default = 0.9)]
    pub momentum: f64,
    /// The share of a gradient that is not added to the velocity. The default of Burn's SGD is 0.1.
    #[config(default = 0.0)]
    pub dampening: f64,
    /// Whether to use Nesterov's form, in which the step looks one velocity ahead.
    #[config(default = false)]
    pub nesterov: bool,
    /// The factor of a weight that is added to its gradient: twice the factor of an L2 penalty in the loss.
    #[config(default = 0.0)]
    pub weight_decay: f64,
    /// How the gradients of each parameter are clipped, independently of other parameters.
    pub grad_clipping: Option<GradientClippingConfig>,
}

impl SgdConfig {
    /// Creates the optimiser of one parameter, for use with a group of parameters
    /// ([`ModuleOptimizer::with_group`]). Only [`init`](Self::init) clips gradients, as in Burn.
    ///
    /// # Panics
    ///
    /// If momentum or dampening is not in `[0, 1)`, the weight decay is negative or not finite, or Nesterov's
    /// form is chosen without momentum.
    pub fn build(&self) -> Sgd {
        let Self { momentum, dampening, nesterov, weight_decay, .. } = *self;
        assert!((0.0..1.0).contains(&momentum), "momentum has to be in [0, 1), got {momentum}");
        assert!((0.0..1.0).contains(&dampening), "dampening has to be in [0, 1), got {dampening}");
        assert!(
            weight_decay >= 0.0 && weight_decay.is_finite(),
            "weight decay has to be finite and not negative, got {weight_decay}"
        );
        assert!(
            !nesterov || momentum > 0.0,
            "Nesterov's form needs a momentum above 0: set `momentum`, or leave `nesterov` off"
        );
        Sgd { momentum, dampening, nesterov, weight_decay }
    }

    /// Creates the optimiser of a whole module.
    ///
    /// # Panics
    ///
    /// In the same cases as [`build`](Self::build).
    pub fn init(&self) -> ModuleOptimizer {
        super::clipped(self.build().into(), self.grad_clipping.as_ref())
    }
}

/// Gradient descent with momentum, in one pass over parameter, gradient and velocity:
///
/// ```text
/// g ← g + λ·w        v ← μ·v + (1 − dampening)·g, at the first step v ← g
/// w ← w − η·v        or, Nesterov's form,  w ← w − η·(g + μ·v)
/// ```
///
/// Without momentum v is g, and `dampening` has no effect. These are the formulas of PyTorch and Burn.
/// PyTorch does not allow Nesterov's form with dampening; Burn and this crate do. For 16-bit parameters, the
/// velocity is f32 and the step is computed in f32; see [16 bits](crate#16-bits). The state has the names of
/// Burn's own [`Sgd`](burn_optim::Sgd) with momentum in records. Create it with [`SgdConfig`].
#[derive(Clone, Debug)]
pub struct Sgd {
    momentum: f64,
    dampening: f64,
    nesterov: bool,
    weight_decay: f64,
}

/// The state of [`Sgd`].
#[derive(Clone, Debug)]
pub struct SgdState<const D: usize> {
    /// The decayed sum of the gradients so far.
    pub velocity: Tensor<D>,
}

/// The name under which Burn's own SGD records its velocity.
const MOMENTUM: &str = "momentum";
const VELOCITY: &str = "velocity";

impl<const D: usize> RecordState for SgdState<D> {
    fn state_flatten(&self, prefix: &str, out: &mut StateSink) {
        moment::record(&self.velocity, &join_path(prefix, MOMENTUM), VELOCITY, out);
    }

    fn state_unflatten(prefix: &str, source: &mut StateSource, device: &Device) -> Option<Self> {
        let velocity = moment::read(&join_path(prefix, MOMENTUM), VELOCITY, source, device)?;
        Some(Self { velocity })
    }
}

impl Optimizer for Sgd {
    type State<const D: usize> = SgdState<D>;

    fn step<const D: usize>(
        &self,
        rate: LearningRate,
        parameter: Tensor<D>,
        gradient: Tensor<D>,
        state: Option<SgdState<D>>,
    ) -> (Tensor<D>, Option<SgdState<D>>) {
        let Self { momentum, dampening, nesterov, weight_decay } = *self;
        let (velocity, taken_up) = match state {
            Some(state) if momentum > 0.0 => (fitted(state.velocity, &gradient), 1.0 - dampening),
            // Without momentum, PyTorch steps along the undamped gradient.
            _ => (moment::zeros(&gradient), 1.0),
        };
        let step = SgdStep { rate, momentum, taken_up, nesterov, weight_decay };
        let place = captured::place(&step.changing(), &gradient);
        if let Some(Place::Elsewhere) = place {
            return (parameter, Some(SgdState { velocity }));
        }
        let [parameter, gradient, velocity] = [parameter, gradient, velocity].map(dispatched);
        let (parameter, velocity) = match place {
            Some(Place::At(numbers, first)) => {
                let numbers = dispatched(*numbers);
                Dispatch::sgd_step_in_place(parameter, gradient, velocity, numbers, first, step)
            }
            _ => Dispatch::sgd_step(parameter, gradient, velocity, step),
        };
        let velocity = Tensor::from_dispatch(velocity);
        (Tensor::from_dispatch(parameter), Some(SgdState { velocity }))
    }

    fn to_device<const D: usize>(state: SgdState<D>, device: &Device) -> SgdState<D> {
        SgdState { velocity: state.velocity.to_device(device) }
    }
}
