//! Burn's own layers, run by this crate's operations. The modules, and so their records, are Burn's.
//!
//! Each is a function that takes Burn's module, and a method of [`Fast`] around it.

mod attention;
mod batch_norm;
mod convolution;
mod dropout;
mod fast;
mod linear;
mod max_pool;
mod row_norm;

pub use attention::causal_attention;
pub use batch_norm::{batch_norm, batch_norm_activation};
pub use convolution::conv2d;
pub use dropout::dropout;
pub use fast::Fast;
pub use linear::{hidden_layer, linear, linear_activation};
pub use max_pool::max_pool2d;
pub use row_norm::{layer_norm, rms_norm};
