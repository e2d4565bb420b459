//! Reads the output of a run's program, during the run and afterwards.

use super::{COMPRESSED, FOLDER};
use flate2::read::GzDecoder;
use std::fs::{self, File};
use std::io::{self, ErrorKind, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

/// Returns whether there is any stored output of the run's program.
pub(crate) fn has_output(run: &Path) -> bool {
    !Sessions::of(run).is_empty()
}

/// The outputs of a run's sessions.
pub(in crate::program) struct Sessions;

impl Sessions {
    /// Returns the sessions with output, by the numbers of their leases, the first one first.
    pub(in crate::program) fn of(run: &Path) -> Vec<u32> {
        let entries = fs::read_dir(run).into_iter().flatten().flatten();
        let number = |name: String| {
            let (number, end) =
                name.strip_prefix(FOLDER)?.strip_prefix('-')?.split_at_checked(4)?;
            let known = end.is_empty() || COMPRESSED.strip_prefix(FOLDER) == Some(end);
            number.parse().ok().filter(|_| known)
        };
        let mut all: Vec<u32> =
            entries.filter_map(|entry| number(entry.file_name().into_string().ok()?)).collect();
        all.sort_unstable();
        all.dedup();
        all
    }

    /// Writes the stored output of a session after its first `done` bytes. Returns the total number of printed bytes.
    ///
    /// # Errors
    ///
    /// Returns an error if the output cannot be read or `to` cannot be written to.
    pub(in crate::program) fn copy_rest(
        run: &Path,
        session: u32,
        done: u64,
        to: &mut impl Write,
    ) -> io::Result<u64> {
        let folder = run.join(format!("{FOLDER}-{session:04}"));
        // If both exist, the segments are about to be deleted.
        match copy_compressed_after(&super::compressed_name(&folder), done, to) {
            Err(error) if error.kind() == ErrorKind::NotFound => {
                copy_segments_after(&folder, done, to, None)
            }
            copied => copied,
        }
    }
}

/// Writes the content of all segments. If a part of the middle is missing, writes how much. Returns the number of
/// printed bytes.
pub(super) fn copy_segments(folder: &Path, to: &mut impl Write, limit: u64) -> io::Result<u64> {
    copy_segments_after(folder, 0, to, Some(limit))
}

fn copy_segments_after(
    folder: &Path,
    done: u64,
    to: &mut impl Write,
    limit: Option<u64>,
) -> io::Result<u64> {
    let segments = segments(folder)?;
    // All segments but the last are full.
    let size = match segments.as_slice() {
        [(_, first), _, ..] => first.metadata()?.len(),
        _ => 0,
    };
    let mut at = done;
    for (number, path) in segments {
        let start = number * size;
        let mut file = match File::open(&path) {
            // The segment was removed in the meantime.
            Err(error) if error.kind() == ErrorKind::NotFound => continue,
            file => file?,
        };
        if start > at {
            write!(to, "{}", cut_out(start - at, limit))?;
            at = start;
        }
        let length = file.metadata()?.len();
        if start + length > at {
            file.seek(SeekFrom::Start(at - start))?;
            at += io::copy(&mut file.take(length - (at - start)), to)?;
        }
    }
    Ok(at)
}

/// Returns the text in place of a part that was cut out.
fn cut_out(bytes: u64, limit: Option<u64>) -> String {
    let kept = limit.map_or_else(String::new, |limit| format!(" of which {limit} bytes are kept"));
    format!(
        "\n[… {bytes} bytes are cut out of the middle of this output{kept}; --keep-output keeps more …]\n"
    )
}

/// Returns the segments in a folder, with their numbers.
fn segments(folder: &Path) -> io::Result<Vec<(u64, PathBuf)>> {
    let mut all = Vec::new();
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        let stem = path.file_stem().and_then(|stem| stem.to_str());
        all.extend(stem.and_then(|stem| stem.parse().ok()).map(|number| (number, path.clone())));
    }
    all.sort();
    Ok(all)
}

/// Does the same for a compressed file, whose header contains the number of printed bytes.
fn copy_compressed_after(path: &Path, done: u64, to: &mut impl Write) -> io::Result<u64> {
    let open = || File::open(path).map(|file| GzDecoder::new(io::BufReader::new(file)));
    let mut first = open()?;
    let length = io::copy(&mut first, &mut io::sink())?;
    let comment = first.header().and_then(|header| header.comment()).unwrap_or_default();
    let total =
        std::str::from_utf8(comment).ok().and_then(|text| text.parse().ok()).unwrap_or(length);
    let left: u64 = total.saturating_sub(done);
    let mut second = open()?;
    if done > 0 {
        io::copy(&mut (&mut second).take(length.saturating_sub(left)), &mut io::sink())?;
    }
    io::copy(&mut second, to)?;
    Ok(total)
}
