use super::tables::Joined;
use super::{Digits, METRICS, RunRecord, SCORES, files, tables};
use crate::error::Place;
use crate::files::{from_json, from_toml, problem, read_bytes, read_text};
use crate::report::runs_csv;
use crate::runs::{RunSnapshot, Snapshot, record_name, records};
use crate::{Error, Result};
use serde_json::Value;
use std::io::{Cursor, Write};
use std::path::Path;
use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, DateTime, ZipWriter};

/// A packed comparison, ready to be written to a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PackedComparison {
    /// The number of packed runs.
    pub runs: usize,
    /// The number of runs that were left out because they are not over.
    pub left_out: usize,
    /// The content of the zip file.
    pub bytes: Vec<u8>,
}

/// Packs the comparison in `folder`, from which `snapshot` was read. The same folder always gives the same bytes.
/// With `digits`, rounds the numbers that scores do not depend on.
///
/// # Errors
///
/// Returns an error if a file of a run cannot be read or is damaged.
pub fn pack(
    folder: &Path,
    snapshot: &Snapshot,
    digits: Option<Digits>,
) -> Result<PackedComparison> {
    let (over, left): (Vec<&RunSnapshot>, Vec<_>) =
        snapshot.runs.iter().partition(|run| run.status.is_over());
    let mut archive = Archive { folder, writer: ZipWriter::new(Cursor::new(Vec::new())) };
    archive.add("README.txt", readme(snapshot, digits).as_bytes())?;
    let plan = folder.join("comparison.toml");
    archive.add("comparison.toml", read_text(&plan)?.unwrap_or_default().as_bytes())?;
    archive.add(SCORES, &runs_csv(snapshot))?;
    let kept: Vec<RunRecord> = over
        .iter()
        .map(|run| record(&folder.join("runs").join(&run.folder)))
        .collect::<Result<_>>()?;
    let kept = serde_json::to_vec_pretty(&kept).expect("values can be written");
    archive.add("runs.json", &kept)?;
    for table in tables() {
        let mut joined = Joined::default();
        for run in &over {
            let path = folder.join("runs").join(&run.folder).join(table);
            if let Some(bytes) = read_bytes(&path)? {
                let of_epochs = digits.filter(|_| table == METRICS);
                joined.add(&run.folder, &path, &bytes, of_epochs)?;
            }
        }
        if let Some(bytes) = joined.to_csv() {
            archive.add(table, &bytes)?;
        }
    }
    for run in &over {
        for file in files() {
            let path = folder.join("runs").join(&run.folder).join(file.name);
            if let Some(bytes) = read_bytes(&path)? {
                let bytes = match (digits, file.round) {
                    (Some(digits), Some(round)) => round(bytes, digits.get()),
                    _ => bytes,
                };
                archive.add(&format!("runs/{}/{}", run.folder, file.name), &bytes)?;
            }
        }
    }
    Ok(PackedComparison { runs: over.len(), left_out: left.len(), bytes: archive.finish()? })
}

fn readme(snapshot: &Snapshot, digits: Option<Digits>) -> String {
    let rounded = digits.map_or_else(String::new, |digits| {
        format!(
            "Scores have all their digits. Metrics of epochs that no score is read from are rounded to {digits} significant \
             digits.\n"
        )
    });
    format!(
        "{}: a comparison packed by gelu-compare.\n\n\
         runs.csv has one line per run with its scores, metrics.csv one line per run and epoch.\n{rounded}\
         `gelu-compare report FILE` shows the verdicts, and `gelu-compare unpack FILE DIR` restores the folder.\n",
        snapshot.design.title
    )
}

/// Reads the small files of a run's folder.
fn record(folder: &Path) -> Result<RunRecord> {
    let name = folder.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let path = folder.join("run.toml");
    let text = read_text(&path)?.unwrap_or_default();
    let settings =
        from_toml(&text).map_err(|problem| Error::data(&path, Place::File, problem, ""))?;
    let json = |file: &str| -> Result<Option<Value>> {
        let path = folder.join(file);
        let Some(bytes) = read_bytes(&path)? else { return Ok(None) };
        let refuse = |error| Error::data(&path, Place::File, problem(&error), "");
        from_json(&bytes).map(Some).map_err(refuse)
    };
    let mut sessions = Vec::new();
    for session in records(folder)? {
        sessions.extend(json(&record_name(session))?.map(|record| (session, record)));
    }
    Ok(RunRecord {
        run: name,
        settings,
        status: json("status.json")?.unwrap_or_default(),
        sessions,
    })
}

struct Archive<'a> {
    folder: &'a Path,
    writer: ZipWriter<Cursor<Vec<u8>>>,
}

impl Archive<'_> {
    fn add(&mut self, name: &str, bytes: &[u8]) -> Result<()> {
        // A constant date, so that the same content gives the same file.
        let options = SimpleFileOptions::default()
            .compression_method(CompressionMethod::Deflated)
            .compression_level(Some(9))
            .last_modified_time(DateTime::default());
        let added = self.writer.start_file(name, options);
        added
            .map_err(std::io::Error::from)
            .and_then(|()| self.writer.write_all(bytes))
            .map_err(Error::io("pack", self.folder))
    }

    fn finish(self) -> Result<Vec<u8>> {
        let finished = self.writer.finish().map_err(std::io::Error::from);
        finished.map(Cursor::into_inner).map_err(Error::io("pack", self.folder))
    }
}
