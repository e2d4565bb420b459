use crate::{Error, Result};
use sha2::{Digest, Sha256};
use std::fs::{self, File};
use std::io::{BufReader, Read};
use std::path::{Path, PathBuf};

/// The depth to which folders are read; no data set is deeper.
const DEPTH: usize = 8;

/// Returns the folder of the cache: `$GELU_CACHE`, or `gelu` in the user's cache folder; `None` if there is neither.
pub fn folder() -> Option<PathBuf> {
    match std::env::var_os("GELU_CACHE").filter(|value| !value.is_empty()) {
        Some(folder) => Some(folder.into()),
        // Unit tests must not touch the developer's home folder.
        None if cfg!(test) => None,
        None => dirs::cache_dir().map(|folder| folder.join("gelu")),
    }
}

/// A digest of everything that cached data depend on.
#[derive(Clone, Debug)]
pub struct Key {
    kind: &'static str,
    digest: Sha256,
}

impl Key {
    /// Creates the key of cached data. `version` is that of the code that computes them; increase it when the code
    /// computes something else.
    pub fn new(kind: &'static str, version: u32) -> Self {
        Self { kind, digest: Sha256::new() }.with(kind.as_bytes()).with(&version.to_le_bytes())
    }

    /// Adds bytes that the data depend on.
    pub fn with(mut self, bytes: &[u8]) -> Self {
        self.digest.update((bytes.len() as u64).to_le_bytes());
        self.digest.update(bytes);
        self
    }

    /// Adds every file below `folder`, except hidden ones: names and contents.
    ///
    /// # Errors
    ///
    /// If a file or folder there cannot be read.
    pub fn with_files(mut self, folder: &Path) -> Result<Self> {
        self.add_files(folder, folder, DEPTH)?;
        Ok(self)
    }

    fn add_files(&mut self, root: &Path, folder: &Path, depth: usize) -> Result<()> {
        let mut paths = Vec::new();
        for entry in fs::read_dir(folder).map_err(Error::io("list", folder))? {
            let entry = entry.map_err(Error::io("list", folder))?;
            if !entry.file_name().as_encoded_bytes().starts_with(b".") {
                paths.push(entry.path());
            }
        }
        paths.sort();
        for path in paths {
            if path.is_dir() {
                if depth > 0 {
                    self.add_files(root, &path, depth - 1)?;
                }
            } else if path.is_file() {
                let name = path.strip_prefix(root).unwrap_or(&path);
                self.digest.update(name.as_os_str().as_encoded_bytes());
                self.digest.update([0]);
                let length = self.add_content(&path).map_err(Error::io("read", &path))?;
                self.digest.update(length.to_le_bytes());
            }
        }
        Ok(())
    }

    fn add_content(&mut self, path: &Path) -> std::io::Result<u64> {
        let mut file = BufReader::with_capacity(1 << 16, File::open(path)?);
        let (mut buffer, mut length) = ([0; 1 << 14], 0);
        loop {
            let read = file.read(&mut buffer)?;
            if read == 0 {
                return Ok(length);
            }
            self.digest.update(&buffer[..read]);
            length += read as u64;
        }
    }

    /// Returns the name of the file in the cache.
    pub(crate) fn file_name(&self) -> String {
        let digest = self.digest.clone().finalize();
        let digits: String = digest[..DIGEST].iter().map(|byte| format!("{byte:02x}")).collect();
        format!("{}-{digits}{EXTENSION}", self.kind)
    }
}

/// Bytes of the digest in a file's name.
const DIGEST: usize = 16;
const EXTENSION: &str = ".msgpack";

/// Returns whether `name` can be that of a file in the cache.
pub(super) fn is_file_name(name: &str) -> bool {
    let parts = name.strip_suffix(EXTENSION).and_then(|stem| stem.rsplit_once('-'));
    parts.is_some_and(|(kind, digits)| {
        let of_kind = |c: char| c.is_ascii_alphanumeric() || c == '-';
        !kind.is_empty()
            && kind.chars().all(of_kind)
            && digits.len() == 2 * DIGEST
            && digits.chars().all(|c| c.is_ascii_hexdigit())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_changes_with_content_and_name_of_any_file() {
        let folder = tempfile::tempdir().unwrap();
        let inner = folder.path().join("inner");
        fs::create_dir(&inner).unwrap();
        let name = || Key::new("x", 1).with_files(folder.path()).unwrap().file_name();
        let mut seen = vec![name()];
        fs::write(inner.join("a"), "12").unwrap();
        seen.push(name());
        fs::write(inner.join("a"), "13").unwrap();
        seen.push(name());
        fs::rename(inner.join("a"), inner.join("b")).unwrap();
        seen.push(name());
        fs::rename(inner.join("b"), folder.path().join("b")).unwrap();
        seen.push(name());
        assert_eq!(name(), *seen.last().unwrap());
        seen.sort();
        seen.dedup();
        assert_eq!(seen.len(), 5);
    }

    #[test]
    fn missing_folder_is_an_error_that_names_it() {
        let error = Key::new("x", 1).with_files(Path::new("/no/such/folder")).unwrap_err();
        assert!(error.to_string().contains("/no/such/folder"), "{error}");
    }
}
