#![cfg_attr(not(feature = "std"), no_std)]
#![cfg_attr(docsrs, feature(doc_cfg))]

//! Activations and what else training spends its time on, as loops over slices of numbers: right
//! values *and* right derivatives, with the widest instructions that the processor has, on several
//! threads where that pays. Knows of no tensor and of no framework; gelu-core and gelu-training make
//! operations of Burn's tensors of it.
//!
//! ```
//! let (x, mut y) = ([-3.0, 1.0], [0.0; 2]);
//! gelu_kernels::gelu(&x, &mut y);
//! assert_eq!(y, [-0.004_049_694, 0.841_344_7]);
//! ```
//!
//! [`Unit`] is the list of functions. [`forward`] and [`backward`] are those of whole slices, [`Pass`]
//! adds a bias and dropout, [`gated`] and [`gated_pair`] are gated units; [`slices`] is for loops of one's own, on the
//! calling thread. [`adam`], [`amsgrad`] and [`sgd`] are steps of optimisers, [`batch_norm`] is one with its
//! activation, [`row_norm`] a layer norm, and with the feature `gemm` there are `linear` layers, `convolution`s,
//! a `max_pool` and causal `attention`.
//!
//! # Accuracy
//!
//! In f32, over all 2³² inputs and in units in the last place: the GELU is within 2.5 and its
//! derivative within 2.1, the tanh form within 2.7 and 3.4, all other functions within 0.51 (the
//! example `verify`). 16 bits are rounded once from f32. In f64 a search for the worst inputs found no more than 5,
//! but for the derivatives of Mish and of the Cauchy unit (6.1), the squared GELU and its derivative (8.1 and 6.3), and
//! the derivative of tanh shrinkage (7.2).
//!
//! # Instructions
//!
//! On x86-64 every loop is compiled for AVX-512, AVX2 with FMA and the baseline, and chosen at run
//! time; `GELU_SIMD=avx512`, `avx2`, `fused` or `portable` forces one, and what is not there is
//! refused. Results have the same bits on all that fuse a multiply-add, and for any number of
//! threads.
//!
//! # Features
//!
//! | | |
//! |---|---|
//! | `loops` | the loops over slices of all functions; without it there are the functions of one number, optimisers and random numbers |
//! | `std` | detects instructions; without it, the baseline is used |
//! | `rayon` | several threads, on which no bit depends; `GELU_SPIN_TIME=0` or [`set_spin_time`] has none of them spin |
//! | `half` | `f16` and `bf16` |
//! | `gemm` | products of matrices: `linear`, `convolution`, `attention`; and `max_pool` |
//! | `x86-v4` | AVX-512 in the products of `linear` |
//! | `serde` | units by their names |
//!
//! The first four are the default. Norms and products need `std`.

extern crate alloc;

