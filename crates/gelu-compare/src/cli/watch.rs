use super::warnings;
use crate::Result;
use crate::comparison::AnyReader;
use crate::dashboard::{self, Mode, PlainReporter};
use crate::files::write_atomically;
use crate::output::{complain, print};
use crate::pack;
use crate::runs::{Recipe, Spec};
use crate::signals::Signals;
use clap::Args;
use std::io::IsTerminal;
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

/// Show the dashboard of a comparison that another process is running, or of a finished one
#[derive(Debug, Args)]
pub struct Watch {
    /// A comparison's folder, or a packed comparison
    folder: PathBuf,
    /// Print one line per epoch instead of the dashboard, until all runs are done
    #[arg(long)]
    plain: bool,
    /// Save the dashboard as it is now as an SVG image, and exit
    #[arg(long, value_name = "FILE")]
    picture: Option<PathBuf>,
}

impl Watch {
    /// Shows the comparison until all runs are done or the user leaves.
    ///
    /// # Errors
    ///
    /// Returns an error if there is no comparison in the folder, or the terminal cannot be used.
    pub fn run<R: Recipe>(self) -> Result<ExitCode> {
        let opened = pack::open(&self.folder)?;
        let mut reader = AnyReader::<R>::open(opened.path())?;
        if let Some(file) = self.picture {
            write_atomically(&file, dashboard::picture(&reader.snapshot()))?;
            return Ok(ExitCode::SUCCESS);
        }
        let signals = Signals::listen()?;
        if !self.plain && std::io::stdout().is_terminal() {
            let source = || Ok((reader.snapshot(), false));
            dashboard::run(source, |_| (), Mode::Watching, &signals)?;
            return Ok(ExitCode::SUCCESS);
        }
        let (mut reporter, mut warned) = (PlainReporter::new(), String::new());
        while signals.requests() == 0 && !signals.hung_up() {
            let snapshot = reader.snapshot();
            print(&reporter.lines(&snapshot))?;
            let said = warnings(R::Spec::TOOL, &snapshot);
            if said != warned {
                complain(&said);
                warned = said;
            }
            if snapshot.runs.iter().all(|run| run.status.is_over()) {
                break;
            }
            std::thread::sleep(Duration::from_millis(250));
        }
        Ok(ExitCode::SUCCESS)
    }
}
