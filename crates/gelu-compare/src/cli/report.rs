use super::{export, warnings};
use crate::Result;
use crate::comparison::AnyReader;
use crate::export::Target;
use crate::output::{complain, print};
use crate::pack;
use crate::report::{Document, table};
use crate::runs::{Recipe, Spec};
use clap::Args;
use std::path::PathBuf;
use std::process::ExitCode;

/// Write the table, figures and data of a comparison's finished runs again
#[derive(Debug, Args)]
pub struct Report {
    /// A comparison's folder, or a packed comparison
    folder: PathBuf,
    /// Folder to write to [default: the comparison's folder; for a packed comparison, a folder with its name next to
    /// the file]
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// Export the results: tensorboard, tensorboard=DIR, mlflow=URL; may be given several times
    #[arg(long, value_name = "TARGET")]
    export: Vec<Target>,
    /// Print the results as one JSON document on standard output, and nothing else there
    #[arg(long)]
    json: bool,
}

impl Report {
    /// Writes the report.
    ///
    /// # Errors
    ///
    /// Returns an error if there is no comparison in the folder, or nothing can be written.
    pub fn run<R: Recipe>(self) -> Result<ExitCode> {
        let opened = pack::open(&self.folder)?;
        let mut reader = AnyReader::<R>::open(opened.path())?;
        let (tool, snapshot) = (R::Spec::TOOL, reader.snapshot());
        complain(&warnings(tool, &snapshot));
        let document = Document::of(&snapshot);
        let out = self.out.unwrap_or_else(|| match opened.is_packed() {
            true => self.folder.with_extension(""),
            false => self.folder.clone(),
        });
        std::fs::create_dir_all(&out).map_err(crate::Error::io("create the folder", &out))?;
        let written = reader.report(&snapshot, &out);
        let paths: Vec<String> =
            written.files.iter().map(|path| path.display().to_string()).collect();
        print(&match self.json {
            true => document.to_json(),
            false => format!("{}\n{}\n", table::text(&document), paths.join("\n")),
        })?;
        for error in &written.failures {
            complain(&format!("{tool}: {error}\n"));
        }
        let exported = export::all(tool, &self.export, &snapshot, &out, self.json)?;
        match written.failures.is_empty() && exported {
            true => Ok(ExitCode::SUCCESS),
            false => Ok(ExitCode::FAILURE),
        }
    }
}
