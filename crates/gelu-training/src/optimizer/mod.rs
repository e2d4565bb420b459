//! Optimisers whose step is one pass over memory.

mod adam;
mod sgd;

pub use adam::{Adam, AdamConfig, AdamStep, EpsilonPlace};
pub use sgd::{Sgd, SgdConfig, SgdState, SgdStep};
