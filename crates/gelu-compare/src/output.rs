//! The only module that prints. Texts come from files, from other programs, and with paths that others have named.
//! This module escapes the characters that a terminal would act on, so that callers need not. Only the dashboard
//! prints by itself, through Ratatui, which draws no such character.

use crate::names::printable_lines;
use crate::{Error, Result};
use std::io::{ErrorKind, IsTerminal, Write, stderr, stdout};

/// Prints to standard output. It is no error if the reader has gone away (`gelu report … | head`, a closed terminal).
///
/// # Errors
///
/// Returns an error if standard output cannot be written to for another reason, such as a full disk.
pub fn print(text: &str) -> Result<()> {
    write(printable_lines(text).as_bytes())
}

/// Prints another program's output. It escapes the output for terminals and leaves it unchanged otherwise.
///
/// # Errors
///
/// Returns the errors of [`print`](print()).
pub(crate) fn print_bytes(bytes: &[u8]) -> Result<()> {
    match stdout().is_terminal() {
        true => print(&String::from_utf8_lossy(bytes)),
        false => write(bytes),
    }
}

fn write(bytes: &[u8]) -> Result<()> {
    match stdout().lock().write_all(bytes) {
        Err(error) if error.kind() != ErrorKind::BrokenPipe && !is_hang_up(&error) => {
            Err(Error::io("write to", "standard output")(error))
        }
        _ => Ok(()),
    }
}

/// Returns whether writing failed because the terminal is gone.
fn is_hang_up(error: &std::io::Error) -> bool {
    const EIO: i32 = 5;
    cfg!(unix) && error.raw_os_error() == Some(EIO)
}

/// Prints to standard error, which is a worker's log. Ignores errors.
pub fn complain(text: &str) {
    let _ = stderr().lock().write_all(printable_lines(text).as_bytes());
}
