use crate::comparison::{STOP_AFTER_EPOCH, STOPPED};
use crate::device::DeviceName;
use crate::runs::{RunFolder, RunStatus};
use crate::training::{Control, Display, train};
use crate::{Result, data};
use clap::Args;
use std::io::BufRead;
use std::path::PathBuf;
use std::process::ExitCode;

/// One run, told what to do on standard input.
#[derive(Debug, Args)]
pub(super) struct Worker {
    /// The run's folder
    run: PathBuf,
    /// Device to train on
    #[arg(long)]
    device: DeviceName,
    /// Folder of the data
    #[arg(long)]
    data: Option<PathBuf>,
}

impl Worker {
    pub(super) fn run(self) -> Result<ExitCode> {
        let control = Control::default();
        obey(control.clone());
        // Ctrl-C reaches every process of a terminal; it is the comparison that decides.
        let _ignored = super::signals::interrupted()?;
        let folder = RunFolder::open(&self.run)?;
        let data = data::load(&folder.spec()?.data.set, self.data.as_deref())?;
        let status = train(&folder, &data, &self.device.open(), &control, Display::Folder)?;
        Ok(match status {
            RunStatus::Interrupted => ExitCode::from(STOPPED),
            _ => ExitCode::SUCCESS,
        })
    }
}

/// Listens to the comparison. When it is gone, nobody waits for this run.
fn obey(control: Control) {
    std::thread::spawn(move || {
        for line in std::io::stdin().lock().lines().map_while(std::result::Result::ok) {
            if line == STOP_AFTER_EPOCH {
                control.stop_after_epoch();
            }
        }
        std::process::exit(i32::from(STOPPED));
    });
}
