//! ZCA whitening, the first layer of Table 1.
//!
//! For examples x with mean m and covariance U·diag(λ)·Uᵀ (divided by the number of examples),
//!
//! ```text
//! whiten(x) = (x − m) · U·diag(1/√(λ + ε))·Uᵀ
//! ```
//!
//! The whitened examples have mean 0 and covariance U·diag(λ/(λ + ε))·Uᵀ, which is the identity
//! except for the regulariser ε. They are as close to the originals as any such map allows
//! (Krizhevsky, *Learning multiple layers of features from tiny images*, 2009, appendix A).
//!
//! `ZcaConfig`, with the feature `zca-fit`, fits the whitening once to the training set. It is never
//! trained.

#[cfg(feature = "zca-fit")]
mod fit;
mod whitening;

#[cfg(feature = "zca-fit")]
pub(crate) use fit::eigen;
#[cfg(feature = "zca-fit")]
pub use fit::{ZcaConfig, ZcaError};
pub use whitening::Zca;
