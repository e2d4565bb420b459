//! The backends, one file or folder each.

#[cfg(feature = "autodiff")]
mod autodiff;
#[cfg(feature = "cubecl-backend")]
mod cubecl;
pub mod dispatch;
#[cfg(feature = "flex")]
mod flex;
#[cfg(feature = "fused-backend")]
mod fusion;
#[cfg(feature = "ndarray")]
mod ndarray;
#[cfg(feature = "router")]
pub(crate) mod router;
#[cfg(feature = "tch")]
mod tch;
