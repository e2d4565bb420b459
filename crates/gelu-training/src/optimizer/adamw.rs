use super::Adam;
use crate::{EpsilonPlace, WeightDecay};
use burn::config::Config;
use burn_core as burn;
use burn_optim::ModuleOptimizer;
use burn_optim::grad_clipping::GradientClippingConfig;

/// The configuration of [`Adam`] with a weight decay that is decoupled from its moments (AdamW;
/// Loshchilov & Hutter, arXiv 1711.05101).
///
/// 16-bit parameters hardly decay; see [16 bits](crate#16-bits).
#[derive(Config, Debug)]
pub struct AdamWConfig {
    /// The decay of the first moment.
    #[config(default = 0.9)]
    pub beta_1: f64,
    /// The decay of the second moment.
    #[config(default = 0.999)]
    pub beta_2: f64,
    /// The number ε that keeps the divisor from 0. The default is PyTorch's; that of Burn's AdamW is
    /// 1e-5.
    #[config(default = 1e-8)]
    pub epsilon: f64,
    /// The position of ε.
    #[config(default = "EpsilonPlace::Outside")]
    pub epsilon_place: EpsilonPlace,
    /// Whether the divisor uses the greatest second moment so far.
    #[config(default = false)]
    pub amsgrad: bool,
    /// The λ of `w ← (1 − η·λ)·w`. The default is PyTorch's; that of Burn's AdamW is 1e-4.
    #[config(default = 1e-2)]
    pub weight_decay: f64,
    /// Whether only those weights decay that the step moves towards 0 (arXiv 2510.12402).
    #[config(default = false)]
    pub cautious_weight_decay: bool,
    /// How the gradients of each parameter are clipped, independently of other parameters.
    pub grad_clipping: Option<GradientClippingConfig>,
}

impl AdamWConfig {
    /// Creates the optimiser of one parameter, for use with a group of parameters
    /// ([`ModuleOptimizer::with_group`]). Only [`init`](Self::init) clips gradients, as in Burn.
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

    /// Creates the optimiser of a whole module.
    ///
    /// # Panics
    ///
    /// If a β is not in `[0, 1)`, or ε or the weight decay is negative or not finite.
    pub fn init(&self) -> ModuleOptimizer {
        super::clipped(self.build().into(), self.grad_clipping.as_ref())
    }
}
