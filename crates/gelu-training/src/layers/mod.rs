//! Functions that run Burn's own layers with this crate's operations. Call `conv2d(&layer, x)` instead of
//! `layer.forward(x)`; the network's type, its parameters and its records stay the same.

mod attention;
mod batch_norm;
mod convolution;
mod dropout;
mod linear;
mod max_pool;
mod row_norm;

pub use attention::causal_attention;
pub use batch_norm::{batch_norm, batch_norm_activation};
pub use convolution::conv2d;
pub use dropout::dropout;
pub use linear::{hidden_layer, linear, linear_activation};
pub use max_pool::max_pool2d;
pub use row_norm::{layer_norm, rms_norm};
