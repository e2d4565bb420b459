use crate::device::DeviceName;
use crate::runs::ComparisonFolder;
use crate::signals::Signals;
use crate::training::Control;
use crate::worker::{Outcome, STOP_AFTER_EPOCH, STOP_NOW, Worker};
use crate::{Error, Result};
use clap::Args;
use std::io::BufRead;
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

/// A worker on a comparison's folder.
#[derive(Debug, Args)]
pub(super) struct Work {
    /// A comparison's folder, as `gelu compare` or `gelu submit` makes it
    folder: PathBuf,
    /// Device to train on [default: the one that the comparison was made for]
    #[arg(long, value_name = "NAME")]
    device: Option<DeviceName>,
    /// Folder that holds the data set's files [default: the one that the comparison was made with]
    #[arg(long, value_name = "DIR")]
    data: Option<PathBuf>,
    /// Workers that share this processor's cores, this one among them
    #[arg(long, value_name = "N", default_value_t = 1)]
    slots: usize,
    /// Started by `compare`, which says on standard input when to stop, and whose end is one
    #[arg(long, hide = true)]
    supervised: bool,
}

impl Work {
    pub(super) fn run(self) -> Result<ExitCode> {
        let device = match &self.device {
            Some(device) => device.clone(),
            None => ComparisonFolder::open(&self.folder)?.comparison()?.device.parse()?,
        };
        device.check()?;
        let control = Control::default();
        match self.supervised {
            true => obey(control.clone()),
            false => super::warn_of_open_folder(&ComparisonFolder::open(&self.folder)?),
        }
        stop_on_signals(control.clone(), Signals::listen()?)?;
        let outcome =
            Worker::new(&self.folder, &device, self.data.clone(), self.slots, control)?.work()?;
        match outcome {
            Outcome::Done => Ok(ExitCode::SUCCESS),
            Outcome::Interrupted => Err(Error::Interrupted { out: self.folder }),
            Outcome::Panicked => begin_anew(),
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

/// One signal ends the worker after its epoch, a second one now.
fn stop_on_signals(control: Control, signals: Signals) -> Result<()> {
    let watch = move || {
        loop {
            std::thread::sleep(Duration::from_millis(50));
            match signals.requests() + usize::from(signals.hung_up()) {
                0 => {}
                1 => control.stop_after_epoch(),
                _ => control.stop_now(),
            }
        }
    };
    let thread = std::thread::Builder::new().name("stop".to_owned()).spawn(watch);
    thread.map(drop).map_err(Error::io("start a thread for", "signals"))
}

/// Makes a new process of this one, which forgets what a panic may have left behind.
#[cfg(unix)]
fn begin_anew() -> Result<ExitCode> {
    use std::os::unix::process::CommandExt;
    let program = std::env::current_exe().map_err(Error::io("find", "this program"))?;
    let error = std::process::Command::new(&program).args(std::env::args_os().skip(1)).exec();
    Err(Error::io("start", program)(error))
}

/// Whoever started this process starts another.
#[cfg(not(unix))]
fn begin_anew() -> Result<ExitCode> {
    Ok(ExitCode::from(101))
}
