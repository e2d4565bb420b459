//! Running a function over slices with the widest instructions the processor has, on several
//! threads where that pays. Knows no function by name but the normal CDF, which opens the gate of
//! the stochastic map.
//!
//! | file | what |
//! |---|---|
//! | `level` | the instruction sets; one source serves all, compiled once for each |
//! | `elementwise` | the loop over a slice, compiled for each function |
//! | `pass` | what is around it: 16-bit types, bias, dropout, sums over rows |
//! | `gate` | the stochastic map |
//! | `gated` | gated units |
//! | `storage`, `threads` | the types; the chunks that threads work on |

#![allow(unsafe_code, reason = "pointers that let one loop work in place or not; dispatch")]

mod elementwise;
mod gate;
mod gated;
mod level;
mod pass;
pub mod slices;
mod storage;
mod threads;

pub(crate) use gate::gate;
pub(crate) use gated::{Halves, gated, gated_backward};
pub(crate) use pass::Pass;
pub(crate) use storage::Storage;

#[cfg(test)]
mod tests;
