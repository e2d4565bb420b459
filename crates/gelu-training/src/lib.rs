#![cfg_attr(docsrs, feature(doc_cfg))]
#![cfg_attr(
    any(feature = "ndarray", feature = "tch"),
    allow(deprecated, reason = "Burn deprecates these two backends, but ships them")
)]

//! The operations that take most of a training step's time, as extensions of Burn's backends.
//!
//! | | Flex (CPU) | CubeCL (GPUs) | any other backend |
//! |---|---|---|---|
//! | [`Adam`], [`Sgd`] | one pass over parameter, gradient and moments | one kernel, also under fusion (f64: tensor operations) | tensor operations |
//! | [`layers::linear`], [`layers::hidden_layer`] | all three products in blocks that threads share | Burn's | Burn's |
//! | [`layers::conv2d`] | sums of products in registers, read from the images themselves; 3×3 kernels by Winograd's method where it is faster | Burn's | Burn's |
//! | [`layers::max_pool2d`] of 2×2 pixels | one pass in each direction, without stored indices | Burn's | Burn's |
//! | [`layers::batch_norm_activation`] | one channel at a time, which is read from memory once in each direction if it fits the caches | tensor operations | tensor operations |
//!
//! On Flex the loops are compiled for AVX-512, AVX2 and the target's baseline, and the processor decides at run time.
//! `GELU_SIMD=avx512`, `avx2`, `fused` or `portable` selects one; naming an unavailable one is an error. No result
//! depends on the number of threads. The optimisers' results, and those of a batch norm without activation, do not
//! depend on the level either. Activations (everywhere in gelu-core) and convolutions give different bits where no
//! multiply-add is fused (`portable`). The products of linear layers are those of the crate `gemm`, which detects
//! instructions itself.
//!
//! # 16 bits
//!
//! For f16 and bf16 tensors, sums, squares, norms and statistics are computed in f32. An optimiser's step is also
//! computed in f32, and its moments are f32. The parameter itself stays in 16 bits, without a copy in f32. A step that
//! changes the parameter by less than half the distance to the next number of its type is therefore lost. This distance
//! is between 2⁻¹¹ and 2⁻¹⁰ of an f16 parameter, and between 2⁻⁸ and 2⁻⁷ of a bf16 parameter. For example, a weight
//! decay of 1e-2 at a learning rate of 1e-3 subtracts 1e-5 of a weight, which has no effect in 16 bits. If such steps
//! matter, keep parameters in f32, and cast them for the forward pass.
//!
//! The optimisers replace Burn's and store their state in the same records:
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
//! # Steps that are recorded and replayed
//!
//! On CUDA, HIP and wgpu a small network's step takes longer to launch than to run. [`CapturedStep`] records a step
//! once and replays it, with the bits of an eager step. There the optimisers write parameters and moments where they
//! are, by numbers that they read from the device.
//!
//! # Subnormal numbers
//!
//! On Flex, a subnormal f32 (below 2⁻¹²⁶ in size) counts as 0 in the inputs and gradients of linear layers and
//! convolutions, and in an optimiser's moments. x86 processors multiply such numbers in slow microcode, and smooth
//! activations produce many of them: with a few per thousand, a network's step takes several times as long. In a dying
//! network, inputs and gradients may be normal while their products are subnormal. The products then multiply one
//! factor by a power of two, and divide the result by it.
//!
//! # Memory
//!
//! Call [`keep_memory`] at the start of a program that trains. Otherwise glibc returns large tensors to the system, and
//! the system clears their memory again in every step.

mod backends;
mod captured;
pub mod cohort;
mod composed;
pub mod kernels;
pub mod layers;
mod ops;
mod optimizer;

pub use captured::{CapturedStep, FixedBatch, NotCaptured, Recordable, can_record};
pub use gelu_kernels::keep_memory;
pub use kernels::{AdamStep, EpsilonPlace, SgdStep, WeightDecay};
pub use ops::TrainingOps;
pub use optimizer::{
    Adam, AdamConfig, AdamState, AdamWConfig, Sgd, SgdConfig, SgdState, clip_by_global_norm,
};
