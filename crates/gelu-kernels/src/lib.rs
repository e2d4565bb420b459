#![cfg_attr(not(feature = "std"), no_std)]
#![cfg_attr(docsrs, feature(doc_cfg))]

//! Activations for slices of numbers: right values *and* right derivatives, with the widest instructions that the
//! processor has, on several threads where that pays. Knows of no tensor and of no framework; gelu-core makes
//! operations of Burn's tensors of it.
//!
//! ```
//! let (x, mut y) = ([-3.0, 1.0], [0.0; 2]);
//! gelu_kernels::gelu(&x, &mut y);
//! assert_eq!(y, [-0.004_049_694, 0.841_344_7]);
//! ```
//!
//! [`Unit`] is the list of functions. [`forward`] and [`backward`] are those of whole slices, [`Pass`]
//! adds a bias and dropout, [`gated`] and [`gated_pair`] are gated units, and [`stochastic_map`] is the GELU's random
//! counterpart; [`slices`] is for loops of your own, on the calling thread. Such loops get their instructions from
//! [`Level`], their threads from [`threads`], and share results by [`SharedSlice`].
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
//! | `loops` | the loops over slices of all functions; without it there are the functions of one number and random numbers |
//! | `std` | detects instructions; without it, the baseline is used |
//! | `rayon` | several threads, on which no bit depends; `GELU_SPIN_TIME=0` or [`set_spin_time`] has none of them spin |
//! | `half` | `f16` and `bf16` |
//! | `serde` | units by their names |
//!
//! The first four are the default.

extern crate alloc;

#[cfg(feature = "loops")]
mod activation;
#[doc(hidden)]
pub mod arithmetic;
#[doc(hidden)]
pub mod checks;
mod float;
#[cfg(feature = "rayon")]
#[allow(unsafe_code, reason = "a function of the C library")]
mod fork;
#[doc(hidden)]
pub mod functions;
mod gate_half;
#[cfg(feature = "loops")]
#[allow(unsafe_code, reason = "results need not be set to 0 before they are written")]
mod gated;
#[cfg(feature = "loops")]
#[allow(unsafe_code, reason = "pointers, which let one loop work in place or not")]
mod kernel;
#[allow(unsafe_code, reason = "code for instructions that were detected")]
mod level;
#[cfg(feature = "std")]
#[allow(unsafe_code, reason = "a function of the C library")]
mod memory;
#[cfg(feature = "loops")]
#[allow(unsafe_code, reason = "pointers, which let one loop work in place or not")]
mod pass;
#[doc(hidden)]
#[allow(unsafe_code, reason = "an instruction of the processor")]
pub mod prefetch;
pub mod random;
#[allow(unsafe_code, reason = "threads write ranges of one slice")]
mod shared_slice;
#[cfg(feature = "loops")]
pub mod slices;
#[cfg(feature = "loops")]
#[allow(unsafe_code, reason = "results need not be set to 0 before they are written")]
mod stochastic;
mod storage;
#[cfg(feature = "rayon")]
#[allow(unsafe_code, reason = "a job on one thread's stack that others work on")]
mod team;
#[allow(unsafe_code, reason = "threads write ranges of one slice")]
pub mod threads;

#[cfg(feature = "loops")]
pub use activation::{backward, forward, gelu};
pub use float::Float;
pub use functions::{InvalidParameter, ParseUnitError, Unit};
pub use gate_half::GateHalf;
#[cfg(feature = "loops")]
pub use gated::{Halves, gated, gated_backward, gated_pair, gated_pair_backward};
pub use level::{Level, Work};
#[cfg(feature = "std")]
pub use memory::keep_memory;
#[cfg(feature = "loops")]
pub use pass::Pass;
pub use shared_slice::SharedSlice;
#[cfg(feature = "loops")]
pub use stochastic::stochastic_map;
pub use storage::Storage;
#[cfg(feature = "rayon")]
pub use team::set_spin_time;

#[cfg(all(test, feature = "half", feature = "loops"))]
mod tests;

/// The code of the README, compiled with the documentation's tests.
#[cfg(all(doctest, feature = "half", feature = "loops"))]
#[doc = include_str!("../README.md")]
pub struct Readme;
