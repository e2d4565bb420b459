//! Reading what the program of a run has printed, while it runs and afterwards.

use super::{COMPRESSED, FOLDER};
use flate2::read::GzDecoder;
use std::fs::{self, File};
use std::io::{self, ErrorKind, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

/// Whether the program of that run has printed anything that is kept.
pub(crate) fn has_output(run: &Path) -> bool {
    !Sessions::of(run).is_empty()
}

/// The outputs of a run's sessions, the first one first.
pub(in crate::program) struct Sessions;

impl Sessions {
    /// Those that a run has, by the numbers of their leases.
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

    /// Writes what a session has printed after its first `done` bytes, as far as it was kept; how many bytes it has printed.
    ///
    /// # Errors
    ///
    /// When it cannot be read, or `to` written to.
    pub(in crate::program) fn copy_rest(
        run: &Path,
        session: u32,
        done: u64,
        to: &mut impl Write,
    ) -> io::Result<u64> {
        let folder = run.join(format!("{FOLDER}-{session:04}"));
        // Where both are there, the segments are about to go.
        match copy_compressed_after(&super::compressed_name(&folder), done, to) {
            Err(error) if error.kind() == ErrorKind::NotFound => {
                copy_segments_after(&folder, done, to, None)
            }
            copied => copied,
        }
    }
}

/// Writes all that segments hold, and where something was cut out of the middle, how much; how many bytes were printed.
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
    // All but the last are full.
    let size = match segments.as_slice() {
        [(_, first), _, ..] => first.metadata()?.len(),
        _ => 0,
    };
    let mut at = done;
    for (number, path) in segments {
        let start = number * size;
        let mut file = match File::open(&path) {
            // It was cut out meanwhile.
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

/// What stands in place of what was cut out.
fn cut_out(bytes: u64, limit: Option<u64>) -> String {
    let kept = limit.map_or_else(String::new, |limit| format!(" of which {limit} bytes are kept"));
    format!(
        "\n[… {bytes} bytes are cut out of the middle of this output{kept}; --keep-output keeps more …]\n"
    )
}

/// The segments of a folder with their numbers.
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

/// The same of what was compressed: its header says how many bytes there were before any was cut out.
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
