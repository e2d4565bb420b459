#![forbid(unsafe_code)]
#![cfg_attr(docsrs, feature(doc_cfg))]

//! The networks of the GELU paper (arXiv 1606.08415), a small GPT and a small airbench, built on Burn.
//!
//! | network | source | created by |
//! |---|---|---|
//! | fully connected classifier | §3.1, MNIST | [`MlpConfig::new`] |
//! | deep autoencoder | §3.2, MNIST | [`AutoencoderConfig`] |
//! | part-of-speech tagger | §3.3, tweets | [`MlpConfig::tagger`] |
//! | frame classifier | §3.4, TIMIT | [`MlpConfig::frame_classifier`] |
//! | nine-layer convolutional network | §3.5, CIFAR-10 | [`CnnConfig`], on images whitened by [`Zca`] |
//! | wide residual network | §3.5, CIFAR-100 | [`WideResNetConfig::wrn_40_4`] |
//! | whitened patches and three blocks of convolutions | (airbench94) | [`AirbenchConfig`] |
//! | decoder-only transformer | (nanoGPT) | [`GptConfig`] |
//!
//! Every network has a `Config` with `init(&Device)`, is a module with `forward`, and takes any
//! [`Activation`](gelu_core::Activation). [`StateDict`] loads the weights of a PyTorch twin. This crate
//! contains no data sets and no training.
//!
//! The features have the names of Burn's and `gelu-core`'s features, and are passed on to both. One
//! more feature, `zca-fit`, fits whitenings, which needs a linear algebra crate.
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

mod airbench;
mod autoencoder;
mod cnn;
mod frame_classifier;
mod gpt;
mod init;
mod mlp;
mod mlp_cohort;
mod residual_block;
mod state_dict;
mod tagger;
mod wide_resnet;
mod zca;

pub use airbench::{Airbench, AirbenchConfig, PatchWhitening};
pub use autoencoder::{Autoencoder, AutoencoderConfig};
pub use cnn::{Cnn, CnnConfig};
pub use gpt::{Gpt, GptConfig, GptMlp, GptNorm};
pub use init::unit_norm_linear;
pub use mlp::{Mlp, MlpConfig};
pub use mlp_cohort::{MlpCohort, MlpCohortError};
pub use residual_block::BlockOrder;
pub use state_dict::{StateDict, StateDictError, save_state_dict};
pub use wide_resnet::{WideResNet, WideResNetConfig};
pub use zca::Zca;
#[cfg(feature = "zca-fit")]
pub use zca::{ZcaConfig, ZcaError};

/// Compiles the code of the README as documentation tests.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
pub struct Readme;
