#![cfg_attr(not(feature = "std"), no_std)]
#![cfg_attr(docsrs, feature(doc_cfg))]
#![cfg_attr(
    any(feature = "ndarray", feature = "tch"),
    allow(deprecated, reason = "Burn deprecates these two backends, but ships them")
)]

//! Accurate GELU-family activations for Burn. Values and derivatives are accurate on every backend.
//!
//! [`GeluLayer`] replaces `burn::nn::Gelu` in a model. [`Activation`] lists the activations by name,
//! and [`ActivationLayer`] is the corresponding module. [`HiddenLayer`], [`FeedForward`],
//! [`GatedFeedForward`] and [`Encoder`] replace Burn's layers and accept any activation. [`functional`]
//! has plain functions. No backend is enabled by default: enable the same backend features as for Burn
//! (`flex`, `ndarray`, `wgpu`, `vulkan`, `metal`, `cuda`, …).
//!
//! ```
//! use burn::tensor::{Device, Tensor};
//! use gelu_core::Activation;
//!
//! let x = Tensor::<2>::from_floats([[-1.0, 2.0]], &Device::default());
//! let y = Activation::Gelu.forward(x).into_data().try_to_vec::<f32>().unwrap();
//! assert_eq!(y, [-0.158_655_26, 1.954_499_7]);
//! ```

extern crate alloc;
#[cfg(feature = "std")]
extern crate std;

mod activation;
mod arithmetic;
mod backends;
mod composed;
#[cfg(feature = "flex")]
#[doc(hidden)]
pub mod flex;
pub mod functional;
#[cfg(any(feature = "fused-backend", feature = "router"))]
mod graph;
mod nn;
mod ops;
pub mod random;
#[cfg(feature = "std")]
mod watch;

pub use activation::{Activation, CustomActivation, NoCounterpart, UnknownActivation};
#[doc(hidden)]
pub use backends::dispatch;
#[cfg(feature = "router")]
pub use backends::router::register_activation_ops;
pub use functional::{
    cauchy, elu, geglu, gelu, gelu_sigmoid, gelu_tanh, normal_cdf, reglu, relu, silu, swiglu,
};
pub(crate) use gelu_kernels::Unit;
#[cfg(feature = "flex")]
pub use gelu_kernels::slices;
pub use gelu_kernels::{GateHalf, InvalidParameter};
#[cfg(feature = "std")]
pub use nn::Unfused;
pub use nn::{
    ActivationLayer, Approximation, Channels, Encoder, EncoderLayer, FeedForward,
    FeedForwardConfig, GatedFeedForward, GatedFeedForwardConfig, GeluLayer, GeluLayerConfig,
    HiddenLayer, HiddenLayerConfig, LearnableGelu, LearnableGeluConfig, LearnableSwish,
    LearnableSwishConfig, LearnedActivation, PolyNorm, PolyNormConfig, StochasticGelu, Xielu,
    XieluConfig,
};
pub use ops::ActivationOps;
#[cfg(feature = "std")]
pub use watch::{Watched, watch};

/// Compiles the code of the README as documentation tests.
#[cfg(all(doctest, feature = "flex"))]
#[doc = include_str!("../README.md")]
pub struct Readme;
