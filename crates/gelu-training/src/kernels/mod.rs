//! The loops of this crate on slices of numbers, without tensors or Burn. The CPU backend calls them.
//!
//! [`adam`], [`amsgrad`] and [`sgd`] are steps of optimisers. [`linear`] and [`convolution`] have products and
//! their gradients. [`attention`] is causal attention, [`batch_norm`] is a batch norm with an activation,
//! [`row_norm`] is a layer norm or a root mean square norm, and [`max_pool`] takes the largest of 2×2 pixels.
//! All but the optimisers need the feature `flex`.
//!
//! Sizes and lengths are checked before any work. The message of a panic says which argument is wrong, what it
//! is, and what was expected.

#[allow(unsafe_code, reason = "threads write parts of one slice")]
mod adam;
#[cfg(feature = "flex")]
#[allow(unsafe_code, reason = "threads write parts of one slice, not set to 0 before")]
pub mod attention;
#[cfg(feature = "flex")]
pub mod batch_norm;
#[cfg(feature = "flex")]
#[allow(unsafe_code, reason = "threads write parts of one slice")]
mod blocks;
mod checks;
#[cfg(feature = "flex")]
#[allow(unsafe_code, reason = "threads write slices of one result, not set to 0 before")]
pub mod cohort;
#[cfg(feature = "flex")]
#[allow(
    unsafe_code,
    reason = "threads write parts of one slice, and tiles are read without checks"
)]
pub mod convolution;
#[cfg(feature = "flex")]
mod extent;
#[cfg(feature = "flex")]
mod factors;
#[cfg(feature = "flex")]
#[allow(unsafe_code, reason = "threads write parts of one slice")]
mod gemv;
#[cfg(feature = "flex")]
pub mod linear;
#[cfg(feature = "flex")]
#[allow(unsafe_code, reason = "threads write parts of one slice")]
mod max_pool;
mod moment;
#[cfg(feature = "flex")]
#[allow(unsafe_code, reason = "the product takes pointers; shapes are checked here")]
mod product;
#[cfg(feature = "flex")]
pub mod row_norm;
#[cfg(feature = "flex")]
mod scratch;
#[allow(unsafe_code, reason = "threads write parts of one slice")]
mod sgd;
#[cfg(feature = "flex")]
mod subnormal;
#[cfg(feature = "flex")]
mod sum;
#[cfg(feature = "flex")]
mod tile;
#[cfg(feature = "flex")]
#[allow(unsafe_code, reason = "threads write parts of one slice")]
mod transpose;
#[cfg(feature = "flex")]
#[allow(unsafe_code, reason = "results need not be set to 0 before they are written")]
mod written;

pub use adam::{AdamStep, EpsilonPlace, WeightDecay, adam, amsgrad};
#[cfg(feature = "flex")]
pub use max_pool::{max_pool, max_pool_gradient};
pub use moment::Moment;
pub use sgd::{SgdStep, sgd};
#[cfg(feature = "flex")]
pub use sum::sum_of_channels;
