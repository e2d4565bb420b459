//! All that the program of a run prints, kept in the run's folder: in segments while the program runs, compressed once it
//! has ended. The first segments stay, and of the others the last, so that neither the beginning nor the end is lost.

mod read;

pub(super) use read::Sessions;
pub(crate) use read::has_output;

use super::StudyRun;
use crate::files::{remove_folder, rename};
use crate::output::complain;
use crate::runs::ClaimedRun;
use crate::{Error, Result};
use flate2::{Compression, GzBuilder};
use read::copy_segments;
use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// The name of a session's segments, and of what they become.
const FOLDER: &str = "output";
const COMPRESSED: &str = "output.txt.gz";
/// What is kept of a session's output where nothing else was asked for, in bytes.
pub(super) const LIMIT: u64 = 64_000_000;
/// Into how many segments that is divided: so many at the beginning, and so many at the end, of which the last is not full.
const FIRST: u64 = 4;
const LAST: u64 = 4;

/// The output of a program that is running. It is compressed when this is dropped.
pub(super) struct Transcript {
    folder: PathBuf,
    compressed: PathBuf,
    /// Bytes of a segment.
    size: u64,
    file: Option<File>,
    /// What was printed so far, in bytes.
    printed: u64,
    /// A disk that refuses it once is not asked again: a log must not end the run that it is of.
    refused: bool,
}

impl Transcript {
    /// Begins the output of this session, which keeps `limit` bytes of it. What earlier sessions left is compressed first.
    ///
    /// # Errors
    ///
    /// When the run's folder cannot be listed.
    pub(super) fn begin(run: &ClaimedRun<StudyRun>, limit: u64) -> Result<Self> {
        for left in run.generations(FOLDER)? {
            compress(&left, &compressed_name(&left), limit);
        }
        let folder = run.own_path(FOLDER);
        let size = limit.div_ceil(FIRST + LAST).max(1);
        let compressed = run.own_path(COMPRESSED);
        Ok(Self { folder, compressed, size, file: None, printed: 0, refused: false })
    }

    /// Takes what was printed.
    pub(super) fn write(&mut self, mut bytes: &[u8]) {
        while !bytes.is_empty() && !self.refused {
            let room = self.size - self.printed % self.size;
            let (now, later) = bytes.split_at(bytes.len().min(room as usize));
            if let Err(error) = self.write_segment(now) {
                let problem = Error::io("write into", &self.folder)(error);
                complain(&format!("gelu-compare: warning: its output is not kept: {problem}\n"));
                self.refused = true;
            }
            bytes = later;
        }
    }

    /// Writes what one segment has room for.
    fn write_segment(&mut self, bytes: &[u8]) -> io::Result<()> {
        if self.printed.is_multiple_of(self.size) {
            let number = self.printed / self.size;
            if number == 0 {
                fs::create_dir_all(&self.folder)?;
            }
            self.file = Some(File::create(self.folder.join(segment_name(number)))?);
            if let Some(over) = number.checked_sub(LAST).filter(|over| *over >= FIRST) {
                fs::remove_file(self.folder.join(segment_name(over)))?;
            }
        }
        if let Some(file) = &mut self.file {
            file.write_all(bytes)?;
        }
        self.printed += bytes.len() as u64;
        Ok(())
    }
}

impl Drop for Transcript {
    fn drop(&mut self) {
        if self.file.take().is_some() {
            compress(&self.folder, &self.compressed, self.size * (FIRST + LAST));
        }
    }
}

fn segment_name(number: u64) -> String {
    format!("{number:06}.txt")
}

/// `output-0004.txt.gz` of `output-0004`.
fn compressed_name(folder: &Path) -> PathBuf {
    folder.with_extension("txt.gz")
}

/// Compresses the segments of a session. Where that fails they stay as they are, and can be read.
fn compress(folder: &Path, to: &Path, limit: u64) {
    let scratch = to.with_extension("part");
    let compressed = (|| {
        let total = copy_segments(folder, &mut io::sink(), limit)?;
        let file = io::BufWriter::new(File::create(&scratch)?);
        let mut file = GzBuilder::new().comment(total.to_string()).write(file, Compression::new(3));
        copy_segments(folder, &mut file, limit)?;
        file.finish()?.into_inner().map_err(io::IntoInnerError::into_error)?;
        rename(&scratch, to)
    })();
    match compressed {
        Ok(()) => drop(remove_folder(folder)),
        Err(error) => {
            let _ = fs::remove_file(&scratch);
            let problem = Error::io("compress", folder)(error);
            complain(&format!("gelu-compare: warning: {problem}\n"));
        }
    }
}

#[cfg(test)]
mod tests;
