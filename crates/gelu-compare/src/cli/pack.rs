use super::warnings;
use crate::Result;
use crate::comparison::AnyReader;
use crate::output::{complain, print};
use crate::pack;
use crate::runs::{Experiment, Spec};
use clap::Args;
use std::path::PathBuf;
use std::process::ExitCode;

/// Pack a finished comparison into one file: settings, scores and provenance, without the trained networks
#[derive(Debug, Args)]
pub struct Pack {
    /// A comparison's folder
    folder: PathBuf,
    /// The file to write [default: the folder's name with .zip, beside it]
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
}

impl Pack {
    /// Writes the file, and prints how many runs it holds.
    ///
    /// # Errors
    ///
    /// As [`pack::pack`], and when there is no comparison in the folder.
    pub fn run<E: Experiment>(self) -> Result<ExitCode> {
        let snapshot = AnyReader::<E>::open(&self.folder)?.snapshot();
        complain(&warnings(E::Spec::TOOL, &snapshot));
        let file = self.out.unwrap_or_else(|| {
            let whole = self.folder.canonicalize().unwrap_or_else(|_| self.folder.clone());
            let name = whole.file_name().unwrap_or_default().to_string_lossy().into_owned();
            self.folder.with_file_name(format!("{name}.zip"))
        });
        let packed = pack::pack(&self.folder, &snapshot, &file)?;
        let left_out = match packed.left_out {
            0 => String::new(),
            count => format!("; {count} that are not finished were left out"),
        };
        let size = packed.size.div_ceil(1000);
        print(&format!("{}: {} runs, {size} kB{left_out}\n", file.display(), packed.runs))?;
        Ok(ExitCode::SUCCESS)
    }
}

/// Restore the folder of a packed comparison
#[derive(Debug, Args)]
pub struct Unpack {
    /// The packed comparison
    file: PathBuf,
    /// The folder to make [default: the file's name without its ending, beside it]
    folder: Option<PathBuf>,
}

impl Unpack {
    /// Makes the folder, and prints its path.
    ///
    /// # Errors
    ///
    /// As [`pack::unpack`].
    pub fn run(self) -> Result<ExitCode> {
        let folder = self.folder.unwrap_or_else(|| self.file.with_extension(""));
        pack::unpack(&self.file, &folder)?;
        print(&format!("{}\n", folder.display()))?;
        Ok(ExitCode::SUCCESS)
    }
}
