//! What a worker's process does beside its runs.

use super::numbers::count;
use crate::comparison::ComparisonReader;
use crate::runs::Spec;
use crate::signals::Signals;
use crate::worker::{Control, Outcome, STOP_AFTER_EPOCH, STOP_NOW, SpecOf, Trainer, Worker};
use crate::{Error, Result};
use clap::Args;
use std::io::BufRead;
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

/// Which comparison a worker works on, beside whom, as arguments.
#[derive(Clone, Debug, Args)]
pub struct Workforce {
    /// A comparison's folder, as `compare` or `submit` makes it
    pub folder: PathBuf,
    /// Workers that share this processor's cores, this one among them
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = count::<usize>)]
    pub slots: usize,
    /// Start all runs, even where the first of every setting fail alike
    #[arg(long)]
    keep_going: bool,
    /// Started by `compare`, which says on standard input when to stop, and whose end is one
    #[arg(long, hide = true)]
    pub supervised: bool,
}

impl Workforce {
    /// Works on the comparison until nothing is wanted, or until it is asked to stop.
    ///
    /// # Errors
    ///
    /// When there is no comparison in the folder, or nothing is left but runs that could not be worked on.
    pub fn work<T: Trainer>(
        self,
        trainer: impl FnOnce(&ComparisonReader<T::Experiment>) -> Result<T>,
    ) -> Result<ExitCode> {
        let reader = ComparisonReader::open(&self.folder)?;
        let control = Control::default();
        match self.supervised {
            true => obey(control.clone()),
            false => super::warn_of_open_folder(reader.folder()),
        }
        let tool = (!self.supervised).then_some(SpecOf::<T>::TOOL);
        stop_on_signals(control.clone(), Signals::listen()?, false, tool)?;
        let trainer = trainer(&reader)?;
        match Worker::new(reader, trainer, control).keep_going(self.keep_going).work()? {
            Outcome::Done => Ok(ExitCode::SUCCESS),
            Outcome::Interrupted => Err(Error::Interrupted { out: self.folder }),
            Outcome::Panicked => begin_anew(SpecOf::<T>::TOOL),
        }
    }
}

/// Listens to the comparison. When it is gone, the epoch under way is the last.
fn obey(control: Control) {
    std::thread::spawn(move || {
        for line in std::io::stdin().lock().lines().map_while(std::result::Result::ok) {
            match line.as_str() {
                STOP_AFTER_EPOCH => control.stop_after_epoch(),
                STOP_NOW => control.stop_now(),
                _ => {}
            }
        }
        control.stop_after_epoch();
    });
}

/// One signal ends the training after its epoch, a second one now. The terminal's end is one, too, unless
/// training is to keep going. The program `tool` says that it has heard of it.
pub(super) fn stop_on_signals(
    control: Control,
    signals: Signals,
    keep_going: bool,
    tool: Option<&'static str>,
) -> Result<()> {
    let watch = move || {
        let mut said = 0;
        loop {
            std::thread::sleep(Duration::from_millis(50));
            if signals.hung_up() {
                control.terminal_is_gone();
            }
            let asked = signals.requests() + usize::from(signals.hung_up() && !keep_going);
            match asked {
                0 => {}
                1 => control.stop_after_epoch(),
                _ => control.stop_now(),
            }
            if let Some(tool) = tool.filter(|_| asked > said) {
                super::say_stopping(tool, asked);
                said = asked;
            }
        }
    };
    let thread = std::thread::Builder::new().name("stop".to_owned()).spawn(watch);
    thread.map(drop).map_err(Error::io("start a thread for", "signals"))
}

/// Makes a new process of this one, which forgets what a panic may have left behind.
#[cfg(unix)]
fn begin_anew(tool: &str) -> Result<ExitCode> {
    use crate::output::complain;
    use std::os::unix::process::CommandExt;
    let program = std::env::current_exe().map_err(Error::io("find", "this program"))?;
    let error = std::process::Command::new(&program).args(std::env::args_os().skip(1)).exec();
    complain(&format!("{tool}: a run panicked, and no new process can be started\n"));
    Err(Error::io("start", program)(error))
}

/// Whoever started this process starts another.
#[cfg(not(unix))]
fn begin_anew(_tool: &str) -> Result<ExitCode> {
    Ok(ExitCode::from(101))
}
