//! What the formulas of gelu-kernels are computed in besides plain numbers.
//!
//! | file | a number is | for |
//! |---|---|---|
//! | [`term`] | a tensor of a backend | any backend, composed of its operations |
//! | `lanes` | a vector in a CubeCL kernel | GPUs, and CubeCL's CPU |

#[cfg(feature = "cubecl-backend")]
pub(crate) mod lanes;
pub(crate) mod term;
