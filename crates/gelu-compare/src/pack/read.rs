use super::tables::apart;
use super::{RunRecord, SCORES};
use crate::error::Place;
use crate::files::{from_json, problem, rename};
use crate::runs::record_name;
use crate::{Error, Result};
use serde_json::Value;
use std::fs::{self, File};
use std::io::{BufReader, Read};
use std::path::{Path, PathBuf};
use tempfile::TempDir;
use zip::ZipArchive;

/// The size limit of an entry of a packed comparison, in bytes.
const LARGEST_ENTRY: u64 = 1 << 30;

/// A comparison's folder. For a packed comparison it is a temporary folder, which is removed when this value is
/// dropped.
#[derive(Debug)]
pub struct OpenComparison {
    path: PathBuf,
    unpacked: Option<TempDir>,
}

impl OpenComparison {
    /// Returns the folder.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Returns whether the comparison is packed. If so, what you write to [`path`](Self::path) is lost.
    pub fn is_packed(&self) -> bool {
        self.unpacked.is_some()
    }
}

/// Returns the comparison's folder at `path`. If `path` is a packed comparison, unpacks it into a temporary folder.
///
/// # Errors
///
/// Returns the errors of [`unpack`].
pub fn open(path: &Path) -> Result<OpenComparison> {
    if !path.is_file() {
        return Ok(OpenComparison { path: path.to_path_buf(), unpacked: None });
    }
    let scratch = TempDir::new().map_err(Error::io("create a folder in", &std::env::temp_dir()))?;
    let folder = scratch.path().join(path.file_stem().unwrap_or_default());
    fill(path, &folder)?;
    Ok(OpenComparison { path: folder, unpacked: Some(scratch) })
}

/// Returns whether `path` is a file with a packed comparison.
pub(crate) fn is_packed(path: &Path) -> bool {
    path.is_file()
        && Archive::open(path)
            .and_then(|mut archive| archive.entry("runs.json"))
            .is_ok_and(|runs| runs.is_some())
}

/// Returns the table of scores from the packed comparison at `path`, with one line per run, or `None` if `path` is
/// not a packed comparison.
///
/// # Errors
///
/// Returns an error if the file is damaged.
pub fn scores(path: &Path) -> Result<Option<Vec<u8>>> {
    if !is_packed(path) {
        return Ok(None);
    }
    Archive::open(path)?.entry(SCORES)
}

/// Restores the folder of a packed comparison. `folder` must not exist; it appears whole or not at all.
///
/// # Errors
///
/// Returns an error if `folder` exists, if `file` is not a packed comparison or is damaged, or if writing fails.
pub fn unpack(file: &Path, folder: &Path) -> Result<()> {
    if folder.exists() {
        let problem = "exists already; a packed comparison is unpacked into a new folder";
        return Err(Error::data(folder, Place::File, problem, "name another folder"));
    }
    let parent =
        folder.parent().filter(|path| !path.as_os_str().is_empty()).unwrap_or(Path::new("."));
    fs::create_dir_all(parent).map_err(Error::io("create the folder", parent))?;
    let scratch = tempfile::Builder::new().prefix(".unpacking-").tempdir_in(parent);
    let scratch = scratch.map_err(Error::io("create a folder in", parent))?;
    let whole = scratch.path().join("whole");
    fill(file, &whole)?;
    rename(&whole, folder).map_err(Error::io("put in place", folder))
}

