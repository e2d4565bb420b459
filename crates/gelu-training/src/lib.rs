#![cfg_attr(docsrs, feature(doc_cfg))]
#![cfg_attr(
    any(feature = "ndarray", feature = "tch"),
    allow(deprecated, reason = "Burn deprecates these two backends, but ships them")
)]

//! What training spends its time on, as extensions of Burn's backends.
//!
//! | | Flex (CPU) | CubeCL (GPUs) | any other backend |
//! |---|---|---|---|
//! | [`Adam`], [`Sgd`] | one pass over parameter, gradient and moments | one kernel, also under fusion (f64: tensor operations) | tensor operations |
//! | [`layers::linear`], [`layers::hidden_layer`] | the products of all three directions in blocks that threads share | Burn's | Burn's |
//! | [`layers::conv2d`] | sums of products in registers, read from the pictures themselves; 3×3 kernels by Winograd's method where it is faster | Burn's | Burn's |
//! | [`layers::max_pool2d`] of 2×2 pixels | one pass each way, and no indices are kept | Burn's | Burn's |
//! | [`layers::batch_norm_activation`] | a channel at a time, which is read from memory once each way if it fits the caches | tensor operations | tensor operations |
//!
//! On Flex the loops are compiled for AVX-512, AVX2 and the target's baseline and chosen at run time
//! (`GELU_SIMD=avx512`, `avx2`, `fused` or `portable` forces one; what is not there is refused). None of their
//! bits depends on how many threads there are, and those of the optimisers and of a batch norm by itself not
//! on the level either. Activations, as everywhere in gelu-core, and convolutions have other bits where no
//! multiply-add is fused (`portable`). The products of linear layers are those of the crate `gemm`, which
//! looks for instructions itself.
//!
//! # 16 bits
//!
//! Sums, squares, norms and statistics of f16 and bf16 tensors are computed in f32, and so is an optimiser's
//! step, whose moments are f32, too. The parameter itself stays in 16 bits: there is no copy of it in f32, so a
//! step that changes it by less than half the distance to the next number of its type is lost. This distance is
//! 2⁻¹⁰ of an f16 and 2⁻⁷ of a bf16 parameter at most, and half as much at least. A weight decay of 1e-2 at a
//! learning rate of 1e-3 takes off 1e-5 of a weight, which 16 bits never show. Keep parameters in f32, and cast
//! them for the forward pass, where such steps matter.
//!
//! The optimisers take the place of Burn's and keep their state in the same records:
//!
//! ```
//! use burn::module::Module;
//! use burn::nn::LinearConfig;
//! use burn::optim::GradientsParams;
//! use burn::tensor::{Device, Tensor};
//! use gelu_training::AdamConfig;
//!
//! let device = Device::default().autodiff();
//! let model = LinearConfig::new(3, 2).with_bias(false).init(&device);
//! let before = model.weight.val().sum().into_scalar::<f32>();
//! let loss = model.forward(Tensor::<2>::ones([1, 3], &device)).sum();
//! let gradients = GradientsParams::from_grads(loss.backward(), &model);
//! // Adam's first step is the learning rate, whatever the gradient.
//! let model = AdamConfig::new().init().step(0.25, model, gradients);
//! let after = model.weight.val().sum().into_scalar::<f32>();
//! assert!((before - after - 6.0 * 0.25).abs() < 1e-5);
//! ```
//!
//! # Subnormal numbers
//!
//! On Flex an f32 input or gradient of a linear layer or a convolution counts as 0 where it is
//! subnormal, below 2⁻¹²⁶ in size, and so does an optimiser's moment. x86 processors multiply such
//! numbers by microcode, and smooth activations make many: with a few in a thousand, a network's step
//! takes several times as long. In a network that is dying, inputs and gradients are normal and their
//! products are not: there one of them is made larger by a power of two, and the result smaller.
//!
//! # Memory
//!
//! A program that trains does well to call [`keep_memory`] first: glibc gives large tensors back to the
//! system and has them cleared again in every step.

mod backends;
pub mod cohort;
mod composed;
pub mod kernels;
pub mod layers;
mod ops;
mod optimizer;

pub use gelu_kernels::keep_memory;
pub use kernels::{AdamStep, EpsilonPlace, SgdStep, WeightDecay};
pub use ops::TrainingOps;
pub use optimizer::{
    Adam, AdamConfig, AdamState, AdamWConfig, Sgd, SgdConfig, SgdState, clip_by_global_norm,
};
