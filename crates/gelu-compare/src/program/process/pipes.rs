//! What a process prints, line by line.

use crate::program::Pattern;
use crate::program::journal::Journal;
use crate::program::output::{for_each_line, measures};
use crate::program::told::Measures;
use crate::{Error, Result};
use std::io::{BufReader, Read};
use std::process::Child;
use std::sync::mpsc::{Receiver, sync_channel};

/// Lines that wait to be heard; a process that prints faster waits with its next.
const WAITING_LINES: usize = 1024;

/// A line that a process printed; measures are read from standard output alone.
pub(super) enum Line {
    Output(String, Option<Measures>),
    Error(String),
    /// What it tells cannot be noted.
    Unnoted(Error),
}

/// The lines of both outputs of a process. What they tell is noted as it is read, whoever hears it when.
pub(super) fn listen(
    process: &mut Child,
    patterns: Vec<Pattern>,
    mut journal: Journal,
) -> Result<Receiver<Line>> {
    let (hear, lines) = sync_channel(WAITING_LINES);
    let output = process.stdout.take().expect("standard output was asked for");
    let errors = process.stderr.take().expect("standard error was asked for");
    let hear_errors = hear.clone();
    listen_to(output, move |line| {
        let told = measures(line, &patterns);
        let noted = told.as_ref().map_or(Ok(()), |told| journal.note(told));
        // Nobody may listen any more.
        let _ = hear.send(match noted {
            Ok(()) => Line::Output(line.to_owned(), told),
            Err(error) => Line::Unnoted(error),
        });
    })?;
    listen_to(errors, move |line| {
        let _ = hear_errors.send(Line::Error(line.to_owned()));
    })?;
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