fn fill(file: &Path, folder: &Path) -> Result<()> {
    let mut archive = Archive::open(file)?;
    let plan = archive.entry("comparison.toml")?;
    let records = archive.entry("runs.json")?;
    let (Some(plan), Some(records)) = (plan, records) else {
        let advice = "name a file that `gelu-compare pack` wrote, or a comparison's folder";
        return Err(Error::data(file, Place::File, "is not a packed comparison", advice));
    };
    let runs = folder.join("runs");
    fs::create_dir_all(&runs).map_err(Error::io("create the folder", &runs))?;
    write(&folder.join("comparison.toml"), &plan)?;
    let refuse = |problem: String| {
        let path = file.join("runs.json");
        Error::data(path, Place::File, problem, "pack the comparison again")
    };
    let records: Vec<RunRecord> = from_json(&records).map_err(|error| refuse(problem(&error)))?;
    for record in &records {
        if !is_file_name(&record.run) {
            return Err(refuse(format!("`{}` cannot be the name of a run's folder", record.run)));
        }
        let path = runs.join(&record.run);
        fs::create_dir(&path).map_err(Error::io("create the folder", &path))?;
        let settings =
            toml::to_string(&record.settings).map_err(|error| refuse(problem(&error)))?;
        write(&path.join("run.toml"), settings.as_bytes())?;
        write_json(&path.join("status.json"), &record.status)?;
        for (session, provenance) in &record.sessions {
            write_json(&path.join(record_name(*session)), provenance)?;
        }
        let prefix = format!("runs/{}/", record.run);
        for name in archive.names(|name| name.strip_prefix(&prefix)) {
            let bytes = archive.entry(&format!("{prefix}{name}"))?.unwrap_or_default();
            write(&path.join(name), &bytes)?;
        }
    }
    for table in archive.names(|name| (name.ends_with(".csv") && name != SCORES).then_some(name)) {
        let bytes = archive.entry(&table)?.unwrap_or_default();
        for (run, bytes) in apart(&file.join(&table), &bytes)? {
            if !records.iter().any(|record| record.run == run) {
                let problem = format!("has lines of `{run}`, which runs.json does not list");
                return Err(Error::data(file.join(&table), Place::File, problem, "pack it again"));
            }
            write(&runs.join(run).join(&table), &bytes)?;
        }
    }
    Ok(())
}

/// Returns whether a name from an untrusted file is safe as the name of a file or folder.
fn is_file_name(name: &str) -> bool {
    let allowed = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
    !name.is_empty() && name.len() <= 255 && !name.starts_with('.') && name.chars().all(allowed)
}

fn write_json(path: &Path, value: &Value) -> Result<()> {
    write(path, &serde_json::to_vec_pretty(value).expect("a value can be written"))
}

fn write(path: &Path, bytes: &[u8]) -> Result<()> {
    fs::write(path, bytes).map_err(Error::io("write", path))
}

struct Archive<'a> {
    path: &'a Path,
    entries: ZipArchive<BufReader<File>>,
}

impl<'a> Archive<'a> {
    fn open(path: &'a Path) -> Result<Self> {
        let file = File::open(path).map_err(Error::io("read", path))?;
        let entries = ZipArchive::new(BufReader::new(file)).map_err(|error| {
            let problem = format!("is not a packed comparison ({})", problem(&error));
            let advice = "name a file that `gelu-compare pack` wrote, or a comparison's folder";
            Error::data(path, Place::File, problem, advice)
        })?;
        Ok(Self { path, entries })
    }

    /// Applies `part` to the names of all entries and returns the results that are safe file names.
    fn names(&self, part: impl Fn(&str) -> Option<&str>) -> Vec<String> {
        let names = self.entries.file_names().filter_map(Result::ok);
        let names = names.filter_map(|name| part(&name).map(str::to_owned));
        names.filter(|name| is_file_name(name)).collect()
    }

    /// Returns the content of an entry, or `None` if there is no entry of that name.
    fn entry(&mut self, name: &str) -> Result<Option<Vec<u8>>> {
        let place = self.path.join(name);
        let refuse =
            |problem: String| Error::data(&place, Place::File, problem, "get the file again");
        let entry = match self.entries.by_name(name) {
            Ok(entry) => entry,
            Err(zip::result::ZipError::FileNotFound) => return Ok(None),
            Err(error) => return Err(refuse(problem(&error))),
        };
        let mut bytes = Vec::new();
        entry
            .take(LARGEST_ENTRY + 1)
            .read_to_end(&mut bytes)
            .map_err(|error| refuse(problem(&error)))?;
        match bytes.len() as u64 <= LARGEST_ENTRY {
            true => Ok(Some(bytes)),
            false => Err(refuse(format!("is larger than {} MiB", LARGEST_ENTRY >> 20))),
        }
    }
}
