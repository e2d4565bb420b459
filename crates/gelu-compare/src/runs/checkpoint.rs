//! Checkpoints: folders with the digests of their files.

use super::canonical::hex;
use super::tables::read_metrics;
use crate::error::Place;
use crate::files::{read_text, sync, sync_folder};
use crate::measure::EpochMetrics;
use crate::{Error, Result};
use sha2::{Digest, Sha256};
use std::collections::HashSet;
use std::ffi::{OsStr, OsString};
use std::fs::{self, File};
use std::io::{self, ErrorKind, Write};
use std::path::{Path, PathBuf};

/// The file with the digests of the other files, in the format of the tool `sha256sum`.
const SUMS: &str = "SHA256SUMS";

/// A complete checkpoint on disk.
#[derive(Clone, Debug, PartialEq)]
pub struct Checkpoint {
    /// The checkpoint's folder.
    pub path: PathBuf,
    /// The epoch after which the checkpoint was written.
    pub epoch: usize,
    /// The metrics up to and including that epoch.
    pub metrics: Vec<EpochMetrics>,
}

impl Checkpoint {
    /// Reads and checks the checkpoint of an epoch.
    ///
    /// # Errors
    ///
    /// Returns an error if a file is missing, unreadable or changed.
    pub(super) fn read(run: &Path, epoch: usize) -> Result<Self> {
        let path = run.join(name(epoch));
        check_sums(&path)?;
        let file = path.join("metrics.csv");
        let metrics = read_metrics(&file)?;
        match metrics.len() == epoch {
            true => Ok(Self { path, epoch, metrics }),
            false => {
                let problem = format!("holds {} epochs, not {epoch}", metrics.len());
                Err(Error::data(file, Place::File, problem, ""))
            }
        }
    }
}

/// Returns the name of the folder for an epoch's checkpoint.
pub(super) fn name(epoch: usize) -> String {
    format!("checkpoint-{epoch:04}")
}

/// Returns the epochs that have a checkpoint, the newest first.
pub(super) fn epochs(run: &Path) -> Result<Vec<usize>> {
    let mut epochs = Vec::new();
    for entry in fs::read_dir(run).map_err(Error::io("list", run))? {
        let name = entry.map_err(Error::io("list", run))?.file_name();
        let epoch = name.to_str().and_then(|name| name.strip_prefix("checkpoint-"));
        epochs.extend(epoch.and_then(|digits| digits.parse::<usize>().ok()));
    }
    epochs.sort_unstable_by(|a, b| b.cmp(a));
    Ok(epochs)
}

/// Writes the digests of a folder's files, and waits until all files are on the disk.
pub(super) fn seal(folder: &Path) -> Result<()> {
    let mut sums = String::new();
    let mut names = names(folder)?;
    names.sort();
    for name in &names {
        let path = folder.join(name);
        let content = fs::read(&path).map_err(Error::io("read", &path))?;
        let name = name.to_str().expect("a checkpoint's files have plain names");
        sums.push_str(&format!("{}  {name}\n", digest(&content)));
    }
    let path = folder.join(SUMS);
    fs::write(&path, sums).map_err(Error::io("write", &path))?;
    for path in names.iter().map(|name| folder.join(name)).chain([path]) {
        // Windows can only sync a file that is open for writing.
        let file = File::options().write(true).open(&path).map_err(Error::io("open", &path))?;
        sync(&file, &path)?;
    }
    sync_folder(folder)
}

/// Makes the folder a checkpoint of these files with their digests, whether it exists or not, and waits until all are
/// on the disk. Files that exist are overwritten where they are, because a file system takes longer to make one anew.
pub(super) fn overwrite(folder: &Path, mut files: Vec<(&str, &[u8])>) -> Result<()> {
    let mut others = HashSet::new();
    match fs::create_dir(folder) {
        Err(error) if error.kind() == ErrorKind::AlreadyExists => others.extend(names(folder)?),
        made => made.map_err(Error::io("create the folder", folder))?,
    }
    files.sort_unstable();
    let line = |(name, content): &(&str, &[u8])| format!("{}  {name}\n", digest(content));
    let sums: String = files.iter().map(line).collect();
    let (mut same_names, mut written) = (!others.is_empty(), Vec::with_capacity(files.len() + 1));
    for (name, content) in files.into_iter().chain([(SUMS, sums.as_bytes())]) {
        same_names &= others.remove(OsStr::new(name));
        let path = folder.join(name);
        let write = || -> io::Result<File> {
            let mut file = File::options().write(true).create(true).truncate(false).open(&path)?;
            if file.metadata()?.len() > content.len() as u64 {
                file.set_len(content.len() as u64)?;
            }
            file.write_all(content)?;
            Ok(file)
        };
        let file = write().map_err(Error::io("write", &path))?;
        written.push((file, path));
    }
    same_names &= others.is_empty();
    for path in others.into_iter().map(|name| folder.join(name)) {
        fs::remove_file(&path).map_err(Error::io("remove", path))?;
    }
    written.iter().try_for_each(|(file, path)| sync(file, path))?;
    if same_names { Ok(()) } else { sync_folder(folder) }
}

fn names(folder: &Path) -> Result<Vec<OsString>> {
    let entries = fs::read_dir(folder).map_err(Error::io("list", folder))?;
    let name = |entry: io::Result<fs::DirEntry>| Ok(entry?.file_name());
    entries.map(name).collect::<io::Result<_>>().map_err(Error::io("list", folder))
}

fn digest(content: &[u8]) -> String {
    hex(&Sha256::digest(content))
}

fn check_sums(folder: &Path) -> Result<()> {
    let path = folder.join(SUMS);
    let damaged = |path: &Path, problem: &str| Err(Error::data(path, Place::File, problem, ""));
    let Some(sums) = read_text(&path)? else { return damaged(&path, "is missing") };
    for line in sums.lines() {
        let Some((sum, name)) = line.split_once("  ") else {
            return damaged(&path, "is not a list of digests");
        };
        if crate::names::check_file_name("the file", name).is_err() {
            return damaged(&path, "names a file that no checkpoint has");
        }
        let file = folder.join(name);
        let content = fs::read(&file).map_err(Error::io("read", &file))?;
        if digest(&content) != sum {
            return damaged(&file, "is not what was written (its SHA-256 differs)");
        }
    }
    match sums.contains("  metrics.csv\n") {
        true => Ok(()),
        false => damaged(&path, "is cut short"),
    }
}
