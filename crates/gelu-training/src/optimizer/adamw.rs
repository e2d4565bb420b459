use super::Adam;
use crate::{EpsilonPlace, WeightDecay};
use burn::config::Config;
use burn_core as burn;
use burn_optim::ModuleOptimizer;
use burn_optim::grad_clipping::GradientClippingConfig;

/// Configuration of [`Adam`] with a weight decay beside its moments (AdamW; Loshchilov & Hutter,
/// arXiv 1711.05101).
///
/// Parameters of 16 bits hardly decay: see [16 bits](crate#16-bits).
#[derive(Config, Debug)]
pub struct AdamWConfig {
    /// Decay of the first moment.
    #[config(default = 0.9)]
    pub beta_1: f64,
    /// Decay of the second moment.
    #[config(default = 0.999)]
    pub beta_2: f64,
    /// What keeps the divisor from 0. PyTorch's default; Burn's own AdamW has 1e-5.
    #[config(default = 1e-8)]
    pub epsilon: f64,
    /// Where it is added.
    #[config(default = "EpsilonPlace::Outside")]
    pub epsilon_place: EpsilonPlace,
    /// Whether the divisor is of the greatest second moment so far.
    #[config(default = false)]
    pub amsgrad: bool,
    /// λ of `w ← (1 − η·λ)·w`. PyTorch's default; Burn's own AdamW has 1e-4.
    #[config(default = 1e-2)]
    pub weight_decay: f64,
    /// Whether only those weights decay that the step leads towards 0 (arXiv 2510.12402).
    #[config(default = false)]
    pub cautious_weight_decay: bool,
    /// How gradients are clipped, each parameter's by itself.
    pub grad_clipping: Option<GradientClippingConfig>,
}

impl AdamWConfig {
    /// The optimiser of one parameter, for a group of them
    /// ([`ModuleOptimizer::with_group`]). Gradients are clipped by [`init`](Self::init) alone, as with
    /// Burn's.
    ///
    /// # Panics
    ///
    /// If a β is not in `[0, 1)`, or ε or the weight decay is negative or not finite.
    pub fn build(&self) -> Adam {
        let Self { beta_1, beta_2, epsilon, epsilon_place, amsgrad, .. } = *self;
        let decay = match self.cautious_weight_decay {
            true => WeightDecay::Cautious(self.weight_decay),
            false => WeightDecay::Decoupled(self.weight_decay),
        };
        Adam { beta_1, beta_2, epsilon, epsilon_place, amsgrad, decay }.checked()
    }

    /// The optimiser of a whole module.
    ///
    /// # Panics
    ///
    /// As [`build`](Self::build) does.
    pub fn init(&self) -> ModuleOptimizer {
        super::clipped(self.build().into(), self.grad_clipping.as_ref())
    }
}
