//! The journal: a record of a program's reports, line by line as they arrive. The run's table of epochs can be
//! rebuilt from it. A worker that is killed loses none of it.

use super::output::{LineReader, Measures, Reading, for_each_line};
use super::reported_metrics::ReportedMetrics;
use super::{ProgramRecipe, ProgramSpec};
use crate::runs::ClaimedRun;
use crate::{Error, Result};
use serde_json::{Map, Value};
use std::fs::{self, File};
use std::io::{self, BufReader, ErrorKind, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// The file name of a holder's journal.
const NAME: &str = "told.jsonl";
/// The line before reports after another start of the program.
const START: &str = "start";
/// The line after the reports of a program that ended successfully.
const END: &str = "end";
/// The limit, in bytes, for lines that wait for a disk that accepts nothing. If it is exceeded, the program is ended.
const WAITING: usize = 16 << 20;
/// The wait before another attempt to write after an error.
const AGAIN: Duration = Duration::from_millis(100);

/// The journal of one holder of a run. It begins with the reports of earlier holders, so only the latest counts. It
/// is deleted when the run is complete.
pub(super) struct Journal {
    path: PathBuf,
    file: File,
    /// Lines that are not on the disk yet, the last error, and the time of the next attempt.
    waiting: Vec<u8>,
    refused: Option<io::Error>,
    again: Instant,
    ended: bool,
}

impl Journal {
    /// Opens this holder's journal. Adds the reports of earlier sessions to `told`, and records another start, unless
    /// the program has ended successfully.
    pub(super) fn open(
        run: &ClaimedRun<ProgramSpec>,
        recipe: &ProgramRecipe,
        reported: &mut ReportedMetrics,
    ) -> Result<Self> {
        let before = run.generations(NAME)?;
        let ended = match before.last() {
            Some(latest) => read(latest, recipe, reported).map_err(Error::io("read", latest))?,
            None => false,
        };
        if ended {
            reported.settle();
        }
        let mut text: String = reported.lines().iter().map(line).collect();
        if !ended {
            reported.start_again();
        }
        text.push_str(if ended { END } else { START });
        text.push('\n');
        let path = run.place_own(NAME, text)?;
        for older in before.iter().filter(|older| **older != path) {
            // Only the latest counts, so an older one that cannot be deleted does no harm.
            let _ = fs::remove_file(older);
        }
        let file = File::options().append(true).open(&path).map_err(Error::io("open", &path))?;
        let again = Instant::now();
        Ok(Self { path, file, waiting: Vec::new(), refused: None, again, ended })
    }

    /// Returns whether the program has ended successfully, so that only its results remain to be written.
    pub(super) fn has_ended(&self) -> bool {
        self.ended
    }

    /// Records the measures of a line.
    ///
    /// # Errors
    ///
    /// Returns an error if the disk has accepted nothing for so long that more than [`WAITING`] bytes are waiting.
    pub(super) fn note(&mut self, reported: &Measures) -> Result<()> {
        self.waiting.extend_from_slice(line(reported).as_bytes());
        self.write();
        match self.refused.take_if(|_| self.waiting.len() > WAITING) {
            Some(refused) => Err(Error::io("write", &self.path)(refused)),
            None => Ok(()),
        }
    }

    /// Writes the waiting lines, as far as the disk accepts them.
    pub(super) fn write(&mut self) {
        if self.refused.is_some() && Instant::now() < self.again {
            return;
        }
        while !self.waiting.is_empty() {
            match self.file.write(&self.waiting) {
                Ok(count) => {
                    self.waiting.drain(..count);
                    self.refused = None;
                }
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => {
                    (self.refused, self.again) = (Some(error), Instant::now() + AGAIN);
                    return;
                }
            }
        }
    }

    /// Records that the program has ended successfully.
    pub(super) fn end(&mut self) {
        self.waiting.extend_from_slice(END.as_bytes());
        self.waiting.push(b'\n');
        self.write();
    }

    /// Deletes the journals of a run, which are no longer needed.
    pub(super) fn forget(run: &ClaimedRun<ProgramSpec>) {
        for path in run.generations(NAME).unwrap_or_default() {
            // A journal that cannot be deleted does no harm.
            let _ = fs::remove_file(path);
        }
    }
}

/// Adds the reports in a journal to `told`. Returns whether the program has ended successfully.
fn read(path: &Path, recipe: &ProgramRecipe, reported: &mut ReportedMetrics) -> io::Result<bool> {
    // A journal is JSON, whatever the program prints.
    let reader = LineReader::of(&ProgramRecipe { read: Vec::new(), ..recipe.clone() });
    let mut ended = false;
    for_each_line(BufReader::new(File::open(path)?), |line| match line {
        START => reported.start_again(),
        END => ended = true,
        _ => {
            // A line that was cut off contains no report.
            if let Ok(Some(measures)) = reader.read(line) {
                reported.hear(measures);
            }
        }
    })?;
    Ok(ended)
}

/// Returns the journal's line for some measures.
fn line(reported: &Measures) -> String {
    let value = |reading: &Reading| match reading {
        Reading::Number(value) => match serde_json::Number::from_f64(*value) {
            Some(number) => Value::Number(number),
            None => Value::from(value.to_string()),
        },
        Reading::Other(text) => serde_json::from_str(text).unwrap_or_else(|_| text.as_str().into()),
    };
    let line: Map<String, Value> =
        reported.iter().map(|(name, reading)| (name.clone(), value(reading))).collect();
    format!("{}\n", Value::Object(line))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::runs::RunFolder;
    use crate::runs::examples::{claim, die, folder};

    /// A run that is killed before each new opening of the journal.
    struct Killed {
        parent: tempfile::TempDir,
        folder: RunFolder,
        spec: ProgramSpec,
        run: Option<ClaimedRun<ProgramSpec>>,
    }

    impl Killed {
        fn new() -> Self {
            let parent = tempfile::tempdir().unwrap();
            let (folder, spec) = folder(parent.path());
            Self { parent, folder, spec, run: None }
        }

        fn open(&mut self) -> (ReportedMetrics, Journal) {
            if let Some(run) = self.run.take() {
                die(run);
            }
            let run = self.run.insert(claim(&self.folder, &self.spec));
            let recipe = recipe();
            let mut reported = ReportedMetrics::of(recipe.required());
            let journal = Journal::open(run, &recipe, &mut reported).unwrap();
            (reported, journal)
        }

        fn names(&self) -> Vec<String> {
            let entries = fs::read_dir(self.folder.path()).unwrap();
            let names = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap());
            names.filter(|name| name.starts_with("told")).collect()
        }
    }

    fn recipe() -> ProgramRecipe {
        ProgramRecipe::new("train", "last")
    }

    fn tell(journal: &mut Journal, reported: &mut ReportedMetrics, line: &str) {
        let measures = LineReader::of(&recipe()).read(line).unwrap().unwrap();
        journal.note(&measures).unwrap();
        reported.hear(measures);
    }

    #[test]
    fn what_was_told_is_there_after_a_kill() {
        let mut killed = Killed::new();
        let (mut reported, mut journal) = killed.open();
        for line in [
            r#"{"epoch": 1, "loss": 0.1}"#,
            r#"{"epoch": 2, "loss": -Infinity, "x": NaN, "last": null}"#,
        ] {
            tell(&mut journal, &mut reported, line);
        }
        journal.waiting.extend_from_slice(b"{\"epoch\": 3, \"lo");
        journal.write();
        let (mut again, mut journal) = killed.open();
        assert_eq!(format!("{:?}", again.epochs()), format!("{:?}", reported.epochs()));
        assert_eq!(again.missing(), Some(("last", "null")));
        tell(&mut journal, &mut again, r#"{"epoch": 2, "loss": 0.5}"#);
        assert_eq!(killed.open().0.epochs(), again.epochs());
        assert_eq!(again.epochs().len(), 2);
        assert_eq!(killed.names(), ["told-0003.jsonl"]);
        Journal::forget(killed.run.as_ref().unwrap());
        assert!(killed.open().0.epochs().is_empty());
        assert!(killed.parent.path().is_dir());
    }

    #[test]
    fn what_a_holder_writes_that_was_taken_over_is_not_in_its_successors_record() {
        let mut killed = Killed::new();
        // The file name and content are those of an earlier version.
        fs::write(killed.folder.file("told.jsonl"), "\nstart\n{\"loss\": 3}\n").unwrap();
        let (mut reported, mut journal) = killed.open();
        tell(&mut journal, &mut reported, r#"{"epoch": 2, "loss": 1}"#);
        let (successor, _) = killed.open();
        tell(&mut journal, &mut reported, r#"{"epoch": 3, "loss": 0.5}"#);
        assert_eq!(killed.open().0.epochs(), successor.epochs());
        let losses: Vec<_> = successor.epochs().iter().map(|epoch| epoch.get("loss")).collect();
        assert_eq!(losses, [Some(3.0), Some(1.0)]);
    }

    #[test]
    fn a_program_that_has_ended_well_is_known_to_have() {
        let mut killed = Killed::new();
        let (mut reported, mut journal) = killed.open();
        tell(&mut journal, &mut reported, r#"{"epoch": 1, "loss": 3}"#);
        drop(journal);
        let (_, mut journal) = killed.open();
        // The program began anew, without epochs.
        tell(&mut journal, &mut reported, r#"{"loss": 2}"#);
        assert!(!journal.has_ended());
        journal.end();
        for _ in 0..2 {
            let (reported, journal) = killed.open();
            assert!(journal.has_ended());
            let losses: Vec<_> = reported.epochs().iter().map(|epoch| epoch.get("loss")).collect();
            assert_eq!(losses, [Some(2.0)]);
        }
    }

    /// Writes to `/dev/full` fail as on a full disk.
    #[cfg(target_os = "linux")]
    #[test]
    fn what_a_full_disk_does_not_take_is_written_once_it_has_room() {
        let mut killed = Killed::new();
        let (mut reported, mut journal) = killed.open();
        let full = File::options().write(true).open("/dev/full").unwrap();
        let disk = std::mem::replace(&mut journal.file, full);
        for epoch in 1..=3 {
            tell(&mut journal, &mut reported, &format!("{{\"epoch\": {epoch}, \"loss\": 1}}"));
        }
        assert!(killed.open().0.epochs().is_empty(), "none of it is on the disk");
        let mut killed = Killed::new();
        let (_, other) = killed.open();
        (journal.file, journal.again) = (other.file, Instant::now());
        journal.write();
        assert_eq!(killed.open().0.epochs(), reported.epochs());
        drop(disk);
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn no_more_waits_for_a_full_disk_than_memory_has_room_for() {
        let mut killed = Killed::new();
        let (_, mut journal) = killed.open();
        journal.file = File::options().write(true).open("/dev/full").unwrap();
        let much: Measures =
            (0..20_000).map(|name| (format!("loss{name}"), Reading::Number(0.125))).collect();
        let refused = (0..1_000).find_map(|_| journal.note(&much).err()).unwrap();
        assert!(refused.to_string().contains("No space left"), "{refused}");
        assert!(journal.waiting.len() < 2 * WAITING);
    }
}
