//! Tests of the real program, started as its users start it.

#![cfg(unix)]
#![allow(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]

mod contents;
mod cost;
mod damage;
mod dashboard;
mod ending;
mod exports;
mod failing;
mod faults;
mod hostile;
mod hosts;
mod judging;
mod over;
mod own_loop;
mod processes;
mod quoted;
mod session;
mod session_page;
mod speedruns_page;
mod surroundings;
mod terminal;
mod values;
mod verdict;
mod widening;
mod workers;

use gelu_compare::testing::{Sandbox, assert_generated, command_line};
use std::path::Path;

/// Creates a temporary folder with the program.
fn program() -> Sandbox {
    Sandbox::of(Path::new(env!("CARGO_BIN_EXE_gelu-compare")))
}

/// Creates a temporary folder with the program and a script `train.sh`.
fn scripted(script: &str) -> Sandbox {
    let sandbox = program();
    std::fs::write(sandbox.path("train.sh"), script).unwrap();
    sandbox
}

#[test]
fn the_book_has_every_command() {
    let page =
        Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/src/reference/command-line.md");
    let commands = command_line(&program(), "gelu-compare");
    assert_generated(&page, "gelu-compare", &commands);
}

/// The document of a comparison that has to succeed.
fn document(sandbox: &Sandbox, arguments: &[&str]) -> serde_json::Value {
    let text = sandbox.run(&[arguments, &["--json"]].concat()).success();
    serde_json::from_str(&text).unwrap()
}
