//! The program `gelu`.

use std::process::ExitCode;

fn main() -> ExitCode {
    gelu_experiments::cli::main()
}
