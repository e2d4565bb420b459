//! Checkpoints: folders with the digests of their files.

use super::canonical::hex;
use super::tables::read_metrics;
use crate::error::Place;
use crate::files::{read_text, sync, sync_folder};
use crate::measure::EpochMetrics;
use crate::{Error, Result};
use sha2::{Digest, Sha256};
use std::fs::{self, File};
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
    let mut names = Vec::new();
    for entry in fs::read_dir(folder).map_err(Error::io("list", folder))? {
        names.push(entry.map_err(Error::io("list", folder))?.file_name());
    }
    names.sort();
    for name in &names {
        let path = folder.join(name);
        let content = fs::read(&path).map_err(Error::io("read", &path))?;
        let name = name.to_str().expect("a checkpoint's files have plain names");
        sums.push_str(&format!("{}  {name}\n", hex(&Sha256::digest(content))));
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
        if hex(&Sha256::digest(content)) != sum {
            return damaged(&file, "is not what was written (its SHA-256 differs)");
        }
    }
    match sums.contains("  metrics.csv\n") {
        true => Ok(()),
        false => damaged(&path, "is cut short"),
    }
}
