use super::warnings;
use crate::comparison::AnyReader;
use crate::error::Place;
use crate::files::write_atomically;
use crate::output::{complain, print};
use crate::pack::{self, Digits};
use crate::report::runs_csv;
use crate::runs::{Recipe, Snapshot, Spec};
use crate::{Error, Result};
use clap::Args;
use std::path::PathBuf;
use std::process::ExitCode;
use tempfile::NamedTempFile;

/// Pack a finished comparison into one file: settings, scores and provenance, without the trained networks
#[derive(Debug, Args)]
pub struct Pack {
    /// A comparison's folder
    folder: PathBuf,
    /// The file to write [default: the folder's name with .zip, next to the folder]
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
    /// Round to N significant digits, from 3 to 16, the numbers that no score depends on: metrics of the other
    /// epochs, and outcomes of test examples
    #[arg(long, value_name = "N", value_parser = digits)]
    digits: Option<Digits>,
}

fn digits(text: &str) -> std::result::Result<Digits, String> {
    let digits = text.parse().ok().and_then(Digits::new);
    digits.ok_or_else(|| "a number from 3 to 16 is expected".to_owned())
}

impl Pack {
    /// Writes the file and prints how many runs it holds.
    ///
    /// # Errors
    ///
    /// Returns the errors of [`pack::pack`], and an error if there is no comparison in the folder, or if rounding
    /// would change a score.
    pub fn run<R: Recipe>(self) -> Result<ExitCode> {
        let mut reader = AnyReader::<R>::open(&self.folder)?;
        let snapshot = reader.snapshot();
        complain(&warnings(R::Spec::TOOL, &snapshot));
        let file = self.out.unwrap_or_else(|| {
            let whole = self.folder.canonicalize().unwrap_or_else(|_| self.folder.clone());
            let name = whole.file_name().unwrap_or_default().to_string_lossy().into_owned();
            self.folder.with_file_name(format!("{name}.zip"))
        });
        let packed = pack::pack(&self.folder, &snapshot, self.digits)?;
        if self.digits.is_some() && scores_in::<R>(&packed.bytes)? != scores_of(&snapshot) {
            let problem = "would have other scores with rounded metrics, and was not written";
            return Err(Error::data(&file, Place::File, problem, "pack it without --digits"));
        }
        write_atomically(&file, &packed.bytes)?;
        let left_out = match packed.left_out {
            0 => String::new(),
            count => format!("; {count} that are not finished were left out"),
        };
        let size = packed.bytes.len().div_ceil(1000);
        print(&format!("{}: {} runs, {size} kB{left_out}\n", file.display(), packed.runs))?;
        Ok(ExitCode::SUCCESS)
    }
}

/// Returns the score table of a packed comparison, as a reader of `bytes` gets it.
fn scores_in<R: Recipe>(bytes: &[u8]) -> Result<Vec<u8>> {
    let file =
        NamedTempFile::new().map_err(Error::io("create a file in", &std::env::temp_dir()))?;
    write_atomically(file.path(), bytes)?;
    Ok(scores_of(&AnyReader::<R>::open(pack::open(file.path())?.path())?.snapshot()))
}

/// Returns the score table of all runs that are over.
fn scores_of(snapshot: &Snapshot) -> Vec<u8> {
    let runs = snapshot.runs.iter().filter(|run| run.status.is_over()).cloned().collect();
    runs_csv(&Snapshot { runs, ..snapshot.clone() })
}

/// Restore the folder of a packed comparison
#[derive(Debug, Args)]
pub struct Unpack {
    /// The packed comparison
    file: PathBuf,
    /// The folder to create [default: the file's name without its ending, next to the file]
    folder: Option<PathBuf>,
}

impl Unpack {
    /// Creates the folder and prints its path.
    ///
    /// # Errors
    ///
    /// Returns the errors of [`pack::unpack`].
    pub fn run(self) -> Result<ExitCode> {
        let folder = self.folder.unwrap_or_else(|| self.file.with_extension(""));
        pack::unpack(&self.file, &folder)?;
        print(&format!("{}\n", folder.display()))?;
        Ok(ExitCode::SUCCESS)
    }
}

/// Returns the folder in which the comparison at `path` can be continued. That is `path` itself; if `path` is a packed
/// comparison, it is the folder next to it, of the same name without the extension. Restores that folder if it does not
/// exist.
///
/// # Errors
///
/// Returns the errors of [`pack::unpack`].
pub fn restored(path: PathBuf) -> Result<PathBuf> {
    if !pack::is_packed(&path) {
        return Ok(path);
    }
    let folder = path.with_extension("");
    if folder == path || !folder.exists() {
        pack::unpack(&path, &folder)?;
        complain(&format!("{}: unpacked into {}\n", path.display(), folder.display()));
    }
    Ok(folder)
}
