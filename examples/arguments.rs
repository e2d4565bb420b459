//! What an example reads from its command line, and how it says what is wrong with that.

use std::error::Error;
use std::process::ExitCode;

/// The arguments. Asked for help, the program prints how it is used, and ends.
pub(crate) fn arguments(usage: &str) -> std::iter::Skip<std::env::Args> {
    if std::env::args().any(|argument| argument == "--help" || argument == "-h") {
        println!("usage: {usage}");
        std::process::exit(0);
    }
    std::env::args().skip(1)
}

/// The number that an argument is, `default` where there is none.
pub(crate) fn number(argument: Option<String>, default: usize) -> Result<usize, Box<dyn Error>> {
    let Some(text) = argument else { return Ok(default) };
    text.parse().map_err(|_| format!("`{text}` is not a whole number; --help says what is").into())
}

/// How the program ends: with what went wrong as a sentence, not as `main` would print it.
pub(crate) fn ended(outcome: Result<(), Box<dyn Error>>) -> ExitCode {
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}
