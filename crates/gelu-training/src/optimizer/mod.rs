//! Optimisers whose step is one pass over memory.

mod adam;
mod adamw;
mod clip;
mod moment;
mod sgd;

pub use adam::{Adam, AdamConfig, AdamState};
pub use adamw::AdamWConfig;
pub use clip::clip_by_global_norm;
pub(crate) use moment::zeros;
pub use sgd::{Sgd, SgdConfig, SgdState};

use burn_optim::ModuleOptimizer;
use burn_optim::grad_clipping::GradientClippingConfig;

/// Returns the optimiser with gradient clipping, if there is any.
fn clipped(
    optimizer: ModuleOptimizer,
    clipping: Option<&GradientClippingConfig>,
) -> ModuleOptimizer {
    match clipping {
        Some(clipping) => optimizer.with_grad_clipping(clipping.init()),
        None => optimizer,
    }
}
