//! Loops over slices, compiled for each instruction set, on several threads where that pays.

mod adam;
mod level;
mod number;
mod sgd;
mod threads;

pub(crate) use level::{Level, Work};
pub(crate) use number::Number;

pub(crate) use adam::adam;
pub(crate) use sgd::sgd;
