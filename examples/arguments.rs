//! Reads the command line of an example, and prints errors.

use std::error::Error;
use std::process::ExitCode;

/// Returns the arguments. With `--help` or `-h`, prints the usage and exits.
pub(crate) fn arguments(usage: &str) -> std::iter::Skip<std::env::Args> {
    if std::env::args().any(|argument| argument == "--help" || argument == "-h") {
        println!("usage: {usage}");
        std::process::exit(0);
    }
    std::env::args().skip(1)
}

/// Parses an argument as a number; returns `default` if it is `None`.
pub(crate) fn number(argument: Option<String>, default: usize) -> Result<usize, Box<dyn Error>> {
    let Some(text) = argument else { return Ok(default) };
    text.parse().map_err(|_| format!("`{text}` is not a whole number; --help says what is").into())
}

/// Returns the exit code. Prints an error as a sentence, not in the debug format that `main` would use.
pub(crate) fn ended(outcome: Result<(), Box<dyn Error>>) -> ExitCode {
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}
