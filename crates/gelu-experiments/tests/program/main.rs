//! Tests of the real program in temporary folders. They share one executable, so that it is linked only once.

#![allow(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]

mod support;

mod cohort;
mod compare;
#[cfg(unix)]
mod cost;
#[cfg(unix)]
mod dashboard;
mod evidence;
mod finding;
mod foreign;
#[cfg(unix)]
mod hostile;
mod mnist;
mod outcomes;
mod own_activations;
mod own_data;
mod own_recipes;
mod page;
mod recipes;
mod refusals;
mod report;
mod resume;
mod symbolic;
mod verdict;
#[cfg(unix)]
mod workers;

/// With the devices of a build for the CPU alone.
#[cfg(not(feature = "wgpu"))]
#[test]
fn the_book_has_every_command() {
    use gelu_compare::testing::{Sandbox, assert_generated, command_line};
    use std::path::Path;
    let page =
        Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/src/reference/command-line.md");
    let program = Sandbox::of(Path::new(support::PROGRAM));
    assert_generated(&page, "gelu", &command_line(&program, "gelu"));
}
