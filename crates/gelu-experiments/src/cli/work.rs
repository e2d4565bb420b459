use crate::Result;
use crate::worker::Recipes;
use clap::Args;
use gelu_compare::cli::{Workforce, whole};
use gelu_learner::device::DeviceName;
use std::path::PathBuf;
use std::process::ExitCode;

/// A worker on a comparison's folder.
#[derive(Debug, Args)]
pub(super) struct Work {
    #[command(flatten)]
    workforce: Workforce,
    /// Device to train on [default: the comparison's device]
    #[arg(long, value_name = "NAME")]
    device: Option<DeviceName>,
    /// Folder with the data set's files [default: the comparison's folder]
    #[arg(long, value_name = "DIR")]
    data: Option<PathBuf>,
    /// Launch every training step kernel by kernel, instead of recording one and replaying it where the device can
    #[arg(long)]
    no_capture: bool,
    /// Train up to N runs of one small network as one program, on the CPU, to the same results [default: as many as are
    /// fastest]
    #[arg(long, value_name = "N", value_parser = whole::<u16>(1..=1024))]
    cohort: Option<u16>,
}

impl Work {
    pub(super) fn run(self) -> Result<ExitCode> {
        let Self { workforce, device, data, no_capture, cohort } = self;
        let (slots, cohort) = (workforce.slots, cohort.map(usize::from));
        workforce.work(|reader| {
            Ok(Recipes::new(reader, device, data, slots, !no_capture)?.with_cohort(cohort))
        })
    }
}
