//! The worker's process: its flags, and how it stops.

use super::numbers::count;
use crate::comparison::SnapshotReader;
use crate::runs::Spec;
use crate::signals::Signals;
use crate::worker::{Control, Outcome, STOP_AFTER_EPOCH, STOP_NOW, SpecOf, Trainer, Worker};
use crate::{Error, Result};
use clap::Args;
use std::io::BufRead;
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

/// Flags of a worker: its comparison, and how it shares the machine.
#[derive(Clone, Debug, Args)]
pub struct Workforce {
    /// A comparison's folder, created by `compare` or `submit`
    pub folder: PathBuf,
    /// Number of workers that share this processor's cores, including this one
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = count::<usize>)]
    pub slots: usize,
    /// Start all runs, even if the first run of every setting fails in the same way
    #[arg(long)]
    keep_going: bool,
    /// Stop when `compare`, which started this worker, says so on standard input or ends
    #[arg(long, hide = true)]
    pub supervised: bool,
}

impl Workforce {
    /// Works on the comparison until no run is left to do, or until the worker is asked to stop.
    ///
    /// # Errors
    ///
    /// Returns an error if there is no comparison in the folder, if this worker could work on none of the runs that
    /// are left, or if it is interrupted.
    pub fn work<T: Trainer>(
        self,
        trainer: impl FnOnce(&SnapshotReader<T::Recipe>) -> Result<T>,
    ) -> Result<ExitCode> {
        let reader = SnapshotReader::open(&self.folder)?;
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

/// Starts a thread that obeys the comparison's requests on standard input. When the comparison's process is gone, the
/// worker stops after the current epoch.
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

/// Starts a thread that stops the training on signals: after the current epoch on the first one, at once on the
/// second. A closed terminal counts as a signal unless `keep_going` is set. If `tool` is given, prints a message in
/// that program's name at each signal.
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

/// Replaces this process by a new one, because a panic may have left inconsistent state behind.
#[cfg(unix)]
fn begin_anew(tool: &str) -> Result<ExitCode> {
    use crate::output::complain;
    use std::os::unix::process::CommandExt;
    let program = std::env::current_exe().map_err(Error::io("find", "this program"))?;
    let error = std::process::Command::new(&program).args(std::env::args_os().skip(1)).exec();
    complain(&format!("{tool}: a run panicked, and no new process can be started\n"));
    Err(Error::io("start", program)(error))
}

/// Ends this process; the process that started it starts another worker.
#[cfg(not(unix))]
fn begin_anew(_tool: &str) -> Result<ExitCode> {
    Ok(ExitCode::from(101))
}
