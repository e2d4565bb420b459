use super::{export, print};
use crate::Result;
use crate::comparison::ComparisonReader;
use crate::export::Target;
use crate::report::{self, Document, table};
use clap::Args;
use std::path::PathBuf;
use std::process::ExitCode;

#[derive(Debug, Args)]
pub(super) struct Report {
    /// A comparison's folder
    folder: PathBuf,
    /// Folder to write to [default: the comparison's]
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
    pub(super) fn run(self) -> Result<ExitCode> {
        let mut reader = ComparisonReader::open_any_version(&self.folder)?;
        let snapshot = reader.snapshot();
        super::complain(&super::warnings(&snapshot));
        let document = Document::of(&snapshot);
        let out = self.out.unwrap_or_else(|| self.folder.clone());
        std::fs::create_dir_all(&out).map_err(crate::Error::io("create the folder", &out))?;
        let written = report::write(&snapshot, &reader.comparison().recipe, &out);
        let paths: Vec<String> =
            written.files.iter().map(|path| path.display().to_string()).collect();
        print(&match self.json {
            true => document.to_json(),
            false => format!("{}\n{}\n", table::text(&document), paths.join("\n")),
        })?;
        for error in &written.failures {
            super::complain(&format!("gelu: {error}\n"));
        }
        let exported = export::all(&self.export, &snapshot, &self.folder, self.json)?;
        match written.failures.is_empty() && exported {
            true => Ok(ExitCode::SUCCESS),
            false => Ok(ExitCode::FAILURE),
        }
    }
}