#[cfg(feature = "loops")]
mod activation;
#[allow(unsafe_code, reason = "threads write parts of one slice")]
mod adam;
#[doc(hidden)]
pub mod arithmetic;
#[cfg(feature = "gemm")]
#[allow(unsafe_code, reason = "threads write parts of one slice, not set to 0 before")]
pub mod attention;
#[cfg(all(feature = "loops", feature = "std"))]
pub mod batch_norm;
mod checks;
#[cfg(feature = "gemm")]
#[allow(
    unsafe_code,
    reason = "threads write parts of one slice, and tiles are read without checks"
)]
pub mod convolution;
#[allow(unsafe_code, reason = "threads write parts of one slice")]
mod disjoint;
#[cfg(feature = "loops")]
#[allow(unsafe_code, reason = "pointers, which let one loop work in place or not")]
mod elementwise;
#[cfg(feature = "gemm")]
mod extent;
#[cfg(feature = "gemm")]
mod factors;
mod float;
#[cfg(feature = "rayon")]
#[allow(unsafe_code, reason = "a function of the C library")]
mod fork;
#[doc(hidden)]
pub mod functions;
#[cfg(feature = "loops")]
#[allow(unsafe_code, reason = "results need not be set to 0 before they are written")]
mod gate;
mod gate_half;
#[cfg(feature = "loops")]
#[allow(unsafe_code, reason = "pointers to what it reads and writes")]
mod gate_loop;
#[cfg(feature = "loops")]
#[allow(unsafe_code, reason = "results need not be set to 0 before they are written")]
mod gated;
#[cfg(feature = "loops")]
#[allow(unsafe_code, reason = "pointers, which let one loop work in place or not")]
mod kernel;
mod lane;
#[allow(unsafe_code, reason = "code for instructions that were detected")]
mod level;
#[cfg(feature = "gemm")]
pub mod linear;
#[cfg(feature = "gemm")]
#[allow(unsafe_code, reason = "threads write parts of one slice")]
mod max_pool;
#[cfg(feature = "std")]
#[allow(unsafe_code, reason = "a function of the C library")]
mod memory;
#[cfg(feature = "loops")]
#[allow(unsafe_code, reason = "pointers, which let one loop work in place or not")]
mod pass;
#[cfg(feature = "loops")]
mod places;
#[allow(unsafe_code, reason = "an instruction of the processor")]
mod prefetch;
#[cfg(feature = "gemm")]
#[allow(unsafe_code, reason = "the product takes pointers; shapes are checked here")]
mod product;
pub mod random;
mod root;
#[cfg(all(feature = "loops", feature = "std"))]
pub mod row_norm;
#[cfg(all(feature = "loops", feature = "std"))]
mod scratch;
#[allow(unsafe_code, reason = "threads write parts of one slice")]
mod sgd;
#[cfg(feature = "gemm")]
#[allow(unsafe_code, reason = "threads write parts of one slice")]
mod single;
#[cfg(feature = "loops")]
pub mod slices;
mod storage;
#[cfg(feature = "gemm")]
mod subnormal;
#[cfg(all(feature = "loops", feature = "std"))]
mod sum;
#[cfg(feature = "rayon")]
#[allow(unsafe_code, reason = "a job on one thread's stack that others work on")]
mod team;
#[allow(unsafe_code, reason = "threads write parts of one slice")]
mod threads;
#[cfg(feature = "gemm")]
mod tile;
#[cfg(feature = "gemm")]
#[allow(unsafe_code, reason = "threads write parts of one slice")]
mod turned;
#[cfg(all(feature = "loops", feature = "std"))]
#[allow(unsafe_code, reason = "results need not be set to 0 before they are written")]
mod written;

#[cfg(feature = "loops")]
pub use activation::{backward, forward, gelu};
pub use adam::{AdamStep, EpsilonPlace, WeightDecay, adam, amsgrad};
pub use functions::{InvalidParameter, Unit};
#[cfg(feature = "loops")]
pub use gate::gate;
pub use gate_half::GateHalf;
#[cfg(feature = "loops")]
pub use gated::{Halves, gated, gated_backward, gated_pair, gated_pair_backward};
pub use lane::Lane;
pub use level::{Level, Work};
#[cfg(feature = "gemm")]
pub use max_pool::{max_pool, max_pool_gradient};
#[cfg(feature = "std")]
pub use memory::keep_memory;
#[cfg(feature = "loops")]
pub use pass::Pass;
pub use sgd::{SgdStep, sgd};
pub use storage::Storage;
#[cfg(all(feature = "loops", feature = "std"))]
pub use sum::sum_of_channels;
#[cfg(feature = "rayon")]
pub use team::set_spin_time;

#[cfg(all(test, feature = "half", feature = "loops"))]
mod tests;

/// The code of the README, compiled with the documentation's tests.
#[cfg(all(doctest, feature = "half", feature = "loops"))]
#[doc = include_str!("../README.md")]
pub struct Readme;
