#![cfg_attr(not(feature = "std"), no_std)]
#![cfg_attr(docsrs, feature(doc_cfg))]

//! Activation functions and their derivatives on slices of numbers. They use the widest instructions of the processor,
//! and several threads where that is faster. Values and derivatives are accurate to a few units in the last place. This
//! crate does not depend on tensors or a framework; gelu-core turns its functions into operations on Burn's tensors.
//!
//! ```
//! let (x, mut y) = ([-3.0, 1.0], [0.0; 2]);
//! gelu_kernels::gelu(&x, &mut y);
//! assert_eq!(y, [-0.004_049_694, 0.841_344_7]);
//! ```
//!
//! [`Unit`] lists the functions. [`forward`] and [`backward`] apply one to a whole slice, [`Pass`] adds a bias and
//! dropout, [`gated`] and [`gated_pair`] compute gated units, and [`stochastic_map`] is the random counterpart of the
//! GELU. For loops of your own, [`slices`] computes on the calling thread, [`Level`] picks instructions, [`threads`]
//! shares work between threads, and [`SharedSlice`] lets threads write to one slice.
//!
//! # Accuracy
//!
//! In f32, over all 2³² inputs, errors in units in the last place are at most:
//!
//! | | value | derivative |
//! |---|---|---|
//! | GELU | 2.5 | 2.1 |
//! | tanh form of GELU | 2.7 | 3.4 |
//! | all other functions | 0.51 | 0.51 |
//!
//! The example `verify` measures this. Results of 16 bits are rounded once from f32. In f64, a search for the worst
//! inputs found errors of at most 5 units, with these exceptions: the derivatives of Mish and of the Cauchy unit (6.1),
//! the squared GELU and its derivative (8.1 and 6.3), and the derivative of tanh shrinkage (7.2).
//!
//! # Instructions
//!
//! On x86-64 every loop is compiled for AVX-512, for AVX2 with FMA, and for the baseline; the processor decides at run
//! time. `GELU_SIMD=avx512`, `avx2`, `fused` or `portable` selects one; naming an unavailable one is an error. Results
//! are bit-identical on all levels that fuse a multiply-add, and for any number of threads.
//!
//! # Features
//!
//! | | |
//! |---|---|
//! | `loops` | loops over slices; without it, the crate has functions of one number and random numbers |
//! | `std` | detects instructions; without it, the crate uses the baseline |
//! | `rayon` | several threads, with bit-identical results; `GELU_SPIN_TIME=0` or [`set_spin_time`] stops them from spinning |
//! | `half` | `f16` and `bf16` |
//! | `serde` | serialises units by their names |
//!
//! The first four are enabled by default.

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
mod sealed;
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

/// Compiles the code of the README as documentation tests.
#[cfg(all(doctest, feature = "half", feature = "loops"))]
#[doc = include_str!("../README.md")]
pub struct Readme;
