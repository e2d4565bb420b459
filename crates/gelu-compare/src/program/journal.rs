//! What a program has told, line by line as it was heard: a worker that is killed loses none of it.

use super::Study;
use super::output::{LineReader, Reading, for_each_line};
use super::told::{Measures, Told};
use crate::{Error, Result};
use serde_json::{Map, Value};
use std::fs::{self, File};
use std::io::{BufReader, ErrorKind, Write};
use std::path::{Path, PathBuf};

/// Begins what is told after a further start.
const START: &str = "start";

/// A file in the run's folder, which is gone once the run is complete.
pub(super) struct Journal {
    path: PathBuf,
    file: File,
}

impl Journal {
    /// Tells `told` what was heard in earlier sessions, and notes a further start.
    pub(super) fn open(run: &Path, study: &Study, told: &mut Told) -> Result<Self> {
        let reader = LineReader::of(&Study { read: Vec::new(), ..study.clone() });
        let path = Self::path(run);
        match File::open(&path) {
            Ok(file) => for_each_line(BufReader::new(file), |line| match line {
                START => told.start_again(),
                _ => {
                    // One that was cut off tells nothing.
                    let _ = reader
                        .read(line)
                        .map(|measures| measures.map(|told_by| told.hear(told_by)));
                }
            }),
            Err(error) if error.kind() == ErrorKind::NotFound => {}
            Err(error) => return Err(Error::io("read", path)(error)),
        }
        told.start_again();
        let file = File::options().create(true).append(true).open(&path);
        let mut journal = Self { file: file.map_err(Error::io("create", &path))?, path };
        // A line before that was cut off ends here.
        journal.write(&format!("\n{START}\n"))?;
        Ok(journal)
    }

    /// Notes what a line tells.
    pub(super) fn note(&mut self, told: &Measures) -> Result<()> {
        let value = |reading: &Reading| match reading {
            Reading::Number(value) => match serde_json::Number::from_f64(*value) {
                Some(number) => Value::Number(number),
                None => Value::from(value.to_string()),
            },
            Reading::Other(text) => {
                serde_json::from_str(text).unwrap_or_else(|_| text.as_str().into())
            }
        };
        let line: Map<String, Value> =
            told.iter().map(|(name, reading)| (name.clone(), value(reading))).collect();
        self.write(&format!("{}\n", Value::Object(line)))
    }

    /// Nobody needs it any more.
    pub(super) fn forget(run: &Path) {
        // Where it cannot be deleted, it is in nobody's way.
        let _ = fs::remove_file(Self::path(run));
    }

    fn path(run: &Path) -> PathBuf {
        run.join("told.jsonl")
    }

    fn write(&mut self, text: &str) -> Result<()> {
        self.file.write_all(text.as_bytes()).map_err(Error::io("write", &self.path))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_told_is_there_after_a_kill() {
        let run = tempfile::tempdir().unwrap();
        let study = Study::new("train", "last");
        let open = || {
            let mut told = Told::of(["last"].into_iter());
            let journal = Journal::open(run.path(), &study, &mut told).unwrap();
            (told, journal)
        };
        let tell = |journal: &mut Journal, told: &mut Told, line: &str| {
            let measures = LineReader::of(&study).read(line).unwrap().unwrap();
            journal.note(&measures).unwrap();
            told.hear(measures);
        };
        let (mut told, mut journal) = open();
        for line in [
            r#"{"epoch": 1, "loss": 0.1}"#,
            r#"{"epoch": 2, "loss": -Infinity, "x": NaN, "last": null}"#,
        ] {
            tell(&mut journal, &mut told, line);
        }
        journal.write("{\"epoch\": 3, \"lo").unwrap();
        drop(journal);
        let (again, mut journal) = open();
        assert_eq!(format!("{:?}", again.epochs()), format!("{:?}", told.epochs()));
        assert_eq!(again.missing(), Some(("last", "null")));
        let mut told = again;
        tell(&mut journal, &mut told, r#"{"epoch": 2, "loss": 0.5}"#);
        assert_eq!(open().0.epochs(), told.epochs());
        assert_eq!(told.epochs().len(), 2);
        drop(journal);
        Journal::forget(run.path());
        assert!(open().0.epochs().is_empty());
    }
}
