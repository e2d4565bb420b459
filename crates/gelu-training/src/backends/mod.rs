//! The backends, one file or folder each. Remote devices and captured graphs use the composed
//! operations.

#[cfg(feature = "autodiff")]
mod autodiff;
#[cfg(feature = "cubecl-backend")]
mod cubecl;
#[cfg(feature = "flex")]
mod flex;
#[cfg(feature = "fused-backend")]
mod fusion;
#[cfg(feature = "ndarray")]
mod ndarray;
#[cfg(any(feature = "remote", feature = "capture"))]
mod router;
#[cfg(feature = "tch")]
mod tch;

gelu_core::define_dispatched!("gelu-training");
