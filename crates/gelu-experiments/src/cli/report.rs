use super::print;
use crate::Result;
use crate::comparison::ComparisonReader;
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
    /// Print the results as one JSON document on standard output, and nothing else there
    #[arg(long)]
    json: bool,
}

impl Report {
    pub(super) fn run(self) -> Result<ExitCode> {
        let snapshot = ComparisonReader::open(&self.folder)?.snapshot();
        super::complain(&super::warnings(&snapshot));
        let document = Document::of(&snapshot);
        let out = self.out.unwrap_or(self.folder);
        std::fs::create_dir_all(&out).map_err(crate::Error::io("create the folder", &out))?;
        let written = report::write(&snapshot, &out);
        let paths: Vec<String> =
            written.files.iter().map(|path| path.display().to_string()).collect();
        print(&match self.json {
            true => document.to_json(),
            false => format!("{}\n{}\n", table::text(&document), paths.join("\n")),
        })?;
        for error in &written.failures {
            super::complain(&format!("gelu: {error}\n"));
        }
        match written.failures.is_empty() {
            true => Ok(ExitCode::SUCCESS),
            false => Ok(ExitCode::FAILURE),
        }
    }
}
