use super::print;
use crate::Result;
use crate::dashboard::{self, Mode, PlainReporter};
use crate::runs::{ComparisonFolder, write_atomically};
use clap::Args;
use std::io::IsTerminal;
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::atomic::Ordering;
use std::time::Duration;

#[derive(Debug, Args)]
pub(super) struct Watch {
    /// A comparison's folder
    folder: PathBuf,
    /// Print a line per epoch instead of the dashboard, until all runs are done
    #[arg(long)]
    plain: bool,
    /// Save the dashboard as it is now as an SVG picture, and end
    #[arg(long, value_name = "FILE")]
    picture: Option<PathBuf>,
}

impl Watch {
    pub(super) fn run(self) -> Result<ExitCode> {
        let folder = ComparisonFolder::open(&self.folder)?;
        if let Some(file) = self.picture {
            write_atomically(&file, dashboard::picture(&folder.snapshot()?))?;
            return Ok(ExitCode::SUCCESS);
        }
        let stop = super::signals::interrupted()?;
        if !self.plain && std::io::stdout().is_terminal() {
            let source = || Ok((folder.snapshot()?, false));
            dashboard::run(source, |_| (), Mode::Watching, &stop)?;
            return Ok(ExitCode::SUCCESS);
        }
        let mut reporter = PlainReporter::new();
        while !stop.load(Ordering::SeqCst) {
            let snapshot = folder.snapshot()?;
            print(&reporter.lines(&snapshot))?;
            if snapshot.runs.iter().all(|run| run.status.is_over()) {
                break;
            }
            std::thread::sleep(Duration::from_millis(250));
        }
        Ok(ExitCode::SUCCESS)
    }
}
