//! Launches kernels, with one file per operation: checks shapes, chooses vector widths, and decides
//! which tensor's memory the result reuses.

mod gated;
mod map;
mod random;
mod spread;
mod step;

pub(super) use gated::{gated, gated_backward, gated_pair, gated_pair_backward};
pub(super) use map::{map, scale};
pub(super) use random::{dropout, let_through};
pub(super) use step::{step, step_backward};
