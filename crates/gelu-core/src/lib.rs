#![cfg_attr(not(feature = "std"), no_std)]
#![cfg_attr(docsrs, feature(doc_cfg))]
#![cfg_attr(
    any(feature = "ndarray", feature = "tch"),
    allow(deprecated, reason = "Burn deprecates these two backends, but ships them")
)]

//! Accurate GELU-family activations for Burn: right values and right derivatives on every backend.
//!
//! [`GeluLayer`] replaces `burn::nn::Gelu` in a model; [`Activation`] is the list to pick from by
//! name, and [`ActivationLayer`] its module; [`HiddenLayer`], [`FeedForward`], [`GatedFeedForward`] and
//! [`Encoder`] take any of it in the place of Burn's layers; [`functional`] has plain functions. No
//! backend comes along by default: the one that Burn was given is named here too, by Burn's own
//! feature names (`flex`, `ndarray`, `wgpu`, `vulkan`, `metal`, `cuda`, …).
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

/// The code of the README, compiled with the documentation's tests.
#[cfg(all(doctest, feature = "flex"))]
#[doc = include_str!("../README.md")]
pub struct Readme;
