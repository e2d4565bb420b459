//! One line of a table.

use super::columns::Places;
use super::number::number;
use crate::error::Place;
use crate::measure::Direction;
use crate::names::excerpt;
use crate::{Error, Result};
use csv::StringRecord;
use std::path::Path;

/// Words for runs that have ended regularly.
const FINISHED: [&str; 8] =
    ["finished", "complete", "completed", "done", "success", "succeeded", "ok", "diverged"];
/// Words for runs that have not ended regularly.
const UNFINISHED: [&str; 13] = [
    "running",
    "failed",
    "crashed",
    "killed",
    "interrupted",
    "waiting",
    "pending",
    "scheduled",
    "queued",
    "error",
    "errored",
    "preempted",
    "cancelled",
];

/// The status of a line's run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Run {
    /// The line does not say.
    Unknown,
    Finished,
    Unfinished,
}

pub(super) struct Line<'a> {
    pub(super) path: &'a Path,
    pub(super) number: u64,
    pub(super) record: StringRecord,
    pub(super) header: &'a StringRecord,
}

impl Line<'_> {
    pub(super) fn field(&self, column: usize) -> &str {
        self.record.get(column).unwrap_or_default()
    }

    pub(super) fn error(&self, problem: String, advice: &str) -> Error {
        Error::data(self.path, Place::Line(self.number as usize), problem, advice)
    }

    /// Returns whether the line has one of the requested values in each column of `only`.
    pub(super) fn is_wanted(&self, place: &Places) -> bool {
        let has = |(column, value): &(usize, String)| self.field(*column) == value;
        let of_column = |column| place.only.iter().filter(move |(other, _)| *other == column);
        place.only.iter().all(|&(column, _)| of_column(column).any(has))
    }

    pub(super) fn run(&self, place: &Places) -> Run {
        let is_asked_for =
            |(_, value): &(usize, String)| FINISHED.contains(&value.to_lowercase().as_str());
        if place.only.iter().any(is_asked_for) {
            return Run::Finished;
        }
        let Some(column) = place.status else { return Run::Unknown };
        let word = self.field(column).to_lowercase();
        match word.as_str() {
            word if FINISHED.contains(&word) => Run::Finished,
            word if UNFINISHED.contains(&word) => Run::Unfinished,
            _ => Run::Unknown,
        }
    }

    /// Returns a score as a cost, of which lower is better: +∞ if the score is not a finite number, or if a finished
    /// run has no score.
    pub(super) fn cost(&self, column: usize, run: Run, direction: Direction) -> Result<f64> {
        let text = self.field(column);
        let is_empty = matches!(text, "" | "-") || text.eq_ignore_ascii_case("null");
        if is_empty && run == Run::Finished {
            return Ok(f64::INFINITY);
        }
        match number(text).filter(|_| !is_empty) {
            Some(value) if value.is_finite() => Ok(value * direction.sign()),
            Some(_) => Ok(f64::INFINITY),
            None => Err(self.error(
                format!("{} is {}, which is not a number", excerpt(&self.header[column]), excerpt(text)),
                "a run that diverged is written `nan`; one that has not finished needs a column `status` that says so",
            )),
        }
    }
}

/// Counts lines up to the beginning of a record. The CSV reader's own count leaves out the blank lines directly
/// before a record.
pub(super) struct Lines<'a> {
    bytes: &'a [u8],
    counted: usize,
    line: u64,
}

impl<'a> Lines<'a> {
    pub(super) fn of(bytes: &'a [u8]) -> Self {
        Self { bytes, counted: 0, line: 1 }
    }

    /// Returns the line of the first record at or after `byte`. `byte` must not decrease from call to call.
    pub(super) fn at(&mut self, byte: usize) -> u64 {
        let rest = self.bytes.get(byte..).unwrap_or_default();
        let blank = rest.iter().take_while(|byte| matches!(byte, b'\r' | b'\n')).count();
        let start = byte + blank;
        let passed = self.bytes.get(self.counted..start).unwrap_or_default();
        self.line += passed.iter().filter(|byte| **byte == b'\n').count() as u64;
        self.counted = start.max(self.counted);
        self.line
    }
}
