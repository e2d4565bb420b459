use super::warnings;
use crate::Result;
use crate::comparison::AnyReader;
use crate::dashboard::{self, Mode, PlainReporter};
use crate::files::write_atomically;
use crate::output::{complain, print};
use crate::pack;
use crate::runs::{Experiment, Spec};
use crate::signals::Signals;
use clap::Args;
use std::io::IsTerminal;
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

/// Show the dashboard of a comparison that another process makes, or that is finished
#[derive(Debug, Args)]
pub struct Watch {
    /// A comparison's folder, or a packed comparison
    folder: PathBuf,
    /// Print a line per epoch instead of the dashboard, until all runs are done
    #[arg(long)]
    plain: bool,
    /// Save the dashboard as it is now as an SVG picture, and end
    #[arg(long, value_name = "FILE")]
    picture: Option<PathBuf>,
}

impl Watch {
    /// Shows the comparison until it is done, or left.
    ///
    /// # Errors
    ///
    /// When there is no comparison in the folder, or nothing to show it on.
    pub fn run<E: Experiment>(self) -> Result<ExitCode> {
        let opened = pack::open(&self.folder)?;
        let mut reader = AnyReader::<E>::open(opened.path())?;
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
            let said = warnings(E::Spec::TOOL, &snapshot);
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
