//! One line of a table.

use super::columns::Places;
use crate::error::Place;
use crate::measure::Direction;
use crate::names::excerpt;
use super::number::number;
use crate::{Error, Result};
use csv::StringRecord;
use std::path::Path;

/// Words for runs that have come to their end.
const FINISHED: [&str; 8] =
    ["finished", "complete", "completed", "done", "success", "succeeded", "ok", "diverged"];
/// Words for runs that have not.
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

/// How the run of a line ended.
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

    /// Whether it has one of the values that are asked for in each column.
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

    /// A score as one of which lower is better: +∞ where it is no finite number, and where a run has finished without
    /// it.
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
                format!("{} is {}, which is no number", excerpt(&self.header[column]), excerpt(text)),
                "a run that diverged is written `nan`; one that has not finished needs a column `status` that says so",
            )),
        }
    }
}

/// Counts lines up to where records begin: the reader's own count is that of blank lines before it.
pub(super) struct Lines<'a> {
    bytes: &'a [u8],
    counted: usize,
    line: u64,
}

impl<'a> Lines<'a> {
    pub(super) fn of(bytes: &'a [u8]) -> Self {
        Self { bytes, counted: 0, line: 1 }
    }

    /// The line of the first record at or behind a byte; bytes never fall.
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
