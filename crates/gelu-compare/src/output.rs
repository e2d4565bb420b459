//! The only door to the terminal. Texts come from files, from other programs, and with paths that
//! somebody else has named: whatever passes here has the characters written out that a terminal would
//! obey, so that no caller has to think of it. The dashboard has a door of its own: Ratatui draws no
//! such character.

use crate::names::printable_lines;
use crate::{Error, Result};
use std::io::{ErrorKind, IsTerminal, Write, stderr, stdout};

/// Prints to standard output. A reader that has gone away (`gelu report … | head`, a terminal that
/// was closed) is no error.
///
/// # Errors
///
/// When it cannot be written to for another reason, a full disk for example.
pub fn print(text: &str) -> Result<()> {
    write(printable_lines(text).as_bytes())
}

/// Prints what another program has printed: as it was, where no terminal would obey it.
///
/// # Errors
///
/// As [`print`](print()).
pub fn print_bytes(bytes: &[u8]) -> Result<()> {
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

/// Whether a terminal refused to be written to because it is gone.
fn is_hang_up(error: &std::io::Error) -> bool {
    const EIO: i32 = 5;
    cfg!(unix) && error.raw_os_error() == Some(EIO)
}

/// Prints to standard error, which is a worker's log, if anybody is there to hear it.
pub fn complain(text: &str) {
    let _ = stderr().lock().write_all(printable_lines(text).as_bytes());
}
