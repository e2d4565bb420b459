//! What a process prints, line by line.

use crate::program::output::for_each_line;
use crate::{Error, Result};
use std::io::{BufReader, Read};
use std::process::Child;
use std::sync::mpsc::{Receiver, sync_channel};

/// Lines that wait to be heard; a process that prints faster waits with its next.
const WAITING_LINES: usize = 1024;

/// A line that a process printed, and whether on standard error.
pub(super) type Line = (String, bool);

/// The lines of both outputs of a process.
pub(super) fn listen(process: &mut Child) -> Result<Receiver<Line>> {
    let (hear, lines) = sync_channel(WAITING_LINES);
    let output = process.stdout.take().expect("standard output was asked for");
    let errors = process.stderr.take().expect("standard error was asked for");
    let hear_errors = hear.clone();
    // Nobody may listen any more.
    listen_to(output, move |line| drop(hear.send((line.to_owned(), false))))?;
    listen_to(errors, move |line| drop(hear_errors.send((line.to_owned(), true))))?;
    Ok(lines)
}

/// Tells every line of an output, in a thread of its own.
fn listen_to(
    output: impl Read + Send + 'static,
    hear: impl FnMut(&str) + Send + 'static,
) -> Result<()> {
    let thread = std::thread::Builder::new().name("output".to_owned()).spawn(move || {
        for_each_line(BufReader::with_capacity(1 << 16, output), hear);
    });
    thread.map(drop).map_err(Error::io("start a thread for", "a program's output"))
}
