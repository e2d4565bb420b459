//! Reads data files and lists folders, for all readers.

use crate::{Error, Result};
use flate2::read::MultiGzDecoder;
use gelu_compare::error::Place;
use std::fs::File;
use std::io::{BufReader, Read};
use std::path::Path;

/// Advice for a damaged file.
pub(super) const AGAIN: &str = "fetch or copy it again";

/// The largest size of a data file, in bytes. The reader refuses a file that unpacks to more, without unpacking it.
const LARGEST_FILE: u64 = 1 << 30;

/// Reads a file, and unpacks it if it is gzipped.
///
/// # Errors
///
/// If the file cannot be read, its compressed stream is damaged, or it is too large.
pub(super) fn read_bytes(path: &Path) -> Result<Vec<u8>> {
    let mut start = [0; 2];
    let mut file = File::open(path).map_err(Error::io("open", path))?;
    let read = file.read(&mut start).map_err(Error::io("read", path))?;
    let length = file.metadata().map_err(Error::io("read", path))?.len();
    let too_large = || {
        let advice = "this program reads no larger file: make it smaller, with fewer rows, columns or images";
        Err(Error::data(path, Place::File, "holds more than 1 GiB", advice))
    };
    if length > LARGEST_FILE {
        return too_large();
    }
    let rewound = start[..read].chain(BufReader::new(file));
    let mut bytes = Vec::new();
    let result = match start == [0x1f, 0x8b] {
        true => MultiGzDecoder::new(rewound).take(LARGEST_FILE + 1).read_to_end(&mut bytes),
        false => rewound.take(LARGEST_FILE + 1).read_to_end(&mut bytes),
    };
    if let Err(error) = result {
        if start != [0x1f, 0x8b] {
            return Err(Error::io("read", path)(error));
        }
        let read = bytes.len();
        let problem =
            format!("the compressed stream is damaged, {read} bytes were unpacked: {error}");
        return Err(Error::data(path, Place::File, problem, AGAIN));
    }
    match (bytes.len() as u64, bytes.is_empty()) {
        (_, true) => Err(Error::data(path, Place::File, "is empty", AGAIN)),
        (length, _) if length > LARGEST_FILE => too_large(),
        _ => Ok(bytes),
    }
}

/// Returns the names of the folders or of the files in a folder, sorted, without hidden ones.
pub(super) fn entries(folder: &Path, folders: bool) -> Result<Vec<String>> {
    let mut names = Vec::new();
    for entry in std::fs::read_dir(folder).map_err(Error::io("list", folder))? {
        let entry = entry.map_err(Error::io("list", folder))?;
        let name = entry.file_name().to_string_lossy().into_owned();
        if !name.starts_with('.') && entry.path().is_dir() == folders {
            names.push(name);
        }
    }
    names.sort();
    Ok(names)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The message does not advise to copy the file again, and the file is not read.
    #[test]
    fn a_file_that_is_too_large_is_said_to_be() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("large.csv");
        File::create(&path).unwrap().set_len(LARGEST_FILE + 1).unwrap();
        let error = read_bytes(&path).unwrap_err().to_string();
        assert!(
            error.contains("holds more than 1 GiB") && error.contains("make it smaller"),
            "{error}"
        );
    }
}
