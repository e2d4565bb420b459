//! The statistics of comparisons: beside scipy's on random results, and their error rates by
//! simulation.

#![allow(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]

mod new_examples;
mod reference;
mod simulation;
