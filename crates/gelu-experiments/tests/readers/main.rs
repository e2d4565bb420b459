//! Tests of the readers of foreign files: against an independent reference, on real data, and on damaged files.

#![allow(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]

mod features;
mod fuzz;
mod fuzz_runs;
mod learnable;
mod real;
