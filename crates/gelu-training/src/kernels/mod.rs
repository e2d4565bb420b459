//! Loops over slices, compiled for each instruction set, on several threads where that pays.

mod adam;
mod batch_norm;
mod convolution;
mod linear;
mod number;
mod product;
mod scratch;
mod sgd;
mod subnormal;
mod sum;
mod threads;

pub(crate) use adam::adam;
pub(crate) use batch_norm::{Norm, Place, Statistics};
pub(crate) use convolution::{Geometry, convolve, input_gradient, weight_gradient};
pub(crate) use gelu_core::slices::{Level, Work};
pub(crate) use linear::Sizes;
pub(crate) use number::{Number, Stored};
pub(crate) use sgd::sgd;
pub(crate) use sum::sum_of_channels;
