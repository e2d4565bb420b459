//! The arithmetics, besides plain numbers, that compute the formulas of gelu-kernels.
//!
//! | file | number type | used for |
//! |---|---|---|
//! | [`term`] | a tensor of a backend | any backend, composed of its tensor operations |
//! | `lanes` | a vector in a CubeCL kernel | GPUs, and CubeCL's CPU |

#[cfg(feature = "cubecl-backend")]
pub(crate) mod lanes;
pub(crate) mod term;
