#![forbid(unsafe_code)]

//! The networks of the GELU paper (arXiv 1606.08415), built on Burn.
//!
//! Every network is a `Config` with `init(&Device)`, a module with `forward`, and takes any
//! [`Activation`](gelu_core::Activation). Nothing here knows a data set or how to train.
//!
//! ```
//! use burn::tensor::{Device, Tensor};
//! use gelu_models::MlpConfig;
//!
//! let device = Device::default();
//! let config = MlpConfig::new(784, 10);
//! let logits = config.init(&device).forward(Tensor::ones([32, 784], &device));
//! assert_eq!(logits.dims(), [32, 10]);
//! assert_eq!(config.parameter_count(), 217_354);
//! ```

mod init;
mod mlp;

pub use init::unit_norm_linear;
pub use mlp::{Mlp, MlpConfig};
