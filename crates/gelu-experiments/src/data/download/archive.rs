use crate::{Error, Result};
use flate2::read::MultiGzDecoder;
use gelu_compare::error::Place;
use gelu_compare::files::{rename, sync, sync_folder};
use sha2::{Digest, Sha256};
use std::fs::{self, File};
use std::io::Read;
use std::path::{Path, PathBuf};

/// The largest size of unpacked files, in bytes; every data set is smaller.
const LARGEST: u64 = 1 << 30;

/// The files to take out of a `.tar.gz`: those of one folder with one extension. Unpacking skips all other entries,
/// and paths that lead out of the folder.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Archive {
    /// Name of the folder, at any depth in the archive, and of the unpacked folder.
    pub folder: &'static str,
    /// Extension of the files.
    pub extension: &'static str,
    /// The SHA-256 of the output of `sha256sum *` in the folder, if the archive has no published digest.
    pub digest: Option<&'static str>,
}

impl Archive {
    /// Returns whether the folder exists. A finished folder is moved into place, so it is always complete.
    pub(super) fn is_unpacked(&self, folder: &Path) -> bool {
        folder.join(self.folder).is_dir()
    }

    /// Unpacks a `.tar.gz`.
    ///
    /// # Errors
    ///
    /// If the archive is damaged or contains other files than it should, or the files cannot be written. Nothing
    /// remains on disk then.
    pub(super) fn unpack(&self, packed: &Path, folder: &Path) -> Result<()> {
        let scratch = tempfile::Builder::new()
            .prefix(".unpacking-")
            .tempdir_in(folder)
            .map_err(Error::io("create a folder in", folder))?;
        let target = scratch.path().join(self.folder);
        fs::create_dir(&target).map_err(Error::io("create the folder", &target))?;
        self.extract(packed, &target)?;
        let found = digest(&target)?;
        if self.digest.is_some_and(|digest| digest != found) {
            let problem = format!("holds other files than expected (their SHA-256 is {found})");
            return Err(Error::data(packed, Place::File, problem, ""));
        }
        sync_folder(&target)?;
        let place = folder.join(self.folder);
        rename(&target, &place).map_err(Error::io("put in place", &place))?;
        sync_folder(folder)
    }

    fn extract(&self, packed: &Path, target: &Path) -> Result<()> {
        let damaged = |error: std::io::Error| {
            Error::data(packed, Place::File, format!("is a damaged archive: {error}"), "")
        };
        let file = File::open(packed).map_err(Error::io("open", packed))?;
        let mut archive = tar::Archive::new(MultiGzDecoder::new(file).take(LARGEST));
        for entry in archive.entries().map_err(damaged)? {
            let mut entry = entry.map_err(damaged)?;
            let path = entry.path().map_err(damaged)?.into_owned();
            if let Some(name) = self.wanted(&path).filter(|_| entry.header().entry_type().is_file())
            {
                let path = target.join(name);
                let mut file = File::create(&path).map_err(Error::io("create", &path))?;
                std::io::copy(&mut entry, &mut file).map_err(Error::io("unpack", &path))?;
                // An existing folder counts as complete, even after a power cut, so sync the files.
                sync(&file, &path)?;
            }
        }
        Ok(())
    }

    /// Returns the file name of an entry that belongs to the folder.
    fn wanted(&self, path: &Path) -> Option<PathBuf> {
        let parent = path.parent()?.file_name()?;
        let right = parent == self.folder && path.extension()? == self.extension;
        right.then(|| path.file_name().map(PathBuf::from)).flatten()
    }
}

/// Returns the SHA-256 of the lines that `sha256sum *` prints in a folder.
fn digest(folder: &Path) -> Result<String> {
    let entries = fs::read_dir(folder).map_err(Error::io("list", folder))?;
    let mut paths = Vec::new();
    for entry in entries {
        paths.push(entry.map_err(Error::io("list", folder))?.path());
    }
    paths.sort();
    let hex = |bytes: &[u8]| bytes.iter().map(|byte| format!("{byte:02x}")).collect::<String>();
    let mut whole = Sha256::new();
    for path in paths {
        let content = fs::read(&path).map_err(Error::io("read", &path))?;
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        whole.update(format!("{}  {name}\n", hex(&Sha256::digest(content))));
    }
    Ok(hex(&whole.finalize()))
}
