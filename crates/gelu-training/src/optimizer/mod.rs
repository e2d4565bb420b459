//! Optimisers whose step is one pass over memory.

mod adam;
mod moment;
mod sgd;

pub use adam::{Adam, AdamConfig, AdamState};
pub use sgd::{Sgd, SgdConfig, SgdState};
