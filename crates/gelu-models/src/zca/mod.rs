//! ZCA whitening, the first layer of Table 1.
//!
//! For examples x with mean m and covariance U·diag(λ)·Uᵀ (divided by their number),
//!
//! ```text
//! whiten(x) = (x − m) · U·diag(1/√(λ + ε))·Uᵀ
//! ```
//!
//! The whitened examples have mean 0 and covariance U·diag(λ/(λ + ε))·Uᵀ: the identity, but for the
//! regulariser ε, and stay as near to the originals as any such map allows (Krizhevsky, *Learning
//! multiple layers of features from tiny images*, 2009, appendix A).
//!
//! It is fitted once on the training set, by `ZcaConfig` of the feature `zca-fit`, and never trained.

#[cfg(feature = "zca-fit")]
mod fit;
mod whitening;

#[cfg(feature = "zca-fit")]
pub(crate) use fit::eigen;
#[cfg(feature = "zca-fit")]
pub use fit::{ZcaConfig, ZcaError};
pub use whitening::Zca;
