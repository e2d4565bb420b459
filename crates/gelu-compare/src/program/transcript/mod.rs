//! Transcripts: the output of a run's program, stored in the run's folder. It is stored in segments while the program
//! runs, and compressed after the program has ended. If the output is too large, only the first and the last segments
//! are stored.

mod read;

pub(super) use read::Sessions;
pub(crate) use read::has_output;

use super::ProgramSpec;
use crate::files::{remove_folder, rename};
use crate::output::complain;
use crate::runs::ClaimedRun;
use crate::{Error, Result};
use flate2::{Compression, GzBuilder};
use read::copy_segments;
use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// The names of the folder for a session's segments, and of the compressed file.
const FOLDER: &str = "output";
const COMPRESSED: &str = "output.txt.gz";
/// The default limit for the stored output of a session, in bytes.
pub(super) const LIMIT: u64 = 64_000_000;
/// The numbers of segments to store from the beginning and from the end. The last segment is usually not full.
const FIRST: u64 = 4;
const LAST: u64 = 4;

/// The output of a running program. Dropping the value compresses the output.
pub(super) struct Transcript {
    folder: PathBuf,
    compressed: PathBuf,
    /// The size of a segment in bytes.
    size: u64,
    file: Option<File>,
    /// The number of bytes printed so far.
    printed: u64,
    /// Whether writing has failed. There is no second attempt, because a log must not end its run.
    refused: bool,
}

impl Transcript {
    /// Begins the transcript of this session, which stores at most `limit` bytes. First compresses the segments that
    /// earlier sessions left.
    ///
    /// # Errors
    ///
    /// Returns an error if the run's folder cannot be listed.
    pub(super) fn begin(run: &ClaimedRun<ProgramSpec>, limit: u64) -> Result<Self> {
        for left in run.generations(FOLDER)? {
            compress(&left, &compressed_name(&left), limit);
        }
        let folder = run.own_path(FOLDER);
        let size = limit.div_ceil(FIRST + LAST).max(1);
        let compressed = run.own_path(COMPRESSED);
        Ok(Self { folder, compressed, size, file: None, printed: 0, refused: false })
    }

    /// Adds printed bytes.
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

    /// Writes bytes that fit into the current segment.
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

/// Returns the name of the compressed file: `output-0004.txt.gz` for `output-0004`.
fn compressed_name(folder: &Path) -> PathBuf {
    folder.with_extension("txt.gz")
}

/// Compresses the segments of a session. If that fails, the segments remain and can be read.
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
