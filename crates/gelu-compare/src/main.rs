//! The program `gelu-compare`.

use std::process::ExitCode;

fn main() -> ExitCode {
    gelu_compare::program::compare_processes()
}
