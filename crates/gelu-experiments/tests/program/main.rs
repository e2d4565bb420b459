//! The real program, as people use it, each time in a folder of its own. One executable: linked once.

#![allow(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]

mod support;

mod cohort;
mod compare;
#[cfg(unix)]
mod dashboard;
mod evidence;
mod exports;
#[cfg(unix)]
mod faults;
mod finding;
mod foreign;
#[cfg(unix)]
mod hostile;
mod mnist;
mod outcomes;
mod own_activations;
mod own_data;
mod page;
mod recipes;
mod refusals;
mod report;
mod resume;
mod symbolic;
mod verdict;
#[cfg(unix)]
mod workers;
