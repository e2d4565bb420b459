//! The command that shows the output of a run's program.

use super::ProgramSpec;
use super::transcript::Sessions;
use crate::error::Place;
use crate::files::read_text;
use crate::names::printable;
use crate::output::print_bytes;
use crate::runs::{Plan, RunFolder, RunStatus, Spec};
use crate::{Error, Result};
use clap::Args;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

/// The time between two checks of a run with `--follow`.
const INTERVAL: Duration = Duration::from_millis(100);

/// Print the whole output of a run's program
#[derive(Debug, Args)]
pub(super) struct Log {
    /// A run's folder, as `runs` lists it: results/NAME/runs/RUN
    #[arg(value_name = "RUN")]
    run: PathBuf,
    /// Continue until the run has ended
    #[arg(long)]
    follow: bool,
}

impl Log {
    /// Prints the output.
    ///
    /// # Errors
    ///
    /// Returns an error if the folder holds no run, or if the output cannot be read.
    pub(super) fn run(self) -> Result<ExitCode> {
        let run = RunFolder::at(&self.run);
        if !run.file("run.toml").is_file() {
            return Err(Error::data(
                &self.run,
                Place::File,
                "holds no run (no run.toml)",
                "name a run's folder; `runs` lists those of a comparison",
            ));
        }
        let silence = silence(&self.run);
        // The status is checked before the output is read, so that no output between the two is missed.
        let goes_on = || match run.status() {
            Ok(file) if file.status.is_over() => false,
            Ok(file) if file.status == RunStatus::Waiting => true,
            _ => !matches!(run.holder(silence), Ok(None)),
        };
        let (mut session, mut done) = (0, 0);
        loop {
            let last = !self.follow || !goes_on();
            for of in Sessions::of(&self.run) {
                if of < session {
                    continue;
                }
                if of > session {
                    (session, done) = (of, 0);
                }
                done = Sessions::copy_rest(&self.run, session, done, &mut Terminal)
                    .map_err(Error::io("read the output in", &self.run))?;
            }
            if last {
                break;
            }
            std::thread::sleep(INTERVAL);
        }
        if session == 0 {
            let name = run.spec::<ProgramSpec>().map_or_else(|_| String::new(), |spec| spec.name());
            crate::output::complain(&format!(
                "{}: {} has printed nothing that was kept\n",
                ProgramSpec::TOOL,
                printable(&name)
            ));
        }
        Ok(ExitCode::SUCCESS)
    }
}

/// Returns how long a worker on another host may be without a heartbeat, according to the run's comparison.
fn silence(run: &Path) -> Duration {
    let file = run.join("../../comparison.toml");
    let text = read_text(&file).ok().flatten().unwrap_or_default();
    let plan: Option<Plan<super::ProgramRecipe>> = toml::from_str(&text).ok();
    plan.map_or(Duration::from_secs(60), |plan| plan.silence())
}

/// Standard output, written through [`print_bytes`], which escapes it for terminals.
struct Terminal;

impl Write for Terminal {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        print_bytes(bytes).map(|()| bytes.len()).map_err(io::Error::other)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
