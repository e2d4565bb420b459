//! Digests of file contents.

use super::names::{Name, find_program};
use super::{Files, python};
use crate::{Error, Result};
use sha2::{Digest, Sha256};
use std::collections::HashMap;
use std::fs::File;
use std::io::{self, ErrorKind, Read};
use std::path::{Path, PathBuf};

/// The size in bytes above which a data file is identified by its size and modification time.
const LARGE: u64 = 64_000_000;
/// The text between size and time.
const CHANGED: &str = " bytes, changed ";

/// A cache of digests.
#[derive(Default)]
pub(super) struct Digests(HashMap<PathBuf, String>);

impl Digests {
    /// Returns the digest of a file or, if the file is large, its size and modification time.
    ///
    /// # Errors
    ///
    /// Returns an error if the file cannot be read.
    pub(super) fn of(&mut self, path: &Path) -> Result<String> {
        self.compute(path, false)
    }

    /// Returns the files to which a name in a command refers; empty if it names no file.
    ///
    /// # Errors
    ///
    /// Returns an error if a file cannot be read.
    pub(super) fn files_of(&mut self, name: &Name) -> Result<Files> {
        let mut files = Files::new();
        let scripts = match name {
            Name::Program(word) => {
                let Some(path) = find_program(word) else { return Ok(files) };
                files.insert(word.clone(), self.compute(&path, true)?);
                vec![PathBuf::from(word)]
            }
            Name::File(word) => {
                let path = PathBuf::from(word);
                if !path.is_file() {
                    return Ok(files);
                }
                files.insert(word.clone(), self.compute(&path, false)?);
                vec![path]
            }
            Name::Module(module) => python::module(Path::new(""), module),
        };
        for script in scripts.iter().filter(|script| script.is_file()) {
            let own = matches!(name, Name::Module(_)).then(|| Path::new(""));
            for path in python::closure(script, own) {
                files.entry(shown(&path)).or_insert(self.compute(&path, false)?);
            }
        }
        Ok(files)
    }

    fn compute(&mut self, path: &Path, is_program: bool) -> Result<String> {
        if let Some(known) = self.0.get(path) {
            return Ok(known.clone());
        }
        let is_large = || path.metadata().is_ok_and(|data| data.len() > LARGE);
        let content = match !is_program && is_large() {
            true => size_and_time(path),
            false => digest_of(path),
        };
        let content = content.map_err(Error::io("read", path))?;
        self.0.insert(path.to_path_buf(), content.clone());
        Ok(content)
    }
}

fn shown(path: &Path) -> String {
    path.display().to_string()
}

/// Returns the SHA-256 of a file's content, in hexadecimal. For an executable file without read permission, returns
/// its size and time.
///
/// # Errors
///
/// Returns an error if the file cannot be read.
pub(crate) fn digest_of(path: &Path) -> io::Result<String> {
    let mut file = match File::open(path) {
        Err(error) if error.kind() == ErrorKind::PermissionDenied => return size_and_time(path),
        opened => opened?,
    };
    let (mut digest, mut bytes) = (Sha256::new(), vec![0; 1 << 16]);
    loop {
        match file.read(&mut bytes) {
            Ok(0) => return Ok(digest.finalize().iter().map(|b| format!("{b:02x}")).collect()),
            Ok(count) => digest.update(&bytes[..count]),
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
}

/// Returns the identity of a large file: `81000000 bytes, changed 2026-11-29T07:00:00.5Z`.
pub(super) fn size_and_time(path: &Path) -> io::Result<String> {
    let data = path.metadata()?;
    let time = humantime::format_rfc3339_nanos(data.modified()?);
    Ok(format!("{}{CHANGED}{time}", data.len()))
}

/// Returns whether `content` is the identity of a large file.
pub(super) fn is_large(content: &str) -> bool {
    content.contains(CHANGED)
}
